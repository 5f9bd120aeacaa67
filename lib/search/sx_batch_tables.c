/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The queries of a slice, table by table in the order of the table: neighbours lie in the same
 * blocks, which are then in the CPU's caches (sort-merge join). Then their hits in the order of
 * postings.
 */

#include <string.h>

#include "block/sx_block_search.h"
#include "search/sx_batch.h"

#define DIGIT 11         /* bits of a pass of the sort, of which there are two */
#define MANY_BLOCKS 64   /* of one range: worth a closer look */
#define MOST_KNOWN 64    /* documents of a fingerprint that are read beforehand */
#define FIRST_PIECES 2   /* in which so many are, nearly always */
#define MOST_HITS 16     /* of a query, on average, and of documents too; more are no use to */
#define SPARE_HITS 65536 /* gather, as delivering them takes longer than finding them */

static size_t most_hits(const sx_sorted *s)
{
	return MOST_HITS * s->n + SPARE_HITS;
}

/* ---- sorting ---- */

static void sort_pass(const sx_item *from, sx_item *to, size_t n, unsigned shift,
		      uint32_t *count)
{
	const uint64_t mask = (1u << DIGIT) - 1;
	uint32_t sum = 0;

	memset(count, 0, sizeof(*count) << DIGIT);
	for (size_t i = 0; i < n; i++)
		count[from[i].key >> shift & mask]++;
	for (size_t i = 0; i <= mask; i++) {
		uint32_t here = count[i];

		count[i] = sum;
		sum += here;
	}
	for (size_t i = 0; i < n; i++)
		to[count[from[i].key >> shift & mask]++] = from[i];
}

int sx_sorted_sort(sx_sorted *s, size_t n, unsigned bits)
{
	unsigned shift = bits > 2 * DIGIT ? bits - 2 * DIGIT : 0;
	uint32_t count[1 << DIGIT];

	if (sx_reserve(&s->spare, &s->spare_cap, n, sizeof(*s->spare)))
		return -1;
	sort_pass(s->item, s->spare, n, shift, count);
	sort_pass(s->spare, s->item, n, shift + DIGIT, count);
	return 0;
}

/* The queries that are not alone, by their permuted values; returns how many, or SIZE_MAX. */
static size_t sort_queries(sx_sorted *s, const sx_perm *perm)
{
	size_t n = 0;

	if (sx_reserve(&s->item, &s->item_cap, s->n, sizeof(*s->item)))
		return SIZE_MAX;
	for (size_t i = 0; i < s->n; i++) {
		if (s->tally[i].alone)
			continue;
		s->item[n].key = sx_permute(perm, s->fp[i]);
		s->item[n++].number = (uint32_t)i;
	}
	memset(s->taken, 0, n * sizeof(*s->taken));
	return sx_sorted_sort(s, n, perm->bits) ? SIZE_MAX : n;
}

/* Only here do the tallies of the queries enter, which lie all over the place. */
static void add_taken(sx_sorted *s, size_t n_items)
{
	for (size_t i = 0; i < n_items; i++) {
		const sx_tally *taken = &s->taken[i];
		sx_tally *tally = &s->tally[s->item[i].number];

		tally->probes += taken->probes;
		tally->blocks += taken->blocks;
		tally->candidates += taken->candidates;
		tally->alone |= taken->alone;
	}
}

/* ---- ranges ---- */

/* No fewer than the blocks of a range, from the offsets alone. */
static size_t about_blocks(const sx_block_index *d, uint64_t low, uint64_t high)
{
	if (!d->n || low > d->max)
		return 0;
	if (high > d->max)
		high = d->max;
	return d->slot[(high >> d->shift) + 1].first - d->slot[low >> d->shift].first + 1;
}

static int push_range(sx_sorted *s, size_t n, const sx_block_index *d, uint64_t low,
		      uint64_t high, size_t owner)
{
	if (sx_reserve(&s->range, &s->range_cap, n + 1, sizeof(*s->range)) ||
	    sx_reserve(&s->owner, &s->owner_cap, n + 1, sizeof(*s->owner)))
		return -1;
	s->range[n].blocks = d;
	s->range[n].low = low;
	s->range[n].high = high;
	s->owner[n] = (uint32_t)owner;
	return 0;
}

