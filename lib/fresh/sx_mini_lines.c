/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "fresh/sx_mini_lines.h"

#include <stdlib.h>
#include <string.h>

#include "plan/sx_plan.h"
#include "util/sx_alloc.h"

#define TABLES 4
#define LANES 15
#define FIRST_BITS 4
#define NO_LINE UINT32_MAX
#define FULL_BUCKET 8 /* fingerprints a bucket, on average, from which b grows */

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

struct entry {
	uint64_t fp;
	uint32_t row;
};

struct sx_mini_lines {
	sx_plan plan;
	unsigned b, max_b;
	struct table table[TABLES];
	struct entry *entry;
	size_t n, cap;
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
			uint64_t value = aligned(l, t, l->entry[i].fp);

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

sx_mini_lines *sx_mini_lines_new(unsigned bits)
{
	sx_mini_lines *l = sx_calloc(1, sizeof(*l));

	if (!l)
		return NULL;
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
	free(l->entry);
	free(l);
}

int sx_mini_lines_add(sx_mini_lines *l, uint64_t fp, uint32_t row)
{
	unsigned b = l->b;

	if (sx_reserve(&l->entry, &l->cap, l->n + 1, sizeof(*l->entry)))
		return -1;
	if (l->n >> b >= FULL_BUCKET && b < l->max_b &&
	    lay_out(l, b + 2 < l->max_b ? b + 2 : l->max_b))
		return -1;
	/* Room in all four tables first, so that an entry is never in only some of them. */
	for (unsigned t = 0; t < TABLES; t++)
		if (sx_reserve(&l->table[t].line, &l->table[t].cap, l->table[t].n + 1,
			       sizeof(struct line)))
			return -1;
	l->entry[l->n].fp = fp;
	l->entry[l->n].row = row;
	for (unsigned t = 0; t < TABLES; t++) {
		uint64_t value = aligned(l, t, fp);

		if (table_add(&l->table[t], value >> (64 - l->b), tag_of(l, t, value),
			      (uint32_t)l->n))
			return -1;
	}
	l->n++;
	return 0;
}

/* Whether fp and query share a bucket in one of the tables before t: it was reported there. */
static int shared_earlier(const sx_mini_lines *l, unsigned t, uint64_t fp, uint64_t query)
{
	while (t--)
		if (!((aligned(l, t, fp) ^ aligned(l, t, query)) >> (64 - l->b)))
			return 1;
	return 0;
}

static int near_in_bucket(const sx_mini_lines *l, unsigned t, uint64_t query, unsigned k,
			  uint64_t end, sx_u64s *fps, uint64_t *candidates)
{
	const struct table *table = &l->table[t];
	uint64_t value = aligned(l, t, query);
	uint32_t tag = tag_of(l, t, value);
	uint32_t at = (uint32_t)(value >> (64 - l->b));

	for (; at != NO_LINE; at = table->line[at].next) {
		const struct line *line = &table->line[at];

		for (unsigned i = 0; i < LANES; i++) {
			const struct entry *e;

			if ((unsigned)__builtin_popcount(line->tag[i] ^ tag) > k ||
			    i >= line->used)
				continue;
			e = &l->entry[line->entry[i]];
			++*candidates;
			if ((unsigned)__builtin_popcountll(e->fp ^ query) > k || e->row >= end ||
			    shared_earlier(l, t, e->fp, query))
				continue;
			if (sx_u64s_push(fps, e->fp))
				return -1;
		}
	}
	return 0;
}

int sx_mini_lines_near(const sx_mini_lines *l, uint64_t query, unsigned k, uint64_t end,
		       sx_u64s *fps, uint64_t *candidates)
{
	/* k errors leave one of k + 1 blocks of bits untouched. */
	for (unsigned t = 0; t <= k; t++)
		if (near_in_bucket(l, t, query, k, end, fps, candidates))
			return -1;
	return 0;
}
