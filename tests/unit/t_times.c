/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Times of documents: what each call does to them, in all layouts, with and without second
 * fingerprints, while documents are fresh, in the middle of a merge and after it.
 */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <simidx_check.h>
#include <simidx_info.h>
#include <simidx_load.h>
#include <simidx_walk.h>

#include "support/sxt_fixture.h"
#include "support/sxt_index.h"

#define FUTURE UINT32_MAX

static const sxt_variant variants[] = {
	{ "4x16", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_TIMES },
	{ "4x16", SIMIDX_LAYOUT_ROWS, SIMIDX_CREATE_TIMES },
	{ "10x26", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_TIMES | SIMIDX_CREATE_FP2 },
	{ "4x16", SIMIDX_LAYOUT_ROWS, SIMIDX_CREATE_TIMES | SIMIDX_CREATE_FP2 },
};

#define N_VARIANTS ((int)(sizeof(variants) / sizeof(variants[0])))

/* Where the documents are when they are changed. */
enum state { FRESH, MERGING, MERGED, N_STATES };

/* ---- what must be there ---- */

#define MAX_DOCS 16

struct want {
	uint64_t fp, fp2;
	const char *label;
	uint32_t time;
};

static struct want want[MAX_DOCS]; /* by id */
static size_t n_want;
static simidx *index_now;
static unsigned create_flags;

static simidx *create(const sxt_variant *v)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;

	o.plan = v->plan;
	o.layout = v->layout;
	o.flags = create_flags = v->flags;
	n_want = 0;
	return index_now = sxt_create(t_path, &o);
}

/* With a time, which may be 0; NULL = without. */
static simidx_doc document(const struct want *w, uint64_t id, const uint32_t *time)
{
	simidx_doc doc = t_document(id, w->fp, w->label);

	if (create_flags & SIMIDX_CREATE_FP2) {
		doc.fp2 = w->fp2;
		doc.flags |= SIMIDX_DOC_FP2;
	}
	if (time) {
		doc.time = *time;
		doc.flags |= SIMIDX_DOC_TIME;
	}
	return doc;
}

static void check_match(const simidx_match *m, uint64_t id)
{
	const struct want *w = &want[id];

	ck_assert_uint_eq(m->id, id);
	ck_assert_uint_eq(m->fp, w->fp);
	ck_assert_uint_eq(m->fp2, create_flags & SIMIDX_CREATE_FP2 ? w->fp2 : 0);
	ck_assert_uint_eq(m->time, w->time);
	ck_assert_int_eq((m->flags & SIMIDX_MATCH_TIME) != 0, w->time != 0);
	ck_assert_uint_eq(m->reserved, 0);
	ck_assert_uint_eq(m->label_size, w->label ? strlen(w->label) : 0);
	ck_assert(!w->label || !memcmp(m->label, w->label, m->label_size));
}

/* A search for one document, and whether it is new enough. */
static void check_search(simidx_reader *reader, uint64_t id, uint32_t newer_than)
{
	int is_found = !want[id].time || want[id].time >= newer_than;

	for (unsigned mode = SIMIDX_ALL; mode <= SIMIDX_NEAREST; mode++) {
		simidx_results got = SIMIDX_RESULTS_INIT;
		simidx_query q = SIMIDX_QUERY_INIT;

		q.fp = want[id].fp;
		q.radius = 2;
		q.mode = mode;
		q.limit = 1;
		q.flags = SIMIDX_QUERY_LABELS;
		q.newer_than = newer_than;
		sxt_must_ok(simidx_reader_search(reader, &q, &got, &sxt_err));
		ck_assert_uint_eq(got.count, (unsigned)is_found);
		ck_assert_uint_eq(got.n, mode == SIMIDX_COUNT ? 0 : (unsigned)is_found);
		if (got.n)
			check_match(got.matches, id);
	}
}

