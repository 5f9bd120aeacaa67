/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "fresh/sx_fresh.h"

#include <stdlib.h>
#include <string.h>

#include <simidx_sketch.h>

#include "util/sx_err.h"

/*
 * Adding a row to the memtable costs about as much as reading it from the log 64 times. A search
 * adds a 64th of the rows that are missing, or ADD_MIN: that doubles the time of the search at
 * most, where there are many.
 */
#define READS_BEFORE 8 /* of all rows: a handle that searches less often builds nothing */
#define ADD_PARTS 64
#define ADD_MIN 128

/* What is asked of the rows of a span, and where the answer goes. */
struct question {
	const sx_fresh_span *span;
	enum { NEAR, DELETED, BY_ID, BY_LABEL } what;
	uint64_t value;              /* of the others */
	const sx_fresh_query *query; /* of NEAR */
	const sx_u64s *fps;      /* of DELETED */
	sx_fresh_rows *rows;
	uint64_t *candidates;
	simidx_error *err;
	uint64_t seq;            /* of the row that is read from the log */
	int has_deletes;         /* among the rows that were found */
};

/*
 * By default glibc's locks let readers in as long as there are any, so that many searching threads
 * would keep a writer out for seconds.
 */
sx_fresh *sx_fresh_new(void)
{
	sx_fresh *fresh = sx_calloc(1, sizeof(*fresh));
	pthread_rwlockattr_t attr;
	int failed;

	if (!fresh || pthread_rwlockattr_init(&attr)) {
		free(fresh);
		return NULL;
	}
#ifdef __GLIBC__
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
	failed = pthread_rwlock_init(&fresh->lock, &attr);
	pthread_rwlockattr_destroy(&attr);
	if (!failed)
		return fresh;
	free(fresh);
	return NULL;
}

void sx_fresh_free(sx_fresh *fresh)
{
	if (!fresh)
		return;
	sx_memtable_free(fresh->memtable);
	sx_memtable_free(fresh->next);
	pthread_rwlock_destroy(&fresh->lock);
	free(fresh);
}

/* ---- the memtable ---- */

static int is_begun(const sx_fresh *fresh, const sx_fresh_span *span)
{
	return fresh->memtable && sx_memtable_base(fresh->memtable) == span->first;
}

static int add_row(void *memtable, const sx_fresh_row *row)
{
	return sx_memtable_add(memtable, row) ? SIMIDX_E_NOMEM : SIMIDX_OK;
}

/* Put the one that a merge has prepared, or an empty one, in the place of the memtable. */
static int replace_memtable(sx_fresh *fresh, uint64_t first)
{
	int is_ready = fresh->next && sx_memtable_base(fresh->next) == first;

	fresh->memtable = is_ready ? fresh->next
				   : sx_memtable_new(fresh->bits, first, fresh->kernel);
	if (is_ready)
		fresh->next = NULL;
	return fresh->memtable ? SIMIDX_OK : SIMIDX_E_NOMEM;
}

/*
 * Add at most `max` rows of the span to the memtable. A new one takes the place of one whose rows
 * have been merged; one of newer snapshots stays as it is.
 */
static int extend_memtable(sx_fresh *fresh, sx_txn *txn, const sx_fresh_span *span, uint64_t max,
			   simidx_error *err)
{
	sx_memtable *old = NULL;
	uint64_t from, end;
	int rc = SIMIDX_OK;

	pthread_rwlock_wrlock(&fresh->lock);
	if (!fresh->memtable || sx_memtable_base(fresh->memtable) < span->first) {
		old = fresh->memtable;
		rc = replace_memtable(fresh, span->first);
	}
	if (!rc && is_begun(fresh, span)) {
		from = sx_memtable_end(fresh->memtable);
		end = from < span->end && span->end - from > max ? from + max : span->end;
		rc = sx_fresh_log_read(txn, &fresh->log, from, end, add_row, fresh->memtable, err);
	}
	pthread_rwlock_unlock(&fresh->lock);
	sx_memtable_free(old);
	return rc == SIMIDX_E_NOMEM ? sx_fail_nomem(err) : rc;
}

