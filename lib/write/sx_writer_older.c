/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Deleting what is older than a time: one walk over the times of all documents, in transactions
 * of bounded size. Each looks for old documents from where the last one has ended, deletes them,
 * and is committed. A run that is cut off has deleted a part; the next one finds the others.
 */

#include <stdlib.h>

#include "util/sx_err.h"
#include "write/sx_writer_change.h"

#define MOST_LOST 8 /* transactions one after the other, of which nothing was stored */

/* Delete what one transaction takes; the caller commits. */
static int delete_some(simidx_writer *w, sx_older *older, simidx_error *err)
{
	int rc = sx_writer_begin(w, err);

	if (!rc)
		rc = w->index->backend->writer->older(w, older, err);
	for (size_t i = 0; !rc && i < older->n; i++)
		rc = sx_writer_delete(w, &older->doc[i], err);
	return rc;
}

/* Documents may have come since the first transaction has counted them. */
static void tell_progress(const simidx_writer *w, const sx_older *older)
{
	uint64_t total = older->seen > older->total ? older->seen : older->total;

	sx_index_progress(w->index, "deleting", older->has_ended ? total : older->seen, total);
}

int simidx_writer_delete_older(simidx_writer *w, uint32_t time, int (*stop)(void *ctx), void *ctx,
			       uint64_t *n, simidx_error *err)
{
	sx_older older = { .time = time };
	unsigned n_lost = 0;
	int rc;

	sx_err_clear(err);
	if (n)
		*n = 0;
	if (!w)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_delete_older: writer is NULL");
	if (!w->index->schema->has_times)
		return sx_fail(err, SIMIDX_E_MISMATCH, "the index keeps no times");
	/* What is pending is not among the documents that an engine names. */
	rc = w->index->backend->capabilities & SX_HAS_TABLES ? SIMIDX_OK :
							       simidx_writer_commit(w, err);
	while (!rc && !older.has_ended) {
		uint64_t stored = w->stored;

		rc = delete_some(w, &older, err);
		if (rc)
			break;
		rc = simidx_writer_commit(w, err);
		/* Where the merge after it has failed, the commit is stored. */
		if (n && w->stored != stored)
			*n += w->has_conditions ? w->stored - stored : older.n;
		n_lost = older.is_stale || (older.n && w->stored == stored) ? n_lost + 1 : 0;
		if (!rc && n_lost == MOST_LOST)
			rc = older.is_stale ?
				     sx_fail(err, SIMIDX_E_CORRUPT, "its list of times names "
					     "documents that are not there, or not old") :
				     sx_fail(err, SIMIDX_E_BUSY, "old documents are left: others "
					     "were first, %d times", MOST_LOST);
		if (!rc)
			tell_progress(w, &older);
		if (!rc && !older.has_ended && stop && stop(ctx))
			rc = sx_fail(err, SIMIDX_E_STOPPED,
				     "stopped; some old documents may be left");
	}
	if (rc)
		simidx_writer_rollback(w);
	free(older.doc);
	return rc;
}
