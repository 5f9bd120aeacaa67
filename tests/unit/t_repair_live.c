/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Repairing an index whose fresh rows have changed and deleted documents: these stay as they are,
 * whatever older tables say, and none of it is told as lost.
 */

#include <stdlib.h>

#include "support/sxt_fixture.h"
#include "support/sxt_repair.h"

#define CHANGES 20
#define IS_DELETED(d) ((d) % 7 == 3)

static size_t t_changed; /* place in the model of the document that changes many times */

/* It stands in the tables, and so does its fingerprint, which nobody else has. */
static void t_choose_changed(void)
{
	size_t like;

	t_find_left();
	for (t_changed = 0; t_changed < t_model.n; t_changed++) {
		if (IS_DELETED(t_changed) || !(t_where[t_changed] & IN_POSTINGS))
			continue;
		for (like = 0; like < t_model.n; like++)
			if (like != t_changed && t_model.at[like].fp == t_model.at[t_changed].fp)
				break;
		if (like == t_model.n)
			return;
	}
	sxt_fail("no document has a fingerprint of its own");
}

static uint64_t t_fp_after(size_t d)
{
	return d == t_changed ? t_model.at[d].fp ^ CHANGES : t_model.at[d].fp;
}

static void t_change_documents(void)
{
	simidx *index = sxt_open(t_path, 0);
	simidx_writer *writer = sxt_writer(index, 0);

	for (uint64_t i = 1; i <= CHANGES; i++) {
		const sxt_doc *d = &t_model.at[t_changed];
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.id = d->id;
		doc.fp = d->fp ^ i;
		doc.fp2 = d->fp2;
		doc.flags = t_flags & SIMIDX_CREATE_FP2 ? SIMIDX_DOC_FP2 : 0;
		sxt_must_ok(simidx_writer_replace(writer, &doc, NULL, &sxt_err));
	}
	for (size_t d = 0; d < t_model.n; d++)
		if (IS_DELETED(d))
			sxt_must_ok(simidx_writer_delete_id(writer, t_model.at[d].id, &sxt_err));
	sxt_commit(writer);
	simidx_writer_close(writer);
	simidx_close(index);
	t_read_entries_again();
}

/* Documents that were not deleted and are not there any more: how many, and if one has `fp`. */
static size_t t_count_missing(simidx_reader *reader, uint64_t fp, int *has_fp)
{
	simidx_match match;
	size_t missing = 0;

	*has_fp = 0;
	for (size_t d = 0; d < t_model.n; d++) {
		int rc = simidx_reader_find_id(reader, t_model.at[d].id, &match, &sxt_err);

		if (IS_DELETED(d)) {
			sxt_must_sx(rc, SIMIDX_E_NOT_FOUND);
		} else if (rc) {
			sxt_must_sx(rc, SIMIDX_E_NOT_FOUND);
			missing++;
			*has_fp |= t_fp_after(d) == fp;
		} else {
			sxt_must_eq(match.fp, t_fp_after(d));
		}
	}
	sxt_error_clear(&sxt_err);
	return missing;
}

START_TEST(test_what_rows_have_changed_is_believed)
{
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	char *path = sxt_path(t_dir, "new");
	simidx_reader *reader;
	int has_fp, is_named;
	simidx *index;
	size_t missing;

	t_repair_begin(_i);
	t_choose_changed();
	t_change_documents();
	t_damage(IN_POSTINGS, NULL);
	t_damage(IN_DOCS, NULL);
	sxt_must_ok(simidx_repair(t_path, path, NULL, t_tell, NULL, &report, &sxt_err));
	index = sxt_open(path, 0);
	reader = sxt_reader(index);
	missing = t_count_missing(reader, 0, &has_fp);
	sxt_must_eq(report.documents_lost, missing);
	/* A fingerprint is told as lost only if a document is. */
	for (size_t i = 0; i < t_n_told; i++) {
		is_named = t_told_at[i].kind == SIMIDX_LOSS_DOCUMENT && t_told_at[i].has_fp;
		if (is_named && t_count_missing(reader, t_told_at[i].fp, &has_fp) && !has_fp)
			sxt_fail("fingerprint %016llx is told as lost",
				 (unsigned long long)t_told_at[i].fp);
		sxt_must(!is_named || missing);
	}
	simidx_reader_close(reader);
	sxt_check_sound(index);
	simidx_close(index);
	free(path);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_what_rows_have_changed_is_believed, 0, 4 },
};

SXT_SUITE(repair_live, t_repair_set_up, t_repair_tear_down);
