/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "remote/sx_remote_near.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_bytes.h"
#include "util/sx_err.h"

#define FILTERED SX_REMOTE_FILTERED
#define WALKED 4096 /* documents that a walk delivers at once */

void *sx_remote_search_new(const simidx *index)
{
	sx_remote_search *s = sx_calloc(1, sizeof(*s));

	if (s)
		s->engine = index->engine;
	return s;
}

void sx_remote_search_free(void *search)
{
	sx_remote_search *s = search;

	if (!s)
		return;
	free(s->probe);
	free(s->owner);
	free(s->version);
	free(s->id);
	free(s->origin);
	sx_doc_cache_free(&s->doc_cache);
	free(s);
}

int sx_remote_outcome(const sx_remote_search *s, int rc, simidx_error *err)
{
	if (!s->rc)
		return rc;
	sx_err_clear(err);
	return s->rc == SIMIDX_E_NOMEM
		       ? sx_fail_nomem(err)
		       : sx_fail(err, SIMIDX_E_IO,
				 "%s: it sent something else than it was asked for",
				 s->engine->uri);
}

/* ---- probes ---- */

/* A range is as many probes as it has whole prefixes. */
static int add_probe(sx_remote_search *s, const sx_plan *plan, uint32_t owner,
		     const sx_probe *range, simidx_error *err)
{
	unsigned bits = plan->table[range->table].prefix_bits, below = plan->bits - bits;
	uint64_t first = range->low >> below, n = ((range->high - range->low) >> below) + 1;

	if (sx_reserve(&s->probe, &s->probe_cap, s->n_probes + n, sizeof(*s->probe)) ||
	    sx_reserve(&s->owner, &s->owner_cap, s->n_probes + n, sizeof(*s->owner)))
		return sx_fail_nomem(err);
	for (uint64_t i = 0; i < n; i++) {
		s->owner[s->n_probes] = owner;
		s->probe[s->n_probes++] = (simidx_engine_probe){
			.prefix = (uint32_t)((first + i) << (32 - bits)), .table = range->table
		};
	}
	return SIMIDX_OK;
}

/* The probes of all queries, but for those that compare with everything. */
static int add_probes(sx_remote_search *s, size_t *walks, simidx_error *err)
{
	int rc = SIMIDX_OK;

	s->n_probes = *walks = 0;
	for (size_t i = 0; !rc && i < s->n; i++) {
		const sx_finding *f = s->finding[i];
		const sx_view *view = f->view;
		const sx_probes *probes = &f->access->tables.probes;
		size_t had = s->n_probes;

		if (sx_access_is_scan(f->access)) {
			++*walks;
			f->out->probes++;
			continue;
		}
		for (size_t p = 0; !rc && p < probes->n; p++)
			if (probes->at[p].rest >= 0)
				rc = add_probe(s, &view->snapshot.index->schema->plan, (uint32_t)i,
					       &probes->at[p], err);
		f->out->probes += s->n_probes - had;
	}
	return rc;
}

/* ---- rows that are near ---- */

/*
 * Keep a row whose bits are near enough, unless another table reports it or its weight is too
 * large.
 */
static int keep(sx_finding *f, unsigned table, uint64_t fp, uint64_t id)
{
	sx_hit_rows *rows = &f->hits->rows;
	const sx_view *view = f->view;

	if (id > SIMIDX_MAX_ID || fp & ~sx_low_bits(view->snapshot.index->schema->bits))
		return SIMIDX_E_IO;
	if (!sx_query_accepts_near(f->q, fp) || !sx_access_is_first(f->access, f->q, table, fp))
		return SIMIDX_OK;
	if (sx_reserve(&rows->at, &rows->cap, rows->n + 1, sizeof(*rows->at)))
		return SIMIDX_E_NOMEM;
	rows->at[rows->n++] = (sx_row){ fp, id, sx_query_distance(f->q, fp) };
	return SIMIDX_OK;
}

int sx_remote_is_full(const void *search)
{
	const sx_remote_search *s = search;

	return s->n > 1 && s->rows > SX_REMOTE_ROWS;
}

