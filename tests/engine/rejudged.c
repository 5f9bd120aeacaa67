/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Writers of several handles who change what each other's decisions rest on, with an engine that
 * has SIMIDX_ENGINE_CONDITIONS. All with the engine in memory.
 */

#include <stdlib.h>
#include <string.h>

#include <simidx_admin.h>

#include "engine/engines.h"

#define URI "memory://rejudged?conditions"
#define FP UINT64_C(0x123456789abcdef0)
#define HEARD 64

/* A handle with a writer, and what that was told at commits. */
struct side {
	simidx *index;
	simidx_writer *w;
	simidx_rejudged heard[HEARD];
	size_t n_heard;
};

static struct side a, b;

static void hear(void *ctx, const simidx_rejudged *outcome)
{
	struct side *s = ctx;

	sxt_must_lt(s->n_heard, HEARD);
	sxt_must_eq(outcome->size, sizeof(*outcome));
	s->heard[s->n_heard++] = *outcome;
}

static void begin_side(struct side *s)
{
	simidx_writer_options o = SIMIDX_WRITER_OPTIONS_INIT;

	memset(s, 0, sizeof(*s));
	s->index = sxt_open(URI, 0);
	o.rejudged = hear;
	o.rejudged_ctx = s;
	sxt_must_ok(simidx_writer_open(s->index, &o, &s->w, &sxt_err));
}

static void end_side(struct side *s)
{
	simidx_writer_close(s->w);
	simidx_close(s->index);
}

static void set_up(void)
{
	engines_add();
	memset(&memory_faults_now, 0, sizeof(memory_faults_now));
	simidx_close(engines_create(URI, "4x16", 64, 0));
	begin_side(&a);
	begin_side(&b);
}

static void tear_down(void)
{
	sxt_check_sound(a.index);
	end_side(&a);
	end_side(&b);
	memory_clear();
}

static simidx_doc doc_of(uint64_t id, uint64_t fp, const char *label)
{
	simidx_doc doc = SIMIDX_DOC_INIT;

	doc.id = id;
	doc.fp = fp;
	doc.label = label;
	doc.label_size = label ? strlen(label) : 0;
	return doc;
}

/* Returns the code; *id is that of the document, or of what is in its way. */
static int put_if_new(struct side *s, uint64_t fp, const char *label, unsigned radius, uint64_t *id)
{
	simidx_doc doc = doc_of(SIMIDX_NO_ID, fp, label);
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_match blocker;
	int rc;

	q.fp = fp;
	q.radius = radius;
	rc = simidx_writer_put_if_new(s->w, &doc, &q, id, &blocker, &sxt_err);
	if (rc == SIMIDX_E_EXISTS)
		*id = blocker.id;
	return rc;
}

static int put(struct side *s, uint64_t id, uint64_t fp, const char *label)
{
	simidx_doc doc = doc_of(id, fp, label);

	return simidx_writer_put(s->w, &doc, NULL, &sxt_err);
}

static int replace(struct side *s, uint64_t id, uint64_t fp, const char *label)
{
	simidx_doc doc = doc_of(id, fp, label);

	return simidx_writer_replace(s->w, &doc, NULL, &sxt_err);
}

static int delete_label(struct side *s, const char *label)
{
	return simidx_writer_delete_label(s->w, label, strlen(label), &sxt_err);
}

static void commit(struct side *s)
{
	s->n_heard = 0;
	ck_assert_sx(simidx_writer_commit(s->w, &sxt_err), SIMIDX_OK);
}

/* Documents that are there before a and b begin. */
static void store_before(const simidx_doc *docs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sxt_must_ok(simidx_writer_put(a.w, &docs[i], NULL, &sxt_err));
	commit(&a);
	memory_faults_now.n_refused = memory_faults_now.n_writes = 0;
}

static void check_heard(size_t i, uint64_t change, int code, uint64_t id, uint64_t blocker)
{
	ck_assert_uint_lt(i, b.n_heard);
	ck_assert_uint_eq(b.heard[i].change, change);
	ck_assert_int_eq(b.heard[i].code, code);
	ck_assert_uint_eq(b.heard[i].id, id);
	ck_assert_uint_eq(b.heard[i].blocker, blocker);
}

