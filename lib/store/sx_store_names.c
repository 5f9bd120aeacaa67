/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The tables that are open, by name. LMDB keeps them in a list that it does not guard, and a
 * transaction sees of it what was there when it began. So one transaction at a time, the opener,
 * may add to the list, from its first table to its end, and it must have begun after the last
 * one that did; everybody else finds what is open here, without asking LMDB.
 */

#include <string.h>

#include "store/sx_store_lmdb.h"
#include "util/sx_err.h"

/* The number of a table that `txn` can use; the mutex is held. */
static int find_name(const sx_txn *txn, const char *name, MDB_dbi *dbi)
{
	const sx_store *store = txn->store;
	unsigned i;

	for (i = 0; i < store->n_names; i++) {
		const sx_name *n = &store->names[i];

		if (strcmp(n->name, name))
			continue;
		*dbi = n->dbi;
		return txn->is_opener || (i < store->n_kept && n->since <= txn->names_seen);
	}
	return 0;
}

/*
 * Under the mutex: 1 = found, 0 = txn is the opener and LMDB is to be asked, negative = error.
 * *stale is set when the transaction began too early to be the opener.
 */
static int find_or_wait(sx_txn *txn, const char *name, MDB_dbi *dbi, int *stale,
			simidx_error *err)
{
	sx_store *store = txn->store;

	*stale = 0;
	for (;;) {
		if (find_name(txn, name, dbi))
			return 1;
		if (txn->is_opener)
			return 0;
		if (!store->opener)
			break;
		if (pthread_equal(store->opener_thread, pthread_self()))
			return sx_fail(err, SIMIDX_E_STATE,
				       "this thread opens tables in another transaction");
		pthread_cond_wait(&store->changed, &store->mutex);
	}
	if (txn->names_seen != store->names_count) {
		*stale = 1;
		return 0;
	}
	txn->is_opener = 1;
	store->opener = txn;
	store->opener_thread = pthread_self();
	return 0;
}

int sx_names_find(sx_txn *txn, const char *name, MDB_dbi *dbi, simidx_error *err)
{
	int rc, stale;

	for (;;) {
		pthread_mutex_lock(&txn->store->mutex);
		rc = find_or_wait(txn, name, dbi, &stale, err);
		pthread_mutex_unlock(&txn->store->mutex);
		if (!stale)
			return rc;
		if (txn->is_write)
			return sx_fail(err, SIMIDX_E_BUSY,
				       "another thread opened tables meanwhile; begin again");
		sx_txn_reset(txn);
		rc = sx_txn_renew(txn, err);
		if (rc)
			return rc;
	}
}

int sx_names_add(sx_txn *txn, const char *name, MDB_dbi dbi, simidx_error *err)
{
	sx_store *store = txn->store;
	size_t size = strlen(name) + 1;
	sx_name *n;

	if (store->n_names == SX_STORE_MAX_TABLES || size > sizeof(n->name))
		return sx_fail(err, SIMIDX_E_UNSUPPORTED, "too many tables");
	pthread_mutex_lock(&store->mutex);
	n = &store->names[store->n_names++];
	memcpy(n->name, name, size);
	n->dbi = dbi;
	n->since = store->names_count + 1;
	pthread_mutex_unlock(&store->mutex);
	return SIMIDX_OK;
}

void sx_names_end(sx_txn *txn, int keep)
{
	sx_store *store = txn->store;

	if (!txn->is_opener)
		return;
	pthread_mutex_lock(&store->mutex);
	if (!keep)
		store->n_names = store->n_kept;
	if (store->n_names != store->n_kept)
		atomic_fetch_add(&store->names_count, 1);
	store->n_kept = store->n_names;
	store->opener = NULL;
	pthread_cond_broadcast(&store->changed);
	pthread_mutex_unlock(&store->mutex);
	txn->is_opener = 0;
}
