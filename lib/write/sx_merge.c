/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "write/sx_merge.h"

#include <stdlib.h>
#include <time.h>

#include "index/sx_snapshot.h"
#include "table/sx_table_merge.h"
#include "table/sx_table_range.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_sort.h"
#include "util/sx_stop.h"
#include "util/sx_u64s.h"

#define PREFETCHED 16 /* rows ahead, where they are read in another order than they lie */

/*
 * Of a transaction beside writers: others wait as long as it takes, and each has an fsync of its
 * own. So one of more than STEP_MS is followed by smaller ones, down to MIN_STEP blocks or rows.
 */
#define STEP_MS 20
#define MIN_STEP 256
#define FIRST_PARTS 4
#define MAX_PARTS 16

/* Changes of one table, in its order, each place once. */
struct changes {
	sx_rows rows;
	unsigned char *remove; /* one a row: which ones are removals */
};

struct merge {
	const simidx *index;
	int no_meta_sync;
	/* whether the write lock is held, where it is given up now and then; or NULL */
	int *locked;
	simidx_error *err;
	sx_snapshot snapshot; /* of the transaction at hand */
	int64_t began_ms;     /* when it had the lock */
	unsigned parts;       /* a transaction beside writers does one of so many of what it may */
	uint64_t end;          /* sequence number after the last row that is merged */
	sx_fresh_rows rows;
	uint32_t *order;       /* of the rows: scratch */
	uint64_t *key;         /* scratch, one a row */
	unsigned step, n_steps;
};

static int nomem(struct merge *m)
{
	return sx_fail_nomem(m->err);
}

/* ---- transactions ---- */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* What a transaction does, of what it may do at most. */
static uint64_t part_of(const struct merge *m, uint64_t most)
{
	uint64_t part = most / m->parts < MIN_STEP ? MIN_STEP : most / m->parts;

	return !m->locked || part > most ? most : part;
}

/* Others have waited since the transaction has the lock. */
static void adapt(struct merge *m)
{
	int64_t ms = now_ms() - m->began_ms;

	if (ms > STEP_MS && m->parts < MAX_PARTS)
		m->parts *= 2;
	else if (ms < STEP_MS / 4 && m->parts > 1)
		m->parts /= 2;
}

/*
 * Between two transactions, while others have the lock: read what they have committed into the
 * memtable that they need after the merge. Without this they read it then.
 */
static void prepare(struct merge *m)
{
	sx_fresh_span span;
	sx_snapshot s;

	if (sx_snapshot_begin(&s, m->index, NULL))
		return;
	span = sx_header_fresh(&s.header);
	span.first = m->end;
	sx_fresh_prepare(m->index->fresh, s.txn, &span);
	sx_snapshot_end(&s);
}

static int begin(struct merge *m)
{
	int rc = m->locked ? sx_store_lock(m->index->store, -1, m->err) : SIMIDX_OK;

	if (rc)
		return rc;
	if (m->locked)
		*m->locked = 1;
	m->began_ms = now_ms();
	return sx_snapshot_begin_write(&m->snapshot, m->index, m->no_meta_sync, m->err);
}

static int end_transaction(struct merge *m)
{
	int rc = sx_snapshot_commit(&m->snapshot, m->err);

	if (!rc && m->locked) {
		adapt(m);
		sx_store_unlock(m->index->store);
		*m->locked = 0;
	}
	return rc;
}

static int commit(struct merge *m)
{
	int rc;

	m->snapshot.header.state |= SX_STATE_MERGING;
	m->snapshot.header.merge_end = m->end;
	rc = end_transaction(m);
	if (!rc && m->locked)
		prepare(m);
	return rc ? rc : sx_stop_check(m->err);
}

/* Postings are done up to this row. A merge that is repeated may not be as far as the first one. */
static void note_merged(sx_header *h, const sx_rows *rows, size_t done)
{
	uint64_t fp = rows->key[done - 1], id = rows->col[SX_POSTINGS_ID][done - 1];

	if (h->state & SX_STATE_PARTIAL &&
	    (fp < h->merged_fp || (fp == h->merged_fp && id < h->merged_id)))
		return;
	h->state |= SX_STATE_PARTIAL;
	h->merged_fp = fp;
	h->merged_id = id;
}

