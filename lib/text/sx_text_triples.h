/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Runs of three tokens, each once: what the second fingerprint is made from.
 */

#ifndef SX_TEXT_TRIPLES_H
#define SX_TEXT_TRIPLES_H

#include <stddef.h>
#include <stdint.h>

#include <simidx_sketch.h>

#include "text/sx_text_words.h"

/** A set of features of weight 1. All zero is an empty one. */
typedef struct sx_triples {
	simidx_feature *list; /* those that are in it, in the order in which they came */
	size_t n, room;
	uint64_t *slot;       /* an open-addressing table of their hashes; 0 = free */
	size_t n_slots;       /* a power of two, at least twice `n`; or 0 */
	size_t slot_room;
} sx_triples;

/** Begin a text: the set becomes empty. */
void sx_triples_begin(sx_triples *triples);

/** Add one. */
int sx_triples_add(sx_triples *triples, const char *bytes, size_t size, simidx_error *err);

/** Add those that end with the words of a batch, but the old ones. */
int sx_triples_add_words(sx_triples *triples, const sx_words *words, simidx_error *err);

/** End a text of which sx_triples_add_words() got the words: all of one or two is in the set. */
int sx_triples_end_words(sx_triples *triples, const sx_words *words, simidx_error *err);

/** Put the hashes under a seed. Nothing more can be added. */
void sx_triples_finish(sx_triples *triples, uint64_t seed);

/** Bytes that are allocated. */
size_t sx_triples_bytes(const sx_triples *triples);

/** Free what it holds; it is empty then. */
void sx_triples_free(sx_triples *triples);

#endif /* SX_TEXT_TRIPLES_H */
