/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Tokens -> n-grams.
 */

#ifndef SX_TEXT_GRAMS_H
#define SX_TEXT_GRAMS_H

#include <stddef.h>
#include <stdint.h>

#include <simidx_text.h>

#include "text/sx_text_features.h"
#include "text/sx_text_settings.h"
#include "text/sx_text_tokens.h"
#include "text/sx_text_triples.h"

/** Hashes that are handed on together. */
#define SX_HASHES_AT_ONCE 1024

/** Hashes of features, of which some are gathered and then handed on. */
typedef struct sx_hashes {
	uint64_t at[SX_HASHES_AT_ONCE];
	size_t n;
	uint64_t seed; /* that they get */
	int (*take)(void *ctx, const uint64_t *hashes, size_t n);
	void *ctx;
} sx_hashes;

/** Hand on what is gathered. Returns what hashes->take() does. */
int sx_hashes_hand_on(sx_hashes *hashes);

/** Makes n-grams of the tokens of one text. */
typedef struct sx_grams {
	unsigned lengths;  /* bit n - 1: n-grams */
	unsigned longest;
	int joint;         /* byte between tokens; -1 = none */
	sx_features *features;
	sx_hashes *hashes;     /* NULL, or where hashes go in place of features */
	sx_triples *triples;   /* NULL, or the set of runs of three tokens */
	sx_gram_names *names;   /* NULL, or where the bytes of features go */
	sx_bytes bytes;    /* the last tokens */
	size_t start[SIMIDX_TEXT_MAX_GRAM]; /* of the last ones, a ring */
	uint64_t n;        /* tokens so far */
} sx_grams;

/** Begin a text; n-grams are counted as features, unless grams->hashes is set then. */
void sx_grams_begin(sx_grams *grams, const sx_settings *settings,
		    sx_features *features, sx_triples *triples, sx_gram_names *names);

/** Count the n-grams that end with this token; an sx_take_token. */
int sx_grams_take(void *grams, const char *bytes, size_t size, simidx_error *err);

/** End a text: one with fewer tokens than its shortest n-grams is a single feature. */
int sx_grams_end(sx_grams *grams, simidx_error *err);

#endif /* SX_TEXT_GRAMS_H */
