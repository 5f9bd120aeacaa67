/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * JSON on stdout, one object a line. All return 0, or TL_TROUBLE when stdout takes no more.
 */

#ifndef QR_JSON_H
#define QR_JSON_H

#include <simidx_check.h>
#include <simidx_repair.h>

#include "common/tl_json.h"
#include "query/qr_print.h"

/** End an object that is a line of its own. */
int qr_json_end(struct tl_json *json);

/** Members that name a query, and that say how far its answer goes; these return nothing. */
void qr_json_query(struct tl_json *json, const struct qr_query *query, unsigned bits);
void qr_json_extent(struct tl_json *json, const struct qr_query *query,
		    const simidx_results *results);

/** A member that is a fingerprint. */
void qr_json_fingerprint(struct tl_json *json, const char *key, uint64_t fp, unsigned bits);

/** The next id of an index: null where no id is left; no member where there are no ids. */
void qr_json_next_id(struct tl_json *json, const simidx_info *info);

/** What a query found, or a piece of it; as qr_print_results(). */
int qr_json_results(FILE *out, const struct qr_context *ctx, const struct qr_query *query,
		    const simidx_results *results, int begun);

/** A stored document, as simidx-load takes it back. */
int qr_json_document(const struct qr_context *ctx, const simidx_match *document, const void *note,
		     size_t note_size);

/** Something that verify found. */
int qr_json_problem(const simidx_problem *problem);

/** Something that repair tells; `kind` is its name. */
int qr_json_loss(const char *kind, const simidx_loss *loss);

#endif /* QR_JSON_H */
