/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The public functions that change documents (simidx_write.h): each checks what it is given, begins a
 * transaction and has the call judged (sx_writer_change.h).
 */

#include <string.h>

#include "index/sx_documents.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"
#include "write/sx_writer_change.h"

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

/* Read a document and begin. */
static int begin_with(simidx_writer *w, const simidx_doc *given, simidx_doc *own, uint64_t *id,
		      const char *function, simidx_error *err)
{
	const simidx_doc *doc;
	int rc;

	sx_err_clear(err);
	if (id)
		*id = SIMIDX_NO_ID;
	if (!w || !given)
		return sx_fail(err, SIMIDX_E_ARG, "%s: writer or doc is NULL", function);
	doc = sx_struct_read(given, SX_STRUCT_TO(simidx_doc, fp), own, sizeof(*own));
	rc = sx_documents_check(w->index, doc, err);
	if (!rc && doc->flags & SIMIDX_DOC_FP2_UNKNOWN && !w->index->schema->has_unknown_fp2)
		rc = sx_fail(
			err, SIMIDX_E_MISMATCH,
			"its second fingerprint is not known, as that of no document in the index: only a new index can take it");
	if (rc)
		return rc;
	if (doc != own)
		*own = *doc;
	return sx_writer_begin(w, err);
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
	return ask(w, &c, blocker, id, err);
}

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