/* The fingerprint of a document; fails if its label is another one. */
static uint64_t fp_of(uint64_t id, const char *label)
{
	simidx_reader *reader = sxt_reader(a.index);
	simidx_match m;

	ck_assert_sx(simidx_reader_find_id(reader, id, &m, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(m.label_size, label ? strlen(label) : 0);
	ck_assert(!label || !memcmp(m.label, label, m.label_size));
	simidx_reader_close(reader);
	return m.fp;
}

static uint64_t count(void)
{
	simidx_info info = SIMIDX_INFO_INIT;

	sxt_must_ok(simidx_get_info(a.index, &info, &sxt_err));
	return info.documents;
}

/* ---- if new ---- */

START_TEST(test_of_two_near_documents_one_is_stored)
{
	uint64_t first, second;

	ck_assert_sx(put_if_new(&a, FP, NULL, 3, &first), SIMIDX_OK);
	ck_assert_sx(put_if_new(&b, FP ^ 1, NULL, 3, &second), SIMIDX_OK);
	commit(&a);
	commit(&b);
	ck_assert_uint_eq(a.n_heard, 0);
	ck_assert_uint_eq(b.n_heard, 1);
	check_heard(0, 0, SIMIDX_E_EXISTS, SIMIDX_NO_ID, first);
	ck_assert_uint_eq(simidx_writer_stored(a.w), 1);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 0);
	ck_assert_uint_eq(count(), 1);
}
END_TEST

/* One of three is stored by the first commit, one by the second, and the last one not at all. */
START_TEST(test_what_nobody_has_touched_is_stored_at_once)
{
	unsigned char mark[3] = { 1, 2, 3 };
	uint64_t blocker, id;
	size_t n;

	ck_assert_sx(put_if_new(&a, FP, NULL, 3, &blocker), SIMIDX_OK);
	ck_assert_sx(put(&b, 1000, ~FP, NULL), SIMIDX_OK);
	ck_assert_sx(put(&b, 1000, ~FP, NULL), SIMIDX_E_DUPLICATE);
	/* It has a prefix of the one that the other writer stores, and is not near to it. */
	ck_assert_sx(put_if_new(&b, FP ^ 0xffffffff, NULL, 3, &id), SIMIDX_OK);
	ck_assert_sx(put_if_new(&b, FP ^ 2, NULL, 3, &id), SIMIDX_OK);
	ck_assert_sx(simidx_writer_set_mark(b.w, mark, sizeof(mark), &sxt_err), SIMIDX_OK);
	commit(&a);
	commit(&b);
	ck_assert_uint_eq(memory_faults_now.n_refused, 2);
	ck_assert_uint_eq(b.n_heard, 1);
	check_heard(0, 3, SIMIDX_E_EXISTS, SIMIDX_NO_ID, blocker);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 2);
	ck_assert_uint_eq(count(), 3);
	ck_assert_sx(simidx_get_mark(b.index, mark, sizeof(mark), &n, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(n, sizeof(mark));
}
END_TEST

/*
 * What is judged again is not told if it comes to the same, and has the id that its call has
 * told.
 */
START_TEST(test_a_chosen_id_is_kept)
{
	uint64_t id, other;

	ck_assert_sx(put_if_new(&b, FP ^ 0xffff, "kept", 3, &id), SIMIDX_OK);
	ck_assert_sx(put_if_new(&a, FP, NULL, 3, &other), SIMIDX_OK);
	commit(&a);
	commit(&b);
	ck_assert_uint_eq(memory_faults_now.n_refused, 1);
	ck_assert_uint_eq(b.n_heard, 0);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 1);
	ck_assert_uint_eq(fp_of(id, "kept"), FP ^ 0xffff);
}
END_TEST

/*
 * P is to be stored, and Q and X are not because of P. Then R comes, which is near to P but not
 * to Q: so P is not stored, and the other two are.
 */
START_TEST(test_what_a_waiting_document_has_forbidden_is_stored_without_it)
{
	uint64_t p = FP, q = p ^ (UINT64_C(7) << 32), r = p ^ 7, id, blocker;

	ck_assert_sx(put_if_new(&b, p, "label", 3, &id), SIMIDX_OK);
	ck_assert_sx(put_if_new(&b, q, NULL, 3, &blocker), SIMIDX_E_EXISTS);
	ck_assert_uint_eq(blocker, id);
	ck_assert_sx(put(&b, 1000, ~FP, "label"), SIMIDX_E_DUPLICATE);
	ck_assert_sx(put_if_new(&a, r, NULL, 3, &blocker), SIMIDX_OK);
	commit(&a);
	commit(&b);
	ck_assert_uint_eq(b.n_heard, 3);
	check_heard(0, 0, SIMIDX_E_EXISTS, SIMIDX_NO_ID, blocker);
	ck_assert_uint_eq(b.heard[1].change, 1);
	ck_assert_int_eq(b.heard[1].code, SIMIDX_OK);
	ck_assert_uint_eq(fp_of(b.heard[1].id, NULL), q);
	check_heard(2, 2, SIMIDX_OK, 1000, SIMIDX_NO_ID);
	ck_assert_uint_eq(fp_of(1000, "label"), ~FP);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 2);
	ck_assert_uint_eq(count(), 3);
}
END_TEST

