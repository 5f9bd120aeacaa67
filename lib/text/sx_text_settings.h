/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What an extractor does: options, checked and complete.
 */

#ifndef SX_TEXT_SETTINGS_H
#define SX_TEXT_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include <simidx_text.h>

#define SX_TEXT_MAX ((size_t)1 << 30) /* longest text, bytes */

/** What a text is cut into. */
enum sx_tokens { SX_TOKENS_WORDS, SX_TOKENS_HAN, SX_TOKENS_UNSPACED, SX_TOKENS_CHARS };

/** What a feature weighs. */
enum sx_weights { SX_SQRT, SX_LOG, SX_RAW, SX_BINARY, SX_TFIDF };

/** By enum sx_weights. */
extern const char *const sx_weights_names[];

/** Built-in lists of stop words, as a set. */
#define SX_STOP_EN 1u
#define SX_STOP_ZH 2u

#define SX_NAME_SIZE 16
#define SX_STEM_SIZE 24

/** A list that a caller gave. */
typedef struct sx_given {
	const char *data; /* NULL = none; the caller's */
	const char *name; /* for messages; also the caller's */
	size_t size;
	uint64_t hash; /* of the bytes */
} sx_given;

/** All that decides about the fingerprint of a text, checked and complete. */
typedef struct sx_settings {
	char name[SX_NAME_SIZE]; /* of the extractor */
	unsigned bits;
	enum sx_tokens tokens;
	unsigned grams;    /* bit n - 1: n-grams */
	unsigned max_gram; /* the longest of them */
	enum sx_weights weights;
	int triples; /* the second fingerprint is made from runs of three tokens, each once */
	uint32_t top;
	unsigned stop; /* SX_STOP_ flags */
	sx_given stop_words, words, idf;
	char stem[SX_STEM_SIZE]; /* "" = none */
	uint32_t min_tokens;
	int exact;
	uint64_t seed;
} sx_settings;

/** Whether an extractor of this name is known. */
int sx_extractor_is_known(const char *name);

/** Check options, which are complete (not NULL), and fill in what they leave open. */
int sx_settings_make(sx_settings *settings, const simidx_text_options *options,
		     simidx_error *err);

#endif /* SX_TEXT_SETTINGS_H */
