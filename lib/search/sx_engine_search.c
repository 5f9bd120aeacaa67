/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Queries -> probes -> rows that are near -> their documents, a page at a time -> matches.
 *
 * An engine has a row for each document, so what is near comes with its id. A row may have been left
 * over by a crash: its document has another fingerprint by then, or is gone. So no match is told
 * before its document has been seen.
 */

#include "search/sx_engine_search.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_err.h"

#define PAGE 4096       /* documents that are asked for at once */
#define FIRST_PAGE 1024 /* of a query that shares the wait with others */
#define SPARE 8         /* documents beyond a limit that are asked for, as some may be gone */

void sx_engine_search_begin(sx_engine_search *s)
{
	sx_arena_clear(&s->labels);
}

/* ---- their documents ---- */

/* Documents after which a query needs no more; 0 = all are needed. */
static uint64_t enough(const sx_engine_query *q)
{
	const simidx_query *asked = q->q->asked;

	if (asked->mode == SIMIDX_FIRST)
		return 1;
	if (asked->mode == SIMIDX_COUNT || q->q->has_fp2 || !asked->limit ||
	    asked->limit == UINT64_MAX)
		return 0;
	return asked->limit + 1;
}

/* Ask for the next documents of a query, with those of others. */
static int want_page(sx_engine_search *s, uint32_t number, size_t page, simidx_error *err)
{
	sx_engine_query *q = &s->query[number];
	uint64_t stop = enough(q);
	size_t n = q->n_rows - q->to;

	if (stop && stop + SPARE < page)
		page = (size_t)stop + SPARE;
	if (n > page)
		n = page;
	if (sx_reserve(&q->document, &q->document_cap, n, sizeof(*q->document)) ||
	    sx_reserve(&s->id, &s->id_cap, s->n_ids + n, sizeof(*s->id)) ||
	    sx_reserve(&s->origin, &s->origin_cap, s->n_ids + n, sizeof(*s->origin)))
		return sx_fail_nomem(err);
	q->from = q->to;
	q->to += n;
	for (size_t i = 0; i < n; i++) {
		q->document[i].is_there = 0;
		s->origin[s->n_ids] = (struct sx_engine_origin){ number, (uint32_t)i };
		s->id[s->n_ids++] = q->row[q->from + i].id;
	}
	return SIMIDX_OK;
}

static int hear_document(void *ctx, size_t i, const simidx_match *m)
{
	sx_engine_search *s = ctx;
	sx_engine_found *document;
	sx_engine_query *q;

	if (i >= s->n_ids || m->id != s->id[i]) {
		s->rc = SIMIDX_E_IO;
		return 1;
	}
	q = &s->query[s->origin[i].query];
	/* A row that was left over. */
	if (q->row[q->from + s->origin[i].row].fp != m->fp)
		return 0;
	document = &q->document[s->origin[i].row];
	document->fp2 = m->flags & SIMIDX_MATCH_FP2 ? m->fp2 : sx_reader_index(s->reader)->unknown_fp2;
	document->label = (sx_slice){ NULL, 0 };
	if (m->flags & SIMIDX_MATCH_LABEL && q->q->asked->flags & SIMIDX_QUERY_LABELS) {
		document->label.size = m->label_size;
		document->label.data = sx_arena_copy(&s->labels, m->label, m->label_size);
		if (!document->label.data)
			s->rc = SIMIDX_E_NOMEM;
	}
	document->is_there = 1;
	return s->rc != 0;
}

static int find_documents(sx_engine_search *s, uint64_t *round_trips, simidx_error *err)
{
	if (!s->n_ids)
		return SIMIDX_OK;
	return sx_engine_outcome(s, sx_engine_find_ids(sx_engine_of_search(s), s->id, s->n_ids, hear_document, s,
					     round_trips, err), err);
}

/* The next page of one query. */
static int next_page(sx_engine_search *s, uint32_t number, simidx_error *err)
{
	int rc;

	s->n_ids = 0;
	rc = want_page(s, number, PAGE, err);
	return rc ? rc : find_documents(s, &s->query[number].results.round_trips, err);
}

/* ---- matches ---- */

