/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "local/sx_local_batch.h"

#include <stdlib.h>
#include <string.h>

#include "local/sx_local_reader.h"
#include "search/sx_search.h"
#include "util/sx_err.h"
#include "util/sx_sort.h"

#define MAX_PROBES 256  /* of a query: with more there is enough to share within it */
#define PROBES 512      /* that are looked up together, but for those of the last query */
#define MAX_DOCS 64     /* of a fingerprint that are read beforehand */
#define SORT_BITS 22    /* leading bits that keys are sorted by */
#define FIRST_SLICES 4  /* of a fingerprint's documents, before more is wanted of it */
#define AHEAD 8         /* queries whose documents are prefetched */
/* More of either would take more memory than they save time. */
#define MAX_HITS 16      /* of a query on average, and as many documents */
#define SPARE_HITS 65536 /* hits, and documents, besides */

/** A query, and what searching the tables took for it. */
struct asked {
	uint64_t fp;
	uint32_t blocks, candidates;
};

#define ALONE UINT32_MAX /* blocks of one whose ranges are too full: it is searched for by itself */

typedef struct sx_sorted {
	const simidx_query *query; /* n of them */
	size_t n;
	sx_query like;     /* the first one */
	sx_cover cover; /* for all of them */
	sx_probes of_0;    /* its probes of fingerprint 0 in the table at hand */
	size_t n_probes;   /* of each query, in all tables */
	struct asked *asked; /* by query */
	size_t asked_cap;
	uint64_t *item,
		*spare; /* queries or hits in the order of a table: 32 leading bits of the key,
	                           and the number */
	size_t n_items, item_cap, spare_cap;
	unsigned probed_from; /* items that agree from this bit on have the same probes */
	sx_probes probes;  /* that are looked up together */
	uint32_t *owner;   /* numbers of their items, the first one of several */
	size_t owner_cap;
	sx_local_found *hit, *grouped; /* as found, and by query */
	size_t n_hits, hit_cap, grouped_cap;
	uint32_t *start;   /* of each query's in `grouped`, and the end */
	size_t start_cap;
	sx_doc *doc;       /* of the hits */
	size_t n_docs, doc_cap;
} sx_sorted;

static void *create(void)
{
	return sx_calloc(1, sizeof(sx_sorted));
}

static void destroy(void *bulk)
{
	sx_sorted *s = bulk;

	if (!s)
		return;
	sx_probes_free(&s->of_0);
	sx_probes_free(&s->probes);
	free(s->asked);
	free(s->item);
	free(s->spare);
	free(s->owner);
	free(s->hit);
	free(s->grouped);
	free(s->start);
	free(s->doc);
	free(s);
}

