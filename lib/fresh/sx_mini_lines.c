/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "fresh/sx_mini_lines.h"

#include <stdlib.h>
#include <string.h>

#include "plan/sx_plan.h"
#include "util/sx_alloc.h"
#include "util/sx_sort.h"

#define TABLES 4
#define LANES 15
#define FIRST_BITS 4
#define NO_LINE UINT32_MAX
#define FULL_BUCKET 8 /* fingerprints a bucket, on average, from which b grows */
#define MOST_VISITS 512 /* buckets that one question reads */
#define VISIT_ENTRIES 64 /* fingerprints that can be compared in the time of a visit */
#define PIECE 1024

struct line {
	uint32_t next; /* line of the same bucket, or NO_LINE */
	uint32_t tag[LANES];
	uint32_t used;
	uint32_t entry[LANES]; /* number of the fingerprint */
};

struct table {
	struct line *line; /* the first 2^b are the buckets' first lines */
	size_t n, cap;
	uint32_t *tail;    /* by bucket: its last line */
};

struct question {
	uint64_t fp;
	uint64_t end; /* rows from here on do not count */
	unsigned k;
};

struct sx_mini_lines {
	sx_plan plan;
	unsigned b, max_b;
	struct table table[TABLES];
	const sx_kernel *kernel;
	uint64_t *fp;  /* all fingerprints, in the order they came */
	uint32_t *row; /* where each was first seen */
	size_t n, fp_cap, row_cap;
};

/* The permuted value, left-aligned in 64 bits. */
static uint64_t aligned(const sx_mini_lines *l, unsigned t, uint64_t fp)
{
	return sx_permute(&l->plan.table[t], fp) << (64 - l->plan.bits);
}

static uint32_t tag_of(const sx_mini_lines *l, unsigned t, uint64_t value)
{
	return (uint32_t)(value << l->plan.table[t].prefix_bits >> 32);
}

static void line_init(struct line *line)
{
	memset(line, 0, sizeof(*line));
	line->next = NO_LINE;
}

static void table_free(struct table *table)
{
	free(table->line);
	free(table->tail);
	memset(table, 0, sizeof(*table));
}

/* An empty table of 2^b buckets. */
static int table_init(struct table *table, unsigned b)
{
	size_t buckets = (size_t)1 << b;

	memset(table, 0, sizeof(*table));
	table->tail = sx_calloc(buckets, sizeof(*table->tail));
	if (!table->tail || sx_reserve(&table->line, &table->cap, buckets, sizeof(*table->line))) {
		table_free(table);
		return -1;
	}
	for (size_t i = 0; i < buckets; i++) {
		line_init(&table->line[i]);
		table->tail[i] = (uint32_t)i;
	}
	table->n = buckets;
	return 0;
}

static int table_add(struct table *table, uint64_t bucket, uint32_t tag, uint32_t entry)
{
	struct line *line = &table->line[table->tail[bucket]];

	if (line->used == LANES) {
		if (sx_reserve(&table->line, &table->cap, table->n + 1, sizeof(*table->line)))
			return -1;
		line_init(&table->line[table->n]);
		table->line[table->tail[bucket]].next = (uint32_t)table->n;
		table->tail[bucket] = (uint32_t)table->n;
		line = &table->line[table->n++];
	}
	line->tag[line->used] = tag;
	line->entry[line->used] = entry;
	line->used++;
	return 0;
}

/* Lay all entries out in buckets of b bits. The old tables stay if memory is short. */
static int lay_out(sx_mini_lines *l, unsigned b)
{
	struct table made[TABLES];
	unsigned t;

	for (t = 0; t < TABLES; t++) {
		if (table_init(&made[t], b))
			goto fail;
		for (size_t i = 0; i < l->n; i++) {
			uint64_t value = aligned(l, t, l->fp[i]);

			if (table_add(&made[t], value >> (64 - b), tag_of(l, t, value),
				      (uint32_t)i)) {
				table_free(&made[t]);
				goto fail;
			}
		}
	}
	for (t = 0; t < TABLES; t++) {
		table_free(&l->table[t]);
		l->table[t] = made[t];
	}
	l->b = b;
	return 0;
fail:
	while (t--)
		table_free(&made[t]);
	return -1;
}

sx_mini_lines *sx_mini_lines_new(unsigned bits, const sx_kernel *kernel)
{
	sx_mini_lines *l = sx_calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->kernel = kernel;
	if (sx_plan_make(&l->plan, "4x16", bits, NULL))
		goto fail;
	l->max_b = l->plan.table[0].prefix_bits;
	for (unsigned t = 1; t < TABLES; t++)
		if (l->plan.table[t].prefix_bits < l->max_b)
			l->max_b = l->plan.table[t].prefix_bits;
	if (lay_out(l, FIRST_BITS))
		goto fail;
	return l;
fail:
	sx_mini_lines_free(l);
	return NULL;
}

void sx_mini_lines_free(sx_mini_lines *l)
{
	if (!l)
		return;
	for (unsigned t = 0; t < TABLES; t++)
		table_free(&l->table[t]);
	free(l->fp);
	free(l->row);
	free(l);
}

