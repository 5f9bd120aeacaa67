/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "join/sx_join_large.h"

#include <string.h>

#include "kernel/sx_bits.h"
#include "util/sx_alloc.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"

/* Marks of entries of two chunks of which pairs are wanted. */
#define FIRST_CHUNK (1u << SX_JOIN_CHUNK_SHIFT)
#define SECOND_CHUNK (2u << SX_JOIN_CHUNK_SHIFT)

/* Reads the bucket. */
struct reading {
	const sx_join_large *l;
	sx_join_stream stream[2];
	sx_join_batch some; /* entries at hand */
	size_t at;
	simidx_error *err;
};

/* The entries of the bucket that have a value of some bits. */
struct class {
	uint64_t mask, value;
	sx_join_constraint constraint;
};

/* ---- reading ---- */

static int begin(struct reading *r)
{
	const sx_join_large *l = r->l;
	int rc = SIMIDX_OK;

	r->at = r->some.n = 0;
	for (unsigned s = 0; s < l->n_inputs; s++) {
		sx_join_stream_end(&r->stream[s]);
		if (!rc)
			rc = sx_join_stream_begin(&r->stream[s], &l->source[s], l->from, l->last,
						  r->err);
	}
	return rc;
}

/* Have an entry at hand, if there are more of them. */
static int more(struct reading *r)
{
	const sx_join_large *l = r->l;
	int rc;

	if (r->at < r->some.n)
		return SIMIDX_OK;
	r->at = 0;
	rc = sx_join_batch_read(&r->some, r->stream, l->n_inputs, 64, SIZE_MAX, r->err);
	return rc ? rc : l->pause(l->ctx);
}

/* Put the next entries of a class behind those that are there, until there are `n` of them. */
static int fill(struct reading *r, const struct class *c, size_t n)
{
	sx_join_batch *b = r->l->room;
	int rc = SIMIDX_OK;

	while (!rc && b->n < n && !(rc = more(r)) && r->some.n)
		for (; b->n < n && r->at < r->some.n; r->at++) {
			uint64_t x = r->some.v[r->at];

			if ((x & c->mask) != c->value)
				continue;
			b->v[b->n] = x;
			b->inputs[b->n++] = r->l->n_inputs == 2 ? r->some.inputs[r->at] : 3;
		}
	memset(b->v + b->n, 0, SX_JOIN_PADDING * sizeof(*b->v));
	return rc;
}

/* Count the entries, and see which bits are not alike in all. */
static int survey(struct reading *r, uint64_t *n, uint64_t *varies)
{
	uint64_t any = 0;
	int rc = begin(r);

	*n = *varies = 0;
	while (!rc && !(rc = more(r)) && r->some.n) {
		if (!*n)
			any = r->some.v[0];
		*n += r->some.n;
		for (; r->at < r->some.n; r->at++)
			*varies |= r->some.v[r->at] ^ any;
	}
	return rc;
}

/* ---- joining ---- */

static int join(struct reading *r, const struct class *c, int has_inputs)
{
	const sx_join_batch *b = r->l->room;
	sx_join_constraint constraint = c->constraint;

	constraint.agreed |= c->mask;
	sx_joiner_begin(r->l->joiner, &constraint);
	return sx_joiner_run(r->l->joiner, b->v, has_inputs ? b->inputs : NULL, b->n);
}

/* Cut a class in chunks of which two have room: each is joined, and then each with each later one. */
static int join_chunks(struct reading *r, const struct class *c)
{
	sx_join_batch *b = r->l->room;
	size_t half = r->l->max / 2;

	for (size_t chunk = 0;; chunk++) {
		int rc = begin(r);
		size_t n;

		for (size_t i = 0; !rc && i <= chunk; i++) {
			b->n = 0;
			rc = fill(r, c, half);
		}
		n = b->n;
		if (!rc && n)
			rc = join(r, c, r->l->n_inputs == 2);
		if (rc || n < half)
			return rc;
		for (size_t i = 0; i < n; i++)
			b->inputs[i] |= FIRST_CHUNK;
		for (;;) {
			b->n = n;
			rc = fill(r, c, 2 * half);
			if (rc || b->n == n)
				break;
			for (size_t i = n; i < b->n; i++)
				b->inputs[i] |= SECOND_CHUNK;
			rc = join(r, c, 1);
			if (rc)
				break;
		}
		if (rc)
			return rc;
	}
}

static int join_class(struct reading *r, const struct class *c)
{
	int rc = begin(r);

	r->l->room->n = 0;
	if (!rc)
		rc = fill(r, c, r->l->max + 1);
	if (rc)
		return rc;
	return r->l->room->n > r->l->max ? join_chunks(r, c) : join(r, c, r->l->n_inputs == 2);
}

/*
 * Some more bits are chosen k + 1 times: a pair within k errors agrees in one of the choices, and the
 * first of these reports it. So the entries are read for each value of each choice. A class that has
 * still no room, as very many have one value of these bits, is joined in chunks, which always works
 * but takes time by the square of its entries.
 */
static int run(struct reading *r)
{
	const sx_join_large *l = r->l;
	struct class c = { .constraint = *l->constraint };
	unsigned k = l->constraint->k, width = 1;
	uint64_t n, varies;
	int rc = survey(r, &n, &varies);

	while (n >> width > l->max / 2)
		width++;
	while (width && width * (k + 1) > sx_count_plain(varies))
		width--;
	if (!rc && (!width || n <= l->max))
		return join_class(r, &c);
	for (unsigned i = 0; !rc && i <= k; i++) {
		c.mask = 0;
		for (unsigned bit = 0; bit < width; bit++)
			c.mask |= UINT64_C(1) << (63 - __builtin_clzll(varies & ~c.mask));
		varies &= ~c.mask;
		for (uint64_t value = 0; !rc && !(value >> width); value++) {
			c.value = sx_pdep(value, c.mask);
			rc = join_class(r, &c);
		}
		c.constraint.must[c.constraint.n_must++] = c.mask;
	}
	return rc;
}

int sx_join_large_run(const sx_join_large *l, simidx_error *err)
{
	struct reading r = { .l = l, .err = err };
	size_t n = l->max + 1;
	int rc;

	if (sx_reserve(&l->room->v, &l->room->v_cap, n + SX_JOIN_PADDING, sizeof(*l->room->v)) ||
	    sx_reserve(&l->room->inputs, &l->room->inputs_cap, n, 1))
		return sx_fail_nomem(err);
	rc = run(&r);
	for (unsigned s = 0; s < l->n_inputs; s++) {
		sx_join_stream_end(&r.stream[s]);
		sx_join_stream_free(&r.stream[s]);
	}
	sx_join_batch_free(&r.some);
	return rc;
}
