/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A second reader of the file format, written from doc/format.md and using nothing of lib/.
 */

#ifndef DECODE_H
#define DECODE_H

#include <inttypes.h>

#include <lmdb.h>

#include "golden.h"

#define MAX_ROWS 4096
#define MAX_COLS 6
#define MAX_VALUES 2            /* optional columns */
#define WANTED (2 + MAX_VALUES) /* numbers of an entry that is expected: its key and columns */
#define MAX_TABLES 32

/** The entries of a table. */
struct rows {
	unsigned n;
	uint64_t key[MAX_ROWS];
	uint64_t col[MAX_COLS][MAX_ROWS];
};

/** How a table's keys look in LMDB. */
enum keys { PERMUTED, PAIRS, NUMBERS };

/** What the records of a table are: blocks, rows, or rows with a checksum. */
enum records { BLOCKS, ROWS, CHECKED_ROWS };

/** One table of the plan: its leads, and the order in which its bits stand. */
struct permutation {
	unsigned f, n_leads;
	uint64_t lead[3];
	unsigned prefix_bits;
	unsigned bit[64]; /* bit numbers, the most significant place first */
};

/** What is being decoded. */
struct file {
	const struct golden *golden;
	MDB_env *env;
	MDB_txn *txn;
	unsigned page_size;
	unsigned n_tables;
	struct permutation table[MAX_TABLES];
};

/** End with a message unless ok. */
void must(int ok, const char *format, ...) __attribute__((format(printf, 2, 3)));

uint64_t le(const unsigned char *p, unsigned n);
uint64_t be(const unsigned char *p, unsigned n);

/** XXH3-64 of bytes, and of the 8 little-endian bytes of each of some numbers. */
uint64_t hash(const void *data, size_t size);
uint64_t hash_numbers(const uint64_t *number, unsigned n);

/* decode_plan.c */

/** Fill in the tables of a plan. Returns how many. */
unsigned plan_tables(const char *plan, unsigned f, struct permutation *out);

uint64_t permute(const struct permutation *p, uint64_t fp);

/* decode_table.c */

/** Open a sub-database, which must be plain. */
MDB_dbi open_table(const struct file *file, const char *name);

/**
 * Read a table whole, checking all that the description says of its records.
 *
 * @param number  of the table, which its checksums cover
 */
void read_table(const struct file *file, const char *name, unsigned number, enum keys keys,
		const struct permutation *p, unsigned n_cols, enum records records,
		struct rows *rows);

#endif /* DECODE_H */
