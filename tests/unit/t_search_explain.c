/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What must not change an answer (the kernel, an XOR of everything, another order of the bits),
 * and what is said about searches: explanations and predictions.
 */

#include <math.h>
#include <pthread.h>
#include <string.h>

#include <simidx_batch.h>
#include <simidx_info.h>

#include "support/sxt_search.h"

/* ------------------------------------------------------------------------------------------
 * Explanations
 */

static void check_same_counts(const simidx_results *a, const simidx_results *b)
{
	sxt_must_eq(a->count, b->count);
	sxt_must_eq(a->probes, b->probes);
	sxt_must_eq(a->blocks, b->blocks);
	sxt_must_eq(a->candidates, b->candidates);
	sxt_must_eq(a->fingerprints, b->fingerprints);
	sxt_must(a->truncated == b->truncated && a->complete_to == b->complete_to);
}

static void check_choices(const simidx_explanation *e)
{
	const simidx_choice *chosen = e->choices;

	sxt_must_ge(e->n_choices, 1);
	for (size_t i = 0; i < e->n_choices; i++) {
		const simidx_choice *c = &e->choices[i];

		sxt_must(c->text[0] && memchr(c->text, 0, sizeof(c->text)));
		sxt_must(!c->reserved[0] && !c->reserved[1]);
		sxt_must(!i || strcmp(c->text, chosen->text) || c->probes != chosen->probes);
		sxt_must(!i || c->microseconds >= c[-1].microseconds);
	}
}

static simidx_query any_query(struct t_search *s, uint8_t weights[64])
{
	simidx_query q = SIMIDX_QUERY_INIT;

	for (unsigned b = 0; b < 64; b++)
		weights[b] = (uint8_t)sxt_rng_below(&s->rng, 6);
	q.fp = t_search_near(s);
	q.radius = (unsigned)sxt_rng_below(&s->rng, 8);
	q.limit = sxt_rng_below(&s->rng, 10);
	if (sxt_rng_below(&s->rng, 2))
		q.weights = weights;
	if (q.weights && sxt_rng_below(&s->rng, 2))
		q.probes = 1 + (unsigned)sxt_rng_below(&s->rng, 50);
	if (sxt_rng_below(&s->rng, 4) == 0)
		q.max_candidates = 1 + sxt_rng_below(&s->rng, 50);
	return q;
}