/* The header of the transaction at hand does not count by_label. */
static void count_delta(struct merge *m, const sx_table *table, const sx_delta *delta)
{
	sx_table_count *count = sx_header_count(&m->snapshot.header, table->number);

	if (!count)
		return;
	count->rows += (uint64_t)delta->rows;
	count->digest += delta->digest;
	count->generation++;
}

/*
 * Merge changes into a table, in as many transactions as it takes. The last one stays open, so that
 * the caller may do more in it; without changes there is none.
 */
static int merge_table(struct merge *m, const sx_table *table, const struct changes *c)
{
	const simidx *index = m->index;
	uint64_t max = table->layout == SIMIDX_LAYOUT_BLOCKS ? index->tuning.merge_blocks
							     : index->tuning.merge_rows;
	sx_changes changes = { &c->rows, c->remove };
	size_t done = 0;
	int rc = SIMIDX_OK;

	while (!rc && done < c->rows.n) {
		sx_delta delta;

		if (done && table == &index->tables.postings)
			note_merged(&m->snapshot.header, &c->rows, done);
		if (done)
			rc = commit(m);
		if (!rc)
			rc = begin(m);
		if (!rc)
			rc = sx_table_merge(m->snapshot.txn, table, &changes, &done,
					    part_of(m, max), &delta, m->err);
		if (!rc)
			count_delta(m, table, &delta);
	}
	return rc;
}

static int end_table(struct merge *m)
{
	int rc = sx_snapshot_is_begun(&m->snapshot) ? commit(m) : SIMIDX_OK;

	sx_index_progress(m->index, "merge", ++m->step, m->n_steps);
	return rc;
}

/* ---- what the rows come to ---- */

static uint64_t fp_of(const sx_fresh_row *row)
{
	return row->fp;
}

static uint64_t id_of(const sx_fresh_row *row)
{
	return row->id;
}

static uint64_t hash_of(const sx_fresh_row *row)
{
	return row->label_hash;
}

/* Order the rows by a number of theirs; those where it is equal by id, then as they came. */
static int order_by(struct merge *m, uint64_t (*number)(const sx_fresh_row *row))
{
	size_t n = m->rows.n;

	for (size_t i = 0; i < n; i++)
		m->key[i] = m->rows.at[i].id;
	if (sx_sort_order(m->key, m->order, n, 0))
		return nomem(m);
	for (size_t i = 0; i < n; i++)
		m->key[i] = number(&m->rows.at[i]);
	return sx_sort_order(m->key, m->order, n, 1) ? nomem(m) : SIMIDX_OK;
}

static int begin_changes(struct merge *m, struct changes *c, unsigned n_cols, size_t most)
{
	sx_rows_init(&c->rows, n_cols);
	c->remove = sx_realloc(NULL, most, 1);
	return c->remove ? SIMIDX_OK : nomem(m);
}

static void free_changes(struct changes *c)
{
	sx_rows_free(&c->rows);
	free(c->remove);
}

/*
 * The changes of a table of documents: docs has (id, fingerprint), by_label (hash, id) of those
 * with a label, postings (fingerprint, id, optional columns). Of several rows about one place the
 * last one counts. m->order is the order of the table.
 */
