/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How good the planner's choices are: for each radius the ways that some costs would have it
 * choose, each of them searched by, what they were predicted to take and what they take. Knows the
 * inside of the library, as its interface has no way to choose.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bn_options.h"
#include "bn_own.h"
#include "bn_util.h"
#include "search/sx_search.h"

#define QUERIES 100000
#define MAX_WAYS 48
#define MAX_ROUNDS 64
#define PASS_SECONDS 0.01
#define WARM_SECONDS 0.3
#define TOO_LONG 8. /* times the cheapest: is not tried */

struct way {
	sx_cover cover;
	double us[MAX_ROUNDS];
	double median;
};

struct bench {
	struct bn_set data;
	const char *plan;
	unsigned rounds;
	uint64_t documents, next;
	simidx *index;
	simidx_reader *reader;
	simidx_query query;
	sx_costs typical;
	struct way way[MAX_WAYS];
	unsigned n;
};

static double ns_by(const sx_costs *costs, const sx_cover *s)
{
	if (s->scan)
		return sx_costs_scan(costs, s->candidates);
	return costs->query +
	       sx_costs_probes(costs, s->n, (double)s->probes, (double)s->candidates);
}

static int is_same(const sx_cover *a, const sx_cover *b)
{
	return a->scan == b->scan && a->n == b->n &&
	       !memcmp(a->probed, b->probed, a->n * sizeof(a->probed[0]));
}

/* The number of a way among those there are; a new one is added. */
static unsigned number_of(struct bench *b, const sx_cover *s)
{
	unsigned i = 0;

	while (i < b->n && !is_same(&b->way[i].cover, s))
		i++;
	if (i == MAX_WAYS)
		bn_die("too many ways");
	if (i == b->n)
		b->way[b->n++].cover = *s;
	return i;
}

static unsigned choose(struct bench *b, unsigned radius, const sx_costs *costs)
{
	sx_request request = { .radius = radius, .rows = b->documents };
	sx_cover s;

	sx_planner_choose(&b->index->schema->plan, &request, costs, &s);
	return number_of(b, &s);
}

/* All ways that are the cheapest for somebody: probes and scans a good deal cheaper or dearer. */
static void find_ways(struct bench *b, unsigned radius)
{
	double least = 1e300;
	unsigned kept = 0;

	for (double probe = 0.125; probe <= 8; probe *= 2)
		for (double scan = 0.2; scan <= 5; scan *= 5) {
			sx_costs costs = b->typical;

			costs.probe *= probe;
			costs.table *= probe;
			costs.scanned *= scan;
			choose(b, radius, &costs);
		}
	for (unsigned i = 0; i < b->n; i++)
		if (ns_by(&b->typical, &b->way[i].cover) < least)
			least = ns_by(&b->typical, &b->way[i].cover);
	for (unsigned i = 0; i < b->n; i++)
		if (ns_by(&b->typical, &b->way[i].cover) <= TOO_LONG * least)
			b->way[kept++] = b->way[i];
	b->n = kept;
}

static void next_query(struct bench *b)
{
	b->query.fp = b->data.query[b->next++ % b->data.n_queries];
}

static void search(struct bench *b)
{
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_error err;

	next_query(b);
	bn_check(simidx_reader_search(b->reader, &b->query, &results, &err), &err, "search");
}

/*
 * What simidx_reader_search() does, but for the choice. The access is one that was made by
 * sx_access_make(); its cover and its probes are replaced.
 */
static void search_by(struct bench *b, sx_template *template, sx_access *access)
{
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_reader *r = b->reader;
	simidx_error err;
	sx_query q;
	sx_finding f = { .view = &r->view, .q = &q, .access = access, .left = UINT64_MAX,
			 .hits = &r->hits, .out = &results };
	sx_finding *finding = &f;

	next_query(b);
	bn_check(sx_query_init(&q, b->index, &b->query, &err), &err, "query");
	bn_check(sx_view_renew(&r->view, &err), &err, "snapshot");
	access->tables.probes.n = 0;
	if (sx_template_probes(&b->index->schema->plan, template, q.fp, q.max_bits,
			       access->permuted, &access->tables.probes))
		bn_die("out of memory");
	sx_hits_clear(&r->hits);
	r->matches.n = 0;
	bn_check(sx_hits_find(r->search, &finding, 1, &results.round_trips, &err), &err, "search");
	bn_check(sx_matches_read(r->search, &f, sx_taking_of(&f, &r->matches), 0, r->hits.n, &err),
		 &err, "documents");
	sx_view_reset(&r->view);
}

