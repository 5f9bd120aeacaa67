/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The memtable asked by any cover: all radii, masks, many probes that fall into the same
 * buckets, buckets wider than the prefixes. And by searches that scan the tables.
 */

#include <stdlib.h>
#include <string.h>

#include "fresh/sx_memtable.h"
#include "plan/sx_patterns.h"
#include "plan/sx_planner.h"
#include "support/sxt_search.h"

struct subject {
	unsigned bits;
	sx_plan plan;
	sx_memtable *memtable;
	uint64_t *fp;
	size_t n;
	sxt_rng rng;
};

static uint64_t mask_of(const struct subject *s)
{
	return UINT64_MAX >> (64 - s->bits);
}

/* `n` rows, half of them in clusters, in one prefix or equal. */
static void init(struct subject *s, int i)
{
	static const unsigned widths[] = { 64, 16, 33, 48 };
	static const size_t sizes[] = { 1, 40, 900, 12000 };
	uint64_t centre = 0;

	s->bits = widths[i % 4];
	s->n = sizes[i / 4];
	s->fp = calloc(s->n, sizeof(*s->fp));
	sxt_rng_init(&s->rng, 6600 + (uint64_t)i);
	sxt_must(!sx_plan_make(&s->plan, "4x16", s->bits, NULL));
	s->memtable = sx_memtable_new(s->bits, 7, sx_kernel_best());
	ck_assert_ptr_nonnull(s->memtable);
	for (size_t r = 0; r < s->n; r++) {
		sx_fresh_row row = { .id = r, .op = SX_FRESH_PUT };

		if (r % 50 == 0)
			centre = sxt_rng_u64(&s->rng) & mask_of(s);
		row.fp = sxt_rng_u64(&s->rng) & mask_of(s);
		if (r % 4 == 1)
			row.fp = sxt_rng_flip(&s->rng, centre, s->bits, (unsigned)(r % 5));
		else if (r % 4 == 2)
			row.fp >>= s->bits / 4;
		s->fp[r] = row.fp;
		sxt_must(!sx_memtable_add(s->memtable, &row));
	}
}

static void finish(struct subject *s)
{
	sx_memtable_free(s->memtable);
	free(s->fp);
}

static uint64_t near(struct subject *s)
{
	return sxt_rng_flip(&s->rng, s->fp[sxt_rng_below(&s->rng, s->n)], s->bits,
			    (unsigned)sxt_rng_below(&s->rng, 6));
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Distinct ones within k bits of the first `end` that also differ in at most `counted` of the
   bits that count. */
static size_t naive(const struct subject *s, uint64_t query, unsigned k, uint64_t ignore,
		    unsigned counted, size_t end, uint64_t *out)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < end; i++)
		if ((unsigned)__builtin_popcountll(s->fp[i] ^ query) <= k &&
		    (unsigned)__builtin_popcountll((s->fp[i] ^ query) & ~ignore) <= counted)
			out[n++] = s->fp[i];
	qsort(out, n, sizeof(*out), by_value);
	for (size_t i = 0; i < n; i++)
		if (!kept || out[kept - 1] != out[i])
			out[kept++] = out[i];
	return kept;
}

static uint32_t oldest(const sx_memtable *memtable, uint64_t fp)
{
	uint32_t i = sx_memtable_newest(memtable, SX_BY_FP, fp), next;

	while ((next = sx_memtable_older(memtable, SX_BY_FP, i)) != SX_MEMTABLE_NONE)
		i = next;
	return i;
}

/* All of `must` is among what comes, each once, and all that comes is among `may`. */
static void check_near(struct subject *s, const sx_probes *probes, uint64_t query, unsigned k,
		       uint64_t ignore, unsigned counted, size_t end)
{
	uint64_t *must = malloc((s->n + 1) * sizeof(*must));
	size_t n = naive(s, query, k, ignore, counted, end, must);
	const sx_fresh_query asked = { .fp = query, .k = k, .probes = probes };
	uint64_t candidates = 0;
	sx_u64s got = { 0 };
	size_t kept = 0;

	sxt_must(!sx_memtable_near(s->memtable, &asked, &got, &candidates));
	sxt_must_ge(candidates, got.n);
	for (size_t i = 0; i < got.n; i++) /* those that an older snapshot has */
		if (oldest(s->memtable, got.at[i]) < end)
			got.at[kept++] = got.at[i];
	got.n = kept;
	if (got.n)
		qsort(got.at, got.n, sizeof(*got.at), by_value);
	for (size_t i = 0; i < got.n; i++) {
		sxt_must_le((unsigned)__builtin_popcountll(got.at[i] ^ query), k);
		sxt_must(!i || got.at[i] > got.at[i - 1]);
	}
	for (size_t i = 0; i < n; i++)
		sxt_must(bsearch(&must[i], got.at, got.n, sizeof(*got.at), by_value));
	n = naive(s, query, k, 0, k, end, must);
	for (size_t i = 0; i < got.n; i++)
		sxt_must(bsearch(&got.at[i], must, n, sizeof(*must), by_value));
	sx_u64s_free(&got);
	free(must);
}

/* Costs that make probes cheap, or dear, so that small sets are not always scanned. */
static void any_costs(struct subject *s, sx_costs *costs)
{
	costs->query = 0;
	costs->probe = 2;
	costs->candidate = sxt_rng_below(&s->rng, 2) ? 1e5 : 2;
	costs->scanned = costs->candidate;
}

