/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "remote/sx_doc_cache.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

#define FIRST_SLOTS 64

/* ---- hash tables ---- */

static uint64_t hash_of_doc(const sx_doc_cache *k, uint32_t i)
{
	return sx_hash_u64(k->doc[i].id);
}

static uint64_t hash_of_label(const sx_doc_cache *k, uint32_t i)
{
	return sx_hash(k->label[i].label.data, k->label[i].label.size);
}

static void enter(uint32_t *slot, size_t n_slots, uint64_t hash, uint32_t number)
{
	size_t at = (size_t)hash & (n_slots - 1);

	while (slot[at])
		at = (at + 1) & (n_slots - 1);
	slot[at] = number;
}

/* Make room for one more of n: a table is at most half full. */
static int make_slots(const sx_doc_cache *k, uint32_t **slot, size_t *n_slots, size_t n,
		      uint64_t (*hash)(const sx_doc_cache *k, uint32_t i))
{
	size_t more = *n_slots ? *n_slots * 2 : FIRST_SLOTS;
	uint32_t *grown;

	if (2 * (n + 1) <= *n_slots)
		return 0;
	if (n >= UINT32_MAX / 2)
		return -1;
	grown = sx_calloc(more, sizeof(*grown));
	if (!grown)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		enter(grown, more, hash(k, i), i + 1);
	free(*slot);
	*slot = grown;
	*n_slots = more;
	return 0;
}

/* ---- documents ---- */

static sx_cached_doc *find(const sx_doc_cache *k, uint64_t id)
{
	size_t at = (size_t)sx_hash_u64(id) & (k->doc_slots - 1);

	if (!k->doc_slots)
		return NULL;
	for (; k->doc_slot[at]; at = (at + 1) & (k->doc_slots - 1))
		if (k->doc[k->doc_slot[at] - 1].id == id)
			return &k->doc[k->doc_slot[at] - 1];
	return NULL;
}

sx_cached_doc *sx_doc_cache_find(const sx_doc_cache *k, uint64_t id)
{
	sx_cached_doc *doc = find(k, id);

	return doc && doc->is_known ? doc : NULL;
}

/* One that is not there is added, with nothing but its id. NULL when memory is short. */
static sx_cached_doc *add(sx_doc_cache *k, uint64_t id)
{
	sx_cached_doc *doc = find(k, id);

	if (doc)
		return doc;
	if (make_slots(k, &k->doc_slot, &k->doc_slots, k->n_docs, hash_of_doc) ||
	    sx_reserve(&k->doc, &k->doc_cap, k->n_docs + 1, sizeof(*k->doc)))
		return NULL;
	doc = &k->doc[k->n_docs++];
	*doc = (sx_cached_doc){ .id = id };
	enter(k->doc_slot, k->doc_slots, sx_hash_u64(id), (uint32_t)k->n_docs);
	return doc;
}

int sx_doc_cache_set_label(sx_doc_cache *k, uint64_t id, const void *label, size_t size)
{
	sx_cached_doc *doc = add(k, id);
	void *copy = doc ? sx_arena_copy(&k->bytes, label, size) : NULL;

	if (!copy)
		return -1;
	doc->now = (sx_slice){ copy, size };
	doc->is_known = 1;
	return 0;
}

sx_slice sx_cached_label_now(const sx_cached_doc *doc)
{
	return doc->now.size ? doc->now : doc->label;
}

/* ---- labels ---- */

static sx_cached_label *find_label(const sx_doc_cache *k, const void *label, size_t size)
{
	size_t at = (size_t)sx_hash(label, size) & (k->label_slots - 1);

	if (!k->label_slots)
		return NULL;
	for (; k->label_slot[at]; at = (at + 1) & (k->label_slots - 1)) {
		sx_cached_label *l = &k->label[k->label_slot[at] - 1];

		if (l->label.size == size && !memcmp(l->label.data, label, size))
			return l;
	}
	return NULL;
}

const sx_cached_label *sx_doc_cache_find_label(const sx_doc_cache *k, const void *label,
					       size_t size)
{
	const sx_cached_label *l = find_label(k, label, size);

	return l && l->is_known ? l : NULL;
}

/* A new label is added as one that no document has. NULL when memory is short. */
static sx_cached_label *add_label(sx_doc_cache *k, const simidx_engine_bytes *label)
{
	sx_cached_label *there = find_label(k, label->data, label->size);
	void *copy;

	if (there)
		return there;
	copy = sx_arena_copy(&k->bytes, label->data, label->size);
	if (!copy ||
	    make_slots(k, &k->label_slot, &k->label_slots, k->n_labels, hash_of_label) ||
	    sx_reserve(&k->label, &k->label_cap, k->n_labels + 1, sizeof(*k->label)))
		return NULL;
	k->label[k->n_labels++] =
		(sx_cached_label){ { copy, label->size }, 0, SIMIDX_NO_ID };
	enter(k->label_slot, k->label_slots, sx_hash(copy, label->size), (uint32_t)k->n_labels);
	return &k->label[k->n_labels - 1];
}

/* ---- looking up ---- */

/* What an engine is asked for, and where its answers go. */
struct asking {
	sx_doc_cache *cache;
	uint64_t unknown_fp2;
	const uint64_t *id;               /* by number, or */
	const simidx_engine_bytes *label;
	size_t n;
	int rc;
};

