/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * JSON on stdout, one object a line. All return 0, or TL_TROUBLE when stdout takes no more.
 */

#ifndef QR_JSON_H
#define QR_JSON_H

#include <simidx_admin.h>

#include "common/tl_json.h"
#include "query/qr_explain.h"
#include "query/qr_plan.h"
#include "query/qr_print.h"
#include "query/qr_skew.h"
#include "query/qr_stats.h"

/** A member that is a fingerprint. */
void qr_json_fingerprint(struct tl_json *json, const char *key, uint64_t fp, unsigned bits);

/** What a query found, or a piece of it; as qr_print_results(). */
int qr_json_results(FILE *out, const struct qr_context *ctx, const struct qr_query *query,
		    const simidx_results *results, int begun);

/** How a query is looked up. */
int qr_json_explanation(const struct qr_context *ctx, const struct qr_query *query,
			const struct qr_explanation *explanation);

/** What a plan would be like. */
int qr_json_prediction(const struct qr_plan_request *request, const simidx_prediction *one);

/** A stored document, as simidx-load takes it back. */
int qr_json_document(const struct qr_context *ctx, const simidx_match *document);

/** What an index is and holds; `skew` may be NULL. */
int qr_json_stats(const struct qr_context *ctx, const struct qr_table *tables, size_t n,
		  const struct qr_skew *skew);

/** Something that verify found. */
int qr_json_problem(const char *table, const char *text);

/** Something that repair tells; `kind` is its name. */
int qr_json_loss(const char *kind, const simidx_loss *loss);

#endif /* QR_JSON_H */