/* Probes of fingerprint 0 in one table. */
static int make_probes(sx_sorted *s, const sx_plan *plan, unsigned t)
{
	sx_cover one;

	sx_cover_init(&one, s->cover.radius, s->cover.ignore);
	for (unsigned i = 0; i < s->cover.n; i++)
		if (s->cover.part[i].table == t)
			sx_cover_add(plan, &one, &s->cover.part[i]);
	s->of_0.n = 0;
	return sx_cover_probes(plan, &one, 0, 64, &s->of_0);
}

/*
 * Add the ranges of an item to the *n there are, unless they are so large that the planner
 * might know a better way for this query.
 */
static int add_ranges(sx_sorted *s, simidx_reader *r, unsigned t, size_t i, size_t *n)
{
	const sx_block_index *d = r->blocks[t];
	sx_tally *taken = &s->taken[i];
	uint64_t large = 0;
	size_t had = *n;

	for (size_t p = 0; p < s->of_0.n; p++) {
		sx_probe probe = sx_probe_of(&s->of_0.at[p], s->item[i].key);

		if (about_blocks(d, probe.low, probe.high) > MANY_BLOCKS)
			large += sx_block_index_count(d, probe.low, probe.high);
		if (push_range(s, (*n)++, d, probe.low, probe.high, i))
			return -1;
	}
	taken->probes = (uint32_t)s->of_0.n;
	if (sx_cover_is_poor(&s->cover, large)) {
		taken->alone = 1;
		*n = had;
	}
	return 0;
}

/* ---- pieces ---- */

static int push_hit(sx_sorted *s, uint64_t fp, uint32_t query)
{
	sx_catch *hit;

	if (s->n_hits >= most_hits(s) ||
	    sx_reserve(&s->hit, &s->hit_cap, s->n_hits + 1, sizeof(*s->hit)))
		return -1;
	hit = &s->hit[s->n_hits++];
	hit->fp = fp;
	hit->query = query;
	hit->known = 0;
	hit->n_known = SX_UNKNOWN;
	return 0;
}

static int filter_piece(sx_sorted *s, simidx_reader *r, unsigned t, const sx_piece *piece)
{
	uint32_t owner = s->owner[piece->range];
	const sx_item *item = &s->item[owner];
	const sx_table *table = &r->index->tables.permuted[t];
	sx_tally *taken = &s->taken[owner];
	uint64_t *key = r->found.keys.at;
	size_t n;

	taken->blocks++;
	if (piece->to <= piece->from)
		return 0;
	taken->candidates += (uint32_t)(piece->to - piece->from);
	n = sx_lookup_near(&r->lookup, piece, r->index->kernel, (size_t)(piece->to - piece->from),
			   item->key, s->like.most_bits, key, r->found.entry);
	for (size_t i = 0; i < n; i++) {
		/* Permuting commutes with XOR. */
		uint64_t differ = sx_unpermute(table->perm, key[i] ^ item->key);

		if (sx_cover_is_first(&s->cover, t, differ) &&
		    push_hit(s, sx_unpermute(table->perm, key[i]), item->number))
			return -1;
	}
	return 0;
}

static int search_ranges(sx_sorted *s, simidx_reader *r, unsigned t, size_t n)
{
	sx_lookup *l = &r->lookup;

	sx_lookup_begin(l, s->range, n, SX_LOOKUP_PIECES);
	for (sx_lookup_find(l); l->n; sx_lookup_find(l)) {
		r->searches++;
		sx_collect_pages(r, l);
		if (sx_lookup_locate(l, r->index->kernel, NULL))
			return -1;
		for (size_t i = 0; i < l->n; i++)
			if (filter_piece(s, r, t, &l->piece[i]))
				return -1;
	}
	return 0;
}

static int search_table(sx_sorted *s, simidx_reader *r, unsigned t)
{
	const sx_perm *perm = &r->index->plan.table[t];
	size_t n_items = sort_queries(s, perm), i = 0;

	if (n_items == SIZE_MAX || make_probes(s, &r->index->plan, t))
		return -1;
	while (i < n_items) {
		size_t n = 0;

		while (i < n_items && n < SX_SORTED_RANGES)
			if (add_ranges(s, r, t, i++, &n))
				return -1;
		if (search_ranges(s, r, t, n))
			return -1;
	}
	add_taken(s, n_items);
	return 0;
}

