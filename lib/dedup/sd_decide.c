/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_decide.h"

#include <stdlib.h>

#include "dedup/sd_compare.h"
#include "dedup/sd_remember.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

static int add_near(simidx_dedup *dedup, const struct sd_candidate *candidate, size_t n,
		    simidx_error *err)
{
	if (sx_reserve(&dedup->near, &dedup->near_room, n + 1, sizeof(*dedup->near)))
		return sx_fail_nomem(err);
	dedup->near[n] = (simidx_dedup_near){ candidate->id,
					      sd_kept_handle(dedup->kept, candidate->id),
					      candidate->similarity, candidate->distance,
					      candidate->is_estimate ? SIMIDX_DEDUP_ESTIMATE : 0,
					      0, 0 };
	return SIMIDX_OK;
}

/* How similar a row is to a candidate: mostly that is known, or both are in the batch. But once
   texts may be gone, those of the batch are got as later batches would get them. */
static int judge_match(simidx_dedup *dedup, struct sd_item *item, const simidx_match *match,
		       struct sd_candidate *candidate, simidx_error *err)
{
	struct sd_thread *thread = &dedup->thread[0];
	uint64_t handle = sd_kept_handle(dedup->kept, match->id);
	const struct sd_candidate *known;
	struct sd_item *other;
	int rc;

	candidate->id = match->id;
	candidate->distance = match->weighted_distance;
	known = item->n_found ? bsearch(candidate, item->found, item->n_found, sizeof(*known),
					sd_compare_ids) : NULL;
	if (known) {
		*candidate = *known;
		return SIMIDX_OK;
	}
	if (!dedup->verifies || handle >= SD_LEFT_OUT || handle < dedup->n_before ||
	    sd_texts_problem(dedup->texts))
		return sd_compare_kept(dedup, thread, item, candidate, err);
	other = &dedup->item[dedup->kept_at[handle - dedup->n_before]];
	rc = sd_make_set(thread, item, err);
	if (!rc)
		rc = sd_make_set(thread, other, err);
	if (!rc)
		sd_judge(dedup, candidate, item, &other->set, other->row.text,
			 other->row.text_size);
	return rc;
}

/* Search a row among all that are kept, those of the batch included, and compare it with what is
   found, the nearest first. Those to which it is near are in dedup->near. */
static int find_near(simidx_dedup *dedup, simidx_reader *reader, struct sd_item *item, size_t *n,
		     simidx_error *err)
{
	simidx_results results = SIMIDX_RESULTS_INIT;
	struct sd_candidate candidate;
	simidx_match match;
	uint64_t bytes;
	int rc;

	*n = 0;
	if (sd_is_empty(item))
		return SIMIDX_OK;
	rc = simidx_reader_search(reader, &item->query, &results, err);
	if (rc)
		return rc;
	item->crowd = sd_kept_crowd(&item->query, &results, item->row.text, item->row.text_size);
	for (size_t i = 0; !rc && (!*n || dedup->options.flags & SIMIDX_DEDUP_PAIRS) &&
			   sd_kept_candidate(dedup->kept, &results, item->crowd, i, &match); i++) {
		if (sd_stops(dedup))
			return sx_fail(err, SIMIDX_E_STOPPED, "stopped");
		rc = judge_match(dedup, item, &match, &candidate, err);
		if (!rc && candidate.is_near)
			rc = add_near(dedup, &candidate, (*n)++, err);
	}
	dedup->exhausted += dedup->verifies && results.truncated && !*n;
	bytes = results.n * sizeof(*results.matches) + dedup->near_room * sizeof(*dedup->near) +
		sd_kept_bytes(dedup->kept);
	if (bytes > dedup->most_bytes)
		dedup->most_bytes = bytes;
	return rc;
}

/* Make the note of a row that is put next, unless it was made ahead, and count it. */
static int take_note(simidx_dedup *dedup, struct sd_item *item, struct sd_kept_note *note,
		     simidx_error *err)
{
	int rc = dedup->verifies ? sd_remember(dedup, &dedup->thread[0], item, err) : SIMIDX_OK;

	*note = (struct sd_kept_note){ NULL, 0 };
	if (rc || !dedup->verifies || dedup->options.remember == SIMIDX_DEDUP_FINGERPRINT)
		return rc;
	*note = item->n_full ? (struct sd_kept_note){ item->full, item->n_full } :
			       (struct sd_kept_note){ item->brief, item->n_brief };
	if (item->n_full)
		dedup->texts_noted++;
	else
		dedup->sketches++;
	dedup->note_bytes += note->size;
	return SIMIDX_OK;
}

static int keep(simidx_dedup *dedup, struct sd_item *item, simidx_error *err)
{
	struct sd_kept_note note;
	uint64_t id, handle;
	int rc = SIMIDX_OK;

	if (sd_is_empty(item))
		return SIMIDX_OK;
	if (dedup->verifies)
		rc = sd_texts_keep(dedup->texts, &item->row, &handle, err);
	if (rc)
		return rc;
	rc = take_note(dedup, item, &note, err);
	if (rc)
		return rc;
	dedup->kept_at[dedup->n_kept++] = (size_t)(item - dedup->item);
	rc = sd_kept_put(dedup->kept, &item->sketch, &item->row, &note, &id, err);
	return rc ? rc : sd_kept_note(dedup->kept, item->crowd, id, err);
}

/* A text that is left out, and that a later run would not take for near. */
static int remember_left_out(simidx_dedup *dedup, simidx_reader *reader, struct sd_item *item,
			     simidx_error *err)
{
	struct sd_kept_note note;
	int is, rc = sd_is_left_out_again(dedup, reader, item, dedup->near, &is, err);

	if (rc || is)
		return rc;
	rc = take_note(dedup, item, &note, err);
	return rc ? rc : sd_kept_remember(dedup->kept, &item->sketch, &note, err);
}

static int compare_keepers(const void *a, const void *b)
{
	const simidx_dedup_near *x = a, *y = b;

	return x->keeper < y->keeper ? -1 : x->keeper > y->keeper;
}

int sd_decide(simidx_dedup *dedup, simidx_reader *reader, struct sd_item *item, simidx_error *err)
{
	const simidx_dedup_options *options = &dedup->options;
	size_t n;
	int rc;

	if (item->is_out && item->out.keeper == SIMIDX_DEDUP_AGAINST)
		return options->calls.decided(options->calls.ctx, &item->row, &item->out, 1);
	rc = find_near(dedup, reader, item, &n, err);
	if (sd_is_empty(item))
		item->row.flags |= SIMIDX_DEDUP_EMPTY;
	if (!rc && (!n || options->flags & SIMIDX_DEDUP_PAIRS))
		rc = keep(dedup, item, err);
	if (!rc && n && options->flags & SIMIDX_DEDUP_LASTING && dedup->verifies)
		rc = remember_left_out(dedup, reader, item, err);
	if (rc)
		return rc;
	if (n > 1)
		qsort(dedup->near, n, sizeof(*dedup->near), compare_keepers);
	return options->calls.decided(options->calls.ctx, &item->row, n ? dedup->near : NULL, n);
}
