/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "fresh/sx_fresh.h"

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
	enum sx_memtable_key key;
	uint64_t value;
	const sx_probes *probes; /* of SX_BY_FP */
	unsigned k;              /* of SX_BY_FP: bits that may differ */
	sx_fresh_rows *rows;
	uint64_t *candidates;
	simidx_error *err;
	uint64_t seq; /* of the next row that is read from the log */
};

/*
 * By default glibc's locks let readers in as long as there are any, so that many searching threads
 * would keep a writer out for seconds.
 */
int sx_fresh_init(sx_fresh *fresh)
{
	pthread_rwlockattr_t attr;
	int failed;

	if (pthread_rwlockattr_init(&attr))
		return -1;
#ifdef __GLIBC__
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
	failed = pthread_rwlock_init(&fresh->lock, &attr);
	pthread_rwlockattr_destroy(&attr);
	return failed ? -1 : 0;
}

void sx_fresh_free(sx_fresh *fresh)
{
	sx_memtable_free(fresh->memtable);
	pthread_rwlock_destroy(&fresh->lock);
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
		fresh->memtable = sx_memtable_new(fresh->bits, span->first, fresh->kernel);
		if (!fresh->memtable)
			rc = SIMIDX_E_NOMEM;
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

int sx_fresh_add(sx_fresh *fresh, const sx_fresh_row *rows, size_t n, simidx_error *err)
{
	int rc = SIMIDX_OK;

	pthread_rwlock_wrlock(&fresh->lock);
	for (size_t i = 0; !rc && i < n; i++)
		rc = add_row(fresh->memtable, &rows[i]);
	pthread_rwlock_unlock(&fresh->lock);
	return rc ? sx_fail_nomem(err) : SIMIDX_OK;
}

void sx_fresh_discard(sx_fresh *fresh)
{
	pthread_rwlock_wrlock(&fresh->lock);
	sx_memtable_free(fresh->memtable);
	fresh->memtable = NULL;
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

/* ---- questions ---- */

static int push_row(const struct question *q, const sx_fresh_row *row, uint64_t seq)
{
	const sx_fresh_span *s = q->span;

	if (seq < s->merge_end && (row->fp < s->merged_fp ||
				   (row->fp == s->merged_fp && row->id <= s->merged_id)))
		return SIMIDX_OK;
	return sx_fresh_rows_push(q->rows, row, q->err);
}

/* Append the rows of the span that have one value of the key. */
static int push_equal(const sx_memtable *memtable, const struct question *q, uint64_t value)
{
	uint64_t n = q->span->end - q->span->first;
	uint32_t i = sx_memtable_first(memtable, q->key, value);
	int rc = SIMIDX_OK;

	for (; !rc && i != SX_MEMTABLE_NONE && i < n; i = sx_memtable_next(memtable, q->key, i))
		rc = push_row(q, sx_memtable_row(memtable, i), q->span->first + i);
	return rc;
}

static int ask_memtable(const sx_memtable *memtable, const struct question *q)
{
	sx_u64s fps = { 0 };
	int rc = SIMIDX_OK;

	if (q->key != SX_BY_FP)
		return push_equal(memtable, q, q->value);
	if (sx_memtable_near(memtable, q->probes, q->value, q->k, &fps, q->candidates))
		rc = sx_fail_nomem(q->err);
	for (size_t i = 0; !rc && i < fps.n; i++)
		rc = push_equal(memtable, q, fps.at[i]);
	sx_u64s_free(&fps);
	return rc;
}

static int scan_row(void *ctx, const sx_fresh_row *row)
{
	struct question *q = ctx;
	uint64_t seq = q->seq++;
	int matches;

	++*q->candidates;
	if (q->key == SX_BY_FP)
		matches = simidx_is_near(row->fp, q->value, q->k);
	else if (q->key == SX_BY_ID)
		matches = row->id == q->value;
	else
		matches = row->op & SX_FRESH_LABEL && row->label_hash == q->value;
	return matches ? push_row(q, row, seq) : SIMIDX_OK;
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

int sx_fresh_near(sx_fresh *fresh, sx_txn *txn, const sx_fresh_span *span,
		  const sx_probes *probes, uint64_t query, unsigned k, sx_fresh_rows *rows,
		  uint64_t *candidates, simidx_error *err)
{
	struct question q = { span, SX_BY_FP, query, probes, k, rows, candidates, err, 0 };

	return ask(fresh, txn, &q);
}

int sx_fresh_by_id(sx_fresh *fresh, sx_txn *txn, const sx_fresh_span *span, uint64_t id,
		   sx_fresh_rows *rows, simidx_error *err)
{
	uint64_t candidates = 0;
	struct question q = { span, SX_BY_ID, id, NULL, 0, rows, &candidates, err, 0 };

	return ask(fresh, txn, &q);
}

int sx_fresh_by_label(sx_fresh *fresh, sx_txn *txn, const sx_fresh_span *span, uint64_t hash,
		      sx_fresh_rows *rows, simidx_error *err)
{
	uint64_t candidates = 0;
	struct question q = { span, SX_BY_LABEL, hash, NULL, 0, rows, &candidates, err, 0 };

	return ask(fresh, txn, &q);
}
