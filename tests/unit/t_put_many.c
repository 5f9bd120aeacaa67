/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_writer_put_if_new_many(): what simidx_writer_put_if_new() decides, document by document.
 * Two indexes are given the same documents, one by one and together; or one by one in both, and one
 * is told before which they are going to be (simidx_writer_prefetch_if_new()).
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_info.h>
#include <simidx_sketch.h>

#include "index/sx_index.h"
#include "support/sxt_fixture.h"
#include "support/sxt_index.h"

#define MOST 300 /* documents of a call */
#define LABEL 32

enum side { SINGLE, MANY, SIDES };

/* What one call has said of a document. */
struct said {
	int code;
	uint64_t id;
	simidx_match blocker;
	char label[LABEL]; /* of the blocker */
};

struct twins {
	const sxt_variant *variant;
	sxt_rng rng;
	simidx *index[SIDES];
	simidx_writer *writer[SIDES];
	simidx_doc doc[MOST];
	simidx_query query[MOST];
	uint8_t weights[MOST][64];
	char label[MOST][LABEL];
	uint64_t fp[8]; /* around which documents lie */
	struct said said[MOST];
	size_t n_said, stop_at;
	uint64_t labels; /* given so far */
};

/* ---- documents ---- */

/* Near to others, often the same, sometimes all zero or all one, or far from all. */
static uint64_t any_fp(struct twins *t)
{
	uint64_t fp = t->fp[sxt_rng_below(&t->rng, 8)];

	if (!sxt_rng_below(&t->rng, 4))
		fp = sxt_rng_u64(&t->rng);
	for (uint64_t flips = sxt_rng_below(&t->rng, 9); flips; flips--)
		fp ^= UINT64_C(1) << sxt_rng_below(&t->rng, 64);
	return fp;
}

static int has_ids(const struct twins *t)
{
	return !(t->variant->flags & SIMIDX_CREATE_NO_IDS);
}

/* One that may be wrong, or have an id or a label that is in use. */
static void make_document(struct twins *t, size_t i)
{
	simidx_doc *doc = &t->doc[i];

	*doc = (simidx_doc)SIMIDX_DOC_INIT;
	doc->fp = any_fp(t);
	if (t->variant->flags & SIMIDX_CREATE_FP2) {
		doc->fp2 = any_fp(t);
		/* Now and then it is missing. */
		doc->flags = sxt_rng_below(&t->rng, 30) ? SIMIDX_DOC_FP2 : 0;
	}
	/* The times that the sides would choose are those of their own calls. */
	if (t->variant->flags & SIMIDX_CREATE_TIMES) {
		doc->time = (uint32_t)sxt_rng_u64(&t->rng);
		doc->flags |= SIMIDX_DOC_TIME;
	}
	if (!has_ids(t))
		return;
	if (!sxt_rng_below(&t->rng, 5))
		doc->id = sxt_rng_below(&t->rng, 500);
	if (!sxt_rng_below(&t->rng, 50))
		doc->id = SIMIDX_MAX_ID + 1;
	if (sxt_rng_below(&t->rng, 2)) {
		uint64_t number = sxt_rng_below(&t->rng, 10)
					  ? t->labels++
					  : sxt_rng_below(&t->rng, t->labels + 1);

		doc->label = t->label[i];
		doc->label_size = (size_t)snprintf(t->label[i], LABEL, "label %llu",
						   (unsigned long long)number);
	}
}

/* All of a call alike, or each as it comes. */
static void make_query(struct twins *t, size_t i, unsigned how)
{
	simidx_query *query = &t->query[i];

	*query = (simidx_query)SIMIDX_QUERY_INIT;
	query->fp = t->doc[i].fp;
	query->flags = SIMIDX_QUERY_LABELS;
	/* These two are not looked at. */
	query->mode = how % 5 ? SIMIDX_ALL : SIMIDX_COUNT;
	query->limit = how % 3;
	if (how < 8)
		return;
	query->radius = (unsigned)sxt_rng_below(&t->rng, how < 12 ? 4 : 9);
	if (how < 14)
		return;
	for (unsigned b = 0; b < 64; b++)
		t->weights[i][b] = (uint8_t)sxt_rng_below(&t->rng, 40);
	query->weights = t->weights[i];
	query->radius = 60;
	query->probes = (unsigned)sxt_rng_below(&t->rng, 40);
	if (t->variant->flags & SIMIDX_CREATE_FP2 && sxt_rng_below(&t->rng, 2)) {
		query->flags |= SIMIDX_QUERY_FP2;
		query->fp2 = t->doc[i].fp2;
		query->weights2 = t->weights[i];
		query->radius2 = 400;
	}
	/* Its own radius is larger than the index has bits. */
	if (how == 15 && !sxt_rng_below(&t->rng, 20)) {
		query->weights = NULL;
		query->probes = 0;
		query->radius = 65;
	}
}

