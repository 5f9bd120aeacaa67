/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the calls on a writer have asked for in its transaction, and what came of it. It is kept
 * where a commit may refuse changes (sx_backend.h), because then they are judged again:
 * sx_commit.c.
 */

#ifndef SX_CALLS_H
#define SX_CALLS_H

#include <simidx_write.h>

#include "util/sx_arena.h"

enum sx_call_kind {
	SX_CALL_PUT,
	SX_CALL_PUT_IF_NEW,
	SX_CALL_REPLACE,
	SX_CALL_TOUCH,
	SX_CALL_DELETE_ID,
	SX_CALL_DELETE_LABEL
};

/** What came of one. */
typedef struct sx_answer {
	int code;         /* that the call has returned */
	uint64_t id;      /* that the document has got; SIMIDX_NO_ID: it is not stored */
	uint64_t blocker; /* with SIMIDX_E_EXISTS, else SIMIDX_NO_ID */
} sx_answer;

typedef struct sx_call {
	enum sx_call_kind kind;
	const simidx_doc *doc;     /* that is put; or the id or label that is deleted or touched */
	const simidx_query *query; /* of put_if_new; else NULL */
	uint64_t number;    /* of all changes of the writer */
	sx_answer told;    /* what the call has said */
	sx_answer now;
	uint64_t rests_on;  /* the document by which it was decided; SIMIDX_NO_ID: any may be */
	uint64_t chosen;    /* the id that was chosen for it; SIMIDX_NO_ID: none was */
	size_t nth;         /* of the queries that the writer knows ahead, from 1; 0: its query is
	                       not among them */
	int is_open;        /* while a commit is made: it is not decided */
} sx_call;

/** Those of a transaction. All zero: none were made so far. */
typedef struct sx_calls {
	sx_call *at;
	size_t n, cap;
	uint64_t next_number;
	sx_arena bytes; /* of labels and weights */
} sx_calls;

/** One that is not decided. It points to what is given. */
sx_call sx_call_of(enum sx_call_kind kind, const simidx_doc *doc, const simidx_query *query);

/**
 * Whether a code says what came of a call: it was done, or what is there forbids it. Any other one
 * says that it could not be decided.
 */
int sx_call_is_decided(int code);

/** Keep a copy, before it is decided. `bits`: weights of its query. SIMIDX_E_NOMEM. */
int sx_calls_keep(sx_calls *calls, const sx_call *call, unsigned bits, simidx_error *err);

/** Note the outcome of the last call that was kept. An undecided call is dropped. */
void sx_calls_decide(sx_calls *calls, const sx_call *call);

/** Hand them all over to one that is all zero. */
void sx_calls_take(sx_calls *to, sx_calls *from);

/** Forget all, but not how many there were. */
void sx_calls_clear(sx_calls *calls);

void sx_calls_free(sx_calls *calls);

#endif /* SX_CALLS_H */
