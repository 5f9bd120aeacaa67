/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Postings from the documents sorted by (fingerprint, id); by_label; and each permuted table
 * from the list of distinct fingerprints. While one table is written, a second thread sorts the
 * next one.
 */

#include "load/sx_loader_tables.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "util/sx_err.h"
#include "util/sx_frames.h"
#include "util/sx_hash.h"

#define LIST_BUFFER ((size_t)1 << 20)
#define READ_BUFFER ((size_t)256 << 10)
#define PROGRESS_ROWS 65536

/* ---- postings ---- */

/* The list of distinct fingerprints while it is written. */
struct list {
	uint64_t fp[SX_FRAME_RECORDS]; /* not written yet */
	size_t n;
	uint64_t last;
};

static int write_list(simidx_loader *l, struct list *list, simidx_error *err)
{
	size_t n = list->n;

	list->n = 0;
	return sx_frames_write(l->output.distinct, list->fp, n, 1, err);
}

/* Some of the postings: the fingerprints that are new go to the list. */
static int list_distinct(simidx_loader *l, struct list *list, const uint64_t *record, size_t n,
			 simidx_error *err)
{
	unsigned words = sx_sorter_words(l->output.by_fp);
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < n; i++, record += words) {
		if (l->output.n_distinct && record[0] == list->last)
			continue;
		list->last = list->fp[list->n++] = record[0];
		l->output.n_distinct++;
		l->output.distinct_digest += sx_hash_u64(record[0]);
		if (list->n == SX_FRAME_RECORDS)
			rc = write_list(l, list, err);
	}
	return rc;
}

static int write_postings(simidx_loader *l, sx_append *append, simidx_error *err)
{
	uint64_t total = sx_sorter_count(l->output.by_fp), done = 0;
	struct list list = { .n = 0 };
	const uint64_t *record;
	size_t n;
	int rc;

	while (!(rc = sx_sorter_some(l->output.by_fp, &record, &n, err))) {
		rc = list_distinct(l, &list, record, n, err);
		if (!rc && append->table)
			rc = sx_loader_append(l, append, record, n, err);
		if (!rc && (done + n) / PROGRESS_ROWS > done / PROGRESS_ROWS)
			rc = sx_loader_progress(l, "postings", done + n, total, err);
		if (rc)
			return rc;
		done += n;
	}
	if (rc == SIMIDX_E_END)
		rc = write_list(l, &list, err);
	if (!rc)
		rc = sx_loader_progress(l, "postings", total, total, err);
	return !rc && append->table ? sx_append_finish(append, err) : rc;
}

static int make_postings(simidx_loader *l, simidx_error *err)
{
	sx_loader_output *out = &l->output;
	sx_table_count *count = out->header.other;
	sx_append append = { 0 };
	int rc = sx_sorter_finish(out->by_fp, l->memory / 2, err);

	if (!rc && !out->distinct)
		rc = sx_spill_new(sx_loader_tmpdir(l), LIST_BUFFER, &out->distinct, err);
	if (!rc && l->target.index->schema->has_ids)
		rc = sx_append_begin(&append, &l->target.index->tables.postings, out->txn,
				     err);
	if (!rc)
		rc = write_postings(l, &append, err);
	out->header.documents = append.table ? append.count : out->n_distinct;
	if (!rc && append.table) {
		count[SX_COUNT_POSTINGS].rows = append.count;
		count[SX_COUNT_POSTINGS].digest = append.table->columns->n
							  ? append.digest
							  : count[SX_COUNT_DOCS].digest;
		count[SX_COUNT_POSTINGS].generation++;
	}
	if (append.table)
		sx_append_end(&append);
	out->report.spill_bytes += sx_sorter_spilled(out->by_fp);
	out->spill = sx_sorter_take_spill(out->by_fp);
	sx_sorter_free(out->by_fp);
	out->by_fp = NULL;
	return rc;
}

