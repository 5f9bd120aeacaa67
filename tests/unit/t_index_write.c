/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Putting documents: what is refused, what a rollback leaves, and who may write.
 */

#include <stdlib.h>
#include <string.h>

#include "support/sxt_fixture.h"
#include "support/sxt_index.h"

/* ------------------------------------------------------------------------------------------
 * What may be put
 */

/* A taken id or label is refused wherever the first one lies: pending, fresh, merged. */
START_TEST(test_duplicates_are_refused_everywhere)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_writer *writer;
	simidx *index;

	o.layout = (unsigned)_i % 2;
	index = sxt_create(t_path, &o);
	writer = sxt_writer(index, 0);
	for (int state = 0; state < 3; state++) {
		if (!state) {
			ck_assert_int_eq(t_put(writer, 100, 1, "one"), SIMIDX_OK);
			ck_assert_int_eq(t_put(writer, 7, 2, NULL), SIMIDX_OK);
		} else if (state == 1) {
			sxt_commit(writer);
		} else {
			sxt_commit(writer);
			ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_OK);
		}
		ck_assert_int_eq(t_put(writer, 100, 9, NULL), SIMIDX_E_DUPLICATE);
		ck_assert_int_eq(t_put(writer, 7, 9, "two"), SIMIDX_E_DUPLICATE);
		ck_assert_int_eq(t_put(writer, SIMIDX_NO_ID, 9, "one"), SIMIDX_E_DUPLICATE);
		ck_assert_int_eq(t_put(writer, 50, 9, "one"), SIMIDX_E_DUPLICATE);
		/* Another label, another id, the same fingerprint: all allowed. */
		ck_assert_int_eq(t_put(writer, 8 + (uint64_t)state, 1, NULL), SIMIDX_OK);
	}
	ck_assert_uint_eq(simidx_writer_pending(writer), 1);
	sxt_commit(writer);
	ck_assert_uint_eq(t_count(index, 9), 0);
	ck_assert_uint_eq(t_count(index, 1), 4);
	ck_assert_uint_eq(t_info(index).labels, 1);
	sxt_check_sound(index);
	/* What was refused has taken neither id nor label. */
	ck_assert_int_eq(t_put(writer, 50, 9, "two"), SIMIDX_OK);
	sxt_commit(writer);
	ck_assert_uint_eq(t_count(index, 9), 1);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

