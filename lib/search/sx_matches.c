/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The documents that a search has found, as the caller will see them: copying millions of them
 * into another form would take longer than all else.
 */

#include <stdlib.h>

#include "search/sx_reader.h"
#include "util/sx_err.h"

#define FEW 32

int sx_matches_push(sx_matches *matches, const simidx_match *match, simidx_error *err)
{
	if (sx_reserve(&matches->at, &matches->cap, matches->n + 1, sizeof(*matches->at)))
		return sx_fail_nomem(err);
	matches->at[matches->n++] = *match;
	return SIMIDX_OK;
}

int sx_matches_append(sx_matches *matches, const simidx_match *like, const uint64_t *id,
		      const uint64_t *fp2, size_t n, simidx_error *err)
{
	simidx_match match = *like, *to;

	if (sx_reserve(&matches->at, &matches->cap, matches->n + n, sizeof(*matches->at)))
		return sx_fail_nomem(err);
	to = matches->at + matches->n;
	matches->n += n;
	for (size_t i = 0; i < n; i++) {
		match.id = id[i];
		if (fp2)
			match.fp2 = fp2[i];
		to[i] = match;
	}
	return SIMIDX_OK;
}

static int compare_matches(const void *a, const void *b)
{
	const simidx_match *x = a, *y = b;

	if (x->weighted_distance != y->weighted_distance)
		return x->weighted_distance < y->weighted_distance ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->fp < y->fp ? -1 : x->fp > y->fp;
}

/* For a handful qsort() takes longer than all else that is done with them. */
static void sort_few(simidx_match *at, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		simidx_match match = at[i];
		size_t j = i;

		for (; j && compare_matches(&match, &at[j - 1]) < 0; j--)
			at[j] = at[j - 1];
		at[j] = match;
	}
}

void sx_matches_sort(sx_matches *matches, size_t from)
{
	size_t i = from + 1;

	/* One fingerprint's documents come in order already. */
	while (i < matches->n && compare_matches(&matches->at[i - 1], &matches->at[i]) < 0)
		i++;
	if (i == matches->n)
		return;
	if (matches->n - from > FEW)
		qsort(matches->at + from, matches->n - from, sizeof(*matches->at), compare_matches);
	else
		sort_few(matches->at + from, matches->n - from);
}
