/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Queries of all kinds to an index that lives, against a look at every document of the model.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_batch.h>

#include "support/sxt_live.h"
#include "support/sxt_weights.h"

struct found {
	const sxt_live_doc *doc;
	unsigned distance, weighted;
};

sxt_live_asked sxt_live_reader(const sxt_live *live, simidx_reader *reader)
{
	return (sxt_live_asked){ reader, &live->stored };
}

sxt_live_asked sxt_live_writer(const sxt_live *live, simidx_reader *reader)
{
	return (sxt_live_asked){ reader, &live->now };
}

/* ---- what must be found ---- */

static int compare_found(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->weighted != y->weighted)
		return x->weighted < y->weighted ? -1 : 1;
	if (x->doc->id != y->doc->id)
		return x->doc->id < y->doc->id ? -1 : 1;
	return x->doc->fp < y->doc->fp ? -1 : x->doc->fp > y->doc->fp;
}

static int matches(const sxt_live *live, const simidx_query *q, const sxt_live_doc *doc,
		   struct found *found)
{
	unsigned first = distance_up_to(q->weights, q->fp ^ doc->fp, q->radius);

	if (first > q->radius)
		return 0;
	*found = (struct found){ doc, distance_up_to(NULL, q->fp ^ doc->fp, 64), first };
	if (doc->time && doc->time < q->newer_than)
		return 0;
	if (q->flags & SIMIDX_QUERY_TEXT) {
		int has_fp2 = (live->flags & SIMIDX_CREATE_FP2) != 0;

		if ((!q->fp && (!has_fp2 || !q->fp2)) || (!doc->fp && (!has_fp2 || !doc->fp2)))
			return 0;
	}
	if (q->flags & SIMIDX_QUERY_FP2)
		found->weighted += distance_up_to(q->weights2, q->fp2 ^ doc->fp2, q->radius2);
	return (!q->max_bits || found->distance <= q->max_bits) &&
	       (!(q->flags & SIMIDX_QUERY_FP2) || found->weighted <= q->radius2);
}

/* All documents that match, in order. */
static struct found *find_all(const sxt_live *live, const sxt_live_set *set, const simidx_query *q,
			      size_t *n)
{
	struct found *all = calloc(set->n + 1, sizeof(*all));

	if (!all)
		exit(EXIT_FAILURE);
	*n = 0;
	for (size_t i = 0; i < set->n; i++)
		*n += (size_t)matches(live, q, &set->at[i], &all[*n]);
	if (*n)
		qsort(all, *n, sizeof(*all), compare_found);
	return all;
}

static int is_same(const sxt_live *live, const struct found *found, const simidx_match *match,
		   const simidx_query *q)
{
	return sxt_live_is_doc(live, found->doc, match, (q->flags & SIMIDX_QUERY_LABELS) != 0) &&
	       match->distance == found->distance && match->weighted_distance == found->weighted;
}

/* ---- queries ---- */

static void choose_query(sxt_live *live, const sxt_live_set *set, simidx_query *q,
			 uint8_t weights[2][64])
{
	static const unsigned radii[] = { 0, 1, 2, 3, 3, 3, 4, 5, 6, 9, 15 };
	sxt_rng *rng = &live->asks;
	unsigned kind = (unsigned)sxt_rng_below(rng, 4);

	*q = (simidx_query)SIMIDX_QUERY_INIT;
	q->fp = sxt_live_fp(live, set, rng);
	q->radius = radii[sxt_rng_below(rng, 11)];
	q->mode = (unsigned)sxt_rng_below(rng, 4);
	q->limit = q->mode == SIMIDX_NEAREST ? 1 + sxt_rng_below(rng, 5)
					     : sxt_rng_below(rng, 3) * sxt_rng_below(rng, 3);
	q->flags = sxt_rng_below(rng, 2) ? SIMIDX_QUERY_LABELS : 0;
	if (live->flags & SIMIDX_CREATE_TIMES && sxt_rng_below(rng, 2))
		q->newer_than = sxt_live_time(rng);
	if (!sxt_rng_below(rng, 8))
		q->max_bits = 1 + (unsigned)sxt_rng_below(rng, 8);
	if (!sxt_rng_below(rng, 8))
		q->flags |= SIMIDX_QUERY_TEXT;
	if (live->flags & SIMIDX_CREATE_FP2 && kind > 1) {
		q->flags |= SIMIDX_QUERY_FP2;
		q->radius2 = q->radius + (unsigned)sxt_rng_below(rng, 10);
	}
	if (live->flags & SIMIDX_CREATE_FP2)
		q->fp2 = q->fp * UINT64_C(0x9e3779b97f4a7c15);
	if (kind % 2) {
		make_weights(rng, (unsigned)sxt_rng_below(rng, 4), weights[0]);
		make_weights(rng, (unsigned)sxt_rng_below(rng, 4), weights[1]);
		q->weights = weights[0];
		q->weights2 = q->flags & SIMIDX_QUERY_FP2 ? weights[1] : NULL;
		q->radius *= 1 + (unsigned)sxt_rng_below(rng, 4);
		q->radius2 *= 4;
		q->probes = sxt_rng_below(rng, 2) ? 1 + (unsigned)sxt_rng_below(rng, 40) : 0;
	}
}

