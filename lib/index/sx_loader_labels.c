/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <inttypes.h>
#include <stdio.h>
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

/* A document that shares its label with another one, or its id with such a document. */
struct suspect {
	uint64_t source, key;
	uint64_t id;
	uint64_t label; /* number of the label that is shared, or NO_LABEL */
};

#define NO_LABEL UINT64_MAX

struct suspects {
	simidx_loader *l;
	simidx_error *err;
	struct suspect *at;
	size_t n, cap;
	size_t n_known; /* of these, those with a shared label, sorted */
	uint64_t n_labels;
	/* the documents with one id */
	sx_loader_drop *same;
	size_t n_same, same_cap;
	uint64_t same_id;
};

static int suspect(struct suspects *s, uint64_t source, uint64_t key, uint64_t id, uint64_t label)
{
	if (sx_reserve(&s->at, &s->cap, s->n + 1, sizeof(*s->at)))
		return sx_fail_nomem(s->err);
	s->at[s->n++] = (struct suspect){ source, key, id, label };
	return SIMIDX_OK;
}

/* All holders of one hash: those with equal labels are suspects. */
static int settle_group(struct suspects *s, struct group *g)
{
	int rc = SIMIDX_OK;

	while (!rc && g->n > 1) {
		struct holder first = g->holder[0];
		size_t others = 0, equal = 0;

		for (size_t i = 1; !rc && i < g->n; i++) {
			struct holder here = g->holder[i];
			int same;

			rc = same_label(s->l, &first, &here, &same, s->err);
			if (rc || !same) {
				g->holder[others++] = here;
				continue;
			}
			if (!equal++)
				rc = suspect(s, first.source, first.key, 0, s->n_labels);
			if (!rc)
				rc = suspect(s, here.source, here.key, 0, s->n_labels);
		}
		s->n_labels += equal > 0;
		/* Only other labels with the same hash are left, if anything. */
		g->n = others;
	}
	g->n = 0;
	return rc;
}

/* ---- who has the ids ---- */

