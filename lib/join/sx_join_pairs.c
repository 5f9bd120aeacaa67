/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "join/sx_join_pairs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/sx_bits.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_pool.h"
#include "util/sx_struct.h"

#define LEAST_MEMORY ((uint64_t)16 << 20)
#define DEFAULT_MEMORY ((uint64_t)256 << 20)
#define MOST_MEMORY ((uint64_t)1 << 46)
#define TEXT_RADIUS 7
#define MANY_TEXTS 100000000 /* above, the usual radius */

/* ---- beginning ---- */

/* What the machine has is enough: sorters allocate their share before they know how much comes. */
static uint64_t limit_memory(uint64_t memory)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	uint64_t all = pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : memory;

	if (all < LEAST_MEMORY)
		all = LEAST_MEMORY;
	return memory < all ? memory : all;
}

static int read_options(sx_join_pairs *p, const simidx_join_options *given, simidx_error *err)
{
	static const simidx_join_options defaults = SIMIDX_JOIN_OPTIONS_INIT;
	simidx_join_options own;
	const simidx_join_options *o = given ? given : &defaults;

	o = sx_struct_read(o, SX_STRUCT_TO(simidx_join_options, ctx), &own, sizeof(own));
	if (!o)
		return sx_fail(err, SIMIDX_E_ARG, "the options of the join have a bad size");
	p->options = *o;
	if (o->flags & ~(SIMIDX_JOIN_TEXT | SIMIDX_JOIN_FP2 | SIMIDX_JOIN_LABELS))
		return sx_fail(err, SIMIDX_E_ARG, "unknown flags of a join: %#x", o->flags);
	if (o->memory && (o->memory < LEAST_MEMORY || o->memory > MOST_MEMORY))
		return sx_fail(err, SIMIDX_E_ARG, "a join works in 16 MiB to 64 TiB of memory");
	return SIMIDX_OK;
}

static int same_profile(const simidx *a, const simidx *b)
{
	const char *x = a->schema->profile.text ? a->schema->profile.text : "";
	const char *y = b->schema->profile.text ? b->schema->profile.text : "";

	return !strcmp(x, y);
}

static int check_indexes(const simidx *index, const simidx *other, simidx_error *err)
{
	int rc;

	if (!index)
		return sx_fail(err, SIMIDX_E_ARG, "there is no index to join");
	rc = sx_index_need(index, SX_HAS_TABLES, "all pairs and clusters", err);
	if (!rc && other)
		rc = sx_index_need(other, SX_HAS_TABLES, "all pairs and clusters", err);
	if (rc || !other)
		return rc;
	if (index == other)
		return sx_fail(err, SIMIDX_E_ARG, "an index is not joined with itself as another one");
	if (index->schema->bits != other->schema->bits)
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "fingerprints of %u bits are not joined with those of %u",
			       index->schema->bits, other->schema->bits);
	if (!same_profile(index, other))
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "texts become fingerprints in different ways in both indexes");
	return SIMIDX_OK;
}

static uint64_t documents_of(const sx_join_input *input)
{
	return sx_join_input_snapshot(input)->header.documents;
}

/* The radii that are used, and how. */
static int choose(sx_join_pairs *p, simidx_error *err)
{
	const simidx_join_options *o = &p->options;
	sx_join_task *task = &p->task;
	simidx_join_info *info = &p->info;
	uint64_t many_texts = MANY_TEXTS;
	int has_fp2 = 1;

	info->size = sizeof(*info);
	for (unsigned s = 0; s < task->n_inputs; s++) {
		info->documents += documents_of(&task->input[s]);
		has_fp2 &= task->input[s].index->schema->has_fp2;
	}
	info->radius = o->radius;
	if (sx_join_tuned(task)->many_texts)
		many_texts = sx_join_tuned(task)->many_texts;
	if (o->radius == SIMIDX_JOIN_DEFAULT_RADIUS)
		info->radius = o->flags & SIMIDX_JOIN_TEXT && info->documents <= many_texts
				       ? TEXT_RADIUS
				       : SIMIDX_DEFAULT_RADIUS;
	if (info->radius > task->input[0].index->schema->bits)
		return sx_fail(err, SIMIDX_E_RANGE, "a radius of %u for fingerprints of %u bits",
			       info->radius, task->input[0].index->schema->bits);
	info->radius2 = SIMIDX_JOIN_NO_RADIUS2;
	p->compares_fp2 = o->flags & SIMIDX_JOIN_FP2 && has_fp2;
	if (p->compares_fp2)
		info->radius2 = o->radius2 == SIMIDX_JOIN_DEFAULT_RADIUS ? SIMIDX_JOIN_DEFAULT_RADIUS2
									: o->radius2;
	info->threads = sx_pool_threads(o->threads);
	task->k = info->radius;
	task->threads = info->threads;
	task->space.memory = (size_t)limit_memory(o->memory ? o->memory : DEFAULT_MEMORY);
	task->space.dir = o->tmpdir ? o->tmpdir : "/tmp";
	task->progress = o->progress;
	task->stop = o->stop;
	task->ctx = o->ctx;
	p->method = sx_join_choose(task);
	info->method = p->method.scans ? SIMIDX_JOIN_SCAN : SIMIDX_JOIN_BLOCKS;
	info->seconds = p->method.seconds;
	return SIMIDX_OK;
}

