/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "write/sx_ahead.h"

#include <stdlib.h>
#include <string.h>

#include "index/sx_index.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

#define BITS_2 64   /* of second fingerprints */
#define MOST 16384  /* queries that are looked up together, where it does not matter */
#define NEXT 256    /* queries among which that of a call is looked for */

void sx_ahead_expect(sx_ahead *a, const simidx_query *queries, size_t n)
{
	a->query = queries;
	a->n = n;
	a->next = a->from = a->to = 0;
}

void sx_ahead_clear(sx_ahead *a)
{
	sx_ahead_expect(a, NULL, 0);
}

int sx_ahead_expect_copies(sx_ahead *a, size_t n, simidx_error *err)
{
	sx_ahead_clear(a);
	sx_arena_clear(&a->bytes);
	if (n && sx_reserve(&a->own, &a->cap, n, sizeof(*a->own)))
		return sx_fail_nomem(err);
	a->query = a->own;
	return SIMIDX_OK;
}

int sx_ahead_copy(sx_ahead *a, const simidx_query *query, unsigned bits, simidx_error *err)
{
	simidx_query *to = &a->own[a->n];

	*to = *query;
	if (query->weights)
		to->weights = sx_arena_copy(&a->bytes, query->weights, bits);
	/* Without its fingerprint it is not read, and it may be of any size. */
	to->weights2 = NULL;
	if (query->weights2 && query->flags & SIMIDX_QUERY_FP2)
		to->weights2 = sx_arena_copy(&a->bytes, query->weights2, BITS_2);
	if ((query->weights && !to->weights) ||
	    (query->weights2 && query->flags & SIMIDX_QUERY_FP2 && !to->weights2))
		return sx_fail_nomem(err);
	a->n++;
	return SIMIDX_OK;
}

static int same_weights(const unsigned char *a, const unsigned char *b, size_t n)
{
	return a == b || (a && b && !memcmp(a, b, n));
}

/* Whole structs are compared, so that a new field cannot be forgotten. */
static int is_same(const simidx_query *known, const simidx_query *asked, unsigned bits)
{
	simidx_query a = *known, b = *asked;

	a.weights = a.weights2 = b.weights = b.weights2 = NULL;
	return !memcmp(&a, &b, sizeof(a)) &&
	       same_weights(known->weights, asked->weights, bits) &&
	       (!(asked->flags & SIMIDX_QUERY_FP2) ||
		same_weights(known->weights2, asked->weights2, BITS_2));
}

size_t sx_ahead_find(sx_ahead *a, const simidx_query *query, unsigned bits)
{
	for (size_t i = a->next; i < a->n && i < a->next + NEXT; i++) {
		if (is_same(&a->query[i], query, bits)) {
			a->next = i + 1;
			return i + 1;
		}
	}
	return 0;
}

/* Look up queries [from, to) together, if that is worth while. */
static int look_up(sx_ahead *a, simidx_reader *r, size_t from, size_t to, simidx_error *err)
{
	const sx_backend_bulk *calls = sx_reader_index(r)->backend->bulk;
	size_t n;
	int rc;

	a->from = from;
	a->to = to;
	a->is_together = 0;
	if (!calls->holds_for_writer && !r->conditions)
		return SIMIDX_OK;
	sx_view_expect(&r->view, to - from);
	if (!calls->is_worthwhile(r, a->query + from, to - from))
		return SIMIDX_OK;
	a->bulk = a->bulk ? a->bulk : calls->create();
	if (!a->bulk)
		return SIMIDX_OK;
	rc = calls->search(a->bulk, r, a->query + from, to - from, &n, err);
	a->is_together = !rc && n > 0;
	if (rc)
		a->to = a->from;
	else if (n)
		a->to = from + n;
	return rc;
}

int sx_ahead_look_up(sx_ahead *a, simidx_reader *r, size_t i, int *together, simidx_error *err)
{
	size_t most = sx_reader_index(r)->backend->bulk->most, left;
	int rc = SIMIDX_OK;

	*together = 0;
	if (i >= a->n)
		return SIMIDX_OK;
	left = a->n - i;
	most = most ? most : MOST;
	if (i < a->from || i >= a->to)
		rc = look_up(a, r, i, i + (left < most ? left : most), err);
	*together = !rc && a->is_together;
	return rc;
}

void sx_ahead_free(sx_ahead *a)
{
	free(a->own);
	sx_arena_free(&a->bytes);
}
