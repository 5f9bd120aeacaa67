/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "remote/sx_remote_older.h"

#include <stdlib.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

#define AT_ONCE 1000 /* documents that one transaction deletes */
#define PAGE 4096    /* documents that a walk asks for at once */

/* Ids of documents that are old. */
struct found {
	sx_older *older;
	uint64_t *id;
	size_t n;
	size_t met; /* documents of the page of a walk */
	int is_odd; /* the engine has sent what it was not asked for */
};

static enum simidx_engine_next on_document(void *ctx, size_t i, const simidx_match *m)
{
	struct found *f = ctx;

	(void)i;
	f->is_odd = f->met == PAGE || m->id < f->older->id || m->id > SIMIDX_MAX_ID;
	if (f->is_odd)
		return SIMIDX_ENGINE_END;
	f->met++;
	f->older->id = m->id + 1;
	if (m->flags & SIMIDX_MATCH_TIME && m->time && m->time < f->older->time)
		f->id[f->n++] = m->id;
	return SIMIDX_ENGINE_ON;
}

/* The next page of all documents. */
static int walk(sx_engine *engine, struct found *f, simidx_error *err)
{
	int rc = sx_engine_walk_page(engine, f->older->id, PAGE, on_document, f, NULL, err);

	f->older->seen += f->met;
	f->older->has_ended = f->met < PAGE;
	return f->is_odd ? sx_fail(err, SIMIDX_E_IO, "%s: it sent something else than it was asked "
				   "for", engine->uri) : rc;
}

/* The next ones, those that were deleted being gone. */
static int ask(sx_engine *engine, struct found *f, simidx_error *err)
{
	int rc = sx_engine_older(engine, f->older->time, AT_ONCE, f->id, &f->n, err);

	f->older->seen += f->n;
	f->older->has_ended = f->n < AT_ONCE;
	return rc;
}

/* Those that are there and old by what their record says. */
static int look_up(simidx_writer *w, sx_doc_cache *cache, const struct found *f, simidx_error *err)
{
	sx_older *older = f->older;
	int rc = sx_doc_cache_look_up_ids(cache, w->index->engine, w->index->schema->unknown_fp2,
					  f->id, f->n, err);

	if (!rc && sx_reserve(&older->doc, &older->cap, f->n + 1, sizeof(*older->doc)))
		return sx_fail_nomem(err);
	for (size_t i = 0; !rc && i < f->n; i++) {
		const sx_cached_doc *doc = sx_doc_cache_find(cache, f->id[i]);
		uint32_t time = doc && doc->is_there ? sx_documents_time(&doc->values) : 0;

		if (time && time < older->time)
			older->doc[older->n++] = (sx_doc){ doc->id, doc->fp, doc->values };
	}
	return rc;
}

int sx_remote_older(simidx_writer *w, sx_doc_cache *cache, sx_older *older, simidx_error *err)
{
	sx_engine *engine = w->index->engine;
	struct found f = { .older = older };
	int rc;

	older->n = 0;
	if (!older->is_begun)
		older->total = w->snapshot.header.documents;
	older->is_begun = 1;
	f.id = sx_realloc(NULL, PAGE, sizeof(*f.id));
	if (!f.id)
		return sx_fail_nomem(err);
	rc = engine->calls->older ? ask(engine, &f, err) : walk(engine, &f, err);
	if (!rc)
		rc = look_up(w, cache, &f, err);
	/* Others may have been quicker. */
	older->is_stale = f.n && !older->n && !older->has_ended && engine->calls->older;
	free(f.id);
	return rc;
}
