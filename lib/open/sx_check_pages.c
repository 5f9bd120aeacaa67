/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Checking the pages of an index that need not be one that can be opened.
 */

#include <simidx_check.h>

#include "open/sx_holder.h"
#include "store/sx_page_check.h"
#include "store/sx_store.h"
#include "util/sx_err.h"

struct page_callback {
	void (*callback)(void *ctx, const simidx_problem *problem);
	void *ctx;
};

static void hand_over_page(void *ctx, const char *table, const char *text)
{
	const struct page_callback *to = ctx;
	simidx_problem p = { table, text };

	if (to->callback)
		to->callback(to->ctx, &p);
}

int simidx_check_pages(const char *path, unsigned flags,
		       void (*callback)(void *ctx, const simidx_problem *problem), void *ctx,
		       simidx_error *err)
{
	struct page_callback to = { callback, ctx };
	sx_store_options how = { .flags = SX_STORE_READ_ONLY };
	sx_store *store;
	sx_txn *txn;
	int rc;

	sx_err_clear(err);
	if (!path || flags & ~(SIMIDX_OPEN_STATIC | SIMIDX_OPEN_FORCE))
		return sx_fail(err, SIMIDX_E_ARG, "simidx_check_pages: no path, or bad flags");
	rc = sx_holder_need(path, SX_HAS_TABLES, err);
	if (rc)
		return rc;
	if (flags & SIMIDX_OPEN_STATIC)
		how.flags |= SX_STORE_STATIC;
	if (flags & SIMIDX_OPEN_FORCE)
		how.flags |= SX_STORE_FORCE;
	rc = sx_store_open(path, &how, &store, err);
	if (rc)
		return rc;
	rc = sx_txn_begin_read(store, &txn, err);
	if (!rc) {
		rc = sx_page_check(txn, hand_over_page, &to, err);
		sx_txn_abort(txn);
	}
	sx_store_close(store);
	return rc;
}
