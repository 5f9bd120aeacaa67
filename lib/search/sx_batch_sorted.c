/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "search/sx_batch_sorted.h"

#include <stdlib.h>
#include <string.h>

#include "search/sx_search.h"
#include "util/sx_err.h"
#include "util/sx_sort.h"

#define MAX_PROBES 256  /* of a query: with more there is enough to share within it */
#define PROBES 2048     /* that are looked up together, but for those of the last query */
#define MANY_BLOCKS 64  /* of one range: worth a closer look */
#define MAX_DOCS 64     /* of a fingerprint that are read beforehand */
#define SORT_BITS 22    /* leading bits that keys are sorted by */
#define FIRST_SLICES 4  /* of a fingerprint's documents, before more is wanted of it */
#define MAX_HITS 16     /* of a query on average, and of documents too, */
#define SPARE_HITS 65536 /* and these besides: more take more memory than they save time */

/** A fingerprint that a query has found. */
struct found {
	uint64_t fp;
	uint32_t query;
	uint32_t docs, n_docs; /* as in sx_hit */
};

/** What searching the tables took for one query. */
struct counters {
	uint32_t probes, blocks, candidates;
	int is_alone; /* its ranges are too full: it is searched for by itself */
};

struct sx_sorted {
	const simidx_query *query; /* n of them */
	size_t n;
	sx_query like;     /* the first one */
	sx_cover cover; /* for all of them */
	sx_probes of_0;    /* its probes of fingerprint 0 in the table at hand */
	uint64_t *fp;      /* by query: close together */
	size_t fp_cap;
	struct counters *counters; /* by query */
	size_t counters_cap;
	sx_sort_item *item, *spare; /* queries or hits, sorted by key */
	size_t item_cap, spare_cap;
	sx_probes probes;  /* that are looked up together */
	uint32_t *owner;   /* numbers of their items */
	size_t owner_cap;
	struct found *hit, *grouped; /* as found, and by query */
	size_t n_hits, hit_cap, grouped_cap;
	uint32_t *start;   /* of each query's in `grouped`, and the end */
	size_t start_cap;
	sx_doc *doc;       /* of the hits */
	size_t n_docs, doc_cap;
};

sx_sorted *sx_sorted_new(void)
{
	return sx_calloc(1, sizeof(sx_sorted));
}

void sx_sorted_free(sx_sorted *s)
{
	if (!s)
		return;
	sx_probes_free(&s->of_0);
	sx_probes_free(&s->probes);
	free(s->fp);
	free(s->counters);
	free(s->item);
	free(s->spare);
	free(s->owner);
	free(s->hit);
	free(s->grouped);
	free(s->start);
	free(s->doc);
	free(s);
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
		if (q.fp & ~sx_low_bits(index->bits))
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
	    sx_access_make(&r->access, &r->view, like, NULL))
		return -1;
	*cover = r->access.by_sizes ? r->access.even.of[like->radius]->cover : *r->access.cover;
	if (cover->scan || cover->probes > MAX_PROBES)
		return -1;
	for (unsigned i = 0; i < cover->n; i++)
		if (!r->view.table[cover->part[i].table].blocks)
			return -1;
	return 0;
}

int sx_sorted_is_worthwhile(simidx_reader *r, const simidx_query *queries, size_t n)
{
	const simidx *index = sx_reader_index(r);
	sx_cover cover;
	sx_query like;

	if (n < index->batch_sorted_from || index->layout != SIMIDX_LAYOUT_BLOCKS ||
	    !ask_the_same(index, queries, n))
		return 0;
	return !choose_cover(&like, &cover, r, queries);
}

/* ---- tables ---- */

static size_t max_hits(const sx_sorted *s)
{
	return MAX_HITS * s->n + SPARE_HITS;
}

