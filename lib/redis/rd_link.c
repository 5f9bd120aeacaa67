/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "rd_link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rd_tls.h"

#define TOGETHER 8192             /* commands that are sent without a wait */
#define MAX_ELEMENTS (1 << 24)    /* of an answer */
#define MAX_BUFFER ((size_t)1 << 30) /* bytes of answers that are not complete */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- errors ---- */

/* What connects and reads has failed; the text of hiredis is about the transport. */
static int fail_link(struct rd_server *server, struct rd_link *link, simidx_error *err)
{
	const redisContext *c = link->c;
	const char *tls = rd_tls_reason(server->tls);
	const char *why = tls ? tls : c && c->err ? c->errstr : "no connection";

	link->has_failed = 1;
	if (c && c->err == REDIS_ERR_OOM)
		return rd_fail(err, SIMIDX_E_IO, "%s: an answer is larger than memory, or garbage",
			       server->uri.place);
	if (c && c->err == REDIS_ERR_PROTOCOL)
		return rd_fail(err, SIMIDX_E_IO, "%s: it does not speak as Redis does: %.100s",
			       server->uri.place, why);
	/* A server that wants a certificate may close the connection before its word is read. */
	if (server->tls && !server->uri.cert && !link->has_answered && !link->was_kept)
		return rd_fail(err, SIMIDX_E_IO, "%s: %.100s: does it want a certificate of the "
			       "client? (cert=FILE&key=FILE)", server->uri.place, why);
	return rd_fail(err, SIMIDX_E_IO, "%s: %.100s", server->uri.place, why);
}

static int fail_late(struct rd_server *server, struct rd_link *link, simidx_error *err)
{
	link->has_failed = 1;
	return rd_fail(err, SIMIDX_E_IO, "%s: no answer within %u s", server->uri.place,
		       server->uri.timeout);
}

int rd_reply_odd(const struct rd_server *server, simidx_error *err)
{
	return rd_fail(err, SIMIDX_E_IO, "%s: it answers something else than it was asked",
		       server->uri.place);
}

static int begins(const redisReply *reply, const char *word)
{
	return !strncmp(reply->str, word, strlen(word));
}

int rd_reply_fail(const struct rd_server *server, const redisReply *reply, simidx_error *err)
{
	static const struct {
		const char *word;
		int code;
		const char *advice;
	} known[] = {
		{ "WRONGTYPE", SIMIDX_E_CORRUPT, ": a key of the index holds something else" },
		{ "NOAUTH", SIMIDX_E_PERMISSION, ": it wants a password" },
		{ "WRONGPASS", SIMIDX_E_PERMISSION, "" },
		{ "NOPERM", SIMIDX_E_PERMISSION, "" },
		{ "OOM", SIMIDX_E_NO_SPACE, ": its memory is full, see maxmemory" },
		{ "READONLY", SIMIDX_E_READ_ONLY, ": name its master in the URI" },
		{ "LOADING", SIMIDX_E_IO, ": try again later" },
	};
	char node[128];

	if (sscanf(reply->str, "MOVED %*u %127s", node) == 1 ||
	    sscanf(reply->str, "ASK %*u %127s", node) == 1)
		return rd_fail(err, SIMIDX_E_IO,
			       "%s: it is a node of a cluster, and the index is on the node %s: "
			       "name that one in the URI", server->uri.place, node);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (begins(reply, known[i].word) || strstr(reply->str, known[i].word))
			return rd_fail(err, known[i].code, "%s: %.200s%s", server->uri.place,
				       reply->str, known[i].advice);
	if (strstr(reply->str, "AUTH"))
		return rd_fail(err, SIMIDX_E_PERMISSION, "%s: %.200s", server->uri.place,
			       reply->str);
	return rd_fail(err, SIMIDX_E_IO, "%s: it says: %.300s", server->uri.place, reply->str);
}

/* ---- connecting ---- */

#if HIREDIS_MAJOR >= 1
typedef size_t elements;
#else
typedef int elements;
#endif

