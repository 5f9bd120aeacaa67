/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "table/sx_lookup.h"

#include <string.h>

#include "util/sx_err.h"

#define AHEAD 32 /* ranges whose block index entries are prefetched */

void sx_lookup_begin(sx_lookup *l, const sx_range *ranges, size_t n, size_t first)
{
	l->range = ranges;
	l->n_ranges = n;
	l->next = l->ahead = l->n = 0;
	l->block = SIZE_MAX;
	l->first = first;
	l->blocks = 0;
}

/*
 * Have the block index entries of the next ranges fetched: offsets first, then what they lead to.
 * The page of the block that a range begins in, most often, is fetched before its entry tells
 * that it is the one: the CPU takes longest to find where pages are.
 */
static void look_ahead(sx_lookup *l)
{
	size_t end = l->n_ranges - l->next < AHEAD ? l->n_ranges : l->next + AHEAD;
	size_t i;

	if (l->ahead > l->next)
		return;
	for (i = l->next; i < end; i++)
		sx_block_index_hint(l->range[i].blocks, l->range[i].low);
	for (i = l->next; i < end; i++) {
		const sx_block_index *d = l->range[i].blocks;

		if (l->range[i].low <= d->max) {
			sx_slot slot = d->slot[l->range[i].low >> d->shift];

			sx_prefetch(d->anchor + (ptrdiff_t)slot.page * (ptrdiff_t)d->page_size);
			sx_prefetch(&d->entry[slot.first]);
			sx_prefetch(&d->samples[slot.first]);
		}
	}
	l->ahead = end;
}

static inline sx_samples *samples_of(const sx_lookup *l, const sx_piece *p)
{
	return &l->range[p->range].blocks->samples[p->number];
}

/* Set the entries of a piece by rank samples, and prefetch them. */
SX_INLINE void set_entries(const sx_lookup *l, sx_piece *p, const sx_samples *samples)
{
	const sx_range *r = &l->range[p->range];

	p->width = (uint8_t)sx_samples_shape(samples).width;
	sx_samples_locate(samples, p->value, &r->blocks->guess, r->low, r->high, &p->from,
			  &p->to);
}

static inline void add_piece(sx_lookup *l, const sx_block_index *d, size_t block)
{
	sx_piece *p = &l->piece[l->n++];

	p->value = sx_block_index_block(d, block);
	p->range = (uint32_t)l->next;
	p->number = (uint32_t)block;
}

static void prefetch_all(sx_lookup *l)
{
	for (size_t i = 0; i < l->n; i++) {
		sx_piece *p = &l->piece[i];
		const sx_samples *samples = samples_of(l, p);

		if (sx_samples_are_made(samples)) {
			set_entries(l, p, samples);
			continue;
		}
		sx_block_prefetch(p->value, &l->range[p->range].blocks->guess);
		p->from = 1;
		p->to = 0;
	}
}

void sx_lookup_find(sx_lookup *l)
{
	l->n = 0;
	while (l->n < SX_LOOKUP_PIECES && l->next < l->n_ranges) {
		const sx_range *r = &l->range[l->next];
		const sx_block_index *d = r->blocks;
		size_t i = l->block, most = SX_LOOKUP_PIECES;

		if (i == SIZE_MAX) {
			look_ahead(l);
			i = sx_block_index_find(d, r->low);
			if (l->first < most - l->n)
				most = l->n + l->first;
		}
		/* A block may hold keys of the range unless the one before it ended behind it. */
		while (i < d->n && l->n < most) {
			add_piece(l, d, i);
			if (d->entry[i].last > r->high ||
			    (d->entry[i].last == r->high && !d->table->n_cols))
				i = d->n;
			else
				i++;
		}
		if (i < d->n) {
			l->block = i;
			break;
		}
		l->block = SIZE_MAX;
		l->next++;
	}
	prefetch_all(l);
	l->blocks += l->n;
}

void sx_lookup_leave(sx_lookup *l)
{
	if (l->block == SIZE_MAX)
		return;
	l->block = SIZE_MAX;
	l->next++;
}

int sx_block_index_damaged(const sx_block_index *d, size_t block, const char *what,
			 simidx_error *err)
{
	unsigned char bytes[SX_TABLE_MAX_KEY];
	sx_place place = { d->entry[block].last, 0 };
	sx_slice key = { bytes, sx_table_key(d->table, place, bytes) };

	return sx_table_damaged(d->table, key, what, err);
}

/* Whether the samples of its block were not made when the piece was found. */
static int is_open(const sx_piece *p)
{
	return p->from > p->to;
}