START_TEST(test_numbers_out_of_range_are_refused)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	char *label = calloc(1, SIMIDX_MAX_LABEL + 2);
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_reader *reader;
	simidx_writer *writer;
	simidx_match match;
	simidx *index;
	uint64_t id;

	memset(label, 'x', SIMIDX_MAX_LABEL + 1);
	o.bits = 40;
	index = sxt_create(t_path, &o);
	writer = sxt_writer(index, 0);
	ck_assert_int_eq(t_put(writer, 0, UINT64_C(1) << 40, NULL), SIMIDX_E_RANGE);
	ck_assert_int_eq(t_put(writer, SIMIDX_MAX_ID + 1, 0, NULL), SIMIDX_E_RANGE);
	ck_assert_int_eq(t_put(writer, SIMIDX_NO_ID - 1, 0, NULL), SIMIDX_E_RANGE);
	ck_assert_int_eq(t_put(writer, 0, 0, ""), SIMIDX_E_RANGE);
	ck_assert_int_eq(t_put(writer, 0, 0, label), SIMIDX_E_RANGE);
	label[SIMIDX_MAX_LABEL] = '\0';
	ck_assert_int_eq(t_put(writer, 0, 0, label), SIMIDX_OK);
	/* The same bytes but one, with a NUL among them: a label is bytes, not a string. */
	label[5] = '\0';
	doc.label = label;
	doc.label_size = SIMIDX_MAX_LABEL;
	ck_assert_sx(simidx_writer_put(writer, &doc, &id, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(id, 1);
	ck_assert_int_eq(t_put(writer, SIMIDX_MAX_ID, (UINT64_C(1) << 40) - 1, "last"), SIMIDX_OK);
	/* No id is left above the largest. */
	ck_assert_int_eq(t_put(writer, SIMIDX_NO_ID, 0, NULL), SIMIDX_E_RANGE);
	ck_assert_int_eq(t_put(writer, 2, 0, NULL), SIMIDX_OK);
	sxt_commit(writer);
	for (int merged = 0; merged < 2; merged++) {
		reader = sxt_reader(index);
		ck_assert_sx(simidx_reader_find_label(reader, label, SIMIDX_MAX_LABEL, &match,
						      &sxt_err),
			     SIMIDX_OK);
		ck_assert_uint_eq(match.id, 1);
		ck_assert_uint_eq(match.label_size, SIMIDX_MAX_LABEL);
		ck_assert_mem_eq(match.label, label, SIMIDX_MAX_LABEL);
		ck_assert_sx(simidx_reader_find_id(reader, SIMIDX_MAX_ID, &match, &sxt_err),
			     SIMIDX_OK);
		ck_assert_sx(simidx_reader_find_id(reader, SIMIDX_NO_ID, &match, &sxt_err),
			     SIMIDX_E_NOT_FOUND);
		ck_assert_sx(simidx_reader_find_label(reader, NULL, 0, &match, &sxt_err),
			     SIMIDX_E_NOT_FOUND);
		simidx_reader_close(reader);
		sxt_check_sound(index);
		ck_assert_uint_eq(t_info(index).next_id, SIMIDX_MAX_ID + 1);
		sxt_merge(index);
	}
	simidx_writer_close(writer);
	simidx_close(index);
	free(label);
}
END_TEST

START_TEST(test_writes_without_ids)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_reader *reader;
	simidx_writer *writer;
	simidx_match match;
	simidx *index;

	o.flags = SIMIDX_CREATE_NO_IDS;
	index = sxt_create(t_path, &o);
	writer = sxt_writer(index, 0);
	ck_assert_int_eq(t_put(writer, 0, 1, NULL), SIMIDX_E_MISMATCH);
	ck_assert_int_eq(t_put(writer, SIMIDX_NO_ID, 1, "label"), SIMIDX_E_MISMATCH);
	doc.flags = SIMIDX_DOC_FP2;
	ck_assert_sx(simidx_writer_put(writer, &doc, NULL, &sxt_err), SIMIDX_E_MISMATCH);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(t_put(writer, SIMIDX_NO_ID, 1, NULL), SIMIDX_OK);
	sxt_commit(writer);
	ck_assert_uint_eq(t_count(index, 1), 1);
	ck_assert_uint_eq(t_info(index).fresh_rows, 3);
	sxt_merge(index);
	ck_assert_uint_eq(t_count(index, 1), 1);
	ck_assert_uint_eq(t_info(index).documents, 1);
	ck_assert_int_eq(t_put(writer, SIMIDX_NO_ID, 1, NULL), SIMIDX_OK);
	sxt_commit(writer);
	ck_assert_uint_eq(t_count(index, 1), 1);
	reader = sxt_reader(index);
	ck_assert_sx(simidx_reader_find_id(reader, 0, &match, &sxt_err), SIMIDX_E_UNSUPPORTED);
	ck_assert_sx(simidx_reader_find_label(reader, "x", 1, &match, &sxt_err),
		     SIMIDX_E_UNSUPPORTED);
	simidx_reader_close(reader);
	sxt_check_sound(index);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

START_TEST(test_second_fingerprints_are_kept)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_writer *writer;
	simidx *index;

	o.bits = 20;
	o.flags = _i ? SIMIDX_CREATE_FP2 : 0;
	index = sxt_create(t_path, &o);
	writer = sxt_writer(index, 0);
	doc.flags = _i ? 0 : SIMIDX_DOC_FP2;
	ck_assert_sx(simidx_writer_put(writer, &doc, NULL, &sxt_err), SIMIDX_E_MISMATCH);
	doc.flags = _i ? SIMIDX_DOC_FP2 : 0;
	doc.fp2 = UINT64_MAX; /* 64 bits whatever f is; ignored without the flag */
	ck_assert_sx(simidx_writer_put(writer, &doc, NULL, &sxt_err), SIMIDX_OK);
	sxt_commit(writer);
	for (int merged = 0; merged < 2; merged++) {
		simidx_reader *reader = sxt_reader(index);
		simidx_match match;

		ck_assert_sx(simidx_reader_find_id(reader, 0, &match, &sxt_err), SIMIDX_OK);
		ck_assert_uint_eq(match.fp2, _i ? UINT64_MAX : 0);
		ck_assert_uint_eq(match.flags, _i ? SIMIDX_MATCH_FP2 : 0);
		simidx_reader_close(reader);
		sxt_merge(index);
	}
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Rollback
 */

/* Nothing is left, neither in the file nor in the memtable that the rows were in. */
START_TEST(test_rollback_leaves_nothing)
{
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	simidx_reader *reader = sxt_reader(index);
	simidx_match match;

	ck_assert_int_eq(t_put(writer, 5, 1, "kept"), SIMIDX_OK);
	sxt_commit(writer);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(t_put(writer, 3, 2, "lost"), SIMIDX_OK); /* looked up: id < next */
		ck_assert_int_eq(t_put(writer, SIMIDX_NO_ID, 2, NULL), SIMIDX_OK);
		ck_assert_uint_eq(simidx_writer_pending(writer), 2);
		ck_assert_uint_eq(t_count(index, 2), 0); /* not committed yet */
		ck_assert_sx(simidx_reader_find_label(reader, "lost", 4, &match, &sxt_err),
			     SIMIDX_E_NOT_FOUND);
		if (i < 2) {
			simidx_writer_rollback(writer);
			ck_assert_uint_eq(simidx_writer_pending(writer), 0);
		} else {
			simidx_writer_close(writer);
		}
		ck_assert_uint_eq(t_count(index, 2), 0);
		ck_assert_uint_eq(t_info(index).documents, 1);
		ck_assert_uint_eq(t_info(index).labels, 1);
		ck_assert_uint_eq(t_info(index).next_id, 6);
		sxt_check_sound(index);
	}
	/* Other rows under the same sequence numbers: only these are found. */
	writer = sxt_writer(index, 0);
	ck_assert_int_eq(t_put(writer, 3, 4, "lost"), SIMIDX_OK);
	ck_assert_int_eq(t_put(writer, SIMIDX_NO_ID, 4, NULL), SIMIDX_OK);
	ck_assert_int_eq(t_put(writer, SIMIDX_NO_ID, 5, NULL), SIMIDX_OK);
	sxt_commit(writer);
	for (int i = 0; i < 30; i++) { /* by the log and by the memtable */
		ck_assert_uint_eq(t_count(index, 2), 0);
		ck_assert_uint_eq(t_count(index, 4), 2);
		ck_assert_uint_eq(t_count(index, 5), 1);
		ck_assert_sx(simidx_reader_find_label(reader, "lost", 4, &match, &sxt_err),
			     SIMIDX_OK);
		ck_assert_uint_eq(match.fp, 4);
		ck_assert_sx(simidx_reader_find_id(reader, 3, &match, &sxt_err), SIMIDX_OK);
		ck_assert_uint_eq(match.fp, 4);
	}
	sxt_check_sound(index);
	simidx_writer_close(writer);
	simidx_reader_close(reader);
	simidx_close(index);
}
END_TEST

