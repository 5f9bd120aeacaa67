/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the library's joins are compared with: its own method on sorted arrays in memory, and block
 * sorting as it is commonly written.
 */

#include "bn_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "bn_near.h"
#include "bn_util.h"
#include "join/sx_join.h"
#include "kernel/sx_kernel.h"

#define PADDING 64
#define DIGIT 11

/* ---- documents ---- */

/* Sort by the bits from `shift` on up to `end`, stably. v[] and scratch[] may change places. */
static void radix_sort(uint64_t **v, uint64_t **scratch, uint64_t n, unsigned shift, unsigned end)
{
	static uint64_t count[1 << DIGIT];
	uint64_t *swap;

	for (; shift < end; shift += DIGIT) {
		uint64_t mask = (UINT64_C(1) << (end - shift < DIGIT ? end - shift : DIGIT)) - 1,
			 sum = 0;

		memset(count, 0, sizeof(count));
		for (uint64_t i = 0; i < n; i++)
			count[(*v)[i] >> shift & mask]++;
		for (uint64_t d = 0; d <= mask; d++) {
			uint64_t here = count[d];

			count[d] = sum;
			sum += here;
		}
		for (uint64_t i = 0; i < n; i++)
			(*scratch)[count[(*v)[i] >> shift & mask]++] = (*v)[i];
		swap = *v;
		*v = *scratch;
		*scratch = swap;
	}
}

/* Which of the fingerprints this one is: it is one of them. */
static uint64_t number_of(const struct bn_docs *docs, uint64_t fp)
{
	return sx_u64s_below(docs->fp, (size_t)docs->n, fp);
}

void bn_docs_make(struct bn_docs *docs, const struct bn_set *set)
{
	uint64_t *scratch = bn_alloc(set->n, sizeof(*scratch)), n = set->n, out = 0;

	docs->fp = bn_alloc(n + PADDING, sizeof(*docs->fp));
	docs->first = bn_alloc(n + 1, sizeof(*docs->first));
	docs->id = bn_alloc(n, sizeof(*docs->id));
	memcpy(docs->fp, set->fp, n * sizeof(*docs->fp));
	if (sx_sort_u64(docs->fp, n))
		bn_die("out of memory");
	for (uint64_t i = 0; i < n; i++) {
		if (!i || docs->fp[i] != docs->fp[out - 1]) {
			docs->first[out] = (uint32_t)i;
			docs->fp[out++] = docs->fp[i];
		}
	}
	docs->first[out] = (uint32_t)n;
	docs->n = out;
	memset(scratch, 0, n * sizeof(*scratch)); /* ids that are in place */
	for (uint64_t id = 0; id < n; id++) {
		uint64_t at = number_of(docs, set->fp[id]);

		docs->id[docs->first[at] + scratch[at]++] = (uint32_t)id;
	}
	free(scratch);
}

void bn_docs_free(struct bn_docs *docs)
{
	free(docs->fp);
	free(docs->first);
	free(docs->id);
}

static void add(const struct bn_docs *docs, uint64_t a, uint64_t b, struct bn_found *found)
{
	const uint32_t *first = docs->first;

	bn_found_add(found, docs->fp[a], docs->fp[b], first[a + 1] - first[a],
		     first[b + 1] - first[b], docs->id[first[a]], docs->id[first[b]]);
}

void bn_docs_add(const struct bn_docs *docs, uint64_t a, uint64_t b, struct bn_found *found)
{
	add(docs, number_of(docs, a < b ? a : b), number_of(docs, a < b ? b : a), found);
}

void bn_docs_add_equal(const struct bn_docs *docs, struct bn_found *found)
{
	for (uint64_t i = 0; i < docs->n; i++)
		if (docs->first[i + 1] - docs->first[i] > 1)
			add(docs, i, i, found);
}

/* ---- the library's method on arrays ---- */

struct bn_join_arrays {
	const struct bn_docs *docs;
	unsigned radius, n_parts;
	sx_join_part part[SX_JOIN_MAX_PARTS];
	uint64_t *v[SX_JOIN_MAX_PARTS]; /* permuted, ascending */
	unsigned at;                    /* part that is joined */
	struct bn_found *found;
};

struct bn_join_arrays *bn_join_arrays_new(const struct bn_docs *docs, const char *plan,
					  unsigned radius)
{
	struct bn_join_arrays *a = bn_alloc(1, sizeof(*a));
	sx_plan tables;
	simidx_error err;

	if (!radius || radius > SX_JOIN_MAX_RADIUS)
		bn_die("arrays are joined up to radius %d", SX_JOIN_MAX_RADIUS);
	bn_check(sx_plan_make(&tables, plan, 64, &err), &err, plan);
	a->docs = docs;
	a->radius = radius;
	a->n_parts = sx_join_cut(&tables, radius, 0, a->part);
	for (unsigned p = 0; p < a->n_parts; p++) {
		a->v[p] = bn_alloc(docs->n + PADDING, sizeof(**a->v));
		for (uint64_t i = 0; i < docs->n; i++)
			a->v[p][i] = sx_permute(&a->part[p].perm, docs->fp[i]);
		if (sx_sort_u64(a->v[p], docs->n))
			bn_die("out of memory");
	}
	return a;
}