/* Sort the first n items by the leading bits of their keys, which have `bits` bits. */
static int sort_items(sx_sorted *s, size_t n, unsigned bits)
{
	unsigned shift = bits > SORT_BITS ? bits - SORT_BITS : 0;
	sx_sort_item *sorted;

	if (sx_reserve(&s->spare, &s->spare_cap, n, sizeof(*s->spare)))
		return -1;
	sorted = sx_sort_items(s->item, s->spare, n, shift);
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

/* Add the probes of an item, unless their ranges are so full that another cover might be better. */
static int add_probes(sx_sorted *s, const sx_block_index *blocks, size_t i)
{
	struct counters *counters = &s->counters[s->item[i].value];
	size_t had = s->probes.n;
	uint64_t candidates = 0;

	for (size_t p = 0; p < s->of_0.n; p++) {
		sx_probe probe = sx_probe_of(&s->of_0.at[p], s->item[i].key);

		if (sx_block_index_blocks(blocks, probe.low, probe.high) > MANY_BLOCKS)
			candidates += sx_block_index_count(blocks, probe.low, probe.high);
		if (push_probe(s, &probe, i))
			return -1;
	}
	counters->probes += (uint32_t)s->of_0.n;
	if (sx_cover_is_poor(&s->cover, candidates)) {
		counters->is_alone = 1;
		s->probes.n = had;
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
	sx_lookup *l = &v->r->hits.lookup;
	unsigned t = v->task->probe[slice->probe].table;
	const sx_perm *perm = &sx_reader_index(v->r)->plan.table[t];
	const sx_sort_item *item = &s->item[s->owner[slice->probe]];
	struct counters *counters = &s->counters[item->value];
	size_t n = slice->to > slice->from ? (size_t)(slice->to - slice->from) : 0;
	size_t near = n ? sx_lookup_near(l, v->task, slice, n, item->key, s->like.max_bits) : 0;

	(void)next;
	(void)err;
	counters->blocks++;
	counters->candidates += (uint32_t)n;
	for (size_t i = 0; i < near; i++) {
		/* Permuting commutes with XOR. */
		if (!sx_cover_is_first(&s->cover, t, sx_unpermute(perm, l->keys[i] ^ item->key)))
			continue;
		if (s->n_hits >= max_hits(s) ||
		    sx_reserve(&s->hit, &s->hit_cap, s->n_hits + 1, sizeof(*s->hit)))
			return SIMIDX_E_NOMEM;
		s->hit[s->n_hits++] = (struct found){ sx_unpermute(perm, l->keys[i]), (uint32_t)item->value,
						      0, SX_NOT_READ };
	}
	return SIMIDX_OK;
}

static int run(sx_sorted *s, simidx_reader *r, sx_lookup *l, int exact, size_t first,
	       sx_visit visit)
{
	struct visiting v = { s, r, NULL, UINT32_MAX };
	const sx_lookup_task task = { r->view.snapshot.txn, r->view.table, s->probes.at, s->probes.n,
				      exact, first, visit, &v };

	v.task = &task;
	return sx_lookup_run(l, &task, NULL);
}

static int search_table(sx_sorted *s, simidx_reader *r, unsigned part)
{
	unsigned t = s->cover.part[part].table;
	const sx_plan *plan = &sx_reader_index(r)->plan;
	sx_cover one = s->cover;
	size_t n = 0;

	one.n = 1;
	one.part[0] = s->cover.part[part];
	s->of_0.n = 0;
	if (sx_cover_probes(plan, &one, 0, s->like.max_bits, &s->of_0) ||
	    sx_reserve(&s->item, &s->item_cap, s->n, sizeof(*s->item)))
		return -1;
	for (size_t i = 0; i < s->n; i++)
		if (!s->counters[i].is_alone)
			s->item[n++] = (sx_sort_item){ sx_permute(&plan->table[t], s->fp[i]),
						       i };
	if (sort_items(s, n, plan->bits))
		return -1;
	for (size_t i = 0; i < n;) {
		s->probes.n = 0;
		while (i < n && s->probes.n < PROBES)
			if (add_probes(s, r->view.table[t].blocks, i++))
				return -1;
		if (run(s, r, &r->hits.lookup, 0, SX_LOOKUP_SLICES, visit_table))
			return -1;
	}
	return 0;
}

static int search_tables(sx_sorted *s, simidx_reader *r)
{
	s->n_hits = 0;
	if (sx_reserve(&s->counters, &s->counters_cap, s->n, sizeof(*s->counters)) ||
	    sx_reserve(&s->fp, &s->fp_cap, s->n, sizeof(*s->fp)))
		return -1;
	memset(s->counters, 0, s->n * sizeof(*s->counters));
	for (size_t i = 0; i < s->n; i++)
		s->fp[i] = s->query[i].fp;
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
	sx_matches *m = &v->r->matches;
	struct found *hit = &s->hit[s->item[s->owner[slice->probe]].value];
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
		hit->n_docs = SX_NOT_READ;
		*next = SX_NEXT_PROBE;
		return SIMIDX_OK;
	}
	if (sx_postings_decode(&m->lookup, v->task, slice, n, &m->rows, err))
		return SIMIDX_E_CORRUPT;
	if (sx_reserve(&s->doc, &s->doc_cap, s->n_docs + n, sizeof(*s->doc)))
		return SIMIDX_E_NOMEM;
	hit->n_docs += (uint32_t)n;
	for (size_t i = 0; i < n; i++)
		s->doc[s->n_docs++] = (sx_doc){ m->rows.col[0][i], hit->fp,
						m->rows.n_cols > 1 ? m->rows.col[1][i] : 0 };
	return SIMIDX_OK;
}

static int read_postings(sx_sorted *s, simidx_reader *r)
{
	s->n_docs = 0;
	if (!sx_has_ids(sx_reader_index(r)) || !s->n_hits ||
	    !r->view.table[SX_VIEW_POSTINGS].blocks)
		return 0;
	if (sx_reserve(&s->item, &s->item_cap, s->n_hits, sizeof(*s->item)))
		return -1;
	for (size_t h = 0; h < s->n_hits; h++)
		s->item[h] = (sx_sort_item){ s->hit[h].fp, h };
	if (sort_items(s, s->n_hits, sx_reader_index(r)->bits))
		return -1;
	for (size_t i = 0; i < s->n_hits;) {
		s->probes.n = 0;
		for (; i < s->n_hits && s->probes.n < PROBES; i++) {
			sx_probe probe = { .low = s->item[i].key, .high = s->item[i].key,
					   .table = SX_VIEW_POSTINGS };

			if (push_probe(s, &probe, i))
				return -1;
		}
		if (run(s, r, &r->matches.lookup, 1, FIRST_SLICES, visit_postings))
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

int sx_sorted_search(sx_sorted *s, simidx_reader *r, const simidx_query *queries, size_t n)
{
	s->query = queries;
	s->n = n;
	/* A block that is damaged belongs to the answer of some query: that one is to fail. */
	return choose_cover(&s->like, &s->cover, r, queries) || search_tables(s, r) ||
			       read_postings(s, r) || group_hits(s)
		       ? -1
		       : 0;
}

int sx_sorted_answer(sx_sorted *s, simidx_reader *r, size_t i, simidx_results *out,
		     simidx_error *err)
{
	const struct counters *counters = &s->counters[i];
	sx_query q;
	int rc = sx_query_init(&q, sx_reader_index(r), &s->query[i], err);

	*out = (simidx_results)SIMIDX_RESULTS_INIT;
	if (rc)
		return rc;
	if (counters->is_alone || q.is_empty)
		return sx_search(r, &q, out, err);
	out->probes = counters->probes;
	out->blocks = counters->blocks;
	out->candidates = counters->candidates;
	r->hits.n = 0;
	for (size_t h = s->start[i]; !rc && h < s->start[i + 1]; h++) {
		rc = sx_hits_add(&r->hits, &q, s->grouped[h].fp, 1, err);
		if (rc)
			return rc;
		r->hits.at[r->hits.n - 1].docs = s->grouped[h].docs;
		r->hits.at[r->hits.n - 1].n_docs = s->grouped[h].n_docs;
	}
	return sx_search_found(r, &q, s->doc, out, err);
}
