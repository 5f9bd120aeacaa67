/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What simidx-query review shows, on a terminal (qr_review_term.c) or as a page (qr_review_page.c).
 */

#ifndef QR_REVIEW_H
#define QR_REVIEW_H

#include <stdio.h>

#include "query/qr_command.h"
#include "query/qr_sample.h"
#include "query/qr_words.h"

/** A sample of pairs, with their texts. */
struct qr_review {
	const char *path;   /* of the evidence */
	struct qr_sample sample;
};

/** Room for what is said of a similarity. */
#define QR_SIMILARITY_SIZE 64

/** How similar a pair is: "83.3 %, limit 80", "about 83 %, limit 80", "3 bits", "no similarity". */
const char *qr_review_similarity(const struct in_pair *pair, char out[QR_SIMILARITY_SIZE]);

/** What has become of a pair: "left out", or "kept". */
const char *qr_review_fate(const struct in_pair *pair);

/** Why the text of a row is not shown as it was; NULL = it is. */
const char *qr_review_trouble(const struct in_side *side);

/** Whether a row has a label that is more than its path. */
int qr_review_has_name(const struct in_side *side);

/**
 * Show the words of a pair, by qr_words_show(): of its texts, or where one is not there of the
 * excerpts in the evidence.
 *
 * @param note  set to what is to be said of what was shown; NULL = nothing
 * @return 0; -1 when memory is short
 */
int qr_review_words(const struct in_pair *pair,
		    void (*show)(void *ctx, const struct qr_shown *shown), void *ctx,
		    const char **note);

/** Print for a terminal. Returns 0 or an exit code. */
int qr_review_term(const struct qr_context *ctx, const struct qr_review *review);

/** Write a page of HTML, up to a signal to stop. Returns 0; -1 when memory is short. */
int qr_review_page(FILE *out, const struct qr_review *review);

#endif /* QR_REVIEW_H */