/* Append the document of row number i if it matches. */
static int take_row(sx_engine_search *s, sx_engine_query *q, size_t i, uint64_t *count,
		    simidx_error *err)
{
	const sx_engine_found *document = &q->document[i - q->from];
	sx_doc doc = { q->row[i].id, q->row[i].fp, document->fp2 };
	sx_matches *m = &s->reader->matches;
	size_t had = m->n;
	int rc;

	if (!document->is_there)
		return SIMIDX_OK;
	rc = sx_matches_take(m, sx_reader_index(s->reader), q->q, &doc, count, err);
	if (!rc && m->n > had && document->label.size) {
		m->at[had].label = document->label.data;
		m->at[had].label_size = document->label.size;
		m->at[had].flags |= SIMIDX_MATCH_LABEL;
	}
	return rc;
}

/* Append the documents of pending rows: a writer's reader finds them, too. */
static int take_pending(sx_engine_search *s, sx_engine_query *q, uint64_t *count, simidx_error *err)
{
	simidx_reader *r = s->reader;
	const sx_known *known = sx_reader_snapshot(r)->known;
	static const sx_doc none;
	size_t had = r->matches.n;
	int rc = SIMIDX_OK;

	/* The hits of the rows are there to be counted once; their documents come later. */
	r->hits.n = 0;
	r->hits.left = q->q->asked->max_candidates ? q->q->asked->max_candidates : UINT64_MAX;
	for (size_t i = 0; !rc && i < q->n_rows; i++) {
		rc = sx_hits_add(&r->hits, q->q, q->row[i].fp, 1, err);
		if (!rc)
			r->hits.at[i].n_docs = 0;
	}
	if (!rc)
		rc = sx_hits_find_fresh(&r->hits, &r->view, q->access, q->q, &q->results, err);
	q->results.complete_to = q->access->complete_to;
	if (!rc)
		rc = sx_matches_read(&r->matches, &r->view, q->q, &r->hits, 0, r->hits.n, &none, 0,
				     count, err);
	for (size_t i = had; !rc && i < r->matches.n; i++) {
		simidx_match *m = &r->matches.at[i];
		const sx_known_doc *doc = known ? sx_known_find(known, m->id) : NULL;
		sx_fresh_span span = sx_header_fresh(&r->view.snapshot.header);
		sx_fresh_row row;

		if (!(q->q->asked->flags & SIMIDX_QUERY_LABELS) || !doc)
			continue;
		rc = sx_fresh_by_id(&r->view.snapshot.index->fresh, NULL, &span, m->id, &row, err);
		if (rc || !(row.op & SX_FRESH_LABEL))
			continue;
		m->label = doc->now.data;
		m->label_size = doc->now.size;
		m->flags |= SIMIDX_MATCH_LABEL;
	}
	return rc;
}

/* Read the documents of a query in order, and cut what is too much. */
static int answer(sx_engine_search *s, uint32_t number, simidx_results *out, simidx_error *err)
{
	sx_engine_query *q = &s->query[number];
	const simidx_query *asked = q->q->asked;
	sx_matches *m = &s->reader->matches;
	uint64_t *count = asked->mode == SIMIDX_COUNT ? &q->results.count : NULL;
	uint64_t limit = asked->mode == SIMIDX_FIRST ? 1 : asked->limit;
	int rc = SIMIDX_OK;

	m->n = 0;
	if (sx_view_fresh_rows(&s->reader->view) && !q->ended && !q->q->is_empty)
		rc = take_pending(s, q, count, err);
	/* Those of pending rows may be the farthest, so they do not count as enough. */
	for (size_t i = 0, had = m->n; !rc && i < q->n_rows; i++) {
		uint64_t stop = enough(q);

		if (stop && m->n - had >= stop)
			break;
		if (i == q->to)
			rc = next_page(s, number, err);
		if (!rc)
			rc = take_row(s, q, i, count, err);
	}
	if (!rc && !count) {
		sx_matches_sort(m, 0);
		q->results.count = asked->mode == SIMIDX_FIRST && m->n ? 1 : m->n;
		if (limit && m->n > limit) {
			m->n = (size_t)limit;
			/* To the other modes the limit is what they ask for. */
			if (asked->mode == SIMIDX_ALL)
				q->results.truncated |= SIMIDX_CUT_LIMIT;
		}
	}
	*out = q->results;
	return rc;
}

