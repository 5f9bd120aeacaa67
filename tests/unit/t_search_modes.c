/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Modes and limits of queries against a linear scan. */

#include <simidx_info.h>

#include "support/sxt_search.h"

/* A query with weights, a second fingerprint or neither. */
static simidx_query any_query(struct t_search *s, uint8_t weights[64])
{
	simidx_query q = SIMIDX_QUERY_INIT;

	q.fp = t_search_near(s);
	q.radius = (unsigned)sxt_rng_below(&s->rng, 9);
	if (sxt_rng_below(&s->rng, 3) == 0) {
		for (unsigned b = 0; b < 64; b++)
			weights[b] = (uint8_t)sxt_rng_below(&s->rng, 4);
		q.weights = weights;
	}
	if (s->flags & SIMIDX_CREATE_FP2 && sxt_rng_below(&s->rng, 2)) {
		q.flags = SIMIDX_QUERY_FP2;
		q.fp2 = sxt_rng_flip(&s->rng, s->common2, 64, 3);
		q.radius2 = q.radius + (unsigned)sxt_rng_below(&s->rng, 12);
	}
	return q;
}

static void check_first(struct t_search *s, simidx_query q, size_t n_found)
{
	simidx_results r;

	q.mode = SIMIDX_FIRST;
	q.limit = sxt_rng_below(&s->rng, 3);
	sxt_check_query(&s->model, s->model.n, s->reader, &q, &r);
	ck_assert_uint_eq(r.n, n_found > 0);
	ck_assert_uint_eq(r.count, n_found > 0);
	ck_assert_int_eq(r.truncated, 0);
}

static void check_count(struct t_search *s, simidx_query q, size_t n_found)
{
	simidx_results r;

	q.mode = SIMIDX_COUNT;
	sxt_check_query(&s->model, s->model.n, s->reader, &q, &r);
	ck_assert_uint_eq(r.n, 0);
	ck_assert_uint_eq(r.count, n_found);
	ck_assert_int_eq(r.truncated, 0);
}

/* The first ones of all, in order, and nothing else. */
static void check_nearest(struct t_search *s, simidx_query q, const sxt_found *found,
			  size_t n_found)
{
	size_t want;
	simidx_results r;

	q.mode = SIMIDX_NEAREST;
	q.limit = 1 + sxt_rng_below(&s->rng, 12);
	want = q.limit < n_found ? (size_t)q.limit : n_found;
	sxt_check_found(found, n_found, s->reader, &q, &r);
	ck_assert_uint_eq(r.n, want);
	for (size_t i = 0; i < want; i++) {
		sxt_must_eq(r.matches[i].weighted_distance, found[i].weighted_distance);
		sxt_must_eq(r.matches[i].id, found[i].doc->id);
		sxt_must_eq(r.matches[i].fp, found[i].doc->fp);
	}
}

static void check_limit(struct t_search *s, simidx_query q, const sxt_found *found,
			size_t n_found)
{
	size_t want;
	simidx_results r;

	q.limit = 1 + sxt_rng_below(&s->rng, n_found + 2);
	want = q.limit < n_found ? (size_t)q.limit : n_found;
	sxt_check_found(found, n_found, s->reader, &q, &r);
	ck_assert_uint_eq(r.n, want);
	for (size_t i = 0; i < want; i++)
		sxt_must_eq(r.matches[i].id, found[i].doc->id);
	ck_assert_int_eq(r.truncated, want < n_found ? SIMIDX_CUT_LIMIT : 0);
	ck_assert_uint_ge(r.count, want);
}

/* The number of candidates no longer changes once the blocks have been read some times. */
static void read_often(struct t_search *s, const simidx_query *q)
{
	simidx_results r = SIMIDX_RESULTS_INIT;

	for (unsigned i = 0; i < 10; i++)
		ck_assert_sx(simidx_reader_search(s->reader, q, &r, &sxt_err), SIMIDX_OK);
}

/* Cut where there was more to compare, and only there; fresh rows are compared in any case. */
static void check_cut_of(const struct t_search *s, const simidx_query *q, uint64_t candidates,
			 const simidx_results *r)
{
	int all_merged = s->merged == s->model.n;

	sxt_must(!all_merged || r->candidates <= q->max_candidates);
	sxt_must(!(r->truncated & ~SIMIDX_CUT_CANDIDATES));
	if (q->max_candidates >= candidates)
		sxt_must(!r->truncated);
	else if (all_merged)
		sxt_must(r->truncated);
}