int sx_join_pairs_begin(sx_join_pairs *p, const simidx *index, const simidx *other,
			const simidx_join_options *options, simidx_error *err)
{
	int rc = read_options(p, options, err);

	if (!rc)
		rc = check_indexes(index, other, err);
	if (rc)
		return rc;
	p->task.n_inputs = other ? 2 : 1;
	p->task.input[0].is_of_two = p->task.input[1].is_of_two = other != NULL;
	rc = sx_join_input_begin(&p->task.input[0], index, err);
	if (!rc && other)
		rc = sx_join_input_begin(&p->task.input[1], other, err);
	return rc ? rc : choose(p, err);
}

void sx_join_pairs_end(sx_join_pairs *p)
{
	sx_sorter_free(p->sorter);
	sx_join_input_end(&p->task.input[0]);
	sx_join_input_end(&p->task.input[1]);
}

int sx_join_pairs_tell(const sx_join_pairs *p, const char *phase, uint64_t done, uint64_t total,
		       simidx_error *err)
{
	if (p->options.progress)
		p->options.progress(p->options.ctx, phase, done, total);
	return sx_join_ask(&p->task, err);
}

/* ---- finding ---- */

struct equal {
	sx_join_pairs *p;
	uint64_t seen;
	simidx_error *err;
};

static int add_equal(sx_join_pairs *p, uint64_t fp, simidx_error *err)
{
	uint64_t pair[2] = { fp, fp };

	return sx_sorter_add(p->sorter, pair, err);
}

static int visit_equal(void *ctx, uint64_t fp, sx_join_doc *docs, size_t n)
{
	struct equal *e = ctx;
	int rc = SIMIDX_OK;

	(void)docs;
	/* Rows that are alone are passed without a visit, some thousands at once. */
	if (!(++e->seen & 0x3f))
		rc = sx_join_ask(&e->p->task, e->err);
	return rc || n < 2 ? rc : add_equal(e->p, fp, e->err);
}

/* Fingerprints that both indexes have. */
static int find_common(sx_join_pairs *p, simidx_error *err)
{
	static const sx_perm identity;
	sx_join_source source[2] = { { 0 }, { 0 } };
	sx_join_stream stream[2] = { { 0 }, { 0 } };
	sx_join_batch batch = { 0 };
	int rc = SIMIDX_OK;

	for (unsigned s = 0; !rc && s < 2; s++) {
		rc = sx_join_source_begin(&source[s], &p->task.input[s], &identity, &p->task.space,
					  NULL, err);
		if (!rc)
			rc = sx_join_stream_begin(&stream[s], &source[s], 0, UINT64_MAX, err);
	}
	while (!rc) {
		rc = sx_join_batch_read(&batch, stream, 2, 64, SIZE_MAX, err);
		if (rc || !batch.n)
			break;
		for (size_t i = 0; !rc && i < batch.n; i++)
			if (batch.inputs[i] == 3)
				rc = add_equal(p, batch.v[i], err);
		if (!rc)
			rc = sx_join_ask(&p->task, err);
	}
	sx_join_batch_free(&batch);
	for (unsigned s = 0; s < 2; s++) {
		sx_join_stream_end(&stream[s]);
		sx_join_stream_free(&stream[s]);
		sx_join_source_end(&source[s]);
	}
	return rc;
}

