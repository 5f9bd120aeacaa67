/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <math.h>

#include "block/sx_block_search.h"
#include "support/sxt_block_rows.h"
#include "support/sxt_near.h"

static const size_t sizes[] = { 496, 500, 503, 1008, 2032, 4080, 8176, 16368, 32752, 65520 };
static const unsigned widths[] = { 16, 24, 31, 32, 33, 48, 63, 64 };

#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))
#define N_WIDTHS (sizeof(widths) / sizeof(widths[0]))

/* ------------------------------------------------------------------------------------------
 * Encoding
 */

/* Size of a block by the formulas of the format. */
static uint64_t naive_bytes(const sx_rows *rows, size_t from, size_t n)
{
	uint64_t bytes;
	unsigned w, c;
	size_t i;

	bytes = 16 + t_best_key_bytes(rows->key[from], rows->key[from + n - 1], n, &w);
	for (c = 0; c < rows->n_cols; c++) {
		uint64_t min = UINT64_MAX, max = 0;

		for (i = from; i < from + n; i++) {
			min = rows->col[c][i] < min ? rows->col[c][i] : min;
			max = rows->col[c][i] > max ? rows->col[c][i] : max;
		}
		for (w = 0; w < 8 && (max - min) >> (8 * w); w++)
			;
		bytes += 9 + n * w;
	}
	return bytes;
}

static void check_fit(const sx_rows *rows, size_t from, size_t budget, size_t n)
{
	size_t bytes = sx_block_bytes(rows, from, n);

	sxt_must_ge(n, 1);
	sxt_must_le(n, T_MOST_ENTRIES);
	sxt_must_le(n, rows->n - from);
	sxt_must_eq(bytes, naive_bytes(rows, from, n));
	if (n > 1)
		sxt_must_le(bytes, budget);
	if (n == T_MOST_ENTRIES) {
		sxt_must_eq(sx_block_bytes(rows, from, n + 1), SIZE_MAX);
	} else if (n < rows->n - from) {
		sxt_must_gt(naive_bytes(rows, from, n + 1), budget);
		sxt_must_gt(sx_block_bytes(rows, from, n + 1), budget);
	}
}

static void check_entries(const struct t_entry *e, const sx_rows *rows, size_t from, size_t n)
{
	size_t i;
	unsigned c;

	for (i = 0; i < n; i++) {
		sxt_must_eq(e[i].key, rows->key[from + i]);
		for (c = 0; c < rows->n_cols; c++)
			sxt_must_eq(e[i].col[c], rows->col[c][from + i]);
	}
}

/* [from, from + n) of the block are rows [at, at + n). */
static void check_decode(const sx_block *block, size_t from, size_t n, const sx_rows *rows,
			 size_t at)
{
	sx_rows got;
	uint64_t marker[SX_MAX_COLS] = { 1, 2, 3, 4, 5 };
	unsigned c;

	sx_rows_init(&got, rows->n_cols);
	sxt_must(!sx_rows_push(&got, 99, marker)); /* what was there stays */
	sxt_must(!sx_rows_reserve(&got, n));
	sxt_must(!sx_block_decode(block, from, n, &got));
	sxt_must_eq(got.n, n + 1);
	sxt_must_eq(got.key[0], 99);
	if (n)
		ck_assert_mem_eq(got.key + 1, rows->key + at, n * sizeof(uint64_t));
	for (c = 0; c < rows->n_cols; c++) {
		sxt_must_eq(got.col[c][0], marker[c]);
		if (n)
			ck_assert_mem_eq(got.col[c] + 1, rows->col[c] + at,
					 n * sizeof(uint64_t));
	}
	sx_rows_free(&got);
}

