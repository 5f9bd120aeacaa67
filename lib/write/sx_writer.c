/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdlib.h>
#include <string.h>

#include <simidx_admin.h>

#include "index/sx_documents.h"
#include "store/sx_dir.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"
#include "util/sx_struct.h"
#include "write/sx_merge.h"

#define MIN_THRESHOLD 65536
#define MAX_THRESHOLD 1000000

struct simidx_writer {
	simidx *index;
	simidx_writer_options options;
	int locked;            /* the write lock is held */
	int cleaned;           /* leftovers of builders that died were looked for */
	sx_snapshot snapshot;  /* of the write transaction, its header as the commit will have it */
	sx_fresh_rows pending; /* put since the last commit; not in the log yet */
	uint64_t stored;       /* documents that this writer has committed */
	int uses_memtable;     /* pending rows are in the memtable, too */
	sx_fresh_rows equal;   /* scratch: those with the id or label of the one to put */
	sx_mark mark;          /* for the next commit */
};

static int no_meta_sync(const simidx_writer *w)
{
	return w->options.durability == SIMIDX_DURABILITY_NORMAL;
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
	    options->merge > SIMIDX_MERGE_NEVER || options->wait_ms < -1 || options->reserved)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_open: bad index or options");
	rc = sx_store_check_fork(index->store, err);
	if (rc)
		return rc;
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

/* Give up the transaction, the lock and what was put. */
static void drop(simidx_writer *w)
{
	sx_snapshot_end(&w->snapshot);
	if (w->uses_memtable && w->pending.n)
		sx_fresh_discard(&w->index->fresh);
	w->uses_memtable = 0;
	w->pending.n = 0;
	w->mark.size = 0;
	if (w->locked)
		sx_store_unlock(w->index->store);
	w->locked = 0;
}

static int begin_transaction(simidx_writer *w, simidx_error *err)
{
	return sx_snapshot_begin_write(&w->snapshot, w->index, no_meta_sync(w), err);
}

/* End the transaction, but keep the lock, and merge. */
static int merge(simidx_writer *w, simidx_error *err)
{
	sx_snapshot_end(&w->snapshot);
	return sx_merge_fresh(w->index, no_meta_sync(w), err);
}

/* Take the lock and a write transaction, finishing a merge that was killed. */
static int begin(simidx_writer *w, simidx_error *err)
{
	int rc = sx_store_check_fork(w->index->store, err);

	if (rc || w->snapshot.txn)
		return rc;
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
	if (rc)
		drop(w);
	return rc;
}

/* ---- put ---- */

/* From now on this transaction's rows are looked up, so they go into the memtable. */
static int use_memtable(simidx_writer *w, simidx_error *err)
{
	sx_fresh *fresh = &w->index->fresh;
	sx_fresh_span span = sx_header_fresh(&w->snapshot.header);
	int rc;

	if (w->uses_memtable)
		return SIMIDX_OK;
	rc = sx_fresh_refresh(fresh, w->snapshot.txn, &span, err);
	if (!rc)
		rc = sx_fresh_add(fresh, w->pending.at, w->pending.n, err);
	if (rc)
		sx_fresh_discard(fresh);
	w->uses_memtable = !rc;
	return rc;
}

/* The rows that are fresh, and those that wait for the commit. */
static sx_fresh_span fresh_and_pending(const simidx_writer *w)
{
	sx_fresh_span span = sx_header_fresh(&w->snapshot.header);

	span.end += w->pending.n;
	return span;
}

static int duplicate_id(simidx_writer *w, uint64_t id, simidx_error *err)
{
	sx_fresh_span span = fresh_and_pending(w);
	sx_doc doc;
	int rc;

	/* Ids above all others need no look-up. */
	if (id >= w->snapshot.header.next_id)
		return SIMIDX_OK;
	rc = use_memtable(w, err);
	w->equal.n = 0;
	if (!rc)
		rc = sx_fresh_by_id(&w->index->fresh, w->snapshot.txn, &span, id, &w->equal, err);
	if (!rc && !w->equal.n)
		rc = sx_documents_by_id(&w->snapshot, id, &doc, err);
	if (rc == SIMIDX_E_NOT_FOUND)
		return SIMIDX_OK;
	return rc ? rc : sx_fail(err, SIMIDX_E_DUPLICATE, "id %llu is already in use",
				 (unsigned long long)id);
}

/* The bytes of labels that wait for the commit are in `labels` already. */
static int duplicate_label(simidx_writer *w, const simidx_doc *doc, uint64_t hash,
			   simidx_error *err)
{
	const sx_tables *tables = &w->index->tables;
	sx_fresh_span span = fresh_and_pending(w);
	sx_txn *txn = w->snapshot.txn;
	uint64_t other;
	int rc = use_memtable(w, err);

	w->equal.n = 0;
	if (!rc)
		rc = sx_fresh_by_label(&w->index->fresh, txn, &span, hash, &w->equal, err);
	if (rc)
		return rc;
	rc = SIMIDX_E_NOT_FOUND;
	for (size_t i = 0; rc == SIMIDX_E_NOT_FOUND && i < w->equal.n; i++)
		rc = sx_documents_has_label(txn, tables, w->equal.at[i].id, doc->label, doc->label_size,
					    err);
	if (rc == SIMIDX_E_NOT_FOUND)
		rc = sx_documents_by_label(txn, tables, doc->label, doc->label_size, &other, err);
	if (rc == SIMIDX_E_NOT_FOUND)
		return SIMIDX_OK;
	return rc ? rc : sx_fail(err, SIMIDX_E_DUPLICATE, "the label is already in use");
}

