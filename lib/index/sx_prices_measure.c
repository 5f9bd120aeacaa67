/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Measuring: searches of a reader of its own, as a caller would make them, in shapes that differ
 * in what they have most of. Each is done a few times, and the median counts, so that
 * interruptions do not.
 *
 *   one     a probe of a whole prefix                               the query itself
 *   each    one in every table                                      probes apart from each other
 *   narrow  the same, in one table also all prefixes one bit off    probes
 *   wide    the same with the prefixes of that table cut shorter    rows
 *   merged  ..., or with one range for many of those one bit off    rows that lie together
 *   long    a range of many blocks                                  rows of a scan
 *
 * Four figures cannot be right for all of the first five: those are taken that are the least
 * wrong in proportion to what each takes.
 *
 * Keys are all different, so that what a search reads is in the caches as much as what any search
 * reads. One in four is in the index, if searches find anything at all, as it takes long to look
 * up what documents there are. The pages are touched beforehand, where searching seldom reads,
 * since a page's first use in a process takes longer than what is measured. And each shape is
 * searched for other keys first, as the first hundred searches of a kind take half as long again
 * as those after them: the CPU does not foresee yet where they branch.
 */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "index/sx_prices.h"
#include "index/sx_reader.h"
#include "plan/sx_predict.h"
#include "util/sx_bytes.h"

enum shape { ONE, EACH, NARROW, WIDE, MERGED, LONG, N_SHAPES };

#define ROUNDS 9
#define MOST_SEARCHES 8   /* of a shape in a round */
#define ASK_ABOUT 8       /* one page in so many: asking the system takes longer than all else */
#define REHEARSALS 100    /* of a shape, before it is timed */
#define WIDE_ROWS 256     /* of a range, at least */
#define LONG_ROWS 12000
#define MIN_ROWS 20000    /* of a table; in a smaller one nothing takes long */
#define STEPS 4000        /* towards costs; takes some 50 us */
#define LOYALTY 0.01      /* to what is usual */
#define CACHE_BYTES 32e6  /* what a server has for one core; what systems tell is often wrong */

static const unsigned searches_of[N_SHAPES] = { 8, 4, 4, 4, 4, 1 };