int sx_sorted_search(sx_sorted *s, simidx_reader *r)
{
	sx_u64s *keys = &r->found.keys;

	s->n_hits = 0;
	if (sx_reserve(&s->tally, &s->tally_cap, s->n, sizeof(*s->tally)) ||
	    sx_reserve(&s->taken, &s->taken_cap, s->n, sizeof(*s->taken)) ||
	    sx_reserve(&s->fp, &s->fp_cap, s->n, sizeof(*s->fp)) ||
	    sx_reserve(&keys->at, &keys->cap, SX_MAX_BLOCK_ROWS, sizeof(*keys->at)))
		return -1;
	memset(s->tally, 0, s->n * sizeof(*s->tally));
	for (size_t i = 0; i < s->n; i++)
		s->fp[i] = s->query[i].fp;
	for (unsigned i = 0; i < s->cover.n; i++)
		if (search_table(s, r, s->cover.part[i].table))
			return -1;
	return 0;
}

/* ---- postings ---- */

/* Which hit is being read. */
struct reading {
	uint32_t range;
	int given_up; /* it has too many documents */
};

static int read_piece(sx_sorted *s, simidx_reader *r, const sx_piece *piece, struct reading *g)
{
	const sx_table *table = &r->index->tables.postings;
	sx_catch *hit = &s->hit[s->item[s->owner[piece->range]].number];
	size_t n = (size_t)(piece->to - piece->from);
	sx_rows *rows = &r->rows;
	sx_block block;

	if (piece->range != g->range)
		g->given_up = 0;
	g->range = piece->range;
	if (piece->to <= piece->from || g->given_up)
		return 0;
	if (hit->n_known == SX_UNKNOWN) {
		hit->known = (uint32_t)s->n_docs;
		hit->n_known = 0;
	}
	if (hit->n_known + n > MOST_KNOWN || s->n_docs + n > most_hits(s)) {
		s->n_docs = hit->known;
		hit->n_known = SX_UNKNOWN;
		g->given_up = 1;
		return 0;
	}
	rows->n = 0;
	if (sx_block_open(&block, piece->value, table->block_size, table->n_cols) ||
	    sx_rows_reserve(rows, n) || sx_block_decode(&block, piece->from, n, rows))
		return -1;
	if (sx_reserve(&s->doc, &s->doc_cap, s->n_docs + n, sizeof(*s->doc)))
		return -1;
	hit->n_known += (uint32_t)n;
	for (size_t i = 0; i < n; i++)
		s->doc[s->n_docs++] = (sx_doc){ rows->col[0][i], hit->fp,
						table->n_cols > 1 ? rows->col[1][i] : 0 };
	return 0;
}

static int read_ranges(sx_sorted *s, simidx_reader *r, size_t n)
{
	struct reading g = { UINT32_MAX, 0 };
	sx_lookup *l = &r->posting_lookup;

	sx_lookup_begin(l, s->range, n, FIRST_PIECES);
	for (sx_lookup_find(l); l->n; sx_lookup_find(l)) {
		r->searches++;
		sx_collect_pages(r, l);
		if (sx_lookup_locate_exactly(l, r->index->kernel, NULL))
			return -1;
		for (size_t i = 0; i < l->n; i++)
			if (read_piece(s, r, &l->piece[i], &g))
				return -1;
		if (g.given_up)
			sx_lookup_leave(l);
	}
	return 0;
}

int sx_sorted_read(sx_sorted *s, simidx_reader *r)
{
	const sx_block_index *d;
	size_t i = 0;

	s->n_docs = 0;
	d = s->n_hits ? sx_shelf_get(&r->snapshot, SX_SHELF_POSTINGS, s->n_hits,
				     &r->held[SX_SHELF_POSTINGS])
		      : NULL;
	if (!d)
		return 0;
	if (sx_reserve(&s->item, &s->item_cap, s->n_hits, sizeof(*s->item)))
		return -1;
	for (size_t h = 0; h < s->n_hits; h++) {
		s->item[h].key = s->hit[h].fp;
		s->item[h].number = (uint32_t)h;
	}
	if (sx_sorted_sort(s, s->n_hits, r->index->bits))
		return -1;
	while (i < s->n_hits) {
		size_t n = 0;

		for (; i < s->n_hits && n < SX_SORTED_RANGES; i++) {
			uint64_t fp = s->item[i].key;

			if (push_range(s, n++, d, fp, fp, i))
				return -1;
		}
		if (read_ranges(s, r, n))
			return -1;
	}
	return 0;
}
