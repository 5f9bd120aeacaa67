/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * An index in HBase: how fast documents are stored and found through one gateway. Fingerprints are
 * random, and queries are stored ones with up to 3 bits changed. Each line is a JSON object.
 *
 * Usage: bn_hbase URI PLAN DOCUMENTS QUERIES
 *   the index is made anew, unless DOCUMENTS is 0: then one that this program has made is searched
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_batch.h>
#include <simidx_hbase.h>

#include "bn_util.h"

#define COMMIT 1000
#define BATCH 100
#define RADIUS 3

static simidx_error err;

/* Document i has this fingerprint. */
static uint64_t fingerprint(uint64_t i)
{
	return bn_mix(i * 0x9e3779b97f4a7c15u + 1);
}

static void load(const char *uri, const char *plan, uint64_t documents)
{
	simidx_create_options options = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index;
	simidx_writer *writer;
	double begin, seconds;

	options.plan = plan;
	options.flags = SIMIDX_CREATE_TRUNCATE;
	bn_check(simidx_create(uri, &options, &index, &err), &err, "create");
	bn_check(simidx_writer_open(index, NULL, &writer, &err), &err, "writer");
	begin = bn_seconds();
	for (uint64_t i = 0; i < documents; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.fp = fingerprint(i);
		bn_check(simidx_writer_put(writer, &doc, NULL, &err), &err, "put");
		if (i % COMMIT == COMMIT - 1 || i + 1 == documents)
			bn_check(simidx_writer_commit(writer, &err), &err, "commit");
	}
	seconds = bn_seconds() - begin;
	printf("{\"work\":\"load\",\"plan\":\"%s\",\"documents\":%llu,\"seconds\":%.1f,"
	       "\"documents_per_second\":%.0f}\n",
	       plan, (unsigned long long)documents, seconds, (double)documents / seconds);
	fflush(stdout);
	simidx_writer_close(writer);
	simidx_close(index);
}

static uint64_t make_query(uint64_t *state, uint64_t documents)
{
	uint64_t fp = fingerprint(bn_random(state) % documents);

	for (uint64_t n = bn_random(state) % (RADIUS + 1); n > 0; n--)
		fp ^= UINT64_C(1) << bn_random(state) % 64;
	return fp;
}

struct sums {
	uint64_t matches, round_trips, candidates;
};

static void note(struct sums *sums, const simidx_results *r)
{
	if (r->n == 0)
		bn_die("a document that is there was not found");
	sums->matches += r->n;
	sums->round_trips += r->round_trips;
	sums->candidates += r->candidates;
}

static int deliver(void *ctx, size_t i, const simidx_results *r)
{
	(void)i;
	note(ctx, r);
	return 0;
}

static void search(simidx *index, const char *plan, uint64_t documents, size_t n)
{
	simidx_reader *reader;
	simidx_batch_options batch = SIMIDX_BATCH_OPTIONS_INIT;
	simidx_query *query = bn_alloc(n, sizeof(*query));
	double *us = bn_alloc(n, sizeof(*us));
	uint64_t state = 7;
	struct sums sums = { 0, 0, 0 };
	double begin;

	bn_check(simidx_reader_open(index, &reader, &err), &err, "reader");
	for (size_t i = 0; i < n; i++) {
		simidx_query q = SIMIDX_QUERY_INIT;

		q.fp = make_query(&state, documents);
		q.radius = RADIUS;
		query[i] = q;
	}
	/* The first ones are for connections, and for the servers to have read the files. */
	for (size_t i = 0; i < 2 * n; i++) {
		simidx_results r = SIMIDX_RESULTS_INIT;

		begin = bn_seconds();
		bn_check(simidx_reader_search(reader, &query[i % n], &r, &err), &err, "search");
		us[i % n] = (bn_seconds() - begin) * 1e6;
		if (i >= n)
			note(&sums, &r);
	}
	printf("{\"work\":\"search\",\"plan\":\"%s\",\"queries\":%zu,\"p50_us\":%.0f,\"p99_us\":%.0f,"
	       "\"round_trips\":%.2f,\"candidates\":%.1f,\"matches\":%.2f}\n",
	       plan, n, bn_quantile(us, n, 0.5), bn_quantile(us, n, 0.99),
	       (double)sums.round_trips / (double)n, (double)sums.candidates / (double)n,
	       (double)sums.matches / (double)n);
	memset(&sums, 0, sizeof(sums));
	batch.threads = 1;
	batch.deliver = deliver;
	batch.ctx = &sums;
	begin = bn_seconds();
	for (size_t i = 0; i + BATCH <= n; i += BATCH)
		bn_check(simidx_reader_search_batch(reader, query + i, BATCH, &batch, &err), &err, "batch");
	printf("{\"work\":\"batches of %d\",\"plan\":\"%s\",\"queries\":%zu,\"us_per_query\":%.0f}\n", BATCH,
	       plan, n / BATCH * BATCH, (bn_seconds() - begin) * 1e6 / (double)(n / BATCH * BATCH));
	simidx_reader_close(reader);
	free(query);
	free(us);
}

int main(int argc, char **argv)
{
	simidx_info info = SIMIDX_INFO_INIT;
	simidx *index;
	uint64_t documents;

	bn_program = "bn_hbase";
	if (argc != 5)
		bn_die("usage: bn_hbase URI PLAN DOCUMENTS QUERIES");
	documents = strcmp(argv[3], "0") == 0 ? 0 : bn_number("DOCUMENTS", argv[3]);
	bn_check(simidx_hbase_add(&err), &err, "hbase");
	if (documents > 0)
		load(argv[1], argv[2], documents);
	bn_check(simidx_open(argv[1], NULL, &index, &err), &err, "open");
	bn_check(simidx_get_info(index, &info, &err), &err, "info");
	search(index, argv[2], info.documents, (size_t)bn_number("QUERIES", argv[4]));
	simidx_close(index);
	return 0;
}
