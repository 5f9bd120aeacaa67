/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "table/sx_lookup.h"

#include <string.h>

#include "table/sx_outline.h"
#include "util/sx_err.h"

#define LINE 64
#define AHEAD 32 /* ranges whose directory entries are fetched beforehand */
#define BITMAP_LINES 4
#define LOW_LINES 24 /* of a piece that are fetched; the CPU sees to the rest */

/*
 * What only fetches has no effect for the compiler (gcc 12): it drops calls of such functions, so
 * there must be none.
 */
#define FETCH static inline __attribute__((always_inline)) void

FETCH fetch(const void *p)
{
	__builtin_prefetch(p, 0, 3);
}

/*
 * Bytes [p, p + size), but `most` lines at most. How many lines does not depend on where the first
 * one begins: ranges are alike, so the CPU foresees the end of the loop.
 */
FETCH fetch_lines(const unsigned char *p, size_t size, size_t most)
{
	size_t lines = size / LINE + 2;

	for (lines = lines < most ? lines : most; size && lines--; p += LINE)
		fetch(p);
}

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
 * Have the directory entries of the next ranges fetched: offsets first, then what they lead to.
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
		sx_directory_hint(l->range[i].directory, l->range[i].low);
	for (i = l->next; i < end; i++) {
		const sx_directory *d = l->range[i].directory;

		if (l->range[i].low <= d->max) {
			sx_slot slot = d->slot[l->range[i].low >> d->shift];

			fetch(d->anchor + (ptrdiff_t)slot.page * (ptrdiff_t)d->page_size);
			fetch(&d->entry[slot.first]);
			fetch(&d->outline[slot.first]);
		}
	}
	l->ahead = end;
}

/* An outline of a block, where it is known; NULL = not yet. */
static inline const sx_outline *outline_of(const sx_lookup *l, const sx_piece *p)
{
	const sx_outline *o = &l->range[p->range].directory->outline[p->number];

	return sx_outline_is_known(o) ? o : NULL;
}

/* Have the entries of a piece fetched: low bytes, and of columns as much as is needed for them. */
FETCH fetch_entries(const sx_lookup *l, const sx_piece *p, const sx_outline *o, size_t bit)
{
	const sx_directory *d = l->range[p->range].directory;
	size_t n = (size_t)(p->to - p->from), width = sx_outline_width(o);
	const unsigned char *at = p->value + sx_outline_bitmap(o);

	fetch_lines(p->value + BLOCK_HEADER + p->from * width, n * width, LOW_LINES);
	fetch(at + bit / 8);
	if (!d->table->n_cols)
		return;
	at += 8 * sx_outline_words(o);
	for (unsigned c = 0; c < d->table->n_cols; c++) {
		width = d->col_width[c];
		fetch(at);
		fetch_lines(at + COL_HEADER + p->from * width, n * width, LOW_LINES);
		at += COL_HEADER + sx_outline_n(o) * width;
	}
}

/* Set the entries of a piece by the outline of its block, and have them fetched. */
static inline void set_entries(const sx_lookup *l, sx_piece *p, const sx_outline *o)
{
	const sx_range *r = &l->range[p->range];
	sx_parts parts;

	p->from = p->to = 0;
	if (!sx_outline_parts(o, r->low, r->high, &parts))
		return;
	p->width = (uint8_t)sx_outline_width(o);
	p->from = (uint16_t)sx_outline_least(o, parts.first);
	p->to = (uint16_t)sx_outline_most(o, parts.last + 1);
	if (p->to > p->from)
		fetch_entries(l, p, o, sx_outline_bit(o, parts.first));
}

static inline void add_piece(sx_lookup *l, const sx_directory *d, size_t block)
{
	sx_piece *p = &l->piece[l->n++];

	p->value = sx_directory_block(d, block);
	p->range = (uint32_t)l->next;
	p->number = (uint32_t)block;
}

