/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "open/sx_publish.h"

#include "local/sx_local.h"
#include "index/sx_snapshot.h"
#include "store/sx_dir.h"
#include "util/sx_err.h"

/* An index may be exchanged for another between its opening and its lock, but not so often. */
#define MAX_MOVES 1000

int sx_publish_exchange(const simidx *old, const char *dir, const char *path, unsigned mode,
			simidx_error *err)
{
	sx_snapshot s = { 0 };
	int rc = sx_dir_check_own(path, err);

	if (rc)
		return rc;
	rc = sx_snapshot_begin_write(&s, old, 0, err);

	/* Tell the processes that have the old index open that its place is going to be taken. */
	s.header.state |= SX_STATE_SUPERSEDED;
	if (!rc)
		rc = sx_snapshot_commit(&s, err);
	sx_snapshot_end(&s);
	return rc ? rc : sx_dir_publish(dir, path, mode, 1, err);
}

int sx_publish_lock_old(const char *path, unsigned flags, int wait_ms, simidx **out,
			simidx_error *err)
{
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	int rc = SIMIDX_E_MOVED;

	*out = NULL;
	how.flags = flags;
	for (int i = 0; rc == SIMIDX_E_MOVED && i < MAX_MOVES; i++) {
		sx_err_clear(err);
		rc = sx_index_open(path, &sx_local_backend, &how, out, err);
		if (!rc)
			rc = sx_store_lock((*out)->store, wait_ms, err);
		if (rc) {
			simidx_close(*out);
			*out = NULL;
		}
	}
	return rc;
}

int sx_publish(const char *dir, const char *path, const simidx_create_options *o,
	       int wait_ms, simidx_error *err)
{
	unsigned mode = o->mode ? o->mode : SX_PUBLISH_MODE;
	simidx_error first = { 0 };
	simidx *old;
	int rc = sx_dir_publish(dir, path, mode, 0, &first);

	/* A free name or an empty directory has just been taken. */
	if (rc != SIMIDX_E_EXISTS || !(o->flags & SIMIDX_CREATE_TRUNCATE)) {
		if (rc && err)
			*err = first;
		return rc;
	}
	/*
	 * What is not an index of ours is not thrown away; and a commit to one whose pages are
	 * damaged could end the process.
	 */
	rc = sx_publish_lock_old(path,
				 SIMIDX_OPEN_UNTRUSTED |
					 (o->flags & SIMIDX_CREATE_FORCE ? SIMIDX_OPEN_FORCE : 0),
				 wait_ms, &old, err);
	if (rc)
		return rc;
	rc = sx_publish_exchange(old, dir, path, mode, err);
	sx_store_unlock(old->store);
	simidx_close(old);
	return rc;
}
