/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Word boundaries -> words, as UTF-8.
 */

#ifndef SX_TEXT_WORDS_H
#define SX_TEXT_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include <unicode/ubrk.h>

#include "text/sx_text_ascii.h"
#include "text/sx_text_normalise.h"
#include "text/sx_text_tokens.h"

#define SX_WORDS_BATCH 1024 /* words handed on at a time */

/**
 * Splits text into words and hands them on in batches. The words lie one after the other in
 * UTF-8 with a joint between neighbours, so that a pair is as much a run of bytes as a word.
 *
 * Either all of the text comes as normalised UTF-16, or only the islands of other than ASCII
 * do, in lines of their own; then the words between these are found in the UTF-8.
 */
typedef struct sx_words {
	UBreakIterator *breaks;    /* NULL until it is needed */
	const UChar *units;        /* what ICU splits */
	int32_t unit;              /* up to where it is split */
	const sx_ascii *ascii;     /* NULL: islands are not looked for */
	const uint8_t *utf8;       /* the stretch; NULL: all of it is in `units` */
	size_t pos, size;          /* up to where the stretch is split; its size */
	size_t island, island_end; /* the first island that is not split yet */
	char *islands;             /* all of them, a line each */
	size_t islands_room;
	char *bytes; /* of the batch */
	size_t room;
	size_t n;                   /* words in the batch */
	size_t n_old;               /* 0 or 1: the last word of the batch before comes first */
	size_t end[SX_WORDS_BATCH]; /* of each word in `bytes`; the joint follows */
	uint64_t hash[SX_WORDS_BATCH]; /* of each but the old one, after sx_words_hash() */
} sx_words;

/** Begin a text: no word comes before its first one. */
void sx_words_begin(sx_words *words);

/**
 * Take up a stretch of UTF-8, which must stay until the last batch of it. *utf8 and *size
 * become the part of it that ICU has to split, maybe nothing: to be decoded, normalised and
 * given to sx_words_split(). Without this call, all that is given there is split.
 */
int sx_words_stretch(sx_words *words, const uint8_t **utf8, size_t *size, simidx_error *err);

/** Take up the UTF-16 of a stretch; it must stay until the last batch of it. */
int sx_words_split(sx_words *words, const sx_units *units, simidx_error *err);

/** Fill the next batch. n == n_old means that the stretch has no more words. */
int sx_words_fill(sx_words *words, simidx_error *err);

/** Hash the words of the batch. */
void sx_words_hash(sx_words *words);

/** Where word i begins in `bytes`. */
static inline size_t sx_words_start(const sx_words *words, size_t i)
{
	return i ? words->end[i - 1] + 1 : 0;
}

/** Give buffers, the break iterator and its caches back; the next stretch gets new ones. */
void sx_words_free(sx_words *words);

#endif /* SX_TEXT_WORDS_H */