static int collect_documents(struct merge *m, const sx_table *table,
			     uint64_t (*key)(const sx_fresh_row *row), struct changes *c)
{
	sx_rows *changed = &c->rows;
	uint64_t last_id = 0;
	int rc = begin_changes(m, c, table->n_cols, m->rows.n);

	if (!rc)
		rc = order_by(m, key);
	for (size_t i = 0; !rc && i < m->rows.n; i++) {
		const sx_fresh_row *row = &m->rows.at[m->order[i]];
		size_t ahead = i + PREFETCHED < m->rows.n ? i + PREFETCHED : i;
		uint64_t cols[SX_MAX_COLS] = { key == id_of ? row->fp : row->id };

		__builtin_prefetch(&m->rows.at[m->order[ahead]]);
		if (key == hash_of && !(row->op & SX_FRESH_LABEL))
			continue;
		if (table->columns)
			sx_values_put(table->columns, &row->values, cols + table->values_at);
		if (changed->n && changed->key[changed->n - 1] == key(row) && last_id == row->id)
			changed->n--;
		last_id = row->id;
		c->remove[changed->n] = (unsigned char)sx_fresh_is_delete(row);
		if (sx_rows_push(changed, key(row), cols))
			rc = nomem(m);
	}
	return rc;
}

/*
 * Whether all documents that postings have of a fingerprint are removed by their changes [from,
 * to). A merge that is repeated comes to the same: what postings lack already is no document
 * either.
 */
static int is_left_empty(struct merge *m, const sx_rows *changed, sx_cursor *postings, size_t from,
			 size_t to, int *empty)
{
	const sx_table *table = &m->index->tables.postings;
	sx_sort_key low = { changed->key[from], 0 }, high = { changed->key[from], UINT64_MAX };
	sx_rows rows;
	int rc;

	sx_rows_init(&rows, table->n_cols);
	rc = sx_table_range(table, postings, low, high, to - from + 1, &rows, m->err);
	*empty = 1;
	for (size_t i = 0; !rc && *empty && i < rows.n; i++) {
		while (from < to &&
		       changed->col[SX_POSTINGS_ID][from] < rows.col[SX_POSTINGS_ID][i])
			from++;
		*empty = from < to &&
			 changed->col[SX_POSTINGS_ID][from] == rows.col[SX_POSTINGS_ID][i];
	}
	sx_rows_free(&rows);
	return rc;
}

/*
 * From the changes of postings: which fingerprints the tables get, because a document with them
 * was added, and which they lose, because none is left.
 */
static int collect_fingerprints(struct merge *m, const struct changes *postings,
				struct changes *fps)
{
	const sx_rows *changed = &postings->rows;
	sx_cursor *cursor = NULL;
	sx_snapshot snapshot;
	/* Only a merge changes postings. */
	int rc = sx_snapshot_begin(&snapshot, m->index, m->err);

	if (!rc)
		rc = begin_changes(m, fps, 0, changed->n);
	for (size_t i = 0, to; !rc && i < changed->n; i = to) {
		int is_set = 0, is_empty = 0;

		for (to = i; to < changed->n && changed->key[to] == changed->key[i]; to++)
			is_set |= !postings->remove[to];
		if (!is_set && !cursor)
			rc = sx_cursor_open(snapshot.txn, m->index->tables.postings.dbi, &cursor,
					    m->err);
		if (!rc && !is_set)
			rc = is_left_empty(m, changed, cursor, i, to, &is_empty);
		if (rc || !(is_set || is_empty))
			continue;
		fps->remove[fps->rows.n] = (unsigned char)is_empty;
		if (sx_rows_push(&fps->rows, changed->key[i], NULL))
			rc = nomem(m);
	}
	sx_cursor_close(cursor);
	sx_snapshot_end(&snapshot);
	return rc;
}

/* The changes of a permuted table: the fingerprints in another order. */
static int permute_changes(struct merge *m, const sx_perm *perm, const struct changes *fps,
			   struct changes *c)
{
	size_t n = fps->rows.n;
	int rc = begin_changes(m, c, 0, n);

	for (size_t i = 0; i < n; i++)
		m->key[i] = sx_permute(perm, fps->rows.key[i]);
	if (!rc && (sx_sort_order(m->key, m->order, n, 0) || sx_rows_reserve(&c->rows, n)))
		rc = nomem(m);
	for (size_t i = 0; !rc && i < n; i++) {
		c->remove[i] = fps->remove[m->order[i]];
		c->rows.key[i] = m->key[m->order[i]];
	}
	c->rows.n = rc ? 0 : n;
	return rc;
}

