/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "write/sx_calls.h"

#include <stdlib.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

#define BITS_2 64 /* of second fingerprints */

sx_call sx_call_of(enum sx_call_kind kind, const simidx_doc *doc, const simidx_query *query)
{
	sx_call c = { .kind = kind, .doc = *doc, .rests_on = SIMIDX_NO_ID, .chosen = SIMIDX_NO_ID };

	if (query)
		c.query = *query;
	c.now = c.told = (sx_answer){ SIMIDX_OK, SIMIDX_NO_ID, SIMIDX_NO_ID };
	return c;
}

int sx_call_is_decided(int code)
{
	return code == SIMIDX_OK || code == SIMIDX_E_EXISTS || code == SIMIDX_E_DUPLICATE ||
	       code == SIMIDX_E_NOT_FOUND;
}

/* Have what it points to be a copy. NULL stays. Returns -1 when memory is short. */
static int copy(sx_arena *bytes, const void **at, size_t size)
{
	if (!*at || !size)
		return 0;
	*at = sx_arena_copy(bytes, *at, size);
	return *at ? 0 : -1;
}

int sx_calls_keep(sx_calls *all, const sx_call *call, unsigned bits, simidx_error *err)
{
	const void *label = call->doc.label, *weights = call->query.weights;
	const void *weights2 = call->query.weights2;
	sx_call *kept;

	if (sx_reserve(&all->at, &all->cap, all->n + 1, sizeof(*all->at)) ||
	    copy(&all->bytes, &label, call->doc.label_size) ||
	    copy(&all->bytes, &weights, bits) || copy(&all->bytes, &weights2, BITS_2))
		return sx_fail_nomem(err);
	kept = &all->at[all->n++];
	*kept = *call;
	kept->doc.label = label;
	kept->query.weights = weights;
	kept->query.weights2 = weights2;
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
