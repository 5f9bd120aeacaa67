/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Postings from the documents sorted by (fingerprint, id); by_label; and each permuted table
 * from the list of distinct fingerprints. While one table is written, a second thread sorts the
 * next one.
 */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "index/sx_loader.h"
#include "table/sx_append.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

#define LIST_BUFFER ((size_t)1 << 20)
#define PIECE 16384 /* fingerprints read at once */
#define PROGRESS_ROWS 65536

/* ---- postings ---- */

static int note_distinct(simidx_loader *l, uint64_t fp, simidx_error *err)
{
	unsigned char bytes[8];

	l->n_distinct++;
	l->distinct_digest += sx_hash_u64(fp);
	sx_store_le64(bytes, fp);
	return sx_spill_write(l->distinct, bytes, sizeof(bytes), err);
}

static int write_postings(simidx_loader *l, sx_append *append, simidx_error *err)
{
	uint64_t total = sx_sorter_count(l->by_fp), done = 0, last = 0;
	const uint64_t *record;
	int rc;

	while (!(rc = sx_sorter_next(l->by_fp, &record, err))) {
		if (!done || record[0] != last)
			rc = note_distinct(l, record[0], err);
		last = record[0];
		if (!rc && append->table)
			rc = sx_append_row(append, record[0], record + 1, err);
		if (!rc && append->table)
			rc = sx_loader_pace(l, &append->written, sx_loader_a_page(append), err);
		append->txn = l->txn;
		if (!rc && ++done % PROGRESS_ROWS == 0)
			rc = sx_loader_progress(l, "postings", done, total, err);
		if (rc)
			return rc;
	}
	if (rc != SIMIDX_E_END)
		return rc;
	rc = sx_loader_progress(l, "postings", total, total, err);
	return !rc && append->table ? sx_append_finish(append, err) : rc;
}

static int make_postings(simidx_loader *l, simidx_error *err)
{
	int has_ids = !(l->create.flags & SIMIDX_CREATE_NO_IDS);
	sx_append append = { 0 };
	int rc = sx_sorter_finish(l->by_fp, l->memory / 2, err);

	if (!rc)
		rc = sx_spill_new(l->tmpdir ? l->tmpdir : l->dir, LIST_BUFFER, &l->distinct, err);
	if (!rc && has_ids)
		rc = sx_append_begin(&append, &l->index->tables.postings, l->txn, err);
	if (!rc)
		rc = write_postings(l, &append, err);
	if (!rc && has_ids) {
		l->header.other[SX_COUNT_POSTINGS].rows = append.count;
		l->header.other[SX_COUNT_POSTINGS].digest = append.digest;
		l->header.other[SX_COUNT_POSTINGS].generation++;
	}
	if (append.table)
		sx_append_end(&append);
	l->report.spill_bytes += sx_sorter_spilled(l->by_fp);
	sx_sorter_free(l->by_fp);
	l->by_fp = NULL;
	return rc;
}

static int make_by_label(simidx_loader *l, simidx_error *err)
{
	const uint64_t *record;
	sx_append append;
	int rc = sx_append_begin(&append, &l->index->tables.by_label, l->txn, err);

	if (rc)
		return rc;
	rc = sx_sorter_finish(l->by_label, l->memory / 8, err);
	while (!rc && !(rc = sx_sorter_next(l->by_label, &record, err))) {
		rc = sx_append_row(&append, record[0], record + 1, err);
		if (!rc)
			rc = sx_loader_pace(l, &append.written, sx_loader_a_page(&append), err);
		append.txn = l->txn;
	}
	if (rc == SIMIDX_E_END)
		rc = sx_append_finish(&append, err);
	sx_append_end(&append);
	l->report.spill_bytes += sx_sorter_spilled(l->by_label);
	sx_sorter_free(l->by_label);
	l->by_label = NULL;
	return rc;
}

/* ---- permuted tables ---- */

/* The sorting of one table, perhaps in a thread of its own. */
struct job {
	simidx_loader *l;
	unsigned t;
	size_t memory;
	sx_sorter *sorter;
	simidx_error err;
	int rc;
	pthread_t thread;
	int in_thread;
};

/*
 * The list ascends, and permuting keeps the order of all bits but those of the prefix. So the
 * sort looks at the prefix alone, and being stable it leaves the rest as it is.
 */