/* simidx_info.puts: two more for each document that comes, whatever is deleted and merged. */
START_TEST(test_puts_are_counted)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index;
	simidx_writer *writer;
	simidx_doc doc = SIMIDX_DOC_INIT;
	uint64_t begin;

	create.flags = SIMIDX_CREATE_TIMES;
	index = sxt_create(t_path, &create);
	writer = sxt_writer(index, 0);
	begin = t_info(index).puts;
	for (int i = 0; i < 7; i++)
		ck_assert_int_eq(t_put(writer, SIMIDX_NO_ID, 9, NULL), SIMIDX_OK);
	simidx_writer_rollback(writer);
	ck_assert_uint_eq(t_info(index).puts, begin);
	for (int i = 0; i < 7; i++)
		ck_assert_int_eq(t_put(writer, SIMIDX_NO_ID, 9, NULL), SIMIDX_OK);
	sxt_commit(writer);
	ck_assert_uint_eq(t_info(index).puts, begin + 14);
	ck_assert_sx(simidx_writer_delete_id(writer, 3, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_writer_delete_id(writer, 5, &sxt_err), SIMIDX_OK);
	sxt_commit(writer);
	ck_assert_uint_eq(t_info(index).puts, begin + 14);
	ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(t_info(index).puts, begin + 14);
	doc.id = 4;
	doc.fp = 10;
	ck_assert_sx(simidx_writer_replace(writer, &doc, NULL, &sxt_err), SIMIDX_OK);
	sxt_commit(writer);
	ck_assert_uint_eq(t_info(index).puts, begin + 16);
	ck_assert_sx(simidx_writer_touch(writer, 6, UINT32_MAX, &sxt_err), SIMIDX_OK);
	sxt_commit(writer);
	ck_assert_uint_eq(t_info(index).puts, begin + 18);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

START_TEST(test_commit_of_nothing)
{
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0), *merging = sxt_writer(index, 1);
	uint64_t before = t_info(index).snapshot;

	sxt_commit(writer);
	sxt_commit(merging);
	ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(t_info(index).snapshot, before);
	/* Two rows are more than the threshold of one: the commit merges. */
	ck_assert_int_eq(t_put(writer, 1, 1, NULL), SIMIDX_OK);
	ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_E_STATE);
	sxt_commit(writer);
	sxt_commit(merging);
	ck_assert_uint_eq(t_info(index).fresh_rows, 1);
	ck_assert_int_eq(t_put(merging, 2, 1, NULL), SIMIDX_OK);
	sxt_commit(merging);
	ck_assert_uint_eq(t_info(index).fresh_rows, 0);
	ck_assert_uint_eq(t_info(index).distinct, 1);
	simidx_writer_close(writer);
	simidx_writer_close(merging);
	simidx_close(index);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * One writer at a time
 */