/* Make an access for the radius at hand, whose cover is this one. */
static void make_access(struct bench *b, sx_template *template, sx_access *access)
{
	simidx_error err;
	sx_query q;

	memset(access, 0, sizeof(*access));
	bn_check(sx_query_init(&q, b->index, &b->query, &err), &err, "query");
	bn_check(sx_view_renew(&b->reader->view, &err), &err, "snapshot");
	bn_check(sx_access_make(access, &b->reader->covers, &b->reader->view, &q, 0, &err),
		 &err, "access");
	sx_view_reset(&b->reader->view);
	access->cover = &template->cover;
}

/* What a search takes by one way, in microseconds, of searches for so long. */
static double measure(struct bench *b, const sx_cover *s, double least)
{
	sx_template template = { .cover = *s };
	double start, seconds = 0;
	unsigned n = 0, more = 1;
	sx_access access;

	make_access(b, &template, &access);
	start = bn_cpu_seconds();
	for (; seconds < least; more *= 2) {
		for (unsigned i = 0; i < more; i++)
			search_by(b, &template, &access);
		n += more;
		seconds = bn_cpu_seconds() - start;
	}
	sx_access_free(&access);
	sx_template_free(&template);
	return seconds * 1e6 / n;
}

static void print_way(const sx_cover *s)
{
	printf("\"way\":\"");
	if (s->scan)
		printf("scan");
	for (unsigned i = 0; !s->scan && i < s->n; i++) {
		const sx_probed *p = &s->probed[i];

		printf("%st%02u<=%u/%u", i ? " " : "", p->table + 1u, p->threshold, p->bits);
		if (p->flipped < p->bits)
			printf("m%u", p->flipped);
	}
	printf("\",\"tables\":%u,\"probes\":%llu,\"candidates\":%llu", s->n,
	       (unsigned long long)s->probes, (unsigned long long)s->candidates);
}

static void print_choice(const struct bench *b, const char *name, unsigned chosen,
			 const sx_costs *costs)
{
	double predicted = ns_by(costs, &b->way[chosen].cover) / 1000;

	printf(",\"%s_us\":%.3f,\"%s_predicted_us\":%.3f", name, b->way[chosen].median, name,
	       predicted);
	fprintf(stderr, "  %10.2f %10.2f", b->way[chosen].median, predicted);
}

static void measure_radius(struct bench *b, unsigned k)
{
	unsigned typical, best = 0;

	b->query.radius = k;
	b->n = 0;
	find_ways(b, k);
	typical = choose(b, k, &b->typical);
	/* It may be the first one to look into some of the tables. */
	for (unsigned i = 0; i < b->n; i++)
		measure(b, &b->way[i].cover, WARM_SECONDS);
	for (unsigned r = 0; r < b->rounds; r++)
		for (unsigned i = 0; i < b->n; i++)
			b->way[i].us[r] = measure(b, &b->way[i].cover, PASS_SECONDS);
	for (unsigned i = 0; i < b->n; i++) {
		b->way[i].median = bn_quantile(b->way[i].us, b->rounds, 0.5);
		if (b->way[i].median < b->way[best].median)
			best = i;
	}
	for (unsigned i = 0; i < b->n; i++) {
		printf("{\"bench\":\"planner\",\"plan\":\"%s\",\"documents\":%llu,\"radius\":%u,",
		       b->plan, (unsigned long long)b->documents, k);
		print_way(&b->way[i].cover);
		printf(",\"us\":%.3f,\"typical_us\":%.3f}\n", b->way[i].median,
		       ns_by(&b->typical, &b->way[i].cover) / 1000);
	}
	printf("{\"bench\":\"planner\",\"plan\":\"%s\",\"documents\":%llu,\"radius\":%u,"
	       "\"ways\":%u,\"best_us\":%.3f", b->plan, (unsigned long long)b->documents, k, b->n,
	       b->way[best].median);
	fprintf(stderr, "  %3u %5u %10.2f", k, b->n, b->way[best].median);
	print_choice(b, "typical", typical, &b->typical);
	printf("}\n");
	fputc('\n', stderr);
}