int sx_mini_lines_add(sx_mini_lines *l, uint64_t fp, uint32_t row)
{
	unsigned b = l->b;

	if (sx_reserve(&l->fp, &l->fp_cap, l->n + 1, sizeof(*l->fp)) ||
	    sx_reserve(&l->row, &l->row_cap, l->n + 1, sizeof(*l->row)))
		return -1;
	if (l->n >> b >= FULL_BUCKET && b < l->max_b &&
	    lay_out(l, b + 2 < l->max_b ? b + 2 : l->max_b))
		return -1;
	/* Room in all four tables first, so that an entry is never in only some of them. */
	for (unsigned t = 0; t < TABLES; t++)
		if (sx_reserve(&l->table[t].line, &l->table[t].cap, l->table[t].n + 1,
			       sizeof(struct line)))
			return -1;
	l->fp[l->n] = fp;
	l->row[l->n] = row;
	for (unsigned t = 0; t < TABLES; t++) {
		uint64_t value = aligned(l, t, fp);

		if (table_add(&l->table[t], value >> (64 - l->b), tag_of(l, t, value),
			      (uint32_t)l->n))
			return -1;
	}
	l->n++;
	return 0;
}

/* ---- looking up ---- */

/* Which buckets of which tables are read: table in the upper half, bucket in the lower. */
struct visits {
	uint64_t at[MOST_VISITS];
	size_t n;
};

/* Add the buckets of a probe; 0 when there are too many. */
static int add_visits(const sx_mini_lines *l, const sx_probe *probe, struct visits *visits)
{
	unsigned shift = l->plan.bits - l->b;
	uint64_t low = probe->low >> shift, high = probe->high >> shift;

	if (high - low >= MOST_VISITS - visits->n)
		return 0;
	while (low <= high)
		visits->at[visits->n++] = (uint64_t)probe->table << 32 | low++;
	return 1;
}

/*
 * The buckets that the probes fall into, each once. 0 = too many, so that it is cheaper to look
 * at everything.
 */
static int choose_visits(const sx_mini_lines *l, const sx_probes *probes, struct visits *visits)
{
	visits->n = 0;
	for (size_t i = 0; i < probes->n; i++)
		if (!add_visits(l, &probes->at[i], visits))
			return 0;
	if (visits->n * VISIT_ENTRIES > l->n)
		return 0;
	/* Several probes of a table end in one bucket where that is wider than a prefix. */
	if (sx_sort_u64(visits->at, visits->n))
		return 0;
	visits->n = sx_unique_u64(visits->at, visits->n);
	return 1;
}

static int near_in_bucket(const sx_mini_lines *l, unsigned t, uint32_t at, const struct question *q,
			  sx_u64s *fps, uint64_t *candidates)
{
	const struct table *table = &l->table[t];
	uint32_t tag = tag_of(l, t, aligned(l, t, q->fp));

	for (; at != NO_LINE; at = table->line[at].next) {
		const struct line *line = &table->line[at];

		for (unsigned i = 0; i < LANES; i++) {
			uint32_t e = line->entry[i];

			if ((unsigned)__builtin_popcount(line->tag[i] ^ tag) > q->k ||
			    i >= line->used)
				continue;
			++*candidates;
			if ((unsigned)__builtin_popcountll(l->fp[e] ^ q->fp) > q->k ||
			    l->row[e] >= q->end)
				continue;
			if (sx_u64s_push(fps, l->fp[e]))
				return -1;
		}
	}
	return 0;
}

/* All fingerprints, one after another. */
static int near_of_all(const sx_mini_lines *l, const struct question *q, sx_u64s *fps,
		       uint64_t *candidates)
{
	uint32_t hit[PIECE];

	for (size_t from = 0; from < l->n; from += PIECE) {
		size_t n = l->n - from < PIECE ? l->n - from : PIECE;
		size_t hits = l->kernel->near_u64(l->fp + from, n, q->fp, q->k, hit);

		for (size_t i = 0; i < hits; i++)
			if (l->row[from + hit[i]] < q->end &&
			    sx_u64s_push(fps, l->fp[from + hit[i]]))
				return -1;
	}
	*candidates += l->n;
	return 0;
}

int sx_mini_lines_near(const sx_mini_lines *l, const sx_probes *probes, uint64_t query, unsigned k,
		       uint64_t end, sx_u64s *fps, uint64_t *candidates)
{
	struct question q = { query, end, k };
	struct visits visits;
	size_t first = fps->n;

	if (!choose_visits(l, probes, &visits))
		return near_of_all(l, &q, fps, candidates);
	for (size_t i = 0; i < visits.n; i++)
		if (near_in_bucket(l, (unsigned)(visits.at[i] >> 32), (uint32_t)visits.at[i], &q,
				   fps, candidates))
			return -1;
	if (fps->n - first < 2)
		return 0;
	if (sx_sort_u64(fps->at + first, fps->n - first))
		return -1;
	fps->n = first + sx_unique_u64(fps->at + first, fps->n - first);
	return 0;
}
