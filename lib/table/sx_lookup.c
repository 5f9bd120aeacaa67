/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "table/sx_lookup.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/sx_bits.h"
#include "util/sx_err.h"

#define AHEAD 32       /* probes whose entries of the block index are prefetched */
#define ROWS 256       /* of a slice in the rows layout */
#define SAMPLE 64      /* one run of this many looks whether its first page is in memory */
#define WATCH 32       /* runs that look at all pages, once one was missing */

int sx_lookup_init(sx_lookup *l, const sx_store *store, const sx_kernel *kernel, int checks,
		   unsigned n_cols)
{
	memset(l, 0, sizeof(*l));
	l->store = store;
	l->kernel = kernel;
	l->checks = checks;
	l->block_size = sx_store_block_size(store);
	l->watch = 1;
	sx_rows_init(&l->rows, n_cols);
	l->keys = sx_calloc(SX_MAX_BLOCK_ROWS, sizeof(*l->keys));
	l->entry = sx_calloc(SX_MAX_BLOCK_ROWS, sizeof(*l->entry));
	l->hit = sx_calloc(SX_MAX_BLOCK_ROWS, sizeof(*l->hit));
	return l->keys && l->entry && l->hit ? 0 : -1;
}

void sx_lookup_free(sx_lookup *l)
{
	sx_rows_free(&l->rows);
	free(l->keys);
	free(l->entry);
	free(l->hit);
}

int sx_lookup_damaged(const sx_lookup_task *task, const sx_block_slice *s, const char *what,
		      simidx_error *err)
{
	const sx_table *table = task->view[task->probe[s->probe].table].table;
	unsigned char bytes[SX_TABLE_MAX_KEY];
	sx_slice key = { bytes, sx_table_key(table, (sx_sort_key){ s->last, 0 }, bytes) };

	return sx_table_damaged(table, key, what, err);
}

/* ---- by a block index ---- */

/* Where a run has come to. */
struct progress {
	size_t probe;  /* the first one that is not looked up to its end */
	size_t end;    /* probes before this one have a block index */
	size_t block;  /* of `probe`: the block to go on with, or SIZE_MAX */
	size_t first, ahead; /* probes [first, ahead) have been prefetched ... */
	size_t guess[AHEAD]; /* ... in these blocks, where they are likely to begin */
};

static const sx_block_index *blocks_of(const sx_lookup_task *task, size_t probe)
{
	return task->view[task->probe[probe].table].blocks;
}

/* Prefetch what the block indexes have about the next probes, and where they lead to. */
static void look_ahead(const sx_lookup_task *task, struct progress *at)
{
	at->first = at->probe;
	at->ahead = at->end - at->probe < AHEAD ? at->end : at->probe + AHEAD;
	for (size_t i = at->first; i < at->ahead; i++)
		at->guess[i - at->first] =
			sx_block_index_guess(blocks_of(task, i), task->probe[i].low);
}

/* Find the next slices in the order of the probes, up to SX_LOOKUP_SLICES. */
static void find(sx_lookup *l, const sx_lookup_task *task, struct progress *at)
{
	l->n = 0;
	while (l->n < SX_LOOKUP_SLICES && at->probe < at->end) {
		const sx_probe *p = &task->probe[at->probe];
		const sx_block_index *b = blocks_of(task, at->probe);
		size_t i = at->block, max = SX_LOOKUP_SLICES;

		if (i == SIZE_MAX) {
			if (at->ahead <= at->probe)
				look_ahead(task, at);
			i = sx_block_index_find_guessed(b, p->low,
							at->guess[at->probe - at->first]);
			if (task->first < max - l->n)
				max = l->n + task->first;
		}
		/* A block may hold keys of the range unless the one before it ended after it. */
		while (i < b->n && l->n < max) {
			sx_block_slice *s = &l->slice[l->n++];

			s->value = sx_block_index_block(b, i);
			s->entry = &b->entry[i];
			s->last = b->entry[i].last;
			s->probe = (uint32_t)at->probe;
			if (s->last > p->high || (s->last == p->high && !b->table->n_cols))
				i = b->n;
			else
				i++;
		}
		if (i < b->n) {
			at->block = i;
			break;
		}
		at->block = SIZE_MAX;
		at->probe++;
	}
}

/* Set the entries of a slice by rank samples, and prefetch them. Returns 0 if there are none. */
static int locate_by_samples(const sx_lookup_task *task, sx_block_slice *s,
			     const sx_samples *samples)
{
	const sx_probe *p = &task->probe[s->probe];
	sx_entries entries;

	if (!sx_samples_locate(samples, s->value, &task->view[p->table].blocks->guess, p->low,
			       p->high, &entries))
		return 0;
	s->from = entries.from;
	s->to = entries.to;
	s->width = entries.width;
	return 1;
}

