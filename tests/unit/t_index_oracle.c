/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Searches against a linear scan, for every plan, layout and width, through all states that the
 * two tiers can be in.
 */

#include <stdlib.h>
#include <string.h>

#include "search/sx_reader.h"
#include "support/sxt_model.h"

#define N_LAYOUTS 2
#define N_WIDTHS 5
#define N_COMBINATIONS (SXT_N_PLANS * N_LAYOUTS * N_WIDTHS)

static const unsigned blocks_of[SXT_N_PLANS] = { 4, 3, 2, 5, 4, 6 }; /* as in sxt_plans */
static const unsigned widths[N_WIDTHS] = { 16, 31, 32, 48, 64 };

enum set { RANDOM, CLUSTERED, ALL_EQUAL, EXTREMES, FULL_LEAD, FULL_BLOCK_EACH, N_SETS };

#define ALL_SETS ((1u << N_SETS) - 1)

/* What a test is about. */
struct subject {
	const char *plan;
	unsigned m; /* blocks of bits that the plan cuts f into */
	unsigned bits;
	unsigned layout;
	unsigned flags;
	unsigned sets;
	char *dir, *path;
	sxt_model model;
	sxt_rng rng;
};

static uint64_t low_bits(unsigned n)
{
	return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

static uint64_t any(struct subject *s)
{
	return sxt_rng_u64(&s->rng) & low_bits(s->bits);
}

/* The bits of block number b, counted from the most significant one. */
static uint64_t block_mask(const struct subject *s, unsigned b)
{
	unsigned high = s->bits;

	for (unsigned i = 0;; i++) {
		unsigned width = s->bits / s->m + (i < s->bits % s->m);

		if (i == b)
			return low_bits(high) & ~low_bits(high - width);
		high -= width;
	}
}

static void add(struct subject *s, uint64_t fp)
{
	sxt_model_add(&s->model, fp, &s->rng);
}

static void add_random(struct subject *s, unsigned n, uint64_t ones)
{
	while (n--)
		add(s, any(s) | ones);
}

static void add_clusters(struct subject *s)
{
	for (unsigned c = 0; c < 8; c++) {
		uint64_t centre = any(s);

		for (unsigned i = 0; i < 40; i++)
			add(s, sxt_rng_flip(&s->rng, centre, s->bits, i % 7));
	}
}

static void add_equal(struct subject *s)
{
	uint64_t fp = any(s);

	for (unsigned i = 0; i < 150; i++)
		add(s, fp);
}

static void add_extremes(struct subject *s)
{
	for (unsigned i = 0; i < 40; i++) {
		uint64_t fp = i % 2 ? low_bits(s->bits) : 0;

		add(s, fp);
		add(s, sxt_rng_flip(&s->rng, fp, s->bits, 1 + i % 4));
	}
	add_random(s, 40, 0);
}

static void add_set(struct subject *s, enum set set)
{
	switch (set) {
	case RANDOM:
		add_random(s, 400, 0);
		break;
	case CLUSTERED:
		add_clusters(s);
		break;
	case ALL_EQUAL:
		add_equal(s);
		break;
	case EXTREMES:
		add_extremes(s);
		break;
	case FULL_LEAD:
		add_random(s, 200, block_mask(s, 0));
		break;
	default:
		for (unsigned b = 0; b < s->m; b++)
			add_random(s, 40, block_mask(s, b));
	}
}

/* Number i of all combinations of a plan, a layout and a width. */
static void prepare(struct subject *s, int i, unsigned sets, unsigned flags)
{
	memset(s, 0, sizeof(*s));
	s->plan = sxt_plans[i % SXT_N_PLANS];
	s->m = blocks_of[i % SXT_N_PLANS];
	s->layout = (unsigned)i / SXT_N_PLANS % N_LAYOUTS;
	s->bits = widths[(unsigned)i / SXT_N_PLANS / N_LAYOUTS];
	s->flags = flags;
	s->sets = sets;
	s->dir = sxt_dir_make();
	s->path = sxt_path(s->dir, "index");
	sxt_rng_init(&s->rng, (uint64_t)i << 8 | sets);
	sxt_model_init(&s->model, s->bits, flags);
	for (unsigned set = 0; set < N_SETS; set++)
		if (sets >> set & 1)
			add_set(s, set);
	sxt_model_shuffle(&s->model, &s->rng);
}

static void finish(struct subject *s)
{
	sxt_model_free(&s->model);
	sxt_remove(s->dir);
	free(s->path);
	free(s->dir);
}

static simidx *make(const struct subject *s)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;

	o.plan = s->plan;
	o.bits = s->bits;
	o.layout = s->layout;
	o.flags = s->flags;
	return sxt_create(s->path, &o);
}

