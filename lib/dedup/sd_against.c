/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_against.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_info.h>

#include "dedup/sd_compare.h"
#include "dedup/sd_remember.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

struct sd_against_reader {
	simidx_reader *search;
	simidx_reader *notes; /* NULL where the index has none */
};

static int check(const simidx_info *own, simidx *index, simidx_error *err)
{
	simidx_info info = SIMIDX_INFO_INIT;
	int rc = simidx_get_info(index, &info, err);

	if (rc)
		return rc;
	if (info.flags & SIMIDX_CREATE_NO_IDS)
		return sx_fail(err, SIMIDX_E_MISMATCH, "it has no ids");
	if (info.bits != own->bits || (info.flags ^ own->flags) & SIMIDX_CREATE_FP2)
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "it has %u bits and %s second fingerprints, not %u and %s",
			       info.bits, info.flags & SIMIDX_CREATE_FP2 ? "has" : "no", own->bits,
			       own->flags & SIMIDX_CREATE_FP2 ? "has" : "no");
	if (strcmp(info.profile, own->profile) != 0)
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "it is of another profile: '%s', not '%s'",
			       *info.profile ? info.profile : "none", own->profile);
	if (info.n_check_fps != own->n_check_fps ||
	    (info.n_check_fps && memcmp(info.check_fps, own->check_fps,
					info.n_check_fps * sizeof(*info.check_fps)) != 0))
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "it has other fingerprints of the same texts");
	return info.flags & SIMIDX_CREATE_NOTES ? sd_check_notes(index, err) : SIMIDX_OK;
}

/* Say in an error which index it is about, as simidx_dedup.h promises. */
static int name_index(size_t i, int rc, simidx_error *err)
{
	simidx_error whole;

	if (!rc || !err || rc == SIMIDX_E_STOPPED || rc == SIMIDX_E_NOMEM)
		return rc;
	whole = *err;
	snprintf(err->text, sizeof(err->text), "index %zu: %.460s", i, whole.text);
	return rc;
}

int sd_against_check(const simidx_dedup_options *options, simidx *index, simidx_error *err)
{
	simidx_info own = SIMIDX_INFO_INIT;
	int rc = simidx_get_info(index, &own, err);

	for (size_t i = 0; !rc && i < options->n_against; i++)
		rc = name_index(i, check(&own, options->against[i], err), err);
	return rc;
}

int sd_against_open(const simidx_dedup_options *options, struct sd_against_reader **out,
		    simidx_error *err)
{
	simidx_info info = SIMIDX_INFO_INIT;
	int rc = SIMIDX_OK;

	*out = NULL;
	if (!options->n_against)
		return SIMIDX_OK;
	*out = sx_calloc(options->n_against, sizeof(**out));
	if (!*out)
		return sx_fail_nomem(err);
	for (size_t i = 0; !rc && i < options->n_against; i++) {
		rc = simidx_get_info(options->against[i], &info, err);
		if (!rc)
			rc = simidx_reader_open(options->against[i], &(*out)[i].search, err);
		if (!rc && info.flags & SIMIDX_CREATE_NOTES)
			rc = simidx_reader_open(options->against[i], &(*out)[i].notes, err);
	}
	return rc;
}

void sd_against_close(const simidx_dedup_options *options, struct sd_against_reader *readers)
{
	for (size_t i = 0; readers && i < options->n_against; i++) {
		simidx_reader_close(readers[i].search);
		simidx_reader_close(readers[i].notes);
	}
	free(readers);
}

static int find_in(const simidx_dedup *dedup, struct sd_thread *thread, size_t i,
		   struct sd_item *item, simidx_error *err)
{
	const struct sd_against_reader *readers = &thread->against[i];
	simidx_results results = SIMIDX_RESULTS_INIT;
	struct sd_candidate candidate = { 0 };
	simidx_dedup_near near = { 0 };
	simidx_query query;
	int rc = sd_kept_query(dedup->kept, dedup->options.against[i], &item->sketch, &query, err);

	if (!rc)
		rc = simidx_reader_search(readers->search, &query, &results, err);
	for (size_t k = 0; !rc && !candidate.is_near && k < results.n; k++) {
		if (sd_stops(dedup))
			return sx_fail(err, SIMIDX_E_STOPPED, "stopped");
		candidate = (struct sd_candidate){
			.id = results.matches[k].id,
			.distance = results.matches[k].weighted_distance,
		};
		if (readers->notes && dedup->verifies)
			rc = sd_compare_note(dedup, thread, readers->notes, item, &candidate, err);
		else
			sd_trust(dedup, item, &candidate);
		near = sd_near(&candidate, SIMIDX_DEDUP_AGAINST, (unsigned)i);
		if (!candidate.is_near && dedup->verifies)
			sd_note_nearest(item, &near);
	}
	if (rc)
		return rc;
	item->is_exhausted |= dedup->verifies && results.truncated;
	if (!candidate.is_near)
		return SIMIDX_OK;
	item->is_out = 1;
	item->out = near;
	return SIMIDX_OK;
}

simidx_reader *sd_against_notes(struct sd_against_reader *readers, size_t i)
{
	return readers[i].notes;
}

int sd_against_find(const simidx_dedup *dedup, struct sd_thread *thread, struct sd_item *item,
		    simidx_error *err)
{
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && !item->is_out && i < dedup->options.n_against; i++)
		rc = name_index(i, find_in(dedup, thread, i, item, err), err);
	return rc;
}
