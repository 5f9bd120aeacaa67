/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Redis as a contestant: for each of four blocks of 16 bits and each of its values a set of the
 * fingerprints, as numbers. A query is four SMEMBERS, sent together through a Unix socket to a
 * server that this program begins; popcount here. The sets have no ids, so these are looked up
 * here, for what is near alone. Up to 3 bits. CPU time is that of both.
 */

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <hiredis/hiredis.h>

#include "bn_util.h"
#include "peer.h"

#define BLOCKS 4
#define QUERIES 20000
#define TOGETHER 1000 /* documents that are sent before answers are read */

struct row {
	uint64_t fp, id;
};

struct redis {
	unsigned radius;
	pid_t server;
	redisContext *to;
	struct row *rows; /* by fingerprint */
	uint64_t n;
	struct bn_ids ids;
};

static redisReply *answer(struct redis *redis)
{
	void *reply;

	if (redisGetReply(redis->to, &reply) != REDIS_OK)
		bn_die("redis: %s", redis->to->errstr);
	if (((redisReply *)reply)->type == REDIS_REPLY_ERROR)
		bn_die("redis: %s", ((redisReply *)reply)->str);
	return reply;
}

/* A number in what INFO says. */
static double info(struct redis *redis, const char *section, const char *name)
{
	redisReply *reply;
	const char *at;
	double out;

	redisAppendCommand(redis->to, "INFO %s", section);
	reply = answer(redis);
	at = strstr(reply->str, name);
	if (!at)
		bn_die("redis: INFO has no %s", name);
	out = strtod(at + strlen(name) + 1, NULL);
	freeReplyObject(reply);
	return out;
}

static void be_server(const char *socket, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", socket, "--save", "",
	       "--appendonly", "no", "--loglevel", "warning", (char *)NULL);
	_exit(127);
}

static void begin_server(struct redis *redis, const char *socket)
{
	const struct timespec wait = { 0, 20 * 1000 * 1000 };
	pid_t parent = getpid();

	redis->server = fork();
	if (redis->server < 0)
		bn_die("fork failed");
	if (!redis->server)
		be_server(socket, parent);
	for (unsigned i = 0; i < 500; i++) {
		redis->to = redisConnectUnix(socket);
		if (redis->to && !redis->to->err)
			return;
		if (redis->to)
			redisFree(redis->to);
		nanosleep(&wait, NULL);
	}
	bn_die("no redis-server at %s", socket);
}

static unsigned block_of(uint64_t fp, unsigned block)
{
	return (unsigned)(fp >> (48 - 16 * block) & 0xffff);
}

static void fill(struct redis *redis, const struct bn_set *set)
{
	for (uint64_t i = 0, sent = 0; i < set->n; i++) {
		for (unsigned b = 0; b < BLOCKS; b++)
			redisAppendCommand(redis->to, "SADD %u:%04x %" PRId64, b,
					   block_of(set->fp[i], b), (int64_t)set->fp[i]);
		sent += BLOCKS;
		if (i % TOGETHER < TOGETHER - 1 && i + 1 < set->n)
			continue;
		while (sent) {
			freeReplyObject(answer(redis));
			sent--;
		}
	}
}

static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->fp != y->fp)
		return x->fp < y->fp ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void add_ids(struct redis *redis, uint64_t fp)
{
	uint64_t from = 0, to = redis->n;

	while (from < to) {
		uint64_t middle = from + (to - from) / 2;

		if (redis->rows[middle].fp < fp)
			from = middle + 1;
		else
			to = middle;
	}
	for (; from < redis->n && redis->rows[from].fp == fp; from++) {
		bn_ids_reserve(&redis->ids, 1);
		redis->ids.ids[redis->ids.n++] = redis->rows[from].id;
	}
}

/* Whether a block before this one has found it, too. */
static int was_found(uint64_t bits, unsigned block)
{
	for (unsigned b = 0; b < block; b++)
		if (!block_of(bits, b))
			return 1;
	return 0;
}

static struct bn_hits redis_search(void *session, uint64_t fp)
{
	struct redis *redis = session;

	redis->ids.n = 0;
	for (unsigned b = 0; b < BLOCKS; b++)
		redisAppendCommand(redis->to, "SMEMBERS %u:%04x", b, block_of(fp, b));
	for (unsigned b = 0; b < BLOCKS; b++) {
		redisReply *reply = answer(redis);

		for (size_t i = 0; i < reply->elements; i++) {
			uint64_t one = (uint64_t)strtoll(reply->element[i]->str, NULL, 10);
			uint64_t bits = one ^ fp;

			if ((unsigned)__builtin_popcountll(bits) <= redis->radius &&
			    !was_found(bits, b))
				add_ids(redis, one);
		}
		freeReplyObject(reply);
	}
	return (struct bn_hits){ redis->ids.ids, sizeof(uint64_t), redis->ids.n };
}

static double redis_elsewhere(void *session)
{
	return info(session, "cpu", "used_cpu_user") + info(session, "cpu", "used_cpu_sys");
}

static void *redis_open(struct bn_rival *rival)
{
	return rival->self;
}

static void redis_close(void *session)
{
	(void)session;
}

static void redis_destroy(struct bn_rival *rival)
{
	struct redis *redis = rival->self;

	redisFree(redis->to);
	kill(redis->server, SIGTERM);
	waitpid(redis->server, NULL, 0);
	free(redis->rows);
	free(redis->ids.ids);
	free(redis);
}

void peer_make(const struct bn_setup *setup, struct bn_rival *rival)
{
	const struct bn_set *set = setup->set;
	struct redis *redis = bn_alloc(1, sizeof(*redis));
	char socket[4200];
	double before;

	if (setup->radius >= BLOCKS)
		bn_die("radius below %d only", BLOCKS);
	redis->radius = setup->radius;
	snprintf(socket, sizeof(socket), "%s.socket", setup->dir);
	begin_server(redis, socket);
	unlink(socket);
	before = info(redis, "memory", "used_memory");
	fill(redis, set);
	rival->bytes = (info(redis, "memory", "used_memory") - before) / (double)set->n;
	redis->n = set->n;
	redis->rows = bn_alloc(set->n, sizeof(*redis->rows));
	for (uint64_t i = 0; i < set->n; i++)
		redis->rows[i] = (struct row){ set->fp[i], i };
	qsort(redis->rows, set->n, sizeof(*redis->rows), compare);
	rival->max_queries = QUERIES;
	rival->self = redis;
	rival->open = redis_open;
	rival->close = redis_close;
	rival->search = redis_search;
	rival->elsewhere = redis_elsewhere;
	rival->destroy = redis_destroy;
}
