/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Writers of several handles who change what each other's decisions rest on, with an engine that
 * has SIMIDX_ENGINE_CONDITIONS. All with the engine in memory.
 */

#include <simidx.h>

#include "engine/engines.h"
#include "engine/sides.h"
#include "support/sxt_index.h"

/* ---- if new ---- */

START_TEST(test_of_two_near_documents_one_is_stored)
{
	uint64_t first, second;

	ck_assert_sx(side_put_if_new(&a, FP, NULL, 3, &first), SIMIDX_OK);
	ck_assert_sx(side_put_if_new(&b, FP ^ 1, NULL, 3, &second), SIMIDX_OK);
	side_commit(&a);
	side_commit(&b);
	ck_assert_uint_eq(a.n_heard, 0);
	ck_assert_uint_eq(b.n_heard, 1);
	side_heard(0, 0, SIMIDX_E_EXISTS, SIMIDX_NO_ID, first);
	ck_assert_uint_eq(simidx_writer_stored(a.w), 1);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 0);
	ck_assert_uint_eq(sides_count(), 1);
}
END_TEST

/* One of three is stored by the first commit, one by the second, and the last one not at all. */
START_TEST(test_what_nobody_has_touched_is_stored_at_once)
{
	unsigned char mark[3] = { 1, 2, 3 };
	uint64_t blocker, id;
	size_t n;

	ck_assert_sx(side_put_if_new(&a, FP, NULL, 3, &blocker), SIMIDX_OK);
	ck_assert_sx(side_put(&b, 1000, ~FP, NULL), SIMIDX_OK);
	ck_assert_sx(side_put(&b, 1000, ~FP, NULL), SIMIDX_E_DUPLICATE);
	/* It has a prefix of the one that the other writer stores, and is not near to it. */
	ck_assert_sx(side_put_if_new(&b, FP ^ 0xffffffff, NULL, 3, &id), SIMIDX_OK);
	ck_assert_sx(side_put_if_new(&b, FP ^ 2, NULL, 3, &id), SIMIDX_OK);
	ck_assert_sx(simidx_writer_set_mark(b.w, mark, sizeof(mark), &sxt_err), SIMIDX_OK);
	side_commit(&a);
	side_commit(&b);
	ck_assert_uint_eq(memory_faults_now.n_refused, 2);
	ck_assert_uint_eq(b.n_heard, 1);
	side_heard(0, 3, SIMIDX_E_EXISTS, SIMIDX_NO_ID, blocker);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 2);
	ck_assert_uint_eq(sides_count(), 3);
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

	ck_assert_sx(side_put_if_new(&b, FP ^ 0xffff, "kept", 3, &id), SIMIDX_OK);
	ck_assert_sx(side_put_if_new(&a, FP, NULL, 3, &other), SIMIDX_OK);
	side_commit(&a);
	side_commit(&b);
	ck_assert_uint_eq(memory_faults_now.n_refused, 1);
	ck_assert_uint_eq(b.n_heard, 0);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 1);
	ck_assert_uint_eq(sides_fp(id, "kept"), FP ^ 0xffff);
}
END_TEST

/*
 * P is to be stored, and Q and X are not because of P. Then R comes, which is near to P but not
 * to Q: so P is not stored, and the other two are.
 */
START_TEST(test_what_a_waiting_document_has_forbidden_is_stored_without_it)
{
	uint64_t p = FP, q = p ^ (UINT64_C(7) << 32), r = p ^ 7, id, blocker;

	ck_assert_sx(side_put_if_new(&b, p, "label", 3, &id), SIMIDX_OK);
	ck_assert_sx(side_put_if_new(&b, q, NULL, 3, &blocker), SIMIDX_E_EXISTS);
	ck_assert_uint_eq(blocker, id);
	ck_assert_sx(side_put(&b, 1000, ~FP, "label"), SIMIDX_E_DUPLICATE);
	ck_assert_sx(side_put_if_new(&a, r, NULL, 3, &blocker), SIMIDX_OK);
	side_commit(&a);
	side_commit(&b);
	ck_assert_uint_eq(b.n_heard, 3);
	side_heard(0, 0, SIMIDX_E_EXISTS, SIMIDX_NO_ID, blocker);
	ck_assert_uint_eq(b.heard[1].change, 1);
	ck_assert_int_eq(b.heard[1].code, SIMIDX_OK);
	ck_assert_uint_eq(sides_fp(b.heard[1].id, NULL), q);
	side_heard(2, 2, SIMIDX_OK, 1000, SIMIDX_NO_ID);
	ck_assert_uint_eq(sides_fp(1000, "label"), ~FP);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 2);
	ck_assert_uint_eq(sides_count(), 3);
}
END_TEST

