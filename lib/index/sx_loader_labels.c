/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdlib.h>
#include <string.h>

#include "index/sx_loader.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

/* A document with a label, in a group of those whose labels have the same hash. */
struct holder {
	uint64_t source, key, at;
};

struct group {
	struct holder *holder;
	size_t n, cap;
	uint64_t hash;
};

int sx_loader_label(simidx_loader *l, uint64_t at, unsigned char **label, size_t *cap,
		    size_t *size, simidx_error *err)
{
	unsigned char length[8];
	int rc = sx_spill_read(l->label_bytes, at, length, sizeof(length), err);

	if (rc)
		return rc;
	*size = (size_t)sx_load_le64(length);
	if (sx_reserve(label, cap, *size, 1))
		return sx_fail_nomem(err);
	return sx_spill_read(l->label_bytes, at + sizeof(length), *label, *size, err);
}

/* Labels of the indexes that are taken over meet the new ones by their hashes. */
static int add_source_labels(simidx_loader *l, size_t i, simidx_error *err)
{
	simidx_match doc;
	int rc;

	while (!(rc = simidx_walk_next(l->source[i], &doc, err))) {
		uint64_t record[4] = { 0, i, doc.id, 0 };

		if (!doc.label)
			continue;
		record[0] = sx_hash(doc.label, doc.label_size);
		rc = sx_sorter_add(l->label_hashes, record, err);
		if (rc)
			return rc;
	}
	if (rc != SIMIDX_E_END)
		return rc;
	sx_err_clear(err);
	return sx_walk_rewind(l->source[i], err);
}

/* The label of one holder, copied. */
static int get_label(simidx_loader *l, const struct holder *h, unsigned char **label,
		     size_t *cap, size_t *size, simidx_error *err)
{
	sx_slice stored;
	int rc;

	if (h->source == l->n_sources)
		return sx_loader_label(l, h->at, label, cap, size, err);
	rc = sx_walk_label(l->source[h->source], h->key, &stored, err);
	if (rc)
		return rc;
	if (sx_reserve(label, cap, stored.size, 1))
		return sx_fail_nomem(err);
	memcpy(*label, stored.data, stored.size);
	*size = stored.size;
	return SIMIDX_OK;
}

static int same_label(simidx_loader *l, const struct holder *a, const struct holder *b, int *same,
		      simidx_error *err)
{
	unsigned char *x = NULL, *y = NULL;
	size_t x_cap = 0, y_cap = 0, x_size = 0, y_size = 0;
	int rc = get_label(l, a, &x, &x_cap, &x_size, err);

	if (!rc)
		rc = get_label(l, b, &y, &y_cap, &y_size, err);
	*same = !rc && x_size == y_size && !memcmp(x, y, x_size);
	free(x);
	free(y);
	return rc;
}

static int drop(simidx_loader *l, const struct holder *h, simidx_error *err)
{
	if (sx_reserve(&l->drop, &l->drops_cap, l->n_drops + 1, sizeof(*l->drop)))
		return sx_fail_nomem(err);
	l->drop[l->n_drops].source = h->source;
	l->drop[l->n_drops++].key = h->key;
	l->report.duplicates++;
	if (h->source == l->n_sources && l->options.duplicates == SIMIDX_DUPLICATES_REJECT &&
	    l->options.rejected)
		l->options.rejected(l->options.ctx, h->key, "the label is already in use");
	return SIMIDX_OK;
}

/* Of those with one label, the first or the last stays. They are in their order here. */
static int settle_group(simidx_loader *l, struct group *g, simidx_error *err)
{
	int keep_last = l->options.duplicates == SIMIDX_DUPLICATES_LAST;
	int rc = SIMIDX_OK;

	while (!rc && g->n > 1) {
		struct holder kept = g->holder[0];
		size_t others = 0;

		for (size_t i = 1; !rc && i < g->n; i++) {
			struct holder here = g->holder[i];
			int same;

			rc = same_label(l, &kept, &here, &same, err);
			if (rc)
				return rc;
			if (!same) {
				g->holder[others++] = here;
				continue;
			}
			rc = drop(l, keep_last ? &kept : &here, err);
			if (keep_last)
				kept = here;
		}
		/* Only another label with the same hash is left, if anything. */
		g->n = others;
	}
	g->n = 0;
	return rc;
}

static int compare_drops(const void *a, const void *b)
{
	const sx_loader_drop *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

int sx_loader_find_drops(simidx_loader *l, simidx_error *err)
{
	const uint64_t *record;
	struct group g = { 0 };
	int rc = SIMIDX_OK;

	if (!l->label_bytes && (!l->n_source_labels || l->n_sources < 2))
		return SIMIDX_OK; /* no label can meet another one */
	for (size_t i = 0; !rc && l->n_source_labels && i < l->n_sources; i++)
		rc = add_source_labels(l, i, err);
	if (!rc)
		rc = sx_sorter_finish(l->label_hashes, l->memory / 8, err);
	while (!rc && !(rc = sx_sorter_next(l->label_hashes, &record, err))) {
		if (g.n && record[0] != g.hash)
			rc = settle_group(l, &g, err);
		if (!rc && sx_reserve(&g.holder, &g.cap, g.n + 1, sizeof(*g.holder)))
			rc = sx_fail_nomem(err);
		if (rc)
			break;
		g.hash = record[0];
		g.holder[g.n++] = (struct holder){ record[1], record[2], record[3] };
	}
	if (rc == SIMIDX_E_END)
		rc = settle_group(l, &g, err);
	free(g.holder);
	sx_sorter_free(l->label_hashes);
	l->label_hashes = NULL;
	if (!rc && l->n_drops)
		qsort(l->drop, l->n_drops, sizeof(*l->drop), compare_drops);
	return rc;
}

int sx_loader_is_dropped(const simidx_loader *l, uint64_t source, uint64_t key)
{
	sx_loader_drop wanted = { source, key };

	return l->n_drops && bsearch(&wanted, l->drop, l->n_drops, sizeof(*l->drop), compare_drops);
}
