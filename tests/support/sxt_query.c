/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "support/sxt_query.h"

#include <inttypes.h>
#include <stdlib.h>

#include "support/sxt_weights.h"

/* Of an index without second fingerprints, fp2 is not looked at. */
static int is_empty_text(uint64_t fp, uint64_t fp2, unsigned index_flags)
{
	return fp == 0 && (!(index_flags & SIMIDX_CREATE_FP2) || fp2 == 0);
}

static int judge(const sxt_model *m, const sxt_doc *doc, const simidx_query *q, sxt_found *out)
{
	if (q->flags & SIMIDX_QUERY_TEXT && (is_empty_text(doc->fp, doc->fp2, m->flags) ||
					     is_empty_text(q->fp, q->fp2, m->flags)))
		return 0;
	if (doc->time && doc->time < q->newer_than)
		return 0;
	out->doc = doc;
	out->first = distance_up_to(q->weights, doc->fp ^ q->fp, q->radius);
	if (out->first > q->radius)
		return 0;
	out->weighted_distance = out->first;
	out->distance = distance_up_to(NULL, doc->fp ^ q->fp, 64);
	out->distance2 = 0;
	if (q->max_bits && out->distance > q->max_bits)
		return 0;
	if (!(q->flags & SIMIDX_QUERY_FP2))
		return 1;
	if (doc->lacks_fp2)
		return q->weights ? (uint64_t)out->first * (m->has_triples ? 232 : 144) <=
					    (uint64_t)q->radius2 * 59
				  : out->first <= q->radius2;
	out->distance2 = distance_up_to(NULL, doc->fp2 ^ q->fp2, 64);
	out->weighted_distance += distance_up_to(q->weights2, doc->fp2 ^ q->fp2, q->radius2);
	return out->weighted_distance <= q->radius2;
}

static int compare(const void *a, const void *b)
{
	const sxt_found *x = a, *y = b;

	if (x->weighted_distance != y->weighted_distance)
		return x->weighted_distance < y->weighted_distance ? -1 : 1;
	if (x->doc->id != y->doc->id)
		return x->doc->id < y->doc->id ? -1 : 1;
	return x->doc->fp < y->doc->fp ? -1 : x->doc->fp > y->doc->fp;
}

sxt_found *sxt_model_find(const sxt_model *m, size_t n, const simidx_query *query,
			  size_t *n_found)
{
	sxt_found *found = calloc(n + 1, sizeof(*found));
	size_t kept = 0;

	if (!found)
		exit(EXIT_FAILURE);
	*n_found = 0;
	for (size_t i = 0; i < n; i++)
		*n_found += (size_t)judge(m, &m->at[i], query, &found[*n_found]);
	qsort(found, *n_found, sizeof(*found), compare);
	if (!(m->flags & SIMIDX_CREATE_NO_IDS))
		return found;
	/* A fingerprint that was put twice is there once. */
	for (size_t i = 0; i < *n_found; i++)
		if (!kept || found[kept - 1].doc->fp != found[i].doc->fp)
			found[kept++] = found[i];
	*n_found = kept;
	return found;
}

static int is_same(const sxt_found *f, const simidx_match *m)
{
	return f->doc->id == m->id && f->doc->fp == m->fp;
}

static void check_fields(const sxt_found *f, const simidx_match *m)
{
	if (f->weighted_distance != m->weighted_distance || f->distance != m->distance ||
	    f->distance2 != m->distance2 || f->doc->fp2 != m->fp2 || f->doc->time != m->time)
		ck_abort_msg("id %" PRIu64 ": weighted %u, distance %u and %u; not %u, %u, %u",
			     m->id, m->weighted_distance, m->distance, m->distance2,
			     f->weighted_distance, f->distance, f->distance2);
}

static void check_results(const sxt_found *found, size_t n_found, const simidx_query *q,
			  const simidx_results *r)
{
	size_t at = 0, i;

	ck_assert_int_ge(r->complete_to, -1);
	ck_assert(r->complete_to < 0 || (unsigned)r->complete_to <= q->radius);
	/* Both are in the same order: go through them side by side. */
	for (i = 0; i < n_found; i++) {
		if (at < r->n && is_same(&found[i], &r->matches[at]))
			check_fields(&found[i], &r->matches[at++]);
		else if (q->mode == SIMIDX_ALL && !r->truncated && r->complete_to >= 0 &&
			 found[i].first <= (unsigned)r->complete_to)
			ck_abort_msg("missed: id %" PRIu64 ", fp %016" PRIx64
				     ", at %u, complete to %d",
				     found[i].doc->id, found[i].doc->fp, found[i].first,
				     r->complete_to);
	}
	if (at < r->n)
		ck_abort_msg("match %zu does not belong there: id %" PRIu64 ", fp %016" PRIx64, at,
			     r->matches[at].id, r->matches[at].fp);
	if (q->mode == SIMIDX_ALL && !r->truncated) {
		ck_assert_uint_eq(r->count, r->n);
		if (r->complete_to >= 0 && (unsigned)r->complete_to == q->radius)
			ck_assert_uint_eq(r->n, n_found);
	}
}

void sxt_check_found(const sxt_found *found, size_t n_found, simidx_reader *reader,
		     const simidx_query *query, simidx_results *out)
{
	simidx_results results = SIMIDX_RESULTS_INIT;

	ck_assert_sx(simidx_reader_search(reader, query, &results, &sxt_err), SIMIDX_OK);
	check_results(found, n_found, query, &results);
	if (out)
		*out = results;
}

void sxt_check_query(const sxt_model *m, size_t n, simidx_reader *reader,
		     const simidx_query *query, simidx_results *out)
{
	size_t n_found;
	sxt_found *found = sxt_model_find(m, n, query, &n_found);

	sxt_check_found(found, n_found, reader, query, out);
	free(found);
}