/* Such a decision has read all documents, by a walk, and each change that is stored concerns it. */
START_TEST(test_a_walk_rests_on_the_whole_index)
{
	uint64_t id, first;

	ck_assert_sx(side_put_if_new(&b, FP, NULL, 40, &id), SIMIDX_OK);
	ck_assert_sx(side_put(&a, 1000, ~FP, NULL), SIMIDX_OK);
	side_commit(&a);
	side_commit(&b);
	ck_assert_uint_eq(memory_faults_now.n_whole, 2);
	ck_assert_uint_eq(memory_faults_now.n_refused, 1);
	ck_assert_uint_eq(b.n_heard, 0);
	ck_assert_sx(side_put_if_new(&a, UINT64_C(0xffff), NULL, 5, &first), SIMIDX_OK);
	ck_assert_sx(side_put_if_new(&b, UINT64_C(0xffff) << 48, NULL, 40, &id), SIMIDX_E_EXISTS);
	simidx_writer_rollback(b.w);
	side_commit(&a);
	ck_assert_uint_eq(sides_count(), 3);
}
END_TEST

START_TEST(test_a_walk_notices_a_near_document)
{
	uint64_t id, first;

	ck_assert_sx(side_put_if_new(&b, FP, NULL, 40, &id), SIMIDX_OK);
	ck_assert_sx(side_put_if_new(&a, FP ^ 0xffffffff, NULL, 5, &first), SIMIDX_OK);
	side_commit(&a);
	side_commit(&b);
	ck_assert_uint_eq(b.n_heard, 1);
	side_heard(0, 0, SIMIDX_E_EXISTS, SIMIDX_NO_ID, first);
	ck_assert_uint_eq(sides_count(), 1);
}
END_TEST

/*
 * b deletes a document, so that it is not in the way of another one. But it has changed
 * meanwhile, and stays: then it is in the way.
 */
START_TEST(test_a_document_that_is_not_deleted_after_all_is_in_the_way)
{
	simidx_doc docs[] = { t_document(5, ~FP, "label") };
	uint64_t id;

	sides_store(docs, 1);
	ck_assert_sx(side_delete_label(&b, "label"), SIMIDX_OK);
	ck_assert_sx(side_replace(&a, 5, FP ^ 1, NULL), SIMIDX_OK);
	side_commit(&a);
	ck_assert_sx(side_put_if_new(&b, FP, NULL, 3, &id), SIMIDX_OK);
	side_commit(&b);
	ck_assert_uint_eq(b.n_heard, 2);
	side_heard(0, 0, SIMIDX_E_NOT_FOUND, SIMIDX_NO_ID, SIMIDX_NO_ID);
	side_heard(1, 1, SIMIDX_E_EXISTS, SIMIDX_NO_ID, 5);
	ck_assert_uint_eq(sides_count(), 1);
}
END_TEST

/* ---- if new, where the transaction changes what is near ---- */

/* Store the document 5, which b then changes. */
static void store_five(void)
{
	simidx_doc docs[] = { t_document(5, FP, NULL) };

	sides_store(docs, 1);
}

/*
 * b commits, and the call of the engine that comes after the first round fails: nothing near to 5,
 * which has stayed, is stored.
 */
static void commit_one_round(unsigned n_calls)
{
	memory_faults_now.fail_in = n_calls + 1;
	memory_faults_now.n_writes = 0;
	ck_assert_sx(simidx_writer_commit(b.w, &sxt_err), SIMIDX_E_IO);
	ck_assert_uint_eq(memory_faults_now.n_writes, 1);
	ck_assert_uint_eq(memory_faults_now.fail_in, 0);
	ck_assert_uint_eq(sides_fp(5, NULL), FP);
	ck_assert_uint_eq(sides_count(), 2);
}