static void check_round_trip(sxt_rng *rng, const sx_rows *rows, size_t from, size_t n,
			     size_t size, struct t_entry *entries)
{
	unsigned char *value = t_encode(rows, from, n, size);
	size_t used, part, i;
	sx_block block;
	unsigned c;

	sxt_must_eq(t_block_read(value, size, rows->n_cols, entries, &used), n);
	sxt_must_eq(used, sx_block_bytes(rows, from, n));
	check_entries(entries, rows, from, n);

	sxt_must(!sx_block_open(&block, value, size, rows->n_cols));
	sxt_must(sx_block_is_intact(&block, T_NUMBER));
	sxt_must_eq(block.n, n);
	sxt_must_eq(block.used, used);
	sxt_must_eq(block.size, size);
	check_decode(&block, 0, n, rows, from);
	check_decode(&block, n - 1, 1, rows, from + n - 1);
	check_decode(&block, n, 0, rows, from + n);
	part = sxt_rng_below(rng, n);
	check_decode(&block, part, 1 + sxt_rng_below(rng, n - part), rows, from + part);
	for (i = 0; i < n; i += 1 + n / 50) {
		sxt_must_eq(t_block_key(&block, i), rows->key[from + i]);
		for (c = 0; c < rows->n_cols; c++)
			sxt_must_eq(sx_block_col(&block, c, i), rows->col[c][from + i]);
	}
	free(value);
}

START_TEST(test_round_trip)
{
	unsigned shape = (unsigned)_i % T_SHAPES, n_cols = (unsigned)_i / T_SHAPES;
	struct t_entry *entries = malloc(T_MOST_ENTRIES * sizeof(*entries));
	size_t n, from, s;
	sx_rows rows;
	sxt_rng rng;

	/* Each shape with each kernel. */
	t_kernel_round(_i % T_MOST_KERNELS, 1);
	sxt_rng_init(&rng, 300 + (uint64_t)_i);
	for (s = 0; s < N_SIZES; s++) {
		t_rows_fill(&rng, &rows, shape, widths[sxt_rng_below(&rng, N_WIDTHS)],
			    T_MOST_ENTRIES + 100, n_cols);
		from = sxt_rng_below(&rng, 90);
		n = sx_block_fit(&rows, from, sizes[s]);
		check_fit(&rows, from, sizes[s], n);
		check_round_trip(&rng, &rows, from, n, sizes[s], entries);
		check_round_trip(&rng, &rows, from, 1, sizes[s], entries);
		check_round_trip(&rng, &rows, from, 1 + sxt_rng_below(&rng, n), sizes[s],
				 entries);
		from = rows.n - 1 - sxt_rng_below(&rng, t_min(n, 100));
		n = sx_block_fit(&rows, from, sizes[s]);
		check_fit(&rows, from, sizes[s], n);
		check_round_trip(&rng, &rows, from, n, sizes[s], entries);
		sx_rows_free(&rows);
	}
	free(entries);
}
END_TEST

/* Every budget there is, so every n that can be the answer. */
START_TEST(test_fit_for_every_budget)
{
	unsigned n_cols = (unsigned)_i % 3;
	size_t budget, n, before = 1;
	sx_rows rows;
	sxt_rng rng;

	sxt_rng_init(&rng, 400 + (uint64_t)_i);
	t_rows_fill(&rng, &rows, (unsigned)_i % T_SHAPES, widths[(unsigned)_i % N_WIDTHS],
		    3000, n_cols);
	for (budget = 248; budget <= 4080; budget += 3) {
		n = sx_block_fit(&rows, 0, budget);
		check_fit(&rows, 0, budget, n);
		sxt_must_ge(n, before);
		before = n;
	}
	sxt_must_eq(sx_block_fit(&rows, rows.n, 4080), 0);
	sxt_must_eq(sx_block_fit(&rows, rows.n - 1, 4080), 1);
	sx_rows_free(&rows);
}
END_TEST

