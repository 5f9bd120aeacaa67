/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the commands "pairs" and "clusters" have in common.
 */

#ifndef QR_JOIN_H
#define QR_JOIN_H

#include <simidx_join.h>

#include "query/qr_json.h"

/** Their options. */
struct qr_join {
	unsigned radius; /* or SIMIDX_JOIN_DEFAULT_RADIUS */
	uint64_t memory; /* 0 = as usual */
	const char *tmpdir;
};

#define QR_JOIN_INIT { SIMIDX_JOIN_DEFAULT_RADIUS, 0, NULL }

/** For TL_GROUP. */
extern const struct tl_option qr_join_rows[];

/** The options of a join of this index; its profile says whether it is one of texts. */
simidx_join_options qr_join_options(const struct qr_context *ctx, const struct qr_join *join);

/** A join that runs. The `ctx` of its callbacks begins with this. */
struct qr_join_run {
	const struct qr_context *ctx;
	const struct qr_join *join;
	int compares_fp2; /* second fingerprints; known when it is planned */
};

/**
 * A callback for `planned`: say by what radius texts are near where none was asked for, and warn of
 * a join that compares all with all or takes long.
 */
int qr_join_note_plan(void *run, const simidx_join_info *info);

/** Whether to print no more: standard output takes nothing, or a signal has asked to stop. */
int qr_join_ends(void);

/** As qr_fail(), of a join that a signal may have stopped. */
int qr_join_fail(const struct qr_context *ctx, const simidx_error *err);

/** The id of a document, or its fingerprint where it has none. */
void qr_join_put_name(const struct qr_context *ctx, int has_id, uint64_t id, uint64_t fp);

/*
 * Columns: separated by tabs, and on a terminal aligned below their titles. The last ones are
 * labels with escapes, of which each has its share of the width and the last one no gap behind it.
 */

/**
 * Titles of columns, on a terminal: of two names of documents, and what stands before and after
 * them.
 *
 * @param first  NULL: the same as that of the second
 */
void qr_join_put_titles(const struct qr_context *ctx, const char *before, const char *first,
			const char *others);

/** A column with the name of a document. */
void qr_join_put_document(const struct qr_context *ctx, int has_id, uint64_t id, uint64_t fp);

/** A column with a distance. */
void qr_join_put_distance(const struct qr_context *ctx, unsigned distance);

/** The columns with n labels; NULL = there is none. Then the line ends. */
void qr_join_put_labels(const struct qr_context *ctx, const char *const *labels,
			const size_t *sizes, size_t n);

#endif /* QR_JOIN_H */