START_TEST(test_a_document_that_is_moved_costs_no_round)
{
	uint64_t id;

	store_five();
	ck_assert_sx(side_replace(&b, 5, ~FP, NULL), SIMIDX_OK);
	ck_assert_sx(side_put_if_new(&b, FP ^ 1, NULL, 3, &id), SIMIDX_OK);
	side_commit(&b);
	ck_assert_uint_eq(memory_faults_now.n_writes, 1);
	ck_assert_uint_eq(memory_faults_now.n_refused, 0);
	ck_assert_uint_eq(sides_count(), 2);
}
END_TEST

/* It was to get a label, which another document gets. So it stays. */
START_TEST(test_a_document_whose_label_is_taken_is_in_the_way)
{
	uint64_t id;

	store_five();
	ck_assert_sx(side_replace(&b, 5, ~FP, "label"), SIMIDX_OK);
	ck_assert_sx(side_put_if_new(&b, FP ^ 1, NULL, 3, &id), SIMIDX_OK);
	ck_assert_sx(side_put(&a, 500, UINT64_C(0x0f0f0f0f00ff00ff), "label"), SIMIDX_OK);
	side_commit(&a);
	side_commit(&b);
	ck_assert_uint_eq(b.n_heard, 2);
	side_heard(0, 0, SIMIDX_E_DUPLICATE, SIMIDX_NO_ID, SIMIDX_NO_ID);
	side_heard(1, 1, SIMIDX_E_EXISTS, SIMIDX_NO_ID, 5);
	ck_assert_uint_eq(sides_fp(5, NULL), FP);
	ck_assert_uint_eq(sides_count(), 2);
}
END_TEST

/* The same label, but it comes after the search. */
START_TEST(test_a_document_whose_later_label_is_taken_may_stay)
{
	uint64_t id;

	store_five();
	ck_assert_sx(side_replace(&b, 5, ~FP, NULL), SIMIDX_OK);
	ck_assert_sx(side_put_if_new(&b, FP ^ 1, NULL, 3, &id), SIMIDX_OK);
	ck_assert_sx(side_replace(&b, 5, ~FP, "label"), SIMIDX_OK);
	ck_assert_sx(side_put(&a, 500, UINT64_C(0x0f0f0f0f00ff00ff), "label"), SIMIDX_OK);
	side_commit(&a);
	commit_one_round(1);
}
END_TEST

/* It is deleted, and its id is for a document that is stored if it is new, and is not. */
START_TEST(test_a_document_whose_successor_is_refused_may_stay)
{
	simidx_doc successor = t_document(5, ~FP, NULL);
	simidx_query q = SIMIDX_QUERY_INIT;
	uint64_t id;

	q.fp = successor.fp;
	q.radius = 3;
	store_five();
	ck_assert_sx(simidx_writer_delete_id(b.w, 5, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_writer_put_if_new(b.w, &successor, &q, NULL, NULL, &sxt_err),
		     SIMIDX_OK);
	ck_assert_sx(side_put_if_new(&b, FP ^ 1, NULL, 3, &id), SIMIDX_OK);
	ck_assert_sx(side_put(&a, 500, ~FP ^ 1, NULL), SIMIDX_OK);
	side_commit(&a);
	commit_one_round(2); /* ids are reserved first */
}
END_TEST

/* ---- replacing, deleting, labels ---- */

START_TEST(test_two_replace_one_document)
{
	simidx_doc docs[] = { t_document(5, FP, "label") };

	sides_store(docs, 1);
	ck_assert_sx(side_replace(&a, 5, 1, "other"), SIMIDX_OK);
	ck_assert_sx(side_replace(&b, 5, 2, NULL), SIMIDX_OK);
	side_commit(&a);
	side_commit(&b);
	ck_assert_uint_eq(memory_faults_now.n_refused, 1);
	ck_assert_uint_eq(b.n_heard, 0);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 1);
	ck_assert_uint_eq(sides_fp(5, NULL), 2);
	ck_assert_uint_eq(memory_rows(URI), 4);
}
END_TEST

