/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The URI of an index in Redis (simidx_redis.h), and errors. An engine knows public headers only,
 * so errors have a function here.
 */

#ifndef RD_URI_H
#define RD_URI_H

#include <simidx_engine.h>

#define RD_MAX_NAME 64

struct rd_uri {
	char *text;              /* a copy, into which others point */
	size_t size;             /* of it */
	const char *host;        /* NULL: a socket of this machine */
	const char *socket;      /* its path */
	unsigned port, db, timeout; /* seconds */
	char name[RD_MAX_NAME + 1]; /* of the index */
	int is_tls;
	const char *ca, *cert, *key; /* files for TLS; NULL: none */
	const char *user;        /* NULL: none */
	char *password;          /* NULL: none; in the copy, or: */
	char secret[1024];
	char place[256];         /* the server, for messages */
};

/**
 * Read a URI, and the password from where it is.
 *
 * @return SIMIDX_OK; SIMIDX_E_ARG; SIMIDX_E_IO, SIMIDX_E_PERMISSION: the file with the password
 *         cannot be read; SIMIDX_E_NOMEM
 */
int rd_uri_read(const char *text, struct rd_uri *out, simidx_error *err);

/** Also after an error. Nothing of a password is left in memory. */
void rd_uri_free(struct rd_uri *uri);

/** Set code and text, unless there is an error already. Returns the code. */
int rd_fail(simidx_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

int rd_fail_nomem(simidx_error *err);

#endif /* RD_URI_H */
