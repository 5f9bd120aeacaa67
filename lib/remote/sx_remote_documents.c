/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "remote/sx_remote_documents.h"

#include <stdlib.h>

#include "remote/sx_doc_cache.h"
#include "util/sx_err.h"
#include "util/sx_order.h"

#define PAGE 4096 /* documents that are asked for at once */
#define SPARE 8   /* documents beyond a limit that are asked for, as some may be gone */

/* Whether a row says all that a query wants of its document, and that it is there. */
static int rows_suffice(const sx_remote_search *s, const sx_finding *f)
{
	const sx_view *view = f->view;
	const sx_schema *schema = view->snapshot.index->schema;

	return s->engine->capabilities & SIMIDX_ENGINE_SOUND_ROWS && !schema->has_fp2 &&
	       !schema->has_times && !(f->q->asked->flags & SIMIDX_QUERY_LABELS) &&
	       !f->hits->rows.is_mixed;
}

/* Ask for the documents of the next rows of a query, `most` of them, with those of others. */
static int want(sx_remote_search *s, uint32_t number, size_t most, simidx_error *err)
{
	sx_hit_rows *rows = &s->finding[number]->hits->rows;
	uint64_t enough = sx_query_enough(s->finding[number]->q);
	size_t n = rows->n - rows->to;

	if (enough && enough + SPARE < most)
		most = (size_t)enough + SPARE;
	if (n > most)
		n = most;

	if (sx_reserve(&rows->document, &rows->document_cap, n, sizeof(*rows->document)) ||
	    sx_reserve(&s->id, &s->id_cap, s->n_ids + n, sizeof(*s->id)) ||
	    sx_reserve(&s->origin, &s->origin_cap, s->n_ids + n, sizeof(*s->origin)))
		return sx_fail_nomem(err);
	rows->from = rows->to;
	rows->to += n;
	if (rows_suffice(s, s->finding[number])) {
		for (size_t i = 0; i < n; i++)
			rows->document[i] = (sx_row_document){ .is_there = 1 };
		return SIMIDX_OK;
	}
	for (size_t i = 0; i < n; i++) {
		rows->document[i].is_there = 0;
		s->origin[s->n_ids] = (struct sx_remote_origin){ number, (uint32_t)i };
		s->id[s->n_ids++] = rows->at[rows->from + i].id;
	}
	return SIMIDX_OK;
}

static enum simidx_engine_next on_document(void *ctx, size_t i, const simidx_match *m)
{
	sx_remote_search *s = ctx;
	sx_row_document *document;
	const sx_finding *f;
	const sx_view *view;
	sx_hit_rows *rows;

	if (i >= s->n_ids || m->id != s->id[i]) {
		s->rc = SIMIDX_E_IO;
		return SIMIDX_ENGINE_END;
	}
	f = s->finding[s->origin[i].finding];
	view = f->view;
	rows = &f->hits->rows;
	/* A row that was left over. */
	if (rows->at[rows->from + s->origin[i].row].fp != m->fp)
		return SIMIDX_ENGINE_ON;
	document = &rows->document[s->origin[i].row];
	document->values = sx_match_values(m, view->snapshot.index->schema->unknown_fp2);
	document->label = (sx_slice){ NULL, 0 };
	if (m->flags & SIMIDX_MATCH_LABEL && f->q->asked->flags & SIMIDX_QUERY_LABELS) {
		document->label.size = m->label_size;
		document->label.data = sx_arena_copy(f->labels, m->label, m->label_size);
		if (!document->label.data)
			s->rc = SIMIDX_E_NOMEM;
	}
	document->is_there = 1;
	return s->rc ? SIMIDX_ENGINE_END : SIMIDX_ENGINE_ON;
}

int sx_remote_prefetch(sx_remote_search *s, sx_finding *const *finding, size_t n, size_t most,
		       uint64_t *round_trips, simidx_error *err)
{
	int rc = SIMIDX_OK;

	s->rc = SIMIDX_OK;
	s->finding = finding;
	s->n = n;
	s->n_ids = 0;
	for (size_t i = 0; !rc && i < n; i++)
		rc = want(s, (uint32_t)i, most, err);
	if (rc || !s->n_ids)
		return rc;
	rc = sx_engine_find_ids(s->engine, s->id, s->n_ids, on_document, s, round_trips, err);
	return sx_remote_outcome(s, rc, err);
}

/* Take the document of row number i if it matches. */
static int take_row(const sx_finding *f, sx_taking *t, size_t i, simidx_error *err)
{
	const sx_hit_rows *rows = &f->hits->rows;
	const sx_row_document *document = &rows->document[i - rows->from];
	sx_matches *m = t->matches;
	size_t had = m->n;
	sx_doc doc;
	int rc;

	if (!document->is_there)
		return SIMIDX_OK;
	doc = (sx_doc){ rows->at[i].id, rows->at[i].fp, document->values };
	rc = sx_matches_take_one(t, &doc, err);
	if (!rc && m->n > had && document->label.size) {
		m->at[had].label = document->label.data;
		m->at[had].label_size = document->label.size;
		m->at[had].flags |= SIMIDX_MATCH_LABEL;
	}
	return rc;
}

static int compare_distances(const void *a, const void *b)
{
	const sx_row *x = a, *y = b;

	return x->distance < y->distance ? -1 : x->distance > y->distance;
}

/* The first row that is not nearer than this. */
static size_t first_row(const sx_hit_rows *rows, unsigned distance)
{
	const sx_row key = { .distance = distance };

	return sx_items_below(rows->at, rows->n, sizeof(key), &key, compare_distances);
}

/* Rows are ordered as matches are, so that the first ones that match are those that are wanted. */
int sx_remote_documents(void *search, sx_finding *f, sx_taking *t, size_t from, size_t to,
			simidx_error *err)
{
	unsigned last = f->hits->at[to - 1].distance;
	sx_hit_rows *rows = &f->hits->rows;
	int rc = SIMIDX_OK;

	t->had = 0;
	for (size_t i = first_row(rows, f->hits->at[from].distance);
	     !rc && i < rows->n && rows->at[i].distance <= last && !sx_taking_is_full(t); i++) {
		if (i < rows->from || i >= rows->to) {
			rows->to = i;
			rc = sx_remote_prefetch(search, &f, 1, PAGE, &f->out->round_trips, err);
		}
		if (!rc)
			rc = take_row(f, t, i, err);
	}
	return rc;
}

int sx_remote_labels(sx_matches *m, const sx_snapshot *snapshot, size_t from, size_t n, int checks,
		     simidx_error *err)
{
	const sx_doc_cache *cache = snapshot->doc_cache;
	int rc = SIMIDX_OK;

	(void)checks; /* it keeps nothing else of them */
	for (size_t i = from; cache && !rc && i < from + n; i++) {
		const sx_cached_doc *doc = sx_doc_cache_find(cache, m->at[i].id);
		sx_fresh_span span = sx_header_fresh(&snapshot->header);
		sx_fresh_row row;

		if (!doc)
			continue;
		rc = sx_fresh_by_id(snapshot->index->fresh, NULL, &span, m->at[i].id, &row, err);
		if (!rc && row.op & SX_FRESH_LABEL) {
			sx_slice label = sx_cached_label_now(doc);

			m->at[i].label = label.data;
			m->at[i].label_size = label.size;
			m->at[i].flags |= SIMIDX_MATCH_LABEL;
		}
		if (rc == SIMIDX_E_NOT_FOUND)
			rc = SIMIDX_OK;
	}
	return rc;
}
