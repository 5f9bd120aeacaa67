/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "index/sx_snapshot.h"

#include <string.h>
#include "util/sx_err.h"

/*
 * The header is read again only when somebody has committed since. Where it says that another
 * index was to take this one's place, the path decides whether that happened.
 */
static int load_header(sx_snapshot *s, simidx_error *err)
{
	uint64_t id = sx_txn_id(s->txn);
	int rc;

	if (s->id != id) {
		s->id = 0;
		rc = sx_header_read(s->txn, s->index->tables.meta, &s->header, err);
		if (rc)
			return rc;
		s->id = id;
	}
	if (s->header.state & SX_STATE_SUPERSEDED)
		return sx_store_check_path(s->index->store, err);
	return SIMIDX_OK;
}

int sx_snapshot_begin(sx_snapshot *s, simidx *index, simidx_error *err)
{
	int rc;

	memset(s, 0, sizeof(*s));
	s->index = index;
	rc = sx_txn_begin_read(index->store, &s->txn, err);
	if (!rc)
		rc = load_header(s, err);
	if (rc)
		sx_snapshot_end(s);
	return rc;
}

int sx_snapshot_renew(sx_snapshot *s, simidx_error *err)
{
	int rc = sx_txn_renew(s->txn, err);

	if (rc)
		return rc;
	rc = load_header(s, err);
	if (rc)
		sx_txn_reset(s->txn);
	return rc;
}

void sx_snapshot_reset(sx_snapshot *s)
{
	sx_txn_reset(s->txn);
}

void sx_snapshot_end(sx_snapshot *s)
{
	sx_txn_abort(s->txn);
	s->txn = NULL;
}

int sx_snapshot_begin_write(sx_snapshot *s, simidx *index, int no_meta_sync, simidx_error *err)
{
	int rc;

	s->index = index;
	s->id = 0;
	rc = sx_txn_begin_write(index->store, no_meta_sync, &s->txn, err);
	if (!rc)
		rc = sx_header_read(s->txn, index->tables.meta, &s->header, err);
	s->header.state &= ~SX_STATE_SUPERSEDED;
	return rc;
}

int sx_snapshot_commit(sx_snapshot *s, simidx_error *err)
{
	sx_txn *txn = s->txn;
	int rc = sx_header_write(txn, s->index->tables.meta, &s->header, err);

	if (rc)
		return rc;
	s->txn = NULL; /* the commit frees it, whatever comes of it */
	return sx_txn_commit(txn, err);
}