const sxt_live_doc *sxt_live_choose_blocker(sxt_live *live, simidx_query *q, uint64_t fp,
					    uint64_t fp2, unsigned *weighted)
{
	static uint8_t weights[2][64];
	sxt_rng *rng = &live->rng;
	const sxt_live_doc *blocker;
	struct found *all;
	size_t n;

	*q = (simidx_query)SIMIDX_QUERY_INIT;
	q->fp = fp;
	q->radius = (unsigned)sxt_rng_below(rng, 6);
	q->flags = SIMIDX_QUERY_LABELS;
	q->mode = (unsigned)sxt_rng_below(rng, 4); /* is not looked at, nor is the limit */
	q->limit = sxt_rng_below(rng, 2);
	if (live->flags & SIMIDX_CREATE_TIMES && sxt_rng_below(rng, 2))
		q->newer_than = sxt_live_time(rng);
	if (live->flags & SIMIDX_CREATE_FP2)
		q->fp2 = fp2;
	if (live->flags & SIMIDX_CREATE_FP2 && sxt_rng_below(rng, 2)) {
		q->flags |= SIMIDX_QUERY_FP2;
		q->radius2 = q->radius + (unsigned)sxt_rng_below(rng, 6);
	}
	if (!sxt_rng_below(rng, 8))
		q->max_bits = 1 + (unsigned)sxt_rng_below(rng, 4);
	if (!sxt_rng_below(rng, 8))
		q->flags |= SIMIDX_QUERY_TEXT;
	if (!sxt_rng_below(rng, 3)) {
		make_weights(rng, (unsigned)sxt_rng_below(rng, 4), weights[0]);
		make_weights(rng, (unsigned)sxt_rng_below(rng, 4), weights[1]);
		q->weights = weights[0];
		q->weights2 = q->flags & SIMIDX_QUERY_FP2 ? weights[1] : NULL;
		q->radius *= 1 + (unsigned)sxt_rng_below(rng, 4);
		q->radius2 *= 4;
	}
	all = find_all(live, &live->now, q, &n);
	blocker = n ? all[0].doc : NULL;
	*weighted = n ? all[0].weighted : 0;
	free(all);
	return blocker;
}

/* What is found is what is there, up to the distance that the answer is complete to. */
static void check_incomplete(const sxt_live *live, const simidx_query *q, const struct found *want,
			     size_t n, const simidx_results *got)
{
	size_t at = 0;

	if (q->mode == SIMIDX_COUNT) {
		sxt_must_le(got->count, n);
		return;
	}
	for (size_t i = 0; i < got->n; i++) {
		while (at < n && !is_same(live, &want[at], &got->matches[i], q))
			at++;
		sxt_must_lt(at, n);
		at++;
	}
	if (q->mode == SIMIDX_FIRST || got->truncated)
		return;
	/* With second fingerprints the distance is that of both. */
	for (size_t i = 0; i < n && !q->limit; i++) {
		int found = 0;

		if ((int)want[i].weighted > got->complete_to)
			break;
		for (size_t k = 0; k < got->n; k++)
			found |= is_same(live, &want[i], &got->matches[k], q);
		sxt_must(found);
	}
}

