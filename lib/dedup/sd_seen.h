/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Which texts share too little with all that came before for any of that to be near to them, so
 * that they need not be searched. Most texts of most collections are such.
 *
 * A text is known by the least hashes of its runs of five tokens (SIMIDX_SKETCH_LEAST), a random
 * sample of its shingles. What came before is a set of such hashes, a Bloom filter: it says of some
 * hashes wrongly that they are there, and then a text is searched in vain; never that they are not.
 * Texts are divided among some filters, by the time that they come, and each counts by itself.
 * Of the shingles of a text a share `similarity` at least is in a text that it is near to. So many
 * must be seen of a short text, all of whose shingles are known. Of the first SD_SEEN_ASKED least
 * hashes of a longer one about that share is seen; fewer than some are with a chance below
 * SD_SEEN_CHANCE, and then it is new.
 *
 * (Bloom filter: Bloom, "Space/time trade-offs in hash coding with allowable errors", CACM 1970. In
 * cache lines: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", WEA
 * 2007.)
 */

#ifndef SD_SEEN_H
#define SD_SEEN_H

#include <simidx_sketch.h>

/** So many of the least hashes of a text that has more are looked up. All are added:
 * what is among the first ones of a text is further behind in one with more features. */
#define SD_SEEN_ASKED 24

/** Of a longer text that is exactly as similar to an earlier one as is asked for: to be new. */
#define SD_SEEN_CHANCE 1e-3

/** Bytes of the smallest set. */
#define SD_SEEN_LEAST 64

struct sd_seen;

/**
 * Memory: 4 MB at first, and up to 64 bytes for each text that was added. With less than 32 for
 * each, fewer and fewer are told to be new.
 *
 * @param similarity  of texts that are near, above 0 and at most 1
 * @param most_bytes  of memory, at least SD_SEEN_LEAST
 * @return NULL when memory is short
 */
struct sd_seen *sd_seen_open(double similarity, uint64_t most_bytes);

/** NULL is allowed. */
void sd_seen_close(struct sd_seen *seen);

/**
 * Whether a text shares too little with all that was added for any of it to be near to it.
 *
 * @param sketch  with SIMIDX_SKETCH_LEAST; others are never new
 * @param own     set to the first of its hashes that were not seen; or 0: there is none, as far as
 *                they were looked up
 * @return 1 or 0
 *
 * Cost: some cache misses at once.
 */
int sd_seen_is_new(const struct sd_seen *seen, const simidx_sketch *sketch, uint64_t *own);

/**
 * Add a text.
 *
 * @return 0 or the code in err: SIMIDX_E_NOMEM
 */
int sd_seen_add(struct sd_seen *seen, const simidx_sketch *sketch, simidx_error *err);

/** The same of n hashes of a text, or of several, which all come into one filter. */
int sd_seen_add_hashes(struct sd_seen *seen, const uint64_t *hash, size_t n, simidx_error *err);

/** Whether the memory is used up, so that fewer and fewer texts are told to be new. */
int sd_seen_is_full(const struct sd_seen *seen);

/** As sd_seen_open() was told. */
uint64_t sd_seen_most_bytes(const struct sd_seen *seen);

/** A filter of the set, for a file. */
struct sd_seen_filter {
	uint64_t *word; /* `lines` times SD_SEEN_LEAST bytes */
	uint64_t lines; /* below 2^32 */
	uint64_t room;  /* for so many hashes more */
};

/** Filter number i, from 0. Returns NULL behind the last one. */
const struct sd_seen_filter *sd_seen_filter(const struct sd_seen *seen, unsigned i);

/**
 * Add a filter that a file has, behind the others; its words are for the caller to set.
 *
 * @return NULL where it has no line or too many, or there is no memory for it
 */
uint64_t *sd_seen_add_filter(struct sd_seen *seen, uint64_t lines, uint64_t room);

#endif /* SD_SEEN_H */
