/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * An index in Redis, beside what programs make by hand: for each of four blocks of 16 bits and each
 * of its values a set of the fingerprints, as numbers. Fingerprints are random. Each line is a JSON
 * object:
 *   hand sets    the sets: how fast they are filled by SADD in pipelines, and bytes a document
 *   hand search  four SMEMBERS, sent together, and popcount here: one by one and by batches
 *   hand if-new  by batches of 100: the sets of all of them are read, then what is new is added.
 *                Two programs that do so at once may both add what is near
 *   load, scans, search, batches   as in bn_engine.h
 *   if-new       by batches of 100, each a commit, from one and more processes
 *
 * Usage: bn_redis PORT DOCUMENTS QUERIES NEW
 *   the server on PORT of this machine must be empty, and is emptied; NEW documents are decided
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hiredis/hiredis.h>

#include <simidx_info.h>
#include <simidx_redis.h>

#include "bn_engine.h"
#include "bn_util.h"

#define BATCH 100
#define RADIUS 3

static simidx_error err;
static redisContext *server;

static redisReply *answer(void)
{
	void *reply;

	if (redisGetReply(server, &reply) != REDIS_OK)
		bn_die("redis: %s", server->errstr);
	if (((redisReply *)reply)->type == REDIS_REPLY_ERROR)
		bn_die("redis: %s", ((redisReply *)reply)->str);
	return reply;
}

static void connect_to(unsigned port)
{
	server = redisConnect("127.0.0.1", (int)port);
	if (!server || server->err)
		bn_die("redis: port %u: %s", port, server ? server->errstr : "no memory");
}

/* Do a command of which the answer does not matter. */
static void command(const char *text)
{
	redisAppendCommand(server, text);
	freeReplyObject(answer());
}

static uint64_t used_memory(void)
{
	redisReply *reply;
	uint64_t used;

	redisAppendCommand(server, "INFO memory");
	reply = answer();
	used = strtoull(strstr(reply->str, "used_memory:") + 12, NULL, 10);
	freeReplyObject(reply);
	return used;
}

/* Bytes that the server has more than `before`, for each document. */
static void print_bytes(const char *work, uint64_t before, uint64_t documents)
{
	printf("{\"work\":\"%s\",\"bytes_per_document\":%.1f}\n", work,
	       (double)(used_memory() - before) / (double)documents);
}

/* ---- by hand ---- */

static void add_by_hand(uint64_t fp)
{
	for (unsigned b = 0; b < 4; b++)
		redisAppendCommand(server, "SADD %u:%04x %lld", b,
				   (unsigned)(fp >> (48 - 16 * b) & 0xffff), (long long)fp);
}

static void skip_answers(size_t n)
{
	while (n--)
		freeReplyObject(answer());
}

static void load_by_hand(uint64_t documents)
{
	double begin = bn_seconds(), seconds;
	uint64_t before = used_memory();

	for (uint64_t i = 0; i < documents; i++) {
		add_by_hand(bn_engine_fp(i));
		if (i % 1000 == 999 || i + 1 == documents)
			skip_answers(4 * (i % 1000 + 1));
	}
	seconds = bn_seconds() - begin;
	printf("{\"work\":\"hand load\",\"documents\":%" PRIu64 ",\"documents_per_second\":%.0f}\n",
	       documents, (double)documents / seconds);
	print_bytes("hand sets", before, documents);
}

static void ask_by_hand(uint64_t fp)
{
	for (unsigned b = 0; b < 4; b++)
		redisAppendCommand(server, "SMEMBERS %u:%04x", b,
				   (unsigned)(fp >> (48 - 16 * b) & 0xffff));
}

/* How many rows of four sets are near. */
static unsigned count_by_hand(uint64_t fp)
{
	unsigned near = 0;

	for (unsigned b = 0; b < 4; b++) {
		redisReply *reply = answer();

		for (size_t i = 0; i < reply->elements; i++) {
			uint64_t one = (uint64_t)strtoll(reply->element[i]->str, NULL, 10);

			near += __builtin_popcountll(one ^ fp) <= RADIUS;
		}
		freeReplyObject(reply);
	}
	return near;
}

static void search_by_hand(uint64_t documents, size_t n, size_t together)
{
	uint64_t *fp = bn_alloc(together, sizeof(*fp)), state = 7;
	double *us = bn_alloc(n, sizeof(*us));
	size_t turns = n / together;

	for (size_t i = 0; i < turns; i++) {
		double begin = bn_seconds();

		for (size_t j = 0; j < together; j++) {
			fp[j] = bn_engine_query(&state, documents);
			ask_by_hand(fp[j]);
		}
		for (size_t j = 0; j < together; j++)
			if (!count_by_hand(fp[j]))
				bn_die("a fingerprint that is there was not found");
		us[i] = (bn_seconds() - begin) * 1e6 / (double)together;
	}
	printf("{\"work\":\"hand search\",\"together\":%zu,\"p50_us\":%.0f,\"p99_us\":%.0f}\n",
	       together, bn_quantile(us, turns, 0.5), bn_quantile(us, turns, 0.99));
	free(fp);
	free(us);
}

