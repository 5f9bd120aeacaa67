/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Block values as no encoder makes them. Each stands in memory of exactly its size, so that
 * a build with -fsanitize=address sees every byte read outside.
 */

#include "block/sx_block_search.h"
#include "support/sxt_block_rows.h"
#include "support/sxt_near.h"

/* Call everything that a caller may call on a value that was opened. */
static void use_block(sxt_rng *rng, const sx_block *block, size_t size)
{
	uint64_t *hits = malloc(block->n * sizeof(*hits));
	uint16_t *entry = malloc(block->n * sizeof(*entry));
	size_t i, from, to;
	sx_rows rows;
	unsigned c;

	sxt_must_ge(block->n, 1);
	sxt_must_le(block->n, T_MOST_ENTRIES);
	sxt_must_le(block->used, size);
	(void)sx_block_is_intact(block, T_NUMBER);
	for (i = 0; i < 12; i++) {
		uint64_t key = i == 0 ? 0 : i == 1 ? UINT64_MAX : sxt_rng_u64(rng) >> 5 * i;

		if (i & 1) /* a key that is there, more or less */
			key = t_block_key(block, sxt_rng_below(rng, block->n));
		from = sx_block_lower_bound(block, key);
		to = sx_block_upper_bound(block, key);
		sxt_must_le(from, block->n);
		sxt_must_le(to, block->n);
		sx_block_range(sx_kernel_best(), block, key, key | sxt_rng_u64(rng) >> 4 * i, &from,
			       &to);
		sxt_must_le(from, to);
		sxt_must_le(to, block->n);
		from = sxt_rng_below(rng, block->n + 1);
		to = from + sxt_rng_below(rng, block->n - from + 1);
		sxt_must_le(t_block_near(sx_kernel_best(), block, from, to, key,
					 (unsigned)i * 3, hits, entry), to - from);
		sx_rows_init(&rows, block->n_cols);
		sxt_must(!sx_rows_reserve(&rows, to - from));
		if (!sx_block_decode(block, from, to - from, &rows))
			sxt_must_eq(rows.n, to - from);
		else
			sxt_must_eq(rows.n, 0);
		sx_rows_free(&rows);
	}
	sxt_must_le(t_block_near(sx_kernel_best(), block, 0, block->n, 0, 64, hits, entry),
		    block->n);
	for (i = 0; i < block->n; i += 1 + block->n / 20) {
		(void)t_block_key(block, i);
		for (c = 0; c < block->n_cols; c++)
			(void)sx_block_col(block, c, i);
	}
	(void)t_block_key(block, block->n - 1);
	for (c = 0; c < block->n_cols; c++)
		(void)sx_block_col(block, c, block->n - 1);
	free(hits);
	free(entry);
}

/* Whether the value's sizes are possible, by the table of doc/format.md. */
static int is_possible(const unsigned char *v, size_t size, unsigned n_cols)
{
	uint64_t shape = t_le(v + 4, 4), w = shape & 15, n = shape >> 4 & 16383;
	uint64_t words = shape >> 18, at = 16 + n * w + 8 * words;
	unsigned c;

	if (w > 8 || n < 1 || 64 * words < n || at > size)
		return 0;
	/* Of the 8 bytes of the base w are beyond the key. */
	for (unsigned b = 0; b < w; b++)
		if (v[15 - b])
			return 0;
	for (c = 0; c < n_cols; c++) {
		if (at + 9 > size || v[at + 8] > 8)
			return 0;
		at += 9 + n * v[at + 8];
		if (at > size)
			return 0;
	}
	return 1;
}

static int try_value(sxt_rng *rng, const unsigned char *bytes, size_t size, unsigned n_cols)
{
	unsigned char *value = malloc(size);
	sx_block block;
	const char *wrong;

	memcpy(value, bytes, size);
	wrong = sx_block_open(&block, value, size, n_cols);
	sxt_must_eq((wrong == NULL), is_possible(value, size, n_cols));
	if (!wrong)
		use_block(rng, &block, size);
	free(value);
	return !wrong;
}

static size_t random_size(sxt_rng *rng)
{
	return SX_MIN_BLOCK_SIZE + sxt_rng_below(rng, sxt_rng_below(rng, 20) ? 4000 : 65025);
}

#define RANDOM_ROUNDS 4