/* ---- tables ---- */

/* Each permuted table gets and loses the same fingerprints in its own order. */
static int merge_permuted(struct merge *m, const struct changes *postings)
{
	const simidx *index = m->index;
	struct changes fps = { 0 };
	int rc = collect_fingerprints(m, postings, &fps);

	for (unsigned t = 0; !rc && t < index->schema->plan.n_tables; t++) {
		struct changes c = { 0 };

		rc = permute_changes(m, &index->schema->plan.table[t], &fps, &c);
		if (!rc)
			rc = merge_table(m, &index->tables.permuted[t], &c);
		if (!rc)
			rc = end_table(m);
		free_changes(&c);
	}
	free_changes(&fps);
	return rc;
}

static int merge_documents(struct merge *m, const sx_table *table,
			   uint64_t (*key)(const sx_fresh_row *row))
{
	struct changes c = { 0 };
	int rc = collect_documents(m, table, key, &c);

	if (!rc)
		rc = merge_table(m, table, &c);
	if (!rc)
		rc = end_table(m);
	free_changes(&c);
	return rc;
}

/* ---- labels and notes ---- */

/* What documents that are gone have left in a table of labels or notes. */
struct gone {
	struct merge *m;
	struct changes ids;
	uint64_t seen_end; /* rows from the end on that were looked at */
};

/* The ids of documents that are gone and had one. m->order is by id. */
static int collect_gone(struct merge *m, uint32_t had, struct changes *ids)
{
	int rc = begin_changes(m, ids, 0, m->rows.n);

	for (size_t i = 0; !rc && i < m->rows.n; i++) {
		const sx_fresh_row *row = &m->rows.at[m->order[i]];
		int is_last = i + 1 == m->rows.n || m->rows.at[m->order[i + 1]].id != row->id;

		if (!is_last || !sx_fresh_is_delete(row) || !(row->op & had))
			continue;
		ids->remove[ids->rows.n] = 1;
		if (sx_rows_push(&ids->rows, row->id, NULL))
			rc = nomem(m);
	}
	return rc;
}

/* A later row is about this id: if it has a label or a note now, the table has that one. */
static int keep_later(void *opaque, const sx_fresh_row *row)
{
	struct gone *gone = opaque;
	const sx_rows *ids = &gone->ids.rows;
	size_t i;

	if (sx_fresh_is_delete(row))
		return SIMIDX_OK;
	i = sx_u64s_below(ids->key, ids->n, row->id);
	if (i < ids->n && ids->key[i] == row->id)
		gone->ids.remove[i] = 0;
	return SIMIDX_OK;
}

/*
 * Remove those from number *done on, so many as one transaction takes. Others may have added a
 * document with the same id since the merge began, and then what there is to remove is not this
 * merge's.
 */
static int remove_some(struct gone *gone, sx_dbi dbi, size_t *done)
{
	struct merge *m = gone->m;
	const simidx *index = m->index;
	sx_txn *txn = m->snapshot.txn;
	uint64_t next_seq = m->snapshot.header.next_seq, removed = 0;
	uint64_t most = part_of(m, index->tuning.merge_rows);
	unsigned char bytes[8];
	sx_slice key = { bytes, sizeof(bytes) };
	int rc = sx_fresh_log_read(txn, &index->fresh->log, gone->seen_end, next_seq, keep_later,
				   gone, m->err);

	gone->seen_end = next_seq;
	for (; !rc && *done < gone->ids.rows.n && removed < most; ++*done) {
		if (!gone->ids.remove[*done])
			continue;
		sx_store_be64(bytes, gone->ids.rows.key[*done]);
		rc = sx_dbi_del(txn, dbi, key, m->err);
		if (rc == SIMIDX_E_NOT_FOUND)
			rc = SIMIDX_OK; /* a merge that was cut off has done it */
		removed++;
	}
	return rc;
}

