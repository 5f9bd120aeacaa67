/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_decide.h"

#include <stdlib.h>

#include "dedup/sd_compare.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

static int add_near(simidx_dedup *dedup, const struct sd_candidate *candidate, size_t n,
		    simidx_error *err)
{
	if (sx_reserve(&dedup->near, &dedup->near_room, n + 1, sizeof(*dedup->near)))
		return sx_fail_nomem(err);
	dedup->near[n] = (simidx_dedup_near){ candidate->id,
					      sd_kept_handle(dedup->kept, candidate->id),
					      candidate->similarity, candidate->distance, 0 };
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
		return sd_compare(dedup, thread, item, candidate, err);
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

static int keep(simidx_dedup *dedup, struct sd_item *item, simidx_error *err)
{
	uint64_t id, handle;
	int rc = SIMIDX_OK;

	if (sd_is_empty(item))
		return SIMIDX_OK;
	if (dedup->verifies)
		rc = sd_texts_keep(dedup->texts, &item->row, &handle, err);
	if (rc)
		return rc;
	dedup->kept_at[dedup->n_kept++] = (size_t)(item - dedup->item);
	rc = sd_kept_put(dedup->kept, &item->sketch, &item->row, &id, err);
	return rc ? rc : sd_kept_note(dedup->kept, item->crowd, id, err);
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
	int rc = find_near(dedup, reader, item, &n, err);

	if (sd_is_empty(item))
		item->row.flags |= SIMIDX_DEDUP_EMPTY;
	if (!rc && (!n || options->flags & SIMIDX_DEDUP_PAIRS))
		rc = keep(dedup, item, err);
	/* A later run would not take it for near by its fingerprints. */
	if (!rc && n && options->flags & SIMIDX_DEDUP_LASTING && dedup->verifies &&
	    dedup->near->distance > sd_kept_trusted(&item->sketch))
		rc = sd_kept_remember(dedup->kept, &item->sketch, err);
	if (rc)
		return rc;
	if (n > 1)
		qsort(dedup->near, n, sizeof(*dedup->near), compare_keepers);
	return options->calls.decided(options->calls.ctx, &item->row, n ? dedup->near : NULL, n);
}
