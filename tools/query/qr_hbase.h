/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The rows of an index in HBase, as doc/hbase-design.md describes them: those of the table that is
 * searched, and those of the table of documents. Numbers are big-endian.
 */

#ifndef QR_HBASE_H
#define QR_HBASE_H

#include <simidx.h>

#include "query/qr_sequence.h"

#define QR_HBASE_PLANS "4x16, 10x26, 16x28 or 20x31"
#define QR_HBASE_MAX_TABLES 20

#define QR_HBASE_BATCH 1024 /* documents whose prefixes are made at once */

/** Where the rows go. All that is not set at first is zero. */
struct qr_hbase {
	struct qr_sequence *index, *documents; /* the two tables */
	const char *plan;
	unsigned bits;
	int has_fp2;                           /* documents have second fingerprints */
	uint64_t timestamp;                    /* of all cells */
	uint64_t n_index, n_documents;         /* rows so far */
	uint64_t count, labels, next_id;       /* documents, labels; above all ids */
	/* Documents whose index rows are not written yet. */
	uint64_t fp[QR_HBASE_BATCH], id[QR_HBASE_BATCH];
	size_t waiting;
};

/** Whether HBase holds a plan. */
int qr_hbase_has_plan(const char *plan);

/**
 * Write the rows of a document, at once or later: one for each table of the plan, its own, and that
 * of its label.
 *
 * @return 0; the codes of simidx_plan_prefixes()
 */
int qr_hbase_put(struct qr_hbase *hbase, const simidx_match *document, simidx_error *err);

/**
 * Write what waits, and what is known of all documents together: their number, that of labels, the
 * next id and the mark, if it has a size.
 *
 * @return as qr_hbase_put()
 */
int qr_hbase_end(struct qr_hbase *hbase, const void *mark, size_t mark_size, simidx_error *err);

#endif /* QR_HBASE_H */
