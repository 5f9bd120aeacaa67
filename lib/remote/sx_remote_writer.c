/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "remote/sx_remote_writer.h"

#include <stdlib.h>
#include <string.h>

#include "remote/sx_remote_older.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"

#define MAX_BLOCK 4096 /* ids that are reserved at once where no number was given */

/* What a writer has besides. */
struct own {
	sx_doc_cache doc_cache;     /* of the transaction */
	uint64_t ids;       /* the next one of those that are reserved */
	uint64_t n_ids;     /* that are reserved and not used */
	uint64_t block;     /* ids that were reserved last */
	uint64_t hint;      /* documents without ids that were announced */
	uint64_t given_end; /* above all ids that callers have given */
	int has_leases;
	int has_resumed;
};

static int open_writer(simidx_writer *w, simidx_error *err)
{
	if (w->index->read_only)
		return sx_fail(err, SIMIDX_E_READ_ONLY, "%s: opened read-only",
			       w->index->engine->uri);
	w->has_conditions = (w->index->engine->capabilities & SIMIDX_ENGINE_CONDITIONS) != 0;
	w->held = sx_calloc(1, sizeof(struct own));
	return w->held ? SIMIDX_OK : sx_fail_nomem(err);
}

static void close_writer(simidx_writer *w)
{
	struct own *r = w->held;

	sx_doc_cache_free(&r->doc_cache);
	free(r);
}

/* Writers of one handle take turns; there is no lock against others. */
static int begin(simidx_writer *w, simidx_error *err)
{
	struct own *r = w->held;
	int resumes = w->options.flags & SIMIDX_WRITER_RESUME && !r->has_resumed;
	int rc = w->locked ? SIMIDX_OK : sx_engine_lock(w->index->engine, w->options.wait_ms, err);

	if (rc)
		return rc;
	w->locked = 1;
	w->snapshot.doc_cache = &r->doc_cache;
	rc = sx_engine_begin(w->index->engine, resumes, err);
	r->has_resumed |= !rc;
	if (!rc)
		rc = sx_snapshot_begin_write(&w->snapshot, w->index, 0, err);
	return rc ? rc : sx_writer_use_memtable(w, err);
}

static void end_writer(simidx_writer *w)
{
	struct own *r = w->held;

	/* Whether one had expired was told by the commit. */
	if (r->has_leases && sx_engine_release(w->index->engine, NULL))
		sx_engine_invalidate_info(w->index->engine);
	r->has_leases = 0;
	r->hint = r->given_end = 0;
	sx_doc_cache_clear(&r->doc_cache);
	if (w->locked)
		sx_engine_unlock(w->index->engine);
}

/* ---- looking up: each look-up by itself would be a wait for an answer ---- */

/* Documents as far apart as the first one's size says. NULL: one of them is of a bad size. */
static const simidx_doc *document(const simidx_doc *docs, size_t i, simidx_doc *own)
{
	const void *at = (const char *)docs + i * docs->size;

	if (sx_struct_size(at) != docs->size)
		return NULL;
	return sx_struct_read(at, SX_STRUCT_TO(simidx_doc, fp), own, sizeof(*own));
}

/* Sort documents into ids and labels to look up, and those that get a new id. */
static int look_up(simidx_writer *w, const simidx_doc *docs, size_t n, uint64_t *id,
		   simidx_engine_bytes *label, simidx_error *err)
{
	struct own *r = w->held;
	const sx_header *h = &w->snapshot.header;
	uint64_t n_new = 0, unknown_fp2 = w->index->schema->unknown_fp2;
	size_t n_ids = 0, n_labels = 0;
	int rc;

	for (size_t i = 0; i < n; i++) {
		simidx_doc own;
		const simidx_doc *doc = document(docs, i, &own);

		if (!doc)
			return sx_fail(err, SIMIDX_E_ARG,
				       "simidx_writer_prefetch: bad struct size");
		n_new += doc->id == SIMIDX_NO_ID;
		/* Ids above all others need no look-up. */
		if (doc->id < h->next_id && doc->id <= SIMIDX_MAX_ID)
			id[n_ids++] = doc->id;
		if (doc->label && doc->label_size && doc->label_size <= SIMIDX_MAX_LABEL)
			label[n_labels++] = (simidx_engine_bytes){ doc->label, doc->label_size };
	}
	r->hint = n_new;
	rc = sx_doc_cache_look_up_ids(&r->doc_cache, w->index->engine, unknown_fp2, id, n_ids, err);
	if (!rc)
		rc = sx_doc_cache_look_up_labels(&r->doc_cache, w->index->engine, unknown_fp2,
						 label, n_labels, err);
	return rc;
}

