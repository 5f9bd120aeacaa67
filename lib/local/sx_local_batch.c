/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "local/sx_local_batch.h"

#include <stdlib.h>
#include <string.h>

#include "local/sx_sorted.h"
#include "search/sx_search.h"
#include "util/sx_err.h"

#define MAX_PROBES 256 /* of a query: with more there is enough to share within it */
#define MOST_PROBES ((size_t)1 << 19) /* that are kept; queries beyond come in the next search */
#define AHEAD 8 /* queries whose documents are prefetched */

/* What is kept of the access of a query besides its probes. */
struct kept {
	sx_patterns_end end;
	int complete_to;
};

struct batch {
	const simidx_query *query;
	sx_cover cover; /* for all of them, where they ask the same */
	sx_sorted sorted;
	struct kept *kept; /* by query, where they do not */
	size_t kept_cap;
};

static void *create(void)
{
	return sx_calloc(1, sizeof(struct batch));
}

static void destroy(void *bulk)
{
	struct batch *b = bulk;

	if (!b)
		return;
	sx_sorted_free(&b->sorted);
	free(b->kept);
	free(b);
}

/* ---- which queries ---- */

/*
 * True if all are the same but for the fingerprint, and ask for nothing but what is answered
 * here. Whole structs are compared, so that a new field cannot be forgotten.
 */
static int ask_the_same(const simidx *index, const simidx_query *queries, size_t n)
{
	simidx_query plain = SIMIDX_QUERY_INIT, q = queries[0];

	plain.radius = q.radius;
	plain.flags = q.flags & (SIMIDX_QUERY_LABELS | SIMIDX_QUERY_TEXT);
	plain.limit = q.limit;
	plain.mode = q.mode == SIMIDX_COUNT ? SIMIDX_COUNT : SIMIDX_ALL;
	plain.max_bits = q.max_bits;
	for (size_t i = 0; i < n; i++) {
		q = queries[i];
		if (q.fp & ~sx_low_bits(index->schema->bits))
			return 0;
		q.fp = q.fp2 = 0; /* that one is not compared with, but tells empty texts */
		if (memcmp(&q, &plain, sizeof(q)))
			return 0;
	}
	return 1;
}

/* Whether a query by patterns wants all that there is: no hit makes it end. */
static int wants_all(const sx_query *q)
{
	return !q->is_empty && !q->asked->max_candidates &&
	       (q->asked->mode == SIMIDX_ALL || q->asked->mode == SIMIDX_COUNT);
}

/* Whether all tables that the reader's access has probes of have block indexes. */
static int has_blocks(const simidx_reader *r)
{
	const sx_probes *probes = &r->access.tables.probes;

	for (size_t i = 0; i < probes->n; i++)
		if (!r->view.table[probes->at[i].table].blocks)
			return 0;
	return 1;
}

/* Check a query that asks the same as others, and choose the cover for all. 0 or -1. */
static int choose_cover(sx_query *like, sx_cover *cover, simidx_reader *r,
			const simidx_query *query)
{
	if (sx_query_init(like, sx_reader_index(r), query, NULL) ||
	    sx_access_make(&r->access, &r->covers, &r->view, like, 0, NULL))
		return -1;
	*cover = r->access.by_sizes ? r->covers.tables.of[like->radius]->cover : *r->access.cover;
	return cover->scan || cover->probes > MAX_PROBES || !has_blocks(r) ? -1 : 0;
}

/* Whether a query is looked up by patterns with others. Its access is the reader's then. */
static int goes_with_others(sx_query *q, simidx_reader *r, const simidx_query *query)
{
	const sx_access *a = &r->access;

	return query->weights && !sx_query_init(q, sx_reader_index(r), query, NULL) &&
	       wants_all(q) && !sx_access_make(&r->access, &r->covers, &r->view, q, 0, NULL) &&
	       !a->cover && !a->tables.end.scan && a->tables.probes.n &&
	       a->tables.probes.n <= MAX_PROBES && has_blocks(r);
}

/* With patterns, of which each query has many, fewer queries share as much. */
static int is_worthwhile(simidx_reader *r, const simidx_query *queries, size_t n)
{
	const simidx *index = sx_reader_index(r);
	size_t from = index->tuning.batch_sorted_from;
	sx_cover cover;
	sx_query q;

	if (index->schema->layout != SIMIDX_LAYOUT_BLOCKS)
		return 0;
	if (goes_with_others(&q, r, queries))
		return n * r->access.tables.probes.n / index->schema->plan.n_tables >= from;
	return n >= from && ask_the_same(index, queries, n) &&
	       !choose_cover(&q, &cover, r, queries);
}

/* ---- searching ---- */

