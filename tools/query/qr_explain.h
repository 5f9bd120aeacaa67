/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How a query is looked up, for people.
 */

#ifndef QR_EXPLAIN_H
#define QR_EXPLAIN_H

#include <simidx_admin.h>

#include "query/qr_print.h"

/** Print one. Returns 0, or TL_TROUBLE when stdout takes no more. */
int qr_print_explanation(const struct qr_context *ctx, const struct qr_query *query,
			 const simidx_explanation *explanation);

#endif /* QR_EXPLAIN_H */