/* What is measured with. */
struct gauge {
	simidx_reader *r; /* of its own */
	uint8_t table[SX_MAX_TABLES];
	unsigned n_tables;
	sx_stencil way[N_SHAPES][ROUNDS];
	uint64_t fp[N_SHAPES][ROUNDS][MOST_SEARCHES];
	uint64_t random;
	unsigned touched; /* pages */
	double start;
	double ns[N_SHAPES][ROUNDS];             /* of a search */
	double probes[N_SHAPES], rows[N_SHAPES]; /* of all of them */
};

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static uint64_t next_random(struct gauge *g)
{
	uint64_t x = g->random += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* ---- what to search ---- */

/* The most leading bits, `most` or less, that leave a range so many rows. */
static unsigned bits_for(uint64_t rows, unsigned most, uint64_t range)
{
	while (most > 1 && rows >> most < range)
		most--;
	return most;
}

/* The table that is looked up in the way of the shape, and not by its prefix alone. */
static void add_special(const struct gauge *g, enum shape shape, sx_strategy *s, unsigned t)
{
	const sx_plan *plan = &g->r->index->plan;
	unsigned bits = plan->table[t].prefix_bits, errors = shape >= NARROW && shape != LONG;
	unsigned merged = 0;
	uint64_t rows = g->r->snapshot.header.table[t].rows, wide = 4 * (rows >> bits);

	if (wide < WIDE_ROWS)
		wide = WIDE_ROWS;
	if (shape == WIDE)
		bits = bits_for(rows, bits, wide);
	if (shape == MERGED)
		merged = bits_for(rows, bits, wide) % bits;
	if (shape == LONG)
		bits = bits_for(rows, bits, LONG_ROWS);
	sx_strategy_add(plan, s, t, errors, bits, merged);
}

static void choose_way(struct gauge *g, enum shape shape, unsigned round)
{
	const sx_plan *plan = &g->r->index->plan;
	sx_strategy *s = &g->way[shape][round].strategy;
	unsigned special = g->table[round % g->n_tables];

	sx_strategy_init(s, 0, 0);
	for (unsigned i = 0; i < g->n_tables; i++) {
		unsigned t = g->table[i];

		if (t == special)
			add_special(g, shape, s, t);
		else if (shape != ONE && shape != LONG)
			sx_strategy_add(plan, s, t, 0, plan->table[t].prefix_bits, 0);
	}
	/* Or a search would look for another way. */
	s->candidates = UINT64_MAX / 8;
}

/* The fingerprints of documents, if searches have looked for these; or NULL. */
static const sx_directory *postings_of(struct gauge *g)
{
	const sx_directory *d;

	if (!sx_has_ids(g->r->index))
		return NULL;
	d = sx_shelf_get(&g->r->snapshot, SX_SHELF_POSTINGS, 0, &g->r->held[SX_SHELF_POSTINGS]);
	return d && d->n ? d : NULL;
}

/* What search number i is for: any fingerprint, or any of those that documents have. */
static uint64_t choose_fp(struct gauge *g, const sx_directory *postings, unsigned i)
{
	uint64_t any = next_random(g);

	return postings && i % 4 == 1 ? postings->entry[any % postings->n].last
				      : any & sx_low_bits(g->r->index->bits);
}

/* ---- touching ---- */

/* Touch the pages that a range has. Returns -1 if one of those that are asked about is not there. */
static int touch_range(struct gauge *g, const sx_directory *d, uint64_t low, uint64_t high)
{
	volatile unsigned char sink;

	for (size_t b = sx_directory_find(d, low); b < d->n; b++) {
		const unsigned char *value = sx_directory_block(d, b);

		if (g->touched++ % ASK_ABOUT == 0 &&
		    !sx_store_is_resident(g->r->index->store, value))
			return -1;
		sink = value[d->table->block_size / 2];
		(void)sink;
		if (d->entry[b].last >= high)
			break;
	}
	return 0;
}

/* Touch what a search will read, and count it. */
static int touch(struct gauge *g, enum shape shape, uint64_t fp)
{
	simidx_query asked = SIMIDX_QUERY_INIT;
	simidx_results out = SIMIDX_RESULTS_INIT;
	simidx_reader *r = g->r;
	sx_query q;

	asked.fp = fp;
	if (now_ns() - g->start > r->index->prices.patience ||
	    sx_query_init(&q, r->index, &asked, NULL) || sx_way_choose(r, &q, NULL))
		return -1;
	g->probes[shape] += (double)r->probes.n;
	g->rows[shape] += (double)sx_way_candidates(r);
	for (size_t i = 0; i < r->probes.n; i++) {
		const sx_probe *p = &r->probes.at[i];
		const sx_directory *d = r->directory[p->table];

		/* Without a directory it takes a search to know where that is. */
		if (!d)
			return sx_search(r, &asked, &out, NULL) ? -1 : 0;
		if (touch_range(g, d, p->low, p->high))
			return -1;
	}
	return 0;
}

/* Choose what to search, and touch it. */
static int touch_all(struct gauge *g)
{
	const sx_directory *postings = postings_of(g);

	for (enum shape shape = ONE; shape < N_SHAPES; shape++)
		for (unsigned round = 0; round < ROUNDS; round++) {
			choose_way(g, shape, round);
			g->r->forced = &g->way[shape][round];
			for (unsigned i = 0; i < searches_of[shape]; i++) {
				uint64_t fp = choose_fp(g, postings, i);

				g->fp[shape][round][i] = fp;
				if (touch(g, shape, fp) ||
				    (postings && touch_range(g, postings, fp, fp)))
					return -1;
			}
		}
	return 0;
}

/* ---- timing ---- */

static int search(struct gauge *g, uint64_t fp)
{
	simidx_query asked = SIMIDX_QUERY_INIT;
	simidx_results out = SIMIDX_RESULTS_INIT;

	/* Whether pages are in memory has been looked at. */
	g->r->watch = g->r->searches = 0;
	asked.fp = fp;
	return simidx_search(g->r, &asked, &out, NULL) ? -1 : 0;
}

static int search_round(struct gauge *g, enum shape shape, unsigned round)
{
	int rc = 0;

	g->r->forced = &g->way[shape][round];
	for (unsigned i = 0; !rc && i < searches_of[shape]; i++)
		rc = search(g, g->fp[shape][round][i]);
	return rc;
}

static int rehearse(struct gauge *g, enum shape shape)
{
	const sx_directory *postings = postings_of(g);
	int rc = 0;

	for (unsigned i = 0; !rc && i < REHEARSALS; i++) {
		g->r->forced = &g->way[shape][i % ROUNDS];
		rc = search(g, choose_fp(g, postings, i));
	}
	return rc;
}

/*
 * Time all. A scan reads the same as the one before it: where all fits into the cache, it is there.
 */
static int measure_all(struct gauge *g, int fits_cache)
{
	double start;

	for (enum shape shape = ONE; shape < N_SHAPES; shape++) {
		if (shape != LONG && rehearse(g, shape))
			return -1;
		for (unsigned round = 0; round < ROUNDS; round++) {
			if (shape == LONG && fits_cache && search_round(g, shape, round))
				return -1;
			start = now_ns();
			if (search_round(g, shape, round))
				return -1;
			g->ns[shape][round] = (now_ns() - start) / searches_of[shape];
		}
	}
	return 0;
}

/* ---- conclusions ---- */

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double within(double x, double typical)
{
	if (!(x > typical / SX_PRICES_BOUND))
		return typical / SX_PRICES_BOUND;
	return x < typical * SX_PRICES_BOUND ? x : typical * SX_PRICES_BOUND;
}

static double product(const double a[SX_PRICES_FITTED], const double b[SX_PRICES_FITTED])
{
	double sum = 0;

	for (unsigned j = 0; j < SX_PRICES_FITTED; j++)
		sum += a[j] * b[j];
	return sum;
}

/* The factor by which costs are least wrong. */
static double scale_of(const double a[][SX_PRICES_FITTED], unsigned n,
		       const double cost[SX_PRICES_FITTED])
{
	double up = 0, down = 0;

	for (unsigned i = 0; i < n; i++) {
		double by = product(a[i], cost);

		up += by;
		down += by * by;
	}
	return up / down;
}

/* One cost after the other, until nothing changes any more. */
void sx_prices_fit(const double a[][SX_PRICES_FITTED], unsigned n,
		   const double typical[SX_PRICES_FITTED], double cost[SX_PRICES_FITTED])
{
	double usual[SX_PRICES_FITTED], scale = scale_of(a, n, typical);

	for (unsigned j = 0; j < SX_PRICES_FITTED; j++)
		cost[j] = usual[j] = within(scale * typical[j], typical[j]);
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned j = step % SX_PRICES_FITTED;
		double up = LOYALTY / usual[j], down = LOYALTY / usual[j] / usual[j];

		for (unsigned i = 0; i < n; i++) {
			up += a[i][j] * (1 - product(a[i], cost) + a[i][j] * cost[j]);
			down += a[i][j] * a[i][j];
		}
		cost[j] = within(up / down, typical[j]);
	}
}

