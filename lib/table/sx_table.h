/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * One sorted table in a store: rows with a 64-bit key and columns, as blocks or as one LMDB key
 * a row, behind one interface. doc/format.md, "Tables".
 *
 * Three kinds differ in what is sorted and how keys look in the store:
 *
 *   permuted  key = permuted value, distinct      store key = prefix, then the fingerprint
 *   pairs     key = fingerprint, may repeat;      store key = fingerprint, then column 0
 *             then column 0 (the id) ascending
 *   numbers   key = a number, distinct            store key = the number
 *
 * In the blocks layout the store key is that of the block's last row, or a greater one that is
 * still below the next block's first row (a fence, left behind by removals).
 */

#ifndef SX_TABLE_H
#define SX_TABLE_H

#include "block/sx_block.h"
#include "kernel/sx_kernel.h"
#include "plan/sx_plan.h"
#include "store/sx_dbi.h"
#include "util/sx_u64s.h"

enum sx_table_kind { SX_TABLE_PERMUTED, SX_TABLE_PAIRS, SX_TABLE_NUMBERS };

/** What a table is; fixed while the index is open. */
typedef struct sx_table {
	char name[16];
	sx_dbi dbi;
	enum sx_table_kind kind;
	unsigned layout;      /* enum simidx_layout */
	unsigned n_cols;
	unsigned fill;        /* percent of a block that is filled where there is a choice */
	size_t block_size;
	const sx_perm *perm;  /* of a permuted table, else NULL */
} sx_table;

/** A place in the order of a table: column 0 counts for pairs only. */
typedef struct sx_place {
	uint64_t key, col0;
} sx_place;

/** Longest key of a table in the store. */
#define SX_TABLE_MAX_KEY 16

/* ------------------------------------------------------------------------------------------
 * Keys in the store (sx_table_key.c)
 */

/** Write the store key of a place; returns its size. */
size_t sx_table_key(const sx_table *table, sx_place place, unsigned char *out);

/** Read a store key. Returns 0, or -1 when it is not one of this table's. */
int sx_table_place(const sx_table *table, sx_slice key, sx_place *out);

/** The place of row i. */
static inline sx_place sx_place_of(const sx_table *table, const sx_rows *rows, size_t i)
{
	sx_place p = { rows->key[i], table->kind == SX_TABLE_PAIRS ? rows->col[0][i] : 0 };

	return p;
}

/** -1, 0 or 1. */
static inline int sx_place_cmp(sx_place a, sx_place b)
{
	if (a.key != b.key)
		return a.key < b.key ? -1 : 1;
	return a.col0 < b.col0 ? -1 : a.col0 > b.col0;
}

/** What row i adds to the table's digest: a hash of its fingerprint, with its id if it has one. */
uint64_t sx_table_row_hash(const sx_table *table, const sx_rows *rows, size_t i);

