/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "search/sx_reader.h"

#include <stdlib.h>
#include <string.h>

#include "index/sx_documents.h"
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
	free(r);
}

static int deliver(simidx_reader *r, const sx_doc *doc, simidx_match *out, simidx_error *err)
{
	simidx_match match = sx_match_of(sx_reader_index(r), doc->id, doc->fp, doc->fp2);
	int rc;

	r->matches.n = 0;
	rc = sx_matches_push(&r->matches, &match, err);
	if (!rc)
		rc = sx_matches_add_labels(&r->matches, &r->view.snapshot, 0, 1, 1, err);
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
	return sx_view_renew(&r->view, err);
}

int simidx_reader_find_id(simidx_reader *r, uint64_t id, simidx_match *out, simidx_error *err)
{
	sx_doc doc;
	int rc = begin_get(r, out, "simidx_reader_find_id", err);

	if (rc)
		return rc;
	rc = sx_documents_by_id(&r->view.snapshot, id, &doc, err);
	if (!rc)
		rc = deliver(r, &doc, out, err);
	sx_view_reset(&r->view);
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
	else
		rc = sx_documents_by_label(&r->view.snapshot, label, size, &doc, err);
	if (!rc)
		rc = deliver(r, &doc, out, err);
	sx_view_reset(&r->view);
	return rc == SIMIDX_E_NOT_FOUND ? sx_fail(err, rc, "no document has this label") : rc;
}
