/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_text.h - UTF-8 text to SimHash fingerprints (libsimidx-text, which needs ICU).
 *
 * The conventions of simidx.h hold here too. An extractor turns a text into weighted features,
 * simidx_sketch_make() turns those into a fingerprint. The steps:
 *
 *   1. UTF-8 (each maximal invalid sequence becomes U+FFFD), without characters that are never
 *      seen (Unicode's Default_Ignorable_Code_Point, such as soft hyphens and zero-width
 *      joiners; but U+200B, which separates words, stays) -> NFKC, which also replaces
 *      full-width forms -> case fold.
 *   2. Tokens. Words: the segments between ICU's word boundaries that have letters, digits or
 *      ideographs. Or, "han": each Han character, and other runs of letters, digits and marks.
 *      Or, "unspaced": the same, but each Thai, Lao, Khmer and Burmese letter and each kana is a
 *      token, too, together with the marks on it. Or single characters: letters, digits and
 *      marks, and one space for each run of others between them.
 *   3. Where asked for: neighbours that together spell a word of a list become one token, stop
 *      words are left out, what remains is stemmed. Pairs reach over what was left out.
 *   4. Features: the multiset of n-grams, n neighbouring tokens joined by byte 0x1f (characters
 *      by nothing), of the lengths asked for; all tokens of a text that has none of these.
 *   5. A weight for each, in 16.16 fixed point; the heaviest only, where asked for.
 *   6. simidx_feature_hash() of the feature's UTF-8 bytes; with a seed that is not 0, m(that ^
 *      m(seed)), where m is what splitmix64 makes of its state:
 *      m(x): x ^= x >> 30, x *= 0xbf58476d1ce4e5b9, x ^= x >> 27, x *= 0x94d049bb133111eb,
 *      x ^= x >> 31.
 *   7. For the second fingerprint, with words12 (but not by tfidf or with top): the set of runs of
 *      three tokens; all tokens of a text that has fewer; the one feature of a text that matches
 *      exactly (short_exact). All weigh 1. The hash of a run is m((a * q + b) * q + c), modulo
 *      2^64, where a, b and c are the simidx_feature_hash() of its tokens, 0 for those that a text
 *      does not have in front, and q is 0x9e3779b97f4a7c15; with a seed that is not 0 as in step
 *      6. The bits of the second fingerprint and its weights are those that simidx_sketch_make()
 *      makes of these for a first one. Its profile has "fp2=triples". Otherwise, and for an index
 *      of a profile without that, it is made from the features of the first one.
 *
 *   extractor  tokens      n-grams  weights  for
 *   words12    words       1, 2     sqrt     the default: separates best in weighted searches
 *   words1     words       1        sqrt     the best for plain k = 3
 *   han12      han         1, 2     sqrt     results that no update of ICU's dictionaries
 *                                            changes
 *   unspaced12 unspaced    1, 2     sqrt     the same, also for Thai, Lao, Khmer, Burmese, kana
 *   char-N     characters  N        sqrt     any script without a notion of words; N = 1..16
 *   tfidf      words       1        tfidf    topics of long texts, with an IDF dictionary: the
 *                                            20 heaviest; poor on short news
 *
 * Integer arithmetic throughout: with the same ICU word boundaries, fingerprints are equal on
 * every machine. What an index was made with is its profile; see simidx_text_profile().
 *
 * Without memory, functions return SIMIDX_E_NOMEM. But ICU does not always bear it when one
 * allocation after the other fails: it may crash or wait for ever then, inside any function that
 * takes a text or makes an extractor, and this library cannot prevent it.
 */

#ifndef SIMIDX_TEXT_H
#define SIMIDX_TEXT_H

#include <simidx.h>
#include <simidx_sketch.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/** An extractor, ready to use by one thread at a time. */
typedef struct simidx_text simidx_text;

/** Longest n-gram. */
#define SIMIDX_TEXT_MAX_GRAM 16

/** Texts with fewer tokens than this have fingerprints that one edit moves far. */
#define SIMIDX_SHORT_TOKENS 64