static int prefetch(simidx_writer *w, const simidx_doc *docs, size_t n, simidx_error *err)
{
	simidx_engine_bytes *label;
	uint64_t *id;
	int rc = sx_writer_begin(w, err);

	if (rc)
		return rc;
	id = sx_realloc(NULL, n, sizeof(*id));
	label = sx_realloc(NULL, n, sizeof(*label));
	rc = id && label ? look_up(w, docs, n, id, label, err) : sx_fail_nomem(err);
	free(id);
	free(label);
	return rc;
}

/* ---- ids ---- */

static int new_id(simidx_writer *w, uint64_t at_least, uint64_t *id, simidx_error *err)
{
	struct own *r = w->held;
	uint64_t n = r->hint, first;
	int rc;

	while (r->n_ids && r->ids < at_least) {
		r->ids++;
		r->n_ids--;
	}
	if (!r->n_ids) {
		/* A few more each time: what is left over is never given to anybody. */
		if (!n)
			n = r->block < MAX_BLOCK / 2 ? r->block * 2 + 1 : MAX_BLOCK;
		rc = sx_engine_reserve_ids(w->index->engine, n, at_least, &first, err);
		if (rc)
			return rc;
		r->ids = first;
		r->n_ids = r->block = n;
	}
	*id = r->ids++;
	r->n_ids--;
	r->hint -= r->hint > 0;
	return SIMIDX_OK;
}

static void use_ids(simidx_writer *w, uint64_t below)
{
	struct own *r = w->held;

	if (r->given_end < below)
		r->given_end = below;
}

/* ---- leases and labels ---- */

static int lease(simidx_writer *w, uint64_t fp, simidx_error *err)
{
	struct own *r = w->held;
	const simidx *index = w->index;
	simidx_engine_probe lease[SX_MAX_TABLES];
	uint32_t prefix[SX_MAX_TABLES];

	if (!(index->engine->capabilities & SIMIDX_ENGINE_LEASES))
		return SIMIDX_OK;
	sx_plan_prefixes(&index->schema->plan, fp, prefix);
	for (unsigned t = 0; t < index->schema->plan.n_tables; t++)
		lease[t] = (simidx_engine_probe){ prefix[t], t };
	/* Also after a failure: some may have been taken. */
	r->has_leases = 1;
	return sx_engine_lease(index->engine, lease, index->schema->plan.n_tables,
			       w->options.wait_ms, err);
}

static int label(simidx_writer *w, uint64_t id, const char *label, size_t size,
			   simidx_error *err)
{
	struct own *r = w->held;

	/* A document that gets none needs nothing: its row says so. */
	return label && sx_doc_cache_set_label(&r->doc_cache, id, label, size) ? sx_fail_nomem(err)
								       : SIMIDX_OK;
}

/* ---- commit ---- */

/* What a commit stores, while it is made. Each document has two versions, and prefixes of both. */
struct folding {
	const sx_doc_cache *cache;
	const simidx *index;
	const sx_fresh_row **order; /* of the rows */
	simidx_engine_version *version;
	uint32_t *prefix;
	simidx_engine_change *change;
	size_t n;
	simidx_engine_condition *condition;
	unsigned char *refused; /* NULL: a change cannot be */
};

