/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Load and search an index of uniform random fingerprints, beside a linear scan of the same
 * fingerprints in memory. One JSON object on stdout; --help says what its members are.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <simidx_info.h>
#include <simidx_load.h>

#include "bn_options.h"
#include "bn_util.h"

#define COMMIT_ROWS 100000
#define SCAN_QUERIES 200

struct bench {
	uint64_t documents, queries;
	const char *plan, *dir;
	unsigned layout, radius, fill, threads;
	uint64_t memory;
	int inserts; /* commit by commit instead of in bulk */
	int no_ids;  /* fingerprints alone */
	int no_scan; /* no array of all fingerprints, no linear scan */
	uint64_t *query;
	uint64_t *near;    /* by query: a stored fingerprint that is to be found, or 0 */
	uint64_t *matches; /* by query, of the first SCAN_QUERIES */
	double *us;       /* by query */
	double load_s, peak_mb, mean_us, scan_us;
	uint64_t found, candidates, missed;
	simidx *index;
};

/* The stored fingerprints by their number, which is their id: what bn_random() makes. */
static uint64_t document(uint64_t i)
{
	return bn_mix((i + 2) * UINT64_C(0x9e3779b97f4a7c15));
}

/* Half of the queries are stored fingerprints with 0..3 bits flipped, half are random. */
static void generate(struct bench *b)
{
	uint64_t random = (b->documents + 1) * UINT64_C(0x9e3779b97f4a7c15);

	b->query = bn_alloc(b->queries, sizeof(*b->query));
	b->near = bn_alloc(b->queries, sizeof(*b->near));
	b->us = bn_alloc(b->queries, sizeof(*b->us));
	b->matches = bn_alloc(SCAN_QUERIES, sizeof(*b->matches));
	for (uint64_t i = 0; i < b->queries; i++) {
		b->query[i] = bn_random(&random);
		if (i % 2 == 0) {
			b->near[i] = b->query[i] = document(bn_random(&random) % b->documents);
			for (unsigned flips = bn_random(&random) % (b->radius + 1); flips; flips--)
				b->query[i] ^= (uint64_t)1 << bn_random(&random) % 64;
		}
	}
}

static void load(struct bench *b, const simidx_create_options *how)
{
	simidx_loader_options loading = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_loader *loader;
	simidx_error err;
	double start = bn_seconds();

	loading.memory = b->memory;
	loading.threads = b->threads;
	bn_check(simidx_loader_open(b->dir, how, &loading, &loader, &err), &err, "loader");
	for (uint64_t i = 0; i < b->documents; i++) {
		doc.fp = document(i);
		bn_check(simidx_loader_put(loader, &doc, NULL, &err), &err, "put");
	}
	bn_check(simidx_loader_finish(loader, NULL, &err), &err, "finish");
	b->load_s = bn_seconds() - start;
	simidx_loader_close(loader);
	bn_check(simidx_open(b->dir, NULL, &b->index, &err), &err, "open");
}

static void insert(struct bench *b, const simidx_create_options *how)
{
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_writer *writer;
	simidx_error err;
	double start;

	bn_check(simidx_create(b->dir, how, &b->index, &err), &err, "create");
	bn_check(simidx_writer_open(b->index, NULL, &writer, &err), &err, "writer");
	start = bn_seconds();
	for (uint64_t i = 0; i < b->documents; i++) {
		doc.fp = document(i);
		bn_check(simidx_writer_put(writer, &doc, NULL, &err), &err, "put");
		if (i % COMMIT_ROWS == COMMIT_ROWS - 1)
			bn_check(simidx_writer_commit(writer, &err), &err, "commit");
	}
	bn_check(simidx_writer_commit(writer, &err), &err, "commit");
	bn_check(simidx_writer_merge(writer, &err), &err, "merge");
	b->load_s = bn_seconds() - start;
	simidx_writer_close(writer);
}

/* Whether the stored fingerprint that a query was made from is among its matches. */
static int has(const simidx_results *results, uint64_t fp)
{
	size_t i;

	for (i = 0; i < results->n && results->matches[i].fp != fp; i++)
		;
	return i < results->n;
}