/* The example of doc/format.md: keys 0x1234, 0x1239 and 0x1401. */
START_TEST(test_example_of_format)
{
	static const unsigned char want[] = {
		0x31, 0,    0x04, 0, /* w = 1, n = 3, W = 1 */
		0x12, 0,    0,    0, 0, 0, 0, 0,
		0x34, 0x39, 0x01,
		0x13, 0,    0,    0, 0, 0, 0, 0,
	};
	static const uint64_t keys[] = { 0x1234, 0x1239, 0x1401 };
	unsigned char value[SX_MIN_BLOCK_SIZE] = { 0 };
	struct t_entry entries[T_MOST_ENTRIES / 64];
	sx_block block;
	sx_rows rows;
	uint32_t sum;
	unsigned i;

	memcpy(value + 4, want, sizeof(want));
	sum = T_NUMBER + (uint32_t)sx_hash(value + 4, sizeof(value) - 4);
	for (i = 0; i < 4; i++)
		value[i] = (unsigned char)(sum >> (8 * i));
	sxt_must(!sx_block_open(&block, value, sizeof(value), 0));
	ck_assert(sx_block_is_intact(&block, T_NUMBER));
	ck_assert(!sx_block_is_intact(&block, T_NUMBER + 1));
	sxt_must_eq(block.n, 3);
	for (i = 0; i < 3; i++)
		sxt_must_eq(t_block_key(&block, i), keys[i]);
	sx_rows_init(&rows, 0);
	sxt_must(!sx_rows_reserve(&rows, 3));
	sxt_must(!sx_block_decode(&block, 0, 3, &rows));
	ck_assert_mem_eq(rows.key, keys, sizeof(keys));
	/* 11 bytes with w = 1; more with any other w: the encoder makes the same. */
	sx_block_encode(&rows, 0, 3, T_NUMBER, value, sizeof(value));
	ck_assert_mem_eq(value + 4, want, sizeof(want));
	sxt_must_eq(t_block_read(value, sizeof(value), 0, entries, NULL), 3);
	for (i = 0; i < 3; i++)
		sxt_must_eq(entries[i].key, keys[i]);
	sx_rows_free(&rows);
}
END_TEST

