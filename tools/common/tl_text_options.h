/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How texts become fingerprints: the options that both tools have for it, and extractors as they
 * say. Without ICU, tl_text_none.c stands for libsimidx-text, and every call fails.
 */

#ifndef TL_TEXT_OPTIONS_H
#define TL_TEXT_OPTIONS_H

#include <simidx_text.h>

#include "common/tl_options.h"

/** What to do about texts with few tokens. */
enum tl_short { TL_SHORT_NOT_GIVEN, TL_SHORT_FLAG, TL_SHORT_REJECT, TL_SHORT_EXACT };

/** A list of words, read from files. */
struct tl_list {
	char *data;  /* NULL = none was given */
	size_t size;
};

/** Options about texts; all zero are the defaults. Strings are borrowed, lists are owned. */
struct tl_text_options {
	simidx_text_options how;   /* what tl_text_open() passes on; its lists and size are set then */
	struct tl_list stop;       /* --stop FILE */
	struct tl_list words;      /* --words */
	struct tl_list idf;        /* --idf */
	enum tl_short short_texts; /* --short */
	const char *given;         /* the first of them that was given, or NULL */
};

/**
 * The options: those that say how a text is cut into features, with a dictionary of its own; and
 * all of them, with what becomes of the features. Their struct is struct tl_text_options.
 */
extern const struct tl_option tl_text_cutting_rows[];
extern const struct tl_option tl_text_rows[];

/** Values of the options for getopt_long(), above those of the tools and of in_columns.h. */
enum tl_text_option {
	TL_OPT_EXTRACTOR = 2000,
	TL_OPT_GRAMS,
	TL_OPT_IDF,
	TL_OPT_MIN_TOKENS,
	TL_OPT_SEED,
	TL_OPT_SHORT,
	TL_OPT_STEM,
	TL_OPT_STOP,
	TL_OPT_TOP,
	TL_OPT_WEIGHTS,
	TL_OPT_WORDS
};

/** Entries for an array of struct option. */
#define TL_TEXT_OPTIONS                                                 \
	{ "extractor", required_argument, NULL, TL_OPT_EXTRACTOR },     \
	{ "grams", required_argument, NULL, TL_OPT_GRAMS },             \
	{ "idf", required_argument, NULL, TL_OPT_IDF },                 \
	{ "min-tokens", required_argument, NULL, TL_OPT_MIN_TOKENS },   \
	{ "seed", required_argument, NULL, TL_OPT_SEED },               \
	{ "short", required_argument, NULL, TL_OPT_SHORT },             \
	{ "stem", required_argument, NULL, TL_OPT_STEM },               \
	{ "stop", required_argument, NULL, TL_OPT_STOP },               \
	{ "top", required_argument, NULL, TL_OPT_TOP },                 \
	{ "weights", required_argument, NULL, TL_OPT_WEIGHTS },         \
	{ "words", required_argument, NULL, TL_OPT_WORDS }

/** Lines about them for --help. */
#define TL_TEXT_HELP                                                                        \
	"  --extractor NAME     words12 (default): words and pairs of neighbours; words1:", \
	"                       words; han12: Han characters and words, and pairs;",        \
	"                       char-N: N characters in a row; tfidf: the 20 words that",   \
	"                       weigh most by --idf",                                       \
	"  --grams N[,N]...     so many neighbouring tokens are a feature, 1..16",          \
	"  --weights HOW        what a feature counts that occurs c times: sqrt (default)", \
	"                       of c; log: 1 + ln c; raw: c; binary: 1; tfidf: c times",    \
	"                       its value in --idf",                                        \
	"  --top N|auto|all     only the N features that weigh most; auto: 4 times the",    \
	"                       square root of the number of tokens, at least 16",          \
	"  --idf FILE           lines \"word idf\" for --weights tfidf, as jieba has them", \
	"                       or 'simidx-query idf' writes them",                       \
	"  --stop en|zh|FILE    leave out words: English or Chinese ones, or those of a",   \
	"                       file, one a line; may be repeated",                         \
	"  --words FILE         words that stay in one piece, one a line; may be repeated", \
	"  --stem LANGUAGE      stem words, as libstemmer does for english, german, ...",   \
	"  --seed N             another hash, whose fingerprints are others and as good",   \
	"                       (default 0)",                                               \
	"  --min-tokens N       a text with fewer tokens is short (default 64)",            \
	"  --short WHAT         short texts: flag (default): tell how many there are;",     \
	"                       reject: leave them out; exact: they match only texts with", \
	"                       the same words in the same order"

/**
 * Take one of these options; files are read.
 *
 * @param c      what tl_next_option() returned
 * @param value  its argument; borrowed
 * @return 0, -1 after a message, 1 if it is none of them
 */
int tl_text_take(struct tl_text_options *options, int c, const char *value);

/** Whether an option was given that changes fingerprints. */
int tl_text_is_given(const struct tl_text_options *options);

/** Tokens below which a text is short. */
uint32_t tl_text_min_tokens(const struct tl_text_options *options);

/** As simidx_text_open(). */
int tl_text_open(const struct tl_text_options *options, unsigned bits, simidx_text **out,
		 simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * As simidx_text_open_for(). SIMIDX_E_MISMATCH also for `--short flag` where the index was made
 * with `--short exact`.
 */
int tl_text_open_for(simidx *index, const struct tl_text_options *options, simidx_text **out,
		     simidx_error *err) SIMIDX_CHECK_RESULT;

/** Free the lists. */
void tl_text_options_free(struct tl_text_options *options);

#endif /* TL_TEXT_OPTIONS_H */
