/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "local/sx_local_writer.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "index/sx_notes.h"
#include "local/sx_local_older.h"
#include "store/sx_dir.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "write/sx_merge.h"

#define MIN_THRESHOLD 65536
#define MAX_THRESHOLD 1000000

/* A commit that waits for a merge does so as long as this, for every so many rows of it. */
#define WAIT_MS 50
#define WAIT_ROWS 10000

/* Whether an entry that is to be removed stands in `labels` or `notes`, empty, and its id. */
struct left {
	int is_there;
	uint64_t id;
};

/* What a writer of a directory has besides. */
struct own {
	int cleaned; /* leftovers of builders that died were looked for */
	struct left label, note;
};

static int open_writer(simidx_writer *w, simidx_error *err)
{
	const simidx *index = w->index;

	if (index->read_only || !sx_store_is_writable(index->store))
		return sx_fail(err, SIMIDX_E_READ_ONLY, "%s: %s", sx_store_path(index->store),
			       index->read_only ? "opened read-only" : "no permission to write");
	if (index->schema->ro_compat & ~SX_KNOWN_RO_COMPAT)
		return sx_fail(err, SIMIDX_E_READ_ONLY,
			       "%s: it uses features (%08x) that this library can only read",
			       sx_store_path(index->store), index->schema->ro_compat);
	w->held = sx_calloc(1, sizeof(struct own));
	return w->held ? SIMIDX_OK : sx_fail_nomem(err);
}

static void close_writer(simidx_writer *w)
{
	free(w->held);
}

static int no_meta_sync(const simidx_writer *w)
{
	return w->options.durability == SIMIDX_DURABILITY_NORMAL;
}

static int begin_transaction(simidx_writer *w, simidx_error *err)
{
	return sx_snapshot_begin_write(&w->snapshot, w->index, no_meta_sync(w), err);
}

/*
 * End the transaction, but keep the lock, and merge, unless another writer does. Then that writer
 * ends its merge, and what is fresh waits for the next one: *merged is 0.
 */
static int merge(simidx_writer *w, int *merged, simidx_error *err)
{
	int rc;

	*merged = 0;
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
		*merged = !rc;
		sx_store_unlock_merge(w->index->store);
	}
	return rc;
}

/* A merge whose merger was killed is finished first. */
static int begin(simidx_writer *w, simidx_error *err)
{
	const sx_header *h = &w->snapshot.header;
	struct own *own = w->held;
	int merged, rc;

	rc = sx_store_lock(w->index->store, w->options.wait_ms, err);
	if (rc)
		return rc;
	w->locked = 1;
	if (!own->cleaned)
		sx_dir_clean(w->index->store);
	own->cleaned = 1;
	rc = begin_transaction(w, err);
	if (!rc && h->state & SX_STATE_MERGING) {
		rc = merge(w, &merged, err);
		if (!rc)
			rc = begin_transaction(w, err);
	}
	/* Its reader finds the pending rows in the memtable alone. */
	if (!rc && w->reader)
		rc = sx_writer_use_memtable(w, err);
	return rc;
}

static void end_writer(simidx_writer *w)
{
	struct own *own = w->held;

	own->label.is_there = own->note.is_there = 0;
	if (w->locked)
		sx_store_unlock(w->index->store);
}

static int prefetch(simidx_writer *w, const simidx_doc *docs, size_t n, simidx_error *err)
{
	(void)w; /* no look-up waits for an answer */
	(void)docs;
	(void)n;
	(void)err;
	return SIMIDX_OK;
}

/* ---- ids and leases: there is no other writer ---- */

static int new_id(simidx_writer *w, uint64_t at_least, uint64_t *id, simidx_error *err)
{
	(void)w;
	(void)err;
	*id = at_least;
	return SIMIDX_OK;
}

static void use_ids(simidx_writer *w, uint64_t below)
{
	(void)w; /* the header has the next id */
	(void)below;
}

static int lease(simidx_writer *w, uint64_t fp, simidx_error *err)
{
	(void)w;
	(void)fp;
	(void)err;
	return SIMIDX_OK;
}

/* ---- labels and notes: their bytes are in the transaction ---- */

/*
 * Remove the entry that was left because it was the only one, before the commit at the latest.
 * LMDB does not reuse the page of a table that becomes empty until then: a label that changes
 * hands again and again would take a new page each time.
 */
static int remove_left(simidx_writer *w, sx_dbi dbi, struct left *left, simidx_error *err)
{
	unsigned char bytes[8];
	sx_slice key = { bytes, sizeof(bytes) };

	if (!left->is_there)
		return SIMIDX_OK;
	left->is_there = 0;
	sx_store_be64(bytes, left->id);
	return sx_dbi_del(w->snapshot.txn, dbi, key, err);
}

