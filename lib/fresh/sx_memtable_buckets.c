/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "fresh/sx_memtable_buckets.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "plan/sx_plan.h"
#include "util/sx_alloc.h"
#include "util/sx_bytes.h"
#include "util/sx_sort.h"

#define TABLES 4
#define LANES 15
#define NO_LINE UINT32_MAX
#define LOAD 6       /* fingerprints a bucket, on average; those to be split soon have twice that */
#define CHUNK_BITS 9 /* of the number of lines of a chunk: 64 KiB */
#define CHUNK_LINES ((size_t)1 << CHUNK_BITS)
#define MAX_CHUNKS 32    /* allocated together: a huge page */
#define MAX_VISITS 512   /* buckets that one question reads */
#define VISIT_ENTRIES 64 /* fingerprints that can be compared in the time of a visit */
#define VISIT_SLOTS 1024 /* of a table of visits: a power of two, twice MAX_VISITS or more */
#define MAX_PREFETCH 16
#define SCAN_ENTRIES 1024 /* fingerprints compared at once */

/* Two cache lines, of which the second is read only where the first is full. */
struct line {
	uint32_t next; /* line of the bucket, or NO_LINE */
	uint32_t used;
	uint64_t fp[LANES];
};

static_assert(sizeof(struct line) == 128, "a line is two cache lines");

/* Lines, in chunks that never move: growing copies nothing. */
struct lines {
	struct line **chunk;
	size_t n, n_chunks, cap; /* lines in use; chunks, and room for them */
};

struct table {
	struct lines first; /* by bucket */
	struct lines more;  /* the others of each bucket's chain */
	uint32_t unused;    /* chain of those in `more` that no bucket has */
};

struct sx_memtable_buckets {
	sx_plan plan;
	unsigned b, max_b; /* 2^b buckets, and `split` more */
	size_t split;
	struct table table[TABLES];
	const sx_kernel *kernel;
	uint64_t *fp; /* all fingerprints, in the order they came */
	size_t n, cap;
};

/* The permuted value, left-aligned in 64 bits. */
static uint64_t aligned(const sx_memtable_buckets *l, unsigned t, uint64_t fp)
{
	return sx_permute(&l->plan.table[t], fp) << (64 - l->plan.bits);
}

/* ---- lines ---- */

static struct line *line_at(const struct lines *lines, size_t i)
{
	return &lines->chunk[i >> CHUNK_BITS][i & (CHUNK_LINES - 1)];
}

/* How many chunks are allocated after the first n: as many again, up to MAX_CHUNKS. */
static size_t chunks_after(size_t n)
{
	return !n ? 1 : n < MAX_CHUNKS ? n : MAX_CHUNKS;
}

/* Room for one more. */
static int lines_reserve(struct lines *lines)
{
	size_t more = chunks_after(lines->n_chunks);
	struct line *chunk;

	if (lines->n < lines->n_chunks * CHUNK_LINES)
		return 0;
	if (sx_reserve(&lines->chunk, &lines->cap, lines->n_chunks + more, sizeof(*lines->chunk)))
		return -1;
	chunk = sx_alloc_lines(more * CHUNK_LINES, sizeof(*chunk));
	if (!chunk)
		return -1;
	for (; more; more--, chunk += CHUNK_LINES)
		lines->chunk[lines->n_chunks++] = chunk;
	return 0;
}

/* Append an empty one, for which there is room. */
static size_t lines_push(struct lines *lines)
{
	struct line *line = line_at(lines, lines->n);

	memset(line, 0, sizeof(*line));
	line->next = NO_LINE;
	return lines->n++;
}

static void lines_free(struct lines *lines)
{
	for (size_t i = 0; i < lines->n_chunks; i += chunks_after(i))
		free(lines->chunk[i]);
	free(lines->chunk);
}

/* ---- buckets ---- */