/* Add queries that ask the same. Returns how many. */
static size_t add_alike(struct batch *b, simidx_reader *r, size_t n)
{
	sx_query like;

	if (choose_cover(&like, &b->cover, r, b->query))
		return 0;
	b->sorted.cover = &b->cover;
	for (size_t i = 0; i < n; i++) {
		const sx_sorted_query own = { .fp = b->query[i].fp, .max_bits = like.max_bits,
					      .n = (uint32_t)b->cover.probes };

		if (sx_sorted_add(&b->sorted, &own, NULL))
			return 0;
	}
	return n;
}

/* Add queries with their patterns, but for those that do not go with others. Returns how many. */
static size_t add_by_patterns(struct batch *b, simidx_reader *r, size_t n)
{
	const sx_access_part *part = &r->access.tables;
	size_t i = 0;
	sx_query q;

	if (sx_reserve(&b->kept, &b->kept_cap, n, sizeof(*b->kept)))
		return 0;
	for (; i < n && b->sorted.n_probes < MOST_PROBES; i++) {
		sx_sorted_query own = { .n = 0 };
		int is_added = goes_with_others(&q, r, &b->query[i]);

		if (is_added) {
			own.fp = q.fp;
			own.weights = q.asked->weights;
			own.radius = q.radius;
			own.max_bits = q.max_bits;
			own.n = (uint32_t)part->probes.n;
			b->kept[i] = (struct kept){ part->end, r->access.complete_to };
		}
		if (sx_sorted_add(&b->sorted, &own, is_added ? &part->probes : NULL))
			return 0;
	}
	return i;
}

/* A block that is damaged belongs to the answer of some query: that one is to fail. */
static int search(void *bulk, simidx_reader *r, const simidx_query *queries, size_t n,
		  size_t *together, simidx_error *err)
{
	struct batch *b = bulk;
	sx_sorted *s = &b->sorted;
	size_t added;

	(void)err;
	*together = 0;
	b->query = queries;
	sx_sorted_clear(s);
	added = ask_the_same(sx_reader_index(r), queries, n) ? add_alike(b, r, n)
							       : add_by_patterns(b, r, n);
	if (added && !sx_sorted_near(s, r) && !sx_sorted_documents(s, r))
		*together = added;
	return SIMIDX_OK;
}

/* ---- answers ---- */

/* Documents lie in the order of postings: have the CPU fetch those of query i. */
static void prefetch_documents(const sx_sorted *s, size_t i)
{
	if (i >= s->n)
		return;
	for (size_t h = s->query[i].hits; h < s->query[i + 1].hits; h++)
		if (s->grouped[h].n_docs != SX_LOCAL_NOT_READ)
			sx_prefetch(&s->doc[s->grouped[h].docs]);
}

/* Have the access that query i was looked up by, as far as fresh rows need it. 0 or -1. */
static int take_access(const struct batch *b, sx_access *a, const sx_query *q, size_t i)
{
	const sx_sorted_query *asked = &b->sorted.query[i];
	sx_probes *probes = &a->tables.probes;

	a->cover = b->sorted.cover;
	a->complete_to = (int)q->radius;
	if (a->cover)
		return 0;
	probes->n = 0;
	if (sx_probes_reserve(probes, asked->n))
		return -1;
	for (; probes->n < asked->n; probes->n++)
		probes->at[probes->n] = b->sorted.probe[asked->first + probes->n].probe;
	a->tables.end = b->kept[i].end;
	a->complete_to = b->kept[i].complete_to;
	return 0;
}

static int answer(void *bulk, simidx_reader *r, size_t i, simidx_results *out, simidx_error *err)
{
	struct batch *b = bulk;
	sx_sorted *s = &b->sorted;
	const sx_sorted_query *asked = &s->query[i];
	sx_local_search *l = r->search;
	sx_query q;
	sx_finding f = { .view = &r->view, .q = &q, .access = &r->access, .hits = &r->hits,
			 .out = out };
	int rc = sx_query_init(&q, sx_reader_index(r), &b->query[i], err);

	if (rc)
		return rc;
	prefetch_documents(s, i + AHEAD);
	if (!asked->n || q.is_empty)
		return sx_search(r, &q, out, err);
	if (take_access(b, &r->access, &q, i))
		return sx_fail_nomem(err);
	out->probes = asked->n;
	out->blocks = asked->blocks;
	out->candidates = asked->candidates;
	sx_hits_clear(&r->hits);
	l->n_found = s->query[i + 1].hits - asked->hits;
	l->found = l->n_found ? s->grouped + asked->hits : NULL;
	l->docs = s->doc;
	for (size_t h = 0; !rc && h < l->n_found; h++)
		rc = sx_hits_add(&r->hits, &q, l->found[h].fp, 1, err);
	if (!rc)
		rc = sx_search_found(r, &f, 0, err);
	l->n_found = 0;
	return rc;
}

const sx_backend_bulk sx_local_bulk = { 0, 1, is_worthwhile, create, destroy, search, answer };
