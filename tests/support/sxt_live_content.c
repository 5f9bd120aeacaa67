/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What an index has, compared with the model: all documents, labels, notes and counts.
 */

#include <stdlib.h>
#include <string.h>

#include <simidx_check.h>
#include <simidx_info.h>
#include <simidx_walk.h>

#include "support/sxt_live.h"

int sxt_live_is_doc(const sxt_live *live, const sxt_live_doc *doc, const simidx_match *match,
		    int labels)
{
	unsigned flags = live->flags & SIMIDX_CREATE_FP2 ? SIMIDX_MATCH_FP2 : 0;

	if (labels && doc->label_size)
		flags |= SIMIDX_MATCH_LABEL;
	if (doc->time)
		flags |= SIMIDX_MATCH_TIME;
	if (match->id != doc->id || match->fp != doc->fp || match->fp2 != doc->fp2 ||
	    match->time != doc->time || match->flags != flags || match->reserved)
		return 0;
	if (!(flags & SIMIDX_MATCH_LABEL))
		return !match->label && !match->label_size;
	return match->label_size == doc->label_size &&
	       !memcmp(match->label, doc->label, doc->label_size);
}

static int compare_docs(const void *a, const void *b)
{
	const sxt_live_doc *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->fp < y->fp ? -1 : x->fp > y->fp;
}

static void see_problem(void *ctx, const simidx_problem *problem)
{
	(void)ctx;
	sxt_fail("verify: table %s: %s", problem->table, problem->text);
}

/* Each document is found by its id, which no other way of reading does alike. */
static void check_ids(const sxt_live *live, const sxt_live_set *set, simidx *index)
{
	simidx_reader *reader = sxt_reader(index);
	simidx_match match;

	for (size_t i = 0; i < set->n; i++) {
		sxt_must_ok(simidx_reader_find_id(reader, set->at[i].id, &match, &sxt_err));
		sxt_must(sxt_live_is_doc(live, &set->at[i], &match, 1));
	}
	sxt_live_check_notes(live, &(sxt_live_asked){ reader, set });
	simidx_reader_close(reader);
}

static int is_note(uint32_t note, const void *bytes, size_t size)
{
	size_t want_size;
	const void *want = sxt_live_note(note, &want_size);

	if (!want || !bytes)
		return !want && !bytes && !size;
	return size == want_size && !memcmp(bytes, want, size);
}

void sxt_live_check_notes(const sxt_live *live, const sxt_live_asked *asked)
{
	const sxt_live_set *set = asked->set;
	const void *note;
	size_t size;

	for (size_t i = 0; live->flags & SIMIDX_CREATE_NOTES && i < set->n; i++) {
		sxt_must_ok(
			simidx_reader_note(asked->reader, set->at[i].id, &note, &size, &sxt_err));
		if (!is_note(set->at[i].note, note, size))
			sxt_fail("document %llu has a note of %zu bytes",
				 (unsigned long long)set->at[i].id, size);
	}
}

static void check_walk_note(simidx_walk *walk, const sxt_live_doc *doc)
{
	const void *note;
	size_t size;

	sxt_must_ok(simidx_walk_note(walk, &note, &size, &sxt_err));
	if (!is_note(doc->note, note, size))
		sxt_fail("document %llu of the walk has a note of %zu bytes",
			 (unsigned long long)doc->id, size);
}

void sxt_live_check_content(const sxt_live *live, simidx *index)
{
	sxt_live_set set = { 0 };
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_match match;
	simidx_walk *walk;
	uint64_t labels = 0, notes = 0;

	set.at = calloc(live->stored.n + 1, sizeof(*set.at));
	sxt_must(set.at != NULL);
	set.n = live->stored.n;
	set.next_id = live->stored.next_id;
	if (set.n)
		memcpy(set.at, live->stored.at, set.n * sizeof(*set.at));
	if (set.n)
		qsort(set.at, set.n, sizeof(*set.at), compare_docs);
	sxt_must_ok(simidx_verify(index, see_problem, NULL, NULL, &sxt_err));
	sxt_must_ok(simidx_walk_open(index, &walk, &sxt_err));
	for (size_t i = 0; i < set.n; i++) {
		sxt_must_ok(simidx_walk_next(walk, &match, &sxt_err));
		if (!sxt_live_is_doc(live, &set.at[i], &match, 1))
			sxt_fail("document %zu of the walk is id %llu, not %llu", i,
				 (unsigned long long)match.id, (unsigned long long)set.at[i].id);
		if (live->flags & SIMIDX_CREATE_NOTES)
			check_walk_note(walk, &set.at[i]);
		labels += set.at[i].label_size != 0;
		notes += set.at[i].note != 0;
	}
	sxt_must_sx(simidx_walk_next(walk, &match, &sxt_err), SIMIDX_E_END);
	simidx_walk_close(walk);
	if (!(live->flags & SIMIDX_CREATE_NO_IDS))
		check_ids(live, &set, index);
	sxt_must_ok(simidx_get_info(index, &info, &sxt_err));
	sxt_must_eq(info.labels, labels);
	sxt_must_eq(info.notes, notes);
	if (!(live->flags & SIMIDX_CREATE_NO_IDS)) {
		sxt_must_eq(info.documents, set.n);
		sxt_must_eq(info.next_id, set.next_id);
	}
	free(set.at);
}