static void *sort_table(void *ctx)
{
	struct job *job = ctx;
	simidx_loader *l = job->l;
	const sx_perm *perm = &l->index->plan.table[job->t];
	unsigned char *bytes = sx_realloc(NULL, PIECE, 8);
	uint64_t done = 0;

	job->rc = bytes ? SIMIDX_OK : sx_fail_nomem(&job->err);
	if (!job->rc)
		job->rc = sx_sorter_new(1, 1, perm->bits - perm->prefix_bits, job->memory,
					l->tmpdir ? l->tmpdir : l->dir, &job->sorter, &job->err);
	while (!job->rc && done < l->n_distinct) {
		uint64_t left = l->n_distinct - done;
		size_t n = left < PIECE ? (size_t)left : PIECE;

		job->rc = sx_spill_read(l->distinct, done * 8, bytes, n * 8, &job->err);
		for (size_t i = 0; !job->rc && i < n; i++) {
			uint64_t value = sx_permute(perm, sx_load_le64(bytes + 8 * i));

			job->rc = sx_sorter_add(job->sorter, &value, &job->err);
		}
		done += n;
	}
	if (!job->rc)
		job->rc = sx_sorter_finish(job->sorter, job->memory, &job->err);
	free(bytes);
	return NULL;
}

static void start_job(struct job *job, simidx_loader *l, unsigned t, size_t memory, int in_thread)
{
	memset(job, 0, sizeof(*job));
	job->l = l;
	job->t = t;
	job->memory = memory;
	job->in_thread = in_thread && !pthread_create(&job->thread, NULL, sort_table, job);
	if (!job->in_thread)
		sort_table(job);
}

static int wait_for(struct job *job, simidx_error *err)
{
	if (job->in_thread)
		pthread_join(job->thread, NULL);
	job->in_thread = 0;
	return job->rc ? sx_fail(err, job->rc, "%s", job->err.text) : SIMIDX_OK;
}

static int write_table(simidx_loader *l, struct job *job, simidx_error *err)
{
	const uint64_t *value;
	sx_append append;
	int rc = sx_append_begin(&append, &l->index->tables.permuted[job->t], l->txn, err);

	if (rc)
		return rc;
	while (!(rc = sx_sorter_next(job->sorter, &value, err))) {
		rc = sx_append_keys(&append, value, 1, err);
		if (!rc)
			rc = sx_loader_pace(l, &append.written, sx_loader_a_page(&append), err);
		append.txn = l->txn;
		if (rc)
			break;
	}
	if (rc == SIMIDX_E_END)
		rc = sx_append_finish(&append, err);
	sx_append_end(&append);
	l->header.table[job->t].rows = l->n_distinct;
	l->header.table[job->t].digest = l->distinct_digest;
	l->header.table[job->t].generation++;
	return rc;
}

static void end_job(struct job *job, simidx_loader *l)
{
	wait_for(job, NULL);
	if (job->sorter)
		l->report.spill_bytes += sx_sorter_spilled(job->sorter);
	sx_sorter_free(job->sorter);
	memset(job, 0, sizeof(*job));
}

static int make_permuted(simidx_loader *l, simidx_error *err)
{
	unsigned n = l->index->plan.n_tables;
	int two = l->options.threads != 1 && n > 1;
	size_t memory = l->memory / (two ? 4 : 2);
	struct job job[2] = { 0 };
	int rc = SIMIDX_OK;

	start_job(&job[0], l, 0, memory, 0);
	for (unsigned t = 0; !rc && t < n; t++) {
		struct job *now = &job[t % 2], *later = &job[(t + 1) % 2];

		rc = wait_for(now, err);
		if (!rc && two && t + 1 < n)
			start_job(later, l, t + 1, memory, 1);
		if (!rc)
			rc = write_table(l, now, err);
		end_job(now, l);
		if (!rc && !two && t + 1 < n)
			start_job(later, l, t + 1, memory, 0);
		if (!rc)
			rc = sx_loader_progress(l, "tables", t + 1, n, err);
	}
	/* The other thread may still be at work on what is going to be freed. */
	end_job(&job[0], l);
	end_job(&job[1], l);
	return rc;
}

int sx_loader_write_tables(simidx_loader *l, simidx_error *err)
{
	unsigned char byte;
	int rc = make_postings(l, err);

	/* Nothing may stay in the write buffer: two threads are going to read the list. */
	if (!rc && l->n_distinct)
		rc = sx_spill_read(l->distinct, 0, &byte, 1, err);
	if (!rc && l->by_label)
		rc = make_by_label(l, err);
	return rc ? rc : make_permuted(l, err);
}
