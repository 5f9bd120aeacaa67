/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Structs of callers that were built with another version of the headers: every function that
 * takes a struct with a size is called with shorter and with longer ones.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_batch.h>
#include <simidx_check.h>
#include <simidx_info.h>
#include <simidx_join.h>
#include <simidx_load.h>
#include <simidx_repair.h>
#include <simidx_sketch.h>

#include "index/sx_index.h"
#include "support/sxt_fixture.h"
#include "support/sxt_model.h"
#include "support/sxt_struct.h"

T_ENDS_WITH(simidx_create_options, expect);
T_ENDS_WITH(simidx_open_options, create);
T_ENDS_WITH(simidx_query, max_candidates);
T_ENDS_WITH(simidx_results, round_trips);
T_ENDS_WITH(simidx_batch_options, stopped);
T_ENDS_WITH(simidx_writer_options, rejudged_ctx);
T_ENDS_WITH(simidx_rejudged, reserved);
T_ENDS_WITH(simidx_doc, note_size);
T_ENDS_WITH(simidx_loader_options, reserved);
T_ENDS_WITH(simidx_loader_report, spill_bytes);
T_ENDS_WITH(simidx_info, puts);
T_ENDS_WITH(simidx_table_info, unknown_fp2);
T_ENDS_WITH(simidx_explanation, looked_up);
T_ENDS_WITH(simidx_prediction, microseconds);
T_ENDS_WITH(simidx_verify_report, mended);
T_ENDS_WITH(simidx_compact_options, ctx);
T_ENDS_WITH(simidx_compact_report, new_bytes);
T_ENDS_WITH(simidx_repair_options, ctx);
T_ENDS_WITH(simidx_repair_report, header_lost);
T_ENDS_WITH(simidx_sketch, n_least);
T_ENDS_WITH(simidx_join_info, members);
T_ENDS_WITH(simidx_join_options, ctx);
T_ENDS_WITH(simidx_pairs_taker, groups);
T_ENDS_WITH(simidx_clusters_options, length);

/* What arrays are made of keeps its size, here where a pointer has 8 bytes. */
_Static_assert(sizeof(void *) != 8 || sizeof(simidx_match) == 64, "the size of a match");
_Static_assert(sizeof(simidx_choice) == 160, "the size of a choice");
_Static_assert(sizeof(simidx_feature) == 16, "the size of a feature");

#define N_DOCS 100

static simidx *db; /* without block indexes: what a search takes does not change */
static simidx_reader *reader;
static simidx_writer *writer;
static const simidx_query any = SIMIDX_QUERY_INIT;

/* Document i has id i, label "l<i>" and fingerprint 1000 i. */
static void set_up(void)
{
	simidx_open_options o = SIMIDX_OPEN_OPTIONS_INIT;

	sxt_set_up_path();
	simidx_close(sxt_create(t_path, NULL));
	o.block_index_bytes = SIMIDX_BLOCK_INDEX_NEVER;
	sxt_must_ok(simidx_open(t_path, &o, &db, &sxt_err));
	writer = sxt_writer(db, 0);
	for (unsigned i = 0; i < N_DOCS; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;
		char label[8];

		doc.fp = 1000 * i;
		doc.label = label;
		doc.label_size = (size_t)snprintf(label, sizeof(label), "l%u", i);
		sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	}
	sxt_commit(writer);
	sxt_merge(db);
	reader = sxt_reader(db);
}

static void tear_down(void)
{
	simidx_reader_close(reader);
	simidx_writer_close(writer);
	simidx_close(db);
	sxt_tear_down();
}

/* ------------------------------------------------------------------------------------------
 * What a caller fills
 */

static int call_create(const void *given)
{
	char *other = sxt_path(t_dir, "other");
	simidx *index;
	int rc = simidx_create(other, given, &index, &sxt_err);

	ck_assert(!rc == (index != NULL));
	simidx_close(index);
	sxt_remove(other);
	free(other);
	return rc;
}

static int call_open(const void *given)
{
	simidx *index;
	int rc = simidx_open(t_path, given, &index, &sxt_err);

	ck_assert(!rc == (index != NULL));
	simidx_close(index);
	return rc;
}

static int call_writer_open(const void *given)
{
	simidx_writer *other;
	int rc = simidx_writer_open(db, given, &other, &sxt_err);

	ck_assert(!rc == (other != NULL));
	simidx_writer_close(other);
	return rc;
}

static int call_put(const void *given)
{
	return simidx_writer_put(writer, given, NULL, &sxt_err);
}

