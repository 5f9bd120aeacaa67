/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "search/sx_reader.h"

#include <stdlib.h>
#include <string.h>

#include "index/sx_documents.h"
#include "util/sx_err.h"

int sx_reader_open(const simidx *index, simidx_reader **out, simidx_error *err)
{
	simidx_reader *r = sx_calloc(1, sizeof(*r));
	int rc;

	*out = NULL;
	if (!r)
		return sx_fail_nomem(err);
	rc = sx_view_begin(&r->view, index, err);
	if (!rc)
		r->search = index->backend->search_new(index);
	if (!rc && !r->search)
		rc = sx_fail_nomem(err);
	if (rc) {
		simidx_reader_close(r);
		return rc;
	}
	*out = r;
	return SIMIDX_OK;
}

int simidx_reader_open(simidx *index, simidx_reader **out, simidx_error *err)
{
	sx_err_clear(err);
	if (!out)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_reader_open: out is NULL");
	*out = NULL;
	if (!index)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_reader_open: index is NULL");
	return sx_reader_open(index, out, err);
}

void simidx_reader_close(simidx_reader *r)
{
	if (!r)
		return;
	sx_reader_index(r)->backend->search_free(r->search);
	sx_view_end(&r->view);
	sx_access_free(&r->access);
	sx_cover_cache_free(&r->covers);
	sx_hits_free(&r->hits);
	sx_matches_free(&r->matches);
	free(r->beside);
	sx_arena_free(&r->labels);
	free(r->explained);
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
	h->notes = r->writing->header.notes;
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

static int deliver(simidx_reader *r, const sx_labelled_doc *found, simidx_match *out,
		   simidx_error *err)
{
	const sx_doc *doc = &found->doc;
	const simidx *index = sx_reader_index(r);
	simidx_match match = sx_match_of(index, doc);
	int rc;

	if (found->label.size) {
		match.label = found->label.data;
		match.label_size = found->label.size;
		match.flags |= SIMIDX_MATCH_LABEL;
	}
	r->matches.n = 0;
	rc = sx_matches_push(&r->matches, &match, err);
	if (!rc)
		rc = index->backend->labels(&r->matches, sx_reader_snapshot(r), 0, 1, 1, err);
	if (!rc)
		*out = r->matches.at[0];
	return rc;
}

/* What both look-ups begin with: a snapshot, or why there is none. */
static int begin_get(simidx_reader *r, simidx_match *out, const char *what, simidx_error *err)
{
	int rc;

	sx_err_clear(err);
	if (out)
		memset(out, 0, sizeof(*out));
	if (!r || !out)
		return sx_fail(err, SIMIDX_E_ARG, "%s: reader or out is NULL", what);
	rc = sx_schema_need_ids(sx_reader_index(r)->schema, err);
	return rc ? rc : sx_reader_begin(r, err);
}

int simidx_reader_find_id(simidx_reader *r, uint64_t id, simidx_match *out, simidx_error *err)
{
	sx_labelled_doc found;
	int rc = begin_get(r, out, "simidx_reader_find_id", err);

	if (rc)
		return rc;
	rc = sx_documents_by_id(r->search, sx_reader_snapshot(r), id, &found, err);
	if (!rc)
		rc = deliver(r, &found, out, err);
	sx_reader_end(r);
	return rc == SIMIDX_E_NOT_FOUND ? sx_fail(err, rc, "no document has this id") : rc;
}

/*
 * A note that is there is that of a document: only fresh rows may have deleted it, as a merge
 * removes what deleted ones have left before the rows that say so. Where there is none, the
 * document may be.
 */
static int find_note(const simidx_reader *r, uint64_t id, sx_slice *note, simidx_error *err)
{
	const sx_snapshot *s = sx_reader_snapshot(r);
	sx_fresh_span span = sx_header_fresh(&s->header);
	sx_labelled_doc doc;
	sx_fresh_row row;
	int rc = sx_fresh_by_id(s->index->fresh, s->txn, &span, id, &row, err);

	*note = (sx_slice){ NULL, 0 };
	if (!rc && sx_fresh_is_delete(&row))
		return SIMIDX_E_NOT_FOUND;
	if (!rc || rc == SIMIDX_E_NOT_FOUND)
		rc = s->index->backend->document->note_of(s, id, note, err);
	return rc == SIMIDX_E_NOT_FOUND ? sx_documents_by_id(r->search, s, id, &doc, err) : rc;
}

/* The snapshot may end with the call, so the bytes are copied. */
static int copy_note(simidx_reader *r, uint64_t id, const void **note, size_t *size,
		     simidx_error *err)
{
	sx_slice found;
	int rc = find_note(r, id, &found, err);

	if (rc == SIMIDX_E_NOT_FOUND)
		return sx_fail(err, rc, "no document has this id");
	if (rc || !found.data)
		return rc;
	sx_arena_clear(&r->labels);
	*note = sx_arena_copy(&r->labels, found.data, found.size);
	if (!*note)
		return sx_fail_nomem(err);
	*size = found.size;
	return SIMIDX_OK;
}

int simidx_reader_note(simidx_reader *r, uint64_t id, const void **note, size_t *size,
		       simidx_error *err)
{
	int rc;

	sx_err_clear(err);
	if (note)
		*note = NULL;
	if (size)
		*size = 0;
	if (!r || !note || !size)
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_reader_note: reader, note or size is NULL");
	if (!sx_reader_index(r)->schema->has_notes)
		return sx_fail(err, SIMIDX_E_MISMATCH, "the index keeps no notes");
	rc = sx_reader_begin(r, err);
	if (rc)
		return rc;
	rc = copy_note(r, id, note, size, err);
	sx_reader_end(r);
	return rc;
}

int simidx_reader_find_label(simidx_reader *r, const char *label, size_t size, simidx_match *out,
		     simidx_error *err)
{
	sx_labelled_doc found;
	int rc = begin_get(r, out, "simidx_reader_find_label", err);

	if (rc)
		return rc;
	if (!label && size)
		rc = sx_fail(err, SIMIDX_E_ARG, "simidx_reader_find_label: label is NULL");
	else
		rc = sx_documents_by_label(r->search, sx_reader_snapshot(r), label, size,
					   &found, err);
	if (!rc)
		rc = deliver(r, &found, out, err);
	sx_reader_end(r);
	return rc == SIMIDX_E_NOT_FOUND ? sx_fail(err, rc, "no document has this label") : rc;
}