static void print_costs(const char *name, const sx_costs *c)
{
	printf(",\"%s\":{\"query_ns\":%.1f,\"table_ns\":%.1f,\"probe_ns\":%.2f,\"row_ns\":%.4f,"
	       "\"scanned_row_ns\":%.4f}", name, c->query, c->table, c->probe, c->candidate,
	       c->scanned);
	fprintf(stderr, "  %-10s query %.0f ns, table %.0f, probe %.1f, row %.3f, row of a scan "
			"%.3f\n",
		name, c->query, c->table, c->probe, c->candidate, c->scanned);
}

static void take_costs(struct bench *b)
{
	fprintf(stderr, "%s, %llu documents\n", b->plan, (unsigned long long)b->documents);
	printf("{\"bench\":\"planner\",\"plan\":\"%s\",\"documents\":%llu", b->plan,
	       (unsigned long long)b->documents);
	sx_costs_typical(&b->index->schema->plan, b->documents, &b->typical);
	print_costs("typical", &b->typical);
	printf("}\n");
}

static void open_index(struct bench *b, const char *dir)
{
	char path[4096], reason[BN_REASON];
	simidx_error err;

	snprintf(path, sizeof(path), "%s/planner-%s-%llu", dir, b->plan,
		 (unsigned long long)b->documents);
	bn_set_make(&b->data, "uniform", b->documents, QUERIES, 1);
	if (bn_own_load(path, b->plan, SIMIDX_LAYOUT_BLOCKS, b->data.fp, b->documents,
			(uint64_t)1 << 30, reason))
		bn_die("%s", reason);
	bn_own_open(path, NULL, &b->index);
	bn_check(simidx_reader_open(b->index, &b->reader, &err), &err, "reader");
	b->query = (simidx_query)SIMIDX_QUERY_INIT;
	for (unsigned i = 0; i < QUERIES; i++)
		search(b);
}

static void close_index(struct bench *b, const char *dir)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/planner-%s-%llu", dir, b->plan,
		 (unsigned long long)b->documents);
	simidx_reader_close(b->reader);
	simidx_close(b->index);
	bn_own_remove(path);
	bn_set_free(&b->data);
}

/* What is printed, for --help. */
static const char figures[] =
	"\n"
	"The first line has the planner's costs; then for each cover \"us\", what it takes, and\n"
	"what the costs predict; for each radius\n"
	"  best_us                the fastest cover\n"
	"  typical_us             the cover that the planner chooses\n"
	"  typical_predicted_us   what the planner expected of it\n"
	"Linked with private parts of the library, because no public call forces a cover.\n";

int main(int argc, char **argv)
{
	struct bench *b = bn_alloc(1, sizeof(*b));
	unsigned max_radius = 12;
	const char *dir = ".";
	const struct bn_option options[] = {
		{ 'n', "documents", "N", BN_COUNT, &b->documents, "(1000000)" },
		{ 'p', "plan", "PLAN", BN_TEXT, &b->plan, "(4x16)" },
		{ 'k', "radius", "K", BN_SMALL, &max_radius, "0..K (12)" },
		{ 'r', "rounds", "N", BN_SMALL, &b->rounds, "(5)" },
		{ 'd', "dir", "DIR", BN_TEXT, &dir, "where the index is built (.)" },
		{ 0 },
	};
	const struct bn_usage usage = {
		.about =
			"How well the planner chooses: for each radius, force every cover that "
			"would be the\n"
			"cheapest one on a machine whose probes or scans cost up to 8 times more "
			"or less than\n"
			"typical, and time it in turns with the others, after a warm-up of 0.3 s. "
			"Prints JSON\n"
			"lines, and a table on the standard error.\n",
		.options = options,
		.more = figures,
	};

	bn_program = "bn_planner";
	b->documents = 1000000;
	b->rounds = 5;
	b->plan = "4x16";
	bn_parse(&usage, argc, argv);
	if (b->rounds > MAX_ROUNDS || max_radius > 64)
		bn_die("at most %d rounds, and radius 64", MAX_ROUNDS);
	open_index(b, dir);
	take_costs(b);
	fprintf(stderr, "  %3s %5s %10s  %10s %10s\n", "k", "ways", "best us", "typical",
		"predicted");
	for (unsigned k = 0; k <= max_radius; k++)
		measure_radius(b, k);
	close_index(b, dir);
	free(b);
	return 0;
}