/* Such a decision has read all documents, by a walk, and each change that is stored concerns it. */
START_TEST(test_a_walk_rests_on_the_whole_index)
{
	uint64_t id, first;

	ck_assert_sx(put_if_new(&b, FP, NULL, 40, &id), SIMIDX_OK);
	ck_assert_sx(put(&a, 1000, ~FP, NULL), SIMIDX_OK);
	commit(&a);
	commit(&b);
	ck_assert_uint_eq(memory_faults_now.n_whole, 2);
	ck_assert_uint_eq(memory_faults_now.n_refused, 1);
	ck_assert_uint_eq(b.n_heard, 0);
	ck_assert_sx(put_if_new(&a, UINT64_C(0xffff), NULL, 5, &first), SIMIDX_OK);
	ck_assert_sx(put_if_new(&b, UINT64_C(0xffff) << 48, NULL, 40, &id), SIMIDX_E_EXISTS);
	simidx_writer_rollback(b.w);
	commit(&a);
	ck_assert_uint_eq(count(), 3);
}
END_TEST

START_TEST(test_a_walk_notices_a_near_document)
{
	uint64_t id, first;

	ck_assert_sx(put_if_new(&b, FP, NULL, 40, &id), SIMIDX_OK);
	ck_assert_sx(put_if_new(&a, FP ^ 0xffffffff, NULL, 5, &first), SIMIDX_OK);
	commit(&a);
	commit(&b);
	ck_assert_uint_eq(b.n_heard, 1);
	check_heard(0, 0, SIMIDX_E_EXISTS, SIMIDX_NO_ID, first);
	ck_assert_uint_eq(count(), 1);
}
END_TEST

/*
 * b deletes a document, so that it is not in the way of another one. But it has changed
 * meanwhile, and stays: then it is in the way.
 */
START_TEST(test_a_document_that_is_not_deleted_after_all_is_in_the_way)
{
	simidx_doc docs[] = { doc_of(5, ~FP, "label") };
	uint64_t id;

	store_before(docs, 1);
	ck_assert_sx(delete_label(&b, "label"), SIMIDX_OK);
	ck_assert_sx(replace(&a, 5, FP ^ 1, NULL), SIMIDX_OK);
	commit(&a);
	ck_assert_sx(put_if_new(&b, FP, NULL, 3, &id), SIMIDX_OK);
	commit(&b);
	ck_assert_uint_eq(b.n_heard, 2);
	check_heard(0, 0, SIMIDX_E_NOT_FOUND, SIMIDX_NO_ID, SIMIDX_NO_ID);
	check_heard(1, 1, SIMIDX_E_EXISTS, SIMIDX_NO_ID, 5);
	ck_assert_uint_eq(count(), 1);
}
END_TEST

/* ---- replacing, deleting, labels ---- */