static void check_found(simidx_reader *reader)
{
	simidx_match m;

	for (uint64_t id = 0; id < n_want; id++) {
		const char *label = want[id].label;
		uint32_t time = want[id].time;

		sxt_must_ok(simidx_reader_find_id(reader, id, &m, &sxt_err));
		check_match(&m, id);
		if (label) {
			sxt_must_ok(simidx_reader_find_label(reader, label, strlen(label), &m,
							     &sxt_err));
			check_match(&m, id);
		}
		check_search(reader, id, 0);
		check_search(reader, id, time);
		check_search(reader, id, time < FUTURE ? time + 1 : time);
		check_search(reader, id, FUTURE);
	}
}

static void check_all(simidx_reader *reader)
{
	simidx_walk *walk;
	simidx_match m;

	check_found(reader);
	sxt_must_ok(simidx_walk_open(index_now, &walk, &sxt_err));
	for (uint64_t id = 0; id < n_want; id++) {
		sxt_must_ok(simidx_walk_next(walk, &m, &sxt_err));
		check_match(&m, id);
	}
	sxt_must_sx(simidx_walk_next(walk, &m, &sxt_err), SIMIDX_E_END);
	simidx_walk_close(walk);
	sxt_check_sound(index_now);
}

/* ---- changes ---- */

/* Fingerprints that are not near to each other. */
static void add(simidx_writer *writer, const char *label, const uint32_t *time)
{
	struct want *w = &want[n_want];
	simidx_doc doc;
	uint64_t id;

	*w = (struct want){ (n_want + 1) * UINT64_C(0x9e3779b97f4a7c15), n_want + 1, label, 0 };
	doc = document(w, SIMIDX_NO_ID, time);
	sxt_must_ok(simidx_writer_put(writer, &doc, &id, &sxt_err));
	ck_assert_uint_eq(id, n_want);
	if (time)
		w->time = *time;
	n_want++;
}

/* What a document without a time has got: the clock, as it was at some time since `before`. */
static void take_clock(uint64_t id, time_t before)
{
	simidx_reader *reader = sxt_reader(index_now);
	simidx_match m;

	sxt_must_ok(simidx_reader_find_id(reader, id, &m, &sxt_err));
	ck_assert_uint_ge(m.time, (uint32_t)before);
	ck_assert_uint_le(m.time, (uint32_t)time(NULL));
	want[id].time = m.time;
	simidx_reader_close(reader);
}

static void touch(simidx_writer *writer, uint64_t id, uint32_t time)
{
	sxt_must_ok(simidx_writer_touch(writer, id, time, &sxt_err));
	if (want[id].time < time)
		want[id].time = time;
}

static void replace(simidx_writer *writer, uint64_t id, const uint32_t *time)
{
	simidx_doc doc = document(&want[id], id, time);

	sxt_must_ok(simidx_writer_replace(writer, &doc, NULL, &sxt_err));
	if (time)
		want[id].time = *time;
}

/* A near document is there, which stays as it is, and is told with its time. */
static void put_near(simidx_writer *writer, uint64_t id, uint32_t time)
{
	struct want near = { want[id].fp ^ 5, want[id].fp2, "near", 0 };
	simidx_doc doc = document(&near, SIMIDX_NO_ID, &time);
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_match m;

	q.fp = near.fp;
	q.radius = 3;
	q.flags = SIMIDX_QUERY_LABELS;
	sxt_must_sx(simidx_writer_put_if_new(writer, &doc, &q, NULL, &m, &sxt_err),
		    SIMIDX_E_EXISTS);
	check_match(&m, id);
}

static const uint32_t none = 0, first = 1000, second = 2000, future = FUTURE;

/* Documents 0 to 9: 5 times with labels and without, known and not. */
static void put_all(void)
{
	const uint32_t *const times[] = { &first, &second, &none, &future, NULL };
	static const char *const labels[] = { "a", "b", "c", "d", "e" };
	simidx_writer *writer = sxt_writer(index_now, 0);
	time_t before = time(NULL);

	for (unsigned i = 0; i < 10; i++)
		add(writer, i < 5 ? labels[i] : NULL, times[i % 5]);
	sxt_commit(writer);
	simidx_writer_close(writer);
	take_clock(4, before);
	take_clock(9, before);
}

