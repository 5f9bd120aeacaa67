/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Versions of the prefixes of an index of the engine in memory, and which changes of a batch
 * rest on older ones. An index has them if its URI ends in "?conditions".
 */

#include "engine/memory_store.h"

#include <stdlib.h>
#include <string.h>

/* ---- versions ---- */

static uint64_t hash(unsigned table, uint32_t prefix)
{
	return ((uint64_t)table << 32 | prefix) * UINT64_C(0x9e3779b97f4a7c15) >> 20;
}

/* Where a prefix is, or where it would be. */
static struct version *slot(const struct store *s, unsigned table, uint32_t prefix)
{
	size_t at = (size_t)hash(table, prefix) & (s->version_slots - 1);

	while (s->version[at].version &&
	       (s->version[at].table != table || s->version[at].prefix != prefix))
		at = (at + 1) & (s->version_slots - 1);
	return &s->version[at];
}

uint64_t memory_version(const struct store *s, unsigned table, uint32_t prefix)
{
	if (table == SIMIDX_ENGINE_WHOLE)
		return s->n_stored;
	return s->version_slots ? slot(s, table, prefix)->version : 0;
}

/* Have them in twice as many slots. */
static void grow(struct store *s)
{
	struct version *old = s->version;
	size_t n = s->version_slots;

	s->version_slots = n ? 2 * n : 1024;
	s->version = memory_grown(NULL, s->version_slots, sizeof(*s->version));
	memset(s->version, 0, s->version_slots * sizeof(*s->version));
	for (size_t i = 0; i < n; i++)
		if (old[i].version)
			*slot(s, old[i].table, old[i].prefix) = old[i];
	free(old);
}

static void raise_all(struct store *s, const simidx_engine_version *v)
{
	for (unsigned t = 0; v && t < s->n_tables; t++) {
		struct version *at;

		if (2 * s->n_versions >= s->version_slots)
			grow(s);
		at = slot(s, t, v->prefix[t]);
		s->n_versions += !at->version;
		*at = (struct version){ t, v->prefix[t], at->version + 1 };
	}
}

void memory_raise(struct store *s, const simidx_engine_change *change)
{
	raise_all(s, change->before);
	raise_all(s, change->after);
	s->n_stored++;
}

/* ---- what is refused ---- */

static int same_label(const char *a, size_t a_size, const char *b, size_t b_size)
{
	return !a == !b && (!a || (a_size == b_size && !memcmp(a, b, a_size)));
}

static int is_there(const struct store *s, const simidx_engine_change *c)
{
	const struct doc *doc = memory_find_doc(s, c->id);
	const simidx_engine_version *v = c->before;

	if (!doc || !v)
		return !doc && !v;
	return doc->fp == v->fp && doc->flags == v->flags &&
	       (!(v->flags & SIMIDX_DOC_FP2) || doc->fp2 == v->fp2) && doc->time == v->time &&
	       same_label(doc->label, doc->label_size, v->label, v->label_size);
}

static int holds(const struct store *s, const simidx_engine_change *c)
{
	for (size_t i = 0; i < c->n_conditions; i++) {
		const simidx_engine_condition *one = &c->condition[i];

		sxt_must(one->table < s->n_tables || one->table == SIMIDX_ENGINE_WHOLE);
		if (memory_version(s, one->table, one->prefix) != one->version)
			return 0;
	}
	return is_there(s, c);
}

/* Whether a change of the batch that is not refused takes its label from a document. */
static int loses_label(const simidx_engine_batch *b, const struct doc *doc)
{
	for (size_t i = 0; i < b->n; i++) {
		const simidx_engine_version *v = b->change[i].after;

		if (b->change[i].id == doc->id)
			return !b->refused[i] && (!v || !same_label(doc->label, doc->label_size,
								    v->label, v->label_size));
	}
	return 0;
}

static int label_is_taken(const struct store *s, const simidx_engine_batch *b,
			  const simidx_engine_change *c)
{
	for (size_t d = 0; c->after && c->after->label && d < s->n_docs; d++)
		if (s->doc[d].label && s->doc[d].id != c->id &&
		    same_label(s->doc[d].label, s->doc[d].label_size, c->after->label,
			       c->after->label_size) &&
		    !loses_label(b, &s->doc[d]))
			return 1;
	return 0;
}

size_t memory_refuse(const struct store *s, const simidx_engine_batch *b)
{
	size_t n = 0, had;

	for (size_t i = 0; i < b->n; i++) {
		sxt_must_eq(b->refused[i], 0);
		b->refused[i] = memory_faults_now.refuses_all || !holds(s, &b->change[i]);
		n += b->refused[i];
	}
	/* A label that is not given up after all may be what another change was to take. */
	do {
		had = n;
		for (size_t i = 0; i < b->n; i++)
			if (!b->refused[i] && label_is_taken(s, b, &b->change[i])) {
				b->refused[i] = 1;
				n++;
			}
	} while (n > had);
	return n;
}