/* Document i of client c, whom nothing else is near to. */
static uint64_t new_fp(uint64_t c, uint64_t i)
{
	return bn_mix(bn_mix(c + 77) + i);
}

static void if_new_by_hand(uint64_t client, uint64_t n)
{
	for (uint64_t at = 0; at + BATCH <= n; at += BATCH) {
		size_t added = 0;

		for (uint64_t i = 0; i < BATCH; i++)
			ask_by_hand(new_fp(client, at + i));
		for (uint64_t i = 0; i < BATCH; i++) {
			if (count_by_hand(new_fp(client, at + i)))
				continue;
			add_by_hand(new_fp(client, at + i));
			added++;
		}
		skip_answers(4 * added);
	}
}

/* ---- if new ---- */

static int decided(void *ctx, size_t i, const simidx_decision *decision)
{
	(void)ctx;
	(void)i;
	if (decision->code && decision->code != SIMIDX_E_EXISTS)
		bn_die("put: %s", decision->why->text);
	return 0;
}

static void if_new(const char *uri, uint64_t client, uint64_t n)
{
	simidx_query query[BATCH];
	simidx_doc doc[BATCH];
	simidx_writer *writer;
	simidx *index;
	int rc;

	bn_check(simidx_open(uri, NULL, &index, &err), &err, "open");
	bn_check(simidx_writer_open(index, NULL, &writer, &err), &err, "writer");
	for (uint64_t i = 0; i < n; i += BATCH) {
		size_t some = n - i < BATCH ? (size_t)(n - i) : BATCH;

		for (size_t j = 0; j < some; j++) {
			query[j] = (simidx_query)SIMIDX_QUERY_INIT;
			doc[j] = (simidx_doc)SIMIDX_DOC_INIT;
			query[j].radius = RADIUS;
			query[j].fp = doc[j].fp = new_fp(client, i + j);
		}
		bn_check(simidx_writer_put_if_new_many(writer, doc, query, some, decided, NULL,
						       &err),
			 &err, "put");
		rc = simidx_writer_commit(writer, &err);
		if (rc != SIMIDX_E_BUSY)
			bn_check(rc, &err, "commit");
	}
	simidx_writer_close(writer);
	simidx_close(index);
}

/* So many processes at once. first: the number of the first client, which is used once. */
static void many_clients(const char *uri, unsigned port, unsigned clients, uint64_t first,
			 uint64_t n)
{
	double begin = bn_seconds(), seconds;
	int status, failed = 0;

	fflush(stdout);
	for (unsigned c = 0; c < clients; c++) {
		if (fork())
			continue;
		if (uri) {
			if_new(uri, first + c, n / clients);
		} else {
			connect_to(port);
			if_new_by_hand(first + c, n / clients);
		}
		_exit(0);
	}
	while (wait(&status) > 0)
		failed |= status;
	if (failed)
		bn_die("a client has failed");
	seconds = bn_seconds() - begin;
	printf("{\"work\":\"%s\",\"clients\":%u,\"decisions_per_second\":%.0f}\n",
	       uri ? "if-new" : "hand if-new", clients, (double)n / seconds);
}

int main(int argc, char **argv)
{
	static const unsigned clients[] = { 1, 8, 64 };
	simidx_info info = SIMIDX_INFO_INIT;
	uint64_t documents, n_new, before;
	size_t queries;
	char uri[64];
	unsigned port;
	simidx *index;

	bn_program = "bn_redis";
	if (argc != 5)
		bn_die("usage: bn_redis PORT DOCUMENTS QUERIES NEW");
	port = (unsigned)bn_number("PORT", argv[1]);
	documents = bn_number("DOCUMENTS", argv[2]);
	queries = (size_t)bn_number("QUERIES", argv[3]);
	n_new = bn_number("NEW", argv[4]);
	connect_to(port);
	bn_check(simidx_redis_add(&err), &err, "redis");
	command("FLUSHALL");
	load_by_hand(documents);
	for (size_t together = 1; together <= 1000; together += together == 1 ? 99 : 900)
		search_by_hand(documents, queries, together);
	for (unsigned i = 0; i < 3; i++)
		many_clients(NULL, port, clients[i], 1000 * (i + 1), n_new);
	command("FLUSHALL");
	before = used_memory();
	snprintf(uri, sizeof(uri), "redis://127.0.0.1:%u/bench", port);
	bn_engine_load(uri, "4x16", documents, 1000);
	print_bytes("index", before, documents);
	bn_check(simidx_open(uri, NULL, &index, &err), &err, "open");
	bn_check(simidx_get_info(index, &info, &err), &err, "info");
	bn_engine_search(index, "4x16", info.documents, queries);
	simidx_close(index);
	for (unsigned i = 0; i < 3; i++)
		many_clients(uri, port, clients[i], 1000 * (i + 1), n_new);
	redisFree(server);
	return 0;
}