static size_t make_call(struct twins *t)
{
	unsigned how = (unsigned)sxt_rng_below(&t->rng, 16);
	size_t n = (size_t)sxt_rng_below(&t->rng, MOST + 1);

	for (size_t i = 0; i < n; i++) {
		make_document(t, i);
		make_query(t, i, how);
	}
	return n;
}

/* ---- both sides ---- */

static struct said said_of(int code, uint64_t id, const simidx_match *blocker)
{
	struct said said = { .code = code, .id = id };

	if (code == SIMIDX_E_EXISTS) {
		said.blocker = *blocker;
		said.blocker.label = NULL;
		sxt_must(blocker->label_size < LABEL);
		if (blocker->label)
			memcpy(said.label, blocker->label, blocker->label_size);
	}
	return said;
}

static int take(void *ctx, size_t i, const simidx_decision *decision)
{
	struct twins *t = ctx;

	sxt_must_eq(decision->size, sizeof(*decision));
	sxt_must_eq(i, t->n_said);
	sxt_must(!decision->why == (!decision->code || decision->code == SIMIDX_E_EXISTS));
	sxt_must(!decision->why ||
		 (decision->why->code == decision->code && decision->why->text[0]));
	t->said[t->n_said++] = said_of(decision->code, decision->id, &decision->blocker);
	return t->n_said == t->stop_at;
}

/* Decide those that are given together, then the same, up to where that ended, one by one. */
static void put(struct twins *t, size_t n)
{
	int rc;

	t->n_said = 0;
	t->stop_at = sxt_rng_below(&t->rng, 8) ? SIZE_MAX : (size_t)sxt_rng_below(&t->rng, n + 1);
	rc = simidx_writer_put_if_new_many(t->writer[MANY], t->doc, t->query, n, take, t, &sxt_err);
	sxt_must_sx(rc, t->stop_at <= n && t->stop_at ? SIMIDX_E_STOPPED : SIMIDX_OK);
	sxt_must_eq(t->n_said, rc ? t->stop_at : n);
	for (size_t i = 0; i < t->n_said; i++) {
		simidx_match blocker;
		struct said want;
		uint64_t id;

		rc = simidx_writer_put_if_new(t->writer[SINGLE], &t->doc[i], &t->query[i], &id,
					      &blocker, &sxt_err);
		want = said_of(rc, id, &blocker);
		sxt_must_eq(t->said[i].code, want.code);
		sxt_must_eq(t->said[i].id, want.id);
		sxt_must(!memcmp(&t->said[i].blocker, &want.blocker, sizeof(want.blocker)));
		sxt_must(!memcmp(t->said[i].label, want.label, sizeof(want.label)));
	}
	sxt_must_eq(simidx_writer_pending(t->writer[MANY]),
		    simidx_writer_pending(t->writer[SINGLE]));
}

/* What comes between two calls, on both sides. */
static void pass_time(struct twins *t)
{
	uint64_t what = sxt_rng_below(&t->rng, 6), id = sxt_rng_below(&t->rng, 500);

	for (unsigned side = 0; side < SIDES; side++) {
		simidx_writer *writer = t->writer[side];
		int rc = SIMIDX_OK;

		if (what < 2)
			sxt_commit(writer);
		else if (what == 2)
			simidx_writer_rollback(writer);
		else if (what == 3 && has_ids(t))
			rc = simidx_writer_delete_id(writer, id, &sxt_err);
		if (what == 1)
			sxt_must_ok(simidx_writer_merge(writer, &sxt_err));
		sxt_must(!rc || rc == SIMIDX_E_NOT_FOUND);
	}
}

/* Ask for something else than was said. */
static void change_query(struct twins *t, size_t i)
{
	simidx_query *query = &t->query[i];

	switch (sxt_rng_below(&t->rng, 4)) {
	case 0:
		query->weights = query->weights ? NULL : t->weights[i];
		query->probes = 0;
		break;
	case 1:
		query->fp = any_fp(t);
		break;
	case 2:
		t->weights[i][sxt_rng_below(&t->rng, 64)] ^= 16;
		break;
	default:
		query->radius = (unsigned)sxt_rng_below(&t->rng, 8);
	}
}