static enum simidx_engine_next on_rows(void *ctx, size_t probe, const uint64_t *fp,
				       const uint64_t *id, size_t n)
{
	sx_remote_search *s = ctx;
	const sx_kernel *kernel;
	const sx_view *view;
	sx_finding *f;

	if (probe >= s->n_probes) {
		s->rc = SIMIDX_E_IO;
		return SIMIDX_ENGINE_END;
	}
	f = s->finding[s->owner[probe]];
	view = f->view;
	kernel = view->snapshot.index->kernel;
	n = f->done ? 0 : sx_finding_candidates(f, n);
	for (size_t at = 0; !s->rc && at < n; at += FILTERED) {
		size_t some = n - at < FILTERED ? n - at : FILTERED;
		size_t near = kernel->near_u64(fp + at, some, f->q->fp, f->q->max_bits, s->near);

		for (size_t i = 0; !s->rc && i < near; i++)
			s->rc = keep(f, s->probe[probe].table, fp[at + s->near[i]],
				     id[at + s->near[i]]);
		s->rows += near;
	}
	if (s->rc || sx_remote_is_full(s))
		return SIMIDX_ENGINE_END;
	if (!f->done)
		return SIMIDX_ENGINE_ON;
	/* The other probes have a version, too. */
	return s->n == 1 && !f->conditions ? SIMIDX_ENGINE_END : SIMIDX_ENGINE_NEXT_PROBE;
}

static enum simidx_engine_next on_walked(void *ctx, size_t i, const simidx_match *m)
{
	sx_remote_search *s = ctx;

	(void)i;
	if (m->id < s->walked_to || m->id > SIMIDX_MAX_ID) {
		s->rc = SIMIDX_E_IO;
		return SIMIDX_ENGINE_END;
	}
	s->walked_to = m->id + 1;
	s->n_walked++;
	for (size_t j = 0; !s->rc && j < s->n; j++) {
		sx_finding *f = s->finding[j];

		if (sx_access_is_scan(f->access) && !f->done && sx_finding_candidates(f, 1) &&
		    sx_query_accepts(f->q, m->fp)) {
			s->rc = keep(f, 0, m->fp, m->id);
			s->rows++;
		}
	}
	return s->rc || sx_remote_is_full(s) ? SIMIDX_ENGINE_END : SIMIDX_ENGINE_ON;
}

/* Compare the queries that are to be compared with everything, all in one walk. */
static int walk(sx_remote_search *s, uint64_t *version, uint64_t *round_trips, simidx_error *err)
{
	int rc = SIMIDX_OK;

	s->walked_to = 0;
	do {
		s->n_walked = 0;
		++*round_trips;
		rc = sx_engine_walk_page(s->engine, s->walked_to, WALKED, on_walked, s,
					 s->walked_to ? NULL : version, err);
		rc = sx_remote_outcome(s, rc, err);
	} while (!rc && s->n_walked == WALKED);
	return rc;
}

/* ---- order ---- */

static int compare_by_fp(const void *a, const void *b)
{
	const sx_row *x = a, *y = b;

	if (x->fp != y->fp)
		return x->fp < y->fp ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_by_distance(const void *a, const void *b)
{
	const sx_row *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->fp < y->fp ? -1 : x->fp > y->fp;
}

/* What a row that waits for a commit is about is told by that row. */
static int is_pending(const sx_snapshot *snapshot, uint64_t id, int *is, simidx_error *err)
{
	sx_fresh_span span = sx_header_fresh(&snapshot->header);
	sx_fresh_row row;
	int rc = sx_fresh_by_id(snapshot->index->fresh, NULL, &span, id, &row, err);

	*is = rc == SIMIDX_OK;
	return rc == SIMIDX_E_NOT_FOUND ? SIMIDX_OK : rc;
}

/* ---- what a decision rests on ---- */

static int add_condition(sx_conditions *all, unsigned table, uint32_t prefix, uint64_t version,
			 simidx_error *err)
{
	if (sx_reserve(&all->at, &all->cap, all->n + 1, sizeof(*all->at)))
		return sx_fail_nomem(err);
	all->at[all->n++] = (sx_condition){ SIMIDX_NO_ID, version, prefix, table };
	return SIMIDX_OK;
}

/* That no prefix that a query has probed has changed, or nothing where it has walked. */
static int add_conditions(sx_remote_search *s, uint64_t walked, simidx_error *err)
{
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < s->n_probes; i++) {
		sx_conditions *to = s->finding[s->owner[i]]->conditions;

		if (to)
			rc = add_condition(to, s->probe[i].table, s->probe[i].prefix,
					   s->version[i], err);
	}
	for (size_t i = 0; !rc && i < s->n; i++)
		if (s->finding[i]->conditions && sx_access_is_scan(s->finding[i]->access))
			rc = add_condition(s->finding[i]->conditions, SX_WHOLE, 0, walked, err);
	return rc;
}