static void check_cut(struct t_search *s, simidx_query q, const sxt_found *found,
		      size_t n_found)
{
	simidx_results whole, r;

	read_often(s, &q);
	sxt_check_found(found, n_found, s->reader, &q, &whole);
	for (unsigned i = 0; i < 4; i++) {
		q.max_candidates = 1 + sxt_rng_below(&s->rng, whole.candidates + 2);
		if (i == 3)
			q.max_candidates = whole.candidates ? whole.candidates : 1;
		sxt_check_found(found, n_found, s->reader, &q, &r);
		check_cut_of(s, &q, whole.candidates, &r);
		ck_assert_uint_le(r.n, whole.n);
	}
}

/* At the edge of each table's candidates, which is where the next table begins. */
static void check_every_cut(struct t_search *s)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_results whole, r;

	q.fp = t_search_near(s);
	read_often(s, &q);
	sxt_check_query(&s->model, s->model.n, s->reader, &q, &whole);
	for (q.max_candidates = 1; q.max_candidates <= whole.candidates; q.max_candidates++) {
		sxt_check_query(&s->model, s->model.n, s->reader, &q, &r);
		check_cut_of(s, &q, whole.candidates, &r);
		if (whole.candidates > 50)
			q.max_candidates += sxt_rng_below(&s->rng, whole.candidates / 20);
	}
}

/* All modes also when they are cut. */
static void check_cut_modes(struct t_search *s, simidx_query q, const sxt_found *found,
			    size_t n_found)
{
	simidx_results r;

	q.max_candidates = 1 + sxt_rng_below(&s->rng, 60);
	for (q.mode = SIMIDX_ALL; q.mode <= SIMIDX_NEAREST; q.mode++) {
		q.limit = 3;
		sxt_check_found(found, n_found, s->reader, &q, &r);
		sxt_must(s->merged < s->model.n || r.candidates <= q.max_candidates);
		sxt_must_le(r.count, n_found);
		if (q.mode == SIMIDX_COUNT && !r.truncated)
			sxt_must_eq(r.count, n_found);
		if (q.mode == SIMIDX_FIRST && !r.n && n_found)
			sxt_must(r.truncated);
	}
}

/* What was found within some radius is there also where a larger one is cut short. */
static void check_cut_nearest(struct t_search *s)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	sxt_doc first[8];

	q.fp = t_search_near(s);
	q.mode = SIMIDX_NEAREST;
	q.limit = 8;
	for (unsigned k = 0; k <= s->bits / 2; k += 3) {
		simidx_results r;
		size_t n;

		q.radius = k;
		q.max_candidates = 0;
		read_often(s, &q);
		sxt_check_query(&s->model, s->model.n, s->reader, &q, &r);
		for (n = 0; n < r.n; n++) {
			first[n].id = r.matches[n].id;
			first[n].fp = r.matches[n].fp;
		}
		q.radius = s->bits;
		q.max_candidates = r.candidates ? r.candidates : 1;
		sxt_check_query(&s->model, s->model.n, s->reader, &q, &r);
		sxt_must_ge(r.n, n);
		for (size_t i = 0; i < n; i++)
			sxt_must(first[i].id == r.matches[i].id &&
				 first[i].fp == r.matches[i].fp);
		sxt_must_ge(r.count, r.n);
		/* Fresh rows do not count. */
		q.max_candidates = 1;
		ck_assert_sx(simidx_reader_search(s->reader, &q, &r, &sxt_err), SIMIDX_OK);
		sxt_must(s->merged || !r.truncated);
	}
}

struct seen {
	const sx_hits *hits;
	size_t n;
};

static int see_hits(void *ctx, sx_finding *f, size_t from, simidx_error *err)
{
	struct seen *seen = ctx;

	(void)err;
	sxt_must(!f->done);
	sxt_must_eq(from, seen->n);
	sxt_must_gt(seen->hits->n, from);
	seen->n = seen->hits->n;
	return SIMIDX_OK;
}

