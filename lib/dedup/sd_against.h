/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Other indexes: a row that is near to a document of one of them is left out. They are only read,
 * and nothing of a batch changes what they say, so all of this is done ahead, by the threads.
 */

#ifndef SD_AGAINST_H
#define SD_AGAINST_H

#include "dedup/sd_state.h"

/** Refuse indexes with whose documents rows cannot be compared; `index` is that of what is kept. */
int sd_against_check(const simidx_dedup_options *options, simidx *index, simidx_error *err);

/** What a thread needs to read them; `out` for sd_against_close(). */
int sd_against_open(const simidx_dedup_options *options, struct sd_against_reader **out,
		    simidx_error *err);

/** NULL is allowed. */
void sd_against_close(const simidx_dedup_options *options, struct sd_against_reader *readers);

/** The reader of the notes of index number `i`; NULL if it keeps none. */
simidx_reader *sd_against_notes(struct sd_against_reader *readers, size_t i);

/**
 * Look for a row in the other indexes, in their order, and compare it with what is found, the
 * nearest first. Sets item->is_out and item->out for the first that is near.
 */
int sd_against_find(const simidx_dedup *dedup, struct sd_thread *thread, struct sd_item *item,
		    simidx_error *err);

#endif /* SD_AGAINST_H */
