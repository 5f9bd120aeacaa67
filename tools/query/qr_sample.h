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

/** A line that may be drawn. */
struct qr_line {
	uint64_t rank; /* the lines of a kind with the lowest ones are drawn */
	uint64_t number;
	char *bytes;
	size_t size;
};

/** Zero but for the first: an empty sample. Others look at what is there when it is drawn. */
struct qr_sample {
	size_t most; /* lines; at most QR_MOST_SAMPLE */
	struct qr_kind_lines {
		struct qr_line line[QR_MOST_SAMPLE]; /* those that would be drawn now */
		size_t n;
		uint64_t met;
		size_t drawn;
	} kind[QR_KINDS];
	struct in_pair pair[QR_MOST_SAMPLE]; /* that were drawn, by kind, the least similar first */
	size_t n_pairs;
};

/** Free what it holds. */
void qr_sample_free(struct qr_sample *sample);

/** Meet a line; `pair` is what it says. Returns 0, or -1 when memory is short. */
int qr_sample_meet(struct qr_sample *sample, const struct in_pair *pair, const char *line,
		   size_t size);

/** Draw it. Returns 0, or -1 when memory is short. */
int qr_sample_draw(struct qr_sample *sample);

#endif /* QR_SAMPLE_H */
