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

#define SX_SMALL_COUNTS 64

/**
 * The multiset of a text's words and pairs, while it is counted: an open-addressing table by
 * hash, with the count in place of the weight.
 */
typedef struct sx_features {
	simidx_feature *slot; /* weight 0 = free */
	size_t room;          /* slots allocated */
	size_t n_slots;       /* slots in use, a power of two */
	size_t n;             /* features */
	uint64_t n_words;
	uint32_t weight_of[SX_SMALL_COUNTS]; /* by count; 0 = not known yet */
} sx_features;

/** Begin a text of `text_size` bytes. */
int sx_features_begin(sx_features *features, size_t text_size, simidx_error *err);

/** Count the words of a batch that has been hashed, but the old one, and the pairs that end with
 * them. */
int sx_features_count(sx_features *features, const sx_words *words, simidx_error *err);

/** Count one feature; noting its bytes, if it is new and `names` is not NULL. */
int sx_features_add(sx_features *features, const char *bytes, size_t size, sx_gram_names *names,
		    simidx_error *err);

#endif /* SX_TEXT_FEATURES_H */