/* Rows were left over, so that the nearest are fewer than the rows: the rest is farther away. */
static int are_too_few(const sx_engine_query *q, const simidx_reader *r)
{
	return q->whole && !q->q->is_empty && !q->results.truncated &&
	       q->growing.radius < q->whole->radius && r->matches.n < q->whole->asked->limit;
}

/* ---- one query, and many ---- */

/* Room for n queries, which begin as if there had been none. */
static int begin(sx_engine_search *s, simidx_reader *r, size_t n, simidx_error *err)
{
	size_t had = s->query_cap;

	s->reader = r;
	s->view = &r->view;
	if (sx_reserve(&s->query, &s->query_cap, n, sizeof(*s->query)))
		return sx_fail_nomem(err);
	for (size_t i = had; i < s->query_cap; i++)
		memset(&s->query[i], 0, sizeof(s->query[i]));
	s->n = n;
	for (size_t i = 0; i < n; i++) {
		sx_engine_query *q = &s->query[i];

		q->rc = q->is_found = q->ended = 0;
		q->whole = NULL;
		q->n_rows = q->from = q->to = 0;
		q->results = (simidx_results)SIMIDX_RESULTS_INIT;
	}
	return SIMIDX_OK;
}

int sx_engine_search_one(sx_engine_search *s, simidx_reader *r, const sx_query *q,
			 simidx_results *out, simidx_error *err)
{
	int rc = begin(s, r, 1, err);

	if (rc)
		return rc;
	sx_engine_rows_ask(&s->query[0], q);
	s->query[0].access = &r->access;
	/* If it was asked in vain with others before, what that took adds up. */
	s->query[0].results = *out;
	do {
		s->query[0].from = s->query[0].to = 0;
		rc = sx_engine_rows_find(s, &s->query[0].results.round_trips, err);
		if (!rc)
			rc = answer(s, 0, out, err);
	} while (!rc && are_too_few(&s->query[0], r) && sx_engine_rows_grow(&s->query[0]));
	return rc;
}

static int prepare(sx_engine_search *s, simidx_error *err)
{
	if (s->prepared)
		return SIMIDX_OK;
	s->checked = sx_calloc(SX_ENGINE_TOGETHER, sizeof(*s->checked));
	s->access = sx_calloc(SX_ENGINE_TOGETHER, sizeof(*s->access));
	if (!s->checked || !s->access) {
		free(s->checked);
		free(s->access);
		s->checked = NULL;
		s->access = NULL;
		return sx_fail_nomem(err);
	}
	s->prepared = SX_ENGINE_TOGETHER;
	return SIMIDX_OK;
}

int sx_engine_search_many(sx_engine_search *s, simidx_reader *r, const simidx_query *queries,
			  size_t n, simidx_error *err)
{
	uint64_t round_trips = 0;
	int rc = begin(s, r, n, err);

	sx_arena_clear(&s->labels);
	if (!rc)
		rc = prepare(s, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		sx_engine_query *q = &s->query[i];

		sx_err_clear(&q->err);
		q->rc = sx_query_init(&s->checked[i], sx_reader_index(r), &queries[i], &q->err);
		if (!q->rc)
			sx_engine_rows_ask(q, &s->checked[i]);
		q->access = &s->access[i];
	}
	rc = sx_engine_rows_find(s, &round_trips, err);
	s->n_ids = 0;
	for (size_t i = 0; !rc && i < n; i++)
		if (s->query[i].n_rows)
			rc = want_page(s, (uint32_t)i, FIRST_PAGE, err);
	if (!rc)
		rc = find_documents(s, &round_trips, err);
	s->query[0].results.round_trips = round_trips;
	return rc;
}

int sx_engine_search_answer(sx_engine_search *s, simidx_reader *r, size_t i, simidx_results *out,
			    const sx_query **alone, simidx_error *err)
{
	sx_engine_query *q = &s->query[i];
	int rc;

	*alone = NULL;
	*out = (simidx_results)SIMIDX_RESULTS_INIT;
	if (q->rc) {
		sx_err_clear(err);
		return sx_fail(err, q->rc, "%s", q->err.text);
	}
	r->matches.n = 0;
	rc = answer(s, (uint32_t)i, out, err);
	if (rc)
		r->matches.n = 0;
	else if (are_too_few(q, r))
		*alone = q->whole;
	out->matches = r->matches.at;
	out->n = r->matches.n;
	return rc;
}
