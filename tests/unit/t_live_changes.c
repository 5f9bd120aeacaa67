/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Changes of documents, one promise after another. Random ones are compared with a model in
 * t_live_model.c.
 */

#include <stdlib.h>
#include <time.h>

#include "support/sxt_fixture.h"
#include "support/sxt_index.h"

static int t_replace(simidx_writer *writer, uint64_t id, uint64_t fp, const char *label)
{
	simidx_doc doc = t_document(id, fp, label);

	return simidx_writer_replace(writer, &doc, NULL, &sxt_err);
}

/* ---- what counts as changed ---- */

START_TEST(test_replacing_by_the_same_counts_and_writes_nothing)
{
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	uint64_t commit;

	ck_assert_int_eq(t_put(writer, 1, 16, "one"), SIMIDX_OK);
	sxt_commit(writer);
	commit = t_info(index).snapshot;
	ck_assert_sx(t_replace(writer, 1, 16, "one"), SIMIDX_OK);
	ck_assert_uint_eq(simidx_writer_pending(writer), 1);
	sxt_commit(writer);
	ck_assert_uint_eq(simidx_writer_pending(writer), 0);
	ck_assert_uint_eq(simidx_writer_stored(writer), 2);
	ck_assert_uint_eq(t_info(index).snapshot, commit);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* A merge gives the transaction up, so it is refused while that has anything to store. */
START_TEST(test_merge_loses_no_mark)
{
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	unsigned char mark[SIMIDX_MAX_MARK];
	size_t size;

	ck_assert_int_eq(t_put(writer, 1, 16, "one"), SIMIDX_OK);
	sxt_commit(writer);
	ck_assert_sx(simidx_writer_set_mark(writer, "mark", 4, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_E_STATE);
	sxt_commit(writer);
	ck_assert_sx(simidx_get_mark(index, mark, sizeof(mark), &size, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(size, 4);
	ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_OK);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

/* ---- one label or fingerprint that has had very many documents ---- */

#define CYCLES 50000

static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/*
 * What was added and deleted again costs no later change or search anything. If each looked at all
 * that was before, this would take CYCLES^2 / 2 looks, tens of seconds at least.
 */
START_TEST(test_what_came_and_went_costs_nothing)
{
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	simidx_query query = SIMIDX_QUERY_INIT;
	double began = cpu_seconds();
	simidx_doc doc;
	uint64_t id;

	for (uint64_t i = 0; i < CYCLES; i++) {
		doc = t_document(SIMIDX_NO_ID, _i ? 16 : i * UINT64_C(0x9e3779b97f4a7c15), _i ? NULL : "one");
		query.fp = doc.fp;
		ck_assert_sx(simidx_writer_put_if_new(writer, &doc, &query, &id, NULL, &sxt_err),
			     SIMIDX_OK);
		ck_assert_uint_eq(id, i);
		ck_assert_sx(simidx_writer_delete_id(writer, id, &sxt_err), SIMIDX_OK);
	}
	ck_assert_double_lt(cpu_seconds() - began, 10);
	sxt_commit(writer);
	ck_assert_uint_eq(t_info(index).documents, 0);
	sxt_check_sound(index);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_replacing_by_the_same_counts_and_writes_nothing, 0, 1 },
	{ &test_merge_loses_no_mark, 0, 1 },
	{ &test_what_came_and_went_costs_nothing, 0, 2 },
};

SXT_SUITE(live_changes, sxt_set_up_path, sxt_tear_down);
