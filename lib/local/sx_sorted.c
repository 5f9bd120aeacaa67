/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "local/sx_sorted.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_err.h"
#include "util/sx_sort.h"

#define PROBES 512     /* that are looked up together, but for those of the last query */
#define AHEAD 16       /* probes that are prefetched */
#define MAX_DOCS 64    /* of a fingerprint that are read beforehand */
#define SORT_BITS 22   /* leading bits that items are sorted by */
#define FIRST_SLICES 4 /* of a fingerprint's documents, before more is wanted of it */
/* More of either would take more memory than they save time. */
#define MAX_HITS 16      /* of a query on average, and as many documents */
#define SPARE_HITS 65536 /* hits, and documents, besides */

void sx_sorted_free(sx_sorted *s)
{
	free(s->query);
	free(s->probe);
	sx_probes_free(&s->of_0);
	free(s->item);
	free(s->spare);
	sx_probes_free(&s->probes);
	free(s->range);
	free(s->member);
	free(s->hit);
	free(s->grouped);
	free(s->doc);
}

void sx_sorted_clear(sx_sorted *s)
{
	s->cover = NULL;
	s->n = s->n_probes = s->n_hits = s->n_docs = 0;
}

int sx_sorted_add(sx_sorted *s, const sx_sorted_query *query, const sx_probes *probes)
{
	size_t n = probes ? probes->n : 0;

	/* One more, for the end of the hits of the last one. */
	if (sx_reserve(&s->query, &s->query_cap, s->n + 2, sizeof(*s->query)) ||
	    sx_reserve(&s->probe, &s->probe_cap, s->n_probes + n, sizeof(*s->probe)))
		return -1;
	s->query[s->n] = *query;
	s->query[s->n].first = (uint32_t)s->n_probes;
	for (size_t i = 0; i < n; i++)
		s->probe[s->n_probes++] = (sx_sorted_probe){ probes->at[i], (uint32_t)s->n };
	s->n++;
	return 0;
}

static size_t max_hits(const sx_sorted *s)
{
	return MAX_HITS * s->n + SPARE_HITS;
}

static sx_local_search *search_of(const simidx_reader *r)
{
	return r->search;
}

/* ---- order ---- */

/* An item by the leading bits of a key of `bits` bits, 16 or more. */
static uint64_t item_of(uint64_t key, unsigned bits, size_t number)
{
	return (key << (64 - bits) & ~(uint64_t)UINT32_MAX) | number;
}

/* Make room for n items. */
static int begin_items(sx_sorted *s, size_t n)
{
	s->n_items = 0;
	return sx_reserve(&s->item, &s->item_cap, n, sizeof(*s->item)) ||
	       sx_reserve(&s->spare, &s->spare_cap, n, sizeof(*s->spare));
}

/* Sort the items by this many leading bits. */
static int sort_items(sx_sorted *s, unsigned bits)
{
	uint64_t *sorted = sx_sort_records(s->item, s->spare, s->n_items, 1, 1, 64 - bits);

	if (sorted == s->spare) {
		size_t cap = s->item_cap;

		s->spare = s->item;
		s->item = sorted;
		s->item_cap = s->spare_cap;
		s->spare_cap = cap;
	}
	return sorted ? 0 : -1;
}

static uint32_t number_of(const sx_sorted *s, size_t item)
{
	return (uint32_t)s->item[item];
}

/* Look up a range for these members, or for this hit. */
static int push_range(sx_sorted *s, const sx_probe *probe, size_t from, size_t to)
{
	if (sx_probes_reserve(&s->probes, 1) ||
	    sx_reserve(&s->range, &s->range_cap, s->probes.n + 1, sizeof(*s->range)))
		return -1;
	s->range[s->probes.n] = (struct sx_sorted_range){ (uint32_t)from, (uint32_t)to };
	s->probes.at[s->probes.n++] = *probe;
	return 0;
}

/* These queries lie anywhere, and the visitor needs them soon. */
static int push_member(sx_sorted *s, uint32_t query, int rest)
{
	if (sx_reserve(&s->member, &s->member_cap, s->n_members + 1, sizeof(*s->member)))
		return -1;
	s->member[s->n_members++] = (sx_sorted_member){ query, rest };
	sx_prefetch(&s->query[query]);
	return 0;
}

/* ---- looking up ---- */

/* What a visitor needs. */
struct visiting {
	sx_sorted *s;
	simidx_reader *r;
	const sx_lookup_task *task;
	uint32_t probe; /* of the slice before */
};

/* Of a cover one table reports a match. By patterns each may that has it. */
static int is_hit(const sx_sorted *s, const sx_sorted_query *q, unsigned table, uint64_t fp)
{
	return s->cover ? sx_cover_is_first(s->cover, table, fp ^ q->fp)
			: sx_query_weigh(fp ^ q->fp, q->weights) <= q->radius;
}

