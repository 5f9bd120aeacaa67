/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "index/sx_index.h"

#include <stdlib.h>

#include <simidx_check.h>
#include <simidx_info.h>

#include "kernel/sx_kernel.h"
#include "store/sx_page_check.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

/* A transaction of a merge writes 16 MB of blocks, or as many rows as make about that. */
#define MERGE_BLOCKS 4096
#define MERGE_ROWS 100000

/* Below, what sorting saves is less than what it costs; beyond, memory grows and little else. */
#define BATCH_SORTED_FROM 10000
#define BATCH_SLICE 131072

/* While one transaction of a deletion of old documents is at it, others wait. */
#define OLDER_DELETED 65536
#define OLDER_SEEN 4000000

int sx_index_open_tables(simidx *index, sx_txn *txn, int create, simidx_error *err)
{
	return sx_tables_open(&index->tables, &index->fresh->log, index->schema,
			      sx_store_block_size(index->store), txn, create, err);
}

void sx_index_set_schema(simidx *index, sx_schema *schema)
{
	index->schema = schema;
	index->fresh->bits = schema->bits;
}

/* Everything about an index that does not change while it is open. */
static int load_schema(simidx *index, sx_txn *txn, simidx_error *err)
{
	sx_header *h = sx_calloc(1, sizeof(*h));
	sx_schema *schema = NULL;
	int rc;

	if (!h)
		return sx_fail_nomem(err);
	rc = sx_meta_open(txn, &index->tables.meta, h, err);
	if (!rc && h->page_size != sx_store_page_size(index->store))
		rc = sx_fail(err, SIMIDX_E_CORRUPT, "header: another page size than the file has");
	if (!rc)
		rc = sx_schema_of_header(h, &schema, err);
	if (!rc)
		rc = sx_meta_read_profile(txn, &index->tables.meta, &schema->profile, err);
	if (rc)
		sx_schema_free(schema);
	else
		sx_index_set_schema(index, schema);
	free(h);
	return rc;
}

simidx *sx_index_new(const sx_backend *backend, unsigned flags)
{
	simidx *index = sx_calloc(1, sizeof(*index));

	if (!index)
		return NULL;
	index->backend = backend;
	index->tuning = (sx_tuning){ MERGE_BLOCKS,  MERGE_ROWS, BATCH_SORTED_FROM, BATCH_SLICE,
				     OLDER_DELETED, OLDER_SEEN, { 0 } };
	index->read_only = (flags & (SIMIDX_OPEN_READ_ONLY | SIMIDX_OPEN_STATIC)) != 0;
	index->fresh = sx_fresh_new();
	index->block_index_cache = sx_block_index_cache_new();
	if (!index->fresh || !index->block_index_cache) {
		sx_fresh_free(index->fresh);
		sx_block_index_cache_free(index->block_index_cache);
		free(index);
		return NULL;
	}
	index->kernel = index->fresh->kernel = sx_kernel_best();
	return index;
}

/* What the store holds, by both copies of `meta` or by one of them. */
static int read_store(simidx *index, int only, simidx_error *err)
{
	sx_txn *txn = NULL;
	int rc = sx_txn_begin_read(index->store, &txn, err);

	index->tables.meta.only = only;
	if (!rc)
		rc = load_schema(index, txn, err);
	if (!rc)
		rc = sx_index_open_tables(index, txn, 0, err);
	/* A read transaction is committed so that the tables stay open after it. */
	if (!rc)
		return sx_txn_commit(txn, err);
	sx_txn_abort(txn);
	sx_schema_free(index->schema);
	index->schema = NULL;
	return rc;
}

/* Check pages before LMDB reads them: all, if the file is not trusted or is too short. */
static int check_pages(sx_store *store, unsigned flags, simidx_error *err)
{
	simidx_error local = { 0 };
	sx_txn *txn;
	int rc;

	if (!(flags & SIMIDX_OPEN_UNTRUSTED) && !sx_store_is_short(store))
		return SIMIDX_OK;
	rc = sx_txn_begin_read(store, &txn, err);
	if (rc)
		return rc;
	rc = sx_page_check(txn, NULL, NULL, &local);
	if (rc)
		sx_fail(err, rc, "%s: %s", sx_store_path(store), local.text);
	sx_txn_abort(txn);
	return rc;
}

