/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_known.h"

#include "util/sx_err.h"

/* Of the memory, what hashes lead to has a quarter. */
#define FIRST_SHARE 4

static int is_lasting(const simidx_dedup *dedup)
{
	return (dedup->options.flags & SIMIDX_DEDUP_LASTING) != 0;
}

/* Whether hashes lead to what a row is compared with. Pairs are of all that it is near to. Where an
   index remembers fingerprints, a later run has nothing to compare with. */
static int has_leads(const simidx_dedup *dedup)
{
	return !(dedup->options.flags & SIMIDX_DEDUP_PAIRS) &&
	       !(is_lasting(dedup) && dedup->options.remember == SIMIDX_DEDUP_FINGERPRINT);
}

/* What is in the index already must have been seen, too: a file may tell of it. */
static int read_file(simidx_dedup *dedup, simidx *index, simidx_error *err)
{
	const struct sd_seen_state state = sd_kept_state(dedup->kept);
	simidx_reader *reader;
	int rc;

	if (is_lasting(dedup) && dedup->options.seen_file && state.puts != UINT64_MAX) {
		rc = simidx_reader_open(index, &reader, err);
		if (rc)
			return rc;
		rc = sd_seen_file_open(dedup->options.seen_file, &state, reader, &dedup->known,
				       &dedup->seen_file, err);
		simidx_reader_close(reader);
		if (rc)
			return rc;
	}
	if (dedup->seen_file && dedup->known.first)
		sd_first_note_changes(dedup->known.first, 1);
	if (state.id != SIMIDX_NO_ID && !dedup->seen_file)
		sd_known_forget(dedup);
	return SIMIDX_OK;
}

/* With the nearest, what is less similar is told, too. */
int sd_known_open(simidx_dedup *dedup, simidx *index, simidx_error *err)
{
	const simidx_dedup_options *options = &dedup->options;
	uint64_t bytes = options->unsearched_bytes, for_first = 0;

	if (!dedup->verifies || bytes < SD_SEEN_LEAST || options->flags & SIMIDX_DEDUP_NEAREST)
		return SIMIDX_OK;
	if (has_leads(dedup)) {
		for_first = (bytes - SD_SEEN_LEAST) / FIRST_SHARE;
		dedup->known.first = sd_first_open(for_first);
		if (!dedup->known.first)
			return sx_fail_nomem(err);
	}
	dedup->known.seen = sd_seen_open(options->similarity, bytes - for_first);
	return dedup->known.seen ? read_file(dedup, index, err) : sx_fail_nomem(err);
}

static void close_known(simidx_dedup *dedup)
{
	sd_seen_close(dedup->known.seen);
	sd_first_close(dedup->known.first);
	dedup->known = (struct sd_known){ NULL, NULL };
}

void sd_known_close(simidx_dedup *dedup)
{
	close_known(dedup);
	sd_seen_file_close(dedup->seen_file);
	dedup->seen_file = NULL;
}

void sd_known_drop_file(simidx_dedup *dedup)
{
	if (dedup->known.first)
		sd_first_note_changes(dedup->known.first, 0);
	sd_seen_file_drop(dedup->seen_file);
	dedup->seen_file = NULL;
}

void sd_known_forget(simidx_dedup *dedup)
{
	sd_known_drop_file(dedup);
	close_known(dedup);
}

void sd_known_forget_leads(simidx_dedup *dedup)
{
	sd_first_close(dedup->known.first);
	dedup->known.first = NULL;
}

int sd_known_write(simidx_dedup *dedup, simidx_error *err)
{
	const struct sd_seen_state state = sd_kept_state(dedup->kept);
	int rc = SIMIDX_OK;

	if (!dedup->seen_file)
		return SIMIDX_OK;
	for (size_t i = 0; !rc && i < dedup->n; i++) {
		const struct sd_item *item = &dedup->item[i];

		if (item->is_put)
			rc = sd_seen_file_add(dedup->seen_file, item->sketch.least,
					      item->sketch.n_least, err);
	}
	if (!rc && (sd_seen_is_full(dedup->known.seen) ||
		    sd_seen_file_write(dedup->seen_file, &dedup->known, &state)))
		sd_known_drop_file(dedup);
	return rc;
}