/*
 * A document that a transaction changes and that is near, as it was before: whether it is so
 * still.
 */
static enum simidx_engine_next on_changed(void *ctx, size_t i, const simidx_match *m)
{
	sx_remote_search *s = ctx;
	const sx_finding *f = s->deciding;
	const sx_cached_doc *cached = sx_doc_cache_find(f->conditions->writing->doc_cache, m->id);
	sx_values values = sx_match_values(m, f->view->snapshot.index->schema->unknown_fp2);
	size_t size = m->flags & SIMIDX_MATCH_LABEL ? m->label_size : 0;

	if (i >= s->n_ids || m->id != s->id[i]) {
		s->rc = SIMIDX_E_IO;
		return SIMIDX_ENGINE_END;
	}
	s->has_changed |= !cached || !cached->is_there || cached->fp != m->fp ||
			  !sx_values_are_equal(&cached->values, &values) ||
			  cached->label.size != size ||
			  (size && memcmp(cached->label.data, m->label, size) != 0);
	return SIMIDX_ENGINE_ON;
}

/*
 * Rows of documents that the transaction changes do not count, because it has other rows for
 * them. That is only right if its changes are stored, so the answer rests on them. They are not
 * stored if another writer has changed such a document before this search: then nothing may rest
 * on the answer. Who changes it after the search raises a version.
 */
static int doubt_changed(sx_remote_search *s, const sx_finding *f, uint64_t *round_trips,
			 simidx_error *err)
{
	int rc;

	if (!s->n_ids)
		return SIMIDX_OK;
	s->deciding = f;
	s->has_changed = 0;
	rc = sx_engine_find_ids(s->engine, s->id, s->n_ids, on_changed, s, round_trips, err);
	rc = sx_remote_outcome(s, rc, err);
	if (!rc && s->has_changed)
		rc = add_condition(f->conditions, SX_WHOLE, 0, SIMIDX_ENGINE_NO_VERSION, err);
	for (size_t i = 0; !rc && i < s->n_ids; i++)
		rc = add_condition(f->conditions, SX_CHANGE, 0, s->id[i], err);
	return rc;
}

static int add_changed(sx_remote_search *s, uint64_t id, simidx_error *err)
{
	if (sx_reserve(&s->id, &s->id_cap, s->n_ids + 1, sizeof(*s->id)))
		return sx_fail_nomem(err);
	s->id[s->n_ids++] = id;
	return SIMIDX_OK;
}

/* ---- hits ---- */

static int compare_ids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Rows of an engine that says all by rows are of one moment each, and not of the same one. So they
 * may have a document twice, if it was replaced while they came: then documents are looked up.
 */
static int find_mixed(sx_remote_search *s, sx_hit_rows *rows, simidx_error *err)
{
	uint64_t *id;

	rows->is_mixed = 0;
	if (!(s->engine->capabilities & SIMIDX_ENGINE_SOUND_ROWS) || rows->n < 2)
		return SIMIDX_OK;
	if (sx_reserve(&s->id, &s->id_cap, s->n_ids + rows->n, sizeof(*s->id)))
		return sx_fail_nomem(err);
	id = s->id + s->n_ids;
	for (size_t i = 0; i < rows->n; i++)
		id[i] = rows->at[i].id;
	qsort(id, rows->n, sizeof(*id), compare_ids);
	for (size_t i = 1; i < rows->n; i++)
		rows->is_mixed |= id[i] == id[i - 1];
	return SIMIDX_OK;
}

