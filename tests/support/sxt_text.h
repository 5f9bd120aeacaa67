/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the tests of libsimidx-text share: sketches that are put together without it. Words are
 * counted by sorting strings, weights come from long double arithmetic.
 */

#ifndef SXT_TEXT_H
#define SXT_TEXT_H

#include <stddef.h>

#include <simidx.h>
#include <simidx_text.h>

#define SXT_SKETCH_ALL (SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS)

/** Zeroed memory; the test fails when there is none. */
void *sxt_alloc(size_t size);

/** The feature of these bytes, found `count` times. */
void sxt_feature(simidx_feature *feature, const char *bytes, size_t size, unsigned count);

/** The feature of a run of tokens, joined by byte 0x1f, of which a second fingerprint is made. */
void sxt_run(simidx_feature *feature, const char *bytes, size_t size);

/** Give a sketch the second fingerprint, with its sums and weights, of `n` runs of three words. */
void sxt_set_triples(simidx_sketch *sketch, const simidx_feature *triples, size_t n);

/** What the sketch of a text with these words, separated by '|', has to be. */
simidx_sketch sxt_sketch_of_words(const char *words, unsigned bits);

/** The sketch that an extractor makes, with all that can be asked for. */
simidx_sketch sxt_sketch_of_text(simidx_text *text, const void *utf8, size_t size);

/** Assert that all of two sketches is equal; `what` names the case. */
void sxt_assert_sketch(const simidx_sketch *got, const simidx_sketch *want, const char *what);

#endif /* SXT_TEXT_H */
