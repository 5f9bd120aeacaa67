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

/** What sd_shingles_make_part() holds at least. */
#define SD_SHINGLES_LEAST ((size_t)32768)

/** Tokens of a shingle. */
#define SD_SHINGLE_TOKENS 5

/** The shingles of a text, or some of them; all zero is an empty set. */
struct sd_shingles {
	uint64_t *hash; /* `n` of them, ascending, each once */
	size_t n;
	size_t room;    /* for so many */
	uint64_t first, last; /* those of the text between these */
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
 * Cost: linear in the text, and a sort of 8 bytes a token, which needs as much memory again; 8
 * bytes a shingle are kept in the set.
 */
int sd_shingles_make(struct sd_shingler *shingler, const char *utf8, size_t size,
		     struct sd_shingles *set, simidx_error *err);

/**
 * Some of the shingles of a text, as many as may be held: all from set->first to set->last, which
 * the caller sets, and which is made less if there are too many. So a text of any length is looked
 * at in a few steps, and each of them walks it.
 *
 * @param most  how many hashes are held, at least SD_SHINGLES_LEAST; twice for a moment. At least a
 *              quarter of them is found, if there are so many
 * @return as sd_shingles_make()
 */
int sd_shingles_make_part(struct sd_shingler *shingler, const char *utf8, size_t size, size_t most,
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

/** How many shingles two texts have, and both: of those that were counted. */
struct sd_overlap {
	uint64_t a, b, both;
};

/** Count those from `first` to `last`, all of which both sets have. */
void sd_overlap_add(struct sd_overlap *sum, const struct sd_shingles *a,
		    const struct sd_shingles *b, uint64_t first, uint64_t last);

/** The similarity, once all are counted, as sd_shingles_jaccard() has it. */
double sd_overlap_jaccard(const struct sd_overlap *sum);

#endif /* SD_SHINGLES_H */
