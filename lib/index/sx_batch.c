/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Many queries at once.
 */

#include "index/sx_reader.h"
#include "util/sx_err.h"

int simidx_search_batch(simidx *index, const simidx_query *queries, size_t n,
			const simidx_batch_options *options, simidx_error *err)
{
	simidx_reader *reader;
	int rc;

	sx_err_clear(err);
	if (!index || (!queries && n) || !options || options->size != sizeof(*options) ||
	    !options->deliver)
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_search_batch: bad index, queries or options");
	rc = simidx_reader_open(index, &reader, err);
	for (size_t i = 0; !rc && i < n; i++) {
		simidx_results results = SIMIDX_RESULTS_INIT;

		rc = simidx_search(reader, &queries[i], &results, err);
		if (!rc && options->deliver(options->ctx, i, &results))
			rc = sx_fail(err, SIMIDX_E_STOPPED, "stopped by the caller");
	}
	simidx_reader_close(reader);
	return rc;
}