/* Set the entries of a piece by the block itself. Returns what is wrong with that, or NULL. */
static const char *read_entries(const sx_lookup *l, sx_piece *p, const sx_kernel *kernel)
{
	const sx_range *r = &l->range[p->range];
	const sx_block_index *d = r->blocks;
	const char *wrong;
	size_t from, to;
	sx_samples made;
	sx_block b;

	if (sx_samples_are_due(&d->samples[p->number])) {
		wrong = sx_samples_make(&d->samples[p->number], p->value, d->table->block_size,
					kernel, &made);
		if (!wrong)
			set_entries(l, p, &made);
		return wrong;
	}
	wrong = sx_block_open_keys(&b, p->value, d->table->block_size);
	if (wrong)
		return wrong;
	sx_block_range(kernel, &b, r->low, r->high, &from, &to);
	p->width = (uint8_t)b.width;
	p->from = (uint16_t)from;
	p->to = (uint16_t)to;
	sx_block_prefetch_entries(b.low, from, to, b.width);
	return NULL;
}

int sx_lookup_locate(sx_lookup *l, const sx_kernel *kernel, simidx_error *err)
{
	for (size_t i = 0; i < l->n; i++) {
		sx_piece *p = &l->piece[i];
		const char *wrong = is_open(p) ? read_entries(l, p, kernel) : NULL;

		if (wrong)
			return sx_block_index_damaged(l->range[p->range].blocks, p->number,
						    wrong, err);
	}
	return SIMIDX_OK;
}

/* The part of its block that a piece is in. */
static inline void window_of(const sx_lookup *l, const sx_piece *p, sx_window *window)
{
	const sx_range *r = &l->range[p->range];

	sx_samples_window(samples_of(l, p), p->value, r->blocks->table->block_size, r->low,
			  r->high, window);
}

int sx_lookup_locate_exactly(sx_lookup *l, const sx_kernel *kernel, simidx_error *err)
{
	int rc = sx_lookup_locate(l, kernel, err);

	for (size_t i = 0; !rc && i < l->n; i++) {
		sx_piece *p = &l->piece[i];
		const sx_range *r = &l->range[p->range];
		size_t from, to;
		sx_window w;

		if (p->from == p->to)
			continue;
		window_of(l, p, &w);
		sx_coded_range(kernel, &w.keys, w.n, r->low, r->high, &from, &to);
		p->from = (uint16_t)(w.before + from);
		p->to = (uint16_t)(w.before + to);
	}
	return rc;
}

size_t sx_lookup_filter(const sx_lookup *l, const sx_piece *p, const sx_kernel *kernel,
			size_t n, uint64_t query, unsigned left, uint16_t *entry)
{
	const unsigned char *low = sx_block_low(p->value, p->width, p->from);
	const unsigned char *end = p->value + l->range[p->range].blocks->table->block_size;

	return kernel->near_low(low, p->width, n, (size_t)(end - low), query, left, entry);
}

size_t sx_lookup_complete(const sx_lookup *l, const sx_piece *p, const sx_kernel *kernel,
			  size_t n, uint64_t query, unsigned k, const uint16_t *entry,
			  size_t n_near, uint64_t *hits)
{
	const sx_range *r = &l->range[p->range];
	size_t from, found, kept = 0;
	sx_window w;

	window_of(l, p, &w);
	from = p->from - w.before;
	found = sx_coded_hits(kernel, &w.keys, from, from + n, query, k, hits, entry, n_near);
	for (size_t i = 0; i < found; i++)
		if (hits[i] >= r->low && hits[i] <= r->high)
			hits[kept++] = hits[i];
	return kept;
}

size_t sx_lookup_near(const sx_lookup *l, const sx_piece *p, const sx_kernel *kernel, size_t n,
		      uint64_t query, unsigned k, uint64_t *hits, uint16_t *entry)
{
	int left = sx_lookup_left(l, p, query, k);
	size_t near = left < 0 ? 0
			       : sx_lookup_filter(l, p, kernel, n, query, (unsigned)left, entry);

	return near ? sx_lookup_complete(l, p, kernel, n, query, k, entry, near, hits) : 0;
}

int sx_lookup_has(const sx_lookup *l, const sx_piece *p, uint64_t key)
{
	const sx_range *r = &l->range[p->range];
	const sx_entry *e = &r->blocks->entry[p->number];

	return key >= r->low && key <= r->high && key <= e->last &&
	       (!p->number || key > e[-1].last);
}