/* SIMIDX_E_NOT_FOUND, without setting err, if the id has none. */
static int remove_bytes(simidx_writer *w, sx_dbi dbi, struct left *left, uint64_t id, sx_slice key,
			simidx_error *err)
{
	sx_txn *txn = w->snapshot.txn;
	sx_slice there;
	sx_dbi_stat stat;
	int rc = sx_dbi_stat_get(txn, dbi, &stat, err);

	if (rc || stat.keys > 1)
		return rc ? rc : sx_dbi_del(txn, dbi, key, err);
	rc = sx_dbi_get(txn, dbi, key, &there, err);
	if (!rc)
		rc = sx_dbi_put(txn, dbi, key, (sx_slice){ "", 0 }, err);
	if (!rc)
		*left = (struct left){ 1, id };
	return rc;
}

/*
 * A deleted document has left its label and its note until the next merge: they are not to be those
 * of another one. NULL: the document has none.
 */
static int set_bytes(simidx_writer *w, sx_dbi dbi, struct left *left, uint64_t id, sx_slice value,
		     simidx_error *err)
{
	unsigned char bytes[8];
	sx_slice key = { bytes, sizeof(bytes) };
	int rc;

	sx_store_be64(bytes, id);
	if (!value.data) {
		rc = remove_bytes(w, dbi, left, id, key, err);
		return rc == SIMIDX_E_NOT_FOUND ? SIMIDX_OK : rc;
	}
	rc = sx_dbi_put(w->snapshot.txn, dbi, key, value, err);
	if (left->is_there && left->id == id)
		left->is_there = 0;
	return rc ? rc : remove_left(w, dbi, left, err);
}

static int label(simidx_writer *w, uint64_t id, const char *label, size_t size, simidx_error *err)
{
	struct own *own = w->held;

	return set_bytes(w, w->index->tables.labels, &own->label, id, (sx_slice){ label, size },
			 err);
}

static int note(simidx_writer *w, uint64_t id, const void *note, size_t size, simidx_error *err)
{
	struct own *own = w->held;
	sx_slice value = { NULL, 0 };
	unsigned char *bytes = note ? sx_realloc(NULL, size + SX_NOTE_CHECKSUM, 1) : NULL;
	int rc;

	if (note && !bytes)
		return sx_fail_nomem(err);
	if (note) {
		memcpy(bytes, note, size);
		sx_note_checksum(id, (sx_slice){ note, size }, bytes + size);
		value = (sx_slice){ bytes, size + SX_NOTE_CHECKSUM };
	}
	rc = set_bytes(w, w->index->tables.notes, &own->note, id, value, err);
	free(bytes);
	return rc;
}

/* Both are removed where they were the only ones. */
static int remove_all_left(simidx_writer *w, simidx_error *err)
{
	struct own *own = w->held;
	int rc = remove_left(w, w->index->tables.labels, &own->label, err);

	return rc ? rc : remove_left(w, w->index->tables.notes, &own->note, err);
}

/* ---- commits and merges ---- */

static int store_pending(simidx_writer *w, simidx_error *err)
{
	sx_snapshot *s = &w->snapshot;
	const sx_header *h = &s->header;
	uint64_t id = sx_txn_id(s->txn);
	enum sx_outcome outcome = SX_NOT_STORED;
	int rc = remove_all_left(w, err);

	if (!rc)
		rc = sx_fresh_log_append(s->txn, &w->index->fresh->log, w->pending.at, w->pending.n,
					 h->next_seq - w->pending.n, err);
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
	return outcome == SX_OUTCOME_UNKNOWN ? sx_writer_fail_unknown(err) : rc;
}

/* Fresh rows that a commit may leave before a merge is due. */
static uint64_t threshold_of(const simidx_writer *w, const sx_header *h)
{
	uint64_t threshold = w->options.merge_threshold;

	if (threshold)
		return threshold;
	threshold = h->documents / 16;
	if (threshold < MIN_THRESHOLD)
		return MIN_THRESHOLD;
	return threshold > MAX_THRESHOLD ? MAX_THRESHOLD : threshold;
}

static int is_above(const simidx_writer *w, const sx_header *h, unsigned times)
{
	return (h->next_seq - h->first_seq) / times > threshold_of(w, h);
}

static int is_unfinished(const simidx_writer *w)
{
	return w->options.merge == SIMIDX_MERGE_AUTO;
}

