/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "index/sx_row_claims.h"

#include <stdlib.h>

#include "util/sx_alloc.h"
#include "util/sx_order.h"

int sx_row_claims_push(sx_row_claims *claims, const sx_fresh_row *row, uint64_t seq)
{
	if (sx_reserve(&claims->at, &claims->cap, claims->n + 1, sizeof(*claims->at)))
		return -1;
	claims->at[claims->n++] = (sx_row_claim){ .hash = row->label_hash,
						  .id = row->id,
						  .seq = seq,
						  .is_delete = sx_fresh_is_delete(row) != 0,
						  .has_label = (row->op & SX_FRESH_LABEL) != 0,
						  .has_note = (row->op & SX_FRESH_NOTE) != 0 };
	return 0;
}

/* Rows without a label have hash 0. */
static int compare(const void *a, const void *b)
{
	const sx_row_claim *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->has_label != y->has_label)
		return x->has_label - y->has_label;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

void sx_row_claims_keep_last(sx_row_claims *claims)
{
	sx_row_claim *s = claims->at;
	size_t n = claims->n, last, to;

	if (n > 1)
		qsort(s, n, sizeof(*s), compare);
	claims->n = 0;
	for (size_t from = 0; from < n; from = to) {
		for (last = to = from; to < n && s[to].id == s[from].id; to++)
			last = s[to].seq > s[last].seq ? to : last;
		for (size_t i = from; i < to; i++) {
			int is_last_of_label = s[i].has_label &&
					       (i + 1 == to || s[i].hash != s[i + 1].hash ||
						!s[i + 1].has_label);

			s[i].is_last = i == last;
			if (i == last || is_last_of_label)
				s[claims->n++] = s[i];
		}
	}
}

/* The first one from (id, hash) on. */
static size_t find(const sx_row_claims *claims, uint64_t id, uint64_t hash)
{
	const sx_row_claim key = { .id = id, .hash = hash };

	return sx_items_below(claims->at, claims->n, sizeof(key), &key, compare);
}

int sx_row_claims_have_label(const sx_row_claims *claims, uint64_t hash, uint64_t id)
{
	size_t i = find(claims, id, hash);

	while (i < claims->n && claims->at[i].id == id && claims->at[i].hash == hash &&
	       !claims->at[i].has_label)
		i++;
	return i < claims->n && claims->at[i].id == id && claims->at[i].hash == hash;
}

const sx_row_claim *sx_row_claims_deleted(const sx_row_claims *claims, uint64_t id, size_t *at)
{
	const sx_row_claim *s = claims->at;

	while (*at < claims->n && (s[*at].id < id || (s[*at].id == id && !s[*at].is_last)))
		++*at;
	return *at < claims->n && s[*at].id == id && s[*at].is_delete ? &s[*at] : NULL;
}
