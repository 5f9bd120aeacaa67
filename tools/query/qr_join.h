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

/** Say by what radius documents are near, and warn of a join that takes long. For `planned`. */
void qr_join_tell(const simidx_join_info *info);

/** Open a reader for labels. An index that had none when it was opened needs none: *reader is NULL. */
int qr_join_open_labels(const struct qr_context *ctx, simidx_reader **reader, simidx_error *err);

/** Open a reader for labels. An index that had none when it was opened needs none: *reader is NULL. */
int qr_join_open_labels(const struct qr_context *ctx, simidx_reader **reader, simidx_error *err);

/** The label of a document, valid until the next call; NULL = it has none, or is gone meanwhile. */
const simidx_match *qr_join_label(simidx_reader *reader, uint64_t id);

/** Print it, with escapes. */
void qr_join_put_label(simidx_reader *reader, uint64_t id);

/** Give an object a member with it, or none. */
void qr_join_json_label(struct tl_json *json, const char *key, simidx_reader *reader, uint64_t id);

#endif /* QR_JOIN_H */
