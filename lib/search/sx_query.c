/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "search/sx_query.h"

#include <limits.h>

#include <simidx_sketch.h>

#include "plan/sx_weights.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"

unsigned sx_query_weigh(uint64_t differ, const uint8_t *weights)
{
	unsigned sum = 0;

	if (!weights)
		return (unsigned)__builtin_popcountll(differ);
	for (; differ; differ &= differ - 1)
		sum += weights[__builtin_ctzll(differ)];
	return sum;
}

unsigned sx_query_distance(const sx_query *q, uint64_t fp)
{
	return sx_query_weigh(fp ^ q->fp, q->asked->weights);
}

int sx_query_accepts_near(const sx_query *q, uint64_t fp)
{
	return !q->is_weighted || sx_query_distance(q, fp) <= q->radius;
}

int sx_query_accepts(const sx_query *q, uint64_t fp)
{
	return (unsigned)__builtin_popcountll(fp ^ q->fp) <= q->max_bits &&
	       sx_query_accepts_near(q, fp);
}

/* In an index without second fingerprints, fp2 is 0. */
static int is_empty_text(uint64_t fp, uint64_t fp2)
{
	return !fp && !fp2;
}

/*
 * Whether the first fingerprint, which is within its radius, is near enough where the second is not
 * known. By weights that radius is the one of both, so less is allowed: as much less as for texts.
 */
static int is_near_alone(const sx_query *q, unsigned distance)
{
	uint64_t most = q->asked->radius2;

	if (q->is_weighted)
		most = most * SIMIDX_TEXT_RADIUS_NO_FP2 / q->text_radius;
	return distance <= most;
}

int sx_query_judges(const sx_query *q, uint64_t fp)
{
	return q->has_fp2 || q->asked->newer_than || (q->is_text && !fp);
}

int sx_query_judge(const sx_query *q, simidx_match *match)
{
	match->distance = (unsigned)__builtin_popcountll(match->fp ^ q->fp);
	match->weighted_distance = sx_query_distance(q, match->fp);
	match->distance2 = 0;
	if (q->is_text && is_empty_text(match->fp, match->fp2))
		return 0;
	/* A time that is not known is 0. */
	if (match->time && match->time < q->asked->newer_than)
		return 0;
	if (!q->has_fp2)
		return 1;
	if (!(match->flags & SIMIDX_MATCH_FP2))
		return is_near_alone(q, match->weighted_distance);
	match->distance2 = (unsigned)__builtin_popcountll(match->fp2 ^ q->asked->fp2);
	match->weighted_distance += sx_query_weigh(match->fp2 ^ q->asked->fp2, q->asked->weights2);
	return match->weighted_distance <= q->asked->radius2;
}

/* How many bits can differ at most within the radius: the lightest ones do. */
static unsigned max_bits(const sx_by_weight *by_weight, unsigned radius)
{
	sx_lightest lightest;

	sx_weights_lightest(&lightest, by_weight, UINT64_MAX, radius);
	return lightest.n;
}

static int check_values(const simidx *index, const simidx_query *a, simidx_error *err)
{
	if (a->fp & ~sx_low_bits(index->schema->bits))
		return sx_fail(err, SIMIDX_E_RANGE, "the fingerprint has more than %u bits",
			       index->schema->bits);
	if (!a->weights && a->radius > index->schema->bits)
		return sx_fail(err, SIMIDX_E_RANGE, "radius %u: fingerprints have %u bits",
			       a->radius, index->schema->bits);
	if (a->flags & SIMIDX_QUERY_FP2 && !index->schema->has_fp2)
		return sx_fail(err, SIMIDX_E_MISMATCH, "the index has no second fingerprints");
	if (a->newer_than && !index->schema->has_times)
		return sx_fail(err, SIMIDX_E_MISMATCH, "the index keeps no times");
	return SIMIDX_OK;
}

int sx_query_init(sx_query *q, const simidx *index, const simidx_query *a, simidx_error *err)
{
	const unsigned allowed = SIMIDX_QUERY_LABELS | SIMIDX_QUERY_FP2 | SIMIDX_QUERY_TEXT |
			       SIMIDX_QUERY_SCAN_SMALL;
	int rc;

	if (a->size != sizeof(*a) || a->flags & ~allowed || a->mode > SIMIDX_NEAREST)
		return sx_fail(err, SIMIDX_E_ARG, "query: bad struct size, flags or mode");
	if (!a->weights && (a->probes || a->complete))
		return sx_fail(err, SIMIDX_E_ARG, "query: probes or complete without weights");
	if (a->mode == SIMIDX_NEAREST && !a->limit)
		return sx_fail(err, SIMIDX_E_ARG, "query: the nearest, without a limit");
	rc = check_values(index, a, err);
	if (rc)
		return rc;
	q->asked = a;
	q->fp = a->fp;
	/* No distance is as large, and complete_to is an int. */
	q->radius = a->radius < INT_MAX ? a->radius : INT_MAX;
	q->is_weighted = a->weights != NULL;
	q->ignore = 0;
	q->unit = a->weights ? sx_weights_unit(a->weights, index->schema->bits, &q->ignore) : 1;
	q->has_fp2 = (a->flags & SIMIDX_QUERY_FP2) != 0;
	q->text_radius = SIMIDX_TEXT_RADIUS_SAME;
	if (q->has_fp2 && q->is_weighted && sx_schema_has_triples(index->schema))
		q->text_radius = SIMIDX_TEXT_RADIUS;
	q->max_bits = a->radius;
	if (a->weights) {
		sx_weights_sort(&q->by_weight, a->weights, index->schema->bits, q->radius);
		q->max_bits = max_bits(&q->by_weight, q->radius);
	}
	if (a->max_bits && a->max_bits < q->max_bits)
		q->max_bits = a->max_bits;
	q->is_text = (a->flags & SIMIDX_QUERY_TEXT) != 0;
	q->is_empty = q->is_text &&
		      is_empty_text(a->fp, index->schema->has_fp2 ? a->fp2 : 0);
	return SIMIDX_OK;
}