static void change_all(simidx_writer *writer)
{
	for (uint64_t i = 0; i < 10; i += 5) {
		put_near(writer, i, 7000);
		touch(writer, i, 999); /* never lower */
		touch(writer, i, 1000);
		touch(writer, i + 1, 2001);
		touch(writer, i + 1, FUTURE - 1);
		touch(writer, i + 2, 0); /* unknown stays so */
		touch(writer, i + 3, 5000);
	}
	touch(writer, 7, 1);
	replace(writer, 0, &second);
	replace(writer, 5, &none);
	replace(writer, 8, &first); /* down, too */
	put_near(writer, 2, 8000);
	sxt_must_sx(simidx_writer_touch(writer, 10, 5, &sxt_err), SIMIDX_E_NOT_FOUND);
	put_near(writer, 8, 8000);
}

static void change_and_check(void)
{
	simidx_writer *writer = sxt_writer(index_now, 0);
	simidx_reader *reader = sxt_reader(index_now), *pending;
	time_t before;

	check_found(reader);
	sxt_must_ok(simidx_writer_reader(writer, &pending, &sxt_err));
	change_all(writer);
	check_found(pending);
	sxt_commit(writer);
	check_all(reader);
	before = time(NULL);
	replace(writer, 3, NULL);
	sxt_commit(writer);
	take_clock(3, before);
	check_all(reader);
	simidx_reader_close(reader);
	simidx_writer_close(writer);
}

static unsigned merges;

static void change_once(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
	(void)ctx;
	(void)total;
	if (!strcmp(phase, "merge") && done == 3 && !merges++)
		change_and_check();
}

START_TEST(test_times_through_changes)
{
	enum state state = (enum state)(_i / N_VARIANTS);
	simidx_reader *reader;

	create(&variants[_i % N_VARIANTS]);
	put_all();
	if (state == MERGED)
		sxt_merge(index_now);
	if (state == MERGING) {
		simidx_set_progress(index_now, change_once, NULL);
		sxt_merge(index_now);
		ck_assert_uint_gt(merges, 0);
	} else {
		change_and_check();
	}
	reader = sxt_reader(index_now);
	check_all(reader);
	sxt_merge(index_now);
	check_all(reader);
	simidx_reader_close(reader);
	simidx_close(index_now);
	index_now = sxt_open(t_path, 0);
	reader = sxt_reader(index_now);
	check_all(reader);
	simidx_reader_close(reader);
	simidx_close(index_now);
}
END_TEST

/* What a touch does not change is not written, but counts as a change. */
START_TEST(test_touch_without_a_change)
{
	simidx_info before, after;
	simidx_writer *writer;

	create(&variants[_i]);
	put_all();
	before = t_info(index_now);
	writer = sxt_writer(index_now, 0);
	touch(writer, 0, 3);
	ck_assert_uint_eq(simidx_writer_pending(writer), 1);
	sxt_commit(writer);
	after = t_info(index_now);
	ck_assert_uint_eq(after.fresh_rows, before.fresh_rows);
	touch(writer, 0, 5000);
	sxt_commit(writer);
	after = t_info(index_now);
	ck_assert_uint_eq(after.fresh_rows, before.fresh_rows + 2);
	ck_assert_uint_eq(after.documents, before.documents);
	ck_assert_uint_eq(after.labels, before.labels);
	simidx_writer_close(writer);
	simidx_close(index_now);
}
END_TEST

/* ---- what is refused ---- */

#define SAYS(what) ck_assert_msg(strstr(sxt_err.text, what), "%s", sxt_err.text)

