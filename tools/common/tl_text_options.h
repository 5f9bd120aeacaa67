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
	/* what tl_text_open() passes on; its lists and size are set then */
	simidx_text_options how;
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

/**
 * Say on stderr how many texts nothing is near to, and how many others are short, if any. `empty`:
 * texts without words; `few`: texts below `min_tokens` tokens.
 */
void tl_text_tell_lengths(uint64_t empty, uint64_t few, unsigned min_tokens);

/** A feature as a reader knows it, with blanks between its tokens: for free(), NULL = no memory. */
char *tl_text_words(const char *bytes, size_t n);

/** Free the lists. */
void tl_text_options_free(struct tl_text_options *options);

#endif /* TL_TEXT_OPTIONS_H */
