/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_text.h - UTF-8 text to SimHash fingerprints (libsimidx-text, which needs ICU).
 *
 * The conventions of simidx.h hold here too. An extractor turns a text into weighted features,
 * simidx_hash_features() turns those into a fingerprint. The default, "words12":
 *
 *   UTF-8 (each maximal invalid sequence becomes U+FFFD) -> NFKC -> case fold -> ICU word
 *   boundaries (words are the segments with letters, digits or ideographs) -> the multiset of
 *   words and of pairs of adjacent words, joined by byte 0x1f -> weight sqrt(count) in 16.16
 *   fixed point -> simidx_hash_bytes() of the feature's UTF-8 bytes.
 *
 * Integer arithmetic throughout: with the same ICU word boundaries, fingerprints are equal on
 * every machine.
 */

#ifndef SIMIDX_TEXT_H
#define SIMIDX_TEXT_H

#include <simidx.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/** An extractor, ready to use by one thread at a time. */
typedef struct simidx_text simidx_text;

/** How to extract. */
typedef struct simidx_text_options {
	size_t size;           /**< sizeof; SIMIDX_TEXT_OPTIONS_INIT sets it */
	const char *extractor; /**< "words12"; NULL = the default */
	unsigned bits;         /**< f, 16..64; 0 = 64 */
} simidx_text_options;

#define SIMIDX_TEXT_OPTIONS_INIT { sizeof(simidx_text_options), NULL, 0 }

/**
 * Make an extractor.
 *
 * @param options  NULL for the defaults
 * @param out      for simidx_text_close()
 * @return SIMIDX_OK; SIMIDX_E_ARG for an unknown extractor (the text lists the known ones) or
 *         bits out of range; SIMIDX_E_UNSUPPORTED when ICU lacks its word-boundary data
 *
 * Cost: some milliseconds. Each thread opens its own.
 */
int simidx_text_open(const simidx_text_options *options, simidx_text **out, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/** Free an extractor. NULL is allowed. */
void simidx_text_close(simidx_text *text);

/**
 * The fingerprint of a text.
 *
 * Any bytes are accepted: invalid UTF-8 becomes U+FFFD, NUL is a character like any other, an
 * empty text has fingerprint 0, no tokens and the flag SIMIDX_SKETCH_SHORT.
 *
 * @param utf8   `size` bytes; may be NULL when size is 0
 * @param size   at most 2^30
 * @param flags  0 or SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS
 * @param out    out->size must be set; n_tokens and the flag SIMIDX_SKETCH_SHORT tell how much
 *               the fingerprint rests on
 * @return SIMIDX_OK; SIMIDX_E_RANGE when the text is too long; SIMIDX_E_NOMEM
 *
 * Cost: linear in the text; memory about 40 times the text at worst, of which what a normal
 * document needs is kept for the next call.
 */
int simidx_text_fingerprint(simidx_text *text, const void *utf8, size_t size, unsigned flags,
			    simidx_sketch *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * How this extractor works, as one line to store in an index (simidx_create_options.profile):
 * name, version and parameters, such as "words12 v1 bits=64".
 *
 * @return a string that lives as long as the extractor
 */
const char *simidx_text_profile(const simidx_text *text);

/**
 * The fingerprints of fixed probe texts in several scripts, to store in an index
 * (simidx_create_options.probes). Two installations that agree on them may share an index
 * whatever their ICU versions.
 *
 * @param n  set to their number
 * @return an array that lives as long as the extractor
 */
const uint64_t *simidx_text_probes(const simidx_text *text, size_t *n);

/**
 * Make an extractor that fits an index: the one that its profile names.
 *
 * @return SIMIDX_OK; SIMIDX_E_MISMATCH when the index holds bare fingerprints, or its probe
 *         fingerprints differ from what this installation computes (the text tells which);
 *         SIMIDX_E_UNSUPPORTED when its extractor is not known here
 */
int simidx_text_open_for(simidx *index, simidx_text **out, simidx_error *err) SIMIDX_CHECK_RESULT;

/** Versions of ICU and of its data, for bug reports: a static string such as "ICU 72.1". */
const char *simidx_text_build_info(void);

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* SIMIDX_TEXT_H */