static int call_search(const void *given)
{
	simidx_results r = SIMIDX_RESULTS_INIT;
	int rc = simidx_reader_search(reader, given, &r, &sxt_err);

	ck_assert(rc || (r.n == 1 && r.matches[0].id == 7));
	return rc;
}

static int call_explain(const void *given)
{
	simidx_explanation e = SIMIDX_EXPLANATION_INIT;

	return simidx_reader_explain(reader, given, &e, &sxt_err);
}

static int take_7(void *ctx, size_t i, const simidx_results *r)
{
	ck_assert_uint_eq(i, 0);
	ck_assert_uint_eq(r->n, 1);
	ck_assert_uint_eq(r->matches[0].id, 7);
	ck_assert(!r->more);
	ck_assert_uint_eq(r->size, sizeof(*r));
	++*(int *)ctx;
	return 0;
}

static int call_batch(const void *given)
{
	simidx_query q = any;

	q.fp = 7001;
	return simidx_reader_search_batch(reader, &q, 1, given, &sxt_err);
}

static int call_batch_query(const void *given)
{
	simidx_batch_options o = SIMIDX_BATCH_OPTIONS_INIT;
	int n = 0, rc;

	o.deliver = take_7;
	o.ctx = &n;
	o.threads = 1;
	rc = simidx_reader_search_batch(reader, given, 1, &o, &sxt_err);
	ck_assert_int_eq(n, !rc);
	return rc;
}

/* A loader at the path "loaded", with options or one document. */
static simidx_loader *open_loader(const void *create, const void *options, int *rc)
{
	char *other = sxt_path(t_dir, "loaded");
	simidx_loader *loader;

	*rc = simidx_loader_open(other, create, options, &loader, &sxt_err);
	ck_assert(!*rc == (loader != NULL));
	free(other);
	return loader;
}

static int call_loader_open(const void *given)
{
	static const simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	int rc;

	simidx_loader_close(open_loader(&create, given, &rc));
	return rc;
}

static int call_loader_create(const void *given)
{
	int rc;

	simidx_loader_close(open_loader(given, NULL, &rc));
	return rc;
}

static int repair(const void *given, void *out)
{
	char *other = sxt_path(t_dir, "repaired");
	int rc = simidx_repair(t_path, other, given, NULL, NULL, out, &sxt_err);

	sxt_remove(other);
	free(other);
	return rc;
}

static int call_repair(const void *given)
{
	return repair(given, NULL);
}

static int compact(const void *given, void *out)
{
	char *other = sxt_path(t_dir, "compacted");
	int rc = simidx_compact(t_path, other, given, out, &sxt_err);

	sxt_remove(other);
	free(other);
	return rc;
}

static int call_compact(const void *given)
{
	return compact(given, NULL);
}

static simidx_loader *loader;

static int call_loader_put(const void *given)
{
	return simidx_loader_put(loader, given, NULL, &sxt_err);
}

START_TEST(test_sizes_of_options)
{
	static const simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	static const simidx_open_options open = SIMIDX_OPEN_OPTIONS_INIT;
	static const simidx_writer_options how = SIMIDX_WRITER_OPTIONS_INIT;
	static const simidx_loader_options load = SIMIDX_LOADER_OPTIONS_INIT;
	static const simidx_repair_options mend = SIMIDX_REPAIR_OPTIONS_INIT;
	static const simidx_compact_options shrink = SIMIDX_COMPACT_OPTIONS_INIT;
	simidx_batch_options batch = SIMIDX_BATCH_OPTIONS_INIT;
	int n = 0;

	t_try_in(call_repair, &mend, sizeof(mend), sizeof(size_t));
	t_try_in(call_compact, &shrink, sizeof(shrink), sizeof(size_t));
	t_try_in(call_open, &open, sizeof(open), sizeof(size_t));
	t_try_in(call_writer_open, &how, sizeof(how), sizeof(size_t));
	batch.deliver = take_7;
	batch.threads = 1;
	batch.ctx = &n;
	t_try_in(call_batch, &batch, sizeof(batch), SX_STRUCT_TO(simidx_batch_options, ctx));
	ck_assert_int_gt(n, 0);
	t_try_in(call_create, &create, sizeof(create), sizeof(size_t));
	t_try_in(call_loader_open, &load, sizeof(load), sizeof(size_t));
	t_try_in(call_loader_create, &create, sizeof(create), sizeof(size_t));
}
END_TEST

START_TEST(test_sizes_of_documents)
{
	static const simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	int rc;

	doc.fp = 5;
	t_try_in(call_put, &doc, sizeof(doc), SX_STRUCT_TO(simidx_doc, fp));
	simidx_writer_rollback(writer);
	loader = open_loader(&create, NULL, &rc);
	ck_assert_int_eq(rc, SIMIDX_OK);
	t_try_in(call_loader_put, &doc, sizeof(doc), SX_STRUCT_TO(simidx_doc, fp));
	simidx_loader_close(loader);
}
END_TEST

