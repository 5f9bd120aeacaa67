/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Decoded entries of a table: a 64-bit key and some 64-bit columns each, one array a column.
 */

#ifndef SX_ROWS_H
#define SX_ROWS_H

#include <stddef.h>
#include <stdint.h>

#define SX_MAX_COLS 6

typedef struct sx_rows {
	size_t n, cap;
	unsigned n_cols;
	uint64_t *key;
	uint64_t *col[SX_MAX_COLS];
} sx_rows;

/** Make an empty one. */
void sx_rows_init(sx_rows *rows, unsigned n_cols);

void sx_rows_free(sx_rows *rows);

/** Make room for `more` further rows. Returns 0, or -1 when memory is short. */
int sx_rows_reserve(sx_rows *rows, size_t more);

/** Append one row; cols has n_cols values, and may be NULL when that is 0. 0 or -1. */
int sx_rows_push(sx_rows *rows, uint64_t key, const uint64_t *cols);

/** Append rows [from, from + n) of another one with as many columns. 0 or -1. */
int sx_rows_append(sx_rows *rows, const sx_rows *other, size_t from, size_t n);

#endif /* SX_ROWS_H */
