/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_sketch.h - fingerprints from weighted features, and distances between fingerprints.
 *
 * The conventions of simidx.h hold here too. All functions are pure arithmetic and may be called
 * from any thread. simidx_text.h has those for texts.
 */

#ifndef SIMIDX_SKETCH_H
#define SIMIDX_SKETCH_H

#include <simidx.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/** Hamming distance: the number of bits in which two fingerprints differ, 0..64. */
unsigned simidx_distance(uint64_t a, uint64_t b) SIMIDX_CONST;

/**
 * Whether two fingerprints differ in at most `k` bits.
 *
 * @param k  radius in bits; SIMIDX_DEFAULT_RADIUS is usual for 64 bits
 * @return 1 or 0
 */
int simidx_is_near(uint64_t a, uint64_t b, unsigned k) SIMIDX_CONST;

/**
 * The 64-bit hash that turns a feature's bytes into bits: XXH3-64 with seed 0. It is the same
 * on every machine and in every version of the library.
 *
 * @param data  the bytes; may be NULL when size is 0
 * @param size  their number
 *
 * Cost: O(size).
 */
uint64_t simidx_feature_hash(const void *data, size_t size) SIMIDX_PURE;

/**
 * A feature of a text: a word, a pair of words, anything that can be hashed. Arrays of these are
 * given, so their size never changes.
 */
typedef struct simidx_feature {
	uint64_t hash;   /**< simidx_feature_hash() of it, or any other good 64-bit hash */
	uint32_t weight; /**< how much it counts; any unit, the same for all features of a text */
	uint32_t reserved; /**< zero */
} simidx_feature;

/** Least hashes that a sketch has at most. */
#define SIMIDX_SKETCH_MOST_LEAST 32

/**
 * A fingerprint with what was known when it was made.
 *
 * The least hashes are a sketch of the set of runs of five tokens of a text (bottom-k sketch: Cohen
 * and Kaplan, "Summarizing Data using Bottom-k Sketches", PODC 2007). Tokens are those of the
 * extractor "unspaced12". As hashes are spread evenly, they are a random sample of the set, and two
 * texts that have most of their runs in common have most of these in common.
 */
typedef struct simidx_sketch {
	size_t size;            /**< sizeof(simidx_sketch); SIMIDX_SKETCH_INIT sets it */
	uint64_t fp;            /**< the fingerprint, in the low `bits` bits */
	uint64_t fp2;           /**< the second fingerprint, always 64 bits; 0 if not asked for */
	int64_t sums[64];       /**< per bit: weights of features with it minus those without; 0
	                             from bit f on */
	int64_t sums2[64];      /**< the same for fp2 */
	uint8_t weights[64];    /**< per bit of fp: what a mismatch there says, 0..255 (below) */
	uint8_t weights2[64];   /**< per bit of fp2 */
	uint64_t n_features;    /**< features summed */
	uint64_t n_tokens;      /**< words of the text; set by libsimidx-text, else 0 */
	uint32_t bits;          /**< f */
	uint32_t flags;         /**< SIMIDX_SKETCH_ flags that were asked for, and results */
	uint64_t squares[2];    /**< the sum of the squared weights, the low half first */
	uint64_t least[SIMIDX_SKETCH_MOST_LEAST]; /**< the least hashes of runs of five tokens, each
	                             once, ascending; 0 behind them */
	uint64_t n_least;       /**< how many: fewer than the most only if there are no others */
} simidx_sketch;

#define SIMIDX_SKETCH_INIT                                                                    \
	{ sizeof(simidx_sketch), 0, 0, { 0 }, { 0 }, { 0 }, { 0 }, 0, 0, 0, 0, { 0 }, { 0 }, 0 }

#define SIMIDX_SKETCH_FP2 1u     /**< compute fp2, sums2 (and weights2, with _WEIGHTS) */
#define SIMIDX_SKETCH_WEIGHTS 2u /**< compute weights */
#define SIMIDX_SKETCH_SHORT 4u   /**< result: a text with few tokens (simidx_text_options) */
#define SIMIDX_SKETCH_TRIPLES 16u /**< result: fp2 was made from runs of three words */
#define SIMIDX_SKETCH_EMPTY 8u   /**< result: no feature has a weight above 0 */
#define SIMIDX_SKETCH_LEAST 32u  /**< note the least hashes; only libsimidx-text can */

/**
 * SimHash of weighted features (Charikar 2002; Manku et al., section 2).
 *
 * Bit b is 1 when the weights of the features whose hash has bit b exceed the weights of those
 * that have not; a tie gives 0. A text without features (flag SIMIDX_SKETCH_EMPTY) has
 * fingerprint 0, second fingerprint 0 and no weights: it is near to nothing, which searches know
 * by SIMIDX_QUERY_TEXT. The second fingerprint is the
 * same over XXH3-64, seed 0x9e3779b97f4a7c15, of the 8 little-endian bytes of each hash. The
 * query weight of a bit is min(255, round(32 |sum| / n)), n being the integer square root of
 * the sum of the squared weights: a bit with a small sum is the first to flip under an edit.
 * Integer arithmetic throughout, so results are equal on every machine. The order of the
 * features does not matter; a feature given twice counts twice.
 *
 * @param features  `n` features; may be NULL when n is 0
 * @param n         their number, at most 2^31
 * @param bits      f, SIMIDX_MIN_BITS..SIMIDX_MAX_BITS; bit b of the result comes from bit b
 *                  of the hashes
 * @param flags     0 or SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS
 * @param out       the result; out->size must be set
 * @return SIMIDX_OK; SIMIDX_E_ARG for bad bits, flags, n or out
 *
 * Cost: O(n).
 */