/*
 * Buckets are split one after another (linear hashing), so that no row has to wait until all are
 * laid out anew. The bucket of the `bits` leading bits v: an even v has the bucket that v / 2 had
 * with one bit less; that of an odd v was new then.
 */
static size_t bucket_at(uint64_t v, unsigned bits)
{
	unsigned zeros;

	if (!v)
		return 0;
	zeros = (unsigned)__builtin_ctzll(v);
	return ((size_t)1 << (bits - 1 - zeros)) | (size_t)(v >> zeros >> 1);
}

/* The bucket of the b + 1 leading bits. */
static size_t bucket_of(const sx_memtable_buckets *l, uint64_t v)
{
	return v >> 1 < l->split ? bucket_at(v, l->b + 1) : bucket_at(v >> 1, l->b);
}

static size_t bucket_of_value(const sx_memtable_buckets *l, uint64_t value)
{
	return bucket_of(l, value >> (63 - l->b));
}

static size_t bucket_of_fp(const sx_memtable_buckets *l, unsigned t, uint64_t fp)
{
	return bucket_of_value(l, aligned(l, t, fp));
}

/* Add to the first line of a bucket, whose contents make room for it if it is full. */
static void bucket_add(struct table *table, size_t bucket, uint64_t fp)
{
	struct line *line = line_at(&table->first, bucket);

	if (line->used == LANES) {
		uint32_t other = table->unused;

		if (other != NO_LINE)
			table->unused = line_at(&table->more, other)->next;
		else
			other = (uint32_t)lines_push(&table->more);
		*line_at(&table->more, other) = *line;
		line->next = other;
		line->used = 0;
	}
	line->fp[line->used++] = fp;
}

/* Put what a line holds where it belongs now. */
static void move_line(sx_memtable_buckets *l, unsigned t, const struct line *line)
{
	for (unsigned i = 0; i < line->used; i++)
		bucket_add(&l->table[t], bucket_of_fp(l, t, line->fp[i]), line->fp[i]);
}

/*
 * Share the entries of a bucket with the new one. All lines of a chain but the first are full,
 * so the two chains never need more lines than the old one has given up by then.
 */
static void share_out(sx_memtable_buckets *l, unsigned t, size_t bucket)
{
	struct table *table = &l->table[t];
	struct line *first = line_at(&table->first, bucket), line = *first;

	first->used = 0;
	first->next = NO_LINE;
	move_line(l, t, &line);
	while (line.next != NO_LINE) {
		uint32_t at = line.next;
		struct line *more = line_at(&table->more, at);

		line = *more;
		more->next = table->unused;
		table->unused = at;
		move_line(l, t, &line);
	}
}

/* Split the next bucket, if there are too many entries for those that there are. */
static int split_next(sx_memtable_buckets *l)
{
	size_t bucket = bucket_at(l->split, l->b);

	if (l->b == l->max_b || l->n < LOAD * l->table[0].first.n)
		return 0;
	for (unsigned t = 0; t < TABLES; t++)
		if (lines_reserve(&l->table[t].first))
			return -1;
	l->split++;
	for (unsigned t = 0; t < TABLES; t++) {
		lines_push(&l->table[t].first);
		share_out(l, t, bucket);
	}
	if (l->split >> l->b) {
		l->b++;
		l->split = 0;
	}
	return 0;
}

sx_memtable_buckets *sx_memtable_buckets_new(unsigned bits, const sx_kernel *kernel)
{
	sx_memtable_buckets *l = sx_calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->kernel = kernel;
	if (sx_plan_make(&l->plan, "4x16", bits, NULL))
		goto fail;
	l->max_b = l->plan.table[0].prefix_bits;
	for (unsigned t = 0; t < TABLES; t++) {
		if (l->plan.table[t].prefix_bits < l->max_b)
			l->max_b = l->plan.table[t].prefix_bits;
		if (lines_reserve(&l->table[t].first))
			goto fail;
		lines_push(&l->table[t].first);
		l->table[t].unused = NO_LINE;
	}
	return l;
fail:
	sx_memtable_buckets_free(l);
	return NULL;
}

