/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "support/sxt_join.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"
#include "util/sx_bytes.h"

static uint64_t make_fp(enum sxt_join_kind kind, const sxt_join_docs *docs, size_t i, sxt_rng *rng)
{
	unsigned bits = docs->bits;
	uint64_t any = sxt_rng_u64(rng) & sx_low_bits(bits), before = 0;

	if (i)
		before = docs->at[sxt_rng_below(rng, i)].fp;
	switch (kind) {
	case SXT_JOIN_UNIFORM:
		if (i && !sxt_rng_below(rng, 3))
			return sxt_rng_flip(rng, before, bits, (unsigned)sxt_rng_below(rng, 10));
		return any;
	case SXT_JOIN_CLUSTERED:
		if (i > 10 && sxt_rng_below(rng, 50))
			return sxt_rng_flip(rng, docs->at[sxt_rng_below(rng, 10)].fp, bits,
					    (unsigned)sxt_rng_below(rng, 6));
		return any;
	default: /* equal in half of the bits, a quarter or three: at one end or the other */
		if (i && sxt_rng_below(rng, 4)) {
			unsigned same = bits / 4 * (1 + (unsigned)sxt_rng_below(rng, 3));
			uint64_t low = sx_low_bits(same), high = low << (bits - same);
			uint64_t mask = sxt_rng_below(rng, 2) ? low : high;

			return (docs->at[0].fp & mask) | (any & ~mask);
		}
		return any;
	}
}

sxt_join_docs sxt_join_make(enum sxt_join_kind kind, size_t n, unsigned bits, unsigned flags,
			    sxt_rng *rng)
{
	sxt_join_docs docs = { sx_calloc(n + 1, sizeof(*docs.at)), n, bits, flags };

	sxt_must(docs.at != NULL);
	for (size_t i = 0; i < n; i++) {
		sxt_join_doc *doc = &docs.at[i];

		doc->id = i * 7 % n; /* n is not a multiple of 7: neither in order nor twice */
		doc->fp = make_fp(kind, &docs, i, rng);
		/* Of those that are near, about half are so by both fingerprints. */
		doc->fp2 = sxt_rng_flip(rng, UINT64_C(0x123456789abcdef0), 64,
					(unsigned)sxt_rng_below(rng, 12));
	}
	sxt_must(!n || n % 7);
	return docs;
}

void sxt_join_store(const sxt_join_docs *docs, size_t from, size_t to, simidx *index)
{
	simidx_writer *writer = sxt_writer(index, 0);

	for (size_t i = from; i < to; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.fp = docs->at[i].fp;
		if (!(docs->flags & SIMIDX_CREATE_NO_IDS))
			doc.id = docs->at[i].id;
		if (docs->flags & SIMIDX_CREATE_FP2) {
			doc.fp2 = docs->at[i].lacks_fp2 ? 0 : docs->at[i].fp2;
			doc.flags = docs->at[i].lacks_fp2 ? SIMIDX_DOC_FP2_UNKNOWN : SIMIDX_DOC_FP2;
		}
		sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	}
	sxt_commit(writer);
	simidx_writer_close(writer);
}

static void push(sxt_join_pairs *pairs, const simidx_pair *pair)
{
	sxt_must(!sx_reserve(&pairs->at, &pairs->cap, pairs->n + 1, sizeof(*pairs->at)));
	pairs->at[pairs->n++] = *pair;
}

static int is_empty(const sxt_join_docs *docs, const sxt_join_doc *doc)
{
	return !doc->fp && (!(docs->flags & SIMIDX_CREATE_FP2) || doc->lacks_fp2 || !doc->fp2);
}

static void judge(const sxt_join_docs *x, const sxt_join_doc *a, const sxt_join_docs *y,
		  const sxt_join_doc *b, const simidx_join_options *o, sxt_join_pairs *out)
{
	int has_ids = !(x->flags & SIMIDX_CREATE_NO_IDS);
	int counts = o->flags & SIMIDX_JOIN_FP2 && x->flags & y->flags & SIMIDX_CREATE_FP2;
	unsigned radius2 = o->radius2 == SIMIDX_JOIN_DEFAULT_RADIUS ? 16 : o->radius2;
	unsigned distance = (unsigned)__builtin_popcountll(a->fp ^ b->fp), d2;
	simidx_pair pair = { a->id, b->id, a->fp, b->fp, distance, -1, NULL, NULL, 0, 0 };

	d2 = (unsigned)__builtin_popcountll(a->fp2 ^ b->fp2);
	if (counts && !a->lacks_fp2 && !b->lacks_fp2)
		pair.distance2 = (int)d2;
	if (a->is_gone || b->is_gone)
		return;
	if (counts && pair.distance + (pair.distance2 < 0 ? 0 : d2) > radius2)
		return;
	if (o->flags & SIMIDX_JOIN_TEXT && (is_empty(x, a) || is_empty(y, b)))
		return;
	if (x == y && (has_ids ? a->id > b->id : a->fp > b->fp)) {
		pair.id_a = b->id;
		pair.id_b = a->id;
		pair.fp_a = b->fp;
		pair.fp_b = a->fp;
	}
	if (!has_ids)
		pair.id_a = SIMIDX_NO_ID;
	if (y->flags & SIMIDX_CREATE_NO_IDS)
		pair.id_b = SIMIDX_NO_ID;
	push(out, &pair);
}