START_TEST(test_two_replace_one_document)
{
	simidx_doc docs[] = { doc_of(5, FP, "label") };

	store_before(docs, 1);
	ck_assert_sx(replace(&a, 5, 1, "other"), SIMIDX_OK);
	ck_assert_sx(replace(&b, 5, 2, NULL), SIMIDX_OK);
	commit(&a);
	commit(&b);
	ck_assert_uint_eq(memory_faults_now.n_refused, 1);
	ck_assert_uint_eq(b.n_heard, 0);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 1);
	ck_assert_uint_eq(fp_of(5, NULL), 2);
	ck_assert_uint_eq(memory_rows(URI), 4);
}
END_TEST

START_TEST(test_two_put_one_label)
{
	ck_assert_sx(put(&a, SIMIDX_NO_ID, 1, "label"), SIMIDX_OK);
	ck_assert_sx(put(&b, SIMIDX_NO_ID, 2, "label"), SIMIDX_OK);
	ck_assert_sx(put(&b, SIMIDX_NO_ID, 3, "other"), SIMIDX_OK);
	commit(&a);
	commit(&b);
	ck_assert_uint_eq(b.n_heard, 1);
	check_heard(0, 0, SIMIDX_E_DUPLICATE, SIMIDX_NO_ID, SIMIDX_NO_ID);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 1);
	ck_assert_uint_eq(count(), 2);
}
END_TEST

START_TEST(test_two_put_one_id)
{
	ck_assert_sx(put(&a, 7, 1, NULL), SIMIDX_OK);
	ck_assert_sx(put(&b, 7, 2, NULL), SIMIDX_OK);
	commit(&a);
	commit(&b);
	ck_assert_uint_eq(b.n_heard, 1);
	check_heard(0, 0, SIMIDX_E_DUPLICATE, SIMIDX_NO_ID, SIMIDX_NO_ID);
	ck_assert_uint_eq(fp_of(7, NULL), 1);
}
END_TEST

/*
 * b deletes 5 twice, which the second call tells; 6, which the other one replaces; and what has
 * a label.
 */
START_TEST(test_two_delete)
{
	simidx_doc docs[] = { doc_of(5, 1, NULL), doc_of(6, 2, NULL), doc_of(7, 3, "label") };

	store_before(docs, 3);
	ck_assert_sx(simidx_writer_delete_id(b.w, 5, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_writer_delete_id(b.w, 5, &sxt_err), SIMIDX_E_NOT_FOUND);
	ck_assert_sx(simidx_writer_delete_id(b.w, 6, &sxt_err), SIMIDX_OK);
	ck_assert_sx(delete_label(&b, "label"), SIMIDX_OK);
	ck_assert_sx(simidx_writer_delete_id(a.w, 5, &sxt_err), SIMIDX_OK);
	ck_assert_sx(replace(&a, 6, 4, NULL), SIMIDX_OK);
	ck_assert_sx(replace(&a, 7, 3, NULL), SIMIDX_OK);
	ck_assert_sx(put(&a, 8, 5, "label"), SIMIDX_OK);
	commit(&a);
	commit(&b);
	ck_assert_uint_eq(b.n_heard, 2);
	check_heard(0, 0, SIMIDX_E_NOT_FOUND, SIMIDX_NO_ID, SIMIDX_NO_ID);
	check_heard(1, 3, SIMIDX_OK, 8, SIMIDX_NO_ID);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 2);
	ck_assert_uint_eq(fp_of(7, NULL), 3);
	ck_assert_uint_eq(count(), 1);
}
END_TEST

/* b deletes it by its label, and so not by its id. But it has lost its label meanwhile. */
START_TEST(test_a_document_that_is_there_after_all)
{
	simidx_doc docs[] = { doc_of(5, 1, "label") };

	store_before(docs, 1);
	ck_assert_sx(delete_label(&b, "label"), SIMIDX_OK);
	ck_assert_sx(simidx_writer_delete_id(b.w, 5, &sxt_err), SIMIDX_E_NOT_FOUND);
	ck_assert_sx(replace(&a, 5, 2, NULL), SIMIDX_OK);
	commit(&a);
	commit(&b);
	ck_assert_uint_eq(b.n_heard, 2);
	check_heard(0, 0, SIMIDX_E_NOT_FOUND, SIMIDX_NO_ID, SIMIDX_NO_ID);
	check_heard(1, 1, SIMIDX_OK, 5, SIMIDX_NO_ID);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 1);
	ck_assert_uint_eq(count(), 0);
}
END_TEST

