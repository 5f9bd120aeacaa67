/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The public functions that change documents (simidx_write.h): each checks what it is given, begins
 * a transaction and has the call judged (sx_writer_change.h).
 */

#include <stdlib.h>
#include <string.h>

#include "index/sx_documents.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"
#include "write/sx_writer_change.h"

#define DOC_MIN SX_STRUCT_TO(simidx_doc, fp)
#define AHEAD 4        /* documents for which the memtable is prefetched */
#define TOGETHER 16384 /* documents that are read at once */

/* What a call asks for, in a transaction that has begun. */
static int ask(simidx_writer *w, sx_call *c, simidx_match *blocker, uint64_t *id, simidx_error *err)
{
	int rc;

	if (w->has_conditions) {
		rc = sx_calls_keep(&w->calls, c, w->index->schema->bits, err);
		if (rc)
			return rc;
	}
	rc = sx_writer_judge(w, c, blocker, err);
	if (w->has_conditions)
		sx_calls_decide(&w->calls, c);
	if (id && !rc)
		*id = c->now.id;
	return rc;
}

/* Read a document and check it. */
static int read_document(const simidx_writer *w, const simidx_doc *given, simidx_doc *own,
			 simidx_error *err)
{
	const simidx_doc *doc = sx_struct_read(given, DOC_MIN, own, sizeof(*own));
	int rc = sx_documents_check(w->index, doc, err);

	if (!rc && doc->flags & SIMIDX_DOC_FP2_UNKNOWN && !w->index->schema->has_unknown_fp2)
		rc = sx_fail(
			err, SIMIDX_E_MISMATCH,
			"its second fingerprint is not known, as that of no document in the index: "
			"only a new index can take it");
	if (!rc && doc != own)
		*own = *doc;
	return rc;
}

/* Read a document and begin. */
static int begin_with(simidx_writer *w, const simidx_doc *given, simidx_doc *own, uint64_t *id,
		      const char *function, simidx_error *err)
{
	int rc;

	sx_err_clear(err);
	if (id)
		*id = SIMIDX_NO_ID;
	if (!w || !given)
		return sx_fail(err, SIMIDX_E_ARG, "%s: writer or doc is NULL", function);
	rc = read_document(w, given, own, err);
	return rc ? rc : sx_writer_begin(w, err);
}

int simidx_writer_put(simidx_writer *w, const simidx_doc *given, uint64_t *id, simidx_error *err)
{
	simidx_doc doc;
	sx_call c;
	int rc = begin_with(w, given, &doc, id, "simidx_writer_put", err);

	if (rc)
		return rc;
	c = sx_call_of(SX_CALL_PUT, &doc, NULL);
	return ask(w, &c, NULL, id, err);
}

int simidx_writer_put_if_new(simidx_writer *w, const simidx_doc *given, const simidx_query *query,
			     uint64_t *id, simidx_match *blocker, simidx_error *err)
{
	simidx_query own;
	simidx_doc doc;
	sx_call c;
	int rc;

	if (blocker)
		memset(blocker, 0, sizeof(*blocker));
	rc = begin_with(w, given, &doc, id, "simidx_writer_put_if_new", err);
	if (rc)
		return rc;
	query = sx_struct_read(query, SX_QUERY_MIN, &own, sizeof(own));
	if (!query)
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_writer_put_if_new: bad query struct size");
	c = sx_call_of(SX_CALL_PUT_IF_NEW, &doc, query);
	if (w->ahead.n) {
		const simidx_query asked = sx_writer_asks(query);

		c.nth = sx_ahead_find(&w->ahead, &asked, w->index->schema->bits);
	}
	return ask(w, &c, blocker, id, err);
}

/* ---- many, each if it is new ---- */

/* What a caller gives: structs that lie as far apart as the first one's size says. */
struct many {
	const simidx_doc *docs;
	const simidx_query *queries;
	size_t n;
	int (*decided)(void *ctx, size_t i, const simidx_decision *decision);
	void *ctx;
};

static const simidx_doc *doc_at(const struct many *m, size_t i)
{
	const void *at = (const char *)m->docs + i * m->docs->size;

	return sx_struct_size(at) == m->docs->size ? at : NULL;
}