static void fetch_all(sx_lookup *l)
{
	for (size_t i = 0; i < l->n; i++) {
		sx_piece *p = &l->piece[i];
		const sx_directory *d = l->range[p->range].directory;
		const sx_outline *o = outline_of(l, p);

		if (o) {
			set_entries(l, p, o);
			continue;
		}
		fetch(p->value);
		fetch_lines(p->value + d->bitmap, d->bitmap_bytes, BITMAP_LINES);
		p->from = 1;
		p->to = 0;
	}
}

void sx_lookup_find(sx_lookup *l)
{
	l->n = 0;
	while (l->n < SX_LOOKUP_PIECES && l->next < l->n_ranges) {
		const sx_range *r = &l->range[l->next];
		const sx_directory *d = r->directory;
		size_t i = l->block, most = SX_LOOKUP_PIECES;

		if (i == SIZE_MAX) {
			look_ahead(l);
			i = sx_directory_find(d, r->low);
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
	fetch_all(l);
	l->blocks += l->n;
}

void sx_lookup_leave(sx_lookup *l)
{
	if (l->block == SIZE_MAX)
		return;
	l->block = SIZE_MAX;
	l->next++;
}

int sx_directory_damaged(const sx_directory *d, size_t block, const char *what,
			 simidx_error *err)
{
	unsigned char bytes[SX_TABLE_MAX_KEY];
	sx_place place = { d->entry[block].last, 0 };
	sx_slice key = { bytes, sx_table_key(d->table, place, bytes) };

	return sx_table_damaged(d->table, key, what, err);
}

/* Whether the outline of its block was not known when the piece was found. */
static int is_open(const sx_piece *p)
{
	return p->from > p->to;
}

/* Set the entries of a piece by the block itself. Returns what is wrong with that, or NULL. */
static const char *read_entries(const sx_lookup *l, sx_piece *p, const sx_kernel *kernel)
{
	const sx_range *r = &l->range[p->range];
	const sx_directory *d = r->directory;
	const char *wrong;
	size_t from, to;
	sx_outline o;
	sx_block b;

	if (sx_outline_is_due(&d->outline[p->number])) {
		wrong = sx_outline_make(&d->outline[p->number], p->value, d->table->block_size,
					kernel, &o);
		if (!wrong)
			set_entries(l, p, &o);
		return wrong;
	}
	wrong = sx_block_open_keys(&b, p->value, d->table->block_size);
	if (wrong)
		return wrong;
	sx_block_range(kernel, &b, r->low, r->high, &from, &to);
	p->width = (uint8_t)b.width;
	p->from = (uint16_t)from;
	p->to = (uint16_t)to;
	fetch_lines(b.low + from * b.width, (to - from) * b.width, LOW_LINES);
	return NULL;
}

int sx_lookup_locate(sx_lookup *l, const sx_kernel *kernel, simidx_error *err)
{
	for (size_t i = 0; i < l->n; i++) {
		sx_piece *p = &l->piece[i];
		const char *wrong = is_open(p) ? read_entries(l, p, kernel) : NULL;

		if (wrong)
			return sx_directory_damaged(l->range[p->range].directory, p->number,
						    wrong, err);
	}
	return SIMIDX_OK;
}

/* What a range has of a block, or all of it where there is no outline. */
static inline void window_of(const sx_lookup *l, const sx_piece *p, sx_window *window)
{
	const sx_range *r = &l->range[p->range];
	const sx_outline *o = outline_of(l, p);
	sx_parts parts;
	sx_block block;

	if (o && sx_outline_parts(o, r->low, r->high, &parts)) {
		sx_outline_window(o, p->value, parts, window);
		return;
	}
	memset(window, 0, sizeof(*window));
	if (!sx_block_open_keys(&block, p->value, r->directory->table->block_size)) {
		window->keys = sx_block_coded(&block);
		window->n = block.n;
	}
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
	size_t offset = BLOCK_HEADER + (size_t)p->from * p->width;
	size_t size = l->range[p->range].directory->table->block_size;

	return kernel->near_low(p->value + offset, p->width, n, size - offset, query, left, entry);
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
	const sx_entry *e = &r->directory->entry[p->number];

	return key >= r->low && key <= r->high && key <= e->last &&
	       (!p->number || key > e[-1].last);
}