/** SIMIDX_E_CORRUPT with the table's name and the key that `what` was seen at. */
int sx_table_damaged(const sx_table *table, sx_slice key, const char *what, simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * Reading (sx_table_read.c). The cursor is one of this table's dbi.
 */

/** What probes read and find. */
typedef struct sx_found {
	const sx_kernel *kernel;
	uint64_t most;       /* keys that may be compared; UINT64_MAX = all */
	sx_u64s keys;        /* matching keys, permuted values here */
	uint64_t candidates; /* keys compared */
	uint64_t blocks;     /* read */
	int is_cut;          /* there were more than `most` */
	uint64_t pause;      /* stop behind the block that brings candidates there */
	int is_paused;       /* go on from `next` */
	uint64_t next;
	uint16_t *entry;     /* scratch of SX_MAX_BLOCK_ROWS */
} sx_found;

/** Make an empty one, without a limit. Returns 0, or -1 when memory is short. */
int sx_found_init(sx_found *found, const sx_kernel *kernel);

void sx_found_free(sx_found *found);

/** Where a range of keys begins. */
typedef struct sx_spot {
	const sx_table *table;
	sx_cursor *cursor;
	uint64_t low;
	sx_slice key, value; /* found: the first of the store that may be of the range */
	int is_end;          /* there is none */
} sx_spot;

/**
 * Have the cursors go to the beginnings of n ranges, and the CPU fetch what is there. Each range
 * has another cursor, of the same snapshot; table, cursor and low are set.
 */
int sx_table_find(sx_spot *spots, size_t n, simidx_error *err);

/**
 * Have the CPU fetch what sx_table_near() will read of the first block, as far as it can be
 * guessed. Waits for the block's header, so it is for when there are more spots than one.
 */
void sx_table_fetch(const sx_spot *spot, uint64_t high);

/**
 * Add to found->keys the keys in [spot->low, high] that differ from `query` in at most k bits; not
 * all of them where found->is_paused is set. The cursor is where sx_table_find() left it.
 */
int sx_table_near(const sx_spot *spot, uint64_t high, uint64_t query, unsigned k,
		  sx_found *found, simidx_error *err);

/** Append the rows in [low, high] to `rows`, the first `limit` of them (0 = all). */
int sx_table_range(const sx_table *table, sx_cursor *cursor, sx_place low, sx_place high,
		   uint64_t limit, sx_rows *rows, simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * Walking (sx_table_walk.c)
 */

/** A walk over all rows in order, a piece at a time. */
typedef struct sx_table_walk {
	const sx_table *table;
	sx_cursor *cursor;
	sx_rows rows;   /* the piece: one block, or up to 256 rows */
	sx_slice key;   /* store key of its last row (or fence) */
	size_t used;    /* bytes of the piece without padding */
	sx_place last;  /* place of the store key before this piece */
	int started;
	int check;      /* verify checksums */
	int stuck;      /* the store itself failed: there is no going on */
} sx_table_walk;

/** Start at the first row, or at the first one at or behind *from. */
int sx_table_walk_begin(sx_table_walk *walk, sx_txn *txn, const sx_table *table, int check,
			const sx_place *from, simidx_error *err);

/**
 * Load the next piece into walk->rows. Order is always checked, checksums if the walk was begun
 * so. Returns SIMIDX_E_END behind the last piece, SIMIDX_E_CORRUPT for a damaged one; a further
 * call goes on behind it, unless walk->stuck.
 */
int sx_table_walk_next(sx_table_walk *walk, simidx_error *err);

void sx_table_walk_end(sx_table_walk *walk);

/* ------------------------------------------------------------------------------------------
 * Changing (sx_table_merge.c, sx_table_merge_rows.c)
 */

/** Changes in the order of the table, each place at most once. */
typedef struct sx_changes {
	const sx_rows *rows;
	const unsigned char *remove; /* nonzero: remove row i; NULL: all are additions */
} sx_changes;

/** What a merge changed. */
typedef struct sx_delta {
	int64_t rows;     /* added less removed */
	uint64_t digest;  /* to be added to the table's digest, mod 2^64 */
	uint64_t written; /* blocks (or rows) that were put or deleted */
} sx_delta;

/**
 * Merge changes number *done and following into the table. Adding what is there and removing
 * what is not changes nothing, so a merge may be repeated. Stops between two blocks when about
 * `max_written` blocks were written; *done then is the first change that is still to do.
 */
int sx_table_merge(sx_txn *txn, const sx_table *table, const sx_changes *changes, size_t *done,
		   uint64_t max_written, sx_delta *delta, simidx_error *err);

/** The same in the rows layout; called by sx_table_merge(). */
int sx_table_merge_rows(sx_txn *txn, const sx_table *table, const sx_changes *changes,
			size_t *done, uint64_t max_written, sx_delta *delta, simidx_error *err);

/** Decode a row of the rows layout and append it to rows. */
int sx_table_row_decode(const sx_table *table, sx_slice key, sx_slice value, sx_rows *rows,
			simidx_error *err);

/** The value of row i in the rows layout, at most 8 * SX_MAX_COLS bytes; returns its size. */
size_t sx_table_row_encode(const sx_table *table, const sx_rows *rows, size_t i,
			   unsigned char *out);

#endif /* SX_TABLE_H */
