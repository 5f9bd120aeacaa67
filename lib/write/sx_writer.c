/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdlib.h>

#include <simidx.h>

#include "index/sx_documents.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"
#include "write/sx_writer.h"

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
	    options->merge > SIMIDX_MERGE_BESIDE || options->wait_ms < -1 ||
	    options->flags & ~SIMIDX_WRITER_RESUME)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_open: bad index or options");
	rc = sx_index_check_fork(index, err);
	if (rc)
		return rc;
	w = sx_calloc(1, sizeof(*w));
	if (!w)
		return sx_fail_nomem(err);
	w->index = index;
	w->options = *options;
	rc = index->backend->writer->open(w, err);
	if (rc)
		free(w);
	else
		*out = w;
	return rc;
}

/* End the transaction and forget what was changed, but for the mark. */
static void end(simidx_writer *w)
{
	if (w->reader)
		sx_reader_release(w->reader);
	sx_snapshot_end(&w->snapshot);
	if (w->uses_memtable)
		sx_fresh_drop(w->index->fresh, w->pending.n);
	w->uses_memtable = 0;
	w->pending.n = 0;
	w->changes = 0;
	w->reserves_ids = 0;
	w->conditions.n = 0;
	w->refused.n = 0;
	sx_calls_clear(&w->calls);
	sx_ahead_clear(&w->ahead);
	w->index->backend->writer->end(w);
}

void sx_writer_drop(simidx_writer *w)
{
	end(w);
	w->mark.size = 0;
	w->locked = 0;
}

int sx_writer_begin(simidx_writer *w, simidx_error *err)
{
	int rc = sx_index_check_fork(w->index, err);

	if (rc || sx_snapshot_is_begun(&w->snapshot))
		return rc;
	rc = w->index->backend->writer->begin(w, err);
	w->now = sx_documents_now();
	if (rc)
		sx_writer_drop(w);
	return rc;
}

int sx_writer_renew(simidx_writer *w, simidx_error *err)
{
	int is_locked = w->locked;

	/* So that it is not given back. */
	w->locked = 0;
	end(w);
	w->locked = is_locked;
	return sx_writer_begin(w, err);
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
	sx_fresh *fresh = w->index->fresh;
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
		rc = sx_reader_open(w->index, &w->reader, err);
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

int sx_writer_fail_unknown(simidx_error *err)
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

int simidx_writer_prefetch(simidx_writer *w, const simidx_doc *docs, size_t n, simidx_error *err)
{
	int rc;

	sx_err_clear(err);
	if (!w || (!docs && n) ||
	    (n && (docs->size < SX_STRUCT_TO(simidx_doc, fp) || docs->size > SX_STRUCT_MAX)))
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_writer_prefetch: no writer or docs, or bad struct size");
	rc = sx_index_check_fork(w->index, err);
	return rc || !n ? rc : w->index->backend->writer->prefetch(w, docs, n, err);
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
	w->index->backend->writer->use_ids(w, next_id);
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

unsigned simidx_writer_merge_state(const simidx_writer *w)
{
	return w ? w->merge_state : 0;
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
	w->index->backend->bulk->destroy(w->ahead.bulk);
	simidx_reader_close(w->reader);
	w->index->backend->writer->close(w);
	free(w->pending.at);
	free(w->conditions.at);
	sx_u64s_free(&w->refused);
	sx_calls_free(&w->calls);
	sx_ahead_free(&w->ahead);
	free(w);
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
		return sx_fail(err, SIMIDX_E_STATE,
			       "simidx_writer_merge: commit or roll back first");
	sx_writer_drop(w);
	return w->index->backend->writer->merge(w, err);
}