START_TEST(test_two_put_one_label)
{
	ck_assert_sx(side_put(&a, SIMIDX_NO_ID, 1, "label"), SIMIDX_OK);
	ck_assert_sx(side_put(&b, SIMIDX_NO_ID, 2, "label"), SIMIDX_OK);
	ck_assert_sx(side_put(&b, SIMIDX_NO_ID, 3, "other"), SIMIDX_OK);
	side_commit(&a);
	side_commit(&b);
	ck_assert_uint_eq(b.n_heard, 1);
	side_heard(0, 0, SIMIDX_E_DUPLICATE, SIMIDX_NO_ID, SIMIDX_NO_ID);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 1);
	ck_assert_uint_eq(sides_count(), 2);
}
END_TEST

START_TEST(test_two_put_one_id)
{
	ck_assert_sx(side_put(&a, 7, 1, NULL), SIMIDX_OK);
	ck_assert_sx(side_put(&b, 7, 2, NULL), SIMIDX_OK);
	side_commit(&a);
	side_commit(&b);
	ck_assert_uint_eq(b.n_heard, 1);
	side_heard(0, 0, SIMIDX_E_DUPLICATE, SIMIDX_NO_ID, SIMIDX_NO_ID);
	ck_assert_uint_eq(sides_fp(7, NULL), 1);
}
END_TEST

/*
 * b deletes 5 twice, which the second call tells; 6, which the other one replaces; and what has
 * a label.
 */
START_TEST(test_two_delete)
{
	simidx_doc docs[] = { t_document(5, 1, NULL), t_document(6, 2, NULL),
			      t_document(7, 3, "label") };

	sides_store(docs, 3);
	ck_assert_sx(simidx_writer_delete_id(b.w, 5, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_writer_delete_id(b.w, 5, &sxt_err), SIMIDX_E_NOT_FOUND);
	ck_assert_sx(simidx_writer_delete_id(b.w, 6, &sxt_err), SIMIDX_OK);
	ck_assert_sx(side_delete_label(&b, "label"), SIMIDX_OK);
	ck_assert_sx(simidx_writer_delete_id(a.w, 5, &sxt_err), SIMIDX_OK);
	ck_assert_sx(side_replace(&a, 6, 4, NULL), SIMIDX_OK);
	ck_assert_sx(side_replace(&a, 7, 3, NULL), SIMIDX_OK);
	ck_assert_sx(side_put(&a, 8, 5, "label"), SIMIDX_OK);
	side_commit(&a);
	side_commit(&b);
	ck_assert_uint_eq(b.n_heard, 2);
	side_heard(0, 0, SIMIDX_E_NOT_FOUND, SIMIDX_NO_ID, SIMIDX_NO_ID);
	side_heard(1, 3, SIMIDX_OK, 8, SIMIDX_NO_ID);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 2);
	ck_assert_uint_eq(sides_fp(7, NULL), 3);
	ck_assert_uint_eq(sides_count(), 1);
}
END_TEST

/* b deletes it by its label, and so not by its id. But it has lost its label meanwhile. */
START_TEST(test_a_document_that_is_there_after_all)
{
	simidx_doc docs[] = { t_document(5, 1, "label") };

	sides_store(docs, 1);
	ck_assert_sx(side_delete_label(&b, "label"), SIMIDX_OK);
	ck_assert_sx(simidx_writer_delete_id(b.w, 5, &sxt_err), SIMIDX_E_NOT_FOUND);
	ck_assert_sx(side_replace(&a, 5, 2, NULL), SIMIDX_OK);
	side_commit(&a);
	side_commit(&b);
	ck_assert_uint_eq(b.n_heard, 2);
	side_heard(0, 0, SIMIDX_E_NOT_FOUND, SIMIDX_NO_ID, SIMIDX_NO_ID);
	side_heard(1, 1, SIMIDX_OK, 5, SIMIDX_NO_ID);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 1);
	ck_assert_uint_eq(sides_count(), 0);
}
END_TEST

