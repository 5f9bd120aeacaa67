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
#include "table/sx_columns.h"
#include "util/sx_u64s.h"

enum sx_table_kind { SX_TABLE_PERMUTED, SX_TABLE_PAIRS, SX_TABLE_NUMBERS };

/** What a table is; fixed while the index is open. */
typedef struct sx_table {
	char name[16];
	unsigned number; /* checksums of its blocks and rows cover it */
	sx_dbi dbi;
	enum sx_table_kind kind;
	unsigned layout;      /* enum simidx_layout */
	unsigned n_cols;
	const sx_columns *columns; /* optional ones of documents, the last ones of it; NULL: none */
	unsigned values_at;        /* the number of the first of these */
	unsigned fill;        /* percent of a block that is filled where there is a choice */
	size_t block_size;
	int checks_rows;      /* in the rows layout values end in a checksum */
	const sx_perm *perm;  /* of a permuted table, else NULL */
} sx_table;

/**
 * Numbers of tables: the permuted ones have theirs from 1 on, as in their names. Others have none,
 * as nothing in them has a checksum.
 */
enum sx_table_number { SX_NUMBER_POSTINGS = 101, SX_NUMBER_DOCS, SX_NUMBER_FRESH };

/** A place in the order of a table: column 0 counts for pairs only. */
typedef struct sx_sort_key {
	uint64_t key, col0;
} sx_sort_key;

/** The optional columns of row i. */
static inline sx_values sx_table_values(const sx_table *table, const sx_rows *rows, size_t i)
{
	sx_values values = { { 0 } };

	for (unsigned c = 0; table->columns && c < table->columns->n; c++)
		values.of[table->columns->kind[c]] = rows->col[table->values_at + c][i];
	return values;
}

/** Longest key of a table in the store. */
#define SX_TABLE_MAX_KEY 16

/** Longest value in the rows layout: columns and checksum. */
#define SX_TABLE_MAX_VALUE (8 * SX_MAX_COLS + 4)

/** Write the store key of a place; returns its size. */
size_t sx_table_key(const sx_table *table, sx_sort_key place, unsigned char *out);

/** Read a store key. Returns 0, or -1 when it is not one of this table's. */
int sx_table_sort_key(const sx_table *table, sx_slice key, sx_sort_key *out);

/** The place of row i. */
static inline sx_sort_key sx_sort_key_of(const sx_table *table, const sx_rows *rows, size_t i)
{
	sx_sort_key p = { rows->key[i], table->kind == SX_TABLE_PAIRS ? rows->col[0][i] : 0 };

	return p;
}

/** -1, 0 or 1. */
static inline int sx_sort_key_cmp(sx_sort_key a, sx_sort_key b)
{
	if (a.key != b.key)
		return a.key < b.key ? -1 : 1;
	return a.col0 < b.col0 ? -1 : a.col0 > b.col0;
}

/**
 * What row i adds to the table's digest: a hash of its fingerprint, with its id and those optional
 * columns that count, if it has them.
 */
uint64_t sx_table_row_hash(const sx_table *table, const sx_rows *rows, size_t i);

/** SIMIDX_E_CORRUPT with the table's name and the key that `what` was seen at. */
int sx_table_damaged(const sx_table *table, sx_slice key, const char *what, simidx_error *err);

/**
 * Decode a block of the blocks layout, whose checksum must be right, and append its rows.
 *
 * @param used  if not NULL: bytes of the block without padding
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT, which names the table and the key; SIMIDX_E_NOMEM
 */
int sx_table_block_decode(const sx_table *table, sx_slice key, sx_slice value, sx_rows *rows,
			  size_t *used, simidx_error *err);

/**
 * The place of the store key before that of a cursor of the table; the cursor stays
 * where it is, and so do key and value.
 *
 * @param has  set to 0 if there is none; then *before is { 0, 0 }
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT; what the store returns
 */
int sx_table_place_before(const sx_table *table, sx_cursor *cursor, int *has, sx_sort_key *before,
			  simidx_error *err);

/**
 * Look at a block of which only some entries are going to be read, and not all decoded: its
 * checksum, and that its first and last entry lie in [before, last]. So a changed bit is found, and
 * an intact block in the place of another one, of this table or of another one.
 *
 * @param block   of pairs: with its columns
 * @param before  the place before it; col0 0: only its key is known
 * @param last    its own place; col0 UINT64_MAX likewise
 * @return NULL, or what is wrong: a static string
 */
const char *sx_table_block_wrong(const sx_table *table, const sx_block *block, sx_sort_key before,
				 sx_sort_key last);

/**
 * The same where only the keys of the places are known, which several blocks of pairs may share:
 * the store is asked whether the first and the last entry lead to this block.
 *
 * @param block  with its columns, in the map
 * @param wrong  set to NULL, or to what is wrong
 * @return SIMIDX_OK; what the store returns
 */
int sx_table_pairs_wrong(const sx_table *table, sx_txn *txn, const sx_block *block,
			 const char **wrong, simidx_error *err);

/**
 * Check that rows stand where their store key says: they ascend, come after the store key before
 * theirs and not after their own, and permuted values have no more bits than a fingerprint.
 *
 * @param before  the place of the store key before; NULL = these are the first rows
 * @param fence   set to the place of `key`; may be the same variable as `before`
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT, which names the table and the key
 */
int sx_table_check_order(const sx_table *table, sx_slice key, const sx_rows *rows,
			 const sx_sort_key *before, sx_sort_key *fence, simidx_error *err);

/**
 * Decode a row of the rows layout and append it to rows. SIMIDX_E_CORRUPT if its checksum is not
 * right; SIMIDX_E_NOMEM.
 */
int sx_table_row_decode(const sx_table *table, sx_slice key, sx_slice value, sx_rows *rows,
			simidx_error *err);

/** The value of row i in the rows layout, at most SX_TABLE_MAX_VALUE bytes; returns its size. */
size_t sx_table_row_encode(const sx_table *table, const sx_rows *rows, size_t i, sx_slice key,
			   unsigned char *out);

#endif /* SX_TABLE_H */