static void check_explained(struct t_search *s, const simidx_query *q)
{
	simidx_explanation e = SIMIDX_EXPLANATION_INIT;
	simidx_results r = SIMIDX_RESULTS_INIT;

	/* What is compared no longer changes once blocks have been read some times. */
	for (unsigned i = 0; i < 12; i++)
		ck_assert_sx(simidx_reader_search(s->reader, q, &r, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_reader_explain(s->reader, q, &e, &sxt_err), SIMIDX_OK);
	check_same_counts(e.results, &r);
	sxt_must(!e.results->n && !e.results->matches);
	sxt_must_eq(e.results->size, sizeof(r));
	check_choices(&e);
	sxt_must(!strcmp(e.kernel, s->index->kernel->name));
	/* What was chosen is what was done. */
	if (!q->max_candidates && (q->mode == SIMIDX_ALL || q->mode == SIMIDX_COUNT))
		ck_assert_msg(e.choices[0].probes == r.probes,
			      "chosen: %s, %llu probes; done: %llu", e.choices[0].text,
			      (unsigned long long)e.choices[0].probes,
			      (unsigned long long)r.probes);
}

START_TEST(test_explain_tells_what_search_does)
{
	struct t_search s;
	uint8_t weights[64];

	t_search_init(&s, _i, _i % 2 ? SIMIDX_CREATE_FP2 : 0);
	t_search_fill(&s, 3000);
	t_search_store(&s, 2900);
	for (int on = 0; on < 2; on++) {
		simidx_explanation e = SIMIDX_EXPLANATION_INIT;
		simidx_query q = SIMIDX_QUERY_INIT;

		t_search_block_indexes(&s, on);
		s.index->fresh->rows_read = UINT64_MAX / 2;
		ck_assert_sx(simidx_reader_explain(s.reader, &q, &e, &sxt_err), SIMIDX_OK);
		ck_assert_uint_eq(e.block_indexes > 0, on && s.layout == SIMIDX_LAYOUT_BLOCKS);
		for (unsigned i = 0; i < 40; i++) {
			q = any_query(&s, weights);
			q.mode = (unsigned)sxt_rng_below(&s.rng, 4);
			q.limit += q.mode == SIMIDX_NEAREST;
			check_explained(&s, &q);
		}
	}
	t_search_end(&s);
}
END_TEST

/*
 * As many probes as theory says, one for each prefix: sum C(16, 0..t) over the tables with sum
 * (t + 1) = k + 1, and pairs of five blocks. Rows cost and probes do not, so that merging them
 * is of no use.
 */
START_TEST(test_probes_are_as_many_as_theory_says)
{
	static const sx_costs fixed_costs = { 100, 0, 1, 1, 0, 0 };
	static const struct {
		int i;
		unsigned n, probes[8];
	} want[] = { { 0, 8, { 1, 2, 3, 4, 20, 36, 52, 68 } }, { 3, 4, { 1, 2, 4, 10 } } };
	struct t_search s;

	t_search_init(&s, want[_i].i, 0);
	for (unsigned i = 0; i < 5000; i++)
		t_search_add(&s, t_search_any(&s));
	t_search_store(&s, 5000);
	s.index->costs = &fixed_costs;
	for (unsigned k = 0; k < want[_i].n; k++) {
		simidx_explanation e = SIMIDX_EXPLANATION_INIT;
		simidx_query q = SIMIDX_QUERY_INIT;

		q.fp = t_search_near(&s);
		q.radius = k;
		ck_assert_sx(simidx_reader_explain(s.reader, &q, &e, &sxt_err), SIMIDX_OK);
		ck_assert_msg(e.choices[0].probes == want[_i].probes[k], "%s", e.choices[0].text);
		ck_assert_uint_eq(e.results->probes, want[_i].probes[k]);
	}
	t_search_end(&s);
}
END_TEST

/*
 * The nearest are found within 1, though up to 7 was allowed: what is weighed up is how to search
 * within 1.
 */
START_TEST(test_nearest_explains_radius_found)
{
	static const sx_costs fixed_costs = { 100, 10, 1, 100, 0, 0 };
	simidx_explanation near = SIMIDX_EXPLANATION_INIT, all = SIMIDX_EXPLANATION_INIT;
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_reader *other;
	struct t_search s;

	t_search_init(&s, 0, 0);
	for (unsigned i = 0; i < 20000; i++)
		t_search_add(&s, t_search_any(&s));
	t_search_store(&s, 20000);
	/* So that it is never a scan. */
	s.index->costs = &fixed_costs;
	other = sxt_reader(s.index);
	q.fp = s.model.at[7].fp ^ 1;
	q.radius = 1;
	ck_assert_sx(simidx_reader_explain(other, &q, &all, &sxt_err), SIMIDX_OK);
	q.mode = SIMIDX_NEAREST;
	q.limit = 1;
	q.radius = 7;
	ck_assert_sx(simidx_reader_explain(s.reader, &q, &near, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(near.results->count, 1);
	ck_assert_uint_gt(all.n_choices, 1);
	ck_assert_uint_eq(near.n_choices, all.n_choices);
	for (size_t i = 0; i < all.n_choices; i++) {
		ck_assert_str_eq(near.choices[i].text, all.choices[i].text);
		ck_assert_uint_eq(near.choices[i].probes, all.choices[i].probes);
	}
	simidx_reader_close(other);
	t_search_end(&s);
}
END_TEST

/*
 * One probe is one range of one table, chosen by how full the ranges are: that is said, and that
 * one block index was used, though all tables have one by then.
 */
START_TEST(test_explain_of_one_probe)
{
	simidx_explanation e = SIMIDX_EXPLANATION_INIT;
	simidx_query q = SIMIDX_QUERY_INIT;
	uint8_t weights[64];
	struct t_search s;

	t_search_init(&s, _i, 0);
	t_search_fill(&s, 3000);
	t_search_store(&s, 3000);
	t_search_block_indexes(&s, 1);
	ck_assert_sx(simidx_reader_explain(s.reader, &q, &e, &sxt_err), SIMIDX_OK);
	for (unsigned b = 0; b < 64; b++)
		weights[b] = (uint8_t)(1 + b % 5);
	q.weights = weights;
	q.probes = 1;
	for (unsigned i = 0; i < 20; i++) {
		q.fp = t_search_near(&s);
		ck_assert_sx(simidx_reader_explain(s.reader, &q, &e, &sxt_err), SIMIDX_OK);
		ck_assert_uint_eq(e.results->probes, 1);
		ck_assert_uint_eq(e.choices[0].probes, 1);
		ck_assert_uint_eq(e.block_indexes, s.layout == SIMIDX_LAYOUT_BLOCKS);
		ck_assert_int_eq(e.looked_up, 1);
	}
	t_search_end(&s);
}
END_TEST

START_TEST(test_explain_refuses_bad_queries)
{
	simidx_explanation e = SIMIDX_EXPLANATION_INIT;
	simidx_query q = SIMIDX_QUERY_INIT;
	struct t_search s;

	t_search_init(&s, 0, 0);
	t_search_fill(&s, 100);
	t_search_store(&s, 50);
	e.n_choices = 1;
	ck_assert_sx(simidx_reader_explain(NULL, &q, &e, &sxt_err), SIMIDX_E_ARG);
	ck_assert_uint_eq(e.n_choices, 0);
	ck_assert_sx(simidx_reader_explain(s.reader, NULL, &e, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_reader_explain(s.reader, &q, NULL, &sxt_err), SIMIDX_E_ARG);
	q.radius = 65;
	ck_assert_sx(simidx_reader_explain(s.reader, &q, &e, &sxt_err), SIMIDX_E_RANGE);
	q.radius = 3;
	q.flags = SIMIDX_QUERY_FP2;
	ck_assert_sx(simidx_reader_explain(s.reader, &q, &e, &sxt_err), SIMIDX_E_MISMATCH);
	e.size = 0;
	ck_assert_sx(simidx_reader_explain(s.reader, &q, &e, &sxt_err), SIMIDX_E_ARG);
	t_search_end(&s);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Predictions
 */

static void check_prediction(const simidx_prediction *p)
{
	sxt_must(p->plan && p->n_tables > 0);
	sxt_must(isfinite(p->table_bytes) && isfinite(p->bytes) && p->bytes > p->table_bytes);
	sxt_must(isfinite(p->probes) && p->probes >= 0 && isfinite(p->candidates));
	sxt_must(isfinite(p->microseconds) && p->microseconds >= 0);
}

/* More documents or a larger radius never cost less. */
START_TEST(test_predictions_grow)
{
	static const unsigned widths[] = { 16, 33, 64 };
	simidx_prediction p = SIMIDX_PREDICTION_INIT;
	unsigned bits = widths[_i], i;
	int rc = SIMIDX_OK;

	for (i = 0; !rc; i++) {
		for (unsigned k = 0; k <= 8 && !rc; k++) {
			double before = 0;

			for (uint64_t n = 1; n <= 1000000000 && !rc; n *= 10) {
				rc = simidx_plan_predict(i, bits, n, k, &p, NULL);
				if (rc)
					continue;
				check_prediction(&p);
				ck_assert_msg(p.microseconds >= before * 0.999,
					      "plan %s, %llu documents, radius %u: %g us after %g",
					      p.plan, (unsigned long long)n, k, p.microseconds,
					      before);
				before = p.microseconds;
			}
		}
		for (unsigned k = 0; k <= 8 && !rc; k++) {
			simidx_prediction less = SIMIDX_PREDICTION_INIT;

			sxt_must(!simidx_plan_predict(i, bits, 10000000, k, &less, NULL));
			sxt_must(!simidx_plan_predict(i, bits, 10000000, k + 1, &p, NULL));
			ck_assert_msg(p.microseconds >= less.microseconds * 0.999,
				      "plan %s, radius %u: %g us, %g us", p.plan, k,
				      less.microseconds, p.microseconds);
		}
	}
	ck_assert_int_eq(rc, SIMIDX_E_END);
	ck_assert_uint_ge(i, SXT_N_PLANS + 1);
}
END_TEST

/* simidx_create_options.plan: "auto" by what is expected; more than 50 million want 3x22. */
START_TEST(test_predictions_tell_auto)
{
	static const struct {
		uint64_t documents;
		const char *plan;
	} cases[] = { { 0, "4x16" }, { 1000, "4x16" }, { 50000000, "4x16" },
		      { 50000001, "3x22" }, { UINT64_MAX, "3x22" } };
	simidx_prediction p = SIMIDX_PREDICTION_INIT;

	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		unsigned n_auto = 0;

		for (unsigned i = 0; !simidx_plan_predict(i, 64, cases[c].documents, 3, &p, NULL);
		     i++) {
			n_auto += p.is_auto;
			ck_assert_int_eq(p.is_auto != 0, !strcmp(p.plan, cases[c].plan));
		}
		ck_assert_uint_eq(n_auto, 1);
	}
}
END_TEST

START_TEST(test_predict_refuses_bad_arguments)
{
	simidx_prediction p = SIMIDX_PREDICTION_INIT;

	ck_assert_sx(simidx_plan_predict(0, 64, 0, 3, &p, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_plan_predict(0, 64, UINT64_MAX, 64, &p, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_plan_predict(UINT32_MAX, 64, 1, 3, &p, &sxt_err), SIMIDX_E_END);
	p.n_tables = 1;
	ck_assert_sx(simidx_plan_predict(0, 64, 1, 65, &p, &sxt_err), SIMIDX_E_ARG);
	ck_assert_uint_eq(p.n_tables, 0);
	ck_assert_sx(simidx_plan_predict(0, 32, 1, 33, &p, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_plan_predict(0, 15, 1, 3, &p, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_plan_predict(0, 65, 1, 3, &p, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_plan_predict(0, 64, 1, 3, NULL, &sxt_err), SIMIDX_E_ARG);
	p.size = 4097;
	ck_assert_sx(simidx_plan_predict(0, 64, 1, 3, &p, &sxt_err), SIMIDX_E_ARG);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Kernels
 */

START_TEST(test_kernels_answer_alike)
{
	simidx_open_options o = SIMIDX_OPEN_OPTIONS_INIT;
	const sx_kernel *kernel;
	struct t_search s;
	unsigned n = 0;

	t_search_init(&s, _i, 0);
	t_search_fill(&s, 2000);
	t_search_store(&s, 1700);
	o.map_size = (uint64_t)1 << 30;
	for (; (kernel = sx_kernel_list(n)); n++) {
		simidx_explanation e = SIMIDX_EXPLANATION_INIT;
		simidx_query q = SIMIDX_QUERY_INIT;

		simidx_reader_close(s.reader);
		simidx_close(s.index);
		o.kernel = kernel->name;
		ck_assert_sx(simidx_open(s.path, &o, &s.index, &sxt_err), SIMIDX_OK);
		s.reader = sxt_reader(s.index);
		for (unsigned i = 0; i < 30; i++) {
			q.fp = t_search_near(&s);
			q.radius = i % 10;
			sxt_check_query(&s.model, s.model.n, s.reader, &q, NULL);
		}
		ck_assert_sx(simidx_reader_explain(s.reader, &q, &e, &sxt_err), SIMIDX_OK);
		ck_assert_str_eq(e.kernel, kernel->name);
	}
	ck_assert_uint_ge(n, 1);
	o.kernel = "abacus";
	simidx_reader_close(s.reader);
	simidx_close(s.index);
	ck_assert_sx(simidx_open(s.path, &o, &s.index, &sxt_err), SIMIDX_E_UNSUPPORTED);
	ck_assert_ptr_null(s.index);
	s.reader = NULL;
	t_search_end(&s);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Metamorphoses
 */

struct change {
	uint64_t constant; /* of an XOR */
	unsigned to[64];   /* where each bit goes */
};

static uint64_t changed(const struct change *c, unsigned bits, uint64_t fp)
{
	uint64_t x = 0;

	for (unsigned b = 0; b < bits; b++)
		x |= (fp >> b & 1) << c->to[b];
	return x ^ c->constant;
}

static void choose_change(struct t_search *s, int permute, struct change *c)
{
	c->constant = permute ? 0 : t_search_any(s);
	for (unsigned b = 0; b < s->bits; b++)
		c->to[b] = b;
	for (unsigned b = s->bits; permute && b > 1; b--) {
		unsigned other = (unsigned)sxt_rng_below(&s->rng, b), was = c->to[b - 1];

		c->to[b - 1] = c->to[other];
		c->to[other] = was;
	}
}

/* The same documents in another index, changed. */
static void change_all(const struct t_search *s, const struct change *c, int i,
		       struct t_search *out)
{
	t_search_init(out, i, s->flags);
	for (size_t d = 0; d < s->model.n; d++)
		t_search_add(out, changed(c, s->bits, s->model.at[d].fp));
	t_search_store(out, s->merged);
}

#define QUERIES 40

/* Queries of one index and their images, with weights, masks (weights 0 and 1) and neither. */
struct questions {
	simidx_query of[QUERIES], image[QUERIES];
	uint8_t weights[QUERIES][64], image_weights[QUERIES][64];
};

static void make_questions(struct t_search *s, const struct change *c, int permute,
			   struct questions *q)
{
	memset(q, 0, sizeof(*q));
	for (unsigned i = 0; i < QUERIES; i++) {
		q->of[i] = any_query(s, q->weights[i]);
		for (unsigned b = 0; b < 64 && i % 4 == 0; b++)
			q->weights[i][b] = sxt_rng_below(&s->rng, 5) > 0;
		if (i % 4 == 0)
			q->of[i].weights = q->weights[i];
		/* What is found beyond what was asked for depends on the order of the bits, but not
		   on their values. */
		if (permute)
			q->of[i].probes = 0;
		else if (q->of[i].weights && i % 3 == 0)
			q->of[i].probes = 1 + i;
		if (!permute && q->of[i].weights && !q->of[i].probes && i % 5 == 0)
			q->of[i].complete = 1 + i % 7;
		q->of[i].max_candidates = 0;
		q->image[i] = q->of[i];
		q->image[i].fp = changed(c, s->bits, q->of[i].fp);
		for (unsigned b = 0; b < s->bits; b++)
			q->image_weights[i][c->to[b]] = q->weights[i][b];
		q->image[i].weights = q->of[i].weights ? q->image_weights[i] : NULL;
	}
}

static void check_same(const struct change *c, unsigned bits, const simidx_results *x,
		       const simidx_results *y)
{
	sxt_must_eq(x->n, y->n);
	sxt_must_eq(x->count, y->count);
	sxt_must(x->truncated == y->truncated && x->complete_to == y->complete_to);
	for (size_t i = 0; i < x->n; i++) {
		sxt_must_eq(x->matches[i].id, y->matches[i].id);
		sxt_must_eq(x->matches[i].weighted_distance, y->matches[i].weighted_distance);
		sxt_must_eq(x->matches[i].distance, y->matches[i].distance);
		sxt_must_eq(changed(c, bits, x->matches[i].fp), y->matches[i].fp);
	}
}

/* The batch is of the images; each answer is compared with a single search among the originals. */
struct images {
	struct t_search *s;
	const struct change *change;
	const struct questions *questions;
	size_t n;
	pthread_mutex_t lock;
};

static int deliver_image(void *ctx, size_t i, const simidx_results *results)
{
	simidx_results r = SIMIDX_RESULTS_INIT;
	struct images *images = ctx;

	pthread_mutex_lock(&images->lock);
	ck_assert_sx(simidx_reader_search(images->s->reader, &images->questions->of[i], &r,
					  &sxt_err),
		     SIMIDX_OK);
	check_same(images->change, images->s->bits, &r, results);
	images->n++;
	pthread_mutex_unlock(&images->lock);
	return 0;
}

static void check_questions(struct t_search *s, struct t_search *other, const struct change *c,
			    const struct questions *q)
{
	simidx_batch_options how = SIMIDX_BATCH_OPTIONS_INIT;
	struct images images = { s, c, q, 0, PTHREAD_MUTEX_INITIALIZER };

	for (unsigned i = 0; i < QUERIES; i++) {
		simidx_results x = SIMIDX_RESULTS_INIT, y = SIMIDX_RESULTS_INIT;

		ck_assert_sx(simidx_reader_search(s->reader, &q->of[i], &x, &sxt_err), SIMIDX_OK);
		ck_assert_sx(simidx_reader_search(other->reader, &q->image[i], &y, &sxt_err),
			     SIMIDX_OK);
		check_same(c, s->bits, &x, &y);
	}
	how.deliver = deliver_image;
	how.ctx = &images;
	for (how.threads = 1; how.threads <= 2; how.threads++)
		ck_assert_sx(simidx_reader_search_batch(other->reader, q->image, QUERIES, &how,
							&sxt_err),
			     SIMIDX_OK);
	ck_assert_uint_eq(images.n, 2 * QUERIES);
}

/* Many that differ in nothing but the fingerprint, sorted table by table. */
static void check_sorted(struct t_search *s, struct t_search *other, const struct change *c,
			 struct questions *q)
{
	for (unsigned i = 0; i < QUERIES; i++) {
		uint64_t fp = q->of[i].fp;

		q->of[i] = q->image[i] = (simidx_query)SIMIDX_QUERY_INIT;
		q->of[i].fp = fp;
		q->image[i].fp = changed(c, s->bits, fp);
		q->of[i].radius = q->image[i].radius = 3;
	}
	other->index->tuning.batch_sorted_from = 2;
	check_questions(s, other, c, q);
}

START_TEST(test_permuted_and_flipped_bits)
{
	struct t_search s, other;
	struct questions q;
	struct change c;

	if (!sxt_is_long() && (_i / 2 / SXT_N_PLANS + _i) % 2)
		sxt_skip("long: SIMIDX_LONG=1");
	t_search_init(&s, _i / 2, 0);
	t_search_fill(&s, 1000);
	t_search_store(&s, 800);
	choose_change(&s, _i % 2, &c);
	change_all(&s, &c, _i / 2, &other);
	make_questions(&s, &c, _i % 2, &q);
	check_questions(&s, &other, &c, &q);
	check_sorted(&s, &other, &c, &q);
	t_search_end(&s);
	t_search_end(&other);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_explain_tells_what_search_does, 0, T_SEARCH_COMBINATIONS },
	{ &test_probes_are_as_many_as_theory_says, 0, 2 },
	{ &test_nearest_explains_radius_found, 0, 1 },
	{ &test_explain_of_one_probe, 0, SXT_N_PLANS * T_SEARCH_LAYOUTS },
	{ &test_explain_refuses_bad_queries, 0, 1 },
	{ &test_predictions_grow, 0, 3 },
	{ &test_predictions_tell_auto, 0, 1 },
	{ &test_predict_refuses_bad_arguments, 0, 1 },
	{ &test_kernels_answer_alike, 0, SXT_N_PLANS * T_SEARCH_LAYOUTS },
	{ &test_permuted_and_flipped_bits, 0, 2 * T_SEARCH_COMBINATIONS },
};

SXT_SUITE(search_explain, NULL, NULL);