/* One that cannot be read has no size: it fails when its turn comes. */
static simidx_query query_at(const struct many *m, size_t i)
{
	const void *at = (const char *)m->queries + i * m->queries->size;
	simidx_query own = { .size = 0 };
	const simidx_query *read = NULL;

	if (sx_struct_size(at) == m->queries->size)
		read = sx_struct_read(at, SX_QUERY_MIN, &own, sizeof(own));
	if (!read)
		return (simidx_query){ .size = 0 };
	return read == &own ? own : *read;
}

/* Whether a code says something of one document, and nothing of the next one. */
static int is_of_document(int code)
{
	return sx_call_is_decided(code) || code == SIMIDX_E_ARG || code == SIMIDX_E_RANGE ||
	       code == SIMIDX_E_MISMATCH;
}

/* Decide one. nth: of the queries that are known ahead, from 1. */
static int decide(simidx_writer *w, const struct many *m, size_t i, const simidx_query *query,
		  size_t nth, simidx_error *err)
{
	simidx_decision out = { .size = sizeof(out), .id = SIMIDX_NO_ID };
	const simidx_doc *given = doc_at(m, i);
	simidx_error why;
	simidx_doc doc;
	sx_call c;

	sx_err_clear(&why);
	if (!given || !query->size)
		out.code = sx_fail(&why, SIMIDX_E_ARG,
				   "simidx_writer_put_if_new_many: bad struct size");
	else
		out.code = read_document(w, given, &doc, &why);
	if (!out.code) {
		c = sx_call_of(SX_CALL_PUT_IF_NEW, &doc, query);
		c.nth = nth;
		out.code = ask(w, &c, &out.blocker, &out.id, &why);
	}
	/* A failure in the middle of a change has ended the transaction, whatever its code. */
	if (!is_of_document(out.code) || !sx_snapshot_is_begun(&w->snapshot)) {
		if (err)
			*err = why;
		return out.code;
	}
	out.why = out.code && out.code != SIMIDX_E_EXISTS ? &why : NULL;
	return m->decided(m->ctx, i, &out) ? sx_fail(err, SIMIDX_E_STOPPED, "the caller ends it")
					   : SIMIDX_OK;
}

/* Decide the documents [from, from + n), in a transaction that has begun. */
static int decide_together(simidx_writer *w, const struct many *m, size_t from, size_t n,
			   simidx_query *asked, simidx_error *err)
{
	int rc = SIMIDX_OK;

	for (size_t i = 0; i < n; i++) {
		asked[i] = query_at(m, from + i);
		asked[i] = sx_writer_asks(&asked[i]);
	}
	sx_ahead_expect(&w->ahead, asked, n);
	for (size_t i = 0; !rc && i < n; i++) {
		if (i + AHEAD < n && w->uses_memtable)
			sx_fresh_prefetch_fp(w->index->fresh, asked[i + AHEAD].fp);
		rc = decide(w, m, from + i, &asked[i], i + 1, err);
	}
	sx_ahead_clear(&w->ahead);
	return rc;
}

static int check_many(const simidx_writer *w, const struct many *m, const char *function,
		      simidx_error *err)
{
	if (!w || (m->n && (!m->docs || !m->queries)))
		return sx_fail(err, SIMIDX_E_ARG, "%s: no writer, docs or queries", function);
	if (m->n && (m->docs->size < DOC_MIN || m->docs->size > SX_STRUCT_MAX ||
		     m->queries->size < SX_QUERY_MIN || m->queries->size > SX_STRUCT_MAX))
		return sx_fail(err, SIMIDX_E_ARG, "%s: bad struct size", function);
	return SIMIDX_OK;
}