int sx_fresh_refresh(sx_fresh *fresh, sx_txn *txn, const sx_fresh_span *span, simidx_error *err)
{
	return extend_memtable(fresh, txn, span, UINT64_MAX, err);
}

void sx_fresh_prepare(sx_fresh *fresh, sx_txn *txn, const sx_fresh_span *span)
{
	sx_memtable *next;
	int is_used;

	pthread_rwlock_wrlock(&fresh->lock);
	is_used = fresh->memtable != NULL;
	next = fresh->next;
	fresh->next = NULL;
	pthread_rwlock_unlock(&fresh->lock);
	if (next && (!is_used || sx_memtable_base(next) != span->first)) {
		sx_memtable_free(next);
		next = NULL;
	}
	if (!is_used)
		return;
	if (!next)
		next = sx_memtable_new(fresh->bits, span->first, fresh->kernel);
	if (next && sx_fresh_log_read(txn, &fresh->log, sx_memtable_end(next), span->end, add_row,
				      next, NULL)) {
		sx_memtable_free(next);
		next = NULL;
	}
	pthread_rwlock_wrlock(&fresh->lock);
	fresh->next = next;
	pthread_rwlock_unlock(&fresh->lock);
}

int sx_fresh_add(sx_fresh *fresh, const sx_fresh_row *rows, size_t n, simidx_error *err)
{
	size_t added = 0;

	pthread_rwlock_wrlock(&fresh->lock);
	while (added < n && !sx_memtable_add(fresh->memtable, &rows[added]))
		added++;
	if (added < n)
		sx_memtable_drop(fresh->memtable, added);
	pthread_rwlock_unlock(&fresh->lock);
	return added < n ? sx_fail_nomem(err) : SIMIDX_OK;
}

void sx_fresh_drop(sx_fresh *fresh, size_t n)
{
	pthread_rwlock_wrlock(&fresh->lock);
	if (fresh->memtable)
		sx_memtable_drop(fresh->memtable, n);
	pthread_rwlock_unlock(&fresh->lock);
}

void sx_fresh_prefetch(sx_fresh *fresh, const sx_fresh_span *span, const sx_probes *probes)
{
	if (span->first == span->end)
		return;
	pthread_rwlock_rdlock(&fresh->lock);
	if (is_begun(fresh, span))
		sx_memtable_prefetch(fresh->memtable, probes);
	pthread_rwlock_unlock(&fresh->lock);
}

void sx_fresh_prefetch_fp(sx_fresh *fresh, uint64_t fp)
{
	pthread_rwlock_rdlock(&fresh->lock);
	if (fresh->memtable)
		sx_memtable_prefetch_fp(fresh->memtable, fp);
	pthread_rwlock_unlock(&fresh->lock);
}

/* ---- questions ---- */

/* Whether postings have what a row says. */
static int is_merged(const sx_fresh_span *s, const sx_fresh_row *row, uint64_t seq)
{
	return seq < s->merge_end &&
	       (row->fp < s->merged_fp || (row->fp == s->merged_fp && row->id <= s->merged_id));
}

/* Append a row that is about what was asked for. */
static int push_row(struct question *q, const sx_fresh_row *row, uint64_t seq)
{
	int is_delete = sx_fresh_is_delete(row);

	if (q->what == DELETED && !is_delete)
		return SIMIDX_OK;
	/* What became of an id or a label is told by the rows, merged or not. */
	if (q->what <= DELETED && is_merged(q->span, row, seq))
		return SIMIDX_OK;
	q->has_deletes |= is_delete;
	return sx_fresh_rows_push(q->rows, row, q->err);
}

static void reverse(sx_fresh_row *row, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		sx_fresh_row other = row[i];

		row[i] = row[n - 1 - i];
		row[n - 1 - i] = other;
	}
}

/* The last row of the span that has this id. */
static int push_last(const sx_memtable *memtable, struct question *q)
{
	uint64_t n = q->span->end - q->span->first;
	uint32_t i = sx_memtable_newest(memtable, SX_BY_ID, q->value);

	while (i != SX_MEMTABLE_NONE && i >= n)
		i = sx_memtable_older(memtable, SX_BY_ID, i);
	return i == SX_MEMTABLE_NONE
		       ? SIMIDX_OK
		       : push_row(q, sx_memtable_row(memtable, i), q->span->first + i);
}