/* SIMIDX_E_NOMEM also where there are more hits than are kept: the caller searches singly then. */
static int visit_table(void *ctx, const sx_block_slice *slice, enum sx_next *next,
		       simidx_error *err)
{
	struct visiting *v = ctx;
	sx_sorted *s = v->s;
	sx_lookup *l = &search_of(v->r)->near;
	sx_probe *probe = &s->probes.at[slice->probe];
	const sx_perm *perm = &sx_reader_index(v->r)->schema->plan.table[probe->table];
	const struct sx_sorted_range *range = &s->range[slice->probe];
	size_t n = slice->to > slice->from ? (size_t)(slice->to - slice->from) : 0;

	(void)next;
	(void)err;
	for (uint32_t i = range->from; i < range->to; i++) {
		const sx_sorted_member *m = &s->member[i];
		sx_sorted_query *q = &s->query[m->query];
		uint64_t key = sx_permute(perm, q->fp);
		size_t near;

		if (!s->cover)
			probe->rest = m->rest;
		near = n ? sx_lookup_near(l, v->task, slice, n, key, q->max_bits) : 0;
		q->blocks++;
		q->candidates += (uint32_t)n;
		for (size_t h = 0; h < near; h++) {
			uint64_t fp = sx_unpermute(perm, l->keys[h]);

			if (!is_hit(s, q, probe->table, fp))
				continue;
			if (s->n_hits >= max_hits(s) ||
			    sx_reserve(&s->hit, &s->hit_cap, s->n_hits + 1, sizeof(*s->hit)))
				return SIMIDX_E_NOMEM;
			s->hit[s->n_hits++] =
				(sx_local_found){ fp, m->query, 0, SX_LOCAL_NOT_READ };
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

static int run_tables(sx_sorted *s, simidx_reader *r)
{
	return run(s, r, &search_of(r)->near, 0, SX_LOOKUP_SLICES, visit_table);
}

/* ---- queries with one cover: those that agree in the probed bits have the same ranges ---- */

/* Take the items [from, to), unless their ranges are so full that another cover might be better. */
static int take_alike(sx_sorted *s, const sx_block_index *blocks, unsigned bits, size_t from,
		      size_t to)
{
	/* Below the probed bits there is the number instead of the key, which does not count. */
	uint64_t candidates = 0, key = s->item[from] >> (64 - bits);
	size_t had = s->probes.n, first = s->n_members;

	for (size_t p = 0; p < s->of_0.n; p++) {
		sx_probe probe = sx_probe_of(&s->of_0.at[p], key);

		candidates += sx_block_index_count_if_large(blocks, probe.low, probe.high);
		if (push_range(s, &probe, first, first + (to - from)))
			return -1;
	}
	if (!sx_cover_needs_replan(s->cover, candidates)) {
		for (size_t i = from; i < to; i++)
			if (push_member(s, number_of(s, i), 0))
				return -1;
		return 0;
	}
	s->probes.n = had;
	for (size_t i = from; i < to; i++)
		s->query[number_of(s, i)].n = 0;
	return 0;
}

static int search_table(sx_sorted *s, simidx_reader *r, const sx_probed *probed)
{
	const sx_plan *plan = &sx_reader_index(r)->schema->plan;
	const sx_block_index *blocks = r->view.table[probed->table].blocks;
	unsigned below = 64 - probed->bits; /* items that agree from this bit on are alike */
	sx_cover one = *s->cover;

	one.n = 1;
	one.probed[0] = *probed;
	s->of_0.n = 0;
	if (sx_cover_probes(plan, &one, 0, s->query[0].max_bits, &s->of_0) || begin_items(s, s->n))
		return -1;
	for (size_t i = 0; i < s->n; i++)
		if (s->query[i].n)
			s->item[s->n_items++] =
				item_of(sx_permute(&plan->table[probed->table], s->query[i].fp),
					plan->bits, i);
	if (sort_items(s, probed->bits < SORT_BITS ? probed->bits : SORT_BITS))
		return -1;
	for (size_t i = 0, end; i < s->n_items;) {
		s->probes.n = s->n_members = 0;
		for (; i < s->n_items && s->probes.n < PROBES; i = end) {
			for (end = i + 1; end < s->n_items; end++)
				if (s->item[end] >> below != s->item[i] >> below)
					break;
			if (take_alike(s, blocks, plan->bits, i, end))
				return -1;
		}
		if (run_tables(s, r))
			return -1;
	}
	return 0;
}

static int search_by_cover(sx_sorted *s, simidx_reader *r)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < s->cover->n; i++)
		rc = search_table(s, r, &s->cover->probed[i]);
	return rc;
}

/* ---- queries with probes of their own ---- */

/* Take a probe: its range is most often that of the probe before, or a new one. */
static int take_probe(sx_sorted *s, const sx_sorted_probe *p)
{
	const sx_probe *last = s->probes.n ? &s->probes.at[s->probes.n - 1] : NULL;
	int is_new = !last || p->probe.low != last->low || p->probe.high != last->high ||
		     p->probe.table != last->table;

	if (push_member(s, p->query, p->probe.rest) ||
	    (is_new && push_range(s, &p->probe, s->n_members - 1, s->n_members)))
		return -1;
	s->range[s->probes.n - 1].to = (uint32_t)s->n_members;
	return 0;
}

/* The table is above the leading bits of the key. */
static int sort_probes(sx_sorted *s, const sx_plan *plan)
{
	unsigned table_bits = 1;

	while (1U << table_bits < plan->n_tables)
		table_bits++;
	if (begin_items(s, s->n_probes))
		return -1;
	for (; s->n_items < s->n_probes; s->n_items++) {
		const sx_probe *p = &s->probe[s->n_items].probe;
		uint64_t key = p->low << (64 - plan->bits) >> table_bits;

		s->item[s->n_items] = item_of((uint64_t)p->table << (64 - table_bits) | key, 64,
					      s->n_items);
	}
	return sort_items(s, SORT_BITS);
}

static int search_by_probes(sx_sorted *s, simidx_reader *r)
{
	if (sort_probes(s, &sx_reader_index(r)->schema->plan))
		return -1;
	for (size_t i = 0; i < s->n_items;) {
		s->probes.n = s->n_members = 0;
		for (; i < s->n_items && s->probes.n < PROBES; i++) {
			if (i + AHEAD < s->n_items)
				sx_prefetch(&s->probe[number_of(s, i + AHEAD)]);
			if (take_probe(s, &s->probe[number_of(s, i)]))
				return -1;
		}
		if (run_tables(s, r))
			return -1;
	}
	return 0;
}

/* ---- hits ---- */

static int compare_by_fp(const void *a, const void *b)
{
	const sx_local_found *x = a, *y = b;

	return x->fp < y->fp ? -1 : x->fp > y->fp;
}

/* Bring the hits into the order of the queries. */
static int group_hits(sx_sorted *s)
{
	uint32_t sum = 0;

	if (sx_reserve(&s->grouped, &s->grouped_cap, s->n_hits, sizeof(*s->grouped)))
		return -1;
	for (size_t i = 0; i <= s->n; i++)
		s->query[i].hits = 0;
	for (size_t h = 0; h < s->n_hits; h++)
		s->query[s->hit[h].query].hits++;
	for (size_t i = 0; i <= s->n; i++) {
		sum += s->query[i].hits;
		s->query[i].hits = sum;
	}
	/* Each end becomes a start. */
	for (size_t h = s->n_hits; h-- > 0;)
		s->grouped[--s->query[s->hit[h].query].hits] = s->hit[h];
	for (size_t i = 0; i < s->n; i++) {
		size_t from = s->query[i].hits, n = s->query[i + 1].hits - from;

		if (n > 1)
			qsort(s->grouped + from, n, sizeof(*s->grouped), compare_by_fp);
	}
	return 0;
}

int sx_sorted_near(sx_sorted *s, simidx_reader *r)
{
	if (!s->n)
		return 0;
	return (s->cover ? search_by_cover(s, r) : search_by_probes(s, r)) || group_hits(s) ? -1
											     : 0;
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
	sx_local_found *hit = &s->grouped[s->range[slice->probe].from];
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

int sx_sorted_documents(sx_sorted *s, simidx_reader *r)
{
	unsigned bits = sx_reader_index(r)->schema->bits;
	size_t n = s->n ? s->query[s->n].hits : 0;

	if (!n || !r->view.table[SX_VIEW_POSTINGS].blocks)
		return 0;
	if (begin_items(s, n))
		return -1;
	for (; s->n_items < n; s->n_items++)
		s->item[s->n_items] = item_of(s->grouped[s->n_items].fp, bits, s->n_items);
	if (sort_items(s, bits < SORT_BITS ? bits : SORT_BITS))
		return -1;
	for (size_t i = 0; i < n;) {
		s->probes.n = 0;
		for (; i < n && s->probes.n < PROBES; i++) {
			uint32_t h = number_of(s, i);
			uint64_t fp = s->grouped[h].fp;
			sx_probe probe = { .low = fp, .high = fp, .table = SX_VIEW_POSTINGS };

			if (push_range(s, &probe, h, h + 1))
				return -1;
		}
		if (run(s, r, &search_of(r)->documents, 1, FIRST_SLICES, visit_postings))
			return -1;
	}
	return 0;
}