static int hold_lock(sxt_proc *me, void *ctx)
{
	simidx *index = sxt_open(t_path, 0);
	simidx_writer *writer = t_impatient_writer(index);

	(void)ctx;
	sxt_must_eq(t_put(writer, 1, 1, "child"), SIMIDX_OK);
	sxt_proc_tell(me);
	sxt_proc_wait(me);
	sxt_commit(writer);
	simidx_writer_close(writer);
	simidx_close(index);
	return 0;
}

START_TEST(test_second_process_is_busy)
{
	simidx_create_options truncate = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_writer *writer;
	simidx *index, *made;
	sxt_proc child;

	simidx_close(sxt_create(t_path, NULL));
	sxt_proc_start(&child, hold_lock, NULL);
	ck_assert_int_eq(sxt_proc_wait(&child), 0);
	index = sxt_open(t_path, 0);
	writer = t_impatient_writer(index);
	ck_assert_int_eq(t_put(writer, 2, 2, NULL), SIMIDX_E_BUSY);
	ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_E_BUSY);
	truncate.flags = SIMIDX_CREATE_TRUNCATE;
	ck_assert_sx(simidx_create(t_path, &truncate, &made, &sxt_err), SIMIDX_E_BUSY);
	ck_assert_ptr_null(made);
	ck_assert_uint_eq(simidx_writer_pending(writer), 0);
	ck_assert_uint_eq(t_info(index).documents, 0);
	sxt_proc_tell(&child);
	ck_assert_int_eq(sxt_proc_finish(&child), 0);
	ck_assert_int_eq(t_put(writer, 2, 2, NULL), SIMIDX_OK);
	sxt_commit(writer);
	ck_assert_uint_eq(t_info(index).documents, 2);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

START_TEST(test_second_writer_is_busy)
{
	simidx_create_options truncate = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index = sxt_create(t_path, NULL), *second = sxt_open(t_path, 0), *made;
	simidx_writer *writer = sxt_writer(index, 0);
	simidx_writer *same = t_impatient_writer(index), *other = t_impatient_writer(second);

	ck_assert_int_eq(t_put(writer, 1, 1, NULL), SIMIDX_OK);
	ck_assert_int_eq(t_put(same, 2, 2, NULL), SIMIDX_E_BUSY);
	ck_assert_int_eq(t_put(other, 2, 2, NULL), SIMIDX_E_BUSY);
	truncate.flags = SIMIDX_CREATE_TRUNCATE;
	ck_assert_sx(simidx_create(t_path, &truncate, &made, &sxt_err), SIMIDX_E_BUSY);
	simidx_writer_rollback(writer);
	ck_assert_int_eq(t_put(other, 2, 2, NULL), SIMIDX_OK);
	ck_assert_int_eq(t_put(same, 3, 3, NULL), SIMIDX_E_BUSY);
	sxt_commit(other);
	ck_assert_int_eq(t_put(same, 3, 3, NULL), SIMIDX_OK);
	sxt_commit(same);
	ck_assert_uint_eq(t_info(index).documents, 2);
	simidx_writer_close(writer);
	simidx_writer_close(same);
	simidx_writer_close(other);
	simidx_close(second);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_duplicates_are_refused_everywhere, 0, 2 },
	{ &test_numbers_out_of_range_are_refused, 0, 1 },
	{ &test_writes_without_ids, 0, 1 },
	{ &test_second_fingerprints_are_kept, 0, 2 },
	{ &test_rollback_leaves_nothing, 0, 1 },
	{ &test_puts_are_counted, 0, 1 },
	{ &test_commit_of_nothing, 0, 1 },
	{ &test_second_process_is_busy, 0, 1 },
	{ &test_second_writer_is_busy, 0, 1 },
};

SXT_SUITE(index_write, sxt_set_up_path, sxt_tear_down);
