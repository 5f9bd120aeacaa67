/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The memtable, against a plain array of rows.
 */

#include <stdlib.h>

#include "fresh/sx_memtable.h"
#include "plan/sx_plan.h"
#include "support/sxt_fresh.h"

static sx_memtable *t_memtable_new(unsigned bits, uint64_t base)
{
	return sx_memtable_new(bits, base, sx_kernel_best());
}

static const unsigned widths[] = { 16, 17, 31, 32, 48, 63, 64 };

#define N_WIDTHS (sizeof(widths) / sizeof(widths[0]))
#define N_SETS 5

static const size_t set_sizes[N_SETS] = { 50000, 20000, 5000, 20000, 3000 };

static uint64_t random_fp(sxt_rng *rng, unsigned set, unsigned bits, const uint64_t *centre)
{
	uint64_t most = UINT64_MAX >> (64 - bits);

	switch (set) {
	case 0: /* uniform */
		return sxt_rng_u64(rng) & most;
	case 1: /* 50 clusters */
		return sxt_rng_flip(rng, centre[sxt_rng_below(rng, 50)] & most, bits,
				    (unsigned)sxt_rng_below(rng, 7));
	case 2: /* all equal */
		return centre[0] & most;
	case 3: /* hot prefix: the leading eighth and the last bits are always the same */
		return (sxt_rng_u64(rng) & most >> bits / 8) | (most & 7);
	default: /* dense: 0, 1, 2, .. and their complements */
		return sxt_rng_below(rng, 2) ? sxt_rng_below(rng, 2000)
					     : most - sxt_rng_below(rng, 2000);
	}
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Distinct fingerprints of rows [0, end) within k bits. */
static size_t naive_near(const uint64_t *fps, size_t end, uint64_t query, unsigned k,
			 uint64_t *out)
{
	size_t n = 0, kept = 0, i;

	for (i = 0; i < end; i++)
		if ((unsigned)__builtin_popcountll(fps[i] ^ query) <= k)
			out[n++] = fps[i];
	if (n)
		qsort(out, n, sizeof(*out), by_value);
	for (i = 0; i < n; i++)
		if (!kept || out[kept - 1] != out[i])
			out[kept++] = out[i];
	return kept;
}

/* The probes of a radius: one for each of k + 1 blocks of bits where k is small, else all. */
static const sx_probes *probes_of(unsigned bits, uint64_t query, unsigned k)
{
	static sx_probe at[4];
	static sx_probes probes = { at, 0, 4 };
	sx_plan plan;

	sxt_must(!sx_plan_make(&plan, "4x16", bits, NULL));
	probes.n = 0;
	for (unsigned t = 0; t <= k && k < 4; t++)
		sx_probes_add(&probes, &plan, t,
			      sx_prefix_of(&plan.table[t], sx_permute(&plan.table[t], query)),
			      plan.table[t].prefix_bits, (int)k);
	if (k >= 4)
		sx_probes_add(&probes, &plan, 0, 0, 0, (int)k);
	return &probes;
}

static uint32_t oldest(const sx_memtable *memtable, uint64_t fp)
{
	uint32_t i = sx_memtable_newest(memtable, SX_BY_FP, fp), next;

	while ((next = sx_memtable_older(memtable, SX_BY_FP, i)) != SX_MEMTABLE_NONE)
		i = next;
	return i;
}

static void check_near(const sx_memtable *memtable, const uint64_t *fps, uint64_t end, uint64_t n,
		       unsigned bits, uint64_t query, unsigned k, uint64_t *scratch)
{
	size_t want = naive_near(fps, end < n ? end : n, query, k, scratch), i, kept;
	const sx_fresh_query asked = { .fp = query, .k = k, .probes = probes_of(bits, query, k) };
	uint64_t candidates = 5;
	sx_u64s got = { 0 };

	sxt_must(!sx_u64s_push(&got, 12345)); /* what was there stays */
	sxt_must(!sx_memtable_near(memtable, &asked, &got, &candidates));
	sxt_must_eq(got.at[0], 12345);
	sxt_must_ge(candidates, got.n - 1 + 5);
	for (i = kept = 1; i < got.n; i++) /* those that an older snapshot has */
		if (oldest(memtable, got.at[i]) < end)
			got.at[kept++] = got.at[i];
	got.n = kept;
	sxt_must_eq(got.n, want + 1);
	qsort(got.at + 1, want, sizeof(uint64_t), by_value);
	for (i = 0; i < want; i++)
		sxt_must_eq(got.at[i + 1], scratch[i]);
	sx_u64s_free(&got);
}

/* Some queries over the n rows that are there. */
static void check_queries(sxt_rng *rng, const sx_memtable *memtable, const uint64_t *fps,
			  uint64_t n, unsigned bits, uint64_t *scratch)
{
	unsigned i, k;

	for (i = 0; i < 12; i++) {
		uint64_t query = fps[sxt_rng_below(rng, n)];

		query = i == 11 ? sxt_rng_u64(rng) & UINT64_MAX >> (64 - bits)
				: sxt_rng_flip(rng, query, bits,
					       (unsigned)sxt_rng_below(rng, 5));
		for (k = 0; k <= 5; k++) {
			check_near(memtable, fps, n, n, bits, query, k, scratch);
			check_near(memtable, fps, sxt_rng_below(rng, n + 1), n, bits, query, k,
				   scratch);
		}
		check_near(memtable, fps, UINT64_MAX, n, bits, query, 3, scratch);
		check_near(memtable, fps, 0, n, bits, query, 3, scratch);
	}
}

START_TEST(test_memtable_near)
{
	unsigned bits = widths[_i / N_SETS], set = (unsigned)_i % N_SETS, i;
	size_t n = set_sizes[set], at, checkpoint = 1;
	uint64_t *fps = calloc(n, sizeof(*fps)), *scratch = malloc(n * sizeof(*scratch));
	uint64_t centre[50];
	sx_memtable *memtable = t_memtable_new(bits, 77);
	sxt_rng rng;

	sxt_rng_init(&rng, 1600 + (uint64_t)_i);
	for (i = 0; i < 50; i++)
		centre[i] = sxt_rng_u64(&rng);
	ck_assert_ptr_nonnull(memtable);
	check_near(memtable, fps, 0, 0, bits, 0, 3, scratch);
	for (at = 0; at < n; at++) {
		sx_fresh_row row = { .id = at,
				     .fp = random_fp(&rng, set, bits, centre),
				     .op = SX_FRESH_PUT };

		fps[at] = row.fp;
		sxt_must(!sx_memtable_add(memtable, &row));
		/* While it grows, so at many numbers of buckets. */
		if (at + 1 == checkpoint || at + 1 == n) {
			check_queries(&rng, memtable, fps, at + 1, bits, scratch);
			checkpoint = checkpoint * 3 + 1;
		}
	}
	ck_assert_uint_eq(sx_memtable_base(memtable), 77);
	ck_assert_uint_eq(sx_memtable_end(memtable), 77 + n);
	sx_memtable_free(memtable);
	free(fps);
	free(scratch);
}
END_TEST

/* As many rows as buckets can be told apart for: pieces of all sizes, and buckets of two lines. */
START_TEST(test_as_many_rows_as_buckets)
{
	const size_t n = 450000;
	uint64_t *fps = malloc(n * sizeof(*fps)), *scratch = malloc(n * sizeof(*scratch));
	sx_memtable *memtable = t_memtable_new(64, 0);
	sxt_rng rng;

	sxt_rng_init(&rng, 1650);
	for (size_t at = 0; at < n; at++) {
		sx_fresh_row row = { .id = at, .fp = sxt_rng_u64(&rng), .op = SX_FRESH_PUT };

		fps[at] = row.fp;
		sxt_must(!sx_memtable_add(memtable, &row));
	}
	check_queries(&rng, memtable, fps, n, 64, scratch);
	sx_memtable_free(memtable);
	free(fps);
	free(scratch);
}
END_TEST

/* A row that adds a document, or one that deletes one. */
static sx_fresh_row random_change(sxt_rng *rng)
{
	sx_fresh_row row = random_row(rng);

	if (sxt_rng_below(rng, 2))
		row.op += SX_FRESH_DELETE - SX_FRESH_PUT;
	return row;
}

/* Whether a row has a value. */
static int has_value(const sx_fresh_row *row, enum sx_memtable_key key, uint64_t x)
{
	if (key == SX_BY_FP)
		return row->fp == x;
	if (key == SX_BY_ID)
		return row->id == x && x != SIMIDX_NO_ID;
	return row->op & SX_FRESH_LABEL && row->label_hash == x;
}

/* A chain against a look at all rows, from the newest to the oldest. */
static void check_chain(const sx_memtable *memtable, const sx_fresh_row *rows, size_t n,
			enum sx_memtable_key key, uint64_t x)
{
	uint32_t at = sx_memtable_newest(memtable, key, x);

	for (size_t i = n; i--;) {
		if (!has_value(&rows[i], key, x))
			continue;
		sxt_must_eq(at, i);
		at = sx_memtable_older(memtable, key, at);
	}
	sxt_must_eq(at, SX_MEMTABLE_NONE);
}

/*
 * The rows of a chain that still stand, against a stack: what adds a document goes on top, and what
 * deletes the one on top takes it away. Any other deletion stays, as one of a document that is not
 * among the rows.
 */
static void check_standing(const sx_memtable *memtable, const sx_fresh_row *rows, size_t n,
			   enum sx_memtable_key key, uint64_t x)
{
	uint32_t at = sx_memtable_newest(memtable, key, x);
	size_t *stack = malloc((n + 1) * sizeof(*stack)), top = 0;

	for (size_t i = 0; i < n; i++) {
		if (!has_value(&rows[i], key, x))
			continue;
		if (top && sx_fresh_is_delete(&rows[i]) &&
		    !sx_fresh_is_delete(&rows[stack[top - 1]]) &&
		    rows[stack[top - 1]].id == rows[i].id)
			top--;
		else
			stack[top++] = i;
	}
	while (top--) {
		at = sx_memtable_live(memtable, key, at);
		sxt_must_eq(at, stack[top]);
		at = sx_memtable_older(memtable, key, at);
	}
	sxt_must_eq(sx_memtable_live(memtable, key, at), SX_MEMTABLE_NONE);
	free(stack);
}

static void check_chains(const sx_memtable *memtable, const sx_fresh_row *rows, size_t n,
			 uint64_t fp, uint64_t id, uint64_t label)
{
	check_chain(memtable, rows, n, SX_BY_FP, fp);
	check_chain(memtable, rows, n, SX_BY_ID, id);
	check_chain(memtable, rows, n, SX_BY_LABEL, label);
	check_standing(memtable, rows, n, SX_BY_FP, fp);
	check_standing(memtable, rows, n, SX_BY_LABEL, label);
}

START_TEST(test_rows_of_equal_keys)
{
	const size_t n = 20000;
	/* How many different values there are: from all in one chain to no chain at all. */
	uint64_t spread = (uint64_t[]){ 1, 50, 3000, UINT64_MAX }[_i];
	sx_fresh_row *rows = malloc(n * sizeof(*rows));
	sx_memtable *memtable = t_memtable_new(64, UINT64_C(1) << 40);
	size_t i;
	sxt_rng rng;
	unsigned q;

	sxt_rng_init(&rng, 1700 + (uint64_t)_i);
	for (i = 0; i < n; i++) {
		rows[i] = random_change(&rng);
		rows[i].fp = sxt_rng_below(&rng, spread);
		rows[i].id = sxt_rng_below(&rng, 10) ? sxt_rng_below(&rng, spread)
						     : SIMIDX_NO_ID;
		/* A row without a label may hold any number there: it is none. */
		rows[i].label_hash = sxt_rng_below(&rng, spread);
		sxt_must(!sx_memtable_add(memtable, &rows[i]));
		if (i + 1 < n && sxt_rng_below(&rng, 1000))
			continue;
		for (q = 0; q < 20; q++) {
			const sx_fresh_row *a = &rows[sxt_rng_below(&rng, i + 1)];

			check_chains(memtable, rows, i + 1, a->fp, a->id, a->label_hash);
			check_chains(memtable, rows, i + 1, sxt_rng_below(&rng, spread), spread,
				     spread);
		}
		check_chains(memtable, rows, i + 1, UINT64_MAX, SIMIDX_NO_ID, 0);
	}
	for (i = 0; i < n; i++)
		sxt_must(same_row(sx_memtable_row(memtable, (uint32_t)i), &rows[i]));
	ck_assert_uint_eq(sx_memtable_base(memtable), UINT64_C(1) << 40);
	ck_assert_uint_eq(sx_memtable_end(memtable), (UINT64_C(1) << 40) + n);
	sx_memtable_free(memtable);
	free(rows);
}
END_TEST

/* Added and dropped at the end, few and many, while its tables grow and with long buckets. */
START_TEST(test_dropped_rows_are_gone)
{
	const size_t most = 30000;
	uint64_t spread = (uint64_t[]){ 1, 50, 3000, UINT64_MAX }[_i];
	sx_fresh_row *rows = malloc(most * sizeof(*rows));
	uint64_t *fps = malloc(most * sizeof(*fps)), *scratch = malloc(most * sizeof(*scratch));
	sx_memtable *memtable = t_memtable_new(64, 5);
	size_t n = 0;
	sxt_rng rng;

	sxt_rng_init(&rng, 1800 + (uint64_t)_i);
	for (int round = 0; round < 300; round++) {
		size_t more = sxt_rng_below(&rng, round % 5 ? 300 : 3000);
		size_t less = sxt_rng_below(&rng, round % 7 ? 150 : 3000);

		for (; more && n < most; more--, n++) {
			rows[n] = random_change(&rng);
			rows[n].fp = fps[n] = sxt_rng_below(&rng, spread);
			rows[n].id = sxt_rng_below(&rng, spread);
			rows[n].label_hash = sxt_rng_below(&rng, spread);
			sxt_must(!sx_memtable_add(memtable, &rows[n]));
		}
		sx_memtable_drop(memtable, less);
		n -= less < n ? less : n;
		ck_assert_uint_eq(sx_memtable_end(memtable), 5 + n);
		/* While there are few rows by all radii, then by one after another. */
		for (unsigned q = n < 3000 || sxt_is_long() ? 0 : 4; n && q < 5; q++) {
			const sx_fresh_row *a = &rows[sxt_rng_below(&rng, n)];
			unsigned k = (q + (unsigned)round) % 5;

			check_chains(memtable, rows, n, a->fp, a->id, a->label_hash);
			check_near(memtable, fps, n, n, 64, a->fp ^ k, k, scratch);
		}
		for (size_t i = n; i < n + (n < 3000 ? 3 : 1) && i < most && round; i++)
			check_chains(memtable, rows, n, rows[i].fp, rows[i].id, rows[i].label_hash);
	}
	for (size_t i = 0; i < n; i += n / 50 + 1)
		check_chains(memtable, rows, n, rows[i].fp, rows[i].id, rows[i].label_hash);
	sx_memtable_drop(memtable, SIZE_MAX);
	check_chains(memtable, rows, 0, rows[0].fp, rows[0].id, rows[0].label_hash);
	check_near(memtable, fps, 0, 0, 64, rows[0].fp, 3, scratch);
	sx_memtable_free(memtable);
	free(rows);
	free(fps);
	free(scratch);
}
END_TEST

START_TEST(test_memtable_at_edges)
{
	sx_memtable *memtable = t_memtable_new(64, 0);

	ck_assert_uint_eq(sx_memtable_end(memtable), 0);
	ck_assert_uint_eq(sx_memtable_newest(memtable, SX_BY_FP, 0), SX_MEMTABLE_NONE);
	ck_assert_uint_eq(sx_memtable_newest(memtable, SX_BY_ID, 0), SX_MEMTABLE_NONE);
	ck_assert_uint_eq(sx_memtable_newest(memtable, SX_BY_LABEL, 0), SX_MEMTABLE_NONE);
	sx_memtable_free(memtable);
	sx_memtable_free(NULL);
	ck_assert_ptr_null(t_memtable_new(15, 0));
	ck_assert_ptr_null(t_memtable_new(65, 0));
}
END_TEST

static const sxt_test tests[] = {
	{ &test_memtable_near, 0, N_WIDTHS * N_SETS },
	{ &test_rows_of_equal_keys, 0, 4 },
	{ &test_as_many_rows_as_buckets, 0, 1 },
	{ &test_dropped_rows_are_gone, 0, 4 },
	{ &test_memtable_at_edges, 0, 1 },
};

SXT_SUITE(memtable, NULL, NULL);