/** For simidx_text_options.top: keep all features; choose the number by the text's length. */
#define SIMIDX_TEXT_TOP_ALL UINT32_MAX
#define SIMIDX_TEXT_TOP_AUTO (UINT32_MAX - 1)

/** How to extract. Strings and lists are read while the extractor is made, not later. */
typedef struct simidx_text_options {
	size_t size;           /**< sizeof; SIMIDX_TEXT_OPTIONS_INIT sets it */
	const char *extractor; /**< a name of the table above; NULL = "words12" */
	unsigned bits;         /**< f, 16..64; 0 = 64 */
	/** Bit n - 1: n-grams are features, n up to SIMIDX_TEXT_MAX_GRAM; 0 = as the extractor
	    says. Not for char-N. */
	unsigned grams;
	/** NULL = as the extractor says, or with c occurrences in the text, all times 2^16 and
	    rounded down: "sqrt" sqrt(c), "log" 1 + ln(c), "raw" c, "binary" 1, "tfidf" c times
	    the feature's value in `idf`, at most 2^32 - 1 */
	const char *weights;
	/** Keep this many features, the heaviest, ties by smaller hash; 0 = as the extractor
	    says. SIMIDX_TEXT_TOP_AUTO: 16 or, if more, 4 times the square root of the number of
	    tokens, where the root is rounded down. */
	uint32_t top;
	const char *stop;      /**< stop words in here: "en", "zh" or "en,zh"; NULL = none */
	/** More stop words, UTF-8, one a line; normalised as texts are. NULL = none */
	const char *stop_words;
	size_t stop_words_size;
	/** Words that count as one token though step 2 may cut them, one a line; what follows
	    a blank is passed over, as in jieba's user dictionaries. NULL = none */
	const char *words;
	size_t words_size;
	/** "word idf" a line, as jieba's idf.txt.utf8, for the weights "tfidf". Pairs are two
	    words with a blank. Unknown features get the median of all. NULL = none */
	const char *idf;
	size_t idf_size;
	/** A language of libstemmer, such as "english"; NULL = none */
	const char *stem;
	/** Texts with fewer tokens are flagged SIMIDX_SKETCH_SHORT; 0 = SIMIDX_SHORT_TOKENS */
	uint32_t min_tokens;
	/** Not 0: such texts, if they have tokens, have one feature, all tokens of step 3 before
	    stop words are left out, so that only texts with the same words in the same order have
	    the same fingerprint, and others one that is far from all. */
	int short_exact;
	/** Of the hash; 0 = as the library is by itself. Another seed gives other fingerprints
	    that are as good: to see how much a result owes to chance. */
	uint64_t seed;
	/** Not 0: also a seed of 0 is given, and simidx_text_open_for() checks it. Another one is
	    given anyway. */
	int seed_given;
	/** What errors in `idf` call it, such as the name of its file; NULL = "IDF dictionary" */
	const char *idf_name;
} simidx_text_options;

#define SIMIDX_TEXT_OPTIONS_INIT                                                              \
	{ sizeof(simidx_text_options), NULL, 0, 0, NULL, 0, NULL, NULL, 0, NULL, 0, NULL, 0,  \
	  NULL, 0, 0, 0, 0, NULL }

/**
 * Make an extractor.
 *
 * @param options  NULL for the defaults
 * @param out      for simidx_text_close()
 * @return SIMIDX_OK; SIMIDX_E_ARG for an unknown extractor, weights, list or language (the text
 *         lists the known ones), numbers out of range, options that exclude each other,
 *         "tfidf" without a dictionary, or a list that cannot be read (the text tells its
 *         name and the line); SIMIDX_E_UNSUPPORTED when ICU lacks its word-boundary data, or
 *         for stemming without libstemmer
 *
 * Cost: O(1), and O(lines) of the lists. Each thread needs its own: simidx_text_clone().
 */
