/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A table in a store of its own and beside it a model: a sorted array. What a row is, how it
 * is ordered, keyed and hashed is stated here once more, from doc/format.md.
 */

#ifndef SXT_TABLE_H
#define SXT_TABLE_H

#include "support/sxt_block.h"
#include "table/sx_table_merge.h"
#include "table/sx_table_range.h"
#include "table/sx_table_walk.h"

/** One row of the model. */
struct t_row {
	uint64_t key;
	uint64_t ord; /* column 0 of pairs, which is part of the order, else 0 */
	uint64_t fp;  /* fingerprint of a permuted value */
	uint64_t col[5];
	int remove; /* as a change */
};

struct t_rows {
	struct t_row *at;
	size_t n, cap;
};

/** What a table is made from. */
struct t_kind {
	const char *label;
	enum sx_table_kind kind;
	unsigned n_cols;
	const char *plan; /* of a permuted table */
	unsigned bits, number;
	const sx_columns *columns; /* that follow n_cols others; NULL: none */
};

/** All optional columns. */
extern const sx_columns t_all_columns;

struct t_tab {
	sx_store *store;
	sx_txn *txn; /* the write transaction that is open */
	char *dir;
	sx_plan plan;
	sx_table table;
	struct t_rows model;
	uint64_t digest; /* sums of the deltas */
	int64_t rows;
};

/** A new store with an empty table "table", in a write transaction. */
void t_tab_open(struct t_tab *tab, const struct t_kind *kind, unsigned layout, unsigned fill);

/** Commit and begin the next write transaction. */
void t_tab_commit(struct t_tab *tab);

/** Forget what was written since the last commit; the model is the caller's. */
void t_tab_abort(struct t_tab *tab);

void t_tab_close(struct t_tab *tab);

/** Append a row with its derived members; `key` is the fingerprint for a permuted table. */
void t_rows_add(const struct t_tab *tab, struct t_rows *rows, uint64_t key,
		const uint64_t *cols, int remove);

/** Sort, and keep the first of rows at one place. */
void t_rows_sort(struct t_rows *rows);

void t_rows_free(struct t_rows *rows);

int t_row_cmp(const struct t_row *a, const struct t_row *b);

/** Permuted value of a fingerprint, bit by bit. */
uint64_t t_permute(const sx_perm *perm, uint64_t fp);

/** What a row adds to the digest. */
uint64_t t_row_hash(const struct t_tab *tab, const struct t_row *row);

/** The LMDB key of a row, at most SX_TABLE_MAX_KEY bytes; returns its size. */
size_t t_row_key(const struct t_tab *tab, const struct t_row *row, unsigned char *out);

/** Append n random rows, and sort all. */
void t_add_uniform(const struct t_tab *tab, sxt_rng *rng, struct t_rows *list, size_t n);

/** The changes as sx_rows, and which are removals; to be freed. */
void t_changes(const struct t_tab *tab, const struct t_rows *changes, sx_rows *rows,
	       unsigned char **remove);

/**
 * Merge sorted changes into the table, and into the model; check what the delta says.
 *
 * @param max_written  0: at once. Otherwise in pieces, in several transactions
 */
void t_merge(struct t_tab *tab, struct t_rows *changes, uint64_t max_written);

/** A copy of record number i, in the order of keys, of which the bytes are the caller's. */
void t_record(struct t_tab *tab, size_t i, unsigned char *key_bytes, sx_slice *key,
	      unsigned char *bytes, sx_slice *value);

/** Check all of the table: rows as walked, records as they lie in the store, sizes, digest. */
void t_check_all(struct t_tab *tab);

/** Check ranges around random rows of the model: sx_table_range(), and look-ups by a cursor. */
void t_check_ranges(struct t_tab *tab, sxt_rng *rng, unsigned n);

/** Blocks of the table and the bytes in them that are not padding. */
void t_usage(struct t_tab *tab, uint64_t *blocks, uint64_t *used);

/** used / (blocks * size) */
double t_fill_of(struct t_tab *tab);

/** Which rows of the model are the last ones of the first blocks; returns how many. */
size_t t_block_ends(struct t_tab *tab, size_t *end, size_t most);

#endif /* SXT_TABLE_H */
