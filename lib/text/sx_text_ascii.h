/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Words of ASCII without ICU, many times as fast. What the characters of ASCII do in words has
 * changed between versions of ICU (":" joined letters before version 72, "@" is a letter since),
 * so it is learnt from the ICU that runs, and then compared with it: where the two differ, all
 * text goes to ICU.
 */

#ifndef SX_TEXT_ASCII_H
#define SX_TEXT_ASCII_H

#include <stddef.h>
#include <stdint.h>

#include <unicode/ubrk.h>
#include <unicode/utypes.h>

/* What a character does. Letters, digits and joiners stand together in words in any order. */
#define SX_ASCII_LETTER 1
#define SX_ASCII_DIGIT 2
#define SX_ASCII_JOINER 4     /* alone it is no word: "_" */
#define SX_ASCII_MID_LETTER 8 /* belongs to a word between two letters */
#define SX_ASCII_MID_DIGIT 16 /* the same between two digits */
#define SX_ASCII_WORD (SX_ASCII_LETTER | SX_ASCII_DIGIT | SX_ASCII_JOINER)

/** What each character does: SX_ASCII_ bits; 0 from 128 on. */
typedef struct sx_ascii {
	uint8_t kind[256];
} sx_ascii;

/**
 * Learn from a break iterator for words what the characters of ASCII do, and compare: returns
 * whether sx_ascii_word() finds the iterator's words in every row of four characters of
 * different kinds. If `status` is a failure afterwards, nothing is known.
 */
int sx_ascii_learn(sx_ascii *ascii, UBreakIterator *breaks, UErrorCode *status);

/** The second half of sx_ascii_learn() on its own. */
int sx_ascii_check(const sx_ascii *ascii, UBreakIterator *breaks, UErrorCode *status);

/**
 * The result for the root locale, which is worked out once a process (less than a millisecond):
 * NULL when ICU has to do all by itself.
 */
const sx_ascii *sx_ascii_shared(void);

/**
 * Write the next word of text[*pos, end), which is ASCII and begins and ends at word
 * boundaries, to `out` in lower case, and move *pos after it. `out` has room for as many bytes
 * as the text has left.
 *
 * @return its size; 0 when there are no more words
 */
size_t sx_ascii_word(const sx_ascii *ascii, const uint8_t *text, size_t *pos, size_t end,
		     char *out);

/**
 * Find the first island of other than ASCII in utf8[pos, size), with as much around it that
 * normalisation and word boundaries do not look across its ends. It begins before a space,
 * after a line feed or at `pos`, which is such a place itself; it ends after a line feed,
 * after a space that ASCII follows or at `size`. No line feed is in it but the last byte.
 *
 * @param end  set to the end of the island
 * @return its start; `size` when there is none
 */
size_t sx_ascii_island(const uint8_t *utf8, size_t pos, size_t size, size_t *end);

#endif /* SX_TEXT_ASCII_H */
