/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Measuring: searches of a reader of its own, for keys that nobody has, in four shapes that
 * differ in what they have most of. Each is done some dozen times, and the median counts, so
 * that interruptions do not; what comes out is held within bounds.
 *
 *   one     a probe of a whole prefix                      the query itself
 *   narrow  a probe of a prefix and all those one bit off  probes
 *   wide    the same with prefixes cut shorter             rows
 *   long    a range of many blocks                         rows of a scan
 *
 * Keys are all different, so that what a search reads is in the caches as much as what any search
 * reads. The pages are touched beforehand, at an end where searching does not read, since a page's
 * first use in a process takes longer than what is measured.
 */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "index/sx_prices.h"
#include "index/sx_reader.h"
#include "plan/sx_predict.h"
#include "util/sx_bytes.h"

enum shape { ONE, NARROW, WIDE, LONG, N_SHAPES };

#define ROUNDS 15
#define ONES 8            /* searches of the first shape in a round */
#define WIDE_ROWS 256     /* of a range, at least */
#define LONG_ROWS 12000
#define MIN_ROWS 20000    /* of a table; in a smaller one nothing takes long */
#define BOUND 8           /* a cost differs from the typical one by this factor at most */
#define CACHE_BYTES 32e6  /* what a server has for one core; what systems tell is often wrong */