/* Remove what documents that are gone have left. m->order is by id. */
static int remove_left(struct merge *m, sx_dbi dbi, uint32_t had)
{
	struct gone gone = { .m = m, .seen_end = m->end };
	size_t done = 0;
	int rc = collect_gone(m, had, &gone.ids);

	while (!rc && done < gone.ids.rows.n) {
		rc = begin(m);
		if (!rc)
			rc = remove_some(&gone, dbi, &done);
		if (!rc)
			rc = commit(m);
	}
	free_changes(&gone.ids);
	sx_index_progress(m->index, "merge", ++m->step, m->n_steps);
	return rc;
}

/* ---- all of it ---- */

/* The end of a merge: from this commit on nothing answers from these fresh rows. */
static int finish(struct merge *m)
{
	sx_header *h = &m->snapshot.header;
	int rc = sx_snapshot_is_begun(&m->snapshot) ? SIMIDX_OK : begin(m);

	if (!rc)
		rc = sx_fresh_log_remove(m->snapshot.txn, &m->index->fresh->log, m->end, m->err);
	h->first_seq = m->end;
	h->state &= ~(SX_STATE_MERGING | SX_STATE_PARTIAL);
	h->merged_fp = h->merged_id = h->merge_end = 0;
	return rc ? rc : end_transaction(m);
}

/* The tables beside the permuted ones. Postings come last, with the end of the merge. */
static int merge_beside(struct merge *m, const struct changes *postings)
{
	const sx_tables *tables = &m->index->tables;
	int rc = merge_documents(m, &tables->docs, id_of);

	if (!rc)
		rc = remove_left(m, tables->labels, SX_FRESH_LABEL);
	if (!rc && m->index->schema->has_notes)
		rc = remove_left(m, tables->notes, SX_FRESH_NOTE);
	if (!rc)
		rc = merge_documents(m, &tables->by_label, hash_of);
	if (!rc)
		rc = merge_table(m, &tables->postings, postings);
	sx_index_progress(m->index, "merge", ++m->step, m->n_steps);
	return rc;
}

static int merge_all(struct merge *m)
{
	struct changes postings = { 0 };
	int rc = collect_documents(m, &m->index->tables.postings, fp_of, &postings);

	if (!rc)
		rc = merge_permuted(m, &postings);
	if (!rc && m->index->schema->has_ids)
		rc = merge_beside(m, &postings);
	free_changes(&postings);
	return rc ? rc : finish(m);
}

static int load(struct merge *m)
{
	sx_snapshot snapshot;
	const sx_header *h = &snapshot.header;
	int rc = sx_snapshot_begin(&snapshot, m->index, m->err);

	if (rc)
		return rc;
	/* One that was cut off goes on to its own end: postings may have a part of its rows. */
	m->end = h->state & SX_STATE_MERGING ? h->merge_end : h->next_seq;
	rc = sx_fresh_log_load(snapshot.txn, &m->index->fresh->log, h->first_seq, m->end, &m->rows,
			       m->err);
	sx_snapshot_end(&snapshot);
	if (rc)
		return rc;
	m->order = sx_realloc(NULL, m->rows.n, sizeof(*m->order));
	m->key = sx_realloc(NULL, m->rows.n, sizeof(*m->key));
	return m->order && m->key && m->rows.n < UINT32_MAX ? SIMIDX_OK : nomem(m);
}

int sx_merge_fresh(const simidx *index, int no_meta_sync, int *locked, simidx_error *err)
{
	struct merge *m = sx_calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return sx_fail_nomem(err);
	m->index = index;
	m->no_meta_sync = no_meta_sync;
	m->locked = locked;
	m->err = err;
	m->parts = FIRST_PARTS;
	m->n_steps = sx_tables_count(index->schema);
	rc = load(m);
	if (!rc && m->rows.n)
		rc = merge_all(m);
	if (!rc)
		sx_index_progress(index, "merge", m->n_steps, m->n_steps);
	sx_snapshot_end(&m->snapshot);
	free(m->rows.at);
	free(m->order);
	free(m->key);
	free(m);
	return rc;
}