/* Say what is put next on one side, and put it on both; some not, and some in another way. */
static void put_what_was_said(struct twins *t, size_t n)
{
	uint64_t last = sxt_rng_below(&t->rng, 3) ? n : sxt_rng_below(&t->rng, n + 1);

	sxt_must_ok(simidx_writer_prefetch_if_new(t->writer[MANY], t->doc, t->query, n, &sxt_err));
	for (size_t i = 0; i < last; i++) {
		struct said said[SIDES];

		if (!sxt_rng_below(&t->rng, 30))
			pass_time(t);
		if (!sxt_rng_below(&t->rng, 8))
			continue;
		if (!sxt_rng_below(&t->rng, 8))
			change_query(t, i);
		for (unsigned side = 0; side < SIDES; side++) {
			simidx_match blocker;
			uint64_t id;
			int rc = simidx_writer_put_if_new(t->writer[side], &t->doc[i],
							  &t->query[i], &id, &blocker, &sxt_err);

			said[side] = said_of(rc, id, &blocker);
		}
		sxt_must_eq(said[MANY].code, said[SINGLE].code);
		sxt_must_eq(said[MANY].id, said[SINGLE].id);
		sxt_must_eq(said[MANY].blocker.id, said[SINGLE].blocker.id);
		sxt_must_eq(said[MANY].blocker.distance, said[SINGLE].blocker.distance);
		sxt_must(!strcmp(said[MANY].label, said[SINGLE].label));
	}
}

static simidx *make_side(const struct twins *t, const char *path)
{
	/* Scans are not sorted; in sets as small as these they would be cheap. */
	static const sx_costs fixed_costs = { 100, 20, 0.5, 1e6, 0, 0 };
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index;

	create.plan = t->variant->plan;
	create.layout = t->variant->layout;
	create.flags = t->variant->flags;
	index = sxt_create(path, &create);
	index->costs = &fixed_costs;
	return index;
}

static void open_twins(struct twins *t, const sxt_variant *variant, uint64_t seed)
{
	static const char *const names[SIDES] = { "single", "many" };

	memset(t, 0, sizeof(*t));
	t->variant = variant;
	sxt_rng_init(&t->rng, seed);
	for (unsigned i = 2; i < 8; i++)
		t->fp[i] = sxt_rng_u64(&t->rng);
	t->fp[1] = UINT64_MAX;
	for (unsigned side = 0; side < SIDES; side++) {
		char *path = sxt_path(t_dir, names[side]);

		t->index[side] = make_side(t, path);
		t->writer[side] = sxt_writer(t->index[side], 0);
		free(path);
	}
	t->index[MANY]->tuning.batch_sorted_from = 1 + (size_t)sxt_rng_below(&t->rng, 100);
}

static void close_twins(struct twins *t)
{
	for (unsigned side = 0; side < SIDES; side++) {
		simidx_writer_close(t->writer[side]);
		simidx_close(t->index[side]);
	}
}

static const sxt_variant variants[] = {
	{ "4x16", SIMIDX_LAYOUT_BLOCKS, 0 },
	{ "3x22", SIMIDX_LAYOUT_BLOCKS, 0 },
	{ "4x16", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_FP2 },
	{ "4x16", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_NO_IDS },
	{ "4x16", SIMIDX_LAYOUT_ROWS, 0 },
	{ "10x26", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_TIMES },
};

/* Let calls and other things follow each other, and compare what both sides have in the end. */
static void run_twins(int i, uint64_t seed, void (*do_call)(struct twins *t, size_t n))
{
	static struct twins t;

	open_twins(&t, &variants[(size_t)i % (sizeof(variants) / sizeof(variants[0]))], seed);
	for (unsigned call = 0; call < (sxt_is_long() ? 400u : 40u); call++) {
		do_call(&t, make_call(&t));
		pass_time(&t);
	}
	for (unsigned side = 0; side < SIDES; side++)
		sxt_commit(t.writer[side]);
	ck_assert_uint_gt(t_info(t.index[MANY]).documents, 100);
	ck_assert_uint_eq(t_info(t.index[MANY]).documents, t_info(t.index[SINGLE]).documents);
	sxt_check_sound(t.index[MANY]);
	close_twins(&t);
}