/*
 * Merge what is there by now. That takes two merges where one was cut off: it is ended first. What
 * others commit meanwhile waits for the next one: a merge of few rows costs as much as one of many.
 */
static int merge_all(simidx_writer *w, simidx_error *err)
{
	uint64_t end = 0;
	int rc;

	for (;;) {
		sx_snapshot s;

		rc = sx_snapshot_begin(&s, w->index, err);
		if (rc)
			return rc;
		if (!end)
			end = s.header.next_seq;
		if (s.header.first_seq >= end && !(s.header.state & SX_STATE_MERGING))
			end = 0;
		sx_snapshot_end(&s);
		rc = end ? sx_merge_fresh(w->index, no_meta_sync(w), &w->locked, err) : SIMIDX_OK;
		if (rc || !end)
			return rc;
	}
}

/* How long a commit of n rows waits. */
static int wait_for_rows(const simidx_writer *w, uint64_t n)
{
	uint64_t ms = (n / WAIT_ROWS + 1) * WAIT_MS;

	return w->options.wait_ms >= 0 && ms > (uint64_t)w->options.wait_ms ? w->options.wait_ms
	       : ms < INT_MAX ? (int)ms : INT_MAX;
}

/*
 * Whether a commit that has stored its rows and given the lock up has no more to do: somebody is at
 * it, or a loader has replaced the index meanwhile by one that has them, too.
 */
static int is_no_failure(int rc, simidx_error *err)
{
	if (rc != SIMIDX_E_BUSY && rc != SIMIDX_E_MOVED)
		return 0;
	sx_err_clear(err);
	return 1;
}

/*
 * The log has twice the threshold, and somebody else merges or should. Wait for that merge, without
 * the lock, as the merger needs it: not until it ends, but so long that it gets ahead of rows that
 * come at this pace. Merge if nobody does.
 */
static int wait_for_merge(simidx_writer *w, uint64_t n, simidx_error *err)
{
	sx_store *store = w->index->store;
	int is_due = 0, is_far = 0, rc;
	sx_snapshot s;

	if (w->reader)
		sx_reader_release(w->reader);
	sx_snapshot_end(&w->snapshot);
	sx_store_unlock(store);
	w->locked = 0;
	w->merge_state |= SIMIDX_MERGE_WAITED;
	rc = sx_store_lock_merge(store, wait_for_rows(w, n), err);
	if (rc)
		return is_no_failure(rc, err) ? SIMIDX_OK : rc;
	rc = sx_snapshot_begin(&s, w->index, err);
	if (!rc) {
		is_due = is_above(w, &s.header, 1);
		is_far = is_above(w, &s.header, 2);
		sx_snapshot_end(&s);
	}
	/* Who has the lock may keep it long: the first step waits as long as the writer would. */
	if (!rc && is_far)
		rc = sx_store_lock(store, w->options.wait_ms, err);
	if (!rc && is_far) {
		sx_store_unlock(store);
		is_due = 0;
		rc = merge_all(w, err);
	}
	w->merge_state = SIMIDX_MERGE_WAITED | (is_due ? SIMIDX_MERGE_DUE : 0);
	sx_store_unlock_merge(store);
	return is_no_failure(rc, err) ? SIMIDX_OK : rc;
}

static int commit(simidx_writer *w, int has_to_store, simidx_error *err)
{
	const sx_header *h = &w->snapshot.header;
	uint64_t rows = w->pending.n;
	int rc = has_to_store ? store_pending(w, err) : SIMIDX_OK;
	int is_far = is_above(w, h, 2), merged = 0;

	if (rc)
		return rc;
	w->merge_state = is_above(w, h, 1) ? SIMIDX_MERGE_DUE : 0;
	if (!w->merge_state || w->options.merge == SIMIDX_MERGE_NEVER)
		return SIMIDX_OK;
	if (w->options.merge == SIMIDX_MERGE_AUTO)
		rc = merge(w, &merged, err);
	if (merged)
		w->merge_state = 0;
	return !rc && !merged && is_far ? wait_for_merge(w, rows, err) : rc;
}

/* Who has the write lock does not wait for the merger, who may wait for that one. */
static int merge_now(simidx_writer *w, simidx_error *err)
{
	int rc = sx_store_lock_merge(w->index->store, w->options.wait_ms, err);

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

const sx_backend_writer sx_local_writer = { open_writer, close_writer,  begin,   end_writer,
					    prefetch,    new_id,        use_ids, lease,
					    label,       note,          is_unfinished, commit,
					    merge_now,   sx_local_older };