static void describe(const simidx *index, uint64_t fp, const sx_values *values, sx_slice label,
		     uint32_t *prefix, simidx_engine_version *out)
{
	uint64_t fp2 = values->of[SX_FP2];

	*out = (simidx_engine_version){ .fp = fp, .prefix = prefix,
					.time = (uint32_t)values->of[SX_TIME] };
	if (index->schema->has_fp2 && sx_is_unknown_fp2(index, fp2)) {
		out->flags = SIMIDX_DOC_FP2_UNKNOWN;
	} else if (index->schema->has_fp2) {
		out->flags = SIMIDX_DOC_FP2;
		out->fp2 = fp2;
	}
	if (label.size) {
		out->label = label.data;
		out->label_size = label.size;
	}
	sx_plan_prefixes(&index->schema->plan, fp, prefix);
}

static int is_same(const sx_cached_doc *before, const sx_fresh_row *row, sx_slice label)
{
	return before->fp == row->fp && sx_values_are_equal(&before->values, &row->values) &&
	       before->label.size == label.size &&
	       !(label.size && memcmp(before->label.data, label.data, label.size));
}

/* What the last row about a document makes of it, if that changes something. */
static void fold(struct folding *f, const sx_fresh_row *row)
{
	const sx_cached_doc *cached = sx_doc_cache_find(f->cache, row->id);
	simidx_engine_change *change = &f->change[f->n];
	simidx_engine_version *before = &f->version[2 * f->n], *after = before + 1;
	uint32_t *prefix = f->prefix + 2 * f->n * f->index->schema->plan.n_tables;
	sx_slice label = { NULL, 0 };
	int was_there = cached && cached->is_there, is_there = !sx_fresh_is_delete(row);

	if (is_there && row->op & SX_FRESH_LABEL)
		label = sx_cached_label_now(cached);
	if (was_there == is_there && (!is_there || is_same(cached, row, label)))
		return;
	*change = (simidx_engine_change){ .id = row->id };
	if (was_there) {
		describe(f->index, cached->fp, &cached->values, cached->label, prefix, before);
		change->before = before;
	}
	if (is_there) {
		describe(f->index, row->fp, &row->values, label,
			 prefix + f->index->schema->plan.n_tables, after);
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
	f->prefix = sx_realloc(NULL, n, 2 * f->index->schema->plan.n_tables * sizeof(*f->prefix));
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

/* ---- conditions ---- */

static int compare_conditions(const void *a, const void *b)
{
	const sx_condition *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int compare_changes(const void *a, const void *b)
{
	const simidx_engine_change *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int has_conditions(const sx_conditions *all, uint64_t id)
{
	const sx_condition key = { .id = id };

	return bsearch(&key, all->at, all->n, sizeof(key), compare_conditions) != NULL;
}

/*
 * Whether the change of a document may be refused though that document has not changed: because
 * another one has its new label, or for a condition of its own.
 */
static int may_be_refused(const struct folding *f, const sx_conditions *all, uint64_t id)
{
	const simidx_engine_change key = { .id = id };
	const simidx_engine_change *c =
		bsearch(&key, f->change, f->n, sizeof(key), compare_changes);
	const simidx_engine_version *before = c ? c->before : NULL, *after = c ? c->after : NULL;

	if (after && after->label_size &&
	    !(before && before->label_size == after->label_size &&
	      !memcmp(before->label, after->label, after->label_size)))
		return 1;
	return c && has_conditions(all, id);
}

/*
 * An engine knows conditions on prefixes alone. What rests on another change of this batch waits
 * for the next one if that change may be refused, and needs no condition if it may not.
 */
static size_t add_condition(const struct folding *f, const sx_conditions *all,
			    const sx_condition *c, simidx_engine_condition *out)
{
	*out = (simidx_engine_condition){ c->prefix, c->table, c->version };
	if (c->table != SX_CHANGE)
		return 1;
	*out = (simidx_engine_condition){ 0, SIMIDX_ENGINE_WHOLE, SIMIDX_ENGINE_NO_VERSION };
	return may_be_refused(f, all, c->version);
}

/* Give each change the conditions of its document. Both are in the order of ids then. */
static int add_conditions(struct folding *f, simidx_writer *w, simidx_error *err)
{
	sx_conditions *all = &w->conditions;
	simidx_engine_condition *to;
	size_t next = 0;

	f->condition = to = sx_realloc(NULL, all->n ? all->n : 1, sizeof(*f->condition));
	f->refused = sx_calloc(f->n ? f->n : 1, 1);
	/* Memory is not to be short when something was stored. */
	if (!f->condition || !f->refused ||
	    sx_reserve(&w->refused.at, &w->refused.cap, f->n, sizeof(*w->refused.at)))
		return sx_fail_nomem(err);
	if (all->n > 1)
		qsort(all->at, all->n, sizeof(*all->at), compare_conditions);
	for (size_t i = 0; i < f->n; i++) {
		simidx_engine_change *change = &f->change[i];

		change->condition = to;
		for (; next < all->n && all->at[next].id <= change->id; next++)
			if (all->at[next].id == change->id)
				to += add_condition(f, all, &all->at[next], to);
		change->n_conditions = (size_t)(to - change->condition);
	}
	return SIMIDX_OK;
}

/* ---- storing ---- */

static void free_folding(struct folding *f)
{
	free(f->order);
	free(f->version);
	free(f->prefix);
	free(f->change);
	free(f->condition);
	free(f->refused);
}

/* Store what pending rows come to. */
static int store(simidx_writer *w, simidx_error *err)
{
	struct own *r = w->held;
	sx_engine *engine = w->index->engine;
	const sx_mark *mark = &w->mark;
	struct folding f = { .cache = &r->doc_cache, .index = w->index };
	simidx_engine_batch batch = { .mark = mark->size ? mark->bytes : NULL,
				      .mark_size = mark->size,
				      .durability = w->options.durability };
	uint64_t first;
	int rc = fold_all(&f, &w->pending, err);

	w->refused.n = 0;
	if (!rc && w->has_conditions)
		rc = add_conditions(&f, w, err);
	/* An id that a caller has given is not to be chosen for another document later. */
	if (!rc && r->given_end)
		rc = sx_engine_reserve_ids(engine, 0, r->given_end, &first, err);
	batch.change = f.change;
	batch.n = f.n;
	batch.refused = f.refused;
	if (!rc && (batch.n || batch.mark))
		rc = sx_engine_write(engine, &batch, err);
	for (size_t i = 0; !rc && w->has_conditions && i < f.n; i++)
		if (f.refused[i])
			w->refused.at[w->refused.n++] = f.change[i].id;
	sx_engine_invalidate_info(engine);
	free_folding(&f);
	return rc;
}

static int is_unfinished(const simidx_writer *w)
{
	return sx_engine_is_unfinished(w->index->engine);
}

static int commit(simidx_writer *w, int has_to_store, simidx_error *err)
{
	int rc = store(w, err);

	(void)has_to_store; /* what was unfinished was stored when the transaction began */
	if (!rc && !w->refused.n)
		w->stored += w->changes;
	/* Of a commit it would say that the caller has heard which changes are not stored. */
	if (rc == SIMIDX_E_BUSY && w->has_conditions) {
		rc = SIMIDX_E_IO;
		if (err)
			err->code = rc;
	}
	if (rc == SIMIDX_E_UNKNOWN)
		sx_writer_fail_unknown(err);
	return rc;
}

static int merge_now(simidx_writer *w, simidx_error *err)
{
	(void)w; /* its tables have all that was committed */
	(void)err;
	return SIMIDX_OK;
}

static int older(simidx_writer *w, sx_older *older, simidx_error *err)
{
	struct own *r = w->held;

	return sx_remote_older(w, &r->doc_cache, older, err);
}

const sx_backend_writer sx_remote_writer = { open_writer, close_writer,  begin,   end_writer,
					     prefetch,    new_id,        use_ids, lease,
					     label,       NULL,          is_unfinished, commit,
					     merge_now,   older };
