/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "index/sx_documents_engine.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_hash.h"

/* What a pending row says of a document: that it is gone, or what it is like. */
static int as_pending(const sx_known *known, const sx_fresh_row *row, sx_labelled_doc *out)
{
	const sx_known_doc *k = sx_known_find(known, row->id);

	if (sx_fresh_is_delete(row))
		return SIMIDX_E_NOT_FOUND;
	out->doc = (sx_doc){ row->id, row->fp, row->fp2 };
	out->label = k && row->op & SX_FRESH_LABEL ? k->now : (sx_slice){ NULL, 0 };
	return SIMIDX_OK;
}

int sx_documents_engine_by_id(const sx_snapshot *s, sx_known *known, uint64_t id,
			      sx_labelled_doc *out, simidx_error *err)
{
	sx_fresh_span span = sx_header_fresh(&s->header);
	const sx_known_doc *k;
	sx_fresh_row row;
	int rc;

	if (id > SIMIDX_MAX_ID)
		return SIMIDX_E_NOT_FOUND;
	rc = sx_fresh_by_id(&s->index->fresh, s->txn, &span, id, &row, err);
	if (!rc)
		return as_pending(known, &row, out);
	if (rc != SIMIDX_E_NOT_FOUND)
		return rc;
	rc = sx_known_look_up(known, s->index->engine, s->index->unknown_fp2, &id, 1, NULL, 0, err);
	if (rc)
		return rc;
	k = sx_known_find(known, id);
	if (!k->is_there)
		return SIMIDX_E_NOT_FOUND;
	out->doc = (sx_doc){ id, k->fp, k->fp2 };
	out->label = k->label;
	return SIMIDX_OK;
}

/* Among pending rows with the hash of a label: the last one about each id counts. */
static int by_label_in_rows(const sx_snapshot *s, const sx_known *known, const void *label,
			    size_t size, sx_labelled_doc *out, simidx_error *err)
{
	sx_fresh_span span = sx_header_fresh(&s->header);
	sx_fresh_rows rows = { 0 };
	sx_fresh_row last;
	int rc = sx_fresh_by_label(&s->index->fresh, s->txn, &span, sx_hash(label, size), &rows, err);

	if (!rc)
		rc = SIMIDX_E_NOT_FOUND;
	for (size_t i = rows.n; rc == SIMIDX_E_NOT_FOUND && i--;) {
		rc = sx_fresh_by_id(&s->index->fresh, s->txn, &span, rows.at[i].id, &last, err);
		if (!rc)
			rc = as_pending(known, &last, out);
		if (!rc && (out->label.size != size || memcmp(out->label.data, label, size) != 0))
			rc = SIMIDX_E_NOT_FOUND;
	}
	free(rows.at);
	return rc;
}

int sx_documents_engine_by_label(const sx_snapshot *s, sx_known *known, const void *label,
				 size_t size, sx_labelled_doc *out, simidx_error *err)
{
	simidx_engine_bytes bytes = { label, size };
	sx_fresh_span span = sx_header_fresh(&s->header);
	const sx_known_label *l;
	sx_fresh_row row;
	int rc;

	if (!size || size > SIMIDX_MAX_LABEL)
		return SIMIDX_E_NOT_FOUND;
	rc = by_label_in_rows(s, known, label, size, out, err);
	if (rc != SIMIDX_E_NOT_FOUND)
		return rc;
	rc = sx_known_look_up(known, s->index->engine, s->index->unknown_fp2, NULL, 0, &bytes, 1, err);
	if (rc)
		return rc;
	l = sx_known_find_label(known, label, size);
	if (l->id == SIMIDX_NO_ID)
		return SIMIDX_E_NOT_FOUND;
	/* What a pending row is about is told by that, and has another label now, or none. */
	rc = sx_fresh_by_id(&s->index->fresh, s->txn, &span, l->id, &row, err);
	if (rc != SIMIDX_E_NOT_FOUND)
		return rc ? rc : SIMIDX_E_NOT_FOUND;
	return sx_documents_engine_by_id(s, known, l->id, out, err);
}