/* b puts an id twice, which the second call tells. The first is not stored, due to its label. */
START_TEST(test_an_id_that_is_not_taken_after_all)
{
	ck_assert_sx(put(&b, 7, 1, "label"), SIMIDX_OK);
	ck_assert_sx(put(&b, 7, 2, NULL), SIMIDX_E_DUPLICATE);
	ck_assert_sx(put(&a, 8, 3, "label"), SIMIDX_OK);
	commit(&a);
	commit(&b);
	ck_assert_uint_eq(b.n_heard, 2);
	check_heard(0, 0, SIMIDX_E_DUPLICATE, SIMIDX_NO_ID, SIMIDX_NO_ID);
	check_heard(1, 1, SIMIDX_OK, 7, SIMIDX_NO_ID);
	ck_assert_uint_eq(fp_of(7, NULL), 2);
}
END_TEST

/* b takes a label from its document. But another document has got it meanwhile. */
START_TEST(test_a_label_that_is_there_after_all)
{
	simidx_doc docs[] = { doc_of(5, 1, "label") };

	store_before(docs, 1);
	ck_assert_sx(replace(&b, 5, 1, NULL), SIMIDX_OK);
	ck_assert_sx(delete_label(&b, "label"), SIMIDX_E_NOT_FOUND);
	ck_assert_sx(replace(&a, 5, 2, "other"), SIMIDX_OK);
	ck_assert_sx(put(&a, 8, 3, "label"), SIMIDX_OK);
	commit(&a);
	commit(&b);
	ck_assert_uint_eq(b.n_heard, 1);
	check_heard(0, 1, SIMIDX_OK, 8, SIMIDX_NO_ID);
	ck_assert_uint_eq(fp_of(5, NULL), 1);
	ck_assert_uint_eq(count(), 1);
}
END_TEST

/* The label of 3 is for 2, and that of 2 for 1. The change of 3 is refused, and so all are. */
START_TEST(test_labels_that_change_hands)
{
	simidx_doc docs[] = { doc_of(1, 1, NULL), doc_of(2, 2, "two"), doc_of(3, 3, "three") };

	store_before(docs, 3);
	ck_assert_sx(replace(&b, 3, 3, NULL), SIMIDX_OK);
	ck_assert_sx(replace(&b, 2, 2, "three"), SIMIDX_OK);
	ck_assert_sx(replace(&b, 1, 1, "two"), SIMIDX_OK);
	ck_assert_sx(replace(&a, 3, 9, "three"), SIMIDX_OK);
	commit(&a);
	commit(&b);
	ck_assert_uint_eq(memory_faults_now.n_refused, 3);
	ck_assert_uint_eq(b.n_heard, 0);
	ck_assert_uint_eq(fp_of(3, NULL), 3);
	ck_assert_uint_eq(fp_of(2, "three"), 2);
	ck_assert_uint_eq(fp_of(1, "two"), 1);
}
END_TEST

/* ---- the end of trying ---- */

/* An engine that always refuses: all of it is undecided, and neither it nor the mark is stored. */
START_TEST(test_eight_rounds_are_enough)
{
	unsigned char mark[1] = { 1 };
	uint64_t id, blocker;
	size_t n;

	ck_assert_sx(put_if_new(&b, FP, NULL, 3, &id), SIMIDX_OK);
	ck_assert_sx(put_if_new(&b, FP ^ 1, NULL, 3, &blocker), SIMIDX_E_EXISTS);
	ck_assert_sx(put(&b, 1000, 1, "label"), SIMIDX_OK);
	ck_assert_sx(simidx_writer_set_mark(b.w, mark, sizeof(mark), &sxt_err), SIMIDX_OK);
	memory_faults_now.refuses_all = 1;
	ck_assert_sx(simidx_writer_commit(b.w, &sxt_err), SIMIDX_E_BUSY);
	memory_faults_now.refuses_all = 0;
	ck_assert_uint_eq(memory_faults_now.n_writes, 8);
	ck_assert_uint_eq(b.n_heard, 3);
	for (size_t i = 0; i < 3; i++)
		check_heard(i, i, SIMIDX_E_BUSY, SIMIDX_NO_ID, SIMIDX_NO_ID);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 0);
	ck_assert_uint_eq(simidx_writer_pending(b.w), 0);
	ck_assert_uint_eq(count(), 0);
	ck_assert_sx(simidx_get_mark(b.index, mark, sizeof(mark), &n, NULL), SIMIDX_E_NOT_FOUND);
	ck_assert_sx(put(&b, 1000, 1, "label"), SIMIDX_OK);
	commit(&b);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 1);
}
END_TEST

