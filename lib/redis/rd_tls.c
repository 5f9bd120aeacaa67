/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "rd_tls.h"

#ifdef HAVE_HIREDIS_SSL

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

#include <hiredis/hiredis_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* The first reason in this thread's list of errors, which is emptied. */
static const char *reason(void)
{
	unsigned long error = ERR_peek_error();
	const char *text = ERR_GET_LIB(error) == ERR_LIB_SYS ? strerror(ERR_GET_REASON(error))
							     : ERR_reason_error_string(error);

	ERR_clear_error();
	return text ? text : "no reason is known";
}

/* Nobody is asked for the password of a key: it has none. */
static int no_password(char *out, int size, int writes, void *ctx)
{
	(void)out;
	(void)size;
	(void)writes;
	(void)ctx;
	return 0;
}

/* What OpenSSL is to know of the files of a URI. */
static int use_files(SSL_CTX *context, const struct rd_uri *u, simidx_error *err)
{
	const char *file = u->ca;
	int ok = file ? SSL_CTX_load_verify_locations(context, file, NULL)
		      : SSL_CTX_set_default_verify_paths(context);

	if (ok == 1 && u->cert) {
		file = u->cert;
		ok = SSL_CTX_use_certificate_chain_file(context, file);
	}
	if (ok == 1 && u->cert) {
		file = u->key;
		ok = SSL_CTX_use_PrivateKey_file(context, file, SSL_FILETYPE_PEM);
	}
	return ok == 1 ? SIMIDX_OK
		       : rd_fail(err, SIMIDX_E_IO, "%s: %s", file ? file : "TLS", reason());
}

int rd_tls_new(const struct rd_uri *u, void **out, simidx_error *err)
{
	SSL_CTX *context;
	int rc;

	*out = NULL;
	if (!u->is_tls)
		return SIMIDX_OK;
	ERR_clear_error();
	context = SSL_CTX_new(TLS_client_method());
	if (!context)
		return rd_fail_nomem(err);
	SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_default_passwd_cb(context, no_password);
	rc = use_files(context, u, err);
	if (rc)
		SSL_CTX_free(context);
	else
		*out = context;
	return rc;
}

void rd_tls_free(void *tls)
{
	SSL_CTX_free(tls);
}

/* The certificate must be for this host. */
static int set_host(SSL *ssl, const char *host)
{
	unsigned char bytes[sizeof(struct in6_addr)];
	X509_VERIFY_PARAM *wanted = SSL_get0_param(ssl);

	X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	if (inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1)
		return X509_VERIFY_PARAM_set1_ip_asc(wanted, host) == 1;
	return X509_VERIFY_PARAM_set1_host(wanted, host, strlen(host)) == 1 &&
	       SSL_set_tlsext_host_name(ssl, host) == 1;
}

/* Why they do not agree. */
static int refuse(SSL *ssl, const struct rd_uri *u, int error, simidx_error *err)
{
	long verdict = SSL_get_verify_result(ssl);

	if (verdict != X509_V_OK)
		return rd_fail(err, SIMIDX_E_IO,
			       "%s: its certificate is not accepted: %s (ca=FILE names an "
			       "authority to trust)",
			       u->place, X509_verify_cert_error_string(verdict));
	if (error == SSL_ERROR_SSL)
		return rd_fail(err, SIMIDX_E_IO, "%s: no TLS: %s", u->place, reason());
	return rd_fail(err, SIMIDX_E_IO, "%s: no TLS: it has closed the connection", u->place);
}

int rd_tls_greet(void *tls, const struct rd_uri *u, redisContext *c,
		 int (*left_ms)(const void *ctx), const void *ctx, simidx_error *err)
{
	SSL *ssl = SSL_new(tls);

	ERR_clear_error();
	if (!ssl || !set_host(ssl, u->host)) {
		SSL_free(ssl);
		return rd_fail_nomem(err);
	}
	/* It begins, and it belongs to the connection then. */
	if (redisInitiateSSL(c, ssl) != REDIS_OK) {
		int rc = refuse(ssl, u, SSL_ERROR_SSL, err);

		SSL_free(ssl);
		return rc;
	}
	for (;;) {
		struct pollfd fd = { c->fd, 0, 0 };
		int done = SSL_do_handshake(ssl), error = SSL_get_error(ssl, done);
		int ms = left_ms(ctx), n;

		if (done == 1)
			return SIMIDX_OK;
		if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE)
			return refuse(ssl, u, error, err);
		fd.events = error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
		n = ms ? poll(&fd, 1, ms) : 0;
		if (!n)
			return rd_fail(err, SIMIDX_E_IO,
				       "%s: no answer within %u s: it is silent, or has no TLS",
				       u->place, u->timeout);
		if (n < 0 && errno != EINTR)
			return rd_fail(err, SIMIDX_E_IO, "%s: %s", u->place, strerror(errno));
	}
}

void rd_tls_forget(void *tls)
{
	if (tls)
		ERR_clear_error();
}

const char *rd_tls_reason(void *tls)
{
	return tls && ERR_peek_error() ? reason() : NULL;
}

#else

int rd_tls_new(const struct rd_uri *u, void **out, simidx_error *err)
{
	*out = NULL;
	return !u->is_tls ? SIMIDX_OK
			  : rd_fail(err, SIMIDX_E_UNSUPPORTED,
				    "this libsimidx-redis has no TLS, as it was made with hiredis "
				    "%d.%d without hiredis_ssl: let stunnel listen on this machine "
				    "and forward to the server, and use redis:// to it",
				    HIREDIS_MAJOR, HIREDIS_MINOR);
}

void rd_tls_free(void *tls)
{
	(void)tls; /* there is none */
}

int rd_tls_greet(void *tls, const struct rd_uri *u, redisContext *c,
		 int (*left_ms)(const void *ctx), const void *ctx, simidx_error *err)
{
	(void)tls;
	(void)c;
	(void)left_ms;
	(void)ctx;
	return rd_fail(err, SIMIDX_E_UNSUPPORTED, "%s: no TLS", u->place);
}

void rd_tls_forget(void *tls)
{
	(void)tls;
}

const char *rd_tls_reason(void *tls)
{
	(void)tls;
	return NULL;
}

#endif
