/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Something between a handle and a gateway on this machine, which passes bytes on, knows requests
 * by their names, and can hold one, or break off. The handle must have one connection.
 */

#ifndef HT_PROXY_H
#define HT_PROXY_H

#include <stddef.h>

/** What is done with a request. */
enum ht_verdict {
	HT_PASS,      /**< pass it on */
	HT_CUT,       /**< close the connection in place of passing it on */
	HT_CUT_ANSWER /**< pass it on, and close the connection in place of its answer */
};

/**
 * Hears of what a handle sends at once: the name of the first request of it, and its bytes. After
 * HT_CUT_ANSWER it is called again, with NULL, when the answer has come.
 */
typedef enum ht_verdict (*ht_request)(void *ctx, const char *name, const char *data, size_t n);

/** Whether a request of this name changes something. */
int ht_is_change(const char *name);

/** Begin one in a thread. Returns its port. */
int ht_proxy(int gateway_port, ht_request request, void *ctx);

/* ---- a proxy that holds one request ---- */

typedef struct ht_holder ht_holder;

/** Begin one, which holds nothing yet. */
ht_holder *ht_holder_new(int gateway_port, int *port);

/**
 * Hold a request that is to come.
 *
 * @param name    of the request; NULL = any that changes something
 * @param text    bytes that it must have; NULL = whatever it has
 * @param number  the first one of that kind is 1
 */
void ht_hold(ht_holder *holder, const char *name, const char *text, int number);

/** Wait until it has come. */
void ht_await(ht_holder *holder);

/** Let it go on. */
void ht_let_go(ht_holder *holder);

#endif /* HT_PROXY_H */