void sx_memtable_buckets_free(sx_memtable_buckets *l)
{
	if (!l)
		return;
	for (unsigned t = 0; t < TABLES; t++) {
		lines_free(&l->table[t].first);
		lines_free(&l->table[t].more);
	}
	free(l->fp);
	free(l);
}

void sx_memtable_buckets_prefetch_add(const sx_memtable_buckets *l, uint64_t fp)
{
	for (unsigned t = 0; t < TABLES; t++) {
		size_t bucket = bucket_of_fp(l, t, fp);
		const struct line *line = line_at(&l->table[t].first, bucket);

		__builtin_prefetch(line, 1);
		__builtin_prefetch(&line->fp[LANES - 1], 1);
	}
}

int sx_memtable_buckets_add(sx_memtable_buckets *l, uint64_t fp)
{
	if (sx_reserve(&l->fp, &l->cap, l->n + 1, sizeof(*l->fp)) || split_next(l))
		return -1;
	/* Room in all four tables first, so that an entry is never in only some of them. */
	for (unsigned t = 0; t < TABLES; t++)
		if (l->table[t].unused == NO_LINE && lines_reserve(&l->table[t].more))
			return -1;
	l->fp[l->n] = fp;
	for (unsigned t = 0; t < TABLES; t++)
		bucket_add(&l->table[t], bucket_of_fp(l, t, fp), fp);
	l->n++;
	return 0;
}

/*
 * Take a fingerprint out of a bucket; the last one of the first line takes its place. So all lines
 * but the first stay full.
 */
static void bucket_remove(struct table *table, size_t bucket, uint64_t fp)
{
	struct line *first = line_at(&table->first, bucket), *line = first;
	unsigned i = 0, last = first->used - 1;

	while (line->fp[i] != fp)
		if (++i == line->used) {
			line = line_at(&table->more, line->next);
			i = 0;
		}
	line->fp[i] = first->fp[last];
	first->used = last;
	if (!last && first->next != NO_LINE) {
		uint32_t at = first->next;

		line = line_at(&table->more, at);
		*first = *line;
		line->next = table->unused;
		table->unused = at;
	}
}

void sx_memtable_buckets_drop_last(sx_memtable_buckets *l)
{
	uint64_t fp = l->fp[--l->n];

	for (unsigned t = 0; t < TABLES; t++)
		bucket_remove(&l->table[t], bucket_of_fp(l, t, fp), fp);
}

/* ---- looking up ---- */

/* Which buckets of which tables are read, each once: the first line of each. */
struct visits {
	const struct line *at[MAX_VISITS];
	uint32_t bucket[MAX_VISITS]; /* and TABLES of these, its table */
	size_t n;
	uint16_t slot[VISIT_SLOTS]; /* by a hash of the bucket: the number of a visit + 1, 0 = free */
};

/* Add a bucket, unless it is there. */
static void add_visit(const sx_memtable_buckets *l, unsigned table, size_t bucket,
		      struct visits *visits)
{
	uint32_t number = (uint32_t)(bucket * TABLES + table);
	size_t i = (number * UINT32_C(0x9e3779b1)) >> 22;

	static_assert(VISIT_SLOTS == 1 << (32 - 22), "the hash is as long as the table");
	for (; visits->slot[i]; i = (i + 1) & (VISIT_SLOTS - 1))
		if (visits->bucket[visits->slot[i] - 1] == number)
			return;
	visits->at[visits->n] = line_at(&l->table[table].first, bucket);
	sx_prefetch(visits->at[visits->n]);
	visits->bucket[visits->n] = number;
	visits->slot[i] = (uint16_t)++visits->n;
}

/*
 * The buckets that the probes fall into. What they hold is asked for, as the cache misses of all are
 * waited for together. 0 = too many, so that it is cheaper to look at everything.
 */