static int make_by_label(simidx_loader *l, simidx_error *err)
{
	const uint64_t *record;
	sx_append append;
	size_t n;
	int rc = sx_append_begin(&append, &l->target.index->tables.by_label, l->output.txn, err);

	if (rc)
		return rc;
	rc = sx_sorter_finish(l->output.by_label, l->memory / 8, err);
	while (!rc && !(rc = sx_sorter_some(l->output.by_label, &record, &n, err)))
		rc = sx_loader_append(l, &append, record, n, err);
	if (rc == SIMIDX_E_END)
		rc = sx_append_finish(&append, err);
	sx_append_end(&append);
	l->output.report.spill_bytes += sx_sorter_spilled(l->output.by_label);
	sx_sorter_free(l->output.by_label);
	l->output.by_label = NULL;
	return rc;
}

/* ---- permuted tables ---- */

/* The values of one table, perhaps sorted in a thread of its own. */
struct job {
	simidx_loader *l;
	unsigned t;
	size_t memory;
	sx_frames list;    /* the fingerprints */
	sx_sorter *sorter; /* NULL: the values are the fingerprints */
	sx_spill *spill;   /* of the table before, to be written again */
	simidx_error err;
	int rc;
	pthread_t thread;
	int in_thread;
	atomic_int stopped;
};

/* Only the caller's own thread asks the caller. */
static int check_stop(struct job *job)
{
	if (!job->in_thread)
		return sx_loader_check_stop(job->l, &job->err);
	return atomic_load(&job->stopped) ? SIMIDX_E_STOPPED : SIMIDX_OK;
}

/*
 * The list ascends, and permuting keeps the order of all bits but those of the prefix. So the
 * sort looks at the prefix alone, and being stable it leaves the rest as it is.
 */
static int sort_values(struct job *job)
{
	const sx_perm *perm = &job->l->target.index->schema->plan.table[job->t];
	uint64_t done = 0;
	int rc;

	while (!(rc = sx_frames_next(&job->list, &job->err))) {
		uint64_t *value = job->list.record;

		for (size_t i = 0; i < job->list.n; i++)
			value[i] = sx_permute(perm, value[i]);
		rc = sx_sorter_add_some(job->sorter, value, job->list.n, &job->err);
		done += job->list.n;
		if (!rc && done % PROGRESS_ROWS == 0)
			rc = check_stop(job);
		if (rc)
			return rc;
	}
	return rc == SIMIDX_E_END ? sx_sorter_finish(job->sorter, job->memory, &job->err) : rc;
}

static void *sort_table(void *ctx)
{
	struct job *job = ctx;

	job->rc = sort_values(job);
	return NULL;
}

/* Whether permuting changes nothing: it only moves bits, so each one tells for itself. */
static int is_identity(const sx_perm *perm)
{
	for (unsigned b = 0; b < perm->bits; b++)
		if (sx_permute(perm, (uint64_t)1 << b) != (uint64_t)1 << b)
			return 0;
	return 1;
}

static void start_job(struct job *job, unsigned t, int in_thread)
{
	simidx_loader *l = job->l;
	const sx_perm *perm = &l->target.index->schema->plan.table[t];

	job->t = t;
	sx_frames_seek(&job->list, 0, sx_spill_size(l->output.distinct));
	if (is_identity(perm))
		return;
	job->rc = sx_sorter_new(1, 1, perm->bits - perm->prefix_bits, job->memory,
				sx_loader_tmpdir(l), &job->sorter, &job->err);
	if (job->rc)
		return;
	sx_sorter_give_spill(job->sorter, job->spill);
	job->spill = NULL;
	job->in_thread = in_thread;
	if (!in_thread || pthread_create(&job->thread, NULL, sort_table, job)) {
		job->in_thread = 0;
		sort_table(job);
	}
}

/* Wait for a thread, and ask the caller meanwhile. */
static int wait_for(struct job *job, simidx_error *err)
{
	int asked = SIMIDX_OK;

	while (job->in_thread) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
		if (!pthread_timedjoin_np(job->thread, NULL, &until))
			job->in_thread = 0;
		else if (!asked)
			asked = sx_loader_check_stop(job->l, err);
		if (asked)
			atomic_store(&job->stopped, 1);
	}
	if (asked)
		return asked;
	return job->rc ? sx_fail(err, job->rc, "%s", job->err.text) : SIMIDX_OK;
}