/* Whether more than `most` bits differ. */
static int is_far(uint64_t a, uint64_t b, unsigned most)
{
	uint64_t differ = a ^ b;

	for (; differ && most; most--)
		differ &= differ - 1;
	return differ != 0;
}

/* Which documents count: without ids equal fingerprints are one, the first. Freed by the caller. */
static unsigned char *find_counted(const sxt_join_docs *docs)
{
	unsigned char *counts = sx_calloc(docs->n + 1, 1);

	sxt_must(counts != NULL);
	for (size_t i = 0; i < docs->n; i++) {
		counts[i] = 1;
		for (size_t j = 0; docs->flags & SIMIDX_CREATE_NO_IDS && j < i; j++)
			counts[i] &= docs->at[j].fp != docs->at[i].fp;
	}
	return counts;
}

sxt_join_pairs sxt_join_expect(const sxt_join_docs *docs, const sxt_join_docs *other,
			       const simidx_join_options *options)
{
	sxt_join_pairs out = { 0 };
	const sxt_join_docs *y = other ? other : docs;
	unsigned char *counts = find_counted(docs), *counts_y = find_counted(y);

	for (size_t i = 0; i < docs->n; i++)
		for (size_t j = other ? 0 : i + 1; counts[i] && j < y->n; j++)
			if (!is_far(docs->at[i].fp, y->at[j].fp, options->radius) && counts_y[j])
				judge(docs, &docs->at[i], y, &y->at[j], options, &out);
	free(counts);
	free(counts_y);
	sxt_join_sort(&out);
	return out;
}

int sxt_join_take(void *ctx, const simidx_pair *pairs, size_t n)
{
	sxt_must(n > 0 && n <= 65536);
	for (size_t i = 0; i < n; i++)
		push(ctx, &pairs[i]);
	return 0;
}

int sxt_join_take_groups(void *ctx, const simidx_pair_group *groups, size_t n)
{
	sxt_must(n > 0);
	for (size_t g = 0; g < n; g++) {
		const simidx_pair_group *of = &groups[g];
		const uint64_t *ids_b = of->ids_b ? of->ids_b : of->ids_a;
		size_t n_b = of->ids_b ? of->n_b : of->n_a;

		for (size_t i = 0; i < of->n_a; i++)
			for (size_t j = of->ids_b ? 0 : i + 1; j < n_b; j++) {
				simidx_pair pair = { of->ids_a[i], ids_b[j],     of->fp_a,
						     of->fp_b,     of->distance, of->distance2,
						     NULL, NULL, 0, 0 };

				push(ctx, &pair);
			}
	}
	return 0;
}

int sxt_join_planned(void *ctx, const simidx_join_info *info)
{
	sxt_join_pairs *pairs = ctx;

	sxt_must_eq(pairs->planned.size, 0);
	sxt_must_eq(info->size, sizeof(*info));
	pairs->planned = *info;
	return 0;
}

int sxt_join_found(void *ctx, const simidx_join_info *info)
{
	sxt_join_pairs *pairs = ctx;

	sxt_must_eq(pairs->found.size, 0);
	sxt_must_ne(pairs->planned.size, 0);
	sxt_must_eq(pairs->n, 0);
	pairs->found = *info;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const simidx_pair *x = a, *y = b;

	if (x->id_a != y->id_a)
		return x->id_a < y->id_a ? -1 : 1;
	if (x->id_b != y->id_b)
		return x->id_b < y->id_b ? -1 : 1;
	if (x->fp_a != y->fp_a)
		return x->fp_a < y->fp_a ? -1 : 1;
	return x->fp_b < y->fp_b ? -1 : x->fp_b > y->fp_b;
}

void sxt_join_sort(sxt_join_pairs *pairs)
{
	if (pairs->n)
		qsort(pairs->at, pairs->n, sizeof(*pairs->at), compare);
}

void sxt_join_check(const sxt_join_pairs *got, const sxt_join_pairs *want)
{
	sxt_must_eq(got->n, want->n);
	for (size_t i = 0; i < want->n; i++) {
		const simidx_pair *a = &got->at[i], *b = &want->at[i];

		sxt_must_eq(a->id_a, b->id_a);
		sxt_must_eq(a->id_b, b->id_b);
		sxt_must_eq(a->fp_a, b->fp_a);
		sxt_must_eq(a->fp_b, b->fp_b);
		sxt_must_eq(a->distance, b->distance);
		sxt_must_eq(a->distance2, b->distance2);
	}
}
