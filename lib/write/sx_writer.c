/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdlib.h>

#include <simidx_admin.h>

#include "store/sx_dir.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"
#include "write/sx_merge.h"
#include "write/sx_writer.h"

#define MIN_THRESHOLD 65536
#define MAX_THRESHOLD 1000000

static int no_meta_sync(const simidx_writer *w)
{
	return w->options.durability == SIMIDX_DURABILITY_NORMAL;
}

static int open_for_engine(simidx *index, const simidx_writer_options *options,
			   simidx_writer **out, simidx_error *err)
{
	simidx_writer *w = sx_calloc(1, sizeof(*w));
	sx_writer_engine *engine = sx_writer_engine_new();

	if (!w || !engine) {
		free(w);
		sx_writer_engine_free(engine);
		return sx_fail_nomem(err);
	}
	w->index = index;
	w->options = *options;
	w->engine = engine;
	*out = w;
	return SIMIDX_OK;
}

int simidx_writer_open(simidx *index, const simidx_writer_options *options, simidx_writer **out,
		       simidx_error *err)
{
	static const simidx_writer_options defaults = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_writer_options own;
	simidx_writer *w;
	int rc;

	sx_err_clear(err);
	if (!out)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_open: out is NULL");
	*out = NULL;
	options = sx_struct_read(options ? options : &defaults, sizeof(size_t), &own, sizeof(own));
	if (!index || !options || options->durability > SIMIDX_DURABILITY_NORMAL ||
	    options->merge > SIMIDX_MERGE_NEVER || options->wait_ms < -1 ||
	    options->flags & ~SIMIDX_WRITER_RESUME)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_open: bad index or options");
	rc = sx_index_check_fork(index, err);
	if (rc)
		return rc;
	if (index->engine && index->read_only)
		return sx_fail(err, SIMIDX_E_READ_ONLY, "%s: opened read-only", index->engine->uri);
	if (index->engine)
		return open_for_engine(index, options, out, err);
	if (index->read_only || !sx_store_is_writable(index->store))
		return sx_fail(err, SIMIDX_E_READ_ONLY, "%s: %s", sx_store_path(index->store),
			       index->read_only ? "opened read-only" : "no permission to write");
	if (index->ro_compat & ~SX_KNOWN_RO_COMPAT)
		return sx_fail(err, SIMIDX_E_READ_ONLY,
			       "%s: it uses features (%08x) that this library can only read",
			       sx_store_path(index->store), index->ro_compat);
	w = sx_calloc(1, sizeof(*w));
	if (!w)
		return sx_fail_nomem(err);
	w->index = index;
	w->options = *options;
	*out = w;
	return SIMIDX_OK;
}

void sx_writer_drop(simidx_writer *w)
{
	if (w->reader)
		sx_reader_release(w->reader);
	sx_snapshot_end(&w->snapshot);
	if (w->uses_memtable)
		sx_fresh_drop(&w->index->fresh, w->pending.n);
	w->uses_memtable = 0;
	w->pending.n = 0;
	w->changes = 0;
	w->mark.size = 0;
	w->reserves_ids = 0;
	w->has_left_label = 0;
	if (w->engine)
		sx_writer_engine_end(w->engine, w->index);
	if (w->locked && w->engine)
		sx_engine_unlock(w->index->engine);
	else if (w->locked)
		sx_store_unlock(w->index->store);
	w->locked = 0;
}

static int begin_transaction(simidx_writer *w, simidx_error *err)
{
	return sx_snapshot_begin_write(&w->snapshot, w->index, no_meta_sync(w), err);
}

/*
 * End the transaction, but keep the lock, and merge, unless somebody else is at it: then that one
 * will get ready, and what is fresh waits for the next merge.
 */
static int merge(simidx_writer *w, simidx_error *err)
{
	int rc;

	/* A snapshot that stays would keep all pages that the merge replaces. */
	if (w->reader)
		sx_reader_release(w->reader);
	sx_snapshot_end(&w->snapshot);
	rc = sx_store_lock_merge(w->index->store, 0, err);
	if (rc == SIMIDX_E_BUSY) {
		sx_err_clear(err);
		return SIMIDX_OK;
	}
	if (!rc) {
		rc = sx_merge_fresh(w->index, no_meta_sync(w), NULL, err);
		sx_store_unlock_merge(w->index->store);
	}
	return rc;
}

/* With an engine, writers of one handle take turns; it has no lock against others. */
static int begin_with_engine(simidx_writer *w, simidx_error *err)
{
	int resumes = w->options.flags & SIMIDX_WRITER_RESUME && !w->has_resumed;
	int rc = sx_engine_lock(w->index->engine, w->options.wait_ms, err);

	if (rc)
		return rc;
	w->locked = 1;
	w->snapshot.known = &w->engine->known;
	rc = sx_engine_finish(w->index->engine, resumes, err);
	w->has_resumed |= !rc;
	if (!rc)
		rc = begin_transaction(w, err);
	if (!rc)
		rc = sx_writer_use_memtable(w, err);
	if (rc)
		sx_writer_drop(w);
	return rc;
}

