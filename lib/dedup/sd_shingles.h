/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How similar two texts are: the Jaccard similarity of their sets of shingles, which is the number
 * of shingles that are in both, divided by the number of those that are in either. A shingle is
 * five neighbouring tokens, and tokens are those of the extractor "unspaced12" (simidx_text.h):
 * each letter of a script without spaces between words (Han, kana, Thai, Lao, Khmer, Burmese), and
 * each other run of letters and digits, without differences of case or width. A text of one to
 * four tokens has one shingle, all of it. A text without tokens has none.
 *
 * A shingle is known by its hash of 64 bits. Two different ones of a pair of texts with 10^6
 * shingles in all have the same hash with a chance of 1 in 10^7, and then the similarity is off by
 * 10^-6.
 */

#ifndef SD_SHINGLES_H
#define SD_SHINGLES_H

#include <simidx_text.h>

/** Tokens of a shingle. */
#define SD_SHINGLE_TOKENS 5

/** The shingles of a text; all zero is an empty set. */
struct sd_shingles {
	uint64_t *hash; /* `n` of them, ascending, each once */
	size_t n;
	size_t room;    /* for so many */
};

/** Makes such sets; one for each thread. */
struct sd_shingler;

/**
 * @param out  for sd_shingler_close()
 * @return 0 or the code in err: SIMIDX_E_NOMEM; SIMIDX_E_UNSUPPORTED in a build without text
 *         support
 */
int sd_shingler_open(struct sd_shingler **out, simidx_error *err);

/** Free. NULL is allowed. */
void sd_shingler_close(struct sd_shingler *shingler);

/**
 * The shingles of a text.
 *
 * @param utf8  `size` bytes, at most 2^30; what is not UTF-8 is U+FFFD, as everywhere
 * @param set   what was in it is replaced; its room is used again. For sd_shingles_free()
 * @return 0 or the code in err: SIMIDX_E_RANGE for a longer text; SIMIDX_E_NOMEM
 *
 * Cost: linear in the text, and a sort of 8 bytes a token; 8 bytes a token are kept in the set.
 */
int sd_shingles_make(struct sd_shingler *shingler, const char *utf8, size_t size,
		     struct sd_shingles *set, simidx_error *err);

/** Free what a set holds; it is empty then. */
void sd_shingles_free(struct sd_shingles *set);

/**
 * The similarity of two texts, 0 to 1; 0 if one of them has no shingle, so that texts without
 * tokens are near to nothing. The result is the quotient of two whole numbers, rounded once: 4 of 5
 * shingles give exactly the number that 0.8 is in C.
 *
 * Cost: linear in both sets. Any thread.
 */
double sd_shingles_jaccard(const struct sd_shingles *a, const struct sd_shingles *b);

#endif /* SD_SHINGLES_H */