/* Store a label's bytes. A failure here has spoiled the transaction. */
static int put_label(simidx_writer *w, const sx_fresh_row *row, const simidx_doc *doc,
		     simidx_error *err)
{
	unsigned char bytes[8];
	sx_slice key = { bytes, sizeof(bytes) }, value = { doc->label, doc->label_size };
	int rc;

	sx_store_be64(bytes, row->id);
	rc = sx_dbi_put(w->snapshot.txn, w->index->tables.labels, key, value, err);
	if (rc)
		drop(w);
	return rc;
}

static int add_row(simidx_writer *w, const sx_fresh_row *row, simidx_error *err)
{
	int rc = SIMIDX_OK;

	if (sx_reserve(&w->pending.at, &w->pending.cap, w->pending.n + 1, sizeof(*w->pending.at)))
		return sx_fail_nomem(err);
	if (w->uses_memtable)
		rc = sx_fresh_add(&w->index->fresh, row, 1, err);
	if (!rc)
		w->pending.at[w->pending.n++] = *row;
	return rc;
}

static int put(simidx_writer *w, const simidx_doc *doc, uint64_t *id, simidx_error *err)
{
	sx_header *h = &w->snapshot.header;
	sx_fresh_row row = { .id = doc->id, .fp = doc->fp, .op = SX_FRESH_PUT };
	int rc = SIMIDX_OK;

	if (doc->flags & SIMIDX_DOC_FP2_UNKNOWN && !w->index->has_unknown_fp2)
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "its second fingerprint is not known, as that of no document in the index: only a new index can take it");
	if (doc->flags)
		row.fp2 = doc->flags & SIMIDX_DOC_FP2 ? doc->fp2 : w->index->unknown_fp2;
	if (sx_has_ids(w->index) && row.id == SIMIDX_NO_ID) {
		if (h->next_id > SIMIDX_MAX_ID)
			return sx_fail(err, SIMIDX_E_RANGE, "there is no id above the largest one");
		row.id = h->next_id;
	} else if (sx_has_ids(w->index)) {
		rc = duplicate_id(w, row.id, err);
	}
	if (!rc && doc->label) {
		row.op |= SX_FRESH_LABEL;
		row.label_hash = sx_hash(doc->label, doc->label_size);
		rc = duplicate_label(w, doc, row.label_hash, err);
	}
	if (!rc)
		rc = add_row(w, &row, err);
	if (!rc && doc->label)
		rc = put_label(w, &row, doc, err);
	if (rc)
		return rc;
	h->documents++;
	h->labels += doc->label != NULL;
	if (sx_has_ids(w->index) && row.id >= h->next_id)
		h->next_id = row.id + 1;
	if (id)
		*id = row.id;
	return SIMIDX_OK;
}

int simidx_writer_put(simidx_writer *w, const simidx_doc *given, uint64_t *id, simidx_error *err)
{
	simidx_doc own;
	const simidx_doc *doc;
	int rc;

	sx_err_clear(err);
	if (id)
		*id = SIMIDX_NO_ID;
	if (!w || !given)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_put: writer or doc is NULL");
	doc = sx_struct_read(given, SX_STRUCT_TO(simidx_doc, fp), &own, sizeof(own));
	rc = sx_documents_check(w->index, doc, err);
	if (!rc)
		rc = begin(w, err);
	return rc ? rc : put(w, doc, id, err);
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
	int rc = sx_fresh_log_append(s->txn, &w->index->fresh.log, w->pending.at, w->pending.n,
				     s->header.next_seq, err);

	s->header.next_seq += w->pending.n;
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
		w->stored += w->pending.n;
		w->pending.n = 0; /* so that the memtable keeps the rows */
	}
	return outcome == SX_OUTCOME_UNKNOWN ? fail_unknown(err) : rc;
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
	rc = sx_store_check_fork(w->index->store, err);
	if (rc)
		return rc;
	if (!w->pending.n && !w->mark.size && w->options.merge == SIMIDX_MERGE_NEVER) {
		drop(w);
		return SIMIDX_OK;
	}
	rc = begin(w, err);
	if (!rc && (w->pending.n || w->mark.size))
		rc = store_pending(w, err);
	if (!rc && merge_is_due(w))
		rc = merge(w, err);
	drop(w);
	return rc;
}

int simidx_writer_set_mark(simidx_writer *w, const void *data, size_t size, simidx_error *err)
{
	sx_err_clear(err);
	if (!w)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_set_mark: writer is NULL");
	return sx_meta_set_mark(&w->mark, data, size, "simidx_writer_set_mark", err);
}

uint64_t simidx_writer_stored(const simidx_writer *w)
{
	return w ? w->stored : 0;
}

uint64_t simidx_writer_pending(const simidx_writer *w)
{
	return w ? w->pending.n : 0;
}

void simidx_writer_rollback(simidx_writer *w)
{
	/* In a child after fork(), the transaction and the lock are the parent's. */
	if (w && !sx_store_check_fork(w->index->store, NULL))
		drop(w);
}

void simidx_writer_close(simidx_writer *w)
{
	if (!w)
		return;
	simidx_writer_rollback(w);
	free(w->pending.at);
	free(w->equal.at);
	free(w);
}

int simidx_writer_merge(simidx_writer *w, simidx_error *err)
{
	int rc;

	sx_err_clear(err);
	if (!w)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_merge: writer is NULL");
	rc = sx_store_check_fork(w->index->store, err);
	if (rc)
		return rc;
	if (w->pending.n)
		return sx_fail(err, SIMIDX_E_STATE, "simidx_writer_merge: commit what was put first");
	rc = begin(w, err);
	if (rc)
		return rc;
	rc = merge(w, err);
	drop(w);
	return rc;
}