/* ------------------------------------------------------------------------------------------
 * The four states
 */

/* Make the next search read the log, or ask the memtable. */
static void choose_tier(simidx_reader *reader, int by_log)
{
	if (by_log)
		sx_fresh_drop(sx_reader_index(reader)->fresh, SIZE_MAX);
	sx_reader_index(reader)->fresh->rows_read = by_log ? 0 : UINT64_MAX / 2;
}

/* All radii that are common, and one of the others; all up to 12 in long runs. */
static void search_one(const struct subject *s, size_t n, simidx_reader *reader, uint64_t query)
{
	unsigned other = 4 + (unsigned)(query % 9);

	for (unsigned k = 0; k <= 12 && k <= s->bits; k++)
		if (k <= 3 || k == other || sxt_is_long())
			sxt_check_search(&s->model, n, reader, query, k);
}

/* Documents that are there or are not yet, with a few bits flipped, and what nobody put. */
static uint64_t choose_query(struct subject *s, unsigned i)
{
	uint64_t fp = any(s);

	if (s->model.n && i % 8)
		fp = s->model.at[sxt_rng_below(&s->rng, s->model.n)].fp;
	return sxt_rng_flip(&s->rng, fp, s->bits, i % 5);
}

static void search_all(struct subject *s, size_t n, simidx_reader *reader, int fresh)
{
	unsigned n_queries = sxt_is_long() ? 60 : 8;
	const sx_memtable *memtable;

	for (int by_log = 0; by_log <= fresh; by_log++) {
		choose_tier(reader, by_log);
		for (unsigned i = 0; i < n_queries; i++)
			search_one(s, n, reader, choose_query(s, i));
		search_one(s, n, reader, 0);
		search_one(s, n, reader, low_bits(s->bits));
		/* Or the test does not test what it says. The log was read at first only. */
		memtable = sx_reader_index(reader)->fresh->memtable;
		if (fresh)
			ck_assert_msg(memtable && sx_memtable_end(memtable) >
							  sx_memtable_base(memtable),
				      "the memtable was not used");
	}
}

/* One query by the log alone: the memtable is thrown away before each search. */
static void search_log(struct subject *s, size_t n, simidx_reader *reader)
{
	for (unsigned i = 0; i < 4; i++) {
		simidx_query query = SIMIDX_QUERY_INIT;
		size_t n_hits;
		const sx_memtable *memtable;
		sxt_hit *hits;

		query.fp = choose_query(s, i);
		query.radius = i % 4;
		query.flags = SIMIDX_QUERY_LABELS;
		hits = sxt_model_near(&s->model, n, query.fp, query.radius, &n_hits);
		choose_tier(reader, 1);
		sxt_check_limit(&s->model, hits, n_hits, reader, &query);
		/* It has read the log: no row is in the memtable. */
		memtable = sx_reader_index(reader)->fresh->memtable;
		ck_assert(!memtable || sx_memtable_end(memtable) == sx_memtable_base(memtable));
		free(hits);
	}
}

static void walk_states(struct subject *s)
{
	size_t n = s->model.n, half = n / 2, step = (n - half) / 3 + 1, at;
	simidx *index = make(s);
	simidx_reader *reader = sxt_reader(index);

	sxt_model_store(&s->model, 0, half, index); /* all fresh */
	search_log(s, half, reader);
	search_all(s, half, reader, 1);
	sxt_check_content(&s->model, half, index);
	sxt_merge(index); /* all merged */
	search_all(s, half, reader, 0);
	sxt_check_content(&s->model, half, index);
	at = half + step;
	sxt_model_store(&s->model, half, at, index); /* half and half */
	search_log(s, at, reader);
	search_all(s, at, reader, 1);
	sxt_check_content(&s->model, at, index);
	for (; at < n; at += step) { /* several merges */
		size_t to = at + step < n ? at + step : n;

		sxt_merge(index);
		sxt_model_store(&s->model, at, to, index);
	}
	sxt_merge(index);
	search_all(s, n, reader, 0);
	sxt_check_content(&s->model, n, index);
	simidx_reader_close(reader);
	simidx_close(index);
}