/* Keys that descend somewhere would set bits outside the bitmap: nothing is written. */
START_TEST(test_keys_that_descend_are_refused)
{
	unsigned char value[T_BLOCK_SIZE + 64], before[sizeof(value)];
	uint64_t middle, cols[1] = { 7 };
	sx_rows rows;
	sxt_rng rng;

	sxt_rng_init(&rng, 230);
	for (unsigned i = 0; i < 2000; i++) {
		size_t n = 2 + sxt_rng_below(&rng, 200), at = sxt_rng_below(&rng, n - 1);
		unsigned shift = (unsigned)sxt_rng_below(&rng, 56);

		sx_rows_init(&rows, 1);
		for (size_t j = 0; j < n; j++)
			sxt_must(!sx_rows_push(&rows, (1 + j) << shift, cols));
		sxt_must(!sx_block_encode(&rows, 0, n, T_NUMBER, value, T_BLOCK_SIZE));
		/* Too great for the key after it, too small for the one before, or two swapped. */
		middle = rows.key[at];
		if (i % 3 == 0) {
			rows.key[at] = rows.key[at + 1] + 1 + sxt_rng_u64(&rng) / 4;
		} else if (i % 3 == 1) {
			rows.key[at + 1] = sxt_rng_below(&rng, middle);
		} else {
			rows.key[at] = rows.key[at + 1];
			rows.key[at + 1] = middle;
		}
		memset(value, 0xa5, sizeof(value));
		memcpy(before, value, sizeof(value));
		ck_assert_int_eq(sx_block_encode(&rows, 0, n, T_NUMBER, value, T_BLOCK_SIZE), -1);
		ck_assert_mem_eq(value, before, sizeof(value));
		sx_rows_free(&rows);
	}
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * What an entry costs
 */

/*
 * Bits an entry of N uniform 64-bit keys cannot do without: log2(C(2^64, N)) / N. With
 * M = 2^64, ln(M! / (M-N)!) = N ln M - N^2 / 2M to far more digits than are needed here.
 */
static double least_bits(double n)
{
	return 64 - (lgamma(n + 1) / n + n / ldexp(2, 64)) / log(2);
}

START_TEST(test_bytes_near_the_limit)
{
	static const double densities[] = { 1e6, 1e7, 1e8 };
	double density = densities[_i], gap = ldexp(1, 64) / density, key = 0, bytes;
	size_t from = 0, blocks = 0, n;
	sx_rows rows;
	sxt_rng rng;

	/* The first 60,000 keys of such a set: gaps of an exponential distribution. */
	sxt_rng_init(&rng, 500 + (uint64_t)_i);
	sx_rows_init(&rows, 0);
	while (rows.n < 60000) {
		key -= gap * log((double)(1 + sxt_rng_below(&rng, 1u << 30)) / (1u << 30));
		sxt_must(!sx_rows_push(&rows, (uint64_t)key, NULL));
	}
	while ((n = sx_block_fit(&rows, from, T_BLOCK_SIZE)) < rows.n - from) {
		from += n;
		blocks++;
	}
	bytes = (double)(blocks * T_BLOCK_SIZE) / (double)from;
	ck_assert_double_lt(bytes, 1.10 * least_bits(density) / 8);
	/* Nothing can be smaller, so a smaller result would be wrong arithmetic here. */
	ck_assert_double_gt(bytes, least_bits(density) / 8);
	sx_rows_free(&rows);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Searching
 */

static void check_bounds(const sx_block *block, const sx_rows *rows, uint64_t key)
{
	size_t lower = 0, upper = 0, i;

	for (i = 0; i < block->n; i++) {
		lower += rows->key[i] < key;
		upper += rows->key[i] <= key;
	}
	sxt_must_eq(sx_block_lower_bound(block, key), lower);
	sxt_must_eq(sx_block_upper_bound(block, key), upper);
}

static void check_range(const sx_block *block, const sx_rows *rows, uint64_t low, uint64_t high)
{
	size_t lower = 0, upper = 0, from, to, i;
	const sx_kernel *kernel;
	unsigned j;

	for (i = 0; i < block->n; i++) {
		lower += rows->key[i] < low;
		upper += rows->key[i] <= high;
	}
	for (j = 0; (kernel = sx_kernel_list(j)); j++) {
		sx_block_range(kernel, block, low, high, &from, &to);
		sxt_must_eq(from, lower);
		sxt_must_eq(to, upper);
	}
}

/* Ranges as a search asks for them, prefixes of all lengths, and any others. */
static void check_ranges(sxt_rng *rng, const sx_block *block, const sx_rows *rows, uint64_t key)
{
	uint64_t rest = UINT64_MAX >> sxt_rng_below(rng, 64), other;

	check_range(block, rows, key & ~rest, key | rest);
	other = rows->key[sxt_rng_below(rng, block->n)] + sxt_rng_below(rng, 3) - 1;
	check_range(block, rows, key < other ? key : other, key < other ? other : key);
}

START_TEST(test_bounds)
{
	unsigned shape = (unsigned)_i, w;
	unsigned char *value;
	sx_block block;
	sx_rows rows;
	sxt_rng rng;
	size_t i;

	sxt_rng_init(&rng, 600 + shape);
	for (w = 0; w < N_WIDTHS; w++) {
		t_rows_fill(&rng, &rows, shape, widths[w], 600, w % 2);
		value = t_encode_open(&rows, sizes[3 + w % 3], &block);
		check_bounds(&block, &rows, 0);
		check_bounds(&block, &rows, 1);
		check_bounds(&block, &rows, UINT64_MAX);
		check_bounds(&block, &rows, UINT64_MAX - 1);
		check_range(&block, &rows, 0, UINT64_MAX);
		check_range(&block, &rows, 1, UINT64_MAX - 1);
		for (i = 0; i < block.n; i++) {
			check_bounds(&block, &rows, rows.key[i]);
			check_bounds(&block, &rows, rows.key[i] - 1);
			check_bounds(&block, &rows, rows.key[i] + 1);
			check_ranges(&rng, &block, &rows, rows.key[i]);
			check_ranges(&rng, &block, &rows, sxt_rng_u64(&rng));
			check_bounds(&block, &rows,
				     rows.key[i] ^ 1u << sxt_rng_below(&rng, 32));
			check_bounds(&block, &rows,
				     sxt_rng_u64(&rng) >> sxt_rng_below(&rng, 64));
		}
		sx_rows_free(&rows);
		free(value);
	}
}
END_TEST

/* The largest of blocks: thousands of entries, and bits in the last word of its bitmap. */
START_TEST(test_bounds_large)
{
	unsigned char *value;
	sx_block block;
	sx_rows rows;
	sxt_rng rng;
	size_t i;

	sxt_rng_init(&rng, 650 + (uint64_t)_i);
	t_rows_fill(&rng, &rows, (unsigned)_i, 48, T_MOST_ENTRIES, 0);
	value = t_encode_open(&rows, SX_MAX_BLOCK_SIZE, &block);
	for (i = 0; i < 300; i++) {
		uint64_t key = rows.key[sxt_rng_below(&rng, block.n)];

		check_bounds(&block, &rows, key - 1 + sxt_rng_below(&rng, 3));
		check_ranges(&rng, &block, &rows, key);
	}
	check_bounds(&block, &rows, rows.key[block.n - 1]);
	check_bounds(&block, &rows, rows.key[block.n - 1] + 1);
	sx_rows_free(&rows);
	free(value);
}
END_TEST

static void check_near(const sx_block *block, const sx_rows *rows, size_t from, size_t to,
		       uint64_t query, unsigned k)
{
	size_t room = to - from ? to - from : 1, found, seen, i;
	uint64_t *hits = malloc(room * sizeof(*hits));
	uint16_t *entry = malloc(room * sizeof(*entry));
	const sx_kernel *kernel;
	unsigned j;

	for (j = 0; (kernel = sx_kernel_list(j)); j++) {
		found = t_block_near(kernel, block, from, to, query, k, hits, entry);
		for (i = from, seen = 0; i < to; i++) {
			if ((unsigned)__builtin_popcountll(rows->key[i] ^ query) > k)
				continue;
			sxt_must_lt(seen, found);
			sxt_must_eq(hits[seen], rows->key[i]);
			seen++;
		}
		sxt_must_eq(found, seen);
	}
	free(hits);
	free(entry);
}

START_TEST(test_near)
{
	static const unsigned radii[] = { 0, 1, 2, 3, 16, 64 };
	unsigned shape = (unsigned)_i, w, r;
	unsigned char *value;
	size_t from, to, i;
	sx_block block;
	sx_rows rows;
	sxt_rng rng;

	sxt_rng_init(&rng, 700 + shape);
	for (w = 0; w < N_WIDTHS; w++) {
		t_rows_fill(&rng, &rows, shape, widths[w], 400, 0);
		value = t_encode_open(&rows, 4080, &block);
		for (i = 0; i < 100; i++) {
			uint64_t query =
				sxt_rng_flip(&rng, rows.key[sxt_rng_below(&rng, block.n)],
					     widths[w], (unsigned)sxt_rng_below(&rng, 5));

			from = sxt_rng_below(&rng, block.n + 1);
			to = from + sxt_rng_below(&rng, block.n - from + 1);
			for (r = 0; r < sizeof(radii) / sizeof(radii[0]); r++) {
				check_near(&block, &rows, 0, block.n, query, radii[r]);
				check_near(&block, &rows, from, to, query, radii[r]);
			}
		}
		sx_rows_free(&rows);
		free(value);

		/* All parts of a small one. */
		t_rows_fill(&rng, &rows, shape, widths[w], 30, 0);
		value = t_encode_open(&rows, SX_MIN_BLOCK_SIZE, &block);
		for (from = 0; from <= block.n; from++) {
			for (to = from; to <= block.n; to++) {
				uint64_t query = rows.key[from % 30];

				query = sxt_rng_flip(&rng, query, widths[w], 2);
				check_near(&block, &rows, from, to, query, 3);
			}
		}
		sx_rows_free(&rows);
		free(value);
	}
}
END_TEST

static const sxt_test tests[] = {
	{ &test_round_trip, 0, 6 * T_SHAPES },
	{ &test_fit_for_every_budget, 0, 2 * T_SHAPES },
	{ &test_example_of_format, 0, 1 },
	{ &test_keys_that_descend_are_refused, 0, 1 },
	{ &test_bytes_near_the_limit, 0, 3 },
	{ &test_bounds, 0, T_SHAPES },
	{ &test_bounds_large, 0, T_SHAPES },
	{ &test_near, 0, T_SHAPES },
};

SXT_SUITE(block, NULL, NULL);
