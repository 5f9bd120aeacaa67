/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "write/sx_writer_engine.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

#define MAX_BLOCK 4096 /* ids that are reserved at once where nobody has said how many */

sx_writer_engine *sx_writer_engine_new(void)
{
	return sx_calloc(1, sizeof(sx_writer_engine));
}

void sx_writer_engine_free(sx_writer_engine *e)
{
	if (!e)
		return;
	sx_known_free(&e->known);
	free(e);
}

void sx_writer_engine_end(sx_writer_engine *e, simidx *index)
{
	/* Whether one had expired was told by the commit. */
	if (e->has_leases && sx_engine_release(index->engine, NULL))
		sx_engine_forget_info(index->engine);
	e->has_leases = 0;
	e->hint = e->given_end = 0;
	sx_known_clear(&e->known);
}

/* ---- ids ---- */

int sx_writer_engine_id(sx_writer_engine *e, simidx *index, uint64_t at_least, uint64_t *id,
			simidx_error *err)
{
	uint64_t n = e->hint, first;
	int rc;

	while (e->n_ids && e->ids < at_least) {
		e->ids++;
		e->n_ids--;
	}
	if (!e->n_ids) {
		/* A few more each time: what is left over is never given to anybody. */
		if (!n)
			n = e->block < MAX_BLOCK / 2 ? e->block * 2 + 1 : MAX_BLOCK;
		rc = sx_engine_reserve_ids(index->engine, n, at_least, &first, err);
		if (rc)
			return rc;
		e->ids = first;
		e->n_ids = e->block = n;
	}
	*id = e->ids++;
	e->n_ids--;
	e->hint -= e->hint > 0;
	return SIMIDX_OK;
}

/* ---- leases ---- */

int sx_writer_engine_lease(sx_writer_engine *e, simidx *index, uint64_t fp, int wait_ms,
			   simidx_error *err)
{
	simidx_engine_probe lease[SX_MAX_TABLES];
	uint32_t prefix[SX_MAX_TABLES];

	if (!(index->engine->capabilities & SIMIDX_ENGINE_LEASES))
		return SIMIDX_OK;
	sx_plan_prefixes(&index->plan, fp, prefix);
	for (unsigned t = 0; t < index->plan.n_tables; t++)
		lease[t] = (simidx_engine_probe){ prefix[t], t };
	/* Also after a failure: some may have been taken. */
	e->has_leases = 1;
	return sx_engine_lease(index->engine, lease, index->plan.n_tables, wait_ms, err);
}

/* ---- commit ---- */

/* What a commit stores, while it is made. Each document has two versions, and prefixes of both. */
struct folding {
	const sx_writer_engine *engine;
	const simidx *index;
	const sx_fresh_row **order; /* of the rows */
	simidx_engine_version *version;
	uint32_t *prefix;
	simidx_engine_change *change;
	size_t n;
};

static void describe(const simidx *index, uint64_t fp, uint64_t fp2, sx_slice label,
		     uint32_t *prefix, simidx_engine_version *out)
{
	*out = (simidx_engine_version){ .fp = fp, .prefix = prefix };
	if (index->flags & SIMIDX_CREATE_FP2 && sx_is_unknown_fp2(index, fp2)) {
		out->flags = SIMIDX_DOC_FP2_UNKNOWN;
	} else if (index->flags & SIMIDX_CREATE_FP2) {
		out->flags = SIMIDX_DOC_FP2;
		out->fp2 = fp2;
	}
	if (label.size) {
		out->label = label.data;
		out->label_size = label.size;
	}
	sx_plan_prefixes(&index->plan, fp, prefix);
}

static int is_same(const sx_known_doc *before, const sx_fresh_row *row, sx_slice label)
{
	return before->fp == row->fp && before->fp2 == row->fp2 &&
	       before->label.size == label.size &&
	       !(label.size && memcmp(before->label.data, label.data, label.size));
}

/* What the last row about a document makes of it, if that changes something. */
static void fold(struct folding *f, const sx_fresh_row *row)
{
	const sx_known_doc *known = sx_known_find(&f->engine->known, row->id);
	simidx_engine_change *change = &f->change[f->n];
	simidx_engine_version *before = &f->version[2 * f->n], *after = before + 1;
	uint32_t *prefix = f->prefix + 2 * f->n * f->index->plan.n_tables;
	sx_slice label = { NULL, 0 };
	int was_there = known && known->is_there, is_there = !sx_fresh_is_delete(row);

	if (is_there && row->op & SX_FRESH_LABEL)
		label = known->now;
	if (was_there == is_there && (!is_there || is_same(known, row, label)))
		return;
	*change = (simidx_engine_change){ .id = row->id };
	if (was_there) {
		describe(f->index, known->fp, known->fp2, known->label, prefix, before);
		change->before = before;
	}
	if (is_there) {
		describe(f->index, row->fp, row->fp2, label, prefix + f->index->plan.n_tables, after);
		change->after = after;
	}
	f->n++;
}

static int compare_rows(const void *a, const void *b)
{
	const sx_fresh_row *const *x = a, *const *y = b;

	if ((*x)->id != (*y)->id)
		return (*x)->id < (*y)->id ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/* One change for each document that the rows are about, as far as it changes. */
static int fold_all(struct folding *f, const sx_fresh_rows *pending, simidx_error *err)
{
	size_t n = pending->n ? pending->n : 1;

	f->order = sx_realloc(NULL, n, sizeof(*f->order));
	f->version = sx_realloc(NULL, n, 2 * sizeof(*f->version));
	f->prefix = sx_realloc(NULL, n, 2 * f->index->plan.n_tables * sizeof(*f->prefix));
	f->change = sx_realloc(NULL, n, sizeof(*f->change));
	if (!f->order || !f->version || !f->prefix || !f->change)
		return sx_fail_nomem(err);
	for (size_t i = 0; i < pending->n; i++)
		f->order[i] = &pending->at[i];
	if (pending->n > 1)
		qsort(f->order, pending->n, sizeof(*f->order), compare_rows);
	for (size_t i = 0; i < pending->n; i++)
		if (i + 1 == pending->n || f->order[i]->id != f->order[i + 1]->id)
			fold(f, f->order[i]);
	return SIMIDX_OK;
}

int sx_writer_engine_store(sx_writer_engine *e, const sx_snapshot *snapshot,
			   const sx_fresh_rows *pending, const sx_mark *mark, unsigned durability,
			   simidx_error *err)
{
	sx_engine *engine = snapshot->index->engine;
	struct folding f = { .engine = e, .index = snapshot->index };
	simidx_engine_batch batch = { .mark = mark->size ? mark->bytes : NULL,
				      .mark_size = mark->size, .durability = durability };
	uint64_t first;
	int rc = fold_all(&f, pending, err);

	/* An id that a caller has given is not to be chosen for another document later. */
	if (!rc && e->given_end)
		rc = sx_engine_reserve_ids(engine, 0, e->given_end, &first, err);
	batch.change = f.change;
	batch.n = f.n;
	if (!rc && (batch.n || batch.mark))
		rc = sx_engine_write(engine, &batch, err);
	sx_engine_forget_info(engine);
	free(f.order);
	free(f.version);
	free(f.prefix);
	free(f.change);
	return rc;
}
