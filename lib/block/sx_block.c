/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "block/sx_block.h"

#include "block/sx_block_layout.h"
#include "kernel/sx_near.h"
#include "util/sx_bytes.h"
#include "util/sx_hash.h"

static uint64_t word_at(const sx_block *b, size_t w)
{
	return sx_load_le64(b->bitmap + 8 * w);
}

/* A number of `width` little-endian bytes, read byte by byte: columns may end with the value. */
static uint64_t load_width(const unsigned char *p, unsigned width)
{
	uint64_t x = 0;

	for (unsigned i = 0; i < width; i++)
		x |= (uint64_t)p[i] << (8 * i);
	return x;
}

/* Low bytes of entry i. The 8 bytes read may reach into the bitmap, which has at least 8. */
static uint64_t low_at(const sx_block *b, size_t i)
{
	return sx_load_le64(b->low + i * b->width) & sx_low_bits(8 * b->width);
}

static uint64_t key_of(const sx_block *b, uint64_t high, uint64_t low)
{
	return b->width >= 8 ? low : (b->base + high) << (8 * b->width) | low;
}

static const char *open_columns(sx_block *b, size_t at)
{
	for (unsigned c = 0; c < b->n_cols; c++) {
		if (b->size - at < COL_HEADER)
			return "a column lies outside the block";
		b->col_base[c] = sx_load_le64(b->data + at);
		b->col_width[c] = b->data[at + 8];
		at += COL_HEADER;
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
	size_t keys;
	uint32_t shape;

	if (size < SX_MIN_BLOCK_SIZE || size > SX_MAX_BLOCK_SIZE)
		return "its size is not a block's";
	b->data = value;
	b->size = size;
	b->n_cols = n_cols;
	shape = sx_load_le32(b->data + SHAPE_AT);
	b->width = shape & SHAPE_WIDTH_MASK;
	b->n = shape >> SHAPE_N_SHIFT & SHAPE_N_MASK;
	b->n_words = shape >> SHAPE_WORDS_SHIFT;
	b->base = sx_load_le64(b->data + BASE_AT);
	keys = b->n * b->width + b->n_words * 8;
	if (!b->n || b->width > 8 || b->n_words * 64 < b->n || keys > size - BLOCK_HEADER)
		return "its header is impossible";
	b->low = b->data + BLOCK_HEADER;
	b->bitmap = b->low + b->n * b->width;
	return open_columns(b, BLOCK_HEADER + keys);
}

int sx_block_is_intact(const sx_block *b)
{
	return sx_load_le32(b->data) == (uint32_t)sx_hash(b->data + SHAPE_AT, b->size - SHAPE_AT);
}

/* Place of the i-th set bit of a word that has more than i. */
static unsigned select_in_word(uint64_t word, unsigned i)
{
	while (i--)
		word &= word - 1;
	return (unsigned)__builtin_ctzll(word);
}

/*
 * Place of the i-th set bit of the bitmap, counted from word *w on, before which *before bits
 * are set; both move on, so that ascending i cost one pass. A damaged bitmap with too few bits
 * gives a place past its end.
 */
static uint64_t select_set(const sx_block *b, size_t i, size_t *w, size_t *before)
{
	for (; *w < b->n_words; (*w)++) {
		uint64_t word = word_at(b, *w);
		size_t here = (size_t)__builtin_popcountll(word);

		if (i - *before < here)
			return *w * 64 + select_in_word(word, (unsigned)(i - *before));
		*before += here;
	}
	return b->n_words * 64 + i;
}

/* Entries with a high part (less the base) below `high`: set bits before the high-th zero. */
static size_t rank_of_high(const sx_block *b, uint64_t high)
{
	uint64_t zeros = 0;

	if (!high)
		return 0;
	for (size_t w = 0; w < b->n_words; w++) {
		uint64_t clear = ~word_at(b, w);
		uint64_t here = (uint64_t)__builtin_popcountll(clear);

		if (high - zeros <= here) {
			unsigned place = select_in_word(clear, (unsigned)(high - zeros - 1));
			uint64_t ones = w * 64 + place + 1 - high;

			return ones < b->n ? (size_t)ones : b->n;
		}
		zeros += here;
	}
	return b->n;
}

size_t sx_block_lower_bound(const sx_block *b, uint64_t key)
{
	uint64_t high = high_part(key, b->width);
	uint64_t low = key & sx_low_bits(8 * b->width);
	size_t from, to;

	if (high < b->base)
		return 0;
	high -= b->base;
	from = rank_of_high(b, high);
	to = high == UINT64_MAX ? b->n : rank_of_high(b, high + 1);
	/* Among equal high parts the low bytes ascend. */
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (low_at(b, middle) < low)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

size_t sx_block_upper_bound(const sx_block *b, uint64_t key)
{
	return key == UINT64_MAX ? b->n : sx_block_lower_bound(b, key + 1);
}

uint64_t sx_block_key(const sx_block *b, size_t i)
{
	size_t w = 0, before = 0;

	return key_of(b, select_set(b, i, &w, &before) - i, low_at(b, i));
}

uint64_t sx_block_col(const sx_block *b, unsigned c, size_t i)
{
	return b->col_base[c] + load_width(b->col[c] + i * b->col_width[c], b->col_width[c]);
}

const char *sx_block_decode(const sx_block *b, size_t from, size_t n, sx_rows *rows)
{
	size_t w = 0, before = 0, at = rows->n;
	uint64_t place, word;

	if (!n)
		return NULL;
	if (sx_rows_reserve(rows, n))
		return "out of memory";
	place = select_set(b, from, &w, &before);
	if (w == b->n_words)
		return "its bitmap is damaged";
	word = word_at(b, w) & UINT64_MAX << place % 64;
	for (size_t i = from; i < from + n; i++) {
		while (!word) {
			if (++w == b->n_words)
				return "its bitmap is damaged";
			word = word_at(b, w);
		}
		place = w * 64 + (unsigned)__builtin_ctzll(word);
		word &= word - 1;
		rows->key[at + i - from] = key_of(b, place - i, low_at(b, i));
	}
	for (unsigned c = 0; c < b->n_cols; c++)
		for (size_t i = 0; i < n; i++)
			rows->col[c][at + i] = sx_block_col(b, c, from + i);
	rows->n += n;
	return NULL;
}

size_t sx_block_near(const sx_block *b, size_t from, size_t to, uint64_t query, unsigned k,
		     uint64_t *hits, uint16_t *entry)
{
	size_t n = sx_near_low(b->low + from * b->width, b->width, to - from, query, k, entry);
	size_t w = 0, before = 0, kept = 0;

	for (size_t h = 0; h < n; h++) {
		size_t i = from + entry[h];
		uint64_t key = key_of(b, select_set(b, i, &w, &before) - i, low_at(b, i));

		if ((unsigned)__builtin_popcountll(key ^ query) <= k)
			hits[kept++] = key;
	}
	return kept;
}
