/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_decide.h"

#include <stdlib.h>

#include "dedup/sd_compare.h"
#include "dedup/sd_remember.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

/* A text of more than this share of the memory for work is remembered by a sketch, too. */
#define LONG_SHARE 16

static int add_near(simidx_dedup *dedup, const struct sd_candidate *candidate, size_t n,
		    simidx_error *err)
{
	if (sx_reserve(&dedup->near, &dedup->near_room, n + 1, sizeof(*dedup->near)))
		return sx_fail_nomem(err);
	dedup->near[n] = sd_near(candidate, sd_kept_handle(dedup->kept, candidate->id), 0);
	return SIMIDX_OK;
}

static void note_nearest(const simidx_dedup *dedup, struct sd_item *item,
			 const struct sd_candidate *candidate)
{
	const simidx_dedup_near near =
		sd_near(candidate, sd_kept_handle(dedup->kept, candidate->id), 0);

	sd_note_nearest(item, &near);
}

static int compare_beside(const void *a, const void *b)
{
	const struct sd_beside *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return x->item < y->item ? -1 : x->item > y->item;
}

/*
 * What a search among all that are kept would find: what one before the batch has found, and the
 * rows of the batch that are put since. Their ids are above all others, and ascend.
 */
static int merge_found(simidx_dedup *dedup, struct sd_item *item, simidx_results *out,
		       simidx_error *err)
{
	uint64_t limit = item->query.limit;
	size_t i = 0, n_put = 0, j = 0;

	for (size_t k = 0; k < item->n_beside; k++)
		if (dedup->item[item->beside[k].item].is_put)
			item->beside[n_put++] = item->beside[k];
	if (n_put > 1)
		qsort(item->beside, n_put, sizeof(*item->beside), compare_beside);
	if (sx_reserve(&dedup->match, &dedup->match_room, item->n_found + n_put,
		       sizeof(*dedup->match)))
		return sx_fail_nomem(err);
	out->matches = dedup->match;
	while ((i < item->n_found || j < n_put) && !(limit && out->n == limit)) {
		simidx_match *to = &dedup->match[out->n++];

		*to = (simidx_match){ 0 };
		if (j == n_put || (i < item->n_found &&
				   item->found[i].distance <= item->beside[j].distance)) {
			to->id = item->found[i].id;
			to->weighted_distance = item->found[i++].distance;
		} else {
			to->id = dedup->item[item->beside[j].item].id;
			to->weighted_distance = item->beside[j++].distance;
		}
	}
	out->truncated = item->is_cut || i < item->n_found || j < n_put;
	return SIMIDX_OK;
}

/* How similar a row is to a candidate: mostly that is known, or both are in the batch. But once
   texts may be gone, those of the batch are got as later batches would get them. */
static int judge(simidx_dedup *dedup, struct sd_item *item, struct sd_candidate *candidate,
		 simidx_error *err)
{
	struct sd_thread *thread = &dedup->thread[0];
	uint64_t handle = sd_kept_handle(dedup->kept, candidate->id);
	struct sd_item *other;
	struct sd_text text;
	int rc;

	if (sd_take_known(dedup, item, candidate) || sd_skips(dedup, item, handle))
		return SIMIDX_OK;
	if (!dedup->verifies || handle >= SD_LEFT_OUT || handle < dedup->n_before ||
	    sd_texts_problem(dedup->texts))
		return sd_compare_kept(dedup, thread, item, candidate, err);
	other = &dedup->item[dedup->kept_at[handle - dedup->n_before]];
	rc = sd_make_set(thread, other, err);
	text = (struct sd_text){ other->row.text, other->row.text_size, 0, &other->set };
	return rc ? rc : sd_judge(dedup, thread, item, &text, candidate, err);
}

/* Compare a row with what its hashes lead to, until one is near. */
static int judge_first(simidx_dedup *dedup, struct sd_item *item, size_t *n, simidx_error *err)
{
	struct sd_leads leads = { .n = 0 };
	int rc = SIMIDX_OK;

	while (!rc && !*n && sd_find_lead(dedup, item, &leads)) {
		struct sd_candidate *candidate = &leads.of[leads.n++];

		rc = judge(dedup, item, candidate, err);
		if (rc)
			return rc;
		dedup->counts.by_hash += (unsigned)candidate->is_near;
		if (candidate->is_near)
			rc = add_near(dedup, candidate, (*n)++, err);
		else
			rc = sd_first_in_vain(dedup->known.first, leads.hash, err);
	}
	item->leads = leads;
	return rc;
}

