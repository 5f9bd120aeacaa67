/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is remembered of the shingles of texts that were compared: how many they are, and the
 * smallest ones. Where a crowd of texts is made from one template, each is compared with many
 * others in vain, and this says so for nearly all of them without their texts.
 *
 * Let two sets have a and b shingles, in ascending order. Of a merge of both that has passed i and
 * j of them and has met c in both, at most c + min(a - i, b - j) can be in both in the end. When
 * that is too few, the merge can stop. Shingles are hashes, so the first ones are as good a sample
 * as any. Here they have 32 bits, which can only make two of them equal that are not: so a "no" is
 * certain, and all else is left to the texts.
 *
 * Memory is fixed: a text takes the place of another one. Thread rules: any thread, any time.
 */

#ifndef SD_PREFIXES_H
#define SD_PREFIXES_H

#include "dedup/sd_shingles.h"

struct sd_prefixes;

/**
 * Begin.
 *
 * @param bytes  of memory, which is not touched before it is needed; room for one text is always
 *               there
 * @return NULL when memory is short
 */
struct sd_prefixes *sd_prefixes_new(uint64_t bytes);

/** NULL is allowed. */
void sd_prefixes_free(struct sd_prefixes *prefixes);

/** Remember the shingles of text number `handle`, which has some. */
void sd_prefixes_put(struct sd_prefixes *prefixes, uint64_t handle,
		     const struct sd_shingles *set);

/**
 * Whether a text is certainly less similar to text number `handle` than `similarity`, in the sense
 * of sd_shingles_jaccard().
 *
 * @param set  shingles of the one
 * @return 0: not known. Cost: a merge of at most SD_PREFIX shingles of the other
 */
int sd_prefixes_exclude(struct sd_prefixes *prefixes, uint64_t handle,
			const struct sd_shingles *set, double similarity);

/** Shingles that are remembered of a text. */
#define SD_PREFIX 128

#endif /* SD_PREFIXES_H */
