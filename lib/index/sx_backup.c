/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Copying a whole index, page by page.
 */

#include <stdlib.h>

#include <simidx_check.h>

#include "index/sx_snapshot.h"
#include "index/sx_verify.h"
#include "store/sx_dir.h"
#include "store/sx_page_check.h"
#include "util/sx_err.h"

/*
 * LMDB copies by its tree of pages, and a damaged one would end the process or the copying never.
 */
static int check_pages(const simidx *index, simidx_error *err)
{
	simidx_error local = { 0 };
	sx_txn *txn;
	int rc = sx_txn_begin_read(index->store, &txn, err);

	if (rc)
		return rc;
	rc = sx_page_check(txn, NULL, NULL, &local);
	sx_txn_abort(txn);
	/*
	 * Beside very fast commits there is no time to look, and their writer would die of damage.
	 */
	if (rc == SIMIDX_E_BUSY)
		return SIMIDX_OK;
	return rc ? sx_fail(err, rc, "nothing is copied: %s", local.text) : SIMIDX_OK;
}

/* SIMIDX_E_MOVED if another index has taken the place of this one, or it was moved. */
static int check_place(const simidx *index, simidx_error *err)
{
	sx_snapshot s;
	int rc = sx_snapshot_begin(&s, index, err);

	sx_snapshot_end(&s);
	return rc ? rc : sx_store_check_path(index->store, err);
}

/*
 * Verify a copy, which no other process knows of: this finds what was damaged in the index and what
 * the copying has spoiled.
 */
static int verify_copy(const simidx *index, const char *dir, simidx_error *err)
{
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx *copy;
	int rc;

	how.flags = SIMIDX_OPEN_STATIC | SIMIDX_OPEN_FORCE;
	rc = sx_index_open(dir, index->backend, &how, &copy, err);
	if (rc)
		return rc;
	simidx_set_progress(copy, index->progress, index->progress_ctx);
	rc = sx_verify_sound(copy, "nothing is kept of the copy, as it has", NULL, NULL, err);
	simidx_close(copy);
	return rc;
}

int simidx_backup(simidx *index, const char *destination, simidx_error *err)
{
	char *dir = NULL;
	int fd = -1, rc;

	sx_err_clear(err);
	if (!index || !destination)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_backup: index or destination is NULL");
	rc = sx_index_need(index, SX_HAS_TABLES, err);
	if (!rc)
		rc = sx_store_check_fork(index->store, err);
	if (!rc)
		rc = sx_dir_check_outside(destination, sx_store_path(index->store), err);
	if (!rc)
		rc = sx_dir_prepare(destination, &dir, &fd, err);
	if (rc)
		return rc;
	sx_index_progress(index, "backup", 0, 1);
	rc = check_pages(index, err);
	if (!rc)
		rc = check_place(index, err);
	if (!rc)
		rc = sx_store_copy(index->store, dir, err);
	if (!rc)
		rc = verify_copy(index, dir, err);
	if (!rc)
		rc = check_place(index, err);
	if (!rc)
		rc = sx_dir_publish(dir, destination, 0600, 0, err);
	if (!rc)
		sx_index_progress(index, "backup", 1, 1);
	else if (rc != SIMIDX_E_UNKNOWN)
		sx_dir_remove(dir);
	sx_dir_unlock(fd);
	free(dir);
	return rc;
}