START_TEST(test_random_bytes_never_crash)
{
	unsigned char *bytes;
	size_t i, b, size, opened = 0;
	unsigned n_cols;
	sxt_rng rng;

	if (t_kernel_round(_i, RANDOM_ROUNDS) < 0)
		T_SKIP_KERNEL;
	bytes = malloc(SX_MAX_BLOCK_SIZE);
	sxt_rng_init(&rng, 800 + (uint64_t)_i);
	for (i = 0; i < 1000; i++) {
		size = random_size(&rng);
		for (b = 0; b < size; b++)
			bytes[b] = (unsigned char)sxt_rng_u64(&rng);
		/* A shape that often passes: the rest is still noise. */
		if (i % 4) {
			uint64_t n = 1 + sxt_rng_below(&rng, size / 8);
			uint64_t shape = sxt_rng_below(&rng, 10) | (n & 16383) << 4 |
					 (n / 64 + sxt_rng_below(&rng, size / 16)) << 18;

			for (b = 0; b < 4; b++)
				bytes[4 + b] = (unsigned char)(shape >> (8 * b));
			memset(bytes + 16 - (shape & 7), 0, shape & 7);
		}
		if (i % 3 == 0) /* bitmaps that are nearly empty */
			for (b = 16; b < size; b++)
				bytes[b] &= sxt_rng_below(&rng, 30) ? 0 : 0x11;
		n_cols = (unsigned)sxt_rng_below(&rng, 6);
		opened += (size_t)try_value(&rng, bytes, size, n_cols);
	}
	sxt_must_gt(opened, 100);
	free(bytes);
}
END_TEST

#define FLIP_ROUNDS 6

START_TEST(test_flipped_bits_never_crash)
{
	int round = t_kernel_round(_i, FLIP_ROUNDS);
	unsigned n_cols = (unsigned)round, shape, flip;
	size_t i, size, opened = 0;
	unsigned char *value;
	sx_rows rows;
	sxt_rng rng;

	if (round < 0)
		T_SKIP_KERNEL;
	sxt_rng_init(&rng, 850 + n_cols);
	for (shape = 0; shape < T_SHAPES; shape++) {
		size = random_size(&rng);
		t_rows_fill(&rng, &rows, shape, 64 - shape, 20000, n_cols);
		value = t_encode(&rows, 0, sx_block_fit(&rows, 0, size), size);
		for (i = 0; i < 150; i++) {
			unsigned char *bad = malloc(size);

			memcpy(bad, value, size);
			for (flip = 0; flip <= i % 8; flip++) {
				/* Every other one in the header. */
				size_t bit = sxt_rng_below(&rng, flip % 2 ? 8 * size : 8 * 16);

				bad[bit / 8] ^= (unsigned char)(1u << bit % 8);
			}
			opened += (size_t)try_value(&rng, bad, size, n_cols);
			/* Read with other columns than it has, and cut short. */
			try_value(&rng, value, size, (n_cols + 1 + (unsigned)i) % 6);
			try_value(&rng, value,
				  SX_MIN_BLOCK_SIZE + sxt_rng_below(&rng, size - 495), n_cols);
			free(bad);
		}
		sx_rows_free(&rows);
		free(value);
	}
	sxt_must_gt(opened, 100);
}
END_TEST

START_TEST(test_wrong_sizes_are_refused)
{
	sx_rows rows;
	unsigned char *value;
	sx_block block;
	sxt_rng rng;
	size_t size;

	sxt_rng_init(&rng, 870);
	t_rows_fill(&rng, &rows, 0, 64, 40, 0);
	for (size = 0; size < SX_MIN_BLOCK_SIZE; size++) {
		value = calloc(size ? size : 1, 1);
		if (size > 16)
			value[4] = 0x10; /* one entry: the size alone is wrong */
		sxt_must(sx_block_open(&block, value, size, 0));
		free(value);
	}
	value = t_encode(&rows, 0, 40, SX_MAX_BLOCK_SIZE + 1);
	sxt_must(sx_block_open(&block, value, SX_MAX_BLOCK_SIZE + 1, 0));
	sxt_must(!sx_block_open(&block, value, SX_MAX_BLOCK_SIZE, 0));
	free(value);
	sx_rows_free(&rows);
}
END_TEST