START_TEST(test_sizes_of_queries)
{
	simidx_query q = any;

	q.fp = 7001;
	t_try_in(call_search, &q, sizeof(q), SX_STRUCT_TO(simidx_query, radius));
	t_try_in(call_explain, &q, sizeof(q), SX_STRUCT_TO(simidx_query, radius));
	t_try_in(call_batch_query, &q, sizeof(q), SX_STRUCT_TO(simidx_query, radius));
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * What the library fills
 */

static int out_info(void *out)
{
	return simidx_get_info(db, out, &sxt_err);
}

static int out_table_info(void *out)
{
	return simidx_get_table_info(db, 1, out, &sxt_err);
}

static int out_verify(void *out)
{
	return simidx_verify(db, NULL, NULL, out, &sxt_err);
}

static int out_compact(void *out)
{
	return compact(NULL, out);
}

static int out_repair(void *out)
{
	return repair(NULL, out);
}

static int out_prediction(void *out)
{
	return simidx_plan_predict(1, 64, 1000000, 3, out, &sxt_err);
}

static int out_search(void *out)
{
	simidx_query q = any;

	q.fp = 7001;
	return simidx_reader_search(reader, &q, out, &sxt_err);
}

static int out_explain(void *out)
{
	simidx_query q = any;

	q.fp = 7001;
	return simidx_reader_explain(reader, &q, out, &sxt_err);
}

static int out_sketch(void *out)
{
	static const simidx_feature features[] = { { 1, 2, 0 }, { UINT64_MAX, 3, 0 } };

	return simidx_sketch_make(features, 2, 64, SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS, out,
				  &sxt_err);
}

/* A sketch of features that are all different, as sketches of texts are. */
static simidx_sketch make_sketch(void)
{
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;

	ck_assert_sx(out_sketch(&sketch), SIMIDX_OK);
	return sketch;
}

static int in_sketch_query(const void *given)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	int rc = simidx_sketch_query(db, given, &q, &sxt_err);

	ck_assert(rc || q.weights == ((const simidx_sketch *)given)->weights);
	return rc;
}

static int out_sketch_query(void *out)
{
	static simidx_sketch sketch;

	sketch = make_sketch();
	return simidx_sketch_query(db, &sketch, out, &sxt_err);
}

static int out_loader(void *out)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	int rc;

	create.flags = SIMIDX_CREATE_TRUNCATE;
	loader = open_loader(&create, NULL, &rc);
	doc.id = 7;
	for (unsigned i = 0; !rc && i < 2; i++)
		rc = simidx_loader_put(loader, &doc, NULL, &sxt_err);
	if (!rc)
		rc = simidx_loader_finish(loader, out, &sxt_err);
	simidx_loader_close(loader);
	return rc;
}

START_TEST(test_sizes_of_reports)
{
	T_TRY_OUT(out_info, simidx_info, SIMIDX_INFO_INIT, sizeof(size_t));
	T_TRY_OUT(out_table_info, simidx_table_info, SIMIDX_TABLE_INFO_INIT, sizeof(size_t));
	T_TRY_OUT(out_verify, simidx_verify_report, SIMIDX_VERIFY_REPORT_INIT, sizeof(size_t));
	T_TRY_OUT(out_compact, simidx_compact_report, SIMIDX_COMPACT_REPORT_INIT, sizeof(size_t));
	T_TRY_OUT(out_repair, simidx_repair_report, SIMIDX_REPAIR_REPORT_INIT, sizeof(size_t));
	T_TRY_OUT(out_prediction, simidx_prediction, SIMIDX_PREDICTION_INIT, sizeof(size_t));
	T_TRY_OUT(out_loader, simidx_loader_report, SIMIDX_LOADER_REPORT_INIT, sizeof(size_t));
}
END_TEST

START_TEST(test_sizes_of_answers)
{
	simidx_results r = SIMIDX_RESULTS_INIT;
	union t_room room;

	ck_assert_sx(out_search(&r), SIMIDX_OK);
	ck_assert_uint_eq(r.n, 1);
	T_TRY_OUT(out_search, simidx_results, SIMIDX_RESULTS_INIT, SX_STRUCT_TO(simidx_results, n));
	T_TRY_OUT(out_explain, simidx_explanation, SIMIDX_EXPLANATION_INIT,
		  SX_STRUCT_TO(simidx_explanation, n_choices));
	/* What fails leaves nothing in it. */
	for (size_t n = sizeof(r) - 8; n <= sizeof(r) + 8; n += 8) {
		simidx_query q = any;

		q.radius = 65;
		memset(room.at, T_FILL, sizeof(room.at));
		room.size = n;
		ck_assert_sx(simidx_reader_search(reader, &q, (simidx_results *)room.at, &sxt_err),
			     SIMIDX_E_RANGE);
		for (size_t i = sizeof(size_t); i < sizeof(room.at); i++)
			ck_assert(room.at[i] == (i < n ? 0 : T_FILL));
	}
}
END_TEST

