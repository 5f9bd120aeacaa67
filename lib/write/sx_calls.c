/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "write/sx_calls.h"

#include <stdlib.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

#define BITS_2 64 /* of second fingerprints */

sx_call sx_call_of(enum sx_call_kind kind, const simidx_doc *doc, const simidx_query *query)
{
	const sx_answer none = { SIMIDX_OK, SIMIDX_NO_ID, SIMIDX_NO_ID };

	return (sx_call){ .kind = kind, .doc = doc, .query = query, .told = none, .now = none,
			  .rests_on = SIMIDX_NO_ID, .chosen = SIMIDX_NO_ID };
}

int sx_call_is_decided(int code)
{
	return code == SIMIDX_OK || code == SIMIDX_E_EXISTS || code == SIMIDX_E_DUPLICATE ||
	       code == SIMIDX_E_NOT_FOUND;
}

/* A copy, or NULL of NULL. `failed` is set when memory is short. */
static void *copy(sx_arena *bytes, const void *at, size_t size, int *failed)
{
	void *to = at ? sx_arena_copy(bytes, at, size) : NULL;

	*failed |= at && !to;
	return to;
}

int sx_calls_keep(sx_calls *all, const sx_call *call, unsigned bits, simidx_error *err)
{
	int failed = sx_reserve(&all->at, &all->cap, all->n + 1, sizeof(*all->at)) != 0;
	simidx_doc *doc = copy(&all->bytes, call->doc, sizeof(*doc), &failed);
	simidx_query *query = copy(&all->bytes, call->query, sizeof(*query), &failed);

	if (doc)
		doc->label = copy(&all->bytes, doc->label, doc->label_size, &failed);
	if (query) {
		query->weights = copy(&all->bytes, query->weights, bits, &failed);
		/* Without its fingerprint it is not read, and it may be of any size. */
		query->weights2 = query->flags & SIMIDX_QUERY_FP2
					  ? copy(&all->bytes, query->weights2, BITS_2, &failed)
					  : NULL;
	}
	if (failed)
		return sx_fail_nomem(err);
	all->at[all->n] = *call;
	all->at[all->n].doc = doc;
	all->at[all->n++].query = query;
	return SIMIDX_OK;
}

void sx_calls_decide(sx_calls *all, const sx_call *call)
{
	sx_call *kept = all->n ? &all->at[all->n - 1] : NULL;

	if (sx_call_is_decided(call->now.code))
		all->next_number++;
	/* Where the transaction was lost, there is none any more. */
	if (!kept)
		return;
	if (!sx_call_is_decided(call->now.code)) {
		all->n--;
		return;
	}
	kept->number = all->next_number - 1;
	kept->told = kept->now = call->now;
	kept->rests_on = call->rests_on;
	kept->chosen = call->chosen;
}

void sx_calls_take(sx_calls *to, sx_calls *from)
{
	*to = *from;
	*from = (sx_calls){ .next_number = to->next_number };
}

void sx_calls_clear(sx_calls *all)
{
	all->n = 0;
	sx_arena_clear(&all->bytes);
}

void sx_calls_free(sx_calls *all)
{
	free(all->at);
	sx_arena_free(&all->bytes);
}
