/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Slices of a batch: which batches are sorted, and the answers from what the tables have.
 */

#include <stdlib.h>
#include <string.h>

#include "search/sx_batch.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"

/* Of a query. With so many there is enough to overlap and to share within it. */
#define MOST_PROBES 256

sx_sorted *sx_sorted_new(void)
{
	return sx_calloc(1, sizeof(sx_sorted));
}

void sx_sorted_free(sx_sorted *s)
{
	if (!s)
		return;
	sx_probes_free(&s->of_0);
	free(s->item);
	free(s->spare);
	free(s->fp);
	free(s->tally);
	free(s->taken);
	free(s->range);
	free(s->owner);
	free(s->hit);
	free(s->grouped);
	free(s->start);
	free(s->doc);
	free(s);
}

/* ---- which ---- */

static int is_plain(const simidx_query *q)
{
	return (q->mode == SIMIDX_ALL || q->mode == SIMIDX_COUNT) && !q->weights &&
	       !(q->flags & SIMIDX_QUERY_FP2) && !q->max_candidates;
}

static int is_like(const simidx_query *q, const simidx_query *other)
{
	return q->size == other->size && q->radius == other->radius &&
	       q->flags == other->flags && q->limit == other->limit &&
	       q->mode == other->mode && q->max_bits == other->max_bits && !q->weights &&
	       !q->probes && !q->complete && !q->reserved && !q->max_candidates;
}

/* What is wrong with a query is told when its turn comes. */
static int ask_the_same(const sx_batch *batch)
{
	const simidx_query *first = &batch->query[0];
	uint64_t beyond = ~sx_low_bits(batch->index->bits);
	sx_query q;

	if (sx_query_init(&q, batch->index, first, NULL) || !is_plain(first))
		return 0;
	for (size_t i = 0; i < batch->n; i++)
		if (batch->query[i].fp & beyond || !is_like(&batch->query[i], first))
			return 0;
	return 1;
}

/* The cover and the block indexes for a slice; 0 or -1. */
static int prepare(sx_query *like, sx_cover *cover, simidx_reader *r,
		   const simidx_query *query, size_t n)
{
	if (sx_query_init(like, r->index, query, NULL) || sx_way_choose(r, like, NULL))
		return -1;
	if (r->way.cover->scan || r->way.cover->probes > MOST_PROBES)
		return -1;
	*cover = *r->way.cover;
	for (unsigned i = 0; i < cover->n; i++) {
		unsigned t = cover->part[i].table;

		r->blocks[t] = sx_shelf_get(&r->snapshot, t, n, &r->held[t]);
		if (!r->blocks[t])
			return -1;
	}
	return 0;
}

int sx_batch_can_sort(const sx_batch *batch, simidx_reader *r)
{
	sx_cover cover;
	sx_query like;

	return batch->n >= batch->index->batch_sorted_from &&
	       batch->index->layout == SIMIDX_LAYOUT_BLOCKS && ask_the_same(batch) &&
	       !prepare(&like, &cover, r, batch->query, batch->n);
}

/* ---- answers ---- */

/* Bring the hits into the order of the queries. */
static int group_hits(sx_sorted *s)
{
	uint32_t sum = 0;

	if (sx_reserve(&s->start, &s->start_cap, s->n + 1, sizeof(*s->start)) ||
	    sx_reserve(&s->grouped, &s->grouped_cap, s->n_hits, sizeof(*s->grouped)))
		return -1;
	memset(s->start, 0, (s->n + 1) * sizeof(*s->start));
	for (size_t h = 0; h < s->n_hits; h++)
		s->start[s->hit[h].query]++;
	for (size_t i = 0; i <= s->n; i++) {
		sum += s->start[i];
		s->start[i] = sum;
	}
	/* Each end becomes a start. */
	for (size_t h = s->n_hits; h-- > 0;)
		s->grouped[--s->start[s->hit[h].query]] = s->hit[h];
	return 0;
}

static int answer(const sx_sorted *s, simidx_reader *r, size_t i, simidx_results *out,
		  simidx_error *err)
{
	const simidx_query *query = &s->query[i];
	const sx_tally *tally = &s->tally[i];
	size_t from = s->start[i], n = s->start[i + 1] - from;

	if (tally->alone)
		return sx_search(r, query, out, err);
	*out = (simidx_results)SIMIDX_RESULTS_INIT;
	out->probes = tally->probes;
	out->blocks = tally->blocks;
	out->candidates = tally->candidates;
	if (sx_reserve(&r->hits.at, &r->hits.cap, n, sizeof(*r->hits.at)))
		return sx_fail_nomem(err);
	for (size_t h = 0; h < n; h++) {
		const sx_catch *hit = &s->grouped[from + h];
		unsigned distance = (unsigned)__builtin_popcountll(hit->fp ^ query->fp);

		r->hits.at[h] = (sx_hit){ hit->fp, distance, 1, hit->known, hit->n_known };
	}
	r->hits.n = n;
	return sx_search_found(r, query, out, err);
}

int sx_sorted_run(sx_sorted *s, simidx_reader *r, sx_batch *batch, size_t from, size_t to,
		  simidx_error *err)
{
	int rc = SIMIDX_OK;

	s->query = batch->query + from;
	s->n = to - from;
	/* A block that is damaged belongs to the answer of some query: that one is to fail. */
	if (prepare(&s->like, &s->cover, r, s->query, s->n) || sx_sorted_search(s, r) ||
	    (sx_has_ids(r->index) && sx_sorted_read(s, r)) || group_hits(s))
		return sx_batch_plain(r, batch, from, to, err);
	r->known = s->doc;
	for (size_t i = 0; !rc && i < s->n; i++) {
		simidx_results results;

		rc = answer(s, r, i, &results, err);
		if (!rc)
			rc = sx_batch_deliver(batch, r, from + i, &results, err);
	}
	r->known = NULL;
	return rc;
}
