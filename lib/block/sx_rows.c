/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "block/sx_rows.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"

void sx_rows_init(sx_rows *rows, unsigned n_cols)
{
	memset(rows, 0, sizeof(*rows));
	rows->n_cols = n_cols;
}

void sx_rows_free(sx_rows *rows)
{
	free(rows->key);
	for (unsigned c = 0; c < SX_MAX_COLS; c++)
		free(rows->col[c]);
	sx_rows_init(rows, rows->n_cols);
}

int sx_rows_reserve(sx_rows *rows, size_t more)
{
	size_t need = rows->n + more;
	size_t cap = 0;

	if (need <= rows->cap)
		return 0;
	if (need < rows->cap + rows->cap / 2)
		need = rows->cap + rows->cap / 2;
	for (unsigned c = 0; c < rows->n_cols; c++) {
		cap = rows->cap;
		if (sx_reserve(&rows->col[c], &cap, need, sizeof(uint64_t)))
			return -1;
	}
	/* The keys come last: `cap` is what all arrays are known to hold. */
	return sx_reserve(&rows->key, &rows->cap, need, sizeof(uint64_t));
}

int sx_rows_push(sx_rows *rows, uint64_t key, const uint64_t *cols)
{
	if (sx_rows_reserve(rows, 1))
		return -1;
	rows->key[rows->n] = key;
	for (unsigned c = 0; c < rows->n_cols; c++)
		rows->col[c][rows->n] = cols[c];
	rows->n++;
	return 0;
}

int sx_rows_append(sx_rows *rows, const sx_rows *other, size_t from, size_t n)
{
	if (!n)
		return 0;
	if (sx_rows_reserve(rows, n))
		return -1;
	memcpy(rows->key + rows->n, other->key + from, n * sizeof(uint64_t));
	for (unsigned c = 0; c < rows->n_cols; c++)
		memcpy(rows->col[c] + rows->n, other->col[c] + from, n * sizeof(uint64_t));
	rows->n += n;
	return 0;
}
