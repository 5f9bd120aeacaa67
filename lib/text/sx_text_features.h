/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Words and pairs of words, or other n-grams -> counts.
 */

#ifndef SX_TEXT_FEATURES_H
#define SX_TEXT_FEATURES_H

#include <stddef.h>
#include <stdint.h>

#include <simidx_sketch.h>

#include "text/sx_text_tokens.h"
#include "text/sx_text_words.h"

/** Bytes of features, for those who want to see them. */
typedef struct sx_gram_names {
	sx_bytes bytes;
	struct sx_gram_name {
		uint64_t hash;
		size_t offset, size;
	} *name;
	size_t n, room;
} sx_gram_names;

/** Note the bytes of a feature that is new. */
int sx_gram_names_add(sx_gram_names *names, uint64_t hash, const char *bytes, size_t size,
		 simidx_error *err);

/** Put them in the order of their hashes. */
void sx_gram_names_sort(sx_gram_names *names);

/** The name of a hash, once they are in order; NULL if there is none. */
const struct sx_gram_name *sx_gram_names_find(const sx_gram_names *names, uint64_t hash);

/** Free what they hold. */
void sx_gram_names_free(sx_gram_names *names);

/** A part of all features: those whose hash has these bits, all at its top. All zero: all. */
typedef struct sx_part {
	uint64_t mask;
	uint64_t bits;
} sx_part;

static inline int sx_part_has(sx_part part, uint64_t hash)
{
	return (hash & part.mask) == part.bits;
}

/** The first half of a part, which is more than one hash. */
static inline sx_part sx_part_half(sx_part part)
{
	return (sx_part){ part.mask >> 1 | (uint64_t)1 << 63, part.bits };
}

/** Of parts that begin with the same hash, the smaller one. */
static inline sx_part sx_part_smaller(sx_part a, sx_part b)
{
	return a.mask > b.mask ? a : b;
}

/** Go on with the part behind it, which is as large. Returns 0: it was the last one. */
static inline int sx_part_next(sx_part *part)
{
	part->bits += part->mask & (0 - part->mask);
	return part->bits != 0;
}

#define SX_SMALL_COUNTS 64

/**
 * The multiset of a text's words and pairs, while it is counted: an open-addressing table by
 * hash, with the count in place of the weight.
 */
typedef struct sx_features {
	simidx_feature *slot; /* weight 0 = free */
	size_t room;          /* slots allocated */
	size_t n_slots;       /* slots in use, a power of two */
	size_t most_slots;    /* a power of two; 0 = any number */
	sx_part part;         /* what is counted: halved when it needs more slots */
	size_t n;             /* features */
	uint64_t n_words;
	uint32_t weight_of[SX_SMALL_COUNTS]; /* by count; 0 = not known yet */
} sx_features;

/** Begin a text of `text_size` bytes, of whose features those of a part are counted. */
int sx_features_begin(sx_features *features, size_t text_size, sx_part part, simidx_error *err);

/** Forget what is not in a part of features->part, which becomes this. */
int sx_features_narrow(sx_features *features, sx_part part, simidx_error *err);

/** Count the words of a batch that has been hashed, but the old one, and the pairs that end with
 * them. */
int sx_features_count(sx_features *features, const sx_words *words, simidx_error *err);

/** Count one feature; noting its bytes, if it is new and `names` is not NULL. */
int sx_features_add(sx_features *features, const char *bytes, size_t size, sx_gram_names *names,
		    simidx_error *err);

#endif /* SX_TEXT_FEATURES_H */