/* Each field of the header in turn, around the border between possible and impossible. */
START_TEST(test_impossible_headers_are_refused)
{
	static const uint64_t borders[] = { 0,   1,    2,    63,   64,   65,    100,
					    503, 504,  507,  508,  509,  510,   511,
					    512, 1000, 4064, 4065, 8000, 16382, 16383 };
	unsigned char value[T_BLOCK_SIZE];
	uint64_t w, n, words, shape;
	unsigned b, i, n_cols, seen[2] = { 0, 0 };
	const char *wrong;
	int possible;
	const unsigned n_borders = sizeof(borders) / sizeof(borders[0]);
	sx_block block;

	for (w = 0; w < 16; w++) {
		for (i = 0; i < n_borders * n_borders * 3; i++) {
			n = borders[i % n_borders];
			words = borders[i / n_borders % n_borders];
			n_cols = i / n_borders / n_borders;
			shape = w | n << 4 | words << 18;
			/* Column headers are wherever they happen to be: v is 1 or 9. */
			memset(value, i % 2 ? 1 : 9, sizeof(value));
			for (b = 0; b < 4; b++)
				value[4 + b] = (unsigned char)(shape >> (8 * b));
			possible = is_possible(value, sizeof(value), n_cols);
			wrong = sx_block_open(&block, value, sizeof(value), n_cols);
			sxt_must_eq((wrong == NULL), possible);
			seen[possible]++;
		}
	}
	sxt_must_gt(seen[0], 100);
	sxt_must_gt(seen[1], 100);
}
END_TEST

/* Every bit of a block is under the checksum, the padding too. */
START_TEST(test_checksum_covers_every_bit)
{
	unsigned char *value;
	sx_block block;
	sx_rows rows;
	sxt_rng rng;
	size_t bit;

	sxt_rng_init(&rng, 880);
	t_rows_fill(&rng, &rows, 0, 64, 300, 2);
	value = t_encode(&rows, 0, sx_block_fit(&rows, 0, T_BLOCK_SIZE * 9 / 10),
			 T_BLOCK_SIZE);
	sxt_must(!sx_block_open(&block, value, T_BLOCK_SIZE, 2));
	sxt_must_lt(block.used, T_BLOCK_SIZE);
	for (bit = 0; bit < 8 * T_BLOCK_SIZE; bit++) {
		value[bit / 8] ^= (unsigned char)(1u << bit % 8);
		sxt_must(!sx_block_is_intact(&block, T_NUMBER));
		value[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	sxt_must(sx_block_is_intact(&block, T_NUMBER));
	sx_rows_free(&rows);
	free(value);
}
END_TEST

/* A bitmap with fewer bits than entries is found when its entries are read. */
START_TEST(test_short_bitmap_is_found)
{
	unsigned char *value;
	sx_rows rows, got;
	sx_block block;
	sxt_rng rng;
	size_t n;

	if (t_kernel_round(_i, 1) < 0)
		T_SKIP_KERNEL;
	sxt_rng_init(&rng, 890);
	t_rows_fill(&rng, &rows, 0, 64, 300, 0);
	value = t_encode_open(&rows, T_BLOCK_SIZE, &block);
	n = block.n;
	memset((unsigned char *)value + 16 + n * block.width, 0, 8 * block.n_words);
	value[16 + n * block.width] = 7;
	sx_rows_init(&got, 0);
	sxt_must(!sx_rows_reserve(&got, n));
	sxt_must(sx_block_decode(&block, 0, n, &got));
	sxt_must_eq(got.n, 0);
	sxt_must(sx_block_decode(&block, 3, 1, &got));
	sxt_must(!sx_block_decode(&block, 0, 3, &got));
	sxt_must_eq(got.n, 3);
	sx_rows_free(&got);
	sx_rows_free(&rows);
	free(value);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_random_bytes_never_crash, 0, T_MOST_KERNELS * RANDOM_ROUNDS },
	{ &test_flipped_bits_never_crash, 0, T_MOST_KERNELS * FLIP_ROUNDS },
	{ &test_wrong_sizes_are_refused, 0, 1 },
	{ &test_impossible_headers_are_refused, 0, 1 },
	{ &test_checksum_covers_every_bit, 0, 1 },
	{ &test_short_bitmap_is_found, 0, T_MOST_KERNELS },
};

SXT_SUITE(block_hostile, NULL, NULL);
