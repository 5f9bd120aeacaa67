/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "index/sx_fresh_hits.h"

#include "util/sx_err.h"

/*
 * Rent or buy: adding a row to the memtable costs about as much as reading it from the log
 * 64 times. It is bought by instalments: a search adds at most a part of the rows that are
 * missing, and reads those that still are from the log, so that none waits for all.
 */
#define READS_BEFORE 8 /* of all rows: who asks less often buys nothing */
#define INSTALMENTS 64
#define INSTALMENT 128 /* rows at least */

static int push_row(sx_fresh_rows *rows, const sx_fresh_row *row, simidx_error *err)
{
	if (sx_reserve(&rows->at, &rows->cap, rows->n + 1, sizeof(*rows->at)))
		return sx_fail_nomem(err);
	rows->at[rows->n++] = *row;
	return SIMIDX_OK;
}

/* ---- the memtable ---- */

static int add_to_memtable(void *ctx, uint64_t seq, const sx_fresh_row *row)
{
	(void)seq;
	return sx_memtable_add(ctx, row) ? SIMIDX_E_NOMEM : SIMIDX_OK;
}

static int is_begun(const sx_memtable *memtable, const sx_header *h)
{
	return memtable && sx_memtable_base(memtable) == h->first_seq;
}

static int is_current(const sx_memtable *memtable, const sx_header *h)
{
	return is_begun(memtable, h) && sx_memtable_end(memtable) >= h->next_seq;
}

/* Begin a new one, if the one that is there is of rows that have been merged; *old is freed. */
static int begin_memtable(simidx *index, const sx_header *h, sx_memtable **old, simidx_error *err)
{
	*old = NULL;
	if (index->memtable && sx_memtable_base(index->memtable) >= h->first_seq)
		return SIMIDX_OK;
	*old = index->memtable;
	index->memtable = sx_memtable_new(index->bits, h->first_seq, index->kernel);
	return index->memtable ? SIMIDX_OK : sx_fail_nomem(err);
}

/* Add rows of the snapshot, at most `most`. The lock is held for writing. */
static int add_rows(simidx *index, const sx_snapshot *s, uint64_t most, simidx_error *err)
{
	uint64_t from = sx_memtable_end(index->memtable), end = s->header.next_seq;
	int rc;

	/* It may serve newer snapshots. */
	if (!is_begun(index->memtable, &s->header) || from >= end)
		return SIMIDX_OK;
	if (end - from > most)
		end = from + most;
	rc = sx_fresh_read(s->txn, &index->tables.fresh, from, end, add_to_memtable, index->memtable, err);
	return rc == SIMIDX_E_NOMEM ? sx_fail_nomem(err) : rc;
}

static int extend_memtable(simidx *index, const sx_snapshot *s, uint64_t most, simidx_error *err)
{
	sx_memtable *old;
	int rc;

	pthread_rwlock_wrlock(&index->memtable_lock);
	rc = begin_memtable(index, &s->header, &old, err);
	if (!rc)
		rc = add_rows(index, s, most, err);
	pthread_rwlock_unlock(&index->memtable_lock);
	sx_memtable_free(old);
	return rc;
}

int sx_memtable_refresh(simidx *index, const sx_snapshot *s, simidx_error *err)
{
	int current;

	pthread_rwlock_rdlock(&index->memtable_lock);
	current = is_current(index->memtable, &s->header);
	pthread_rwlock_unlock(&index->memtable_lock);
	return current ? SIMIDX_OK : extend_memtable(index, s, UINT64_MAX, err);
}

void sx_memtable_discard(simidx *index)
{
	pthread_rwlock_wrlock(&index->memtable_lock);
	sx_memtable_free(index->memtable);
	index->memtable = NULL;
	pthread_rwlock_unlock(&index->memtable_lock);
}

/* Append the rows of a chain that belong to the snapshot. */
static int push_chain(const sx_memtable *memtable, const sx_header *h, uint32_t i,
		      uint32_t (*next)(const sx_memtable *memtable, uint32_t i), sx_fresh_rows *rows,
		      simidx_error *err)
{
	uint64_t n = h->next_seq - h->first_seq;

	for (; i != SX_MEMTABLE_NONE && i < n; i = next(memtable, i)) {
		const sx_fresh_row *row = sx_memtable_row(memtable, i);

		if (!sx_is_merged(h, row) && push_row(rows, row, err))
			return SIMIDX_E_NOMEM;
	}
	return SIMIDX_OK;
}

static uint32_t no_next(const sx_memtable *memtable, uint32_t i)
{
	(void)memtable;
	(void)i;
	return SX_MEMTABLE_NONE;
}

