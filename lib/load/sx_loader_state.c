/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/sx_loader_state.h"

#include <inttypes.h>
#include <stdio.h>

#include "util/sx_err.h"

/* Rows of the rows layout that fill a page, at least, whatever they hold. */
#define ROWS_A_PAGE 50

/* Written by one transaction: LMDB keeps its pages in memory until the commit. */
#define PAGES_A_TRANSACTION 4096

int sx_loader_check_stop(const simidx_loader *l, simidx_error *err)
{
	if (l->options.stop && l->options.stop(l->options.ctx))
		return sx_fail(err, SIMIDX_E_STOPPED, "stopped; nothing has changed");
	return SIMIDX_OK;
}

int sx_loader_check_open(const simidx_loader *l, simidx_error *err)
{
	if (l->broken)
		return sx_fail(err, SIMIDX_E_STATE,
			       "the loader can only be closed: it is finished, or a call failed");
	return SIMIDX_OK;
}

int sx_loader_blame(const simidx_loader *l, size_t i, int rc, simidx_error *err)
{
	simidx_error told;

	if (rc != SIMIDX_E_CORRUPT || !err)
		return rc;
	told = *err;
	sx_err_clear(err);
	return sx_fail(err, rc, "%s: %s", sx_store_path(l->sources.index[i]->store), told.text);
}

int sx_loader_progress(const simidx_loader *l, const char *phase, uint64_t done, uint64_t total,
		       simidx_error *err)
{
	if (l->options.progress)
		l->options.progress(l->options.ctx, phase, done, total);
	return sx_loader_check_stop(l, err);
}

int sx_loader_pace(simidx_loader *l, uint64_t *written, uint64_t a_page, simidx_error *err)
{
	sx_txn *txn = l->output.txn;
	int rc;

	l->output.pages += *written / a_page;
	*written %= a_page;
	if (l->output.pages < PAGES_A_TRANSACTION)
		return SIMIDX_OK;
	l->output.pages = 0;
	rc = sx_loader_check_stop(l, err);
	if (rc)
		return rc;
	l->output.txn = NULL;
	rc = sx_txn_commit(txn, err);
	return rc ? rc : sx_txn_begin_write(l->target.index->store, 0, &l->output.txn, err);
}

int sx_loader_append(simidx_loader *l, sx_append *append, const uint64_t *record, size_t n,
		     simidx_error *err)
{
	int is_blocks = append->table->layout == SIMIDX_LAYOUT_BLOCKS;
	int rc = sx_append_rows(append, record, n, err);

	if (!rc && append->written)
		rc = sx_loader_pace(l, &append->written, is_blocks ? 1 : ROWS_A_PAGE, err);
	append->txn = l->output.txn;
	return rc;
}

void sx_loader_reject(simidx_loader *l, uint64_t id, uint64_t source, uint64_t row, int by_id)
{
	char reason[64] = "the label is already in use";

	l->output.report.duplicates++;
	if (source != l->sources.n)
		return;
	l->output.report.left_out++;
	if (by_id)
		snprintf(reason, sizeof(reason), "id %" PRIu64 " is already in use", id);
	if (l->options.duplicates == SIMIDX_DUPLICATES_REJECT && l->options.rejected)
		l->options.rejected(l->options.ctx, row, reason);
}