START_TEST(test_covers_find_all_near)
{
	sx_probes probes = { 0 };
	struct subject s;
	sx_costs costs;

	init(&s, _i);
	for (unsigned i = 0; i < (sxt_is_long() ? 1000u : 100u); i++) {
		sx_request request = { .radius = i % (s.bits + 1), .rows = s.n };
		uint64_t query = near(&s);
		sx_cover cover;

		any_costs(&s, &costs);
		if (i % 2)
			request.radius %= 8;
		if (i % 4 == 3)
			request.ignore = sxt_rng_flip(&s.rng, 0, s.bits,
						      (unsigned)sxt_rng_below(&s.rng, 13));
		sx_planner_choose(&s.plan, &request, &costs, &cover);
		probes.n = 0;
		sxt_must(!sx_cover_probes(&s.plan, &cover, query, 64, &probes));
		check_near(&s, &probes, query,
			   request.radius + (unsigned)__builtin_popcountll(request.ignore),
			   request.ignore, request.radius, s.n);
		check_near(&s, &probes, query, request.radius, 0, request.radius,
			   (size_t)sxt_rng_below(&s.rng, s.n + 1));
	}
	sx_probes_free(&probes);
	finish(&s);
}
END_TEST

/* Whether a fingerprint is in the range of a probe, and near enough outside the probed bits. */
static int is_probed(const struct subject *s, const sx_probe *p, uint64_t query, uint64_t fp)
{
	const sx_perm *perm = &s->plan.table[p->table];
	uint64_t value = sx_permute(perm, fp), outside = p->low ^ p->high;

	return value >= p->low && value <= p->high &&
	       __builtin_popcountll((value ^ sx_permute(perm, query)) & outside) <= p->rest;
}

/*
 * Whatever a probe looks for is found, also where probes are there twice and overlap, and each
 * allows another number of differing bits.
 */
START_TEST(test_any_probes_find_their_ranges)
{
	sx_probes probes = { 0 };
	struct subject s;

	init(&s, _i);
	for (unsigned i = 0; i < (sxt_is_long() ? 1000u : 100u); i++) {
		unsigned n = (unsigned)sxt_rng_below(&s.rng, 60), k = i % 20;
		uint64_t query = near(&s), candidates = 0;
		sx_u64s got = { 0 };

		probes.n = 0;
		sxt_must(!sx_probes_reserve(&probes, n + 1));
		for (unsigned p = 0; p < n; p++) {
			unsigned t = (unsigned)sxt_rng_below(&s.rng, 4), bits = 0;
			uint64_t value = sx_permute(&s.plan.table[t], near(&s));

			if (p % 16)
				bits = (unsigned)sxt_rng_below(
					&s.rng, s.plan.table[t].prefix_bits + 1u);
			if (!bits && i % 8)
				bits = s.plan.table[t].prefix_bits;
			sx_probes_add(&probes, &s.plan, t,
				      bits ? value >> (s.bits - bits) : 0, bits,
				      (int)sxt_rng_below(&s.rng, k + 2) - 1);
		}
		sxt_must(!sx_memtable_near(s.memtable, &(sx_fresh_query){ query, k, &probes, NULL, NULL },
					   &got, &candidates));
		if (got.n)
			qsort(got.at, got.n, sizeof(*got.at), by_value);
		for (size_t f = 0; f < s.n; f++) {
			int in_range = 0;

			if ((unsigned)__builtin_popcountll(s.fp[f] ^ query) > k)
				continue;
			for (size_t p = 0; p < probes.n; p++)
				in_range |= is_probed(&s, &probes.at[p], query, s.fp[f]);
			sxt_must(!in_range || bsearch(&s.fp[f], got.at, got.n, sizeof(*got.at),
						      by_value));
		}
		for (size_t g = 0; g < got.n; g++)
			sxt_must((unsigned)__builtin_popcountll(got.at[g] ^ query) <= k &&
				 (!g || got.at[g] > got.at[g - 1]));
		sx_u64s_free(&got);
	}
	sx_probes_free(&probes);
	finish(&s);
}
END_TEST

/*
 * An index that has merged nothing or little: a scan is cheapest for its tables, but the fresh rows
 * are not all compared. Searches make the memtable, so it is there after some hundreds of them.
 */
START_TEST(test_few_documents_in_tables)
{
	static const size_t merged[] = { 0, 100 };
	simidx_results out = SIMIDX_RESULTS_INIT;
	simidx_query q = SIMIDX_QUERY_INIT;
	const size_t n = 8000;
	struct t_search s;

	t_search_init(&s, _i % SXT_N_PLANS, 0);
	for (size_t i = 0; i < n; i++)
		t_search_add(&s, t_search_any(&s));
	t_search_store(&s, merged[_i / SXT_N_PLANS]);
	for (unsigned i = 0; i < 400; i++) {
		q.fp = t_search_near(&s);
		ck_assert_sx(simidx_reader_search(s.reader, &q, &out, &sxt_err), SIMIDX_OK);
	}
	for (q.radius = 0; q.radius <= 3; q.radius++) {
		q.fp = t_search_near(&s);
		sxt_check_query(&s.model, n, s.reader, &q, &out);
		ck_assert_uint_le(out.candidates, s.merged + n / 20);
	}
	t_search_end(&s);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_covers_find_all_near, 0, 16 },
	{ &test_any_probes_find_their_ranges, 0, 16 },
	{ &test_few_documents_in_tables, 0, 2 * SXT_N_PLANS },
};

SXT_SUITE(search_memtable, NULL, NULL);