/* The next values in order; SIMIDX_E_END after the last ones. */
static int next_values(struct job *job, const uint64_t **value, size_t *n, simidx_error *err)
{
	int rc;

	if (job->sorter)
		return sx_sorter_some(job->sorter, value, n, err);
	rc = sx_frames_next(&job->list, err);
	*value = job->list.record;
	*n = job->list.n;
	return rc;
}

static int write_table(simidx_loader *l, struct job *job, simidx_error *err)
{
	const sx_table *table = &l->target.index->tables.permuted[job->t];
	sx_table_count *count = &l->output.header.table[job->t];
	const uint64_t *value;
	sx_append append;
	size_t n;
	int rc = sx_append_begin(&append, table, l->output.txn, err);

	while (!rc && !(rc = next_values(job, &value, &n, err)))
		rc = sx_loader_append(l, &append, value, n, err);
	if (rc == SIMIDX_E_END)
		rc = sx_append_finish(&append, err);
	sx_append_end(&append);
	count->rows = l->output.n_distinct;
	count->digest = l->output.distinct_digest;
	count->generation++;
	return rc;
}

/* A thread that is still at work is not waited for longer than until it notices. */
static void end_job(struct job *job)
{
	atomic_store(&job->stopped, 1);
	if (job->in_thread)
		pthread_join(job->thread, NULL);
	job->in_thread = 0;
	atomic_store(&job->stopped, 0);
	if (!job->sorter)
		return;
	job->l->output.report.spill_bytes += sx_sorter_spilled(job->sorter);
	job->spill = sx_sorter_take_spill(job->sorter);
	sx_sorter_free(job->sorter);
	job->sorter = NULL;
}

static int write_permuted(simidx_loader *l, struct job *job, int two, simidx_error *err)
{
	unsigned n = l->target.index->schema->plan.n_tables;
	int rc = SIMIDX_OK;

	start_job(&job[0], 0, 0);
	for (unsigned t = 0; !rc && t < n; t++) {
		struct job *now = &job[two ? t % 2 : 0], *later = &job[two ? (t + 1) % 2 : 0];

		rc = wait_for(now, err);
		if (!rc && two && t + 1 < n)
			start_job(later, t + 1, 1);
		if (!rc)
			rc = write_table(l, now, err);
		end_job(now);
		if (!rc && !two && t + 1 < n)
			start_job(later, t + 1, 0);
		if (!rc)
			rc = sx_loader_progress(l, "tables", t + 1, n, err);
	}
	return rc;
}

static int make_permuted(simidx_loader *l, simidx_error *err)
{
	int two = l->options.threads != 1 && l->target.index->schema->plan.n_tables > 1;
	struct job job[2] = { 0 };
	int rc = SIMIDX_OK;

	job[0].spill = l->output.spill;
	l->output.spill = NULL;
	for (int i = 0; !rc && i <= two; i++) {
		job[i].l = l;
		job[i].memory = l->memory / (two ? 4 : 2);
		rc = sx_frames_init(&job[i].list, l->output.distinct, 1, READ_BUFFER, err);
	}
	if (!rc)
		rc = write_permuted(l, job, two, err);
	for (int i = 0; i <= two; i++) {
		end_job(&job[i]);
		sx_spill_free(job[i].spill);
		sx_frames_free(&job[i].list);
	}
	return rc;
}

int sx_loader_write_tables(simidx_loader *l, simidx_error *err)
{
	unsigned char byte;
	int rc = make_postings(l, err);

	/* Nothing may stay in the write buffer: two threads are going to read the list. */
	if (!rc && l->output.n_distinct)
		rc = sx_spill_read(l->output.distinct, 0, &byte, 1, err);
	if (!rc && l->output.by_label)
		rc = make_by_label(l, err);
	return rc ? rc : make_permuted(l, err);
}
