/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How similar a row is to a candidate.
 */

#ifndef SD_COMPARE_H
#define SD_COMPARE_H

#include "dedup/sd_state.h"

/** Make the shingles of a row, unless it has them. */
int sd_make_set(struct sd_thread *thread, struct sd_item *item, simidx_error *err);

/** Judge by what fingerprints alone say. */
void sd_trust(const simidx_dedup *dedup, const struct sd_item *item,
	      struct sd_candidate *candidate);

/**
 * Judge by an earlier text. Where there are no tokens to compare, bytes have to be equal.
 *
 * @param item   has its shingles
 * @param other  the shingles of the other text, `text`
 */
void sd_judge(const simidx_dedup *dedup, struct sd_candidate *candidate, const struct sd_item *item,
	      const struct sd_shingles *other, const char *text, size_t size);

/** What the caller is told of a candidate; `against` as simidx_dedup_near has it. */
simidx_dedup_near sd_near(const struct sd_candidate *candidate, uint64_t keeper, unsigned against);

/** Note what a row was compared with and is not near to, if nothing before was more similar. */
void sd_note_nearest(struct sd_item *item, const simidx_dedup_near *near);

/**
 * Compare with a document that was kept before: with its text, if that is there again, else by
 * fingerprints.
 *
 * @param candidate  its id and distance are given; the rest is zero
 */
int sd_compare(const simidx_dedup *dedup, struct sd_thread *thread, struct sd_item *item,
	       struct sd_candidate *candidate, simidx_error *err);

#endif /* SD_COMPARE_H */
