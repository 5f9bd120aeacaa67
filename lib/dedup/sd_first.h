/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * With which kept text another one is compared first, before it is searched: most copies of texts
 * of earlier batches are found so, and need no search.
 *
 * A kept text is noted under the first of its least hashes (SIMIDX_SKETCH_LEAST) that no text
 * before it has. A later text is compared with what is noted under the first of its hashes that
 * lead to something. Near texts have most of their least hashes in common. Where two texts are not
 * near, though both have the hash, it may be of something that many texts have, as a template or a
 * licence; where it has led some texts in vain, it leads nowhere any more.
 *
 * (Least hashes as keys of an index of near texts: Broder, "On the resemblance and containment of
 * documents", SEQUENCES 1997.)
 */

#ifndef SD_FIRST_H
#define SD_FIRST_H

#include <simidx_sketch.h>

/** A hash that has led so many texts to one that is not near leads nowhere any more. */
#define SD_FIRST_MOST_IN_VAIN 3

/** A text is compared with so many kept ones to which its hashes lead, at most. */
#define SD_FIRST_MOST 3

struct sd_first;

/**
 * Memory: 64 kB at first, and up to 32 bytes for each text that was added. Where that is more than
 * there is, later texts are not noted.
 *
 * @param most_bytes  of memory
 * @return NULL when memory is short
 */
struct sd_first *sd_first_open(uint64_t most_bytes);

/** NULL is allowed. */
void sd_first_close(struct sd_first *first);

/**
 * Note a kept text, unless another one is or was noted under the hash.
 *
 * @param hash  one of its least hashes
 * @param id    of its document; not noted from 2^30 on
 * @return 0 or the code in err: SIMIDX_E_NOMEM
 */
int sd_first_add(struct sd_first *first, uint64_t hash, uint64_t id, simidx_error *err);

/**
 * Find what a text is to be compared with.
 *
 * @param at    which of its hashes is looked up first, from 0; set behind the one that was found
 * @param hash  set to the hash that both have, unless by chance another one with the same 32 low
 *              bits is noted
 * @param id    set to the document
 * @return 1, or 0: there is nothing
 *
 * Cost: some cache misses at once. Any number of threads, while nothing is added or in vain.
 */
int sd_first_find(const struct sd_first *first, const simidx_sketch *sketch, size_t *at,
		  uint64_t *hash, uint64_t *id);

/**
 * A hash that was found has led a text in vain.
 *
 * @return 0 or the code in err: SIMIDX_E_NOMEM
 */
int sd_first_in_vain(struct sd_first *first, uint64_t hash, simidx_error *err);

/*
 * For a file, in which a later run finds what was noted (sd_seen_file.h). What a hash leads to is
 * a slot of 8 bytes (doc/format.md).
 */

/** Note which slots change from now on; or do not, and forget those. */
void sd_first_note_changes(struct sd_first *first, int on);

/** How many changes were noted. */
size_t sd_first_changed(const struct sd_first *first);

/** Get the slots that have changed, as many as sd_first_changed() says, and forget the changes. */
void sd_first_take_changed(struct sd_first *first, uint64_t *slot);

/** Set a slot that a file has, unless memory is used up. Returns 0 or SIMIDX_E_NOMEM. */
int sd_first_set(struct sd_first *first, uint64_t slot, simidx_error *err);

/** All n slots. NULL: there are none yet. */
const uint64_t *sd_first_table(const struct sd_first *first, uint64_t *n);

/**
 * Have n slots, where there is none yet; they are for the caller to set, who then counts them.
 *
 * @return NULL where a table never has so many slots, or there is no memory for them
 */
uint64_t *sd_first_slots(struct sd_first *first, uint64_t n);

/** Count the slots that were set so. -1: there are too many to be a table of this kind. */
int sd_first_count(struct sd_first *first);

#endif /* SD_FIRST_H */
