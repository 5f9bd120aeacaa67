/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_sequence.h"

#include <string.h>
#include <sys/random.h>

#define SYNC_INTERVAL 100000 /* about what Hadoop itself has between two sync markers */
#define FAMILY "d"

#define KEY_CLASS "org.apache.hadoop.hbase.io.ImmutableBytesWritable"
#define VALUE_CLASS "org.apache.hadoop.hbase.client.Result"

/* Field numbers of the messages Result and Cell in HBase's Client.proto and Cell.proto. */
enum { RESULT_CELL = 1 };
enum { CELL_ROW = 1, CELL_FAMILY, CELL_COLUMN, CELL_TIMESTAMP, CELL_TYPE, CELL_VALUE };
#define TYPE_PUT 4

/* How protocol buffers write a field. */
enum { WIRE_NUMBER = 0, WIRE_BYTES = 2 };

#define MAX_NUMBER 10 /* bytes of a number of 64 bits, 7 bits each */

/* ---- protocol buffers ---- */

/* 7 bits a byte, the lowest first; the highest bit says that more follow. Returns the bytes. */
static size_t write_number(unsigned char *out, uint64_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		out[n++] = (unsigned char)(value | 0x80);
	out[n++] = (unsigned char)value;
	return n;
}

static size_t number_size(uint64_t value)
{
	unsigned char bytes[MAX_NUMBER];

	return write_number(bytes, value);
}

/* All field numbers here are below 16, so that a tag is one byte. */
static size_t bytes_field_size(size_t size)
{
	return 1 + number_size(size) + size;
}

static void put_number(FILE *out, uint64_t value)
{
	unsigned char bytes[MAX_NUMBER];

	fwrite(bytes, 1, write_number(bytes, value), out);
}

static void put_number_field(FILE *out, unsigned field, uint64_t value)
{
	putc((int)(field << 3 | WIRE_NUMBER), out);
	put_number(out, value);
}

static void put_bytes_field(FILE *out, unsigned field, const void *bytes, size_t size)
{
	putc((int)(field << 3 | WIRE_BYTES), out);
	put_number(out, size);
	if (size)
		fwrite(bytes, 1, size, out);
}

static size_t cell_size(const struct qr_cell *cell)
{
	return bytes_field_size(cell->row_size) + bytes_field_size(strlen(FAMILY)) +
	       bytes_field_size(cell->column_size) + 1 + number_size(cell->timestamp) + 1 +
	       number_size(TYPE_PUT) + bytes_field_size(cell->value_size);
}

static void put_cell(FILE *out, const struct qr_cell *cell)
{
	put_bytes_field(out, CELL_ROW, cell->row, cell->row_size);
	put_bytes_field(out, CELL_FAMILY, FAMILY, strlen(FAMILY));
	put_bytes_field(out, CELL_COLUMN, cell->column, cell->column_size);
	put_number_field(out, CELL_TIMESTAMP, cell->timestamp);
	put_number_field(out, CELL_TYPE, TYPE_PUT);
	put_bytes_field(out, CELL_VALUE, cell->value, cell->value_size);
}

/* ---- the file ---- */

static void put_be32(FILE *out, uint32_t value)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		putc((int)(value >> shift & 0xff), out);
}

/* A name, with its length before it, which is below 128 and so one byte. */
static void put_name(FILE *out, const char *name)
{
	putc((int)strlen(name), out);
	fputs(name, out);
}

int qr_sequence_begin(struct qr_sequence *file, FILE *out)
{
	file->out = out;
	file->unsynced = 0;
	if (getrandom(file->sync, sizeof(file->sync), 0) != (ssize_t)sizeof(file->sync))
		return -1;
	fwrite("SEQ\x06", 1, 4, out);
	put_name(out, KEY_CLASS);
	put_name(out, VALUE_CLASS);
	putc(0, out); /* records are not compressed */
	putc(0, out); /* blocks of records are not compressed */
	put_be32(out, 0); /* no metadata */
	fwrite(file->sync, 1, sizeof(file->sync), out);
	return 0;
}

void qr_sequence_put(struct qr_sequence *file, const struct qr_cell *cell)
{
	size_t inner = cell_size(cell), result = bytes_field_size(inner);
	size_t key = 4 + cell->row_size, record = key + number_size(result) + result;
	FILE *out = file->out;

	/* In place of the length of a record, what no length can be. */
	if (file->unsynced >= SYNC_INTERVAL) {
		put_be32(out, UINT32_MAX);
		fwrite(file->sync, 1, sizeof(file->sync), out);
		file->unsynced = 0;
	}
	file->unsynced += 8 + record;
	put_be32(out, (uint32_t)record);
	put_be32(out, (uint32_t)key);
	put_be32(out, (uint32_t)cell->row_size);
	fwrite(cell->row, 1, cell->row_size, out);
	put_number(out, result);
	putc(RESULT_CELL << 3 | WIRE_BYTES, out);
	put_number(out, inner);
	put_cell(out, cell);
}