/* Append the rows of the span that have one value of the key and still stand, in their order. */
static int push_equal(const sx_memtable *memtable, struct question *q, enum sx_memtable_key key,
		      uint64_t value)
{
	uint64_t n = q->span->end - q->span->first;
	uint32_t i = sx_memtable_newest(memtable, key, value);
	/* Postings may have a document that a later row deletes. */
	int all = key == SX_BY_FP && q->span->merge_end > q->span->first;
	size_t had = q->rows->n;
	int rc = SIMIDX_OK;

	while (i != SX_MEMTABLE_NONE && i >= n)
		i = sx_memtable_older(memtable, key, i);
	while (!rc && i != SX_MEMTABLE_NONE) {
		i = all ? i : sx_memtable_live(memtable, key, i);
		if (i == SX_MEMTABLE_NONE)
			break;
		rc = push_row(q, sx_memtable_row(memtable, i), q->span->first + i);
		i = sx_memtable_older(memtable, key, i);
	}
	if (q->rows->n > had)
		reverse(q->rows->at + had, q->rows->n - had);
	return rc;
}

static int ask_memtable(const sx_memtable *memtable, struct question *q)
{
	sx_u64s near = { 0 };
	const sx_u64s *fps = q->what == DELETED ? q->fps : &near;
	int rc = SIMIDX_OK;

	if (q->what == BY_ID)
		return push_last(memtable, q);
	if (q->what == BY_LABEL)
		return push_equal(memtable, q, SX_BY_LABEL, q->value);
	if (q->what == NEAR &&
	    sx_memtable_near(memtable, q->query, &near, q->candidates))
		rc = sx_fail_nomem(q->err);
	for (size_t i = 0; !rc && i < fps->n; i++)
		rc = push_equal(memtable, q, SX_BY_FP, fps->at[i]);
	sx_u64s_free(&near);
	return rc;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int is_asked_for(const struct question *q, const sx_fresh_row *row)
{
	switch (q->what) {
	case NEAR:
		return simidx_is_near(row->fp, q->query->fp, q->query->k) &&
		       (!q->query->accepts || q->query->accepts(q->query->ctx, row->fp));
	case DELETED:
		return sx_fresh_is_delete(row) &&
		       bsearch(&row->fp, q->fps->at, q->fps->n, sizeof(row->fp), compare_u64);
	case BY_ID:
		return row->id == q->value;
	default:
		return row->op & SX_FRESH_LABEL && row->label_hash == q->value;
	}
}

static int scan_row(void *ctx, const sx_fresh_row *row)
{
	struct question *q = ctx;
	uint64_t seq = q->seq++;

	++*q->candidates;
	return is_asked_for(q, row) ? push_row(q, row, seq) : SIMIDX_OK;
}

static int ask(sx_fresh *fresh, sx_txn *txn, struct question *q)
{
	const sx_fresh_span *span = q->span;
	uint64_t from = span->first, n = span->end - from, missing, read, part;
	int rc = SIMIDX_OK;

	if (!n)
		return SIMIDX_OK;
	pthread_rwlock_rdlock(&fresh->lock);
	if (is_begun(fresh, span)) {
		from = sx_memtable_end(fresh->memtable);
		rc = ask_memtable(fresh->memtable, q);
	}
	pthread_rwlock_unlock(&fresh->lock);
	if (rc || from >= span->end)
		return rc;
	missing = span->end - from;
	read = atomic_fetch_add(&fresh->rows_read, missing) + missing;
	q->seq = from;
	rc = sx_fresh_log_read(txn, &fresh->log, from, span->end, scan_row, q, q->err);
	if (rc || (missing == n && read < READS_BEFORE * n))
		return rc;
	part = missing / ADD_PARTS;
	rc = extend_memtable(fresh, txn, span, part > ADD_MIN ? part : ADD_MIN, q->err);
	/* The answer is complete without it; another search may have the memory. */
	if (rc == SIMIDX_E_NOMEM) {
		sx_err_clear(q->err);
		rc = SIMIDX_OK;
	}
	return rc;
}

/* ---- what rows of one document come to ---- */

/* By fingerprint and id; those that are equal stay in their order, because they lie in it. */
static int compare_rows(const void *a, const void *b)
{
	const sx_fresh_row *const *x = a, *const *y = b;

	if ((*x)->fp != (*y)->fp)
		return (*x)->fp < (*y)->fp ? -1 : 1;
	if ((*x)->id != (*y)->id)
		return (*x)->id < (*y)->id ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/*
 * Keep the last of the rows with one (fingerprint, id), of those from number `from` on, if it is
 * of the kind that is wanted.
 */
static int keep_last(sx_fresh_rows *rows, size_t from, int want_deletes, simidx_error *err)
{
	size_t n = rows->n - from, kept = 0;
	const sx_fresh_row **order = sx_realloc(NULL, n, sizeof(*order));
	sx_fresh_row *last = sx_realloc(NULL, n, sizeof(*last));
	int is_sorted = 1, rc = order && last ? SIMIDX_OK : sx_fail_nomem(err);

	for (size_t i = 0; !rc && i < n; i++) {
		order[i] = &rows->at[from + i];
		is_sorted &= !i || compare_rows(&order[i - 1], &order[i]) < 0;
	}
	if (!rc && !is_sorted)
		qsort(order, n, sizeof(*order), compare_rows);
	for (size_t i = 0; !rc && i < n; i++) {
		int is_last = i + 1 == n || order[i]->fp != order[i + 1]->fp ||
			      order[i]->id != order[i + 1]->id;

		if (is_last && sx_fresh_is_delete(order[i]) == want_deletes)
			last[kept++] = *order[i];
	}
	if (!rc)
		memcpy(rows->at + from, last, kept * sizeof(*last));
	rows->n = from + kept;
	free(order);
	free(last);
	return rc;
}

int sx_fresh_near(sx_fresh *fresh, sx_txn *txn, const sx_fresh_span *span,
		  const sx_fresh_query *query, sx_fresh_rows *rows, uint64_t *candidates,
		  simidx_error *err)
{
	struct question q = { .span = span, .what = NEAR, .query = query, .rows = rows,
			      .candidates = candidates, .err = err };
	size_t from = rows->n;
	int rc = ask(fresh, txn, &q);

	return rc || !q.has_deletes ? rc : keep_last(rows, from, 0, err);
}

int sx_fresh_deleted(sx_fresh *fresh, sx_txn *txn, const sx_fresh_span *span, const sx_u64s *fps,
		     sx_fresh_rows *rows, simidx_error *err)
{
	uint64_t candidates = 0;
	struct question q = { .span = span, .what = DELETED, .fps = fps, .rows = rows,
			      .candidates = &candidates, .err = err };
	size_t from = rows->n;
	int rc = ask(fresh, txn, &q);

	return rc || rows->n - from < 2 ? rc : keep_last(rows, from, 1, err);
}

int sx_fresh_by_id(sx_fresh *fresh, sx_txn *txn, const sx_fresh_span *span, uint64_t id,
		   sx_fresh_row *row, simidx_error *err)
{
	uint64_t candidates = 0;
	sx_fresh_rows rows = { 0 };
	struct question q = { .span = span, .what = BY_ID, .value = id, .rows = &rows,
			      .candidates = &candidates, .err = err };
	int rc = ask(fresh, txn, &q);

	if (!rc && !rows.n)
		rc = SIMIDX_E_NOT_FOUND;
	if (!rc)
		*row = rows.at[rows.n - 1];
	free(rows.at);
	return rc;
}

int sx_fresh_by_label(sx_fresh *fresh, sx_txn *txn, const sx_fresh_span *span, uint64_t hash,
		      sx_fresh_rows *rows, simidx_error *err)
{
	uint64_t candidates = 0;
	struct question q = { .span = span, .what = BY_LABEL, .value = hash, .rows = rows,
			      .candidates = &candidates, .err = err };

	return ask(fresh, txn, &q);
}
