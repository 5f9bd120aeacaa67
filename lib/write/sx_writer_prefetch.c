/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Looking up what changes will ask for, all of it at once: with an engine each look-up by itself
 * would be a wait for an answer.
 */

#include <stdlib.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"
#include "write/sx_writer.h"

/* Documents as far apart as the first one's size says. NULL: one of them is of a bad size. */
static const simidx_doc *document(const simidx_doc *docs, size_t i, simidx_doc *own)
{
	const void *at = (const char *)docs + i * docs->size;

	if (sx_struct_size(at) != docs->size)
		return NULL;
	return sx_struct_read(at, SX_STRUCT_TO(simidx_doc, fp), own, sizeof(*own));
}

/* Sort documents into ids and labels to look up, and those that get a new id. */
static int look_up(simidx_writer *w, const simidx_doc *docs, size_t n, uint64_t *id,
		   simidx_engine_bytes *label, simidx_error *err)
{
	size_t n_ids = 0, n_labels = 0;
	uint64_t n_new = 0;

	for (size_t i = 0; i < n; i++) {
		simidx_doc own;
		const simidx_doc *doc = document(docs, i, &own);

		if (!doc)
			return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_prefetch: bad struct size");
		n_new += doc->id == SIMIDX_NO_ID;
		/* Ids above all others need no look-up. */
		if (doc->id < w->snapshot.header.next_id && doc->id <= SIMIDX_MAX_ID)
			id[n_ids++] = doc->id;
		if (doc->label && doc->label_size && doc->label_size <= SIMIDX_MAX_LABEL)
			label[n_labels++] = (simidx_engine_bytes){ doc->label, doc->label_size };
	}
	w->engine->hint = n_new;
	return sx_known_look_up(&w->engine->known, w->index->engine, w->index->unknown_fp2, id, n_ids,
				label, n_labels, err);
}

int simidx_writer_prefetch(simidx_writer *w, const simidx_doc *docs, size_t n, simidx_error *err)
{
	simidx_engine_bytes *label;
	uint64_t *id;
	int rc;

	sx_err_clear(err);
	if (!w || (!docs && n) ||
	    (n && (docs->size < SX_STRUCT_TO(simidx_doc, fp) || docs->size > SX_STRUCT_MAX)))
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_writer_prefetch: no writer or docs, or bad struct size");
	if (!w->engine || !n)
		return sx_index_check_fork(w->index, err);
	rc = sx_writer_begin(w, err);
	if (rc)
		return rc;
	id = sx_realloc(NULL, n, sizeof(*id));
	label = sx_realloc(NULL, n, sizeof(*label));
	rc = id && label ? look_up(w, docs, n, id, label, err) : sx_fail_nomem(err);
	free(id);
	free(label);
	return rc;
}
