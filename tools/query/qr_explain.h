/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How a query is looked up, and how long that takes.
 */

#ifndef QR_EXPLAIN_H
#define QR_EXPLAIN_H

#include <simidx.h>

#include "query/qr_print.h"

/**
 * Explain a query, search to take the time, and print what came of it.
 *
 * @param out  what the search counted
 * @return 0 or the code in err
 */
int qr_explain(const struct qr_context *ctx, simidx_reader *reader, const struct qr_query *query,
	       const simidx_query *ask, simidx_results *out, simidx_error *err);

#endif /* QR_EXPLAIN_H */