static int take(struct asking *a, const simidx_match *m)
{
	sx_cached_doc *doc = add(a->cache, m->id);
	void *label;

	if (!doc)
		return SIMIDX_E_NOMEM;
	if (doc->is_there)
		return SIMIDX_OK;
	doc->fp = m->fp;
	doc->values = sx_match_values(m, a->unknown_fp2);
	if (m->flags & SIMIDX_MATCH_LABEL) {
		label = sx_arena_copy(&a->cache->bytes, m->label, m->label_size);
		if (!label)
			return SIMIDX_E_NOMEM;
		doc->label = (sx_slice){ label, m->label_size };
	}
	doc->is_there = doc->is_known = 1;
	return SIMIDX_OK;
}

static enum simidx_engine_next next(const struct asking *a)
{
	return a->rc ? SIMIDX_ENGINE_END : SIMIDX_ENGINE_ON;
}

static enum simidx_engine_next on_id(void *ctx, size_t i, const simidx_match *m)
{
	struct asking *a = ctx;

	a->rc = i < a->n && m->id == a->id[i] ? take(a, m) : SIMIDX_E_IO;
	return next(a);
}

static enum simidx_engine_next on_label(void *ctx, size_t i, const simidx_match *m)
{
	struct asking *a = ctx;
	const simidx_engine_bytes *label = a->label + i;
	sx_cached_label *cached;

	a->rc = SIMIDX_E_IO;
	if (i >= a->n || m->id > SIMIDX_MAX_ID || !(m->flags & SIMIDX_MATCH_LABEL) ||
	    m->label_size != label->size || memcmp(m->label, label->data, label->size) != 0)
		return next(a);
	a->rc = take(a, m);
	cached = find_label(a->cache, label->data, label->size);
	if (!a->rc && cached)
		cached->id = m->id;
	return next(a);
}

/* What came of a call that on_id() or on_label() may have ended. */
static int outcome(const struct asking *a, const sx_engine *engine, int rc, simidx_error *err)
{
	if (!a->rc)
		return rc;
	sx_err_clear(err);
	return a->rc == SIMIDX_E_NOMEM
		       ? sx_fail_nomem(err)
		       : sx_fail(err, SIMIDX_E_IO,
				 "%s: it sent another document than it was asked for", engine->uri);
}

int sx_doc_cache_look_up_ids(sx_doc_cache *cache, sx_engine *engine, uint64_t unknown_fp2,
			     const uint64_t *id, size_t n, simidx_error *err)
{
	struct asking a = { .cache = cache, .unknown_fp2 = unknown_fp2 };
	uint64_t *wanted = sx_realloc(NULL, n, sizeof(*wanted));
	int rc = wanted ? SIMIDX_OK : sx_fail_nomem(err);

	for (size_t i = 0; !rc && i < n; i++) {
		if (sx_doc_cache_find(cache, id[i]))
			continue;
		wanted[a.n++] = id[i];
		if (!add(cache, id[i]))
			rc = sx_fail_nomem(err);
	}
	a.id = wanted;
	if (!rc && a.n)
		rc = outcome(&a, engine,
			     sx_engine_find_ids(engine, wanted, a.n, on_id, &a, NULL, err), err);
	for (size_t i = 0; !rc && i < a.n; i++)
		find(cache, wanted[i])->is_known = 1;
	free(wanted);
	return rc;
}

int sx_doc_cache_look_up_labels(sx_doc_cache *cache, sx_engine *engine, uint64_t unknown_fp2,
				const simidx_engine_bytes *label, size_t n, simidx_error *err)
{
	struct asking a = { .cache = cache, .unknown_fp2 = unknown_fp2 };
	simidx_engine_bytes *wanted = sx_realloc(NULL, n, sizeof(*wanted));
	int rc = wanted ? SIMIDX_OK : sx_fail_nomem(err);

	for (size_t i = 0; !rc && i < n; i++) {
		if (sx_doc_cache_find_label(cache, label[i].data, label[i].size))
			continue;
		wanted[a.n++] = label[i];
		if (!add_label(cache, &label[i]))
			rc = sx_fail_nomem(err);
	}
	a.label = wanted;
	if (!rc && a.n)
		rc = outcome(&a, engine,
			     sx_engine_find_labels(engine, wanted, a.n, on_label, &a, err), err);
	for (size_t i = 0; !rc && i < a.n; i++)
		find_label(cache, wanted[i].data, wanted[i].size)->is_known = 1;
	free(wanted);
	return rc;
}

/* ---- the end ---- */

void sx_doc_cache_clear(sx_doc_cache *k)
{
	sx_arena_clear(&k->bytes);
	k->n_docs = k->n_labels = 0;
	if (k->doc_slots)
		memset(k->doc_slot, 0, k->doc_slots * sizeof(*k->doc_slot));
	if (k->label_slots)
		memset(k->label_slot, 0, k->label_slots * sizeof(*k->label_slot));
}

void sx_doc_cache_free(sx_doc_cache *k)
{
	sx_arena_free(&k->bytes);
	free(k->doc);
	free(k->label);
	free(k->doc_slot);
	free(k->label_slot);
	memset(k, 0, sizeof(*k));
}