static unsigned flags_of(int i)
{
	return i % 3 ? SIMIDX_CREATE_FP2 : 0;
}

/* All sets at once, in every combination. */
START_TEST(test_all_sets_at_once)
{
	struct subject s;

	prepare(&s, _i, ALL_SETS, flags_of(_i));
	walk_states(&s);
	finish(&s);
}
END_TEST

START_TEST(test_indexes_without_ids)
{
	int width = sxt_is_long() ? _i % N_WIDTHS : 2 * (_i % 3);
	struct subject s;

	prepare(&s, width * SXT_N_PLANS * N_LAYOUTS + _i % (SXT_N_PLANS * N_LAYOUTS), ALL_SETS,
		SIMIDX_CREATE_NO_IDS);
	walk_states(&s);
	finish(&s);
}
END_TEST

/* Each set alone: 64 bits only in short runs. */
START_TEST(test_each_set_alone)
{
	int first = sxt_is_long() ? 0 : N_COMBINATIONS - SXT_N_PLANS * N_LAYOUTS;
	struct subject s;

	for (int i = first + _i; i < N_COMBINATIONS; i += SXT_N_PLANS * N_LAYOUTS) {
		for (unsigned set = 0; set < N_SETS; set++) {
			prepare(&s, i, 1u << set, flags_of(i));
			walk_states(&s);
			finish(&s);
		}
	}
}
END_TEST

static void search_empty(int i)
{
	simidx_reader *reader;
	struct subject s;
	simidx *index;

	prepare(&s, i, 0, 0);
	index = make(&s);
	reader = sxt_reader(index);
	for (int merged = 0; merged < 2; merged++) {
		search_one(&s, 0, reader, any(&s));
		search_one(&s, 0, reader, 0);
		sxt_check_content(&s.model, 0, index);
		sxt_merge(index);
	}
	simidx_reader_close(reader);
	simidx_close(index);
	finish(&s);
}

START_TEST(test_empty_index)
{
	for (int i = 0; i < N_COMBINATIONS; i++)
		search_empty(i);
}
END_TEST

/* So many documents on one fingerprint that they fill many blocks of postings. */
START_TEST(test_one_fingerprint_in_many_blocks)
{
	size_t n = 100000;
	simidx_reader *reader;
	struct subject s;
	uint64_t fp;
	simidx *index;

	prepare(&s, N_COMBINATIONS - SXT_N_PLANS * N_LAYOUTS + _i * SXT_N_PLANS, 0, 0);
	fp = any(&s);
	add_random(&s, 100, 0);
	while (s.model.n < n)
		add(&s, fp);
	add_clusters(&s);
	index = make(&s);
	reader = sxt_reader(index);
	for (size_t from = 0, to = n / 2; from < s.model.n; from = to, to = s.model.n) {
		sxt_model_store(&s.model, from, to, index);
		sxt_check_search(&s.model, to, reader, fp, 0);
		sxt_check_search(&s.model, to, reader, sxt_rng_flip(&s.rng, fp, 64, 3), 3);
		if (!from)
			sxt_merge(index);
	}
	sxt_merge(index);
	sxt_check_search(&s.model, s.model.n, reader, fp, 0);
	sxt_check_search(&s.model, s.model.n, reader, sxt_rng_flip(&s.rng, fp, 64, 2), 3);
	sxt_check_content(&s.model, s.model.n, index);
	simidx_reader_close(reader);
	simidx_close(index);
	finish(&s);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * What a search costs
 */

/* Distinct stored fingerprints in the range of a probe. */
static uint64_t count_in_range(const sxt_model *m, const sx_perm *perm, const sx_probe *probe)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m->n; i++) {
		uint64_t value = sx_permute(perm, m->at[i].fp);
		size_t earlier = 0;

		if (value < probe->low || value > probe->high)
			continue;
		while (m->at[earlier].fp != m->at[i].fp)
			earlier++;
		n += earlier == i;
	}
	return n;
}