static int compare_suspects(const void *a, const void *b)
{
	const struct suspect *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static struct suspect *find_suspect(struct suspects *s, const sx_loader_drop *document)
{
	struct suspect wanted = { document->source, document->key, 0, 0 };

	return bsearch(&wanted, s->at, s->n_known, sizeof(*s->at), compare_suspects);
}

/* The documents with one id are there: if one is suspect, all are. */
static int settle_same(struct suspects *s)
{
	int found = 0, rc = SIMIDX_OK;

	for (size_t i = 0; i < s->n_same; i++)
		found |= find_suspect(s, &s->same[i]) != NULL;
	for (size_t i = 0; !rc && found && i < s->n_same; i++) {
		struct suspect *known = find_suspect(s, &s->same[i]);

		if (known)
			known->id = s->same_id;
		else
			rc = suspect(s, s->same[i].source, s->same[i].key, s->same_id, NO_LABEL);
	}
	s->n_same = 0;
	return rc;
}

static int see_id(void *ctx, uint64_t id, uint64_t source, uint64_t key)
{
	struct suspects *s = ctx;
	int rc = s->n_same && id != s->same_id ? settle_same(s) : SIMIDX_OK;

	if (!rc && sx_reserve(&s->same, &s->same_cap, s->n_same + 1, sizeof(*s->same)))
		rc = sx_fail_nomem(s->err);
	if (rc)
		return rc;
	s->same_id = id;
	s->same[s->n_same++] = (sx_loader_drop){ source, key };
	return SIMIDX_OK;
}

/* ---- one after another ---- */

static int compare_ids(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void drop(struct suspects *s, const struct suspect *which, const char *reason)
{
	simidx_loader *l = s->l;

	l->drop[l->n_drops++] = (sx_loader_drop){ which->source, which->key };
	l->report.duplicates++;
	l->report.left_out += which->source == l->n_sources;
	if (which->source == l->n_sources && l->options.duplicates == SIMIDX_DUPLICATES_REJECT &&
	    l->options.rejected)
		l->options.rejected(l->options.ctx, which->key, reason);
}

/* Who has which id and label by now, as the number of the suspect + 1. */
struct holders {
	const uint64_t *id; /* of all suspects, sorted */
	size_t n;
	size_t *of_id, *of_label; /* by the first place in id[]; by the number of the label */
	size_t no_label;          /* stands for the holder of none */
};

static size_t *id_holder(const struct holders *h, uint64_t id)
{
	size_t from = 0, to = h->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (h->id[middle] < id)
			from = middle + 1;
		else
			to = middle;
	}
	return &h->of_id[from];
}

static size_t *label_holder(struct holders *h, uint64_t label)
{
	h->no_label = 0;
	return label == NO_LABEL ? &h->no_label : &h->of_label[label];
}

/* Another document takes the id or the label of an older one, which loses both. */
static void replace(struct suspects *s, struct holders *h, size_t number)
{
	const struct suspect *old;

	if (!number)
		return;
	old = &s->at[number - 1];
	*id_holder(h, old->id) = 0;
	*label_holder(h, old->label) = 0;
	drop(s, old, NULL);
}

/* Put the suspects one after another, as a writer would. */
static void put_suspects(struct suspects *s, struct holders *h)
{
	int last_stays = s->l->options.duplicates == SIMIDX_DUPLICATES_LAST;
	char reason[64];

	for (size_t i = 0; i < s->n; i++) {
		const struct suspect *here = &s->at[i];
		size_t by_id = *id_holder(h, here->id), by_label = *label_holder(h, here->label);

		if (!last_stays && (by_id || by_label)) {
			snprintf(reason, sizeof(reason), "id %" PRIu64 " is already in use",
				 here->id);
			drop(s, here, by_id ? reason : "the label is already in use");
			continue;
		}
		replace(s, h, by_id);
		if (by_label != by_id)
			replace(s, h, by_label);
		*id_holder(h, here->id) = *label_holder(h, here->label) = i + 1;
	}
}

static int compare_drops(const void *a, const void *b)
{
	const sx_loader_drop *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static int judge(struct suspects *s)
{
	simidx_loader *l = s->l;
	uint64_t *id = sx_realloc(NULL, s->n, sizeof(*id));
	struct holders h = { .id = id,
			     .n = s->n,
			     .of_id = sx_calloc(s->n, sizeof(size_t)),
			     .of_label = sx_calloc(s->n_labels, sizeof(size_t)) };
	int rc = SIMIDX_OK;

	l->drop = sx_calloc(s->n, sizeof(*l->drop));
	if (!id || !h.of_id || !h.of_label || !l->drop) {
		rc = sx_fail_nomem(s->err);
	} else {
		qsort(s->at, s->n, sizeof(*s->at), compare_suspects);
		for (size_t i = 0; i < s->n; i++)
			id[i] = s->at[i].id;
		qsort(id, s->n, sizeof(*id), compare_ids);
		put_suspects(s, &h);
		qsort(l->drop, l->n_drops, sizeof(*l->drop), compare_drops);
	}
	free(id);
	free(h.of_id);
	free(h.of_label);
	return rc;
}

/* The documents whose label another one has. */
static int find_same_labels(struct suspects *s)
{
	simidx_loader *l = s->l;
	const uint64_t *record;
	struct group g = { 0 };
	int rc = sx_sorter_finish(l->label_hashes, l->memory / 8, s->err);

	while (!rc && !(rc = sx_sorter_next(l->label_hashes, &record, s->err))) {
		if (g.n && record[0] != g.hash)
			rc = settle_group(s, &g);
		if (!rc && sx_reserve(&g.holder, &g.cap, g.n + 1, sizeof(*g.holder)))
			rc = sx_fail_nomem(s->err);
		if (rc)
			break;
		g.hash = record[0];
		g.holder[g.n++] = (struct holder){ record[1], record[2], record[3] };
	}
	if (rc == SIMIDX_E_END)
		rc = settle_group(s, &g);
	free(g.holder);
	sx_sorter_free(l->label_hashes);
	l->label_hashes = NULL;
	return rc;
}

/*
 * Whether a document stays can depend on others by its id and by its label, so those for whom
 * it does are put one after another. Documents with one id and no label that is shared are left
 * to sx_loader_write_docs().
 */
int sx_loader_find_drops(simidx_loader *l, simidx_error *err)
{
	struct suspects s = { .l = l, .err = err };
	int rc = SIMIDX_OK;

	if (!l->label_bytes && (!l->n_source_labels || l->n_sources < 2))
		return SIMIDX_OK; /* no label can meet another one */
	for (size_t i = 0; !rc && l->n_source_labels && i < l->n_sources; i++)
		rc = add_source_labels(l, i, err);
	if (!rc)
		rc = find_same_labels(&s);
	if (!rc && s.n) {
		s.n_known = s.n;
		qsort(s.at, s.n, sizeof(*s.at), compare_suspects);
		rc = sx_loader_each_id(l, see_id, &s, err);
		if (!rc)
			rc = settle_same(&s);
		if (!rc)
			rc = judge(&s);
	}
	free(s.at);
	free(s.same);
	return rc;
}

int sx_loader_is_dropped(const simidx_loader *l, uint64_t source, uint64_t key)
{
	sx_loader_drop wanted = { source, key };

	return l->n_drops && bsearch(&wanted, l->drop, l->n_drops, sizeof(*l->drop), compare_drops);
}