START_TEST(test_sizes_of_sketches)
{
	simidx_sketch sketch = make_sketch();

	T_TRY_OUT(out_sketch, simidx_sketch, SIMIDX_SKETCH_INIT, SX_STRUCT_TO(simidx_sketch, fp));
	t_try_in(in_sketch_query, &sketch, sizeof(sketch),
		 SX_STRUCT_TO(simidx_sketch, flags));
	T_TRY_OUT(out_sketch_query, simidx_query, SIMIDX_QUERY_INIT,
		  SX_STRUCT_TO(simidx_query, radius));
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Arrays
 */

#define N_QUERIES 60
#define NO_TURN SIZE_MAX

struct answers {
	size_t n;
};

/* Query i is near document i, within the radius or not. */
static int take_answer(void *ctx, size_t i, const simidx_results *r)
{
	struct answers *a = ctx;

	ck_assert_uint_eq(i, a->n++);
	ck_assert_uint_eq(r->n, i % 3 != 0);
	ck_assert(!r->n || r->matches[0].id == i);
	return 0;
}

/*
 * Ask queries of `stride` bytes. One of them, `odd`, has another size, or if that is the stride
 * something in its last byte.
 */
static int ask(size_t stride, size_t odd, size_t size, size_t *n_answers)
{
	simidx_batch_options o = SIMIDX_BATCH_OPTIONS_INIT;
	char *query = calloc(N_QUERIES, stride);
	struct answers a = { 0 };
	int rc;

	for (size_t i = 0; i < N_QUERIES; i++) {
		simidx_query q = any;

		q.size = i == odd ? size : stride;
		q.fp = 1000 * i ^ 0x8000000000000000;
		q.radius = i % 3 != 0;
		memcpy(query + i * stride, &q, stride < sizeof(q) ? stride : sizeof(q));
	}
	if (odd != NO_TURN && size == stride)
		query[(odd + 1) * stride - 1] = 1;
	o.threads = 1;
	o.deliver = take_answer;
	o.ctx = &a;
	rc = simidx_reader_search_batch(reader, (const simidx_query *)query, N_QUERIES, &o,
					&sxt_err);
	free(query);
	*n_answers = a.n;
	return rc;
}

START_TEST(test_sizes_in_arrays)
{
	static const size_t strides[] = { SX_STRUCT_TO(simidx_query, radius) + 4,
					  sizeof(simidx_query) - 8, sizeof(simidx_query),
					  sizeof(simidx_query) + 8, sizeof(simidx_query) + 64 };
	size_t n;

	/* One after another, and sorted. */
	for (unsigned sorted = 0; sorted < 2; sorted++) {
		db->tuning.batch_sorted_from = sorted ? 2 : N_QUERIES + 1;
		for (unsigned i = 0; i < sizeof(strides) / sizeof(*strides); i++) {
			size_t stride = strides[i];

			ck_assert_sx(ask(stride, NO_TURN, 0, &n), SIMIDX_OK);
			ck_assert_uint_eq(n, N_QUERIES);
			/* One of another size fails when its turn comes. */
			ck_assert_sx(ask(stride, 20, stride + 8, &n), SIMIDX_E_ARG);
			ck_assert_uint_eq(n, 20);
			ck_assert_sx(ask(stride, 20, stride - 8, &n), SIMIDX_E_ARG);
			ck_assert_uint_eq(n, 20);
			if (stride <= sizeof(simidx_query))
				continue;
			ck_assert_sx(ask(stride, 20, stride, &n), SIMIDX_E_ARG);
			ck_assert_uint_eq(n, 20);
		}
	}
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Texts
 */

static const sxt_test tests[] = {
	{ &test_sizes_of_options, 0, 1 },
	{ &test_sizes_of_documents, 0, 1 },
	{ &test_sizes_of_queries, 0, 1 },
	{ &test_sizes_of_reports, 0, 1 },
	{ &test_sizes_of_answers, 0, 1 },
	{ &test_sizes_of_sketches, 0, 1 },
	{ &test_sizes_in_arrays, 0, 1 },
};

SXT_SUITE(struct_size, set_up, tear_down);