static void pass(struct bench *b, simidx_reader *reader)
{
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_error err;
	double spent = 0;

	query.radius = b->radius;
	b->found = b->candidates = b->missed = 0;
	for (uint64_t i = 0; i < b->queries; i++) {
		double before = bn_seconds();

		query.fp = b->query[i];
		bn_check(simidx_reader_search(reader, &query, &results, &err), &err, "search");
		b->us[i] = (bn_seconds() - before) * 1e6;
		spent += b->us[i];
		b->found += results.n;
		b->candidates += results.candidates;
		b->missed += b->near[i] && !has(&results, b->near[i]);
		if (i < SCAN_QUERIES)
			b->matches[i] = results.n;
	}
	b->mean_us = spent / (double)b->queries;
}

/* A function of its own, because files.sh counts the instructions below it. */
static __attribute__((noinline)) void measured_pass(struct bench *b, simidx_reader *reader)
{
	pass(b, reader);
}

static void search(struct bench *b)
{
	simidx_reader *reader;
	simidx_error err;

	bn_check(simidx_reader_open(b->index, &reader, &err), &err, "reader");
	pass(b, reader); /* warms the caches up */
	measured_pass(b, reader);
	simidx_reader_close(reader);
}

/* The same by comparing with every fingerprint; also proves that the index missed nothing. */
static void scan(struct bench *b)
{
	uint64_t n = b->queries < SCAN_QUERIES ? b->queries : SCAN_QUERIES;
	uint64_t *fp = bn_alloc(b->documents, sizeof(*fp));
	double start;

	for (uint64_t i = 0; i < b->documents; i++)
		fp[i] = document(i);
	start = bn_seconds();
	for (uint64_t q = 0; q < n; q++) {
		uint64_t found = 0;

		for (uint64_t i = 0; i < b->documents; i++)
			found += (unsigned)__builtin_popcountll(fp[i] ^ b->query[q]) <= b->radius;
		if (found != b->matches[q]) {
			fprintf(stderr,
				"bn_index: query %" PRIu64 ": %" PRIu64
				" matches, the scan %" PRIu64 "\n",
				q, b->matches[q], found);
			exit(1);
		}
	}
	b->scan_us = (bn_seconds() - start) * 1e6 / (double)n;
	free(fp);
}

/* log2 of the number of sets of n 64-bit numbers, for each of the n, in bytes. */
static double limit_bytes(double n)
{
	double all = ldexp(1, 64);

	/* ln C(all, n) = n ln(all / n) + n - O(n^2 / all), Stirling for n!. */
	return (n * log(all) - lgamma(n + 1)) / n / log(2) / 8;
}

static void report(struct bench *b)
{
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_table_info table = SIMIDX_TABLE_INFO_INIT;
	simidx_error err;

	bn_check(simidx_get_info(b->index, &info, &err), &err, "info");
	bn_check(simidx_get_table_info(b->index, 0, &table, &err), &err, "info");
	printf("{\"bench\":\"index\",");
	bn_print_machine();
	printf(",\"plan\":\"%s\",\"layout\":\"%s\",\"ids\":%s,\"documents\":%" PRIu64
	       ",\"radius\":%u,\"queries\":%" PRIu64 ",\"how\":\"%s\",\"load_s\":%.1f"
	       ",\"load_documents_per_s\":%.0f,\"peak_rss_mb\":%.0f",
	       info.plan, b->layout ? "rows" : "blocks", b->no_ids ? "false" : "true",
	       b->documents, b->radius, b->queries, b->inserts ? "insert" : "load", b->load_s,
	       (double)b->documents / b->load_s, b->peak_mb);
	printf(",\"bytes_per_document\":%.2f,\"bytes_per_table_entry\":%.3f,\"limit\":%.3f",
	       (double)info.used_bytes / (double)b->documents,
	       (double)(table.pages * info.page_bytes) / (double)table.entries,
	       limit_bytes((double)info.distinct));
	printf(",\"query_mean_us\":%.3f,\"query_p50_us\":%.3f,\"query_p99_us\":%.3f"
	       ",\"matches\":%.3f,\"candidates\":%.1f,\"missed\":%" PRIu64,
	       b->mean_us, bn_quantile(b->us, b->queries, 0.5),
	       bn_quantile(b->us, b->queries, 0.99), (double)b->found / (double)b->queries,
	       (double)b->candidates / (double)b->queries, b->missed);
	if (!b->no_scan)
		printf(",\"scan_mean_us\":%.1f,\"scan_over_query\":%.0f", b->scan_us,
		       b->scan_us / b->mean_us);
	puts("}");
}