START_TEST(test_times_in_an_index_without)
{
	simidx *index = t_numbered(t_path, 3, _i ? SIMIDX_CREATE_NO_IDS : 0);
	simidx_reader *reader = sxt_reader(index);
	simidx_writer *writer = sxt_writer(index, 0);
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	uint64_t n = 1;

	doc.flags = SIMIDX_DOC_TIME;
	for (unsigned i = 0; i < 2; i++, doc.time = 5) {
		ck_assert_sx(simidx_writer_put(writer, &doc, NULL, &sxt_err), SIMIDX_E_MISMATCH);
		SAYS("keeps no times");
	}
	ck_assert_sx(simidx_writer_touch(writer, 0, 5, &sxt_err), SIMIDX_E_MISMATCH);
	ck_assert_sx(simidx_writer_delete_older(writer, 5, NULL, NULL, &n, &sxt_err),
		     SIMIDX_E_MISMATCH);
	SAYS("keeps no times");
	ck_assert_uint_eq(n, 0);
	q.newer_than = 1;
	ck_assert_sx(simidx_reader_search(reader, &q, &results, &sxt_err), SIMIDX_E_MISMATCH);
	SAYS("keeps no times");
	doc = (simidx_doc)SIMIDX_DOC_INIT;
	ck_assert_sx(simidx_writer_put_if_new(writer, &doc, &q, NULL, NULL, &sxt_err),
		     SIMIDX_E_MISMATCH);
	ck_assert_uint_eq(simidx_writer_pending(writer), 0);
	simidx_writer_close(writer);
	simidx_reader_close(reader);
	simidx_close(index);
}
END_TEST