/* What is measured with. */
struct gauge {
	simidx_reader *r; /* of its own */
	unsigned table[ROUNDS];
	sx_stencil way[N_SHAPES][ROUNDS];
	uint64_t seed;
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

/* The most leading bits, `most` or less, that leave a range so many rows. */
static unsigned bits_for(uint64_t rows, unsigned most, uint64_t range)
{
	while (most > 1 && rows >> most < range)
		most--;
	return most;
}

static void choose_way(struct gauge *g, enum shape shape, unsigned round)
{
	const sx_plan *plan = &g->r->index->plan;
	sx_strategy *s = &g->way[shape][round].strategy;
	unsigned t = g->table[round], bits = plan->table[t].prefix_bits;
	uint64_t rows = g->r->snapshot.header.table[t].rows, wide = 4 * (rows >> bits);

	if (shape == WIDE)
		bits = bits_for(rows, bits, wide > WIDE_ROWS ? wide : WIDE_ROWS);
	if (shape == LONG)
		bits = bits_for(rows, bits, LONG_ROWS);
	sx_strategy_init(s, 0, 0);
	sx_strategy_add(plan, s, t, shape == NARROW || shape == WIDE, bits, 0);
	/* Or a search would look for another way. */
	s->candidates = UINT64_MAX / 8;
}

/* The same for the same place in the order of searches. */
static uint64_t next_fp(struct gauge *g)
{
	g->seed += UINT64_C(0x9e3779b97f4a7c15);
	return (g->seed ^ g->seed >> 29) * UINT64_C(0xbf58476d1ce4e5b9) &
	       sx_low_bits(g->r->index->bits);
}

static int search(struct gauge *g, sx_stencil *way, uint64_t fp, simidx_results *out,
		  int only_choose)
{
	static const simidx_query asked = SIMIDX_QUERY_INIT;
	sx_query q = { .asked = &asked, .fp = fp, .unit = 1 };
	int rc;

	memset(out, 0, sizeof(*out));
	g->r->hits.n = 0;
	/* Whether pages are in memory has been looked at. */
	g->r->watch = 0;
	g->r->searches = 1;
	rc = sx_way_force(g->r, &q, way, NULL);
	return rc || only_choose ? rc : sx_collect_tables(g->r, &q, out, NULL);
}

/* Touch the pages that a range has, by their last bytes. Returns -1 if one is not in memory. */
static int touch_range(const simidx_reader *r, const sx_directory *d, const sx_probe *probe)
{
	volatile unsigned char sink;

	for (size_t b = sx_directory_find(d, probe->low); b < d->n; b++) {
		const unsigned char *value = sx_directory_block(d, b);

		if (!sx_store_is_resident(r->index->store, value))
			return -1;
		sink = value[d->table->block_size - 1];
		(void)sink;
		if (d->entry[b].last >= probe->high)
			break;
	}
	return 0;
}

/* Touch what a search will read. */
static int touch(struct gauge *g, sx_stencil *way, uint64_t fp)
{
	simidx_reader *r = g->r;
	const sx_directory *d;
	simidx_results out;

	if (now_ns() - g->start > r->index->prices.patience || search(g, way, fp, &out, 1))
		return -1;
	d = r->directory[way->strategy.order[0]];
	/* Without a directory it takes a search to know where that is. */
	if (!d)
		return search(g, way, fp, &out, 0);
	for (size_t i = 0; i < r->probes.n; i++)
		if (touch_range(r, d, &r->probes.at[i]))
			return -1;
	return 0;
}

static int touch_all(struct gauge *g)
{
	g->seed = 0;
	for (enum shape shape = ONE; shape < N_SHAPES; shape++)
		for (unsigned round = 0; round < ROUNDS; round++) {
			choose_way(g, shape, round);
			for (unsigned i = 0; i < (shape == ONE ? ONES : 1); i++)
				if (touch(g, &g->way[shape][round], next_fp(g)))
					return -1;
		}
	return 0;
}

/* A search with all that belongs to it, as a caller would have it. */
static int search_fully(struct gauge *g, enum shape shape, unsigned round, uint64_t fp)
{
	simidx_results out;
	int rc;

	sx_snapshot_reset(&g->r->snapshot);
	rc = sx_snapshot_renew(&g->r->snapshot, NULL);
	if (!rc)
		rc = search(g, &g->way[shape][round], fp, &out, 0);
	if (rc)
		return -1;
	g->probes[shape] += (double)out.probes;
	g->rows[shape] += (double)out.candidates;
	return 0;
}

/*
 * Time all. A scan reads the same as the one before it: where all fits into the cache, it is there.
 */
static int measure_all(struct gauge *g, int fits_cache)
{
	uint64_t fp[ONES];
	simidx_results out;

	g->seed = 0;
	for (enum shape shape = ONE; shape < N_SHAPES; shape++) {
		g->probes[shape] = g->rows[shape] = 0;
		for (unsigned round = 0; round < ROUNDS; round++) {
			unsigned n = shape == ONE ? ONES : 1;
			double start;

			for (unsigned i = 0; i < n; i++)
				fp[i] = next_fp(g);
			if (shape == LONG && fits_cache &&
			    search(g, &g->way[shape][round], fp[0], &out, 0))
				return -1;
			start = now_ns();
			for (unsigned i = 0; i < n; i++)
				if (search_fully(g, shape, round, fp[i]))
					return -1;
			g->ns[shape][round] = (now_ns() - start) / n;
		}
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double within(double x, double typical)
{
	if (!(x > typical / BOUND))
		return typical / BOUND;
	return x < typical * BOUND ? x : typical * BOUND;
}

/* What the medians say: time = query + probes * probe + rows * candidate. */
static int conclude(struct gauge *g, const sx_costs *typical, sx_costs *out)
{
	double ns[N_SHAPES], probes[N_SHAPES], rows[N_SHAPES], area;

	for (enum shape shape = ONE; shape < N_SHAPES; shape++) {
		unsigned n = shape == ONE ? ROUNDS * ONES : ROUNDS;

		qsort(g->ns[shape], ROUNDS, sizeof(double), compare);
		ns[shape] = g->ns[shape][ROUNDS / 2];
		probes[shape] = g->probes[shape] / n;
		rows[shape] = g->rows[shape] / n;
	}
	for (enum shape shape = NARROW; shape <= WIDE; shape++) {
		ns[shape] -= ns[ONE];
		probes[shape] -= probes[ONE];
		rows[shape] -= rows[ONE];
	}
	area = probes[NARROW] * rows[WIDE] - probes[WIDE] * rows[NARROW];
	if (!(area > 0) || !(rows[LONG] > 0))
		return -1;
	out->probe = (ns[NARROW] * rows[WIDE] - ns[WIDE] * rows[NARROW]) / area;
	out->candidate = (probes[NARROW] * ns[WIDE] - probes[WIDE] * ns[NARROW]) / area;
	out->probe = within(out->probe, typical->probe);
	out->candidate = within(out->candidate, typical->candidate);
	out->query = ns[ONE] - out->probe - rows[ONE] * out->candidate;
	out->query = within(out->query, typical->query);
	out->scanned = within((ns[LONG] - out->query - out->probe) / rows[LONG],
			      typical->scanned);
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

/* The tables that the caller's search has asked for, in turns. */
static int choose_tables(struct gauge *g, const simidx_reader *asking)
{
	uint64_t least = UINT64_MAX;

	if (!asking->probes.n)
		return -1;
	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t i = (size_t)round * asking->probes.n / ROUNDS;
		unsigned t = g->table[round] = asking->probes.at[i].table;

		if (g->r->snapshot.header.table[t].rows < least)
			least = g->r->snapshot.header.table[t].rows;
	}
	return least < MIN_ROWS ? -1 : 0;
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
	if (!touch_all(g) && !measure_all(g, fits_cache(g)))
		rc = conclude(g, &typical, out);
out:
	simidx_reader_close(g->r);
	for (enum shape shape = ONE; shape < N_SHAPES; shape++)
		for (unsigned round = 0; round < ROUNDS; round++)
			sx_stencil_free(&g->way[shape][round]);
	free(g);
	return rc;
}