/* b puts an id twice, which the second call tells. The first is not stored, due to its label. */
START_TEST(test_an_id_that_is_not_taken_after_all)
{
	ck_assert_sx(side_put(&b, 7, 1, "label"), SIMIDX_OK);
	ck_assert_sx(side_put(&b, 7, 2, NULL), SIMIDX_E_DUPLICATE);
	ck_assert_sx(side_put(&a, 8, 3, "label"), SIMIDX_OK);
	side_commit(&a);
	side_commit(&b);
	ck_assert_uint_eq(b.n_heard, 2);
	side_heard(0, 0, SIMIDX_E_DUPLICATE, SIMIDX_NO_ID, SIMIDX_NO_ID);
	side_heard(1, 1, SIMIDX_OK, 7, SIMIDX_NO_ID);
	ck_assert_uint_eq(sides_fp(7, NULL), 2);
}
END_TEST

/* b takes a label from its document. But another document has got it meanwhile. */
START_TEST(test_a_label_that_is_there_after_all)
{
	simidx_doc docs[] = { t_document(5, 1, "label") };

	sides_store(docs, 1);
	ck_assert_sx(side_replace(&b, 5, 1, NULL), SIMIDX_OK);
	ck_assert_sx(side_delete_label(&b, "label"), SIMIDX_E_NOT_FOUND);
	ck_assert_sx(side_replace(&a, 5, 2, "other"), SIMIDX_OK);
	ck_assert_sx(side_put(&a, 8, 3, "label"), SIMIDX_OK);
	side_commit(&a);
	side_commit(&b);
	ck_assert_uint_eq(b.n_heard, 1);
	side_heard(0, 1, SIMIDX_OK, 8, SIMIDX_NO_ID);
	ck_assert_uint_eq(sides_fp(5, NULL), 1);
	ck_assert_uint_eq(sides_count(), 1);
}
END_TEST

/* The label of 3 is for 2, and that of 2 for 1. The change of 3 is refused, and so all are. */
START_TEST(test_labels_that_change_hands)
{
	simidx_doc docs[] = { t_document(1, 1, NULL), t_document(2, 2, "two"),
			      t_document(3, 3, "three") };

	sides_store(docs, 3);
	ck_assert_sx(side_replace(&b, 3, 3, NULL), SIMIDX_OK);
	ck_assert_sx(side_replace(&b, 2, 2, "three"), SIMIDX_OK);
	ck_assert_sx(side_replace(&b, 1, 1, "two"), SIMIDX_OK);
	ck_assert_sx(side_replace(&a, 3, 9, "three"), SIMIDX_OK);
	side_commit(&a);
	side_commit(&b);
	ck_assert_uint_eq(memory_faults_now.n_refused, 3);
	ck_assert_uint_eq(b.n_heard, 0);
	ck_assert_uint_eq(sides_fp(3, NULL), 3);
	ck_assert_uint_eq(sides_fp(2, "three"), 2);
	ck_assert_uint_eq(sides_fp(1, "two"), 1);
}
END_TEST

/* ---- the end of trying ---- */

/* An engine that always refuses: all of it is undecided, and neither it nor the mark is stored. */
START_TEST(test_eight_rounds_are_enough)
{
	unsigned char mark[1] = { 1 };
	uint64_t id, blocker;
	size_t n;

	ck_assert_sx(side_put_if_new(&b, FP, NULL, 3, &id), SIMIDX_OK);
	ck_assert_sx(side_put_if_new(&b, FP ^ 1, NULL, 3, &blocker), SIMIDX_E_EXISTS);
	ck_assert_sx(side_put(&b, 1000, 1, "label"), SIMIDX_OK);
	ck_assert_sx(simidx_writer_set_mark(b.w, mark, sizeof(mark), &sxt_err), SIMIDX_OK);
	memory_faults_now.refuses_all = 1;
	ck_assert_sx(simidx_writer_commit(b.w, &sxt_err), SIMIDX_E_BUSY);
	memory_faults_now.refuses_all = 0;
	ck_assert_uint_eq(memory_faults_now.n_writes, 8);
	ck_assert_uint_eq(b.n_heard, 3);
	for (size_t i = 0; i < 3; i++)
		side_heard(i, i, SIMIDX_E_BUSY, SIMIDX_NO_ID, SIMIDX_NO_ID);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 0);
	ck_assert_uint_eq(simidx_writer_pending(b.w), 0);
	ck_assert_uint_eq(sides_count(), 0);
	ck_assert_sx(simidx_get_mark(b.index, mark, sizeof(mark), &n, NULL), SIMIDX_E_NOT_FOUND);
	ck_assert_sx(side_put(&b, 1000, 1, "label"), SIMIDX_OK);
	side_commit(&b);
	ck_assert_uint_eq(simidx_writer_stored(b.w), 1);
}
END_TEST

