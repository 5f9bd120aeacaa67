/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "table/sx_lookup.h"

#include "block/sx_block_search.h"
#include "util/sx_err.h"

#define LINE 64
#define AHEAD 32      /* ranges whose directory entries are fetched beforehand */
#define LOW_LINES 18  /* of a piece that are fetched; the CPU sees to the rest */
#define BITMAP_LINES 4

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

void sx_lookup_begin(sx_lookup *l, const sx_range *ranges, size_t n)
{
	l->range = ranges;
	l->n_ranges = n;
	l->next = l->ahead = l->n = 0;
	l->block = SIZE_MAX;
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
		}
	}
	l->ahead = end;
}

/*
 * Guess which entries of a block the range has, from blocks of its like, and have as much of the
 * bitmap fetched as it takes to know. Entries of evenly spread keys are up to 13 places away from
 * where they should be, on average. What is fetched by a wrong guess only costs time.
 */
static void guess_entries(const sx_lookup *l, sx_piece *p)
{
	const sx_range *r = &l->range[p->range];
	const sx_directory *d = r->directory;
	uint64_t before = p->number ? d->entry[p->number - 1].last : 0;
	uint64_t span = d->entry[p->number].last - before;
	uint64_t low = r->low > before ? r->low - before : 0, high = r->high - before;
	unsigned n = d->typical_n, slack = n / 32, from, to;
	float scale;

	high = high < span ? high : span;
	/* Halved, since a CPU converts signed numbers in one step. */
	scale = (float)n / (float)(int64_t)(span >> 1 | 1);
	from = (unsigned)(int)(scale * (float)(int64_t)(low >> 1));
	to = (unsigned)(int)(scale * (float)(int64_t)(high >> 1)) + slack;
	p->from = (uint16_t)(from > slack ? from - slack : 0);
	p->to = (uint16_t)to;
	fetch_lines(p->value + d->typical_bitmap, d->typical_bitmap_bytes, BITMAP_LINES);
}

/* Have the entries fetched that were guessed. */
FETCH fetch_guessed(const sx_lookup *l, const sx_piece *p)
{
	const sx_directory *d = l->range[p->range].directory;
	size_t from = p->from, n = (size_t)(p->to - p->from);

	fetch_lines(p->value + BLOCK_HEADER + from * d->typical_width, n * d->typical_width,
		    LOW_LINES);
	for (unsigned c = 0; n && c < d->table->n_cols; c++) {
		unsigned width = d->typical_col_width[c];

		fetch(p->value + d->typical_col[c] - 1);
		fetch_lines(p->value + d->typical_col[c] + from * width, n * width, LOW_LINES);
	}
}

static void add_piece(sx_lookup *l, const sx_directory *d, size_t block)
{
	sx_piece *p = &l->piece[l->n++];

	p->value = sx_directory_block(d, block);
	p->range = (uint32_t)l->next;
	p->number = (uint32_t)block;
	p->from = p->to = 0;
	/* All the headers first, close together: where the page's address is not known to the CPU
	   either, it looks for several at once. */
	fetch(p->value);
}

/* Whether a piece is of the same block as the one before it: then that is on its way. */
static int is_next_of_block(const sx_lookup *l, size_t i)
{
	return i && l->piece[i].value == l->piece[i - 1].value;
}

/*
 * What is waited for first is fetched first: the bitmaps, then entries. Of ranges in order,
 * neighbours often share a block; then the guess would cost more than it saves.
 */
static void fetch_all(sx_lookup *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (!is_next_of_block(l, i))
			guess_entries(l, &l->piece[i]);
	for (size_t i = 0; i < l->n; i++)
		if (!is_next_of_block(l, i))
			fetch_guessed(l, &l->piece[i]);
}

void sx_lookup_find(sx_lookup *l)
{
	l->n = 0;
	while (l->n < SX_LOOKUP_PIECES && l->next < l->n_ranges) {
		const sx_range *r = &l->range[l->next];
		const sx_directory *d = r->directory;
		size_t i = l->block;

		if (i == SIZE_MAX) {
			look_ahead(l);
			i = sx_directory_find(d, r->low);
		}
		/* A block may hold keys of the range unless the one before it ended behind it. */
		while (i < d->n && l->n < SX_LOOKUP_PIECES) {
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

int sx_directory_damaged(const sx_directory *d, size_t block, const char *what, simidx_error *err)
{
	unsigned char bytes[SX_TABLE_MAX_KEY];
	sx_place place = { d->entry[block].last, 0 };
	sx_slice key = { bytes, sx_table_key(d->table, place, bytes) };

	return sx_table_damaged(d->table, key, what, err);
}

/* Entries from p->from to p->to, as far as they were not fetched on the guess. */
FETCH fetch_entries(const sx_directory *d, const sx_piece *p, size_t from, size_t to)
{
	size_t width = p->keys.width;

	/* What is fetched twice costs little, but it is most of the lines. */
	if (width == d->typical_width && from <= p->from && to >= p->to &&
	    (to - from) * width <= (LOW_LINES - 1) * LINE)
		return;
	fetch_lines(p->keys.low + p->from * width, (size_t)(p->to - p->from) * width, LOW_LINES);
}

int sx_lookup_locate(sx_lookup *l, const sx_kernel *kernel, simidx_error *err)
{
	for (size_t i = 0; i < l->n; i++) {
		sx_piece *p = &l->piece[i];
		const sx_range *r = &l->range[p->range];
		const sx_directory *d = r->directory;
		size_t guessed_from = p->from, guessed_to = p->to, from, to;
		sx_block block;
		const char *wrong =
			sx_block_open_keys(&block, p->value, d->table->block_size);

		if (wrong)
			return sx_directory_damaged(d, p->number, wrong, err);
		sx_block_range(kernel, &block, r->low, r->high, &from, &to);
		p->keys = sx_block_coded(&block);
		p->from = (uint16_t)from;
		p->to = (uint16_t)to;
		if (to > from)
			fetch_entries(d, p, guessed_from, guessed_to);
	}
	return SIMIDX_OK;
}