static void *(*make_array)(const redisReadTask *, elements);

/* A number of elements that garbage has is not to take all memory. */
static void *make_small_array(const redisReadTask *task, elements n)
{
	return n > MAX_ELEMENTS ? NULL : make_array(task, n);
}

static redisReplyObjectFunctions functions;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void set_functions(void)
{
	redisReader *reader = redisReaderCreate();

	if (!reader)
		return;
	functions = *reader->fn;
	make_array = functions.createArray;
	functions.createArray = make_small_array;
	redisReaderFree(reader);
}

/* Milliseconds that are left, at least 0. */
static int left_ms(const void *ctx)
{
	const struct rd_link *link = ctx;
	double left = (link->until - now()) * 1000;

	return left > 0 ? (int)left + 1 : 0;
}

/*
 * What writes to a socket by write(), as hiredis and OpenSSL do, is kept from killing the process
 * where the server is gone.
 */
struct pipe_signal {
	sigset_t before, pending;
};

static void block_pipe(struct pipe_signal *s)
{
	sigset_t pipe;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&s->pending);
	pthread_sigmask(SIG_BLOCK, &pipe, &s->before);
}

static void unblock_pipe(const struct pipe_signal *s, int has_failed)
{
	struct timespec now = { 0, 0 };
	sigset_t pipe;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	if (has_failed && !sigismember(&s->pending, SIGPIPE))
		(void)sigtimedwait(&pipe, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &s->before, NULL);
}

static int greet(struct rd_server *server, struct rd_link *link, simidx_error *err)
{
	struct pipe_signal signal;
	int rc;

	if (!server->tls)
		return SIMIDX_OK;
	block_pipe(&signal);
	rc = rd_tls_greet(server->tls, &server->uri, link->c, left_ms, link, err);
	unblock_pipe(&signal, rc);
	return rc;
}

