/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Read what "simidx-query export --format hbase-sequence" writes, as a reader of Hadoop does, and
 * print a line for each cell: row, family, column and value, all but the family in hexadecimal.
 * Shares nothing with the tools.
 *
 *   sequence_rows FILE         the cells in their order; fails unless all have one timestamp, which
 *                              is of the last hour, and the file is whole
 *   sequence_rows FILE OFFSET  those from the first sync marker after that byte on: what a second
 *                              reader of the same file gets
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SYNC 16

struct bytes {
	const unsigned char *at, *end;
};

static void fail(const char *what)
{
	fprintf(stderr, "sequence_rows: %s\n", what);
	exit(1);
}

static struct bytes take(struct bytes *from, size_t n)
{
	struct bytes taken = { from->at, from->at + n };

	if ((size_t)(from->end - from->at) < n)
		fail("ends too early");
	from->at += n;
	return taken;
}

static size_t size_of(struct bytes bytes)
{
	return (size_t)(bytes.end - bytes.at);
}

static uint32_t take_be32(struct bytes *from)
{
	const unsigned char *b = take(from, 4).at;

	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static uint64_t take_varint(struct bytes *from)
{
	uint64_t value = 0;
	unsigned shift = 0, byte;

	do {
		byte = *take(from, 1).at;
		if (shift > 63)
			fail("a number that does not end");
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

static void expect(struct bytes *from, const void *what, size_t n, const char *name)
{
	if (memcmp(take(from, n).at, what, n))
		fail(name);
}

/* A class name: all that are expected here are shorter than 128 bytes. */
static void expect_name(struct bytes *from, const char *name)
{
	if (*take(from, 1).at != strlen(name))
		fail("the length of a class name");
	expect(from, name, strlen(name), "a class name");
}

static void print_hex(struct bytes bytes, char after)
{
	for (; bytes.at < bytes.end; bytes.at++)
		printf("%02x", *bytes.at);
	putchar(after);
}

static struct bytes take_field(struct bytes *from, unsigned field)
{
	if (*take(from, 1).at != (field << 3 | 2))
		fail("another field than expected");
	return take(from, take_varint(from));
}

static uint64_t take_number_field(struct bytes *from, unsigned field)
{
	if (*take(from, 1).at != field << 3)
		fail("another field than expected");
	return take_varint(from);
}

static void check_timestamp(uint64_t timestamp)
{
	static uint64_t first;
	uint64_t now = (uint64_t)time(NULL) * 1000;

	if (!first)
		first = timestamp;
	if (timestamp != first)
		fail("the timestamps differ");
	if (timestamp > now + 1000 || timestamp + 3600000 < now)
		fail("the timestamp is not of now");
}

static void print_record(struct bytes record, uint32_t key_size)
{
	struct bytes key = take(&record, key_size), result, cell, row, family, column;

	if (take_be32(&key) != key_size - 4)
		fail("the size of a key");
	if (take_varint(&record) != size_of(record))
		fail("the size of a row");
	result = record;
	cell = take_field(&result, 1);
	if (result.at != result.end)
		fail("more than a cell in a row");
	row = take_field(&cell, 1);
	if (size_of(row) != size_of(key) || memcmp(row.at, key.at, size_of(row)))
		fail("the key of the record is not that of the row");
	family = take_field(&cell, 2);
	column = take_field(&cell, 3);
	check_timestamp(take_number_field(&cell, 4));
	if (take_number_field(&cell, 5) != 4)
		fail("not the type of a put");
	print_hex(row, ' ');
	printf("%.*s ", (int)size_of(family), (const char *)family.at);
	print_hex(column, ' ');
	print_hex(take_field(&cell, 6), '\n');
	if (cell.at != cell.end)
		fail("more fields in a cell");
}

static void read_records(struct bytes file, const unsigned char *sync)
{
	const unsigned char *last_sync = file.at;

	while (file.at < file.end) {
		uint32_t size = take_be32(&file), key_size;

		if (size == UINT32_MAX) {
			expect(&file, sync, SYNC, "the sync marker");
			last_sync = file.at;
			size = take_be32(&file);
		}
		if (file.at - last_sync > 300000)
			fail("no sync marker for long");
		key_size = take_be32(&file);
		if (key_size > size || key_size < 4)
			fail("the size of a record");
		print_record(take(&file, size), key_size);
	}
}

int main(int argc, char **argv)
{
	FILE *in = argc > 1 ? fopen(argv[1], "rb") : NULL;
	unsigned char *data = malloc((size_t)1 << 28);
	struct bytes file = { data, data };
	const unsigned char *sync;

	if (!in || !data)
		fail("usage: sequence_rows FILE [OFFSET]");
	file.end += fread(data, 1, (size_t)1 << 28, in);
	fclose(in);
	expect(&file, "SEQ\x06", 4, "the beginning");
	expect_name(&file, "org.apache.hadoop.hbase.io.ImmutableBytesWritable");
	expect_name(&file, "org.apache.hadoop.hbase.client.Result");
	expect(&file, "\0\0\0\0\0", 6, "compression or metadata");
	sync = take(&file, SYNC).at;
	if (argc > 2) {
		file.at = data + strtoul(argv[2], NULL, 10);
		file.at = memmem(file.at, size_of(file), sync, SYNC);
		if (!file.at)
			fail("no sync marker after this byte");
		file.at += SYNC;
	}
	read_records(file, sync);
	free(data);
	return 0;
}