/* A merge whose merger was killed is finished first. */
int sx_writer_begin(simidx_writer *w, simidx_error *err)
{
	int rc = sx_index_check_fork(w->index, err);

	if (rc || sx_snapshot_is_begun(&w->snapshot))
		return rc;
	if (w->engine)
		return begin_with_engine(w, err);
	rc = sx_store_lock(w->index->store, w->options.wait_ms, err);
	if (rc)
		return rc;
	w->locked = 1;
	if (!w->cleaned)
		sx_dir_clean(w->index->store);
	w->cleaned = 1;
	rc = begin_transaction(w, err);
	if (!rc && w->snapshot.header.state & SX_STATE_MERGING) {
		rc = merge(w, err);
		if (!rc)
			rc = begin_transaction(w, err);
	}
	/* Its reader finds the pending rows in the memtable alone. */
	if (!rc && w->reader)
		rc = sx_writer_use_memtable(w, err);
	if (rc)
		sx_writer_drop(w);
	return rc;
}

int simidx_writer_begin(simidx_writer *w, simidx_error *err)
{
	sx_err_clear(err);
	if (!w)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_begin: writer is NULL");
	return sx_writer_begin(w, err);
}

int sx_writer_use_memtable(simidx_writer *w, simidx_error *err)
{
	sx_fresh *fresh = &w->index->fresh;
	sx_fresh_span span = sx_header_fresh(&w->snapshot.header);
	int rc;

	if (w->uses_memtable)
		return SIMIDX_OK;
	span.end -= w->pending.n;
	rc = sx_fresh_refresh(fresh, w->snapshot.txn, &span, err);
	if (!rc)
		rc = sx_fresh_add(fresh, w->pending.at, w->pending.n, err);
	w->uses_memtable = !rc;
	return rc;
}

int sx_writer_reader(simidx_writer *w, simidx_error *err)
{
	int rc;

	if (w->reader)
		return SIMIDX_OK;
	rc = sx_snapshot_is_begun(&w->snapshot) ? sx_writer_use_memtable(w, err) : SIMIDX_OK;
	if (!rc)
		rc = simidx_reader_open(w->index, &w->reader, err);
	if (!rc)
		w->reader->writing = &w->snapshot;
	return rc;
}

int simidx_writer_reader(simidx_writer *w, simidx_reader **out, simidx_error *err)
{
	int rc;

	sx_err_clear(err);
	if (!out)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_reader: out is NULL");
	*out = NULL;
	if (!w)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_reader: writer is NULL");
	rc = sx_writer_reader(w, err);
	*out = rc ? NULL : w->reader;
	return rc;
}

int sx_writer_remove_left_label(simidx_writer *w, simidx_error *err)
{
	unsigned char bytes[8];
	sx_slice key = { bytes, sizeof(bytes) };

	if (!w->has_left_label)
		return SIMIDX_OK;
	w->has_left_label = 0;
	sx_store_be64(bytes, w->left_label);
	return sx_dbi_del(w->snapshot.txn, w->index->tables.labels, key, err);
}

/* ---- commit ---- */

static int fail_unknown(simidx_error *err)
{
	simidx_error cause;

	if (!err)
		return SIMIDX_E_UNKNOWN;
	cause = *err;
	sx_err_clear(err);
	sx_fail(err, SIMIDX_E_UNKNOWN, "whether the last commit is stored is not known: %s",
		cause.text);
	err->sys_errno = cause.sys_errno;
	return SIMIDX_E_UNKNOWN;
}

static int store_pending(simidx_writer *w, simidx_error *err)
{
	sx_snapshot *s = &w->snapshot;
	uint64_t id = sx_txn_id(s->txn);
	enum sx_outcome outcome = SX_NOT_STORED;
	int rc = sx_writer_remove_left_label(w, err);

	if (!rc)
		rc = sx_fresh_log_append(s->txn, &w->index->fresh.log, w->pending.at, w->pending.n,
					 s->header.next_seq - w->pending.n, err);
	if (!rc)
		rc = sx_meta_write_mark(s->txn, &w->index->tables.meta, &w->mark, err);
	if (!rc) {
		rc = sx_snapshot_commit(s, err);
		if (!rc)
			outcome = SX_STORED;
		else if (!s->txn) /* it came to the commit itself */
			outcome = sx_txn_outcome(w->index->store, id);
	}
	if (outcome == SX_STORED) {
		w->stored += w->changes;
		w->changes = 0;
		w->pending.n = 0; /* so that the memtable keeps the rows */
	}
	return outcome == SX_OUTCOME_UNKNOWN ? fail_unknown(err) : rc;
}

static int has_to_store(const simidx_writer *w)
{
	return w->pending.n || w->mark.size || w->reserves_ids;
}

static int commit_to_engine(simidx_writer *w, simidx_error *err)
{
	int rc = sx_writer_begin(w, err);

	if (!rc)
		rc = sx_writer_engine_store(w->engine, &w->snapshot, &w->pending, &w->mark,
					    w->options.durability, err);
	if (!rc)
		w->stored += w->changes;
	if (rc == SIMIDX_E_UNKNOWN)
		fail_unknown(err);
	sx_writer_drop(w);
	return rc;
}

