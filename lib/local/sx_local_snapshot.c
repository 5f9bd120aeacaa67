/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "local/sx_local_snapshot.h"

static int begin(sx_snapshot *s, simidx_error *err)
{
	int rc = sx_txn_begin_read(s->index->store, &s->txn, err);

	return rc ? rc : sx_snapshot_load(s, err);
}

static int renew(sx_snapshot *s, simidx_error *err)
{
	int rc = sx_txn_renew(s->txn, err);

	if (rc)
		return rc;
	rc = sx_snapshot_load(s, err);
	if (rc)
		sx_txn_reset(s->txn);
	s->map_changes = sx_store_map_changes(s->index->store);
	return rc;
}

static int begin_write(sx_snapshot *s, int no_meta_sync, simidx_error *err)
{
	int rc = sx_txn_begin_write(s->index->store, no_meta_sync, &s->txn, err);

	if (!rc)
		rc = sx_meta_read_header(s->txn, &s->index->tables.meta, &s->header, err);
	s->header.state &= ~SX_STATE_SUPERSEDED;
	return rc;
}

const sx_backend_snapshot sx_local_snapshot = { begin, renew, begin_write };