int simidx_text_open(const simidx_text_options *options, simidx_text **out, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/**
 * Make another extractor that does the same, for another thread. Lists are shared, so this
 * takes neither the time nor the memory for them again; each of the two may be closed first.
 *
 * @param text  not used by another thread meanwhile
 * @return SIMIDX_OK; SIMIDX_E_NOMEM; SIMIDX_E_ARG
 */
int simidx_text_clone(const simidx_text *text, simidx_text **out, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/** Free an extractor. NULL is allowed. */
void simidx_text_close(simidx_text *text);

/**
 * The fingerprint of a text.
 *
 * Any bytes are accepted: invalid UTF-8 becomes U+FFFD, NUL is a character like any other, an
 * empty text has no tokens and no features, fingerprint 0 and the flags SIMIDX_SKETCH_SHORT and
 * SIMIDX_SKETCH_EMPTY.
 *
 * @param utf8   `size` bytes; may be NULL when size is 0
 * @param size   at most 2^30
 * @param flags  any of SIMIDX_SKETCH_FP2, SIMIDX_SKETCH_WEIGHTS, SIMIDX_SKETCH_LEAST; or 0
 *               The least hashes are noted, and SIMIDX_SKETCH_LEAST is set in the result, if all
 *               words count as they are, each alone and with its neighbours: with extractor
 *               "words12", without other n-grams, lists or stems, and with SIMIDX_SKETCH_FP2
 * @param out    out->size must be set; n_tokens and the flag SIMIDX_SKETCH_SHORT tell how much
 *               the fingerprint rests on
 * @return SIMIDX_OK; SIMIDX_E_RANGE when the text is too long; SIMIDX_E_NOMEM
 *
 * Cost: O(size), in time and in memory, of which what a normal document needs is kept for the next
 * call: up to 40 times its size, unless simidx_text_limit() says less.
 */
int simidx_text_fingerprint(simidx_text *text, const void *utf8, size_t size, unsigned flags,
			    simidx_sketch *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Limit the memory in which simidx_text_fingerprint(), and the functions that call it, count
 * features. A text with more of them is walked several times, each time for a part of them; its
 * fingerprint stays the same. Not where the profile keeps the heaviest features only (`top`).
 *
 * @param bytes  at least 400 KB are used; 0 = no limit, as in the beginning
 */
void simidx_text_limit(simidx_text *text, size_t bytes);

/**
 * The query that finds what is near to a text, as simidx-query asks by default: the text's sketch,
 * and simidx_sketch_query() of that. A text without features finds nothing.
 *
 * @param text    made by simidx_text_open_for() for this index
 * @param utf8, size  as for simidx_text_fingerprint()
 * @param sketch  all of it is made; sketch->size must be set
 * @param out     for simidx_reader_search(); it points to the weights of the sketch. out->size
 *                must be set
 * @return SIMIDX_OK; SIMIDX_E_RANGE when the text is too long; SIMIDX_E_MISMATCH when the
 *         extractor makes fingerprints of another width than the index has; SIMIDX_E_NOMEM
 *
 * Cost: that of simidx_text_fingerprint().
 */
int simidx_text_query(simidx_text *text, const simidx *index, const void *utf8, size_t size,
		      simidx_sketch *sketch, simidx_query *out, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/**
 * The same for simidx_writer_put_if_new(): the text's sketch, whose fp and fp2 are those of the
 * document to store, and simidx_sketch_query_if_new() of that, which says what counts as near.
 */
int simidx_text_query_if_new(simidx_text *text, const simidx *index, const void *utf8,
			     size_t size, simidx_sketch *sketch, simidx_query *out,
			     simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * All features of a text with their bytes, the heaviest first, ties by smaller hash: to see why
 * texts match, or to count words.
 *
 * @param utf8   as for simidx_text_fingerprint()
 * @param callback  called for each feature, with bytes that are valid until it returns;
 *                  anything but 0 ends the call, which returns it
 * @return SIMIDX_OK; what `callback` returned; SIMIDX_E_RANGE; SIMIDX_E_NOMEM
 */
int simidx_text_each_feature(simidx_text *text, const void *utf8, size_t size,
			     int (*callback)(void *ctx, const simidx_feature *feature,
					     const char *bytes, size_t n_bytes),
			     void *ctx, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * All features of a text without their bytes, each once, in no particular order: those of its
 * first fingerprint, for simidx_sketch_make(), or to compare texts as sets of features. Where the
 * profile has fp2=triples, second fingerprints are made from others: not by these calls.
 *
 * @param utf8      as for simidx_text_fingerprint()
 * @param features  set to an array, valid until the next call with this extractor
 * @param n         set to their number
 * @return SIMIDX_OK; SIMIDX_E_RANGE when the text is too long; SIMIDX_E_NOMEM
 *
 * Cost: that of simidx_text_fingerprint(); less than that of simidx_text_each_feature().
 */
int simidx_text_features(simidx_text *text, const void *utf8, size_t size,
			 const simidx_feature **features, size_t *n, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/**
 * The hashes of all features of a text in the order in which they end in it, each as often as it
 * occurs: those of simidx_text_features() in another order, whatever weights and `top` say. To
 * compare texts as sets or sequences of n-grams, of any length in little memory.
 *
 * @param utf8      as for simidx_text_fingerprint()
 * @param callback  called with some after others, which are valid until it returns; anything but 0
 *                  ends the call, which returns it
 * @return SIMIDX_OK; what `callback` returned; SIMIDX_E_RANGE when the text is too long;
 *         SIMIDX_E_NOMEM
 *
 * Cost: less than that of simidx_text_features(), as nothing is counted; memory O(1), unless the
 * profile has short_exact.
 */
int simidx_text_each_hash(simidx_text *text, const void *utf8, size_t size,
			  int (*callback)(void *ctx, const uint64_t *hashes, size_t n), void *ctx,
			  simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * The inverse document frequency of a word: ln(1 + n_documents / n_with), in 16.16 fixed point,
 * rounded down. Integer arithmetic, so that dictionaries are equal on every machine.
 *
 * @param n_documents  documents in all, at most 2^40
 * @param n_with       of these have the word; 1..n_documents
 * @return 45426 (ln 2) or more; 0 for numbers out of range
 */
uint32_t simidx_text_idf(uint64_t n_documents, uint64_t n_with) SIMIDX_CONST;

/**
 * How this extractor works, as one line to store in an index (simidx_create_options.profile):
 * name, version, parameters and hashes of the lists, such as
 * "words12 v1 bits=64 grams=1,2 weights=sqrt hash=xxh3-64 seed=0 fp2=triples". What only flags
 * texts (min_tokens without short_exact) is not in it.
 *
 * @return a string that lives as long as the extractor
 */
const char *simidx_text_profile(const simidx_text *text);

/**
 * The fingerprints of fixed check texts in several scripts, to store in an index
 * (simidx_create_options.check_fps). Two installations that agree on them may share an index
 * whatever their ICU versions.
 *
 * @param n  set to their number
 * @return an array that lives as long as the extractor
 */
const uint64_t *simidx_text_check_fps(const simidx_text *text, size_t *n);

/**
 * Make an extractor that fits an index: the one that its profile describes.
 *
 * @param options  NULL, or what is to be checked: what is given must be as in the profile, what
 *                 is left at its default is taken from there. An index does not hold lists, only
 *                 their hashes, so lists must be given again
 * @return SIMIDX_OK; SIMIDX_E_MISMATCH when the index holds bare fingerprints, when its profile
 *         and the options differ, or when its check fingerprints differ from what this
 *         installation computes (the text tells what differs); SIMIDX_E_UNSUPPORTED when its
 *         extractor is not known here; otherwise as simidx_text_open()
 */
int simidx_text_open_for(simidx *index, const simidx_text_options *options, simidx_text **out,
			 simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * What the library runs on, for bug reports: a static string such as "ICU 72.1, libstemmer" or
 * "ICU 72.1".
 */
const char *simidx_text_build_info(void);

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* SIMIDX_TEXT_H */
