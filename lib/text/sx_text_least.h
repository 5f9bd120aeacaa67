/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The least hashes of runs of five tokens: SIMIDX_SKETCH_LEAST. Tokens are those of the extractor
 * "unspaced12", which shingles are made of: "snake_case" and "3.14" have two each, and a letter of
 * a script without spaces between words is one. Of ASCII the words of the fingerprint are cut once
 * more, as most of them are tokens that have been hashed; other stretches are cut by themselves.
 */

#ifndef SX_TEXT_LEAST_H
#define SX_TEXT_LEAST_H

#include <stddef.h>
#include <stdint.h>

#include <simidx_sketch.h>

#include "text/sx_text_words.h"

/** Tokens whose runs are hashed together, so that the CPU does so side by side. */
#define SX_LEAST_TOKENS 256

typedef struct sx_least {
	uint64_t hash[SIMIDX_SKETCH_MOST_LEAST + 1]; /* `n` of them, ascending, each once; and room
	                      for one that is dropped */
	size_t n;
	uint64_t token[SX_LEAST_TOKENS]; /* the hashes of the last ones, `n_tokens` of them */
	size_t n_tokens;
} sx_least;

/** Begin a text. */
void sx_least_begin(sx_least *least);

/**
 * Add the runs that end with the words of a batch that has been hashed, but the old one. All is
 * ASCII.
 *
 * @param token  a buffer
 * @return 0 or the code in err: SIMIDX_E_NOMEM
 */
int sx_least_add(sx_least *least, const sx_words *words, sx_bytes *token, simidx_error *err);

/** Add a token of a stretch that is not all ASCII: an sx_take_token. After the last one flush. */
int sx_least_take(void *least, const char *bytes, size_t size, simidx_error *err);

/** Add the runs that end with the tokens so far. */
void sx_least_flush(sx_least *least);

/** What a sketch has of the text so far. */
void sx_least_finish(const sx_least *least, simidx_sketch *sketch);

#endif /* SX_TEXT_LEAST_H */
