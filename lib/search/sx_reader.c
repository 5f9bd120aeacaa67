/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "search/sx_reader.h"

#include <stdlib.h>
#include <string.h>

#include "index/sx_documents_engine.h"
#include "search/sx_engine_rows.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

int simidx_reader_open(simidx *index, simidx_reader **out, simidx_error *err)
{
	simidx_reader *r;
	int rc;

	sx_err_clear(err);
	if (!out)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_reader_open: out is NULL");
	*out = NULL;
	if (!index)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_reader_open: index is NULL");
	r = sx_calloc(1, sizeof(*r));
	if (!r)
		return sx_fail_nomem(err);
	rc = sx_view_begin(&r->view, index, err);
	if (!rc && (sx_hits_init(&r->hits, index) || sx_matches_init(&r->matches, index)))
		rc = sx_fail_nomem(err);
	if (!rc && index->engine) {
		r->engine = sx_engine_search_new();
		if (!r->engine)
			rc = sx_fail_nomem(err);
	}
	if (rc) {
		simidx_reader_close(r);
		return rc;
	}
	*out = r;
	return SIMIDX_OK;
}

void simidx_reader_close(simidx_reader *r)
{
	if (!r)
		return;
	sx_view_end(&r->view);
	sx_access_free(&r->access);
	sx_hits_free(&r->hits);
	sx_matches_free(&r->matches);
	free(r->nearer.at);
	free(r->explained);
	sx_engine_search_free(r->engine);
	sx_known_free(&r->known);
	free(r);
}

int sx_reader_begin(simidx_reader *r, simidx_error *err)
{
	sx_header *h = &r->view.snapshot.header;
	int rc;

	if (!r->writing)
		return sx_view_renew(&r->view, err);
	if (!sx_snapshot_is_begun(r->writing))
		return sx_fail(err, SIMIDX_E_STATE, "the writer has begun no transaction");
	if (r->is_begun) {
		sx_view_expect(&r->view, 1);
	} else {
		rc = sx_view_renew(&r->view, err);
		if (rc)
			return rc;
		r->is_begun = 1;
	}
	h->documents = r->writing->header.documents;
	h->labels = r->writing->header.labels;
	h->next_id = r->writing->header.next_id;
	h->next_seq = r->writing->header.next_seq;
	return SIMIDX_OK;
}

void sx_reader_end(simidx_reader *r)
{
	if (!r->writing)
		sx_view_reset(&r->view);
}

void sx_reader_release(simidx_reader *r)
{
	if (!r->is_begun)
		return;
	sx_view_reset(&r->view);
	r->view.snapshot.id = 0; /* its header has what was pending */
	r->is_begun = 0;
}

/* A document with its label, by id or, if that is SIMIDX_NO_ID, by label, from an engine. */
static int ask_engine(simidx_reader *r, uint64_t id, const char *label, size_t size,
		      simidx_match *out, simidx_error *err)
{
	const sx_snapshot *s = sx_reader_snapshot(r);
	sx_known *known = s->known ? s->known : &r->known;
	sx_labelled_doc found;
	int rc;

	sx_known_clear(&r->known);
	rc = id == SIMIDX_NO_ID ? sx_documents_engine_by_label(s, known, label, size, &found, err)
				: sx_documents_engine_by_id(s, known, id, &found, err);
	if (rc)
		return rc;
	*out = sx_match_of(sx_reader_index(r), found.doc.id, found.doc.fp, found.doc.fp2);
	if (found.label.size) {
		out->label = found.label.data;
		out->label_size = found.label.size;
		out->flags |= SIMIDX_MATCH_LABEL;
	}
	return SIMIDX_OK;
}

static int deliver(simidx_reader *r, const sx_doc *doc, simidx_match *out, simidx_error *err)
{
	simidx_match match = sx_match_of(sx_reader_index(r), doc->id, doc->fp, doc->fp2);
	int rc;

	r->matches.n = 0;
	rc = sx_matches_push(&r->matches, &match, err);
	if (!rc)
		rc = sx_matches_add_labels(&r->matches, sx_reader_snapshot(r), 0, 1, 1, err);
	if (!rc)
		*out = r->matches.at[0];
	return rc;
}

/* What both look-ups begin with: a snapshot, or why there is none. */
static int begin_get(simidx_reader *r, simidx_match *out, const char *what, simidx_error *err)
{
	sx_err_clear(err);
	if (out)
		memset(out, 0, sizeof(*out));
	if (!r || !out)
		return sx_fail(err, SIMIDX_E_ARG, "%s: reader or out is NULL", what);
	if (!sx_has_ids(sx_reader_index(r)))
		return sx_fail(err, SIMIDX_E_UNSUPPORTED, "the index holds no ids and no labels");
	return sx_reader_begin(r, err);
}

int simidx_reader_find_id(simidx_reader *r, uint64_t id, simidx_match *out, simidx_error *err)
{
	sx_doc doc;
	int rc = begin_get(r, out, "simidx_reader_find_id", err);

	if (rc)
		return rc;
	if (sx_reader_index(r)->engine)
		rc = id > SIMIDX_MAX_ID ? SIMIDX_E_NOT_FOUND : ask_engine(r, id, NULL, 0, out, err);
	else
		rc = sx_documents_by_id(sx_reader_snapshot(r), id, &doc, err);
	if (!rc && !sx_reader_index(r)->engine)
		rc = deliver(r, &doc, out, err);
	sx_reader_end(r);
	return rc == SIMIDX_E_NOT_FOUND ? sx_fail(err, rc, "no document has this id") : rc;
}

int simidx_reader_find_label(simidx_reader *r, const char *label, size_t size, simidx_match *out,
		     simidx_error *err)
{
	sx_doc doc;
	int rc = begin_get(r, out, "simidx_reader_find_label", err);

	if (rc)
		return rc;
	if (!label && size)
		rc = sx_fail(err, SIMIDX_E_ARG, "simidx_reader_find_label: label is NULL");
	else if (sx_reader_index(r)->engine)
		rc = ask_engine(r, SIMIDX_NO_ID, label, size, out, err);
	else
		rc = sx_documents_by_label(sx_reader_snapshot(r), label, size, &doc, err);
	if (!rc && !sx_reader_index(r)->engine)
		rc = deliver(r, &doc, out, err);
	sx_reader_end(r);
	return rc == SIMIDX_E_NOT_FOUND ? sx_fail(err, rc, "no document has this label") : rc;
}
