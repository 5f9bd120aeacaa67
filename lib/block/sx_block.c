/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "block/sx_block.h"

#include "block/sx_block_search.h"
#include "util/sx_hash.h"

/* A number of `width` little-endian bytes, read byte by byte: columns may end with the value. */
static uint64_t load_width(const unsigned char *p, unsigned width)
{
	uint64_t x = 0;

	for (unsigned i = 0; i < width; i++)
		x |= (uint64_t)p[i] << (8 * i);
	return x;
}

static const char *open_columns(sx_block *b, size_t at)
{
	for (unsigned c = 0; c < b->n_cols; c++) {
		if (b->size - at < SX_BLOCK_COL_HEADER)
			return "a column lies outside the block";
		b->col_base[c] = sx_load_le64(b->data + at);
		b->col_width[c] = b->data[at + 8];
		at += SX_BLOCK_COL_HEADER;
		if (b->col_width[c] > 8 || b->size - at < b->n * b->col_width[c])
			return "a column lies outside the block";
		b->col[c] = b->data + at;
		at += b->n * b->col_width[c];
	}
	b->used = at;
	return NULL;
}

const char *sx_block_open(sx_block *b, const void *value, size_t size, unsigned n_cols)
{
	const char *wrong = sx_block_open_keys(b, value, size);

	if (wrong)
		return wrong;
	b->n_cols = n_cols;
	return open_columns(b, SX_BLOCK_HEADER + b->n * b->width + b->n_words * 8);
}

int sx_block_is_intact(const sx_block *b)
{
	const unsigned char *from = b->data + SX_BLOCK_SHAPE_AT;

	return sx_load_le32(b->data) == (uint32_t)sx_hash(from, b->size - SX_BLOCK_SHAPE_AT);
}

size_t sx_block_lower_bound(const sx_block *b, uint64_t key)
{
	size_t from, to;

	sx_block_range(sx_kernel_best(), b, key, key | sx_low_bits(8 * b->width), &from, &to);
	return from;
}

size_t sx_block_upper_bound(const sx_block *b, uint64_t key)
{
	return key == UINT64_MAX ? b->n : sx_block_lower_bound(b, key + 1);
}

uint64_t sx_block_key(const sx_block *b, size_t i)
{
	sx_coded coded = sx_block_coded(b);
	uint64_t key = 0;

	sx_kernel_best()->decode(&coded, i, 1, &key);
	return key;
}

uint64_t sx_block_col(const sx_block *b, unsigned c, size_t i)
{
	return b->col_base[c] + load_width(b->col[c] + i * b->col_width[c], b->col_width[c]);
}

void sx_block_decode_col(const sx_block *b, unsigned c, size_t from, size_t n, uint64_t *out)
{
	unsigned width = b->col_width[c];
	const unsigned char *p = b->col[c] + from * width;
	/* Whole words are read where these do not reach behind the block. */
	size_t room = (size_t)(b->data + b->size - p), whole = 0, i = 0;
	uint64_t base = b->col_base[c], mask = sx_low_bits(8 * width);

	if (room >= 8)
		whole = width ? (room - 8) / width + 1 : n;
	for (; i < n && i < whole; i++)
		out[i] = base + (sx_load_le64(p + i * width) & mask);
	for (; i < n; i++)
		out[i] = base + load_width(p + i * width, width);
}

const char *sx_block_decode(const sx_block *b, size_t from, size_t n, sx_rows *rows)
{
	sx_coded coded = sx_block_coded(b);
	size_t at = rows->n;

	if (!n)
		return NULL;
	if (sx_kernel_best()->decode(&coded, from, n, rows->key + at) < n)
		return "its bitmap is damaged";
	for (unsigned c = 0; c < b->n_cols; c++)
		sx_block_decode_col(b, c, from, n, rows->col[c] + at);
	rows->n += n;
	return NULL;
}