static void check_cost(const struct subject *s, simidx_reader *reader, uint64_t query, unsigned k)
{
	static const unsigned probes[2][4] = { { 1, 2, 3, 4 }, { 1, 2, 4, 10 } };
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_query q = SIMIDX_QUERY_INIT;
	uint64_t candidates = 0;

	q.fp = query;
	q.radius = k;
	ck_assert_sx(simidx_reader_search(reader, &q, &results, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(results.probes, probes[s->m == 5][k]);
	ck_assert_uint_eq(reader->access.tables.probes.n, results.probes);
	for (size_t i = 0; i < reader->access.tables.probes.n; i++)
		candidates += count_in_range(
			&s->model,
			&sx_reader_index(reader)
				 ->schema->plan.table[reader->access.tables.probes.at[i].table],
			&reader->access.tables.probes.at[i]);
	/* With a block index also what lies beside the ranges in the same parts of blocks. */
	if (sx_reader_index(reader)->block_index_cache->max_bytes == SIMIDX_BLOCK_INDEX_NEVER)
		ck_assert_uint_eq(results.candidates, candidates);
	else
		ck_assert_uint_ge(results.candidates, candidates);
}

static void check_costs(int i)
{
	static const sx_costs fixed_costs = { 100, 100, 1e6, 1e6, 0, 0 };
	simidx_reader *reader;
	struct subject s;
	simidx *index;

	prepare(&s, i, ALL_SETS, 0);
	index = make(&s);
	/* So that narrow ranges are worth many probes, though there are so few documents. */
	index->costs = &fixed_costs;
	reader = sxt_reader(index);
	sxt_model_store(&s.model, 0, s.model.n, index);
	sxt_merge(index);
	for (unsigned q = 0; q < 40; q++) {
		index->block_index_cache->max_bytes = q < 20 ? SIMIDX_BLOCK_INDEX_NEVER : 0;
		for (unsigned k = 0; k <= 3; k++)
			check_cost(&s, reader, choose_query(&s, q), k);
	}
	simidx_reader_close(reader);
	simidx_close(index);
	finish(&s);
}

/* Without fresh rows: exactly the stored fingerprints that share a probed prefix are compared. */
START_TEST(test_candidates_share_a_probed_prefix)
{
	static const int plans[] = { 0, 3 }; /* 4x16 and 10x26, whose probes check_cost() knows */

	for (int i = plans[_i]; i < N_COMBINATIONS; i += SXT_N_PLANS)
		check_costs(i);
}
END_TEST

/* Reading the log compares every fresh row, and nothing else is there. */
START_TEST(test_log_compares_each_fresh_row)
{
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_reader *reader;
	struct subject s;
	simidx *index;

	prepare(&s, _i * SXT_N_PLANS, 1u << CLUSTERED, 0); /* each layout */
	index = make(&s);
	sxt_model_store(&s.model, 0, s.model.n, index);
	sx_fresh_drop(index->fresh, SIZE_MAX); /* the writer has made one, to look for duplicates */
	reader = sxt_reader(index);
	ck_assert_sx(simidx_reader_search(reader, &q, &results, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(results.candidates, s.model.n);
	simidx_reader_close(reader);
	simidx_close(index);
	finish(&s);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_all_sets_at_once, 0, N_COMBINATIONS },
	{ &test_indexes_without_ids, 0, 2 * SXT_N_PLANS * N_LAYOUTS },
	{ &test_each_set_alone, 0, SXT_N_PLANS * N_LAYOUTS },
	{ &test_empty_index, 0, 1 },
	{ &test_one_fingerprint_in_many_blocks, 0, N_LAYOUTS },
	{ &test_candidates_share_a_probed_prefix, 0, 2 },
	{ &test_log_compares_each_fresh_row, 0, N_LAYOUTS },
};

SXT_SUITE(index_oracle, NULL, NULL);