static void check_answer(const sxt_live *live, const simidx_query *q, const struct found *want,
			 size_t n, const simidx_results *got)
{
	size_t most = q->limit && q->limit < n ? (size_t)q->limit : n;

	if (got->complete_to < (int)q->radius) {
		check_incomplete(live, q, want, n, got);
		return;
	}
	switch (q->mode) {
	case SIMIDX_COUNT:
		sxt_must_eq(got->count, n);
		sxt_must_eq(got->n, 0);
		return;
	case SIMIDX_FIRST:
		sxt_must_eq(got->n, n ? 1 : 0);
		most = 0;
		while (n && most < n && !is_same(live, &want[most], &got->matches[0], q))
			most++;
		sxt_must(!n || most < n);
		return;
	default:
		if (got->n != most)
			sxt_fail("%zu matches of fp %016" PRIx64 ", k %u, mode %u, limit %" PRIu64
				 ", not %zu",
				 got->n, q->fp, q->radius, q->mode, q->limit, most);
		for (size_t i = 0; i < most; i++)
			if (!is_same(live, &want[i], &got->matches[i], q))
				sxt_fail("match %zu of fp %016" PRIx64 ", k %u, mode %u is id "
					 "%" PRIu64 ", not %" PRIu64,
					 i, q->fp, q->radius, q->mode, got->matches[i].id,
					 want[i].doc->id);
		if (q->mode == SIMIDX_ALL)
			sxt_must_eq(got->truncated != 0, most < n);
	}
}

static void check_look_ups(sxt_live *live, const sxt_live_asked *asked)
{
	const sxt_live_set *set = asked->set;
	uint64_t id = sxt_rng_below(&live->asks, set->next_id + 2);
	simidx_match match;
	size_t i = 0;

	while (i < set->n && set->at[i].id != id)
		i++;
	sxt_must_sx(simidx_reader_find_id(asked->reader, id, &match, &sxt_err),
		    i < set->n ? SIMIDX_OK : SIMIDX_E_NOT_FOUND);
	if (i == set->n)
		return;
	sxt_must(sxt_live_is_doc(live, &set->at[i], &match, 1));
	if (!set->at[i].label_size)
		return;
	sxt_must_ok(simidx_reader_find_label(asked->reader, set->at[i].label, set->at[i].label_size,
					     &match, &sxt_err));
	sxt_must_eq(match.id, id);
	/* A label that only begins like one that is there. */
	sxt_must_sx(simidx_reader_find_label(asked->reader, "label ", 6, &match, &sxt_err),
		    SIMIDX_E_NOT_FOUND);
}

void sxt_live_check_searches(sxt_live *live, const sxt_live_asked *asked, unsigned n)
{
	uint8_t weights[2][64];

	while (n--) {
		simidx_results got = SIMIDX_RESULTS_INIT;
		struct found *want;
		simidx_query q;
		size_t n_want;

		choose_query(live, asked->set, &q, weights);
		want = find_all(live, asked->set, &q, &n_want);
		sxt_must_ok(simidx_reader_search(asked->reader, &q, &got, &sxt_err));
		check_answer(live, &q, want, n_want, &got);
		free(want);
		if (!(live->flags & SIMIDX_CREATE_NO_IDS))
			check_look_ups(live, asked);
	}
}

/* ---- batches ---- */

struct batch {
	const sxt_live *live;
	const sxt_live_set *set;
	const simidx_query *query;
	size_t next;
};

static int deliver(void *ctx, size_t i, const simidx_results *got)
{
	struct batch *b = ctx;
	struct found *want;
	size_t n;

	sxt_must_eq(i, b->next++);
	want = find_all(b->live, b->set, &b->query[i], &n);
	check_answer(b->live, &b->query[i], want, n, got);
	free(want);
	return 0;
}

void sxt_live_check_batch(sxt_live *live, const sxt_live_asked *asked, size_t n)
{
	simidx_batch_options options = SIMIDX_BATCH_OPTIONS_INIT;
	simidx_query *query = calloc(n, sizeof(*query));
	struct batch batch = { live, asked->set, query, 0 };
	unsigned radius = (unsigned)sxt_rng_below(&live->asks, 5);
	unsigned mode = (unsigned)sxt_rng_below(&live->asks, 4);
	/* Queries of one kind may be answered together. */
	int has_times = live->flags & SIMIDX_CREATE_TIMES && sxt_rng_below(&live->asks, 2);
	unsigned limit = mode == SIMIDX_NEAREST || sxt_rng_below(&live->asks, 2) ? 3 : 0;

	sxt_must(query != NULL);
	for (size_t i = 0; i < n; i++) {
		query[i] = (simidx_query)SIMIDX_QUERY_INIT;
		query[i].fp = sxt_live_fp(live, asked->set, &live->asks);
		query[i].radius = radius;
		query[i].mode = mode;
		query[i].limit = limit;
		if (has_times && i % 2)
			query[i].newer_than = sxt_live_time(&live->asks);
	}
	options.threads = 1;
	options.deliver = deliver;
	options.ctx = &batch;
	sxt_must_ok(simidx_reader_search_batch(asked->reader, query, n, &options, &sxt_err));
	sxt_must_eq(batch.next, n);
	free(query);
}
