/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How unevenly fingerprints are spread: a search reads all that shares a prefix with its query, so
 * a crowded range makes searches slow.
 */

#ifndef QR_SKEW_H
#define QR_SKEW_H

#include "query/qr_stats.h"

/** Where most fingerprints or documents are. */
struct qr_crowd {
	uint64_t fp; /* the fingerprint; of a range the bits of its prefix, the others 0 */
	uint64_t n;  /* documents of the fingerprint; different fingerprints of the range */
};

/** The fullest fingerprint, and the fullest range of each table: the smallest of equally full. */
struct qr_skew {
	struct qr_crowd fingerprint;
	struct qr_crowd *range; /* as the tables; n is 0 for one without a prefix */
	uint64_t distinct;      /* different fingerprints of all documents */
};

/**
 * Read all documents of a snapshot, and sort their fingerprints once for each table: 16 bytes of
 * memory a document.
 *
 * @param tables  what the index has, n of them
 * @param out     release it with qr_skew_close(), also after an error
 * @return 0, or TL_TROUBLE with a message
 */
int qr_skew_read(struct qr_context *ctx, const struct qr_table *tables, size_t n,
		 struct qr_skew *out);

void qr_skew_close(struct qr_skew *skew);

#endif /* QR_SKEW_H */