static int ask_memtable(const sx_memtable *memtable, const sx_header *h, const sx_fresh_question *q,
		    sx_fresh_rows *rows, uint64_t *candidates, simidx_error *err)
{
	sx_u64s fps = { 0 };
	int rc = SIMIDX_OK;

	if (q->ask == SX_ASK_ID)
		return push_chain(memtable, h, sx_memtable_by_id(memtable, q->value), no_next, rows, err);
	if (q->ask == SX_ASK_LABEL)
		return push_chain(memtable, h, sx_memtable_by_label(memtable, q->value), sx_memtable_next_label,
				  rows, err);
	if (sx_memtable_near(memtable, q->probes, q->value, q->k, h->next_seq - h->first_seq, &fps,
			 candidates))
		rc = sx_fail_nomem(err);
	for (size_t i = 0; !rc && i < fps.n; i++)
		rc = push_chain(memtable, h, sx_memtable_by_fp(memtable, fps.at[i]), sx_memtable_next_fp, rows,
				err);
	sx_u64s_free(&fps);
	return rc;
}

/* ---- the log itself ---- */

struct scan {
	const sx_header *header;
	const sx_fresh_question *question;
	sx_fresh_rows *rows;
	uint64_t *candidates;
	simidx_error *err;
};

static int matches(const sx_fresh_question *q, const sx_fresh_row *row)
{
	switch (q->ask) {
	case SX_ASK_NEAR:
		return simidx_is_near(row->fp, q->value, q->k);
	case SX_ASK_ID:
		return row->id == q->value;
	default:
		return row->op & SX_FRESH_LABEL && row->label_hash == q->value;
	}
}

static int scan_row(void *ctx, uint64_t seq, const sx_fresh_row *row)
{
	struct scan *scan = ctx;

	(void)seq;
	++*scan->candidates;
	if (!matches(scan->question, row) || sx_is_merged(scan->header, row))
		return SIMIDX_OK;
	return push_row(scan->rows, row, scan->err);
}

/* Ask the memtable for the rows that it has: those before *end, which may be none. */
static int ask_begun(simidx *index, const sx_header *h, const sx_fresh_question *question,
		     sx_fresh_rows *rows, uint64_t *candidates, uint64_t *end, simidx_error *err)
{
	int rc = SIMIDX_OK;

	*end = h->first_seq;
	pthread_rwlock_rdlock(&index->memtable_lock);
	if (is_begun(index->memtable, h)) {
		*end = sx_memtable_end(index->memtable);
		rc = ask_memtable(index->memtable, h, question, rows, candidates, err);
	}
	pthread_rwlock_unlock(&index->memtable_lock);
	return rc;
}

int sx_fresh_hits(simidx *index, const sx_snapshot *s, const sx_fresh_question *question,
		  uint64_t *rented, sx_fresh_rows *rows, uint64_t *candidates, simidx_error *err)
{
	const sx_header *h = &s->header;
	uint64_t n = h->next_seq - h->first_seq, end, left;
	struct scan scan = { h, question, rows, candidates, err };
	int rc;

	if (!n)
		return SIMIDX_OK;
	rc = ask_begun(index, h, question, rows, candidates, &end, err);
	if (rc || end >= h->next_seq)
		return rc;
	left = h->next_seq - end;
	*rented += left;
	rc = sx_fresh_read(s->txn, &index->tables.fresh, end, h->next_seq, scan_row, &scan, err);
	if (rc || (left == n && *rented < READS_BEFORE * n))
		return rc;
	rc = extend_memtable(index, s,
			 left / INSTALMENTS > INSTALMENT ? left / INSTALMENTS : INSTALMENT, err);
	/* The answer is complete without it; another search may have the memory. */
	if (rc == SIMIDX_E_NOMEM) {
		sx_err_clear(err);
		rc = SIMIDX_OK;
	}
	return rc;
}

void sx_fresh_hint(simidx *index, const sx_snapshot *s, const sx_probes *probes)
{
	if (s->header.next_seq == s->header.first_seq)
		return;
	pthread_rwlock_rdlock(&index->memtable_lock);
	if (is_begun(index->memtable, &s->header))
		sx_memtable_hint(index->memtable, probes);
	pthread_rwlock_unlock(&index->memtable_lock);
}

static int load_row(void *ctx, uint64_t seq, const sx_fresh_row *row)
{
	(void)seq;
	return push_row(ctx, row, NULL);
}

int sx_fresh_load(const sx_snapshot *s, sx_fresh_rows *rows, simidx_error *err)
{
	int rc = sx_fresh_read(s->txn, &s->index->tables.fresh, s->header.first_seq,
			       s->header.next_seq, load_row, rows, err);

	return rc == SIMIDX_E_NOMEM ? sx_fail_nomem(err) : rc;
}
