/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Queries by which the next calls of a writer decide: simidx_writer_put_if_new(). They are looked
 * up together, as many at a time as what holds the tables takes, when a call needs the first.
 */

#ifndef SX_AHEAD_H
#define SX_AHEAD_H

#include "search/sx_reader.h"
#include "util/sx_arena.h"

/** All zero: none are known. */
typedef struct sx_ahead {
	const simidx_query *query; /* n of them, as sx_writer_asks() makes them */
	size_t n;
	size_t next;     /* those before were asked for, or passed over */
	size_t from, to; /* those that are looked up */
	int is_together; /* what was found of them is in `bulk`; else each is searched by itself */
	void *bulk;      /* NULL until some are looked up */
	simidx_query *own;
	size_t cap;
	sx_arena bytes;  /* weights of `own` */
} sx_ahead;

/** These come next, in the place of all that were known. They must stay until they are cleared. */
void sx_ahead_expect(sx_ahead *ahead, const simidx_query *queries, size_t n);

/** The same of copies: have room for n, then copy each. SIMIDX_E_NOMEM. */
int sx_ahead_expect_copies(sx_ahead *ahead, size_t n, simidx_error *err);
int sx_ahead_copy(sx_ahead *ahead, const simidx_query *query, unsigned bits, simidx_error *err);

/** Forget them all. */
void sx_ahead_clear(sx_ahead *ahead);

/** Which of the next ones a query is, from 1; 0: none. Those before it are passed over. */
size_t sx_ahead_find(sx_ahead *ahead, const simidx_query *query, unsigned bits);

/**
 * Have query number i looked up, with those after it, unless it is.
 *
 * @param reader    of the writer, which has begun. Where it has conditions, each answer has its own
 * @param together  set to whether the answer is in `bulk`, as number i - `from`
 * @return SIMIDX_OK; the codes of a search
 */
int sx_ahead_look_up(sx_ahead *ahead, simidx_reader *reader, size_t i, int *together,
		     simidx_error *err);

/** Free all but `bulk`. */
void sx_ahead_free(sx_ahead *ahead);

#endif /* SX_AHEAD_H */