int simidx_sketch_make(const simidx_feature *features, size_t n, unsigned bits, unsigned flags,
		       simidx_sketch *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Add the features of another sketch: the result is what simidx_sketch_make() makes of those of
 * both. So features that do not fit into memory are summed in parts.
 *
 * @param sketch  of simidx_sketch_make(), changed
 * @param more    made with the same bits and flags. Of neither, SIMIDX_SKETCH_TRIPLES is set, as
 *                its second fingerprint is of other features
 * @return SIMIDX_OK; SIMIDX_E_ARG if they differ in that, or a size is not that of this version;
 *         SIMIDX_E_RANGE if both have more than 2^31 features
 *
 * Cost: O(1).
 */
int simidx_sketch_join(simidx_sketch *sketch, const simidx_sketch *more,
		       simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * What searches by the weights of a text use, with and without a second fingerprint: the
 * distance that counts as near, how many of the first one's bits that have a weight may differ
 * (simidx_query.max_bits is that and the number of bits of weight 0), and how many probes look
 * for it (plan 3x22 needs more, as most of its prefixes are longer). An index that is so small that
 * this is no less work is searched as a whole: SIMIDX_QUERY_SCAN_SMALL. _IF_NEW: what
 * simidx_sketch_query_if_new() uses instead. _SAME: for sketches whose second fingerprint was made
 * from the same features as the first one, and not from runs of three words
 * (SIMIDX_SKETCH_TRIPLES): those of simidx_sketch_make(), and of texts for older indexes.
 */
#define SIMIDX_TEXT_RADIUS 232
#define SIMIDX_TEXT_RADIUS_SAME 144
#define SIMIDX_TEXT_RADIUS_NO_FP2 59
#define SIMIDX_TEXT_RADIUS_IF_NEW 160
#define SIMIDX_TEXT_RADIUS_IF_NEW_SAME 112
#define SIMIDX_TEXT_BITS 14
#define SIMIDX_TEXT_BITS_IF_NEW 12
#define SIMIDX_TEXT_PROBES 64
#define SIMIDX_TEXT_PROBES_3X22 256

/**
 * The query that finds what is near to a text, as simidx-query asks by default: SIMIDX_QUERY_TEXT
 * with the fingerprints of a sketch, and with its weights, limits and probes as above. The second
 * fingerprint counts where both the sketch and the index have one. A sketch without weights gives
 * the plain distance, SIMIDX_DEFAULT_RADIUS bits. Any field may be changed before the search, such
 * as radius and radius2 together, for another distance that counts as near.
 *
 * @param sketch  best made with SIMIDX_SKETCH_WEIGHTS, and with SIMIDX_SKETCH_FP2 for an index
 *                with second fingerprints
 * @param out     for simidx_reader_search(); it points to the weights of the sketch. out->size
 *                must be set
 * @return SIMIDX_OK; SIMIDX_E_MISMATCH when the fingerprints of the index have another number
 *         of bits
 */
int simidx_sketch_query(const simidx *index, const simidx_sketch *sketch, simidx_query *out,
			simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * The query for simidx_writer_put_if_new(): what is so near to a text that the text is not new. It
 * is stricter than a search, as nobody looks at what it finds: by weights up to
 * SIMIDX_TEXT_RADIUS_IF_NEW, or _IF_NEW_SAME without SIMIDX_SKETCH_TRIPLES, where both the sketch
 * and the index have second fingerprints; else by the plain distance, SIMIDX_DEFAULT_RADIUS bits,
 * which finds fewer copies.
 *
 * Notices made from one template, such as weather, listings or earnings, can be as near to each
 * other as copies are. A program that stores such texts should keep those that were told to be
 * duplicates for somebody to look at, or compare the texts themselves, and not throw them away.
 *
 * @param sketch  best made with SIMIDX_SKETCH_WEIGHTS and SIMIDX_SKETCH_FP2. The document to store
 *                has fp and, where the index has them, fp2 of this sketch. A text without features
 *                (SIMIDX_SKETCH_EMPTY) is near to nothing, so each of them is new
 * @param out     as for simidx_sketch_query()
 * @return as simidx_sketch_query()
 */
int simidx_sketch_query_if_new(const simidx *index, const simidx_sketch *sketch,
			       simidx_query *out, simidx_error *err) SIMIDX_CHECK_RESULT;

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* SIMIDX_SKETCH_H */
