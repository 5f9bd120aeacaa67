/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "bn_engine.h"

#include <stdio.h>
#include <stdlib.h>

#include <simidx_batch.h>

#include "bn_util.h"

#define RADIUS 3

static simidx_error err;

uint64_t bn_engine_fp(uint64_t i)
{
	return bn_mix(i * 0x9e3779b97f4a7c15u + 1);
}

simidx *bn_engine_create(const char *uri, const char *plan)
{
	simidx_create_options options = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index;

	options.plan = plan;
	options.flags = SIMIDX_CREATE_TRUNCATE;
	bn_check(simidx_create(uri, &options, &index, &err), &err, "create");
	return index;
}

void bn_engine_load(const char *uri, const char *plan, uint64_t documents, uint64_t commit)
{
	simidx *index = bn_engine_create(uri, plan);
	simidx_writer *writer;
	double begin, cpu, seconds;

	bn_check(simidx_writer_open(index, NULL, &writer, &err), &err, "writer");
	begin = bn_seconds();
	cpu = bn_cpu_seconds();
	for (uint64_t i = 0; i < documents; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.fp = bn_engine_fp(i);
		bn_check(simidx_writer_put(writer, &doc, NULL, &err), &err, "put");
		if (i % commit == commit - 1 || i + 1 == documents)
			bn_check(simidx_writer_commit(writer, &err), &err, "commit");
	}
	seconds = bn_seconds() - begin;
	cpu = bn_cpu_seconds() - cpu;
	printf("{\"work\":\"load\",\"plan\":\"%s\",\"documents\":%llu,\"commit\":%llu"
	       ",\"seconds\":%.1f,\"documents_per_second\":%.0f,\"client_cpu_us\":%.1f}\n",
	       plan, (unsigned long long)documents, (unsigned long long)commit, seconds,
	       (double)documents / seconds, cpu * 1e6 / (double)documents);
	fflush(stdout);
	simidx_writer_close(writer);
	simidx_close(index);
}

uint64_t bn_engine_query(uint64_t *state, uint64_t documents)
{
	uint64_t fp = bn_engine_fp(bn_random(state) % documents);

	for (uint64_t n = bn_random(state) % (RADIUS + 1); n > 0; n--)
		fp ^= UINT64_C(1) << bn_random(state) % 64;
	return fp;
}

struct sums {
	uint64_t matches, round_trips, candidates;
};

static void note(struct sums *sums, const simidx_results *r)
{
	sums->matches += r->n;
	sums->round_trips += r->round_trips;
	sums->candidates += r->candidates;
}

static int deliver(void *ctx, size_t i, const simidx_results *r)
{
	(void)i;
	if (r->n == 0)
		bn_die("a document that is there was not found");
	note(ctx, r);
	return 0;
}

static void one_by_one(simidx_reader *reader, const char *work, const char *plan,
		       const simidx_query *query, size_t n, int is_there)
{
	double *us = bn_alloc(n, sizeof(*us)), begin, cpu = 0;
	struct sums sums = { 0, 0, 0 };

	/* The first ones are for connections, and for the servers to have read the files. */
	for (size_t i = 0; i < 2 * n; i++) {
		simidx_results r = SIMIDX_RESULTS_INIT;

		if (i == n)
			cpu = bn_cpu_seconds();
		begin = bn_seconds();
		bn_check(simidx_reader_search(reader, &query[i % n], &r, &err), &err, "search");
		us[i % n] = (bn_seconds() - begin) * 1e6;
		if (is_there && r.n == 0)
			bn_die("a document that is there was not found");
		if (i >= n)
			note(&sums, &r);
	}
	cpu = bn_cpu_seconds() - cpu;
	printf("{\"work\":\"%s\",\"plan\":\"%s\",\"queries\":%zu,\"p50_us\":%.0f,\"p99_us\":%.0f,"
	       "\"client_cpu_us\":%.0f,\"round_trips\":%.2f,\"candidates\":%.1f"
	       ",\"matches\":%.2f}\n",
	       work, plan, n, bn_quantile(us, n, 0.5), bn_quantile(us, n, 0.99),
	       cpu * 1e6 / (double)n, (double)sums.round_trips / (double)n,
	       (double)sums.candidates / (double)n, (double)sums.matches / (double)n);
	fflush(stdout);
	free(us);
}

static void in_batches(simidx_reader *reader, const char *plan, const simidx_query *query, size_t n,
		       size_t size)
{
	simidx_batch_options batch = SIMIDX_BATCH_OPTIONS_INIT;
	struct sums sums = { 0, 0, 0 };
	double begin = bn_seconds(), cpu = bn_cpu_seconds();

	batch.threads = 1;
	batch.deliver = deliver;
	batch.ctx = &sums;
	n -= n % size;
	for (size_t i = 0; i < n; i += size)
		bn_check(simidx_reader_search_batch(reader, query + i, size, &batch, &err), &err,
			 "batch");
	printf("{\"work\":\"batches of %zu\",\"plan\":\"%s\",\"queries\":%zu,\"us_per_query\":%.0f,"
	       "\"client_cpu_us\":%.0f,\"round_trips\":%.2f}\n",
	       size, plan, n, (bn_seconds() - begin) * 1e6 / (double)n,
	       (bn_cpu_seconds() - cpu) * 1e6 / (double)n, (double)sums.round_trips / (double)n);
}

void bn_engine_search(simidx *index, const char *plan, uint64_t documents, size_t n)
{
	simidx_reader *reader;
	simidx_query *query = bn_alloc(n, sizeof(*query)), *absent = bn_alloc(n, sizeof(*absent));
	uint64_t state = 7;

	bn_check(simidx_reader_open(index, &reader, &err), &err, "reader");
	for (size_t i = 0; i < n; i++) {
		query[i] = absent[i] = (simidx_query)SIMIDX_QUERY_INIT;
		query[i].radius = absent[i].radius = RADIUS;
		query[i].fp = bn_engine_query(&state, documents);
		absent[i].fp = bn_random(&state);
	}
	one_by_one(reader, "scans", plan, absent, n, 0);
	one_by_one(reader, "search", plan, query, n, 1);
	in_batches(reader, plan, query, n, 100);
	in_batches(reader, plan, query, n, 1000);
	simidx_reader_close(reader);
	free(query);
	free(absent);
}