/* A page of one copy that LMDB cannot read spoils the transaction; then the other copy is read. */
static int read_copies(simidx *index, simidx_error *err)
{
	simidx_error first = { 0 };
	int rc = read_store(index, SX_META_BOTH, &first);

	for (int copy = 0; rc == SIMIDX_E_CORRUPT && copy < SX_META_COPIES; copy++)
		if (!read_store(index, copy, NULL))
			return SIMIDX_OK;
	if (rc && err)
		*err = first;
	return rc;
}

int sx_index_open_store(sx_store *store, const sx_backend *backend, unsigned flags, simidx **out,
			simidx_error *err)
{
	simidx *index = sx_index_new(backend, flags);
	int rc;

	if (!index) {
		sx_store_close(store);
		return sx_fail_nomem(err);
	}
	index->store = store;
	rc = check_pages(store, flags, err);
	if (rc) {
		simidx_close(index);
		return rc;
	}
	sx_dbi_lock(store);
	rc = read_copies(index, err);
	sx_dbi_unlock(store);
	if (rc) {
		simidx_close(index);
		return rc;
	}
	*out = index;
	return SIMIDX_OK;
}

int sx_index_describe(sx_store *store, const sx_backend *backend, sx_schema *schema, simidx **out,
		      simidx_error *err)
{
	simidx *index = sx_index_new(backend, SIMIDX_OPEN_READ_ONLY);
	int rc;

	if (!index) {
		sx_schema_free(schema);
		sx_store_close(store);
		return sx_fail_nomem(err);
	}
	index->store = store;
	sx_index_set_schema(index, schema);
	rc = sx_index_open_tables(index, NULL, 0, err);
	if (rc)
		simidx_close(index);
	else
		*out = index;
	return rc;
}

int sx_index_open(const char *path, const sx_backend *backend, const simidx_open_options *options,
		  simidx **out, simidx_error *err)
{
	const sx_kernel *kernel = options->kernel ? sx_kernel_find(options->kernel)
						  : sx_kernel_best();
	sx_store_options how = { .map_size = options->map_size };
	sx_store *store;
	int rc;

	if (!kernel)
		return sx_fail(err, SIMIDX_E_UNSUPPORTED,
			       "\"%.16s\" is no kernel, or not one for this CPU", options->kernel);
	if (options->flags & SIMIDX_OPEN_READ_ONLY)
		how.flags |= SX_STORE_READ_ONLY;
	if (options->flags & SIMIDX_OPEN_STATIC)
		how.flags |= SX_STORE_STATIC;
	if (options->flags & SIMIDX_OPEN_FORCE)
		how.flags |= SX_STORE_FORCE;
	rc = sx_store_open(path, &how, &store, err);
	if (!rc)
		rc = sx_index_open_store(store, backend, options->flags, out, err);
	if (rc)
		return rc;
	(*out)->checks = (options->flags & (SIMIDX_OPEN_CHECK | SIMIDX_OPEN_UNTRUSTED)) != 0;
	(*out)->kernel = (*out)->fresh->kernel = kernel;
	(*out)->block_index_cache->max_bytes = options->block_index_bytes;
	return SIMIDX_OK;
}

void simidx_close(simidx *index)
{
	if (!index)
		return;
	index->backend->place->close(index);
	sx_fresh_free(index->fresh);
	sx_block_index_cache_free(index->block_index_cache);
	sx_schema_free(index->schema);
	free(index);
}

void simidx_set_progress(simidx *index,
			 void (*callback)(void *ctx, const char *phase, uint64_t done,
					  uint64_t total),
			 void *ctx)
{
	if (!index)
		return;
	index->progress = callback;
	index->progress_ctx = ctx;
}

int sx_index_refuse(enum sx_capability capability, const char *holder, simidx_error *err)
{
	return sx_fail(err, SIMIDX_E_UNSUPPORTED, "not for an index of %s%s", holder,
		       capability == SX_CAN_MEND
			       ? "; simidx_repair() makes a new index of a damaged one"
			       : ": load a full dump of it into a directory");
}

int sx_index_need(const simidx *index, enum sx_capability capability, simidx_error *err)
{
	if (index->backend->capabilities & capability)
		return SIMIDX_OK;
	return sx_index_refuse(capability, index->backend->place->holder(index), err);
}

void sx_index_progress(const simidx *index, const char *phase, uint64_t done, uint64_t total)
{
	if (index->progress)
		index->progress(index->progress_ctx, phase, done, total);
}
