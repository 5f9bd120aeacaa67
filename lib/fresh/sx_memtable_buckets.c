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
#define MAX_CANDIDATES 64 /* lines whose entries are compared together */
#define MAX_PREFETCH 16
#define SCAN_ENTRIES 1024 /* fingerprints compared at once */

/* Two cache lines, of which the second is read only where a tag is near. */
struct line {
	uint32_t word[1 + LANES]; /* the next line of the bucket or NO_LINE; then the tags */
	uint32_t used;
	uint32_t entry[LANES]; /* number of the fingerprint */
};

static_assert(sizeof(struct line) == 128, "a line is two cache lines");
static_assert(MAX_CANDIDATES * LANES <= SCAN_ENTRIES, "candidates are compared at once");

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

static uint32_t tag_of(const sx_memtable_buckets *l, unsigned t, uint64_t value)
{
	return (uint32_t)(value << l->plan.table[t].prefix_bits >> 32);
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
	line->word[0] = NO_LINE;
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

/* Add to the first line of a bucket, whose contents make room for it if it is full. */
static void bucket_add(struct table *table, size_t bucket, uint32_t tag, uint32_t entry)
{
	struct line *line = line_at(&table->first, bucket);

	if (line->used == LANES) {
		uint32_t other = table->unused;

		if (other != NO_LINE)
			table->unused = line_at(&table->more, other)->word[0];
		else
			other = (uint32_t)lines_push(&table->more);
		*line_at(&table->more, other) = *line;
		line->word[0] = other;
		line->used = 0;
	}
	line->word[1 + line->used] = tag;
	line->entry[line->used] = entry;
	line->used++;
}

/* Put what a line holds where it belongs now. */
static void move_line(sx_memtable_buckets *l, unsigned t, const struct line *line)
{
	for (unsigned i = 0; i < line->used; i++) {
		uint64_t value = aligned(l, t, l->fp[line->entry[i]]);

		bucket_add(&l->table[t], bucket_of_value(l, value), line->word[1 + i],
			   line->entry[i]);
	}
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
	first->word[0] = NO_LINE;
	move_line(l, t, &line);
	while (line.word[0] != NO_LINE) {
		uint32_t at = line.word[0];
		struct line *more = line_at(&table->more, at);

		line = *more;
		more->word[0] = table->unused;
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
		size_t bucket = bucket_of_value(l, aligned(l, t, fp));
		const struct line *line = line_at(&l->table[t].first, bucket);

		__builtin_prefetch(line, 1);
		__builtin_prefetch(&line->used, 1);
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
	for (unsigned t = 0; t < TABLES; t++) {
		uint64_t value = aligned(l, t, fp);

		bucket_add(&l->table[t], bucket_of_value(l, value), tag_of(l, t, value),
			   (uint32_t)l->n);
	}
	l->n++;
	return 0;
}

/*
 * Take an entry out of a bucket; the last one of the first line takes its place. So all lines but
 * the first stay full.
 */
static void bucket_remove(struct table *table, size_t bucket, uint32_t entry)
{
	struct line *first = line_at(&table->first, bucket), *line = first;
	unsigned i = 0, last = first->used - 1;

	while (line->entry[i] != entry)
		if (++i == line->used) {
			line = line_at(&table->more, line->word[0]);
			i = 0;
		}
	line->word[1 + i] = first->word[1 + last];
	line->entry[i] = first->entry[last];
	first->used = last;
	if (!last && first->word[0] != NO_LINE) {
		uint32_t at = first->word[0];

		line = line_at(&table->more, at);
		*first = *line;
		line->word[0] = table->unused;
		table->unused = at;
	}
}

void sx_memtable_buckets_drop_last(sx_memtable_buckets *l)
{
	uint32_t entry = (uint32_t)--l->n;

	for (unsigned t = 0; t < TABLES; t++)
		bucket_remove(&l->table[t], bucket_of_value(l, aligned(l, t, l->fp[entry])), entry);
}

/* ---- looking up ---- */

/*
 * Which buckets of which tables are read: the table, the bucket, and how many bits less than
 * NO_BITS a match can differ in after the prefix.
 */
struct visits {
	uint64_t at[MAX_VISITS];
	size_t n;
};

#define VISIT_TABLE 40
#define VISIT_BUCKET 8
#define NO_BITS 255u

/*
 * The buckets that the probes fall into, each once, with the most bits of its probes. 0 = too many,
 * so that it is cheaper to look at everything.
 */
static int choose_visits(const sx_memtable_buckets *l, const sx_probes *probes,
			 struct visits *visits)
{
	unsigned shift = l->plan.bits - 1 - l->b;
	int has_wide = 0;
	size_t n = 0;

	visits->n = 0;
	for (size_t i = 0; i < probes->n; i++) {
		const sx_probe *probe = &probes->at[i];
		uint64_t low = probe->low >> shift, high = probe->high >> shift;

		if (probe->rest < 0)
			continue;
		has_wide |= l->plan.table[probe->table].prefix_bits > l->b;
		if (high - low >= MAX_VISITS - visits->n)
			return 0;
		for (; low <= high; low++)
			visits->at[visits->n++] = (uint64_t)probe->table << VISIT_TABLE |
						  (uint64_t)bucket_of(l, low) << VISIT_BUCKET |
						  (NO_BITS - (unsigned)probe->rest);
	}
	if (visits->n * VISIT_ENTRIES > l->n)
		return 0;
	/* Several probes of a table end in one bucket only where that is wider than a prefix. */
	if (!has_wide)
		return 1;
	if (sx_sort_u64(visits->at, visits->n))
		return 0;
	for (size_t i = 0; i < visits->n; i++)
		if (!n || visits->at[i] >> VISIT_BUCKET != visits->at[n - 1] >> VISIT_BUCKET)
			visits->at[n++] = visits->at[i];
	visits->n = n;
	return 1;
}

static unsigned table_of_visit(uint64_t visit)
{
	return (unsigned)(visit >> VISIT_TABLE);
}

static struct line *line_of_visit(const sx_memtable_buckets *l, uint64_t visit)
{
	return line_at(&l->table[table_of_visit(visit)].first, (uint32_t)(visit >> VISIT_BUCKET));
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
	size_t hits = s->buckets->kernel->near_u64(fp, n, q->fp, q->k, hit);

	for (size_t i = 0; i < hits; i++)
		if ((!q->accepts || q->accepts(q->ctx, fp[hit[i]])) &&
		    sx_u64s_push(s->fps, fp[hit[i]]))
			return -1;
	return 0;
}

/* Entries whose tag is near: to be compared when what all of them need was asked for. */
struct candidates {
	const struct line *line[MAX_CANDIDATES];
	uint32_t near[MAX_CANDIDATES]; /* bit i: entry i of the line */
	size_t n;
	uint64_t n_compared;
};

/* Compare the candidates, and forget them. */
static int compare(const struct search *s, struct candidates *c)
{
	const uint64_t *fps = s->buckets->fp;
	uint64_t fp[MAX_CANDIDATES * LANES];
	size_t n = c->n, n_fps = 0;

	c->n = 0;
	for (size_t i = 0; i < n; i++) {
		c->near[i] &= (1u << c->line[i]->used) - 1;
		for (uint32_t near = c->near[i]; near; near &= near - 1)
			sx_prefetch(&fps[c->line[i]->entry[__builtin_ctz(near)]]);
	}
	for (size_t i = 0; i < n; i++)
		for (uint32_t near = c->near[i]; near; near &= near - 1)
			fp[n_fps++] = fps[c->line[i]->entry[__builtin_ctz(near)]];
	c->n_compared += n_fps;
	return take_near(s, fp, n_fps);
}

/* Add what is near in a bucket to the candidates. */
static int near_in_bucket(const struct search *s, uint64_t visit, struct candidates *c)
{
	const sx_memtable_buckets *l = s->buckets;
	unsigned t = table_of_visit(visit), rest = NO_BITS - (visit & NO_BITS), k = s->query->k;
	uint32_t tag = tag_of(l, t, aligned(l, t, s->query->fp));
	const struct line *line = line_of_visit(l, visit);

	for (;;) {
		/* The first of the 16 words is not a tag. */
		uint32_t near = l->kernel->near_16(line->word, tag, rest < k ? rest : k) >> 1;

		if (near) {
			sx_prefetch(&line->used);
			c->line[c->n] = line;
			c->near[c->n++] = near;
			if (c->n == MAX_CANDIDATES && compare(s, c))
				return -1;
		}
		if (line->word[0] == NO_LINE)
			return 0;
		line = line_at(&l->table[t].more, line->word[0]);
	}
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
	struct candidates c;
	struct visits visits;
	size_t first = fps->n;

	if (!choose_visits(l, query->probes, &visits))
		return near_of_all(&s, candidates);
	/* The cache misses of all buckets are waited for together, of their second lines too. */
	for (size_t i = 0; i < visits.n; i++)
		sx_prefetch(line_of_visit(l, visits.at[i]));
	for (size_t i = 0; i < visits.n; i++) {
		uint32_t next = line_of_visit(l, visits.at[i])->word[0];

		if (next != NO_LINE)
			sx_prefetch(line_at(&l->table[table_of_visit(visits.at[i])].more, next));
	}
	c.n = c.n_compared = 0;
	for (size_t i = 0; i < visits.n; i++)
		if (near_in_bucket(&s, visits.at[i], &c))
			return -1;
	if (compare(&s, &c))
		return -1;
	*candidates += c.n_compared;
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
