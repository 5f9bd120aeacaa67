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

#include "text/sx_text_features.h"

/** A set of features of weight 1. All zero before the first text. */
typedef struct sx_triples {
	simidx_feature *list; /* those that are in it, in the order in which they came */
	size_t n, room;
	uint64_t *slot;       /* an open-addressing table of their hashes; 0 = free */
	size_t n_slots;       /* a power of two, at least twice `n` */
	size_t slot_room;
	size_t most_slots;    /* a power of two; 0 = any number */
	sx_part part;         /* what is added: halved when it needs more slots */
	uint64_t n_tokens;    /* so far */
	uint64_t last[2];     /* the hashes of the last two; 0 = there was none */
} sx_triples;

/** Begin a text of `text_size` bytes, of whose runs those of a part are added: the set is empty. */
int sx_triples_begin(sx_triples *triples, size_t text_size, sx_part part, simidx_error *err);

/** Forget what is not in a part of triples->part, which becomes this. */
int sx_triples_narrow(sx_triples *triples, sx_part part, simidx_error *err);

/** Add the runs that end with these tokens, of which the hashes are given. */
int sx_triples_add(sx_triples *triples, const uint64_t *token, size_t n, simidx_error *err);

/** All tokens of a text that has one or two are in the set; put the hashes under a seed. */
int sx_triples_finish(sx_triples *triples, uint64_t seed, simidx_error *err);

/** Bytes that are allocated. */
size_t sx_triples_bytes(const sx_triples *triples);

/** Free what it holds; it is empty then. */
void sx_triples_free(sx_triples *triples);

#endif /* SX_TEXT_TRIPLES_H */