/* Find a row among all that are kept, those of the batch included, and compare it with what is
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
	rc = judge_first(dedup, item, n, err);
	if (rc || *n)
		return rc;
	rc = item->is_searched ? merge_found(dedup, item, &results, err)
			       : simidx_reader_search(reader, &item->query, &results, err);
	if (rc)
		return rc;
	item->crowd = sd_kept_crowd(&item->query, &results, item->row.text, item->row.text_size);
	for (size_t i = 0; !rc && (!*n || sd_tells_all(dedup, item)) &&
			   sd_kept_candidate(dedup->kept, &results, item->crowd, i, &match); i++) {
		if (sd_stops(dedup))
			return sx_fail(err, SIMIDX_E_STOPPED, "stopped");
		candidate = (struct sd_candidate){ .id = match.id,
						   .distance = match.weighted_distance };
		rc = judge(dedup, item, &candidate, err);
		if (!rc && candidate.is_near)
			rc = add_near(dedup, &candidate, (*n)++, err);
		else if (!rc && dedup->verifies)
			note_nearest(dedup, item, &candidate);
	}
	dedup->counts.exhausted +=
		dedup->verifies && (results.truncated || item->is_exhausted) && !*n &&
		!sd_is_asked(item);
	bytes = results.n * sizeof(*results.matches) + dedup->near_room * sizeof(*dedup->near) +
		sd_kept_bytes(dedup->kept);
	if (bytes > dedup->counts.most_bytes)
		dedup->counts.most_bytes = bytes;
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
		dedup->counts.texts++;
	else
		dedup->counts.sketches++;
	dedup->counts.note_bytes += note->size;
	return SIMIDX_OK;
}

/* Whether there may be no memory for a text later, when a row is compared with it. */
static int is_long(const simidx_dedup *dedup, const struct sd_item *item)
{
	return dedup->bytes && item->row.text_size > dedup->bytes / LONG_SHARE;
}

static int keep_sketch(simidx_dedup *dedup, struct sd_item *item, simidx_error *err)
{
	int rc = sd_sketch(&dedup->thread[0], item, err);

	return rc ? rc : sd_texts_keep_sketch(dedup->texts, item->brief, item->n_brief, err);
}

static int keep(simidx_dedup *dedup, struct sd_item *item, simidx_error *err)
{
	struct sd_kept_note note;
	uint64_t handle;
	int rc = SIMIDX_OK;

	if (sd_is_empty(item))
		return SIMIDX_OK;
	if (dedup->verifies)
		rc = sd_texts_keep(dedup->texts, &item->row, &handle, err);
	if (!rc && dedup->verifies && is_long(dedup, item))
		rc = keep_sketch(dedup, item, err);
	if (rc)
		return rc;
	rc = take_note(dedup, item, &note, err);
	if (rc)
		return rc;
	dedup->kept_at[dedup->n_kept++] = (size_t)(item - dedup->item);
	rc = sd_kept_put(dedup->kept, &item->sketch, &item->row, &note, &item->id, err);
	item->is_put = !rc;
	if (!rc && dedup->known.first && item->own_hash)
		rc = sd_first_add(dedup->known.first, item->own_hash, item->id, err);
	return rc ? rc : sd_kept_note(dedup->kept, item->crowd, item->id, err);
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
	if (!rc)
		rc = sd_kept_remember(dedup->kept, &item->sketch, &note, &item->id, err);
	item->is_put = !rc;
	return rc;
}

static int compare_keepers(const void *a, const void *b)
{
	const simidx_dedup_near *x = a, *y = b;

	return x->keeper < y->keeper ? -1 : x->keeper > y->keeper;
}

int sd_decide(simidx_dedup *dedup, simidx_reader *reader, struct sd_item *item, simidx_error *err)
{
	const simidx_dedup_options *options = &dedup->options;
	const simidx_dedup_near *near;
	int rc, is_asked;
	size_t n;

	if (item->is_out && item->out.keeper == SIMIDX_DEDUP_AGAINST)
		return options->calls.decided(options->calls.ctx, &item->row, &item->out, 1);
	rc = find_near(dedup, reader, item, &n, err);
	if (sd_is_empty(item))
		item->row.flags |= SIMIDX_DEDUP_EMPTY;
	is_asked = sd_is_asked(item);
	if (!rc && !is_asked && (!n || options->flags & SIMIDX_DEDUP_PAIRS))
		rc = keep(dedup, item, err);
	else if (!rc && !is_asked && options->flags & SIMIDX_DEDUP_LASTING && dedup->verifies)
		rc = remember_left_out(dedup, reader, item, err);
	if (rc)
		return rc;
	if (n > 1)
		qsort(dedup->near, n, sizeof(*dedup->near), compare_keepers);
	near = n ? dedup->near : NULL;
	if (!n && !is_asked && options->flags & SIMIDX_DEDUP_NEAREST &&
	    item->nearest.similarity > 0)
		near = &item->nearest;
	return options->calls.decided(options->calls.ctx, &item->row, near, n);
}