/* What is printed, for --help. */
static const char figures[] =
	"\nMembers of the object:\n"
	"  load_s, load_documents_per_s\n"
	"           from the first document until the index is in its place and synced;\n"
	"           with --insert in commits of 100,000 documents, merges included\n"
	"  peak_rss_mb    largest resident memory until then, pages of the index included;\n"
	"           32 bytes a query are the benchmark's own\n"
	"  bytes_per_document    all pages in use: tables, and what ids need\n"
	"  bytes_per_table_entry, limit\n"
	"           of the first table; and the information in a set of N random numbers,\n"
	"           log2(C(2^64, N)) / 8N: no exact table can be smaller\n"
	"  query_mean_us, query_p50_us, query_p99_us\n"
	"           one query after the other after a first pass over all of them, each with\n"
	"           a new snapshot; reading the clock included (about 0.03 us)\n"
	"  matches, candidates    a query: documents found, fingerprints compared\n"
	"  missed   queries that did not find the fingerprint that they were made from\n"
	"  scan_mean_us, scan_over_query\n"
	"           200 queries by comparing with every fingerprint in an array\n";

static void parse(struct bench *b, int argc, char **argv)
{
	int rows = 0;
	const struct bn_option options[] = {
		{ 'n', "documents", "N", BN_COUNT, &b->documents,
		  "uniform fingerprints to store (1000000)" },
		{ 'q', "queries", "N", BN_COUNT, &b->queries, "queries (100000)" },
		{ 'k', "radius", "K", BN_SMALL_0, &b->radius, "0 to 3 (3)" },
		{ 'p', "plan", "PLAN", BN_TEXT, &b->plan,
		  "4x16, 3x22, 2x32, 10x26, 16x28, 20x31 (4x16)" },
		{ 0, "no-ids", NULL, BN_FLAG, &b->no_ids, "store fingerprints alone" },
		{ 0, "no-scan", NULL, BN_FLAG, &b->no_scan,
		  "no linear scan: it takes 8 bytes of memory a document" },
		{ 'r', "rows", NULL, BN_FLAG, &rows, "rows layout instead of blocks" },
		{ 'i', "insert", NULL, BN_FLAG, &b->inserts,
		  "commit by commit instead of in bulk" },
		{ 'f', "fill", "PCT", BN_SMALL, &b->fill, "how full blocks are made (90)" },
		{ 'm', "memory", "SIZE", BN_BYTES, &b->memory, "of the loader, such as 4G (1G)" },
		{ 't', "threads", "N", BN_SMALL, &b->threads, "of the loader (2)" },
		{ 0 },
	};
	const struct bn_usage usage = {
		.operands = "DIR",
		.least = 1,
		.most = 1,
		.about =
			"Load and search an index of uniform random fingerprints in DIR, which "
			"must not\n"
			"exist. Half of the queries have a near document, half are random. Prints "
			"one JSON\n"
			"object; ends with status 1 if a query's matches differ from the scan's, "
			"or a\n"
			"stored fingerprint is missed.\n",
		.options = options,
		.more = figures,
	};

	b->dir = argv[bn_parse(&usage, argc, argv)];
	if (rows)
		b->layout = SIMIDX_LAYOUT_ROWS;
}

int main(int argc, char **argv)
{
	simidx_create_options how = SIMIDX_CREATE_OPTIONS_INIT;
	struct rusage used;
	struct bench b = { .documents = 1000000, .queries = 100000, .plan = "4x16",
			   .radius = SIMIDX_DEFAULT_RADIUS };

	bn_program = "bn_index";
	parse(&b, argc, argv);
	how.plan = b.plan;
	how.layout = b.layout;
	how.fill = b.fill;
	how.flags = b.no_ids ? SIMIDX_CREATE_NO_IDS : 0;
	generate(&b);
	if (b.inserts)
		insert(&b, &how);
	else
		load(&b, &how);
	getrusage(RUSAGE_SELF, &used);
	b.peak_mb = (double)used.ru_maxrss / 1024;
	search(&b);
	if (!b.no_scan)
		scan(&b);
	report(&b);
	simidx_close(b.index);
	free(b.query);
	free(b.near);
	free(b.us);
	free(b.matches);
	return b.missed > 0;
}