/* A search for one match is shown each hit once. */
static void check_until(struct t_search *s)
{
	simidx_query asked = SIMIDX_QUERY_INIT;
	simidx_results out = SIMIDX_RESULTS_INIT;
	simidx_reader *r = s->reader;
	struct seen seen = { &r->hits, 0 };
	sx_query q;
	sx_finding f = { .view = &r->view,
			 .q = &q,
			 .access = &r->access,
			 .left = UINT64_MAX,
			 .until = see_hits,
			 .ctx = &seen,
			 .hits = &r->hits,
			 .out = &out },
		   *one = &f;

	asked.fp = t_search_near(s);
	asked.radius = s->bits / 2;
	ck_assert_sx(sx_query_init(&q, s->index, &asked, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_view_renew(&r->view, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_access_make(&r->access, &r->covers, &r->view, &q, 0, &sxt_err), SIMIDX_OK);
	sx_hits_clear(&r->hits);
	ck_assert_sx(sx_hits_find(r->search, &one, 1, &out.round_trips, &sxt_err), SIMIDX_OK);
	sx_view_reset(&r->view);
	ck_assert_uint_ge(seen.n, out.fingerprints);
}

static void check_modes(struct t_search *s, simidx_query q)
{
	size_t n_found;
	sxt_found *found = sxt_model_find(&s->model, s->model.n, &q, &n_found);

	check_first(s, q, n_found);
	check_count(s, q, n_found);
	check_nearest(s, q, found, n_found);
	check_limit(s, q, found, n_found);
	check_cut(s, q, found, n_found);
	check_cut_modes(s, q, found, n_found);
	free(found);
}

static unsigned flags_of(int i)
{
	static const unsigned flags[] = { SIMIDX_CREATE_FP2, 0, SIMIDX_CREATE_NO_IDS };

	return flags[i / SXT_N_PLANS % 3];
}

START_TEST(test_modes_equal_the_model)
{
	uint8_t weights[64];
	struct t_search s;

	t_search_init(&s, _i, flags_of(_i));
	t_search_fill(&s, 700);
	t_search_store(&s, _i % 5 == 4 ? 0 : 450 + 250 * (size_t)(_i % 2));
	for (int on = 0; on < 2; on++) {
		t_search_block_indexes(&s, on);
		s.index->fresh->rows_read =
			UINT64_MAX / 2; /* fresh rows are looked up from now on */
		for (unsigned i = 0; i < (sxt_is_long() ? 200 : 12); i++)
			check_modes(&s, any_query(&s, weights));
		for (unsigned i = 0; i < 3; i++) {
			check_every_cut(&s);
			check_cut_nearest(&s);
			check_until(&s);
		}
	}
	t_search_end(&s);
}
END_TEST

/* Near to fingerprint 0, where texts without features are; every third query is one itself. */
static simidx_query text_query(struct t_search *s, uint8_t weights[64])
{
	simidx_query q = any_query(s, weights);

	q.flags |= SIMIDX_QUERY_TEXT;
	q.fp = sxt_rng_flip(&s->rng, 0, s->bits, (unsigned)sxt_rng_below(&s->rng, 3));
	q.fp2 = sxt_rng_flip(&s->rng, 0, 64, (unsigned)sxt_rng_below(&s->rng, 3));
	q.radius2 = q.radius + 4;
	return q;
}

static void check_empty(struct t_search *s, simidx_query q)
{
	simidx_explanation e = SIMIDX_EXPLANATION_INIT;

	q.fp = q.fp2 = 0;
	check_modes(s, q);
	ck_assert_sx(simidx_reader_explain(s->reader, &q, &e, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(e.results->count, 0);
	ck_assert_uint_ge(e.n_choices, 1);
}

/*
 * Documents of fingerprint 0: those of second fingerprint 0, or all where there is none, are empty.
 */
START_TEST(test_empty_texts_match_nothing)
{
	size_t n, near, empty = 0;
	uint8_t weights[64];
	struct t_search s;
	simidx_query q;

	t_search_init(&s, _i, flags_of(_i));
	t_search_fill(&s, 200);
	for (unsigned i = 0; i < 300; i++)
		t_search_add(&s, sxt_rng_flip(&s.rng, 0, s.bits, i % 3));
	sxt_model_shuffle(&s.model, &s.rng);
	for (size_t i = 0; i < s.model.n; i += 2) {
		s.model.at[i].fp2 = 0;
		empty += s.model.at[i].fp == 0;
	}
	t_search_store(&s, _i % 4 ? 250 : 500);
	for (unsigned i = 0; i < 20; i++) {
		q = text_query(&s, weights);
		check_modes(&s, q);
		check_empty(&s, q);
	}
	/* They are there, and found by who asks for the fingerprint. */
	q = (simidx_query)SIMIDX_QUERY_INIT;
	q.radius = 0;
	free(sxt_model_find(&s.model, s.model.n, &q, &n));
	sxt_check_query(&s.model, s.model.n, s.reader, &q, NULL);
	q.flags = SIMIDX_QUERY_TEXT;
	q.fp2 = 1;
	free(sxt_model_find(&s.model, s.model.n, &q, &near));
	sxt_check_query(&s.model, s.model.n, s.reader, &q, NULL);
	if (!(s.flags & SIMIDX_CREATE_NO_IDS))
		ck_assert_uint_eq(n - near, s.flags & SIMIDX_CREATE_FP2 ? empty : n);
	ck_assert_uint_gt(empty, 0);
	t_search_end(&s);
}
END_TEST

/* Any radius, to the last bit. */
START_TEST(test_any_radius)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_results r;
	struct t_search s;

	t_search_init(&s, _i, 0);
	t_search_fill(&s, 400);
	t_search_store(&s, 300);
	for (q.radius = 0; q.radius <= s.bits; q.radius++) {
		q.fp = t_search_near(&s);
		sxt_check_query(&s.model, s.model.n, s.reader, &q, &r);
		ck_assert_int_eq(r.complete_to, q.radius);
	}
	ck_assert_uint_eq(r.n, s.model.n);
	ck_assert_int_eq(simidx_reader_search(s.reader, &q, &r, NULL), SIMIDX_E_RANGE);
	t_search_end(&s);
}
END_TEST

/* Whatever smaller radii have compared of fresh rows does not count. */
START_TEST(test_nearest_is_cut_by_candidates)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_results whole, r;
	struct t_search s;

	t_search_init(&s, 0, 0);
	for (unsigned i = 0; i < 500; i++)
		t_search_add(&s, t_search_any(&s) >> 16 | UINT64_C(0xbeef) << 48);
	/* So many that probes are cheaper than a scan, which would be the only search. */
	for (unsigned i = 0; i < 20000; i++)
		t_search_add(&s, t_search_any(&s));
	t_search_store(&s, s.model.n);
	q.fp = t_search_any(&s) >> 16 | UINT64_C(0xbeef) << 48;
	q.mode = SIMIDX_NEAREST;
	q.limit = 5;
	sxt_check_query(&s.model, s.model.n, s.reader, &q, &whole);
	ck_assert_uint_eq(whole.n, 0);
	ck_assert_uint_gt(whole.candidates, 500); /* those of several radii */
	for (unsigned i = 0; i < 300; i++)
		t_search_add(&s, t_search_any(&s));
	sxt_model_store(&s.model, 20500, s.model.n, s.index);
	q.max_candidates = whole.candidates;
	sxt_check_query(&s.model, s.model.n, s.reader, &q, &r);
	ck_assert_int_eq(r.truncated, 0);
	q.max_candidates--;
	sxt_check_query(&s.model, s.model.n, s.reader, &q, &r);
	ck_assert_int_eq(r.truncated, SIMIDX_CUT_CANDIDATES);
	t_search_end(&s);
}
END_TEST

/*
 * What a smaller radius has found is found again. It must not count twice where a search asks
 * whether it knows all of a range.
 */
START_TEST(test_nearest_of_a_crowd)
{
	uint8_t weights[64];
	struct t_search s;

	t_search_init(&s, _i, 0);
	s.bits = s.model.bits = 64;
	for (unsigned i = 0; i < 20000; i++) /* so that a scan is not the cheapest */
		t_search_add(&s, t_search_any(&s));
	for (unsigned i = 0; i < 300; i++) {
		uint64_t centre = s.model.at[i].fp;

		for (unsigned flips = 1; flips < 4; flips++)
			t_search_add(&s, sxt_rng_flip(&s.rng, centre, 64, flips));
	}
	t_search_store(&s, s.model.n);
	for (unsigned i = 0; i < 300; i++) {
		simidx_query q = any_query(&s, weights);
		sxt_found *found;
		size_t n;

		q.fp = s.model.at[i].fp;
		q.radius = 1 + i % 4;
		q.weights = NULL;
		found = sxt_model_find(&s.model, s.model.n, &q, &n);
		check_nearest(&s, q, found, n);
		free(found);
	}
	t_search_end(&s);
}
END_TEST

/* ---- 128 bits in two fingerprints ---- */

struct wide {
	uint64_t fp, fp2;
};

static unsigned wide_distance(struct wide a, uint64_t fp, uint64_t fp2)
{
	return (unsigned)(__builtin_popcountll(a.fp ^ fp) + __builtin_popcountll(a.fp2 ^ fp2));
}

/* One in which n of the 128 bits are others. */
static struct wide wide_flip(sxt_rng *rng, struct wide w, unsigned n)
{
	unsigned low = 0;

	/* How many of the n bits are among the first 64, if they are anywhere. */
	for (unsigned i = 0; i < n; i++)
		low += sxt_rng_below(rng, 128 - i) < 64 - low;
	return (struct wide){ sxt_rng_flip(rng, w.fp, 64, low),
			      sxt_rng_flip(rng, w.fp2, 64, n - low) };
}

/* Clusters of documents that differ in 0 to 31 bits from a centre. */
static void add_wide(struct t_search *s, size_t n)
{
	struct wide centre = { 0, 0 }, w;

	for (size_t i = 0; i < n; i++) {
		if (i % 64 == 0)
			centre = (struct wide){ sxt_rng_u64(&s->rng), sxt_rng_u64(&s->rng) };
		w = wide_flip(&s->rng, centre, (unsigned)(i % 64) / 2);
		t_search_add(s, w.fp);
		s->model.at[s->model.n - 1].fp2 = w.fp2;
	}
}

/* All within k of 128 bits, by a look at every document: how many, and the order of distances. */
static void check_wide(struct t_search *s, struct wide w, unsigned k, unsigned mode)
{
	simidx_results got = SIMIDX_RESULTS_INIT;
	simidx_query q = SIMIDX_QUERY_INIT;
	unsigned last = 0;
	size_t n = 0, nearer = 0;

	for (size_t i = 0; i < s->model.n; i++)
		n += wide_distance(w, s->model.at[i].fp, s->model.at[i].fp2) <= k;
	q.fp = w.fp;
	q.fp2 = w.fp2;
	q.radius = k < 64 ? k : 64;
	q.radius2 = k;
	q.flags = SIMIDX_QUERY_FP2;
	q.mode = mode;
	q.limit = mode == SIMIDX_NEAREST ? 3 : 0;
	sxt_must_ok(simidx_reader_search(s->reader, &q, &got, &sxt_err));
	if (mode == SIMIDX_COUNT)
		sxt_must_eq(got.count, n);
	else
		sxt_must_eq(got.n, q.limit && n > q.limit ? q.limit : n);
	for (size_t i = 0; i < got.n; i++) {
		const simidx_match *m = &got.matches[i];

		sxt_must_eq(m->weighted_distance, wide_distance(w, m->fp, m->fp2));
		sxt_must_eq(m->weighted_distance, m->distance + m->distance2);
		sxt_must_le(m->weighted_distance, k);
		sxt_must_le(last, m->weighted_distance);
		last = m->weighted_distance;
		for (size_t j = 0; j < i; j++)
			sxt_must_ne(got.matches[j].id, m->id);
	}
	for (size_t i = 0; got.n && i < s->model.n; i++)
		nearer += wide_distance(w, s->model.at[i].fp, s->model.at[i].fp2) < last;
	sxt_must(nearer < got.n || !got.n);
}

/* radius = radius2 = k finds exactly what differs in k bits of both together. */
START_TEST(test_wide_fingerprints)
{
	static const unsigned radii[] = { 0, 1, 2, 3, 4, 5, 8, 12, 20, 70 };
	struct t_search s;

	t_search_init(&s, _i, SIMIDX_CREATE_FP2);
	add_wide(&s, 3000);
	t_search_store(&s, 2500);
	for (unsigned i = 0; i < 400; i++) {
		const sxt_doc *doc = &s.model.at[sxt_rng_below(&s.rng, s.model.n)];
		struct wide w = { doc->fp, doc->fp2 };

		w = wide_flip(&s.rng, w, (unsigned)sxt_rng_below(&s.rng, 6));
		check_wide(&s, w, radii[i % 10], i / 10 % 3 ? i / 10 % 3 + 1 : SIMIDX_ALL);
	}
	t_search_end(&s);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_modes_equal_the_model, 0, T_SEARCH_COMBINATIONS },
	{ &test_empty_texts_match_nothing, 0, SXT_N_PLANS * 3 },
	{ &test_any_radius, 0, SXT_N_PLANS * T_SEARCH_LAYOUTS },
	{ &test_nearest_is_cut_by_candidates, 0, 1 },
	{ &test_wide_fingerprints, 0, SXT_N_PLANS * T_SEARCH_LAYOUTS },
	{ &test_nearest_of_a_crowd, 0, SXT_N_PLANS * T_SEARCH_LAYOUTS },
};

SXT_SUITE(search_modes, NULL, NULL);