/*
 * Whichever call of the second round fails: what the first one has stored is, and the rest is
 * told.
 */
START_TEST(test_a_round_that_fails_is_told)
{
	unsigned n_failed = 0;

	for (unsigned i = 1; i < 20; i++) {
		uint64_t id, base = i * FP, had = simidx_writer_stored(b.w);
		int rc;

		ck_assert_sx(put_if_new(&a, base, NULL, 3, &id), SIMIDX_OK);
		ck_assert_sx(put_if_new(&b, base ^ 0xffff, NULL, 3, &id), SIMIDX_OK);
		ck_assert_sx(put(&b, SIMIDX_NO_ID, ~base, NULL), SIMIDX_OK);
		commit(&a);
		/* The first call is the write of the first round. */
		memory_faults_now.fail_in = 1 + i;
		b.n_heard = 0;
		rc = simidx_writer_commit(b.w, &sxt_err);
		if (memory_faults_now.fail_in) {
			ck_assert_sx(rc, SIMIDX_OK);
			break;
		}
		n_failed++;
		ck_assert_sx(rc, SIMIDX_E_IO);
		ck_assert_uint_eq(b.n_heard, 1);
		check_heard(0, 2 * i - 2, SIMIDX_E_IO, SIMIDX_NO_ID, SIMIDX_NO_ID);
		ck_assert_uint_eq(simidx_writer_stored(b.w), had + 1);
	}
	memory_faults_now.fail_in = 0;
	ck_assert_uint_ge(n_failed, 3);
}
END_TEST

START_TEST(test_nobody_has_to_listen)
{
	simidx_writer *w = sxt_writer(b.index, 0);
	simidx_doc doc = doc_of(SIMIDX_NO_ID, 2, "label");

	ck_assert_sx(put(&a, SIMIDX_NO_ID, 1, "label"), SIMIDX_OK);
	ck_assert_sx(simidx_writer_put(w, &doc, NULL, &sxt_err), SIMIDX_OK);
	commit(&a);
	ck_assert_sx(simidx_writer_commit(w, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(simidx_writer_stored(w), 0);
	ck_assert_uint_eq(count(), 1);
	simidx_writer_close(w);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_of_two_near_documents_one_is_stored, 0, 1 },
	{ &test_what_nobody_has_touched_is_stored_at_once, 0, 1 },
	{ &test_a_chosen_id_is_kept, 0, 1 },
	{ &test_what_a_waiting_document_has_forbidden_is_stored_without_it, 0, 1 },
	{ &test_a_walk_rests_on_the_whole_index, 0, 1 },
	{ &test_a_walk_notices_a_near_document, 0, 1 },
	{ &test_a_document_that_is_not_deleted_after_all_is_in_the_way, 0, 1 },
	{ &test_two_replace_one_document, 0, 1 },
	{ &test_two_put_one_label, 0, 1 },
	{ &test_two_put_one_id, 0, 1 },
	{ &test_two_delete, 0, 1 },
	{ &test_a_document_that_is_there_after_all, 0, 1 },
	{ &test_an_id_that_is_not_taken_after_all, 0, 1 },
	{ &test_a_label_that_is_there_after_all, 0, 1 },
	{ &test_labels_that_change_hands, 0, 1 },
	{ &test_eight_rounds_are_enough, 0, 1 },
	{ &test_a_round_that_fails_is_told, 0, 1 },
	{ &test_nobody_has_to_listen, 0, 1 },
};

SXT_SUITE(engine_rejudged, set_up, tear_down);