int simidx_writer_put_if_new_many(simidx_writer *w, const simidx_doc *docs,
				  const simidx_query *queries, size_t n,
				  int (*decided)(void *ctx, size_t i,
						 const simidx_decision *decision),
				  void *ctx, simidx_error *err)
{
	const struct many m = { docs, queries, n, decided, ctx };
	simidx_query *asked;
	int rc;

	sx_err_clear(err);
	rc = check_many(w, &m, "simidx_writer_put_if_new_many", err);
	if (!rc && !decided)
		rc = sx_fail(err, SIMIDX_E_ARG, "simidx_writer_put_if_new_many: no decided()");
	if (!rc && n)
		rc = simidx_writer_prefetch(w, docs, n, err);
	if (!rc && n)
		rc = sx_writer_begin(w, err);
	if (rc || !n)
		return rc;
	asked = sx_realloc(NULL, n < TOGETHER ? n : TOGETHER, sizeof(*asked));
	if (!asked)
		return sx_fail_nomem(err);
	for (size_t from = 0; !rc && from < n; from += TOGETHER)
		rc = decide_together(w, &m, from, n - from < TOGETHER ? n - from : TOGETHER, asked,
				     err);
	free(asked);
	return rc;
}

int simidx_writer_prefetch_if_new(simidx_writer *w, const simidx_doc *docs,
				  const simidx_query *queries, size_t n, simidx_error *err)
{
	const struct many m = { docs, queries, n, NULL, NULL };
	int rc;

	sx_err_clear(err);
	rc = check_many(w, &m, "simidx_writer_prefetch_if_new", err);
	if (!rc && n)
		rc = simidx_writer_prefetch(w, docs, n, err);
	if (!rc && n)
		rc = sx_writer_begin(w, err);
	if (!rc)
		rc = sx_ahead_expect_copies(&w->ahead, n, err);
	for (size_t i = 0; !rc && i < n; i++) {
		simidx_query query = query_at(&m, i);

		/* One that cannot be read is told when it is put. */
		query = sx_writer_asks(&query);
		if (query.size)
			rc = sx_ahead_copy(&w->ahead, &query, w->index->schema->bits, err);
	}
	if (rc && w)
		sx_ahead_clear(&w->ahead);
	return rc;
}

/* ---- the others ---- */

int simidx_writer_replace(simidx_writer *w, const simidx_doc *given, uint64_t *id,
			  simidx_error *err)
{
	simidx_doc doc;
	sx_call c;
	int rc;

	sx_err_clear(err);
	if (id)
		*id = SIMIDX_NO_ID;
	if (w && sx_schema_need_ids(w->index->schema, err))
		return SIMIDX_E_UNSUPPORTED;
	rc = begin_with(w, given, &doc, id, "simidx_writer_replace", err);
	if (rc)
		return rc;
	if (doc.id == SIMIDX_NO_ID && !doc.label)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_replace: no id and no label");
	c = sx_call_of(SX_CALL_REPLACE, &doc, NULL);
	return ask(w, &c, NULL, id, err);
}

/* Change the document with the id or label of one that says little else. */
static int ask_about(simidx_writer *w, enum sx_call_kind kind, const simidx_doc *doc,
		     simidx_error *err)
{
	sx_call c = sx_call_of(kind, doc, NULL);
	int rc = sx_schema_need_ids(w->index->schema, err);

	if (!rc)
		rc = sx_writer_begin(w, err);
	return rc ? rc : ask(w, &c, NULL, NULL, err);
}

int simidx_writer_delete_id(simidx_writer *w, uint64_t id, simidx_error *err)
{
	simidx_doc doc = SIMIDX_DOC_INIT;

	sx_err_clear(err);
	if (!w)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_delete_id: writer is NULL");
	doc.id = id;
	return ask_about(w, SX_CALL_DELETE_ID, &doc, err);
}

int simidx_writer_delete_label(simidx_writer *w, const char *label, size_t size,
			       simidx_error *err)
{
	simidx_doc doc = SIMIDX_DOC_INIT;

	sx_err_clear(err);
	if (!w || (!label && size))
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_writer_delete_label: writer or label is NULL");
	doc.label = label;
	doc.label_size = size;
	return ask_about(w, SX_CALL_DELETE_LABEL, &doc, err);
}

int simidx_writer_touch(simidx_writer *w, uint64_t id, uint32_t time, simidx_error *err)
{
	simidx_doc doc = SIMIDX_DOC_INIT;

	sx_err_clear(err);
	if (!w)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_touch: writer is NULL");
	if (!w->index->schema->has_times)
		return sx_fail(err, SIMIDX_E_MISMATCH, "the index keeps no times");
	doc.id = id;
	doc.time = time;
	return ask_about(w, SX_CALL_TOUCH, &doc, err);
}