static sx_local_search *search_of(const simidx_reader *r)
{
	return r->search;
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

/* Check the first query and choose the cover for all. 0 or -1. */
static int choose_cover(sx_query *like, sx_cover *cover, simidx_reader *r,
			const simidx_query *queries)
{
	if (sx_query_init(like, sx_reader_index(r), queries, NULL) ||
	    sx_access_make(&r->access, &r->covers, &r->view, like, 0, NULL))
		return -1;
	*cover = r->access.by_sizes ? r->covers.tables.of[like->radius]->cover : *r->access.cover;
	if (cover->scan || cover->probes > MAX_PROBES)
		return -1;
	for (unsigned i = 0; i < cover->n; i++)
		if (!r->view.table[cover->probed[i].table].blocks)
			return -1;
	return 0;
}

static int is_worthwhile(simidx_reader *r, const simidx_query *queries, size_t n)
{
	const simidx *index = sx_reader_index(r);
	sx_cover cover;
	sx_query like;

	if (n < index->tuning.batch_sorted_from || index->schema->layout != SIMIDX_LAYOUT_BLOCKS ||
	    !ask_the_same(index, queries, n))
		return 0;
	return !choose_cover(&like, &cover, r, queries);
}

/* ---- tables ---- */

static size_t max_hits(const sx_sorted *s)
{
	return MAX_HITS * s->n + SPARE_HITS;
}

/* An item for a key of `bits` bits, 16 or more. */
static uint64_t item_of(uint64_t key, unsigned bits, size_t number)
{
	return (key << (64 - bits) & ~(uint64_t)UINT32_MAX) | number;
}

/* Sort the items by this many leading bits. */
static int sort_items(sx_sorted *s, unsigned bits)
{
	uint64_t *sorted;

	if (sx_reserve(&s->spare, &s->spare_cap, s->n_items, sizeof(*s->spare)))
		return -1;
	sorted = sx_sort_records(s->item, s->spare, s->n_items, 1, 1, 64 - bits);
	if (sorted == s->spare) {
		size_t cap = s->item_cap;

		s->spare = s->item;
		s->item = sorted;
		s->item_cap = s->spare_cap;
		s->spare_cap = cap;
	}
	return sorted ? 0 : -1;
}

static int push_probe(sx_sorted *s, const sx_probe *probe, size_t owner)
{
	if (sx_probes_reserve(&s->probes, 1) ||
	    sx_reserve(&s->owner, &s->owner_cap, s->probes.n + 1, sizeof(*s->owner)))
		return -1;
	s->owner[s->probes.n] = (uint32_t)owner;
	s->probes.at[s->probes.n++] = *probe;
	return 0;
}

/* The end of the items from i on that have the probes of item i. */
static size_t end_of_probes(const sx_sorted *s, size_t i)
{
	uint64_t probed = s->item[i] >> s->probed_from;

	while (i < s->n_items && s->item[i] >> s->probed_from == probed)
		i++;
	return i;
}

/*
 * Add the probes of items [from, to), which are the same, unless their ranges are so full that
 * another cover might be better.
 */
static int add_probes(sx_sorted *s, const sx_block_index *blocks, unsigned bits, size_t from,
		      size_t to)
{
	/* Below the probed bits there is the number instead of the key, which does not count. */
	uint64_t candidates = 0, key = s->item[from] >> (64 - bits);
	size_t had = s->probes.n;
	int needs_replan;

	for (size_t p = 0; p < s->of_0.n; p++) {
		sx_probe probe = sx_probe_of(&s->of_0.at[p], key);

		candidates += sx_block_index_count_if_large(blocks, probe.low, probe.high);
		if (push_probe(s, &probe, from))
			return -1;
	}
	needs_replan = sx_cover_needs_replan(&s->cover, candidates);
	if (needs_replan)
		s->probes.n = had;
	/* These lie anywhere, and the visitor needs them soon. */
	for (size_t i = from; i < to; i++) {
		struct asked *asked = &s->asked[(uint32_t)s->item[i]];

		sx_prefetch(asked);
		if (needs_replan)
			asked->blocks = ALONE;
	}
	return 0;
}

/* What a visitor needs. */
struct visiting {
	sx_sorted *s;
	simidx_reader *r;
	const sx_lookup_task *task;
	uint32_t probe; /* of the slice before */
};

/* SIMIDX_E_NOMEM also where there are more hits than are kept: the caller searches singly then. */
static int visit_table(void *ctx, const sx_block_slice *slice, enum sx_next *next,
		       simidx_error *err)
{
	struct visiting *v = ctx;
	sx_sorted *s = v->s;
	sx_lookup *l = &search_of(v->r)->near;
	unsigned t = v->task->probe[slice->probe].table;
	const sx_perm *perm = &sx_reader_index(v->r)->schema->plan.table[t];
	size_t n = slice->to > slice->from ? (size_t)(slice->to - slice->from) : 0;
	size_t from = s->owner[slice->probe], to = end_of_probes(s, from);

	(void)next;
	(void)err;
	for (size_t i = from; i < to; i++) {
		struct asked *asked = &s->asked[(uint32_t)s->item[i]];
		uint64_t key = sx_permute(perm, asked->fp);
		size_t near = n ? sx_lookup_near(l, v->task, slice, n, key, s->like.max_bits) : 0;

		asked->blocks++;
		asked->candidates += (uint32_t)n;
		for (size_t h = 0; h < near; h++) {
			uint64_t fp = sx_unpermute(perm, l->keys[h]);

			if (!sx_cover_is_first(&s->cover, t, fp ^ asked->fp))
				continue;
			if (s->n_hits >= max_hits(s) ||
			    sx_reserve(&s->hit, &s->hit_cap, s->n_hits + 1, sizeof(*s->hit)))
				return SIMIDX_E_NOMEM;
			s->hit[s->n_hits++] =
				(sx_local_found){ fp, (uint32_t)s->item[i], 0, SX_LOCAL_NOT_READ };
		}
	}
	return SIMIDX_OK;
}

static int run(sx_sorted *s, simidx_reader *r, sx_lookup *l, int exact, size_t first,
	       sx_visit visit)
{
	const sx_snapshot *snapshot = &r->view.snapshot;
	struct visiting v = { s, r, NULL, UINT32_MAX };
	const sx_lookup_task task = { snapshot->txn, r->view.table, s->probes.at, s->probes.n,
				      exact, first, visit, &v };

	v.task = &task;
	return sx_lookup_run(l, &task, NULL);
}

static int search_table(sx_sorted *s, simidx_reader *r, unsigned number)
{
	unsigned t = s->cover.probed[number].table;
	const sx_plan *plan = &sx_reader_index(r)->schema->plan;
	unsigned probed = s->cover.probed[number].bits;
	sx_cover one = s->cover;

	one.n = 1;
	one.probed[0] = s->cover.probed[number];
	s->of_0.n = s->n_items = 0;
	if (sx_cover_probes(plan, &one, 0, s->like.max_bits, &s->of_0) ||
	    sx_reserve(&s->item, &s->item_cap, s->n, sizeof(*s->item)))
		return -1;
	s->n_probes += s->of_0.n;
	for (size_t i = 0; i < s->n; i++)
		if (s->asked[i].blocks != ALONE)
			s->item[s->n_items++] = item_of(
				sx_permute(&plan->table[t], s->asked[i].fp), plan->bits, i);
	s->probed_from = 64 - probed;
	if (sort_items(s, probed < SORT_BITS ? probed : SORT_BITS))
		return -1;
	for (size_t i = 0, end; i < s->n_items;) {
		s->probes.n = 0;
		for (; i < s->n_items && s->probes.n < PROBES; i = end) {
			end = end_of_probes(s, i);
			if (add_probes(s, r->view.table[t].blocks, plan->bits, i, end))
				return -1;
		}
		if (run(s, r, &search_of(r)->near, 0, SX_LOOKUP_SLICES, visit_table))
			return -1;
	}
	return 0;
}

static int search_tables(sx_sorted *s, simidx_reader *r)
{
	s->n_hits = s->n_probes = 0;
	if (sx_reserve(&s->asked, &s->asked_cap, s->n, sizeof(*s->asked)))
		return -1;
	for (size_t i = 0; i < s->n; i++)
		s->asked[i] = (struct asked){ s->query[i].fp, 0, 0 };
	for (unsigned i = 0; i < s->cover.n; i++)
		if (search_table(s, r, i))
			return -1;
	return 0;
}

/* ---- postings ---- */

/* Read the documents of a hit, unless they are too many. */
static int visit_postings(void *ctx, const sx_block_slice *slice, enum sx_next *next,
			  simidx_error *err)
{
	struct visiting *v = ctx;
	sx_sorted *s = v->s;
	sx_local_search *l = search_of(v->r);
	sx_value_arrays values;
	sx_local_found *hit = &s->hit[(uint32_t)s->item[s->owner[slice->probe]]];
	size_t n = slice->to > slice->from ? (size_t)(slice->to - slice->from) : 0;

	if (!n)
		return SIMIDX_OK;
	if (slice->probe != v->probe) {
		hit->docs = (uint32_t)s->n_docs;
		hit->n_docs = 0;
	}
	v->probe = slice->probe;
	if (hit->n_docs + n > MAX_DOCS || s->n_docs + n > max_hits(s)) {
		s->n_docs = hit->docs;
		hit->n_docs = SX_LOCAL_NOT_READ;
		*next = SX_NEXT_PROBE;
		return SIMIDX_OK;
	}
	if (sx_postings_decode(&l->documents, v->task, slice, n, &l->rows, err))
		return SIMIDX_E_CORRUPT;
	if (sx_reserve(&s->doc, &s->doc_cap, s->n_docs + n, sizeof(*s->doc)))
		return SIMIDX_E_NOMEM;
	hit->n_docs += (uint32_t)n;
	values = sx_value_arrays_in(&sx_reader_index(v->r)->schema->columns, &l->rows,
				    SX_POSTINGS_COLUMNS);
	for (size_t i = 0; i < n; i++)
		s->doc[s->n_docs++] = (sx_doc){ l->rows.col[SX_POSTINGS_ID][i], hit->fp,
						sx_value_arrays_at(&values, i) };
	return SIMIDX_OK;
}

static int read_postings(sx_sorted *s, simidx_reader *r)
{
	unsigned bits = sx_reader_index(r)->schema->bits;

	s->n_docs = 0;
	if (!s->n_hits || !r->view.table[SX_VIEW_POSTINGS].blocks)
		return 0;
	if (sx_reserve(&s->item, &s->item_cap, s->n_hits, sizeof(*s->item)))
		return -1;
	for (size_t h = 0; h < s->n_hits; h++)
		s->item[h] = item_of(s->hit[h].fp, bits, h);
	s->n_items = s->n_hits;
	if (sort_items(s, bits < SORT_BITS ? bits : SORT_BITS))
		return -1;
	for (size_t i = 0; i < s->n_hits;) {
		s->probes.n = 0;
		for (; i < s->n_hits && s->probes.n < PROBES; i++) {
			uint64_t fp = s->hit[(uint32_t)s->item[i]].fp;
			sx_probe probe = { .low = fp, .high = fp, .table = SX_VIEW_POSTINGS };

			if (push_probe(s, &probe, i))
				return -1;
		}
		if (run(s, r, &search_of(r)->documents, 1, FIRST_SLICES, visit_postings))
			return -1;
	}
	return 0;
}

/* ---- answers ---- */

/* Bring the hits into the order of the queries. */
static int group_hits(sx_sorted *s)
{
	uint32_t sum = 0;

	if (sx_reserve(&s->start, &s->start_cap, s->n + 1, sizeof(*s->start)) ||
	    sx_reserve(&s->grouped, &s->grouped_cap, s->n_hits, sizeof(*s->grouped)))
		return -1;
	memset(s->start, 0, (s->n + 1) * sizeof(*s->start));
	for (size_t h = 0; h < s->n_hits; h++)
		s->start[s->hit[h].query]++;
	for (size_t i = 0; i <= s->n; i++) {
		sum += s->start[i];
		s->start[i] = sum;
	}
	/* Each end becomes a start. */
	for (size_t h = s->n_hits; h-- > 0;)
		s->grouped[--s->start[s->hit[h].query]] = s->hit[h];
	return 0;
}

/* A block that is damaged belongs to the answer of some query: that one is to fail. */
static int search(void *bulk, simidx_reader *r, const simidx_query *queries, size_t n,
		  int *together, simidx_error *err)
{
	sx_sorted *s = bulk;

	(void)err;
	s->query = queries;
	s->n = n;
	*together = !choose_cover(&s->like, &s->cover, r, queries) && !search_tables(s, r) &&
		    !read_postings(s, r) && !group_hits(s);
	return SIMIDX_OK;
}

/* Documents lie in the order of postings: have the CPU fetch those of query i. */
static void prefetch_documents(const sx_sorted *s, size_t i)
{
	if (i >= s->n)
		return;
	for (size_t h = s->start[i]; h < s->start[i + 1]; h++)
		if (s->grouped[h].n_docs != SX_LOCAL_NOT_READ)
			sx_prefetch(&s->doc[s->grouped[h].docs]);
}

static int compare_by_fp(const void *a, const void *b)
{
	const sx_local_found *x = a, *y = b;

	return x->fp < y->fp ? -1 : x->fp > y->fp;
}

static int answer(void *bulk, simidx_reader *r, size_t i, simidx_results *out, simidx_error *err)
{
	sx_sorted *s = bulk;
	const struct asked *asked = &s->asked[i];
	sx_local_search *l = search_of(r);
	sx_query q;
	sx_finding f = { .view = &r->view, .q = &q, .access = &r->access, .hits = &r->hits,
			 .out = out };
	int rc = sx_query_init(&q, sx_reader_index(r), &s->query[i], err);

	if (rc)
		return rc;
	prefetch_documents(s, i + AHEAD);
	if (asked->blocks == ALONE || q.is_empty)
		return sx_search(r, &q, out, err);
	out->probes = s->n_probes;
	out->blocks = asked->blocks;
	out->candidates = asked->candidates;
	sx_hits_clear(&r->hits);
	for (size_t h = s->start[i]; !rc && h < s->start[i + 1]; h++)
		rc = sx_hits_add(&r->hits, &q, s->grouped[h].fp, 1, err);
	l->n_found = s->start[i + 1] - s->start[i];
	l->found = s->grouped + s->start[i];
	l->docs = s->doc;
	if (l->n_found > 1)
		qsort(s->grouped + s->start[i], l->n_found, sizeof(*s->grouped), compare_by_fp);
	if (!rc)
		rc = sx_search_found(r, &f, 0, err);
	l->n_found = 0;
	return rc;
}

const sx_backend_bulk sx_local_bulk = { 0, 1, is_worthwhile, create, destroy, search, answer };
