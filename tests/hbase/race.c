/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Writers that store near-duplicates at the same time, if they are new: race URI WRITERS DOCUMENTS
 * COMMIT [apart] [unleased]. The index is made anew. Each writer has a document of each of
 * DOCUMENTS groups, and commits every COMMIT documents. Those of a group differ in two bits at
 * most, so that in the end there must be one of each; `apart`: no writer has a group of another
 * one. With `unleased` no leases are taken, as an engine that has none. Prints the rate, and ends
 * with 1 where two stored documents are near to each other.
 */

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <simidx_write.h>

#include "hb_engine.hh"
#include "hbase/ht_engine.h"

#define RADIUS 3
#define MAX_WRITERS 16
#define BLOCK 10 /* groups that each writer takes in an order of its own */

static const char *uri;
static uint64_t documents, per_commit;
static int apart;
static pthread_barrier_t all_open;

static void must(int code, const simidx_error *err, const char *what)
{
	if (code == SIMIDX_OK)
		return;
	fprintf(stderr, "race: %s: %s: %s\n", what, simidx_error_name(code), err->text);
	exit(2);
}

static int info_without_leases(void *state, simidx_engine_info *out, simidx_error *err)
{
	int code = hb_engine()->info(state, out, err);

	out->capabilities &= ~SIMIDX_ENGINE_LEASES;
	return code;
}

static void add_engine(int unleased)
{
	static simidx_engine engine;

	engine = *hb_engine();
	if (unleased)
		engine.info = info_without_leases;
	must(simidx_engine_add(&engine, &ht_err), &ht_err, "engine");
}

/* Groups are far from each other: of random fingerprints, none is within 8 bits of another one. */
static uint64_t fingerprint(uint64_t group, uint64_t writer)
{
	uint64_t state = apart ? group * MAX_WRITERS + writer : group;

	return ht_random(&state) ^ UINT64_C(1) << writer * 4;
}

/*
 * Store one. Where another writer is in the way, what this one has comes first: it may wait for it.
 */
static void put(simidx_writer *writer, uint64_t fp)
{
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_error err;
	int code;

	doc.fp = query.fp = fp;
	query.radius = RADIUS;
	while ((code = simidx_writer_put_if_new(writer, &doc, &query, NULL, NULL, &err)) ==
	       SIMIDX_E_BUSY)
		must(simidx_writer_commit(writer, &err), &err, "commit");
	must(code == SIMIDX_E_EXISTS ? SIMIDX_OK : code, &err, "put");
}

static void *work(void *arg)
{
	uint64_t number = *(uint64_t *)arg, random = number + 1;
	simidx_writer *writer;
	simidx_error err;
	simidx *index;

	must(simidx_open(uri, NULL, &index, &err), &err, "open");
	must(simidx_writer_open(index, NULL, &writer, &err), &err, "writer");
	pthread_barrier_wait(&all_open);
	for (uint64_t i = 0, turn = 0; i < documents; i++) {
		if (i % BLOCK == 0)
			turn = ht_random(&random);
		uint64_t group = i / BLOCK * BLOCK + (i + turn) % BLOCK;

		put(writer, fingerprint(group, number));
		if (i % per_commit == per_commit - 1 || i + 1 == documents)
			must(simidx_writer_commit(writer, &err), &err, "commit");
	}
	simidx_writer_close(writer);
	simidx_close(index);
	return NULL;
}

struct stored {
	uint64_t *fp;
	size_t n, room;
};

static enum simidx_engine_next note(void *ctx, size_t i, const simidx_match *m)
{
	struct stored *stored = ctx;

	(void)i;
	HT_CHECK(stored->n < stored->room);
	stored->fp[stored->n++] = m->fp;
	return SIMIDX_ENGINE_ON;
}

/* All pairs of all that is stored. */
static uint64_t count_near(size_t room, size_t *n)
{
	struct stored stored = { calloc(room + 1, sizeof(uint64_t)), 0, room };
	void *state = ht_open(uri, 0);
	uint64_t near = 0;

	HT_CHECK(stored.fp);
	HT_CODE(hb_engine()->walk(state, 0, room + 1, note, &stored, NULL, &ht_err), SIMIDX_OK);
	for (size_t i = 0; i < stored.n; i++)
		for (size_t k = 0; k < i; k++)
			near += __builtin_popcountll(stored.fp[i] ^ stored.fp[k]) <= RADIUS;
	HT_CHECK(ht_check(state, 0, NULL) == 0);
	hb_engine()->close(state);
	*n = stored.n;
	free(stored.fp);
	return near;
}

int main(int argc, char **argv)
{
	simidx_create_options options = SIMIDX_CREATE_OPTIONS_INIT;
	pthread_t thread[MAX_WRITERS];
	uint64_t number[MAX_WRITERS], near, all, expected;
	unsigned writers;
	struct timespec a, b;
	simidx *index;
	size_t n;
	int unleased = 0;

	HT_CHECK(argc >= 5);
	uri = argv[1];
	writers = (unsigned)atoi(argv[2]);
	documents = strtoull(argv[3], NULL, 10);
	per_commit = strtoull(argv[4], NULL, 10);
	for (int i = 5; i < argc; i++) {
		apart = apart || strcmp(argv[i], "apart") == 0;
		unleased = unleased || strcmp(argv[i], "unleased") == 0;
	}
	HT_CHECK(writers >= 1 && writers <= MAX_WRITERS && per_commit > 0 &&
		 documents % BLOCK == 0);
	add_engine(unleased);
	options.plan = "4x16";
	options.flags = SIMIDX_CREATE_TRUNCATE;
	must(simidx_create(uri, &options, &index, &ht_err), &ht_err, "create");
	simidx_close(index);
	HT_CHECK(pthread_barrier_init(&all_open, NULL, writers + 1) == 0);
	for (unsigned i = 0; i < writers; i++) {
		number[i] = i;
		HT_CHECK(pthread_create(&thread[i], NULL, work, &number[i]) == 0);
	}
	pthread_barrier_wait(&all_open);
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (unsigned i = 0; i < writers; i++)
		HT_CHECK(pthread_join(thread[i], NULL) == 0);
	clock_gettime(CLOCK_MONOTONIC, &b);
	all = writers * documents;
	expected = apart ? all : documents;
	near = count_near((size_t)all, &n);
	double time = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
	printf("%u writers, commits of %llu, %s, %s: %.0f documents/s, %.2f ms a document of a "
	       "writer; %zu stored, %llu pairs are near\n", writers, (unsigned long long)per_commit,
	       apart ? "apart" : "the same", unleased ? "without leases" : "with leases",
	       (double)all / time, time * 1000 / (double)documents, n, (unsigned long long)near);
	HT_CHECK(near > 0 || n == expected);
	return near > 0;
}
