/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * In which words two texts differ: the shortest way from one to the other by leaving out and adding
 * words (Myers, "An O(ND) difference algorithm and its variations", 1986), and excerpts of it for
 * people.
 *
 * A word ends at a blank, or has 80 bytes. Where a script has no blanks between words each letter
 * is one.
 */

#ifndef QR_WORDS_H
#define QR_WORDS_H

#include <stddef.h>

/** Whose a word is. */
enum qr_whose {
	QR_BOTH,
	QR_OLD,   /* of the first text alone */
	QR_NEW,   /* of the second one alone */
	QR_GAP    /* no word, but that some are left out */
};

/** A word to be shown, or a gap. */
struct qr_shown {
	enum qr_whose whose;
	const char *text;  /* as it is, with whatever bytes it has */
	size_t size;
	size_t n;          /* of QR_GAP: how many words; 0 = of all that follows */
	int has_blank;     /* there is a blank before it */
	int begins, ends;  /* of QR_OLD and QR_NEW: of those that stand together */
};

/** What was found. */
struct qr_difference {
	size_t places;  /* where they differ: 0 = in no word */
	size_t hidden;  /* of these, not shown */
	int is_rough;   /* they differ so much that the shortest way was not looked for */
};

/**
 * Compare two texts, and show the words round the differences: a dozen on each side, of words that
 * differ the first 40 that stand together, and 40 places at most. Where no word differs, the first
 * two dozens are shown.
 *
 * @param show  called for each word and gap, in their order
 * @return 0; -1 when memory is short
 *
 * Cost: the sum of the words, times those that differ, at most 1,000; 4 MB and 40 bytes a word.
 */
int qr_words_show(const char *old_text, size_t old_size, const char *new_text, size_t new_size,
		  void (*show)(void *ctx, const struct qr_shown *shown), void *ctx,
		  struct qr_difference *difference);

#endif /* QR_WORDS_H */