static int choose_visits(const sx_memtable_buckets *l, const sx_probes *probes,
			 struct visits *visits)
{
	unsigned shift = l->plan.bits - 1 - l->b;
	uint64_t most = 0;

	for (size_t i = 0; i < probes->n; i++) {
		const sx_probe *probe = &probes->at[i];

		if (probe->rest >= 0)
			most += (probe->high >> shift) - (probe->low >> shift) + 1;
		if (most > MAX_VISITS || most * VISIT_ENTRIES > l->n)
			return 0;
	}
	visits->n = 0;
	memset(visits->slot, 0, sizeof(visits->slot));
	for (size_t i = 0; i < probes->n; i++) {
		const sx_probe *probe = &probes->at[i];

		if (probe->rest >= 0)
			for (uint64_t v = probe->low >> shift; v <= probe->high >> shift; v++)
				add_visit(l, probe->table, bucket_of(l, v), visits);
	}
	return 1;
}

/* What is asked, and where the answer goes. */
struct search {
	const sx_memtable_buckets *buckets;
	const sx_fresh_query *query;
	sx_u64s *fps;
};

/* Take of n fingerprints those that are near and accepted. */
static int take_near(const struct search *s, const uint64_t *fp, size_t n)
{
	const sx_fresh_query *q = s->query;
	uint32_t hit[SCAN_ENTRIES];
	size_t hits = n ? s->buckets->kernel->near_u64(fp, n, q->fp, q->k, hit) : 0;

	for (size_t i = 0; i < hits; i++)
		if ((!q->accepts || q->accepts(q->ctx, fp[hit[i]])) &&
		    sx_u64s_push(s->fps, fp[hit[i]]))
			return -1;
	return 0;
}

/* All fingerprints, one after another. */
static int near_of_all(const struct search *s, uint64_t *candidates)
{
	const sx_memtable_buckets *l = s->buckets;

	for (size_t from = 0; from < l->n; from += SCAN_ENTRIES)
		if (take_near(s, l->fp + from,
			      l->n - from < SCAN_ENTRIES ? l->n - from : SCAN_ENTRIES))
			return -1;
	*candidates += l->n;
	return 0;
}

int sx_memtable_buckets_near(const sx_memtable_buckets *l, const sx_fresh_query *query,
			     sx_u64s *fps, uint64_t *candidates)
{
	const struct search s = { l, query, fps };
	struct visits visits;
	size_t first = fps->n;

	if (!choose_visits(l, query->probes, &visits))
		return near_of_all(&s, candidates);
	for (size_t i = 0; i < visits.n; i++) {
		const struct line *line = visits.at[i];

		if (line->used > LANES / 2)
			sx_prefetch(&line->fp[LANES - 1]);
		if (line->next != NO_LINE)
			sx_prefetch(line_at(&l->table[visits.bucket[i] % TABLES].more, line->next));
	}
	for (size_t i = 0; i < visits.n; i++)
		for (const struct line *line = visits.at[i];;) {
			*candidates += line->used;
			if (take_near(&s, line->fp, line->used))
				return -1;
			if (line->next == NO_LINE)
				break;
			line = line_at(&l->table[visits.bucket[i] % TABLES].more, line->next);
		}
	if (fps->n - first < 2)
		return 0;
	if (sx_sort_u64(fps->at + first, fps->n - first))
		return -1;
	fps->n = first + sx_unique_u64(fps->at + first, fps->n - first);
	return 0;
}

void sx_memtable_buckets_prefetch(const sx_memtable_buckets *l, const sx_probes *probes)
{
	size_t n = probes->n < MAX_PREFETCH ? probes->n : MAX_PREFETCH;

	for (size_t i = 0; i < n; i++) {
		const sx_probe *p = &probes->at[i];
		size_t bucket = bucket_of(l, p->low >> (l->plan.bits - 1 - l->b));

		sx_prefetch(line_at(&l->table[p->table].first, bucket));
	}
}
