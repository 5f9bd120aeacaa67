/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "remote/sx_remote_walk.h"

#include <stdlib.h>

#include "util/sx_alloc.h"
#include "util/sx_arena.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"

#define PAGE 2048 /* documents that are asked for at once */

struct walk {
	const simidx *index;
	simidx_match page[PAGE]; /* read, but for those that were handed out */
	size_t n, at;
	uint64_t from;           /* the first id of the next page */
	int is_last;             /* there is no page after this one */
	sx_arena labels;         /* of the page */
	int rc;                  /* what ended a call from within */
};

static int open_walk(const simidx *index, void **out, simidx_error *err)
{
	struct walk *w = sx_calloc(1, sizeof(*w));

	if (!w)
		return sx_fail_nomem(err);
	w->index = index;
	*out = w;
	return SIMIDX_OK;
}

static void close_walk(void *walk)
{
	struct walk *w = walk;

	sx_arena_free(&w->labels);
	free(w);
}

static enum simidx_engine_next on_document(void *ctx, size_t i, const simidx_match *m)
{
	struct walk *w = ctx;
	simidx_match *to = &w->page[w->n];

	(void)i;
	w->rc = SIMIDX_E_IO;
	if (w->n == PAGE || m->id < w->from || m->id > SIMIDX_MAX_ID ||
	    m->fp & ~sx_low_bits(w->index->schema->bits))
		return SIMIDX_ENGINE_END;
	*to = (simidx_match){ .id = m->id, .fp = m->fp };
	if (w->index->schema->has_fp2 && m->flags & SIMIDX_MATCH_FP2) {
		to->fp2 = m->fp2;
		to->flags |= SIMIDX_MATCH_FP2;
	}
	if (w->index->schema->has_times && m->flags & SIMIDX_MATCH_TIME && m->time) {
		to->time = m->time;
		to->flags |= SIMIDX_MATCH_TIME;
	}
	if (m->flags & SIMIDX_MATCH_LABEL) {
		to->label = sx_arena_copy(&w->labels, m->label, m->label_size);
		to->label_size = m->label_size;
		to->flags |= SIMIDX_MATCH_LABEL;
		w->rc = SIMIDX_E_NOMEM;
		if (!to->label)
			return SIMIDX_ENGINE_END;
	}
	w->from = m->id + 1;
	w->n++;
	w->rc = SIMIDX_OK;
	return SIMIDX_ENGINE_ON;
}

static int read_page(struct walk *w, simidx_error *err)
{
	int rc;

	w->n = w->at = 0;
	w->rc = SIMIDX_OK;
	sx_arena_clear(&w->labels);
	rc = sx_engine_walk_page(w->index->engine, w->from, PAGE, on_document, w, NULL, err);
	if (w->rc) {
		sx_err_clear(err);
		return w->rc == SIMIDX_E_NOMEM
			       ? sx_fail_nomem(err)
			       : sx_fail(err, SIMIDX_E_IO,
					 "%s: it sent something else than it was asked for",
					 w->index->engine->uri);
	}
	w->is_last = w->n < PAGE;
	return rc;
}

static int next(void *walk, simidx_match *out, simidx_error *err)
{
	struct walk *w = walk;
	int rc;

	if (w->at == w->n && !w->is_last) {
		rc = read_page(w, err);
		if (rc)
			return rc;
	}
	if (w->at == w->n)
		return SIMIDX_E_END;
	*out = w->page[w->at++];
	return SIMIDX_OK;
}

const sx_backend_walk sx_remote_walks = { open_walk, next, NULL, close_walk };
