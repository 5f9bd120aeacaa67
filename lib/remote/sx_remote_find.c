/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "remote/sx_remote_find.h"

#include "remote/sx_doc_cache.h"
#include "remote/sx_remote_near.h"

/*
 * Where look-ups are kept: by the transaction, or by the scratch memory of a reader until the
 * next one.
 */
static sx_doc_cache *cache_of(void *search, const sx_snapshot *s)
{
	sx_remote_search *own = search;

	if (s->doc_cache)
		return s->doc_cache;
	sx_doc_cache_clear(&own->doc_cache);
	return &own->doc_cache;
}

static int take(const sx_doc_cache *cache, uint64_t id, sx_labelled_doc *out)
{
	const sx_cached_doc *k = sx_doc_cache_find(cache, id);

	if (!k || !k->is_there)
		return SIMIDX_E_NOT_FOUND;
	out->doc = (sx_doc){ id, k->fp, k->values };
	out->label = k->label;
	return SIMIDX_OK;
}

static int by_id(void *search, const sx_snapshot *s, uint64_t id, sx_labelled_doc *out,
		      simidx_error *err)
{
	sx_doc_cache *cache = cache_of(search, s);
	int rc = sx_doc_cache_look_up_ids(cache, s->index->engine, s->index->schema->unknown_fp2,
					  &id, 1, err);

	return rc ? rc : take(cache, id, out);
}

static int by_label(void *search, const sx_snapshot *s, const void *label, size_t size,
			 sx_labelled_doc *out, simidx_error *err)
{
	simidx_engine_bytes bytes = { label, size };
	sx_fresh_span span = sx_header_fresh(&s->header);
	sx_doc_cache *cache = cache_of(search, s);
	const sx_cached_label *l;
	sx_fresh_row row;
	int rc = sx_doc_cache_look_up_labels(cache, s->index->engine,
					     s->index->schema->unknown_fp2, &bytes, 1, err);

	if (rc)
		return rc;
	l = sx_doc_cache_find_label(cache, label, size);
	if (l->id == SIMIDX_NO_ID)
		return SIMIDX_E_NOT_FOUND;
	/* What a pending row is about is told by that, and has another label now, or none. */
	rc = sx_fresh_by_id(s->index->fresh, s->txn, &span, l->id, &row, err);
	if (rc != SIMIDX_E_NOT_FOUND)
		return rc ? rc : SIMIDX_E_NOT_FOUND;
	return take(cache, l->id, out);
}

static int label_of(const sx_snapshot *s, uint64_t id, sx_slice *label, simidx_error *err)
{
	sx_fresh_span span = sx_header_fresh(&s->header);
	const sx_cached_doc *k;
	sx_labelled_doc found;
	sx_fresh_row row;
	int rc = sx_fresh_by_id(s->index->fresh, s->txn, &span, id, &row, err);

	*label = (sx_slice){ NULL, 0 };
	if (rc == SIMIDX_E_NOT_FOUND) {
		rc = by_id(NULL, s, id, &found, err);
		if (!rc)
			*label = found.label;
	} else if (!rc && row.op & SX_FRESH_LABEL) {
		k = sx_doc_cache_find(s->doc_cache, id);
		if (k)
			*label = sx_cached_label_now(k);
	}
	return rc || label->size ? rc : SIMIDX_E_NOT_FOUND;
}

const sx_backend_documents sx_remote_find = { by_id, by_label, label_of, NULL };