/* Nothing is stored, and nothing told: the error is another one than after eight rounds. */
START_TEST(test_an_engine_that_is_busy)
{
	for (unsigned i = 1; i <= 2; i++) {
		uint64_t id;

		/* Ids that are given are reserved before the write. */
		ck_assert_sx(side_put(&b, 1000 + i, i, NULL), SIMIDX_OK);
		ck_assert_sx(side_put_if_new(&b, FP, NULL, 3, &id), SIMIDX_OK);
		memory_faults_now.fail_in = i;
		memory_faults_now.fail_code = SIMIDX_E_BUSY;
		ck_assert_sx(simidx_writer_commit(b.w, &sxt_err), SIMIDX_E_IO);
		ck_assert_int_eq(sxt_err.code, SIMIDX_E_IO);
		ck_assert_uint_eq(memory_faults_now.fail_in, 0);
		ck_assert_uint_eq(memory_faults_now.n_writes, 0);
		ck_assert_uint_eq(b.n_heard, 0);
		ck_assert_uint_eq(simidx_writer_stored(b.w), 0);
		ck_assert_uint_eq(sides_count(), 0);
	}
	memory_faults_now.fail_code = 0;
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

		ck_assert_sx(side_put_if_new(&a, base, NULL, 3, &id), SIMIDX_OK);
		ck_assert_sx(side_put_if_new(&b, base ^ 0xffff, NULL, 3, &id), SIMIDX_OK);
		ck_assert_sx(side_put(&b, SIMIDX_NO_ID, ~base, NULL), SIMIDX_OK);
		side_commit(&a);
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
		side_heard(0, 2 * i - 2, SIMIDX_E_IO, SIMIDX_NO_ID, SIMIDX_NO_ID);
		ck_assert_uint_eq(simidx_writer_stored(b.w), had + 1);
	}
	memory_faults_now.fail_in = 0;
	ck_assert_uint_ge(n_failed, 3);
}
END_TEST

START_TEST(test_nobody_has_to_listen)
{
	simidx_writer *w = sxt_writer(b.index, 0);
	simidx_doc doc = t_document(SIMIDX_NO_ID, 2, "label");

	ck_assert_sx(side_put(&a, SIMIDX_NO_ID, 1, "label"), SIMIDX_OK);
	ck_assert_sx(simidx_writer_put(w, &doc, NULL, &sxt_err), SIMIDX_OK);
	side_commit(&a);
	ck_assert_sx(simidx_writer_commit(w, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(simidx_writer_stored(w), 0);
	ck_assert_uint_eq(sides_count(), 1);
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
	{ &test_a_document_that_is_moved_costs_no_round, 0, 1 },
	{ &test_a_document_whose_label_is_taken_is_in_the_way, 0, 1 },
	{ &test_a_document_whose_later_label_is_taken_may_stay, 0, 1 },
	{ &test_a_document_whose_successor_is_refused_may_stay, 0, 1 },
	{ &test_two_replace_one_document, 0, 1 },
	{ &test_two_put_one_label, 0, 1 },
	{ &test_two_put_one_id, 0, 1 },
	{ &test_two_delete, 0, 1 },
	{ &test_a_document_that_is_there_after_all, 0, 1 },
	{ &test_an_id_that_is_not_taken_after_all, 0, 1 },
	{ &test_a_label_that_is_there_after_all, 0, 1 },
	{ &test_labels_that_change_hands, 0, 1 },
	{ &test_eight_rounds_are_enough, 0, 1 },
	{ &test_an_engine_that_is_busy, 0, 1 },
	{ &test_a_round_that_fails_is_told, 0, 1 },
	{ &test_nobody_has_to_listen, 0, 1 },
};

SXT_SUITE(engine_rejudged, sides_begin, sides_end);