/* What the medians say: time = query + tables * table + probes * probe + rows * row. */
static int conclude(struct gauge *g, const sx_costs *typical, sx_costs *out)
{
	const double usual[SX_PRICES_FITTED] = { typical->query, typical->table, typical->probe,
						 typical->candidate };
	double ns[N_SHAPES], a[LONG][SX_PRICES_FITTED], x[SX_PRICES_FITTED], rows;

	for (enum shape shape = ONE; shape < N_SHAPES; shape++) {
		double n = ROUNDS * searches_of[shape];

		qsort(g->ns[shape], ROUNDS, sizeof(double), compare);
		ns[shape] = g->ns[shape][ROUNDS / 2];
		if (!(ns[shape] > 0))
			return -1;
		if (shape == LONG)
			break;
		a[shape][0] = 1 / ns[shape];
		a[shape][1] = g->way[shape][0].strategy.n / ns[shape];
		a[shape][2] = g->probes[shape] / n / ns[shape];
		a[shape][3] = g->rows[shape] / n / ns[shape];
	}
	rows = g->rows[LONG] / ROUNDS;
	if (!(rows > 0))
		return -1;
	sx_prices_fit(a, LONG, usual, x);
	out->query = x[0];
	out->table = x[1];
	out->probe = x[2];
	out->candidate = x[3];
	out->scanned = within((ns[LONG] - x[0] - x[1] - x[2]) / rows, typical->scanned);
	return 0;
}

/* Whether all tables fit into the cache. */
static int fits_cache(const struct gauge *g)
{
	const simidx *index = g->r->index;
	double bytes = sx_row_bytes(index->bits, g->r->snapshot.header.table[0].rows, index->fill) *
		       (double)g->r->snapshot.header.table[0].rows * index->plan.n_tables;

	return bytes < CACHE_BYTES;
}

/* The tables that the caller's search has asked for. */
static int choose_tables(struct gauge *g, const simidx_reader *asking)
{
	uint32_t asked = 0;

	for (size_t i = 0; i < asking->probes.n; i++)
		asked |= UINT32_C(1) << asking->probes.at[i].table;
	for (unsigned t = 0; t < g->r->index->plan.n_tables; t++) {
		if (!(asked >> t & 1))
			continue;
		if (g->r->snapshot.header.table[t].rows < MIN_ROWS)
			return -1;
		g->table[g->n_tables++] = (uint8_t)t;
	}
	return g->n_tables ? 0 : -1;
}

int sx_prices_measure(simidx_reader *asking, sx_costs *out)
{
	struct gauge *g = sx_calloc(1, sizeof(*g));
	sx_costs typical;
	int rc = -1;

	if (!g)
		return -1;
	g->start = now_ns();
	if (simidx_reader_open(asking->index, &g->r, NULL) ||
	    sx_snapshot_renew(&g->r->snapshot, NULL) || choose_tables(g, asking))
		goto out;
	sx_costs_typical(&asking->index->plan, g->r->snapshot.header.table[0].rows, &typical);
	rc = touch_all(g);
	sx_snapshot_reset(&g->r->snapshot);
	rc = rc || measure_all(g, fits_cache(g)) ? -1 : conclude(g, &typical, out);
out:
	simidx_reader_close(g->r);
	for (enum shape shape = ONE; shape < N_SHAPES; shape++)
		for (unsigned round = 0; round < ROUNDS; round++)
			sx_stencil_free(&g->way[shape][round]);
	free(g);
	return rc;
}
