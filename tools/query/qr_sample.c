/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_sample.h"

#include <stdlib.h>
#include <string.h>

#include <simidx_sketch.h>

const char *const qr_kind_names[QR_KINDS] = {
	[QR_BELOW] = "near misses, below the limit",
	[QR_AT_LIMIT] = "up to 5 points above the limit",
	[QR_ABOVE] = "5 to 10 points above the limit",
	[QR_FAR_ABOVE] = "more than 10 points above the limit",
	[QR_EQUAL] = "the same bytes",
	[QR_BY_FP] = "by fingerprints alone",
};

/* Percent of the sample, if there are enough of each. */
static const size_t shares[QR_KINDS] = { 30, 30, 15, 10, 5, 10 };

void qr_sample_free(struct qr_sample *sample)
{
	for (int i = 0; i < QR_KINDS; i++)
		for (size_t k = 0; k < sample->kind[i].n; k++)
			free(sample->kind[i].line[k].bytes);
	for (size_t i = 0; i < sample->n_pairs; i++)
		in_pair_free(&sample->pair[i]);
}

static enum qr_kind kind_of(const struct in_pair *pair)
{
	double above = pair->similarity - pair->limit;

	if (pair->has_distance || pair->similarity < 0)
		return QR_BY_FP;
	if (pair->is_kept)
		return QR_BELOW;
	if (strcmp(pair->rule, "equal") == 0)
		return QR_EQUAL;
	return above < 5 ? QR_AT_LIMIT : above < 10 ? QR_ABOVE : QR_FAR_ABOVE;
}

/* How many of each kind: its share, at least one; what is left goes to the first kinds. */
static void divide(const struct qr_sample *sample, size_t drawn[QR_KINDS])
{
	size_t left = sample->most;

	for (int i = 0; i < QR_KINDS; i++) {
		size_t share = sample->most * shares[i] / 100;

		drawn[i] = share ? share : 1;
		if (drawn[i] > sample->kind[i].n)
			drawn[i] = sample->kind[i].n;
		if (drawn[i] > left)
			drawn[i] = left;
		left -= drawn[i];
	}
	for (int i = 0; i < QR_KINDS; i++) {
		size_t more = sample->kind[i].n - drawn[i];

		more = more < left ? more : left;
		drawn[i] += more;
		left -= more;
	}
}

/* Of the lines of a kind the last one to be drawn. */
static size_t worst_of(const struct qr_kind_lines *kind)
{
	size_t worst = 0;

	for (size_t i = 1; i < kind->n; i++)
		if (kind->line[i].rank > kind->line[worst].rank)
			worst = i;
	return worst;
}

static void drop_line(struct qr_kind_lines *kind, size_t i)
{
	free(kind->line[i].bytes);
	kind->line[i] = kind->line[--kind->n];
}

/*
 * A kind never gets more room than it has now when more lines come of others: they only take from
 * what is left. So a line that would not be drawn now never will be, and no more lines than those
 * of the sample are kept.
 */
int qr_sample_meet(struct qr_sample *sample, const struct in_pair *pair, const char *line,
		   size_t size)
{
	struct qr_kind_lines *kind = &sample->kind[kind_of(pair)];
	struct qr_line met = { simidx_feature_hash(&pair->number, sizeof(pair->number)),
			    pair->number, NULL, size };
	size_t drawn[QR_KINDS], worst;

	kind->met++;
	kind->n++;
	divide(sample, drawn);
	kind->n--;
	if (drawn[kind - sample->kind] == kind->n) {
		worst = kind->n ? worst_of(kind) : 0;
		if (!kind->n || met.rank > kind->line[worst].rank)
			return 0;
		drop_line(kind, worst);
	}
	for (int i = 0; i < QR_KINDS; i++)
		while (sample->kind[i].n > drawn[i])
			drop_line(&sample->kind[i], worst_of(&sample->kind[i]));
	met.bytes = malloc(size);
	if (!met.bytes)
		return -1;
	memcpy(met.bytes, line, size);
	kind->line[kind->n++] = met;
	return 0;
}

static int by_rank(const void *a, const void *b)
{
	const struct qr_line *x = a, *y = b;

	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int by_similarity(const void *a, const void *b)
{
	const struct in_pair *x = a, *y = b;

	if (x->similarity != y->similarity)
		return x->similarity < y->similarity ? -1 : 1;
	if (x->distance != y->distance)
		return x->distance > y->distance ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

int qr_sample_draw(struct qr_sample *sample)
{
	size_t drawn[QR_KINDS];
	const char *reason;

	divide(sample, drawn);
	for (int i = 0; i < QR_KINDS; i++) {
		struct qr_kind_lines *kind = &sample->kind[i];
		size_t first = sample->n_pairs;

		kind->drawn = drawn[i];
		if (kind->n)
			qsort(kind->line, kind->n, sizeof(*kind->line), by_rank);
		for (size_t k = 0; k < drawn[i]; k++) {
			struct in_pair *pair = &sample->pair[sample->n_pairs++];

			/* It was read before, so only memory can be short. */
			if (in_evidence_parse(kind->line[k].bytes, kind->line[k].size, pair,
					      &reason))
				return -1;
			pair->number = kind->line[k].number;
			free(kind->line[k].bytes);
			kind->line[k].bytes = NULL;
		}
		if (drawn[i])
			qsort(sample->pair + first, drawn[i], sizeof(*sample->pair),
			      by_similarity);
	}
	return 0;
}