/* Prefetch what is read of each block: its entries, or what tells where they are (from > to). */
static void prefetch(sx_lookup *l, const sx_lookup_task *task)
{
	for (size_t i = 0; i < l->n; i++) {
		sx_block_slice *s = &l->slice[i];

		if (locate_by_samples(task, s, &s->entry->samples))
			continue;
		sx_block_prefetch(s->value, &blocks_of(task, s->probe)->guess);
		s->from = 1;
		s->to = 0;
	}
}

/*
 * Have pages that are not in memory read in parallel, where some are likely to be: looking costs a
 * system call a page, so it is done for a sample of the runs and, once a page was missing, for all.
 */
static void ask_for_pages(sx_lookup *l)
{
	size_t n = l->watch ? l->n : l->n > 0;
	int missing = 0;

	if (!l->watch && l->runs % SAMPLE)
		return;
	for (size_t i = 0; i < n; i++)
		if (!sx_store_is_resident(l->store, l->slice[i].value)) {
			sx_store_will_need(l->store, l->slice[i].value);
			missing = 1;
		}
	if (missing)
		l->watch = WATCH;
	else if (l->watch)
		l->watch--;
}

/* Sets *wrong to what is wrong with a block, or to NULL. */
static int check_block(const sx_lookup *l, const sx_lookup_task *task, const sx_block_slice *s,
		       const char **wrong, simidx_error *err)
{
	const sx_table *table = task->view[task->probe[s->probe].table].table;
	const sx_block_index *blocks = blocks_of(task, s->probe);
	sx_sort_key before = { sx_block_slice_before(s, blocks), 0 };
	sx_sort_key last = { s->last, UINT64_MAX };
	sx_block b;

	*wrong = sx_block_open(&b, s->value, l->block_size, table->n_cols);
	if (!*wrong)
		*wrong = sx_table_block_wrong(table, &b, before, last);
	if (*wrong || table->kind != SX_TABLE_PAIRS)
		return SIMIDX_OK;
	return sx_table_pairs_wrong(table, task->txn, &b, wrong, err);
}

/* Set the entries of a slice by the block itself. Returns what is wrong with that, or NULL. */
static const char *locate_in_block(const sx_lookup *l, const sx_lookup_task *task,
				   sx_block_slice *s)
{
	const sx_probe *p = &task->probe[s->probe];
	const char *wrong;
	size_t from, to;
	sx_samples made;
	sx_block b;

	if (s->entry && sx_samples_are_due(&s->entry->samples)) {
		wrong = sx_samples_make(&s->entry->samples, s->value, l->block_size,
					task->view[p->table].table->number, l->kernel, &made);
		if (!wrong)
			locate_by_samples(task, s, &made);
		return wrong;
	}
	wrong = sx_block_open_keys(&b, s->value, l->block_size);
	if (wrong)
		return wrong;
	sx_block_range(l->kernel, &b, p->low, p->high, &from, &to);
	s->width = (uint8_t)b.width;
	s->from = (uint16_t)from;
	s->to = (uint16_t)to;
	sx_prefetch_lines(b.low + from * b.width, (to - from) * b.width, SX_BLOCK_PREFETCH);
	return NULL;
}

/* Whoever notes the first read of a block has checked it. */
static int check_and_locate(const sx_lookup *l, const sx_lookup_task *task, sx_block_slice *s,
			    simidx_error *err)
{
	int is_new = l->checks && (!s->entry || sx_samples_are_new(&s->entry->samples));
	const char *wrong = NULL;
	int rc = is_new ? check_block(l, task, s, &wrong, err) : SIMIDX_OK;

	if (!rc && !wrong)
		wrong = locate_in_block(l, task, s);
	return rc || !wrong ? rc : sx_lookup_damaged(task, s, wrong, err);
}

/* The part of its block that a slice is in. */
static void window_of(const sx_lookup *l, const sx_block_slice *s, const sx_probe *p,
		      sx_window *window)
{
	static const sx_samples none;

	sx_samples_window(s->entry ? &s->entry->samples : &none, s->value, l->block_size, p->low,
			  p->high, window);
}

