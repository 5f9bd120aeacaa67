/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * From a stretch of normalised text to tokens, and from tokens to n-grams:
 *
 *   sx_text_ignore.c  drops what is never seen, before the stretch is normalised
 *   sx_text_han.c     Han characters and runs of letters
 *   sx_text_chars.c   single characters
 *   sx_text_filter.c  user's words, stop words, stems
 *   sx_text_stem.c    libstemmer, or that there is none
 *   sx_text_grams.c   tokens -> n-grams
 *
 * words12 without any of the lists does not come here: it counts its words and pairs where they
 * lie (sx_text_words.c, sx_text_features.c), which is faster.
 */

#ifndef SX_TEXT_TOKENS_H
#define SX_TEXT_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include <unicode/utypes.h>

#include "text/sx_text_lists.h"

/** Growing bytes. All zero is the empty one. */
typedef struct sx_bytes {
	char *at;
	size_t n, room;
} sx_bytes;

/** Append. */
int sx_bytes_add(sx_bytes *bytes, const void *data, size_t size, simidx_error *err);

/** Takes a token; the bytes are valid until it returns. Returns 0 or a SIMIDX_E_ code. */
typedef int sx_take_token(void *ctx, const char *bytes, size_t size, simidx_error *err);

/** Remove the default-ignorable characters but U+200B. Returns how many units are left. */
size_t sx_drop_ignorable(UChar *units, size_t n);

/** Cut a stretch into Han characters, each alone, and runs of other letters and digits. */
int sx_han_split(const UChar *units, size_t n, sx_bytes *token, sx_take_token *take, void *ctx,
		 simidx_error *err);

/** What cutting into characters keeps from one stretch to the next. All zero begins a text. */
typedef struct sx_chars {
	int begun;  /* there was a character */
	int gap;    /* since then, what is no letter */
} sx_chars;

/** Cut a stretch into single characters, and one space for all that lies between words. */
int sx_chars_split(sx_chars *chars, const UChar *units, size_t n, sx_take_token *take, void *ctx,
		   simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * N-grams
 */

/** Bytes of features, for those who want to see them. */
typedef struct sx_gram_names {
	sx_bytes bytes;
	struct sx_gram_name {
		uint64_t hash;
		size_t offset, size;
	} *name;
	size_t n, room;
} sx_gram_names;

/** Note the bytes of a feature that is new. */
int sx_gram_names_add(sx_gram_names *names, uint64_t hash, const char *bytes, size_t size,
		 simidx_error *err);

/** Put them in the order of their hashes. */
void sx_gram_names_sort(sx_gram_names *names);

/** The name of a hash, once they are in order; NULL if there is none. */
const struct sx_gram_name *sx_gram_names_find(const sx_gram_names *names, uint64_t hash);

/** Free what they hold. */
void sx_gram_names_free(sx_gram_names *names);

struct sx_features;

/** Makes n-grams of the tokens of one text. */
typedef struct sx_grams {
	unsigned lengths;  /* bit n - 1: n-grams */
	unsigned longest;
	int joint;         /* byte between tokens; -1 = none */
	struct sx_features *features;
	sx_gram_names *names;   /* NULL, or where the bytes of features go */
	sx_bytes bytes;    /* the last tokens */
	size_t start[SIMIDX_TEXT_MAX_GRAM]; /* of the last ones, a ring */
	uint64_t n;        /* tokens so far */
} sx_grams;

/** Begin a text. */
void sx_grams_begin(sx_grams *grams, const sx_settings *settings,
		    struct sx_features *features, sx_gram_names *names);

/** Count the n-grams that end with this token; an sx_take_token. */
int sx_grams_take(void *grams, const char *bytes, size_t size, simidx_error *err);

/** End a text: one with fewer tokens than its shortest n-grams is a single feature. */
int sx_grams_end(sx_grams *grams, simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * Filters
 */

/** A stemmer, or NULL for none. */
typedef struct sx_stem sx_stem;

/** Open one: SIMIDX_E_ARG for an unknown language, SIMIDX_E_UNSUPPORTED without libstemmer. */
int sx_stem_open(const char *language, sx_stem **out, simidx_error *err);

/** The stem of a word, valid until the next one is asked for; may be of length 0. */
int sx_stem_word(sx_stem *stem, const char *word, size_t size, const char **out,
		 size_t *out_size, simidx_error *err);

/** Free one. NULL is allowed. */
void sx_stem_close(sx_stem *stem);

/** What to add to the build info: "" or ", libstemmer". */
const char *sx_stem_build_info(void);

/** So many tokens may spell one word of the user's. */
#define SX_MAX_JOINED 16

/** What stands between tokens and n-grams. */
typedef struct sx_filter {
	const sx_lists *lists;
	sx_stem *stem;
	sx_take_token *take; /* gets what remains */
	void *ctx;
	sx_bytes waiting;    /* tokens that may begin one of the user's words */
	size_t end[SX_MAX_JOINED];
	size_t n_waiting;
	int whole_wanted;    /* keep the whole text, too */
	sx_bytes whole;      /* all tokens before any is left out, with joints */
	int joint;           /* between them; -1 = none */
	uint64_t n_whole;
} sx_filter;

/** Begin a text. */
void sx_filter_begin(sx_filter *filter, const sx_lists *lists, int whole_wanted, int joint);

/** Take a token; an sx_take_token. */
int sx_filter_take(void *filter, const char *bytes, size_t size, simidx_error *err);

/** Hand on what waits. */
int sx_filter_end(sx_filter *filter, simidx_error *err);

#endif /* SX_TEXT_TOKENS_H */
