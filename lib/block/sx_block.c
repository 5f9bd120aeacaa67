/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "block/sx_block.h"

#include <string.h>

#include "util/sx_hash.h"

/* ---- decoding ---- */

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

/* The checksum of a value, as the table with this number has it. */
static uint32_t checksum(const unsigned char *data, size_t size, unsigned number)
{
	return number + (uint32_t)sx_hash(data + SX_BLOCK_SHAPE_AT, size - SX_BLOCK_SHAPE_AT);
}

int sx_block_is_intact(const sx_block *b, unsigned number)
{
	return sx_load_le32(b->data) == checksum(b->data, b->size, number);
}

int sx_block_key(const sx_block *b, size_t i, uint64_t *key)
{
	sx_coded coded = sx_block_coded(b);

	return sx_kernel_best()->decode(&coded, i, 1, key) == 1 ? 0 : -1;
}

uint64_t sx_block_col(const sx_block *b, unsigned c, size_t i)
{
	return b->col_base[c] + load_width(b->col[c] + i * b->col_width[c], b->col_width[c]);
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

/* ---- encoding ---- */

/* Smallest and largest value of each column over a growing run of rows. */
struct spans {
	size_t n; /* rows seen */
	uint64_t min[SX_MAX_COLS], max[SX_MAX_COLS];
};

static void spans_extend(struct spans *s, const sx_rows *rows, size_t from, size_t n)
{
	for (unsigned c = 0; c < rows->n_cols; c++) {
		const uint64_t *col = rows->col[c] + from;
		uint64_t min = s->n ? s->min[c] : col[0];
		uint64_t max = s->n ? s->max[c] : col[0];

		for (size_t i = s->n; i < n; i++) {
			min = col[i] < min ? col[i] : min;
			max = col[i] > max ? col[i] : max;
		}
		s->min[c] = min;
		s->max[c] = max;
	}
	s->n = n;
}

/* Bytes of n keys with `width` low bytes; SIZE_MAX when the bitmap would be out of all bounds. */
static size_t keys_bytes(const uint64_t *key, size_t n, unsigned width)
{
	uint64_t high = sx_block_high(key[n - 1], width) - sx_block_high(key[0], width);

	if (high > 8 * SX_MAX_BLOCK_SIZE)
		return SIZE_MAX;
	return n * width + (n + (size_t)high + 63) / 64 * 8;
}

/* The cheapest number of low bytes for n keys. */
static unsigned best_width(const uint64_t *key, size_t n, size_t *bytes)
{
	unsigned best = 8;

	*bytes = keys_bytes(key, n, 8);
	for (unsigned width = 0; width < 8; width++) {
		size_t now = keys_bytes(key, n, width);

		if (now < *bytes) {
			*bytes = now;
			best = width;
		}
	}
	return best;
}

static size_t block_bytes(const struct spans *s, const sx_rows *rows, size_t from, size_t n)
{
	size_t bytes;

	best_width(rows->key + from, n, &bytes);
	for (unsigned c = 0; c < rows->n_cols; c++)
		bytes += SX_BLOCK_COL_HEADER + n * sx_bytes_for(s->max[c] - s->min[c]);
	return SX_BLOCK_HEADER + bytes;
}

size_t sx_block_bytes(const sx_rows *rows, size_t from, size_t n)
{
	struct spans s = { 0 };

	if (n > SX_MAX_BLOCK_ROWS)
		return SIZE_MAX;
	spans_extend(&s, rows, from, n);
	return block_bytes(&s, rows, from, n);
}

/*
 * The size grows with n, so: double n while it fits, then halve the step. What is known of the
 * columns up to the last fitting n is kept, so no row is looked at more than about twice.
 */
size_t sx_block_fit(const sx_rows *rows, size_t from, size_t budget)
{
	size_t max = rows->n - from, n = 1, step = 64;
	struct spans known = { 0 };
	int doubling = 1;

	if (max > SX_MAX_BLOCK_ROWS)
		max = SX_MAX_BLOCK_ROWS;
	if (max <= 1)
		return max;
	spans_extend(&known, rows, from, 1);
	while (step && n < max) {
		size_t next = n + step < max ? n + step : max;
		struct spans s = known;

		spans_extend(&s, rows, from, next);
		if (block_bytes(&s, rows, from, next) <= budget) {
			n = next;
			known = s;
		} else {
			doubling = 0;
		}
		step = doubling ? 2 * step : step / 2;
	}
	return n;
}

static unsigned char *encode_keys(const uint64_t *key, size_t n, unsigned width, size_t n_words,
				  unsigned char *at)
{
	uint64_t base = sx_block_high(key[0], width);
	unsigned char *bitmap = at + n * width;
	uint64_t word = 0;
	size_t words = 0; /* stored so far */

	/*
	 * Whole words are stored and the next entry overwrites what is too much; what runs over
	 * the last entry lands in the bitmap, which is written afterwards.
	 */
	for (size_t i = 0; i < n; i++)
		sx_store_le64(at + i * width, key[i]);
	for (size_t i = 0; i < n; i++) {
		uint64_t bit = sx_block_high(key[i], width) - base + i;

		for (; words < bit / 64; words++, word = 0)
			sx_store_le64(bitmap + 8 * words, word);
		word |= UINT64_C(1) << bit % 64;
	}
	sx_store_le64(bitmap + 8 * words, word);
	return bitmap + n_words * 8;
}

static unsigned char *encode_col(const uint64_t *col, size_t n, uint64_t min, unsigned width,
				 unsigned char *at)
{
	sx_store_le64(at, min);
	at[8] = (unsigned char)width;
	at += SX_BLOCK_COL_HEADER;
	if (!width)
		return at;
	/* Whole words, as above, but for the last entries: nothing may be written after them. */
	for (size_t i = 0; i < n; i++, at += width) {
		uint64_t offset = col[i] - min;

		if (i + 8 < n)
			sx_store_le64(at, offset);
		else
			for (unsigned b = 0; b < width; b++)
				at[b] = (unsigned char)(offset >> (8 * b));
	}
	return at;
}

/*
 * Whether no key is below the one before it. The loop has no branch, so the compiler vectorizes it.
 */
static int ascend(const uint64_t *key, size_t n)
{
	int ok = 1;

	for (size_t i = 1; i < n; i++)
		ok &= key[i - 1] <= key[i];
	return ok;
}

int sx_block_encode(const sx_rows *rows, size_t from, size_t n, unsigned number, void *value,
		    size_t size)
{
	const uint64_t *key = rows->key + from;
	unsigned char *data = value, *at;
	struct spans s = { 0 };
	size_t bytes, n_words;
	unsigned width;

	/* A key below the first one would have its bit before the bitmap. */
	if (!ascend(key, n))
		return -1;
	spans_extend(&s, rows, from, n);
	width = best_width(key, n, &bytes);
	n_words = (bytes - n * width) / 8;
	sx_store_le32(data + SX_BLOCK_SHAPE_AT, (uint32_t)(width | n << SX_BLOCK_N_SHIFT |
							   n_words << SX_BLOCK_WORDS_SHIFT));
	sx_store_le64(data + SX_BLOCK_BASE_AT, sx_block_high(key[0], width));
	at = encode_keys(key, n, width, n_words, data + SX_BLOCK_HEADER);
	for (unsigned c = 0; c < rows->n_cols; c++)
		at = encode_col(rows->col[c] + from, n, s.min[c],
				sx_bytes_for(s.max[c] - s.min[c]), at);
	memset(at, 0, size - (size_t)(at - data));
	sx_store_le32(data, checksum(data, size, number));
	return 0;
}