static int locate(sx_lookup *l, const sx_lookup_task *task, simidx_error *err)
{
	for (size_t i = 0; i < l->n; i++) {
		sx_block_slice *s = &l->slice[i];
		int rc = s->from > s->to ? check_and_locate(l, task, s, err) : SIMIDX_OK;

		if (rc)
			return rc;
	}
	for (size_t i = 0; task->exact && i < l->n; i++) {
		sx_block_slice *s = &l->slice[i];
		const sx_probe *p = &task->probe[s->probe];
		size_t from, to;
		sx_window w;

		if (s->from == s->to)
			continue;
		window_of(l, s, p, &w);
		sx_coded_range(l->kernel, &w.keys, w.n, p->low, p->high, &from, &to);
		s->from = (uint16_t)(w.before + from);
		s->to = (uint16_t)(w.before + to);
	}
	return SIMIDX_OK;
}

/* Visit the slices at hand, but for those of probes of which nothing more is wanted. */
static int visit_all(sx_lookup *l, const sx_lookup_task *task, struct progress *at,
		     enum sx_next *next, simidx_error *err)
{
	uint32_t left = UINT32_MAX;
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && *next != SX_NEXT_NOTHING && i < l->n; i++) {
		const sx_block_slice *s = &l->slice[i];

		if (s->probe == left)
			continue;
		l->blocks++;
		*next = SX_NEXT_SLICE;
		rc = task->visit(task->ctx, s, next, err);
		if (*next == SX_NEXT_PROBE)
			left = s->probe;
	}
	if (at->block != SIZE_MAX && at->probe == left) {
		at->block = SIZE_MAX;
		at->probe++;
	}
	return rc;
}

/* Look up the probes [from, end), all of which have block indexes. */
static int run_indexed(sx_lookup *l, const sx_lookup_task *task, size_t from, size_t end,
		       enum sx_next *next, simidx_error *err)
{
	struct progress at;
	int rc = SIMIDX_OK;

	at.probe = at.ahead = from;
	at.end = end;
	at.block = SIZE_MAX;
	for (find(l, task, &at); !rc && l->n && *next != SX_NEXT_NOTHING; find(l, task, &at)) {
		prefetch(l, task);
		ask_for_pages(l);
		rc = locate(l, task, err);
		if (!rc)
			rc = visit_all(l, task, &at, next, err);
	}
	return rc;
}

/* ---- by a cursor ---- */

/* Visit a block of `size` bytes, of which the slice has its place and keys. */
static int visit_block(sx_lookup *l, const sx_lookup_task *task, sx_block_slice *s, size_t size,
		       enum sx_next *next, simidx_error *err)
{
	int rc;

	if (size != l->block_size)
		return sx_lookup_damaged(task, s, "its size is not a block's", err);
	rc = check_and_locate(l, task, s, err);
	if (rc)
		return rc;
	l->blocks++;
	return task->visit(task->ctx, s, next, err);
}

static int visit_rows(sx_lookup *l, const sx_lookup_task *task, size_t probe, enum sx_next *next,
		      simidx_error *err)
{
	uint16_t n = (uint16_t)l->rows.n;
	sx_block_slice s = { NULL, NULL, 0, UINT64_MAX, (uint32_t)probe, 0, n, 0 };
	int rc = l->rows.n ? task->visit(task->ctx, &s, next, err) : SIMIDX_OK;

	l->rows.n = 0;
	return rc;
}

/* Look up one probe, block after block or row after row. */
static int run_by_cursor(sx_lookup *l, const sx_lookup_task *task, size_t probe,
			 enum sx_next *next, simidx_error *err)
{
	const sx_probe *p = &task->probe[probe];
	sx_table_view *view = &task->view[p->table];
	const sx_table *table = view->table;
	int is_blocks = table->layout == SIMIDX_LAYOUT_BLOCKS;
	unsigned char bytes[SX_TABLE_MAX_KEY];
	sx_slice key = { bytes, sx_table_key(table, (sx_sort_key){ p->low, 0 }, bytes) }, value;
	sx_sort_key last, before = { UINT64_MAX, 0 };
	int has_before;
	int rc = view->cursor ? sx_cursor_renew(task->txn, view->cursor, err)
			      : sx_cursor_open(task->txn, table->dbi, &view->cursor, err);

