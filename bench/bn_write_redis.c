/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Redis as a contestant of bench/bn_write: for each of four blocks of 16 bits and each of its
 * values a set of the fingerprints that have it. The commands of a transaction are sent at once.
 * What is new is judged by a first round trip, and what is to be stored goes with a second one.
 */

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bn_util.h"
#include "bn_write.h"

#define RADIUS 3
#define BLOCKS 4
#define BUFFER ((size_t)1 << 20)
#define LOADED_AT_ONCE 10000
#define ONE_COMMAND 128 /* bytes, at most */

struct redis {
	const struct bn_write *write;
	int fd;
	char *out, *in;
	size_t n_out, out_cap, in_at, n_in;
	uint64_t *fp; /* of this transaction */
	size_t n, cap;
	uint64_t stored;
};

/* ---- the protocol ---- */

static void flush(struct redis *r)
{
	for (size_t at = 0; at < r->n_out;) {
		ssize_t n = send(r->fd, r->out + at, r->n_out - at, MSG_NOSIGNAL);

		if (n <= 0)
			bn_die("redis: send: %s", strerror(errno));
		at += (size_t)n;
	}
	r->n_out = 0;
}

/* Append a command to those that wait. */
static __attribute__((format(printf, 2, 3))) void ask(struct redis *r, const char *format, ...)
{
	va_list args;

	if (r->out_cap - r->n_out < ONE_COMMAND) {
		r->out_cap = 2 * r->out_cap + BUFFER;
		r->out = realloc(r->out, r->out_cap);
		if (!r->out)
			bn_die("out of memory");
	}
	va_start(args, format);
	r->n_out += (size_t)vsnprintf(r->out + r->n_out, ONE_COMMAND, format, args);
	va_end(args);
}

/* The next line of an answer, without its end. Valid until the next call. */
static char *line(struct redis *r)
{
	for (;;) {
		char *at = r->in + r->in_at, *end = memchr(at, '\n', r->n_in - r->in_at);
		ssize_t n;

		if (end) {
			r->in_at = (size_t)(end + 1 - r->in);
			end[-1] = '\0';
			if (*at == '-' && isupper((unsigned char)at[1])) /* not a number */
				bn_die("redis: %s", at + 1);
			return at;
		}
		memmove(r->in, at, r->n_in - r->in_at);
		r->n_in -= r->in_at;
		r->in_at = 0;
		n = recv(r->fd, r->in + r->n_in, BUFFER - r->n_in, 0);
		if (n <= 0)
			bn_die("redis: recv: %s", n ? strerror(errno) : "the server has ended");
		r->n_in += (size_t)n;
	}
}

/* One command with a plain answer. */
static char *command(struct redis *r, const char *text)
{
	ask(r, "%s\r\n", text);
	flush(r);
	return line(r);
}

/* ---- the contestant ---- */

static unsigned value_of(uint64_t fp, unsigned block)
{
	return (unsigned)(fp >> (48 - 16 * block)) & 0xffff;
}

/* Four commands for each fingerprint; returns how many were added or removed. */
static uint64_t change_all(struct redis *r, const char *name)
{
	uint64_t changed = 0;

	for (size_t i = 0; i < r->n; i++)
		for (unsigned b = 0; b < BLOCKS; b++) {
			char key[16], member[24];
			int nk = snprintf(key, sizeof(key), "%u:%u", b, value_of(r->fp[i], b));
			int nm = snprintf(member, sizeof(member), "%" PRId64, (int64_t)r->fp[i]);

			ask(r, "*3\r\n$4\r\n%s\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", name, nk, key, nm,
			    member);
		}
	flush(r);
	for (size_t i = 0; i < r->n; i++)
		for (unsigned b = 0; b < BLOCKS; b++)
			changed += line(r)[1] == '1' && b == 0;
	r->n = 0;
	return changed;
}

/* Read the four sets of a fingerprint. */
static int is_near(struct redis *r, uint64_t fp)
{
	int near = 0;

	for (unsigned b = 0; b < BLOCKS; b++)
		for (unsigned long n = strtoul(line(r) + 1, NULL, 10); n; n--) {
			line(r); /* its length */
			near |= __builtin_popcountll((uint64_t)strtoll(line(r), NULL, 10) ^ fp) <=
				RADIUS;
		}
	return near;
}

/* Leave those that are new. Answers are read while the server works, or both would wait. */
static void judge_all(struct redis *r)
{
	size_t kept = 0;

	for (size_t i = 0, asked = 0; i < r->n; i++) {
		if (i == asked) {
			for (; asked < r->n && asked < i + 100; asked++)
				for (unsigned b = 0; b < BLOCKS; b++) {
					char key[16];
					int n = snprintf(key, sizeof(key), "%u:%u", b,
							 value_of(r->fp[asked], b));

					ask(r, "*2\r\n$8\r\nSMEMBERS\r\n$%d\r\n%s\r\n", n, key);
				}
			flush(r);
		}
		if (!is_near(r, r->fp[i]))
			r->fp[kept++] = r->fp[i];
	}
	r->n = kept;
}

static void push(struct redis *r, uint64_t fp)
{
	if (r->n == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 1024;
		r->fp = realloc(r->fp, r->cap * sizeof(*r->fp));
		if (!r->fp)
			bn_die("out of memory");
	}
	r->fp[r->n++] = fp;
}

static void redis_begin(void *opaque)
{
	(void)opaque;
}

static void redis_change(void *opaque, const struct bn_change *change)
{
	struct redis *r = opaque;

	push(r, r->write->op == BN_DELETE ? bn_write_fp(change->id) : change->fp);
}

static uint64_t redis_commit(void *opaque)
{
	struct redis *r = opaque;
	int removes = r->write->op == BN_DELETE;
	uint64_t changed;

	if (r->write->op == BN_IF_NEW)
		judge_all(r);
	changed = change_all(r, removes ? "SREM" : "SADD");
	r->stored += removes ? -changed : changed;
	return changed;
}

static void *redis_open(const struct bn_write *write)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)write->redis),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct redis *r = bn_alloc(1, sizeof(*r));
	int one = 1;

	r->write = write;
	r->in = bn_alloc(1, BUFFER);
	r->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (r->fd < 0 || connect(r->fd, (struct sockaddr *)&to, sizeof(to)) ||
	    setsockopt(r->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		bn_die("redis: port %u: %s", write->redis, strerror(errno));
	if (strcmp(command(r, "DBSIZE"), ":0") != 0)
		bn_die("redis: port %u: there is something stored already", write->redis);
	command(r, "CONFIG SET appendfsync no");
	for (uint64_t i = 0; i < write->documents; i++) {
		push(r, bn_write_fp(i));
		if (r->n == LOADED_AT_ONCE || i + 1 == write->documents)
			r->stored += change_all(r, "SADD");
	}
	command(r, write->normal ? "CONFIG SET appendfsync everysec"
				 : "CONFIG SET appendfsync always");
	return r;
}

static uint64_t redis_count(void *opaque)
{
	return ((struct redis *)opaque)->stored;
}

static void redis_close(void *opaque)
{
	struct redis *r = opaque;

	command(r, "FLUSHALL");
	close(r->fd);
	free(r->out);
	free(r->in);
	free(r->fp);
	free(r);
}

const struct bn_writer bn_write_redis = {
	.name = "redis",
	.ops = 1u << BN_INSERT | 1u << BN_IF_NEW | 1u << BN_DELETE,
	.open = redis_open,
	.begin = redis_begin,
	.change = redis_change,
	.commit = redis_commit,
	.count = redis_count,
	.close = redis_close,
};