static int connect_to(struct rd_server *server, struct rd_link *link, simidx_error *err)
{
	const struct rd_uri *u = &server->uri;
	int ms = left_ms(link), flags;
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	pthread_once(&once, set_functions);
	link->c = u->socket ? redisConnectUnixWithTimeout(u->socket, tv)
			    : redisConnectWithTimeout(u->host, (int)u->port, tv);
	link->open = 0;
	link->sent = link->was_kept = link->has_failed = link->has_answered = 0;
	if (!link->c || !make_array)
		return rd_fail_nomem(err);
	if (link->c->err)
		return fail_link(server, link, err);
	flags = fcntl(link->c->fd, F_GETFL);
	if (flags < 0 || fcntl(link->c->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return rd_fail(err, SIMIDX_E_IO, "%s: %s", u->place, strerror(errno));
	link->c->flags &= ~REDIS_BLOCK;
	link->c->reader->fn = &functions;
	return greet(server, link, err);
}

/* Tell who we are, and choose the database. */
static int introduce(struct rd_server *server, struct rd_link *link, simidx_error *err)
{
	const struct rd_uri *u = &server->uri;
	simidx_error own = { .code = SIMIDX_OK };
	int rc = SIMIDX_OK;

	if (u->password && u->user)
		rc = rd_link_ask(server, link, NULL, &own, "AUTH %s %s", u->user, u->password);
	else if (u->password)
		rc = rd_link_ask(server, link, NULL, &own, "AUTH %s", u->password);
	/* What does not know the command may repeat it in its answer. */
	if (rc && strstr(own.text, u->password))
		return rd_fail(err, rc, "%s: it refuses AUTH", u->place);
	if (rc)
		return rd_fail(err, rc, "%s", own.text);
	return !u->db ? SIMIDX_OK : rd_link_ask(server, link, NULL, err, "SELECT %u", u->db);
}

static void drop_link(struct rd_link *link)
{
	if (link->c)
		redisFree(link->c);
	link->c = NULL;
}

static int renew(struct rd_server *server, struct rd_link *link, simidx_error *err)
{
	int rc = connect_to(server, link, err);

	if (!rc)
		rc = introduce(server, link, err);
	if (rc)
		drop_link(link);
	return rc;
}

/* ---- taking and giving ---- */

int rd_server_init(struct rd_server *server, const char *uri, simidx_error *err)
{
	int rc;

	if (pthread_mutex_init(&server->lock, NULL))
		return rd_fail_nomem(err);
	rc = rd_uri_read(uri, &server->uri, err);
	return rc ? rc : rd_tls_new(&server->uri, &server->tls, err);
}

void rd_server_free(struct rd_server *server)
{
	for (size_t i = 0; i < server->n_spare; i++)
		redisFree(server->spare[i]);
	rd_tls_free(server->tls);
	pthread_mutex_destroy(&server->lock);
	rd_uri_free(&server->uri);
}

int rd_link_take(struct rd_server *server, struct rd_link *out, simidx_error *err)
{
	memset(out, 0, sizeof(*out));
	out->until = now() + server->uri.timeout;
	pthread_mutex_lock(&server->lock);
	if (server->n_spare) {
		out->c = server->spare[--server->n_spare];
		out->was_kept = 1;
	}
	pthread_mutex_unlock(&server->lock);
	/* Nothing is due, so what is there to read is that the server has closed it. */
	if (out->c) {
		struct pollfd fd = { out->c->fd, POLLIN, 0 };

		if (poll(&fd, 1, 0))
			drop_link(out);
	}
	return out->c ? SIMIDX_OK : renew(server, out, err);
}

void rd_link_give(struct rd_server *server, struct rd_link *link)
{
	if (!link->c)
		return;
	if (!link->has_failed && !link->open) {
		pthread_mutex_lock(&server->lock);
		if (server->n_spare < RD_SPARE) {
			server->spare[server->n_spare++] = link->c;
			link->c = NULL;
		}
		pthread_mutex_unlock(&server->lock);
	}
	drop_link(link);
}

/* ---- sending and reading ---- */

static int added(struct rd_link *link, int rc, simidx_error *err)
{
	if (rc != REDIS_OK) {
		link->has_failed = 1;
		return rd_fail_nomem(err);
	}
	link->open++;
	return SIMIDX_OK;
}

int rd_link_add(struct rd_link *link, simidx_error *err, const char *format, ...)
{
	va_list ap;
	int rc;

	va_start(ap, format);
	rc = redisvAppendCommand(link->c, format, ap);
	va_end(ap);
	return added(link, rc, err);
}

int rd_link_add_args(struct rd_link *link, size_t n, const char **at, const size_t *size,
		     simidx_error *err)
{
	return added(link, redisAppendCommandArgv(link->c, (int)n, at, size), err);
}

/* Send what can be sent now. Returns whether something is left. */
static int send_some(const struct rd_server *server, struct rd_link *link, int *is_left)
{
	struct pipe_signal signal;
	int done = 0, rc;

	block_pipe(&signal);
	rd_tls_forget(server->tls);
	rc = redisBufferWrite(link->c, &done);
	unblock_pipe(&signal, rc != REDIS_OK);
	if (rc != REDIS_OK)
		return -1;
	link->sent = 1;
	*is_left = !done;
	return 0;
}

/* OpenSSL may have to write, too. */
static int read_some(const struct rd_server *server, redisContext *c)
{
	struct pipe_signal signal;
	int rc;

	if (!server->tls)
		return redisBufferRead(c);
	block_pipe(&signal);
	rd_tls_forget(server->tls);
	rc = redisBufferRead(c);
	unblock_pipe(&signal, rc != REDIS_OK);
	return rc;
}

int rd_link_next(struct rd_server *server, struct rd_link *link, redisReply **out,
		 simidx_error *err)
{
	redisContext *c = link->c;
	int is_left = 1;

	for (;;) {
		struct pollfd fd = { c->fd, POLLIN, 0 };
		void *reply = NULL;
		int n;

		if (redisGetReplyFromReader(c, &reply) != REDIS_OK)
			return fail_link(server, link, err);
		if (reply) {
			link->open--;
			link->has_answered = 1;
			*out = reply;
			return SIMIDX_OK;
		}
		if (c->reader->len > MAX_BUFFER) {
			link->has_failed = 1;
			return rd_reply_odd(server, err);
		}
		if (is_left && send_some(server, link, &is_left))
			return fail_link(server, link, err);
		fd.events |= is_left ? POLLOUT : 0;
		n = poll(&fd, 1, left_ms(link));
		if (n < 0 && errno != EINTR) {
			link->has_failed = 1;
			return rd_fail(err, SIMIDX_E_IO, "%s: %s", server->uri.place,
				       strerror(errno));
		}
		if (now() >= link->until)
			return fail_late(server, link, err);
		if (n > 0 && fd.revents & ~POLLOUT && read_some(server, c) != REDIS_OK)
			return fail_link(server, link, err);
	}
}

static int ask(struct rd_server *server, struct rd_link *link, redisReply **out, simidx_error *err,
	       const char *format, va_list ap)
{
	redisReply *reply = NULL;
	int rc = added(link, redisvAppendCommand(link->c, format, ap), err);

	if (!rc)
		rc = rd_link_next(server, link, &reply, err);
	if (!rc && reply->type == REDIS_REPLY_ERROR)
		rc = rd_reply_fail(server, reply, err);
	if (reply && (rc || !out)) {
		freeReplyObject(reply);
		reply = NULL;
	}
	if (out)
		*out = reply;
	return rc;
}

int rd_link_ask(struct rd_server *server, struct rd_link *link, redisReply **out,
		simidx_error *err, const char *format, ...)
{
	va_list ap;
	int rc;

	va_start(ap, format);
	rc = ask(server, link, out, err, format, ap);
	va_end(ap);
	return rc;
}

int rd_ask(struct rd_server *server, redisReply **out, simidx_error *err, const char *format, ...)
{
	struct rd_link link;
	va_list ap;
	int rc = rd_link_take(server, &link, err);

	if (out)
		*out = NULL;
	va_start(ap, format);
	if (!rc)
		rc = ask(server, &link, out, err, format, ap);
	va_end(ap);
	rd_link_give(server, &link);
	return rc;
}

/* One turn of rd_read(), from command *at on. *at: commands whose answers were taken. */
static int read_turn(struct rd_server *server, struct rd_link *link, const struct rd_reading *r,
		     size_t *at, simidx_error *err)
{
	size_t end = r->n - *at < TOGETHER ? r->n : *at + TOGETHER;
	int rc = SIMIDX_OK;

	for (size_t i = *at; !rc && i < end; i++)
		rc = r->add(r->ctx, link, i, err);
	while (!rc && *at < end) {
		redisReply *reply;

		rc = rd_link_next(server, link, &reply, err);
		if (rc)
			break;
		if (reply->type == REDIS_REPLY_ERROR &&
		    !(r->takes_errors && begins(reply, "WRONGTYPE")))
			rc = rd_reply_fail(server, reply, err);
		else
			rc = r->take(r->ctx, *at, reply, err);
		++*at;
		freeReplyObject(reply);
	}
	return rc;
}

int rd_read(struct rd_server *server, const struct rd_reading *r, simidx_error *err)
{
	struct rd_link link;
	size_t at = 0;
	int rc = rd_link_take(server, &link, err);

	while (!rc && at < r->n) {
		size_t had = at;

		rc = read_turn(server, &link, r, &at, err);
		/* It was closed in this moment: by a timeout, or as the server begins anew. */
		if (rc == SIMIDX_E_IO && at == had && link.has_failed && link.was_kept &&
		    now() < link.until) {
			if (err)
				err->code = SIMIDX_OK;
			drop_link(&link);
			rc = renew(server, &link, err);
		}
	}
	/* What was asked for comes anyway; then the connection can be used again. */
	while (rc && link.c && !link.has_failed && link.open) {
		redisReply *reply;

		if (!rd_link_next(server, &link, &reply, NULL))
			freeReplyObject(reply);
	}
	rd_link_give(server, &link);
	return rc;
}