	view->by_cursor++;
	l->rows.n = 0;
	if (!rc)
		rc = sx_cursor_seek(view->cursor, key, &key, &value, err);
	if (!rc && l->checks && is_blocks)
		rc = sx_table_place_before(table, view->cursor, &has_before, &before, err);
	for (; !rc; rc = sx_cursor_next(view->cursor, &key, &value, err)) {
		if (sx_table_sort_key(table, key, &last))
			return sx_table_damaged(table, key, "its key is not one of this table's",
						err);
		if (is_blocks) {
			sx_block_slice s = { value.data, NULL, last.key, before.key,
					     (uint32_t)probe, 0, 0, 0 };

			rc = visit_block(l, task, &s, value.size, next, err);
			if (rc || *next != SX_NEXT_SLICE || last.key > p->high ||
			    (last.key == p->high && !table->n_cols))
				return rc;
			before = last;
			continue;
		}
		if (last.key > p->high)
			break;
		rc = sx_table_row_decode(table, key, value, &l->rows, err);
		if (!rc && l->rows.n == (task->first < ROWS ? task->first : ROWS))
			rc = visit_rows(l, task, probe, next, err);
		if (rc || *next != SX_NEXT_SLICE)
			return rc;
	}
	return rc && rc != SIMIDX_E_END ? rc : visit_rows(l, task, probe, next, err);
}

int sx_lookup_run(sx_lookup *l, const sx_lookup_task *task, simidx_error *err)
{
	enum sx_next next = SX_NEXT_SLICE;
	int rc = SIMIDX_OK;

	l->blocks = 0;
	l->runs++;
	for (size_t i = 0, end; !rc && i < task->n && next != SX_NEXT_NOTHING; i = end) {
		for (end = i; end < task->n && blocks_of(task, end); end++)
			;
		if (end > i) {
			rc = run_indexed(l, task, i, end, &next, err);
			continue;
		}
		end = i + 1;
		next = SX_NEXT_SLICE;
		rc = run_by_cursor(l, task, i, &next, err);
	}
	return rc;
}

/* ---- what is near ---- */

/*
 * In how many bits the low bytes of a match can differ: in those that the probe leaves, and in
 * those in which all keys of its range differ from the query, as far as they are low bytes.
 */
static unsigned max_in_low_bytes(const sx_probe *p, unsigned width, uint64_t query, unsigned k)
{
	uint64_t differ = (p->low ^ query) & ~(p->low ^ p->high) & sx_low_bits(8 * width);
	unsigned max = (unsigned)p->rest + (differ ? sx_count_plain(differ) : 0);

	return max < k ? max : k;
}

static size_t near_rows(sx_lookup *l, const sx_block_slice *s, size_t n, uint64_t query, unsigned k)
{
	size_t found = 0;

	for (size_t i = s->from; i < s->from + n; i++)
		if (sx_count_plain(l->rows.key[i] ^ query) <= k)
			l->keys[found++] = l->rows.key[i];
	return found;
}

size_t sx_lookup_filter(sx_lookup *l, const sx_lookup_task *task, const sx_block_slice *s,
			size_t n, uint64_t query, unsigned k)
{
	const sx_probe *p = &task->probe[s->probe];
	const unsigned char *low;

	if (p->rest < 0)
		return 0;
	if (!s->value)
		return near_rows(l, s, n, query, k);
	/* Thousands of neighbours have bits in the bitmap alone. */
	if (!s->width)
		return n;
	low = sx_block_low(s->value, s->width, s->from);
	return l->kernel->near_low(low, s->width, n, (size_t)(s->value + l->block_size - low),
				   query, max_in_low_bytes(p, s->width, query, k), l->entry);
}

/* Compare whole keys, where no low bytes tell which ones cannot match. */
static size_t near_whole(sx_lookup *l, const sx_coded *keys, size_t from, size_t n, uint64_t query,
			 unsigned k)
{
	size_t there = l->kernel->decode(keys, from, n, l->keys);
	size_t found = l->kernel->near_u64(l->keys, there, query, k, l->hit);

	for (size_t i = 0; i < found; i++)
		l->keys[i] = l->keys[l->hit[i]];
	return found;
}

size_t sx_lookup_complete(sx_lookup *l, const sx_lookup_task *task, const sx_block_slice *s,
			  uint64_t query, unsigned k, size_t near)
{
	const sx_probe *p = &task->probe[s->probe];
	size_t from, found, kept = 0;
	sx_window w;

	if (!s->value || !near)
		return near;
	window_of(l, s, p, &w);
	from = s->from - w.before;
	if (!s->width)
		found = near_whole(l, &w.keys, from, near, query, k);
	else
		found = l->kernel->complete(&w.keys, from, l->entry, near, query, k, l->keys);
	for (size_t i = 0; i < found; i++)
		if (l->keys[i] >= p->low && l->keys[i] <= p->high)
			l->keys[kept++] = l->keys[i];
	return kept;
}
