/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The reader of a writer: all calls of readers find what its transaction has changed, and nobody
 * else does before the commit.
 */

#include <simidx_batch.h>
#include <simidx_info.h>

#include "support/sxt_search.h"

#define MERGED 300
#define DOCUMENTS 600 /* the others are put in the transaction, and all labels with them */
#define QUERIES 400

/* How many documents each query of a batch was told. */
static int take_count(void *ctx, size_t i, const simidx_results *results)
{
	uint64_t *count = ctx;

	count[i] += results->n;
	return 0;
}

/* More threads than one must find the same. */
static void check_batch(struct t_search *s, size_t n, simidx_reader *reader)
{
	simidx_batch_options o = SIMIDX_BATCH_OPTIONS_INIT;
	simidx_query q[QUERIES];
	uint64_t count[QUERIES] = { 0 };

	o.threads = 4;
	o.deliver = take_count;
	o.ctx = count;
	for (size_t i = 0; i < QUERIES; i++) {
		q[i] = (simidx_query)SIMIDX_QUERY_INIT;
		q[i].fp = s->model.at[i * DOCUMENTS / QUERIES].fp;
	}
	sxt_must_ok(simidx_reader_search_batch(reader, q, QUERIES, &o, &sxt_err));
	for (size_t i = 0; i < QUERIES; i++) {
		size_t n_hits;

		free(sxt_model_near(&s->model, n, q[i].fp, q[i].radius, &n_hits));
		ck_assert_uint_eq(count[i], n_hits);
	}
}

static void check_look_ups(const sxt_model *model, size_t n, simidx_reader *reader)
{
	for (size_t i = 0; i < model->n; i++) {
		const sxt_doc *doc = &model->at[i];
		int want = i < n ? SIMIDX_OK : SIMIDX_E_NOT_FOUND;
		simidx_match m;

		ck_assert_sx(simidx_reader_find_id(reader, doc->id, &m, &sxt_err), want);
		if (!want) {
			ck_assert_uint_eq(m.fp, doc->fp);
			ck_assert_uint_eq(m.label_size, doc->label_size);
		}
		if (!doc->label_size)
			continue;
		ck_assert_sx(simidx_reader_find_label(reader, doc->label, doc->label_size, &m,
						      &sxt_err), want);
		if (!want)
			ck_assert_uint_eq(m.id, doc->id);
	}
}

/* A search delivers it, if it is told to. */
static void check_label(const sxt_doc *doc, simidx_reader *reader)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_results r = SIMIDX_RESULTS_INIT;
	const simidx_match *m = NULL;

	q.fp = doc->fp;
	q.radius = 0;
	q.flags = SIMIDX_QUERY_LABELS;
	sxt_must_ok(simidx_reader_search(reader, &q, &r, &sxt_err));
	for (size_t i = 0; i < r.n; i++)
		if (r.matches[i].id == doc->id)
			m = &r.matches[i];
	sxt_must(m);
	sxt_must_eq(m->label_size, doc->label_size);
	sxt_must(!m->label == !doc->label_size);
	sxt_must(!m->label || !memcmp(m->label, doc->label, doc->label_size));
}

/* The first `n` documents of the model are there for it, whatever it is asked. */
static void check_all(struct t_search *s, size_t n, simidx_reader *reader)
{
	simidx_explanation e = SIMIDX_EXPLANATION_INIT;
	simidx_query q = SIMIDX_QUERY_INIT;
	size_t n_hits;

	for (size_t i = 0; i < DOCUMENTS; i += 20)
		sxt_check_search(&s->model, n, reader, s->model.at[i].fp, 3);
	for (size_t i = 0; i < n; i++)
		check_label(&s->model.at[i], reader);
	check_look_ups(&s->model, n, reader);
	check_batch(s, n, reader);
	q.fp = s->model.at[DOCUMENTS - 1].fp;
	free(sxt_model_near(&s->model, n, q.fp, q.radius, &n_hits));
	ck_assert_sx(simidx_reader_explain(reader, &q, &e, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(e.results->count, n_hits);
}

START_TEST(test_pending_changes_are_found)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_results r = SIMIDX_RESULTS_INIT;
	simidx_reader *pending;
	simidx_writer *writer;
	struct t_search s;

	t_search_init(&s, _i, 0);
	t_search_fill(&s, DOCUMENTS);
	for (size_t i = 0; i < MERGED; i++)
		s.model.at[i].label_size = 0;
	t_search_create(&s);
	sxt_model_store(&s.model, 0, MERGED, s.index);
	sxt_merge(s.index);
	writer = sxt_writer(s.index, 0);
	sxt_must_ok(simidx_writer_reader(writer, &pending, &sxt_err));
	for (int twice = 0; twice < 2; twice++) { /* the first time they are taken back */
		ck_assert_sx(simidx_reader_search(pending, &q, &r, &sxt_err), SIMIDX_E_STATE);
		sxt_must_ok(simidx_writer_begin(writer, &sxt_err));
		check_all(&s, MERGED, pending);
		sxt_model_put(&s.model, MERGED, DOCUMENTS, writer);
		check_all(&s, DOCUMENTS, pending);
		check_all(&s, MERGED, s.reader);
		if (twice)
			sxt_commit(writer);
		else
			simidx_writer_rollback(writer);
	}
	ck_assert_sx(simidx_reader_search(pending, &q, &r, &sxt_err), SIMIDX_E_STATE);
	check_all(&s, DOCUMENTS, s.reader);
	simidx_writer_close(writer);
	t_search_end(&s);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_pending_changes_are_found, 0, SXT_N_PLANS * T_SEARCH_LAYOUTS },
};

SXT_SUITE(writer_reader, NULL, NULL);
