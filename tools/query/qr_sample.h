/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A sample of lines of evidence by which a person can judge a threshold: most of them near to the
 * limit, some of every kind. Of each kind it is drawn evenly, and always the same from the same
 * lines.
 *
 * Memory: the lines of the sample.
 */

#ifndef QR_SAMPLE_H
#define QR_SAMPLE_H

#include "input/in_evidence.h"

/** Kinds of pairs, in the order in which they are shown. */
enum qr_kind {
	QR_BELOW,       /* near misses */
	QR_AT_LIMIT,    /* less than 5 points above the limit */
	QR_ABOVE,       /* less than 10 */
	QR_FAR_ABOVE,
	QR_EQUAL,       /* texts of the same bytes */
	QR_BY_FP,       /* fingerprints alone have decided */
	QR_KINDS
};

/** What a kind is called. */
extern const char *const qr_kind_names[QR_KINDS];

/** Most lines of a sample. */
#define QR_MOST_SAMPLE 1000

struct qr_sample;

/** An empty sample of at most `most` lines. NULL when memory is short. */
struct qr_sample *qr_sample_new(size_t most);

/** Free. NULL is allowed. */
void qr_sample_free(struct qr_sample *sample);

/** Meet a line; `pair` is what it says. Returns 0, or -1 when memory is short. */
int qr_sample_meet(struct qr_sample *sample, const struct in_pair *pair, const char *line,
		   size_t size);

/**
 * Draw it: the pairs by kind, then from the least similar to the most.
 *
 * @param n      set to their number
 * @param met    set to how many of each kind were met
 * @param drawn  set to how many of each are in it
 * @return pairs, valid as long as the sample; NULL when memory is short
 */
struct in_pair *qr_sample_draw(struct qr_sample *sample, size_t *n, uint64_t met[QR_KINDS],
			       size_t drawn[QR_KINDS]);

#endif /* QR_SAMPLE_H */