START_TEST(test_bad_arguments)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_writer *writer;
	simidx_loader *loader;
	simidx *index;
	uint64_t n = 1;

	o.flags = SIMIDX_CREATE_TIMES | SIMIDX_CREATE_NO_IDS;
	ck_assert_sx(simidx_create(t_path, &o, &index, &sxt_err), SIMIDX_E_ARG);
	SAYS("need ids");
	ck_assert_sx(simidx_loader_open(t_path, &o, NULL, &loader, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_writer_touch(NULL, 0, 5, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_writer_delete_older(NULL, 5, NULL, NULL, &n, &sxt_err), SIMIDX_E_ARG);
	ck_assert_uint_eq(n, 0);

	o.flags = SIMIDX_CREATE_TIMES;
	index = sxt_create(t_path, &o);
	writer = sxt_writer(index, 0);
	doc.time = 1;
	ck_assert_sx(simidx_writer_put(writer, &doc, NULL, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_writer_touch(writer, 0, 1, &sxt_err), SIMIDX_E_NOT_FOUND);
	ck_assert_sx(simidx_writer_delete_older(writer, 1, NULL, NULL, NULL, &sxt_err), SIMIDX_OK);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

static void wait_for_next_second(void)
{
	time_t before = time(NULL);

	while (time(NULL) == before)
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
}

/* A transaction has one time, which is not that of the one before. */
START_TEST(test_clock_of_transactions)
{
	simidx_writer *writer;
	simidx_reader *reader;
	simidx_match m[3];

	create(&variants[_i]);
	writer = sxt_writer(index_now, 0);
	reader = sxt_reader(index_now);
	add(writer, NULL, NULL);
	wait_for_next_second();
	add(writer, NULL, NULL);
	sxt_commit(writer);
	add(writer, NULL, NULL);
	sxt_commit(writer);
	for (uint64_t i = 0; i < 3; i++)
		sxt_must_ok(simidx_reader_find_id(reader, i, &m[i], &sxt_err));
	ck_assert_uint_eq(m[0].time, m[1].time);
	ck_assert_uint_gt(m[2].time, m[1].time);
	simidx_reader_close(reader);
	simidx_writer_close(writer);
	simidx_close(index_now);
}
END_TEST

/* Of as many as the limit allows, those with the smallest ids, though newer rows come first. */
START_TEST(test_limit_counts_what_is_new_enough)
{
	simidx_results got = SIMIDX_RESULTS_INIT;
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_writer *writer;
	simidx_reader *reader;

	create(&variants[_i]);
	writer = sxt_writer(index_now, 0);
	for (uint64_t id = 8; id--;) {
		simidx_doc doc = t_document(id, 7, NULL);

		sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	}
	sxt_commit(writer);
	reader = sxt_reader(index_now);
	q.fp = 7;
	q.limit = 2;
	q.newer_than = 1;
	sxt_must_ok(simidx_reader_search(reader, &q, &got, &sxt_err));
	ck_assert_uint_eq(got.n, 2);
	ck_assert_uint_eq(got.matches[0].id, 0);
	ck_assert_uint_eq(got.matches[1].id, 1);
	simidx_reader_close(reader);
	simidx_writer_close(writer);
	simidx_close(index_now);
}
END_TEST

/* ---- the loader ---- */

static void load(const char *path, unsigned flags, unsigned duplicates, simidx_loader **loader)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_loader_options how = SIMIDX_LOADER_OPTIONS_INIT;

	o.flags = create_flags = flags;
	how.duplicates = duplicates;
	how.memory = 64 << 20;
	sxt_must_ok(simidx_loader_open(path, &o, &how, loader, &sxt_err));
}

/* Of several rows with one id or label, the one that stays has its own time. */
START_TEST(test_loader_keeps_times_of_what_stays)
{
	unsigned flags = variants[_i % N_VARIANTS].flags;
	int is_last = _i >= N_VARIANTS;
	const uint32_t times[] = { 100, 200, 0, FUTURE };
	simidx_reader *reader;
	simidx_loader *loader;
	time_t before = time(NULL);
	simidx_doc doc;

	load(t_path, flags, is_last ? SIMIDX_DUPLICATES_LAST : SIMIDX_DUPLICATES_FIRST, &loader);
	n_want = 3;
	want[0] = (struct want){ 1, 7, NULL, is_last ? FUTURE : 100 };
	want[1] = (struct want){ 0xffff, 8, "x", is_last ? FUTURE : 100 };
	want[2] = (struct want){ 0xffff0000, 9, NULL, 0 };
	for (unsigned i = 0; i < 4; i++) {
		doc = document(&want[0], 0, &times[i]);
		sxt_must_ok(simidx_loader_put(loader, &doc, NULL, &sxt_err));
	}
	for (unsigned i = 0; i < 4; i++) {
		doc = document(&want[1], i == (is_last ? 3 : 0) ? 1 : 3 + i, &times[i]);
		sxt_must_ok(simidx_loader_put(loader, &doc, NULL, &sxt_err));
	}
	doc = document(&want[2], 2, NULL);
	sxt_must_ok(simidx_loader_put(loader, &doc, NULL, &sxt_err));
	sxt_must_ok(simidx_loader_finish(loader, NULL, &sxt_err));
	simidx_loader_close(loader);
	index_now = sxt_open(t_path, 0);
	take_clock(2, before);
	reader = sxt_reader(index_now);
	check_all(reader);
	simidx_reader_close(reader);
	simidx_close(index_now);
}
END_TEST

/* An index is added to one with the same columns alone. */
START_TEST(test_loader_refuses_other_columns)
{
	static const unsigned all[] = { 0, SIMIDX_CREATE_FP2, SIMIDX_CREATE_TIMES,
					SIMIDX_CREATE_FP2 | SIMIDX_CREATE_TIMES };
	unsigned from = all[_i / 4], to = all[_i % 4];
	char *path = sxt_path(t_dir, "loaded");
	sxt_variant v = { "4x16", SIMIDX_LAYOUT_BLOCKS, from };
	simidx_loader *loader;

	create(&v);
	load(path, to, SIMIDX_DUPLICATES_REJECT, &loader);
	ck_assert_sx(simidx_loader_add_index(loader, index_now, &sxt_err),
		     from == to ? SIMIDX_OK : SIMIDX_E_MISMATCH);
	if (from != to)
		SAYS("other columns");
	simidx_loader_close(loader);
	simidx_close(index_now);
	free(path);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_times_through_changes, 0, N_VARIANTS * N_STATES },
	{ &test_touch_without_a_change, 0, N_VARIANTS },
	{ &test_times_in_an_index_without, 0, 2 },
	{ &test_bad_arguments, 0, 1 },
	{ &test_clock_of_transactions, 0, 1 },
	{ &test_limit_counts_what_is_new_enough, 0, 2 },
	{ &test_loader_keeps_times_of_what_stays, 0, 2 * N_VARIANTS },
	{ &test_loader_refuses_other_columns, 0, 16 },
};

SXT_SUITE(times, sxt_set_up_path, sxt_tear_down);
