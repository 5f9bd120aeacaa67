/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * TLS (rediss://), where hiredis has it: version 1.0 with its hiredis_ssl. The certificate of the
 * server must be for the host of the URI, and of an authority that is trusted.
 */

#ifndef RD_TLS_H
#define RD_TLS_H

#include <hiredis/hiredis.h>

#include "rd_uri.h"

/**
 * Read the certificates that a URI names.
 *
 * @param out  what rd_tls_greet() takes; NULL: the URI wants none
 * @return SIMIDX_OK; SIMIDX_E_UNSUPPORTED: hiredis has no TLS; SIMIDX_E_IO: a file cannot be used;
 *         SIMIDX_E_NOMEM
 */
int rd_tls_new(const struct rd_uri *uri, void **out, simidx_error *err);

void rd_tls_free(void *tls);

/**
 * Agree with the server that has just been connected, which does not block.
 *
 * @param left_ms  tells the milliseconds until the deadline; ctx is passed to it
 * @return SIMIDX_OK; SIMIDX_E_IO: it is not the one of the URI, or no server with TLS, or silent;
 *         SIMIDX_E_NOMEM
 */
int rd_tls_greet(void *tls, const struct rd_uri *uri, redisContext *c,
		 int (*left_ms)(const void *ctx), const void *ctx, simidx_error *err);

/** Before anything is sent or read: forget the errors that others have left in this thread. */
void rd_tls_forget(void *tls);

/**
 * What TLS says of the failure that has just been in this thread, such as that the server wants a
 * certificate; NULL: nothing.
 */
const char *rd_tls_reason(void *tls);

#endif /* RD_TLS_H */