void bn_join_arrays_free(struct bn_join_arrays *a)
{
	for (unsigned p = 0; p < a->n_parts; p++)
		free(a->v[p]);
	free(a);
}

static int take(void *ctx, const uint64_t *pairs, size_t n)
{
	struct bn_join_arrays *a = ctx;
	const sx_perm *perm = &a->part[a->at].perm;

	for (size_t i = 0; i < 2 * n; i += 2)
		bn_docs_add(a->docs, sx_unpermute(perm, pairs[i]), sx_unpermute(perm, pairs[i + 1]),
			    a->found);
	return 0;
}

static int go_on(void *ctx)
{
	(void)ctx;
	return 0;
}

void bn_join_arrays_find(struct bn_join_arrays *a, struct bn_found *found)
{
	const sx_join_sink sink = { take, go_on, a };
	const sx_join_tuning usual = { 0 };
	sx_joiner *joiner = sx_joiner_new(sx_kernel_best(), &usual, &sink);
	uint64_t n = a->docs->n;

	if (!joiner)
		bn_die("out of memory");
	a->found = found;
	for (a->at = 0; a->at < a->n_parts; a->at++) {
		sx_join_constraint constraint =
			sx_join_constraint_of(a->part, a->n_parts, a->at, a->radius);

		sx_joiner_begin(joiner, &constraint);
		if (sx_joiner_run(joiner, a->v[a->at], NULL, n) || sx_joiner_flush(joiner))
			bn_die("out of memory");
	}
	sx_joiner_free(joiner);
	bn_docs_add_equal(a->docs, found);
}

/* ---- block sorting ---- */

/* A block of bits, and by how much it is rotated to the left to be where a choice has it. */
struct block {
	uint64_t mask;
	unsigned width, at, rotates;
};

static uint64_t rotate(uint64_t x, unsigned by)
{
	return x << (by & 63) | x >> (-by & 63);
}

/* The blocks of `choice` lead, the others follow. Returns how many bits lead. */
static unsigned arrange(struct block *block, unsigned blocks, unsigned choice)
{
	unsigned top = 64, lead = 0;

	for (unsigned leads = 2; leads-- > 0;)
		for (unsigned b = 0; b < blocks; b++) {
			if ((choice >> b & 1) != leads)
				continue;
			top -= block[b].width;
			block[b].rotates = (64 + top - block[b].at) & 63;
			lead += leads ? block[b].width : 0;
		}
	return lead;
}

static uint64_t permute(const struct block *block, unsigned blocks, uint64_t fp)
{
	uint64_t out = 0;

	for (unsigned b = 0; b < blocks; b++)
		out |= rotate(fp & block[b].mask, block[b].rotates);
	return out;
}

static uint64_t unpermute(const struct block *block, unsigned blocks, uint64_t v)
{
	uint64_t fp = 0;

	for (unsigned b = 0; b < blocks; b++)
		fp |= rotate(v, 64 - block[b].rotates) & block[b].mask;
	return fp;
}

/* The first choice of n blocks in which these two agree. */
static unsigned first_choice(const struct block *block, unsigned blocks, unsigned n,
			     uint64_t differ)
{
	unsigned choice = 0;

	for (unsigned b = 0; b < blocks && n; b++)
		if (!(differ & block[b].mask)) {
			choice |= 1u << b;
			n--;
		}
	return choice;
}

void bn_sort_blocks(const struct bn_docs *docs, unsigned blocks, unsigned radius,
		    struct bn_found *found)
{
	uint64_t n = docs->n, *v = bn_alloc(n + PADDING, sizeof(*v));
	uint64_t *scratch = bn_alloc(n + PADDING, sizeof(*scratch));
	uint32_t *hits = bn_alloc(n, sizeof(*hits));
	bn_near_fn *near = bn_near(bn_simd_best());
	struct block block[16];

	for (unsigned b = 0; b < blocks; b++) {
		block[b].at = 64 * b / blocks;
		block[b].width = 64 * (b + 1) / blocks - block[b].at;
		block[b].mask = ((UINT64_C(1) << block[b].width) - 1) << block[b].at;
	}
	for (unsigned choice = 0; choice < 1u << blocks; choice++) {
		unsigned lead;

		if ((unsigned)__builtin_popcount(choice) != blocks - radius)
			continue;
		lead = arrange(block, blocks, choice);
		for (uint64_t i = 0; i < n; i++)
			v[i] = permute(block, blocks, docs->fp[i]);
		radix_sort(&v, &scratch, n, 64 - lead, 64);
		for (uint64_t i = 0, end = 0; i + 1 < n; i++) {
			size_t hit;

			if (end <= i)
				for (end = i + 1; end < n && !((v[i] ^ v[end]) >> (64 - lead));)
					end++;
			if (end == i + 1)
				continue;
			hit = near(v + i + 1, end - i - 1, v[i], radius, hits);
			for (size_t h = 0; h < hit; h++) {
				uint64_t a = unpermute(block, blocks, v[i]);
				uint64_t b = unpermute(block, blocks, v[i + 1 + hits[h]]);

				if (first_choice(block, blocks, blocks - radius, a ^ b) == choice)
					bn_docs_add(docs, a, b, found);
			}
		}
	}
	free(v);
	free(scratch);
	free(hits);
	bn_docs_add_equal(docs, found);
}
