/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * From how many fresh rows on a merge is due, which of the commits make it, and what writers tell
 * of that.
 */

#include <stdlib.h>

#include <simidx_load.h>

#include "support/sxt_fixture.h"
#include "support/sxt_index.h"

static simidx_writer *open_writer(simidx *index, unsigned merge, uint64_t threshold)
{
	simidx_writer_options o = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_writer *writer;

	o.merge = merge;
	o.merge_threshold = threshold;
	sxt_must_ok(simidx_writer_open(index, &o, &writer, &sxt_err));
	return writer;
}

/* Put n fingerprints, and commit. */
static void put(simidx_writer *writer, uint64_t n)
{
	simidx_doc doc = SIMIDX_DOC_INIT;

	for (; n; n--) {
		doc.fp = n << 40 | n;
		sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	}
	sxt_must_ok(simidx_writer_commit(writer, &sxt_err));
}

/* An index without ids that has n fingerprints in its tables. */
static simidx *load(uint64_t n)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_loader *loader;

	create.flags = SIMIDX_CREATE_NO_IDS;
	create.plan = "2x32";
	sxt_must_ok(simidx_loader_open(t_path, &create, NULL, &loader, &sxt_err));
	for (doc.fp = 0; doc.fp < n; doc.fp++)
		sxt_must_ok(simidx_loader_put(loader, &doc, NULL, &sxt_err));
	sxt_must_ok(simidx_loader_finish(loader, NULL, &sxt_err));
	simidx_loader_close(loader);
	return sxt_open(t_path, 0);
}

/*
 * A 16th of the documents, and 65,536 where that is less. Those of the commit count among the
 * documents.
 */
START_TEST(test_default_threshold)
{
	static const struct {
		uint64_t loaded, threshold;
	} cases[] = {
		{ 1, 65536 },
		{ 15 * 65536, 65536 },
		{ 15 * 70000, 70000 },
	};
	uint64_t threshold = cases[_i].threshold;
	simidx *index = load(cases[_i].loaded);
	simidx_writer *never = open_writer(index, SIMIDX_MERGE_NEVER, 0);
	simidx_writer *beside = open_writer(index, SIMIDX_MERGE_BESIDE, 0);
	simidx_writer *automatic = open_writer(index, SIMIDX_MERGE_AUTO, 0);

	ck_assert_uint_eq(simidx_writer_merge_state(never), 0);
	put(never, threshold);
	ck_assert_uint_eq(simidx_writer_merge_state(never), 0);
	put(automatic, 0);
	ck_assert_uint_eq(simidx_writer_merge_state(automatic), 0);
	put(beside, 1);
	ck_assert_uint_eq(simidx_writer_merge_state(beside), SIMIDX_MERGE_DUE);
	ck_assert_uint_eq(t_info(index).fresh_rows, threshold + 1);
	put(never, 1);
	ck_assert_uint_eq(simidx_writer_merge_state(never), SIMIDX_MERGE_DUE);
	ck_assert_uint_eq(t_info(index).fresh_rows, threshold + 2);
	simidx_writer_close(automatic);
	simidx_writer_close(beside);
	simidx_writer_close(never);
	simidx_close(index);
}
END_TEST

/* Each writer goes by its own threshold, and a commit without changes merges, too, or does not. */
START_TEST(test_commit_without_changes_merges)
{
	simidx *index = t_numbered(t_path, 10, 0);
	simidx_writer *never = open_writer(index, SIMIDX_MERGE_NEVER, 9);
	simidx_writer *beside = open_writer(index, SIMIDX_MERGE_BESIDE, 9);
	simidx_writer *later = open_writer(index, SIMIDX_MERGE_AUTO, 10);
	simidx_writer *now = open_writer(index, SIMIDX_MERGE_AUTO, 9);

	put(never, 0);
	put(beside, 0);
	put(later, 0);
	ck_assert_uint_eq(t_info(index).fresh_rows, 10);
	ck_assert_uint_eq(simidx_writer_merge_state(later), 0);
	put(now, 0);
	ck_assert_uint_eq(t_info(index).fresh_rows, 0);
	ck_assert_uint_eq(t_info(index).documents, 10);
	ck_assert_uint_eq(simidx_writer_merge_state(now), 0);
	ck_assert_uint_eq(simidx_writer_stored(now), 0);
	/* With changes, of another writer's besides; and one that has none of its own left. */
	put(never, 6);
	ck_assert_uint_eq(simidx_writer_merge_state(never), 0);
	put(now, 3);
	ck_assert_uint_eq(t_info(index).fresh_rows, 9);
	put(now, 1);
	ck_assert_uint_eq(t_info(index).fresh_rows, 0);
	ck_assert_uint_eq(simidx_writer_merge_state(now), 0);
	ck_assert_uint_eq(simidx_writer_stored(now), 4);
	ck_assert_uint_eq(simidx_writer_stored(never), 6);
	sxt_check_sound(index);
	simidx_writer_close(now);
	simidx_writer_close(later);
	simidx_writer_close(beside);
	simidx_writer_close(never);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_default_threshold, 0, 3 },
	{ &test_commit_without_changes_merges, 0, 1 },
};

SXT_SUITE(merge_due, sxt_set_up_path, sxt_tear_down);