/* Drop rows that are there twice: an engine may have sent one so. */
static void drop_copies(sx_hit_rows *rows)
{
	size_t n = 0;

	if (rows->n > 1)
		qsort(rows->at, rows->n, sizeof(*rows->at), compare_by_fp);
	for (size_t i = 0; i < rows->n; i++)
		if (!n || compare_by_fp(&rows->at[i], &rows->at[n - 1]))
			rows->at[n++] = rows->at[i];
	rows->n = n;
}

int sx_remote_drop_changed(void *search, sx_finding *f, uint64_t *round_trips, simidx_error *err)
{
	sx_remote_search *s = search;
	sx_hit_rows *rows = &f->hits->rows;
	size_t n = 0, had = rows->n;
	int is = 0, rc = SIMIDX_OK;

	s->n_ids = 0;
	if (!sx_view_fresh_rows(f->view))
		return SIMIDX_OK;
	for (size_t i = 0; !rc && i < had; i++) {
		rc = is_pending(&f->view->snapshot, rows->at[i].id, &is, err);
		if (!rc && is && f->conditions)
			rc = add_changed(s, rows->at[i].id, err);
		if (!rc && !is)
			rows->at[n++] = rows->at[i];
	}
	rows->n = n;
	if (n < had)
		rows->from = rows->to = 0;
	return rc ? rc : doubt_changed(s, f, round_trips, err);
}

/*
 * Bring the rows of a query into the order in which their documents are wanted, and add a hit for
 * each of their fingerprints. A larger radius finds those of a smaller one again.
 */
static int add_hits(sx_remote_search *s, sx_finding *f, uint64_t *round_trips, simidx_error *err)
{
	sx_hit_rows *rows = &f->hits->rows;
	int rc;

	drop_copies(rows);
	rc = sx_remote_drop_changed(s, f, round_trips, err);
	f->hits->n = 0;
	for (size_t i = 0; !rc && i < rows->n; i++)
		if (!i || rows->at[i].fp != rows->at[i - 1].fp)
			rc = sx_hits_add(f->hits, f->q, rows->at[i].fp, 1, err);
	rows->from = rows->to = 0;
	f->hits->most = rows->n;
	if (rows->n > 1)
		qsort(rows->at, rows->n, sizeof(*rows->at), compare_by_distance);
	return rc ? rc : find_mixed(s, rows, err);
}

/* Scan the probes of all queries. */
static int scan(sx_remote_search *s, int decides, uint64_t *round_trips, simidx_error *err)
{
	sx_engine_probes probes;
	int rc;

	if (decides && sx_reserve(&s->version, &s->version_cap, s->n_probes, sizeof(*s->version)))
		return sx_fail_nomem(err);
	probes = (sx_engine_probes){ s->probe, s->n_probes, decides ? s->version : NULL };
	rc = sx_engine_scan(s->engine, probes, on_rows, s, round_trips, err);
	return sx_remote_outcome(s, rc, err);
}

int sx_remote_near(void *search, sx_finding *const *finding, size_t n, uint64_t *round_trips,
		   simidx_error *err)
{
	sx_remote_search *s = search;
	uint64_t version = SIMIDX_ENGINE_NO_VERSION;
	int decides = 0, rc;
	size_t walks;

	s->rc = SIMIDX_OK;
	s->finding = finding;
	s->n = n;
	s->n_ids = s->rows = 0;
	for (size_t i = 0; i < n; i++)
		decides |= finding[i]->conditions != NULL;
	rc = add_probes(s, &walks, err);
	if (!rc && s->n_probes)
		rc = scan(s, decides, round_trips, err);
	if (!rc && walks && !sx_remote_is_full(s))
		rc = walk(s, decides ? &version : NULL, round_trips, err);
	if (sx_remote_is_full(s)) {
		sx_err_clear(err);
		return SIMIDX_OK;
	}
	if (!rc && decides)
		rc = add_conditions(s, version, err);
	for (size_t i = 0; !rc && i < n; i++)
		rc = add_hits(s, finding[i], round_trips, err);
	return rc;
}