/* Fingerprints that several documents have. */
static int find_equal(sx_join_pairs *p, simidx_error *err)
{
	sx_join_input *input = &p->task.input[0];
	const sx_header *h = &sx_join_input_snapshot(input)->header;
	struct equal e = { p, 0, err };

	if (p->task.n_inputs == 2)
		return find_common(p, err);
	if (!input->index->schema->has_ids)
		return SIMIDX_OK;
	if (!input->n_touched && h->documents == h->table[0].rows)
		return SIMIDX_OK;
	return sx_join_input_repeated(input, visit_equal, &e, err);
}

int sx_join_pairs_find(sx_join_pairs *p, simidx_error *err)
{
	const simidx_join_options *o = &p->options;
	size_t memory = p->task.space.memory / 4;
	int rc;

	if (o->planned && o->planned(o->ctx, &p->info))
		return sx_fail(err, SIMIDX_E_STOPPED, "stopped by the caller");
	rc = sx_sorter_new(2, 2, 0, memory, p->task.space.dir, &p->sorter, err);
	if (!rc)
		rc = find_equal(p, err);
	if (!rc)
		rc = sx_join_find(&p->task, &p->method, p->sorter, err);
	if (!rc)
		rc = sx_sorter_finish(p->sorter, memory, err);
	p->info.fingerprint_pairs = rc ? 0 : sx_sorter_count(p->sorter);
	return rc;
}

int sx_join_pairs_found(const sx_join_pairs *p, simidx_error *err)
{
	const simidx_join_options *o = &p->options;

	if (o->found && o->found(o->ctx, &p->info))
		return sx_fail(err, SIMIDX_E_STOPPED, "stopped by the caller");
	return SIMIDX_OK;
}

/* ---- classes ---- */

static int by_fp2(const void *a, const void *b)
{
	const sx_join_doc *x = a, *y = b;

	if (x->fp2 != y->fp2)
		return x->fp2 < y->fp2 ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int is_empty_text(const sx_join_input *input, const sx_join_doc *doc)
{
	return !doc->fp && (!doc->fp2 || sx_join_lacks_fp2(input, doc));
}

int sx_join_pairs_classes(const sx_join_pairs *p, const sx_join_input *input, sx_join_doc *docs,
			  size_t *n_docs, size_t base, sx_join_classes *out, simidx_error *err)
{
	int counts = p->compares_fp2;
	size_t n = *n_docs;

	if (p->options.flags & SIMIDX_JOIN_TEXT && n && !docs->fp) {
		n = 0;
		for (size_t i = 0; i < *n_docs; i++)
			if (!is_empty_text(input, &docs[i]))
				docs[n++] = docs[i];
		*n_docs = n;
	}

	/* Those of one class may be many, so only what is not in order is brought into it. */
	for (size_t i = 1; counts && i < n; i++)
		if (by_fp2(&docs[i - 1], &docs[i]) > 0) {
			qsort(docs, n, sizeof(*docs), by_fp2);
			break;
		}
	for (size_t i = 0, end; i < n; i = end) {
		sx_join_class *c;

		for (end = i + 1; end < n && (!counts || docs[end].fp2 == docs[i].fp2);)
			end++;
		if (sx_reserve(&out->at, &out->cap, out->n + 1, sizeof(*out->at)))
			return sx_fail_nomem(err);
		c = &out->at[out->n];
		c->fp2 = docs[i].fp2;
		c->lacks_fp2 = sx_join_lacks_fp2(input, &docs[i]);
		c->from = base + i;
		c->n = end - i;
		out->n++;
	}
	return SIMIDX_OK;
}

int sx_join_pairs_are_near(const sx_join_pairs *p, unsigned distance, const sx_join_class *a,
			   const sx_join_class *b, int *distance2)
{
	*distance2 = -1;
	if (!p->compares_fp2)
		return 1;
	if (a->lacks_fp2 || b->lacks_fp2)
		return distance <= p->info.radius2;
	*distance2 = (int)sx_count_plain(a->fp2 ^ b->fp2);
	return distance + (unsigned)*distance2 <= p->info.radius2;
}