START_TEST(test_many_are_decided_as_one_by_one)
{
	run_twins(_i, (uint64_t)_i, put);
}
END_TEST

START_TEST(test_what_was_said_before_changes_no_answer)
{
	run_twins(_i, 100 + (uint64_t)_i, put_what_was_said);
}
END_TEST

/* ---- by themselves ---- */

static int count_new(void *ctx, size_t i, const simidx_decision *decision)
{
	uint64_t *added = ctx;

	(void)i;
	added[0] += !decision->code;
	added[1] += decision->code == SIMIDX_E_EXISTS;
	return 0;
}

/* More than are looked up together, and each a copy of the one before it but for the first. */
START_TEST(test_copies_in_one_call)
{
	enum { N = 40000, DISTINCT = 3 };
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	simidx_query *query = calloc(N, sizeof(*query));
	simidx_doc *doc = calloc(N, sizeof(*doc));
	uint64_t added[2] = { 0, 0 };

	ck_assert(query && doc);
	for (size_t i = 0; i < N; i++) {
		doc[i] = t_document(SIMIDX_NO_ID, i % DISTINCT * UINT64_C(0xff00ff00ff), NULL);
		query[i] = (simidx_query)SIMIDX_QUERY_INIT;
		query[i].fp = doc[i].fp;
	}
	sxt_must_ok(
		simidx_writer_put_if_new_many(writer, doc, query, N, count_new, added, &sxt_err));
	ck_assert_uint_eq(added[0], DISTINCT);
	ck_assert_uint_eq(added[1], N - DISTINCT);
	sxt_commit(writer);
	ck_assert_uint_eq(t_info(index).documents, DISTINCT);
	free(query);
	free(doc);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/*
 * Structs of a program that knows more fields, or fewer; and one that has another size than the
 * first.
 */
START_TEST(test_structs_of_other_versions)
{
	struct {
		simidx_doc doc;
		uint64_t later;
	} doc[3];
	struct {
		size_t size;
		uint64_t bytes[(sizeof(simidx_query) - sizeof(size_t)) / 8];
	} query[3];
	simidx_query full = SIMIDX_QUERY_INIT;
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	struct twins *t = calloc(1, sizeof(*t));

	ck_assert(t);
	for (size_t i = 0; i < 3; i++) {
		memset(&doc[i], 0, sizeof(doc[i]));
		doc[i].doc = t_document(SIMIDX_NO_ID, i << 32 | i << 20 | (i << 8) * 0xff, NULL);
		doc[i].doc.size = sizeof(doc[i]);
		full.fp = doc[i].doc.fp;
		memcpy(&query[i], &full, sizeof(full));
	}
	doc[1].later = 1;
	query[2].size -= 8;
	t->stop_at = SIZE_MAX;
	sxt_must_ok(simidx_writer_put_if_new_many(writer, &doc[0].doc, (simidx_query *)query, 3,
						  take, t, &sxt_err));
	ck_assert_int_eq(t->said[0].code, SIMIDX_OK);
	ck_assert_int_eq(t->said[1].code, SIMIDX_E_ARG);
	ck_assert_int_eq(t->said[2].code, SIMIDX_E_ARG);
	ck_assert_sx(simidx_writer_put_if_new_many(writer, NULL, NULL, 0, take, t, &sxt_err),
		     SIMIDX_OK);
	ck_assert_sx(simidx_writer_put_if_new_many(writer, NULL, NULL, 1, take, t, &sxt_err),
		     SIMIDX_E_ARG);
	ck_assert_sx(simidx_writer_put_if_new_many(NULL, NULL, NULL, 0, take, t, &sxt_err),
		     SIMIDX_E_ARG);
	doc[0].doc.size = 3;
	ck_assert_sx(simidx_writer_put_if_new_many(writer, &doc[0].doc, (simidx_query *)query, 1,
						   take, t, &sxt_err),
		     SIMIDX_E_ARG);
	free(t);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_many_are_decided_as_one_by_one, 0, 18 },
	{ &test_what_was_said_before_changes_no_answer, 0, 12 },
	{ &test_copies_in_one_call, 0, 1 },
	{ &test_structs_of_other_versions, 0, 1 },
};

SXT_SUITE(put_many, sxt_set_up_path, sxt_tear_down);
