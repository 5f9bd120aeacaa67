/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Connections to a server. Each call of an engine takes one for itself, sends its commands
 * together and reads their answers before a deadline.
 */

#ifndef RD_LINK_H
#define RD_LINK_H

#include <pthread.h>

#include <hiredis/hiredis.h>

#include "rd_uri.h"

#define RD_SPARE 16 /* connections that are kept for the next call */

/** A connection that a call has. */
struct rd_link {
	redisContext *c;
	double until;   /* the deadline, in seconds */
	size_t open;    /* commands that wait for an answer */
	int sent;       /* whether something was sent since a caller has cleared it */
	int was_kept;   /* it is from an earlier call, so the server may have closed it meanwhile */
	int has_answered; /* since it was taken */
	int has_failed;
};

/** A server, and connections to it that nobody has. */
struct rd_server {
	struct rd_uri uri;
	void *tls;      /* NULL: without it; see rd_tls.h */
	pthread_mutex_t lock;
	redisContext *spare[RD_SPARE];
	size_t n_spare;
};

/** All zero, get ready for the server of a URI: as rd_uri_read(), rd_tls_new(). Nothing is sent. */
int rd_server_init(struct rd_server *server, const char *uri, simidx_error *err);

/** Close all connections; also after an error. */
void rd_server_free(struct rd_server *server);

/**
 * Get a connection, whose deadline is that of a call that begins now.
 *
 * @return SIMIDX_OK; SIMIDX_E_IO: nobody is there, or does not answer; SIMIDX_E_PERMISSION;
 *         SIMIDX_E_NOMEM
 */
int rd_link_take(struct rd_server *server, struct rd_link *out, simidx_error *err);

/** Give it back; it is closed if answers are due, or after a failure. */
void rd_link_give(struct rd_server *server, struct rd_link *link);

/**
 * Add a command to those that are sent with the next wait for an answer. The format is that of
 * hiredis: words, %s, %b (bytes and their size, a size_t) and formats of numbers.
 */
int rd_link_add(struct rd_link *link, simidx_error *err, const char *format, ...);

/** The same with arguments of any number and size. */
int rd_link_add_args(struct rd_link *link, size_t n, const char **at, const size_t *size,
		     simidx_error *err);

/**
 * Wait for the answer to the first command that has none, which is to be freed by
 * freeReplyObject(). An answer that says that something went wrong is an answer.
 *
 * @return SIMIDX_OK; SIMIDX_E_IO: the server is gone, silent or sends garbage; SIMIDX_E_NOMEM
 */
int rd_link_next(struct rd_server *server, struct rd_link *link, redisReply **out,
		 simidx_error *err);

/**
 * Send one command and wait for its answer, which must not be an error.
 *
 * @param out  the answer; NULL: nobody wants it; set to NULL after a failure
 */
int rd_link_ask(struct rd_server *server, struct rd_link *link, redisReply **out,
		simidx_error *err, const char *format, ...);

/** The same on a connection that is taken and given back. */
int rd_ask(struct rd_server *server, redisReply **out, simidx_error *err, const char *format, ...);

/** The error of an answer that says that something went wrong. */
int rd_reply_fail(const struct rd_server *server, const redisReply *reply, simidx_error *err);

/** An answer that is none to what was asked: SIMIDX_E_IO. */
int rd_reply_odd(const struct rd_server *server, simidx_error *err);

/** Commands that change nothing, which are sent together. */
struct rd_reading {
	size_t n;
	/** Adds command number i by rd_link_add(). */
	int (*add)(void *ctx, struct rd_link *link, size_t i, simidx_error *err);
	/** Gets its answer; another value than SIMIDX_OK ends it. */
	int (*take)(void *ctx, size_t i, const redisReply *reply, simidx_error *err);
	void *ctx;
	int takes_errors; /* also answers that say that a key has another type */
};

/**
 * Send them and hand over their answers, of which none is an error. Where the server has closed a
 * kept connection, it is done again on a new one.
 *
 * @return what take() has returned; as rd_link_ask()
 */
int rd_read(struct rd_server *server, const struct rd_reading *reading, simidx_error *err);

#endif /* RD_LINK_H */
