/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How a query is looked up, and how long that takes.
 */

#ifndef QR_EXPLAIN_H
#define QR_EXPLAIN_H

#include <simidx_admin.h>

#include "query/qr_print.h"

/** What simidx_reader_explain() found, copied. */
struct qr_explanation {
	simidx_explanation found;  /* choices and results point to those below */
	simidx_choice *choices;    /* for free() */
	simidx_results results;
	double microseconds;       /* that the same search took after it, in memory */
};

/**
 * Explain a query, then search and take the time.
 *
 * @return 0 or the code in err; the caller frees the choices of either
 */
int qr_explain(simidx_reader *reader, const simidx_query *ask, struct qr_explanation *out,
	       simidx_error *err);

/** Print one. Returns 0, or TL_TROUBLE when stdout takes no more. */
int qr_print_explanation(const struct qr_context *ctx, const struct qr_query *query,
			 const struct qr_explanation *explanation);

#endif /* QR_EXPLAIN_H */
