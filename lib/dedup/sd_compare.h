/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How similar a row is to a candidate.
 */

#ifndef SD_COMPARE_H
#define SD_COMPARE_H

#include "dedup/sd_state.h"

/**
 * Make the shingles of a row, unless it has them; of a text that is too long for the memory at
 * hand, a part of them.
 */
int sd_make_set(struct sd_thread *thread, struct sd_item *item, simidx_error *err);

/** Judge by what fingerprints alone say. */
void sd_trust(const simidx_dedup *dedup, const struct sd_item *item,
	      struct sd_candidate *candidate);

/** How many shingles a row has, which are all in its set or not. */
int sd_count_shingles(struct sd_thread *thread, const struct sd_item *item, uint64_t *n,
		      simidx_error *err);

/** A text that a row is compared with. */
struct sd_text {
	const char *bytes;
	size_t size;
	uint64_t held; /* bytes of memory that it takes meanwhile */
	const struct sd_shingles *set; /* its shingles, or NULL: they are not known */
};

/**
 * Judge by an earlier text. Where there are no tokens to compare, bytes have to be equal. Sets that
 * are too large for the memory at hand are counted in parts, which changes nothing.
 */
int sd_judge(const simidx_dedup *dedup, struct sd_thread *thread, struct sd_item *item,
	     const struct sd_text *other, struct sd_candidate *candidate, simidx_error *err);

/**
 * Say what a thread has of the memory for the batch at hand, as one of several. Half of it all is
 * for the sets of rows, which stay until the batch is decided, unless it is a single row.
 *
 * @param is_ahead  what needs more is left to the decision
 */
void sd_compare_begin(const simidx_dedup *dedup, struct sd_thread *thread, unsigned threads,
		      int is_ahead);

/**
 * Whether there is memory to compare two texts in a few parts.
 *
 * @param held   bytes that the other one takes itself
 * @param sizes  bytes of both texts
 */
int sd_has_room(const struct sd_thread *thread, uint64_t held, uint64_t sizes);

/** What the caller is told of a candidate; `against` as simidx_dedup_near has it. */
simidx_dedup_near sd_near(const struct sd_candidate *candidate, uint64_t keeper, unsigned against);

/** Note what a row was compared with and is not near to, if nothing before was more similar. */
void sd_note_nearest(struct sd_item *item, const simidx_dedup_near *near);

/**
 * Find a kept text that a row is compared with before it is searched, if there is one more. Its
 * distance is SIMIDX_DEDUP_NOT_SEARCHED, so that fingerprints never take the two for near.
 *
 * @param leads  what was found before; of[n] and hash are set, and n is for the caller to raise
 * @return 1 or 0
 */
int sd_find_lead(const simidx_dedup *dedup, const struct sd_item *item, struct sd_leads *leads);

/**
 * Take what is known of a candidate, if the row was compared with it. Where fingerprints decide,
 * they do so by the distance that it has now.
 *
 * @param candidate  its id and distance are given, the rest is set
 * @return 1 or 0
 */
int sd_take_known(const simidx_dedup *dedup, const struct sd_item *item,
		  struct sd_candidate *candidate);

/**
 * Compare with a document that was kept before: with its text, if that is there again, else by
 * fingerprints.
 *
 * @param candidate  its id and distance are given; the rest is zero
 */
int sd_compare(const simidx_dedup *dedup, struct sd_thread *thread, struct sd_item *item,
	       struct sd_candidate *candidate, simidx_error *err);

#endif /* SD_COMPARE_H */