static int merge_is_due(const simidx_writer *w)
{
	const sx_header *h = &w->snapshot.header;
	uint64_t threshold = w->options.merge_threshold;

	if (w->options.merge == SIMIDX_MERGE_NEVER)
		return 0;
	if (!threshold) {
		threshold = h->documents / 16;
		if (threshold < MIN_THRESHOLD)
			threshold = MIN_THRESHOLD;
		if (threshold > MAX_THRESHOLD)
			threshold = MAX_THRESHOLD;
	}
	return h->next_seq - h->first_seq > threshold;
}

int simidx_writer_commit(simidx_writer *w, simidx_error *err)
{
	int rc;

	sx_err_clear(err);
	if (!w)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_commit: writer is NULL");
	rc = sx_index_check_fork(w->index, err);
	if (rc)
		return rc;
	/* Documents that were replaced by what they were: nothing is to be written. */
	if (!w->pending.n) {
		w->stored += w->changes;
		w->changes = 0;
	}
	if (!has_to_store(w) && (w->engine ? !sx_engine_is_unfinished(w->index->engine)
					   : w->options.merge == SIMIDX_MERGE_NEVER)) {
		sx_writer_drop(w);
		return SIMIDX_OK;
	}
	if (w->engine)
		return commit_to_engine(w, err);
	rc = sx_writer_begin(w, err);
	if (!rc && has_to_store(w))
		rc = store_pending(w, err);
	if (!rc && merge_is_due(w))
		rc = merge(w, err);
	sx_writer_drop(w);
	return rc;
}

int simidx_writer_set_mark(simidx_writer *w, const void *data, size_t size, simidx_error *err)
{
	sx_err_clear(err);
	if (!w)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_set_mark: writer is NULL");
	return sx_meta_set_mark(&w->mark, data, size, "simidx_writer_set_mark", err);
}

int simidx_writer_reserve_ids(simidx_writer *w, uint64_t next_id, simidx_error *err)
{
	int rc;

	sx_err_clear(err);
	if (!w)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_reserve_ids: writer is NULL");
	rc = sx_documents_check_next_id(w->index, next_id, err);
	if (!rc)
		rc = sx_writer_begin(w, err);
	if (rc || next_id <= w->snapshot.header.next_id)
		return rc;
	w->snapshot.header.next_id = next_id;
	w->reserves_ids = 1;
	if (w->engine && w->engine->given_end < next_id)
		w->engine->given_end = next_id;
	return SIMIDX_OK;
}

uint64_t simidx_writer_stored(const simidx_writer *w)
{
	return w ? w->stored : 0;
}

uint64_t simidx_writer_pending(const simidx_writer *w)
{
	return w ? w->changes : 0;
}

void simidx_writer_rollback(simidx_writer *w)
{
	/* In a child after fork(), the transaction and the lock are the parent's. */
	if (w && !sx_index_check_fork(w->index, NULL))
		sx_writer_drop(w);
}

void simidx_writer_close(simidx_writer *w)
{
	if (!w)
		return;
	simidx_writer_rollback(w);
	simidx_reader_close(w->reader);
	sx_writer_engine_free(w->engine);
	free(w->pending.at);
	free(w);
}

/* Merge, then what was committed meanwhile, too, until that is little. */
static int merge_all(simidx_writer *w, simidx_error *err)
{
	uint64_t left = UINT64_MAX, before;
	int rc;

	do {
		sx_snapshot s;

		rc = sx_merge_fresh(w->index, no_meta_sync(w), &w->locked, err);
		if (!rc)
			rc = sx_snapshot_begin(&s, w->index, err);
		if (rc)
			return rc;
		before = left;
		left = s.header.next_seq - s.header.first_seq;
		sx_snapshot_end(&s);
	} while (left && left < before / 2);
	return SIMIDX_OK;
}

int simidx_writer_merge(simidx_writer *w, simidx_error *err)
{
	int rc;

	sx_err_clear(err);
	if (!w)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_merge: writer is NULL");
	rc = sx_index_check_fork(w->index, err);
	if (rc)
		return rc;
	if (w->changes || w->mark.size || w->reserves_ids)
		return sx_fail(err, SIMIDX_E_STATE, "simidx_writer_merge: commit or roll back first");
	if (w->engine) { /* its tables have all that was committed */
		sx_writer_drop(w);
		return SIMIDX_OK;
	}
	/* Who has the write lock does not wait for the merger, who may wait for that one. */
	sx_writer_drop(w);
	rc = sx_store_lock_merge(w->index->store, w->options.wait_ms, err);
	if (rc)
		return rc;
	/* The first time it waits no longer than it may, and later until the others are ready. */
	rc = sx_store_lock(w->index->store, w->options.wait_ms, err);
	if (!rc) {
		sx_store_unlock(w->index->store);
		rc = merge_all(w, err);
	}
	sx_writer_drop(w);
	sx_store_unlock_merge(w->index->store);
	return rc;
}