uint64_t sx_query_enough(const sx_query *q)
{
	const simidx_query *asked = q->asked;

	if (asked->mode == SIMIDX_FIRST)
		return 1;
	/* With second fingerprints the order is known only when all have been read. */
	if (asked->mode == SIMIDX_COUNT || q->has_fp2 || !asked->limit ||
	    asked->limit == UINT64_MAX)
		return 0;
	return asked->limit + 1;
}

uint64_t sx_query_candidates(const sx_query *q)
{
	return q->asked->max_candidates ? q->asked->max_candidates : UINT64_MAX;
}

int sx_query_grows(const sx_query *q)
{
	return q->asked->mode == SIMIDX_NEAREST && !q->is_weighted && !q->has_fp2;
}

void sx_query_narrow(sx_query *q, const sx_query *whole, unsigned radius)
{
	q->radius = radius < whole->radius ? radius : whole->radius;
	q->max_bits = q->radius < whole->max_bits ? q->radius : whole->max_bits;
}

/* ---- of a text ---- */

static int has_both_fp2(const simidx *index, const simidx_sketch *sketch)
{
	return index->schema->has_fp2 && sketch->flags & SIMIDX_SKETCH_FP2;
}

static unsigned radius_of(int triples, int if_new)
{
	if (triples)
		return if_new ? SIMIDX_TEXT_RADIUS_IF_NEW : SIMIDX_TEXT_RADIUS;
	return if_new ? SIMIDX_TEXT_RADIUS_IF_NEW_SAME : SIMIDX_TEXT_RADIUS_SAME;
}

static void ask_by_weights(const simidx *index, const simidx_sketch *sketch, int if_new,
			   simidx_query *q)
{
	q->flags |= SIMIDX_QUERY_SCAN_SMALL;
	q->weights = sketch->weights;
	q->radius = SIMIDX_TEXT_RADIUS_NO_FP2;
	if (has_both_fp2(index, sketch)) {
		q->flags |= SIMIDX_QUERY_FP2;
		q->weights2 = sketch->weights2;
		q->radius = q->radius2 = radius_of(sketch->flags & SIMIDX_SKETCH_TRIPLES, if_new);
	}
	q->probes = index->schema->text_probes;
	q->max_bits = if_new ? SIMIDX_TEXT_BITS_IF_NEW : SIMIDX_TEXT_BITS;
	for (unsigned b = 0; b < index->schema->bits; b++)
		q->max_bits += !sketch->weights[b];
}

static int query_of(const simidx *index, const simidx_sketch *sketch, simidx_query *out, int if_new,
		    const char *function, simidx_error *err)
{
	static const simidx_query empty = SIMIDX_QUERY_INIT;
	simidx_sketch own_sketch;
	simidx_query own, *q;

	sx_err_clear(err);
	q = sx_struct_begin(out, SX_QUERY_MIN, &own, sizeof(own));
	/* The query points to the caller's weights, so all of them must be there. */
	if (!index || !q || !sx_struct_read(sketch, SX_STRUCT_TO(simidx_sketch, flags),
					    &own_sketch, sizeof(own_sketch)))
		return sx_fail(err, SIMIDX_E_ARG, "%s: no index, or bad struct size", function);
	if (sketch->bits != index->schema->bits)
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "the sketch has %u bits, the fingerprints of the index have %u",
			       sketch->bits, index->schema->bits);
	*q = empty;
	q->flags = SIMIDX_QUERY_TEXT;
	q->fp = sketch->fp;
	q->fp2 = sketch->fp2;
	if (sketch->flags & SIMIDX_SKETCH_WEIGHTS && (!if_new || has_both_fp2(index, sketch)))
		ask_by_weights(index, sketch, if_new, q);
	sx_struct_end(out, q, sizeof(*q));
	return SIMIDX_OK;
}

int simidx_sketch_query(const simidx *index, const simidx_sketch *sketch, simidx_query *out,
			simidx_error *err)
{
	return query_of(index, sketch, out, 0, "simidx_sketch_query", err);
}

int simidx_sketch_query_if_new(const simidx *index, const simidx_sketch *sketch,
			       simidx_query *out, simidx_error *err)
{
	return query_of(index, sketch, out, 1, "simidx_sketch_query_if_new", err);
}
