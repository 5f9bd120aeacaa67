/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * All pairs of an index, or of two, against comparing each document with each.
 */

#include <stdlib.h>
#include <string.h>

#include <simidx_load.h>

#include "index/sx_index.h"
#include "join/sx_join_set.h"
#include "support/sxt_fixture.h"
#include "support/sxt_join.h"

static sxt_rng rng;

static void set_up(void)
{
	sxt_set_up_path();
	sxt_rng_init(&rng, 1400);
}

static simidx *make(const char *path, const char *plan, unsigned layout, const sxt_join_docs *docs)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;

	o.plan = plan;
	o.layout = layout;
	o.bits = docs->bits;
	o.flags = docs->flags;
	return sxt_create(path, &o);
}

static simidx_join_options options_of(sxt_join_pairs *got, unsigned radius, unsigned flags,
				      unsigned threads)
{
	simidx_join_options o = SIMIDX_JOIN_OPTIONS_INIT;

	memset(got, 0, sizeof(*got));
	o.radius = radius;
	o.flags = flags;
	o.threads = threads;
	o.memory = (uint64_t)16 << 20;
	o.tmpdir = t_dir;
	o.planned = sxt_join_planned;
	o.found = sxt_join_found;
	o.ctx = got;
	return o;
}

/* Join, and compare with what is expected; then the same by groups. */
static void check(simidx *index, simidx *other, const sxt_join_docs *docs,
		  const sxt_join_docs *others, unsigned k, unsigned flags, unsigned threads,
		  const sx_join_tuning *tuning)
{
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT;
	sxt_join_pairs got, by_groups;
	simidx_join_options o = options_of(&got, k, flags, threads);
	sxt_join_pairs want = sxt_join_expect(docs, others, &o);

	index->tuning.join = tuning ? *tuning : (sx_join_tuning){ 0 };
	taker.pairs = sxt_join_take;
	sxt_must_ok(simidx_pairs(index, other, &o, &taker, &sxt_err));
	sxt_must_eq(got.planned.radius, k);
	sxt_must_eq(got.planned.pairs, 0);
	sxt_must_eq(got.found.pairs, want.n);
	sxt_join_sort(&got);
	sxt_join_check(&got, &want);
	free(got.at);

	o = options_of(&by_groups, k, flags, threads);
	taker.pairs = NULL;
	taker.groups = sxt_join_take_groups;
	sxt_must_ok(simidx_pairs(index, other, &o, &taker, &sxt_err));
	sxt_must_eq(by_groups.found.pairs, want.n);
	sxt_must_eq(by_groups.n, want.n);
	free(by_groups.at);
	free(want.at);
}

/*
 * The planner as it is; each width; sets within sets; everything compared; scans in tiles; small
 * buckets; parts by the leads of tables, or as those of 4x16.
 */
static const sx_join_tuning ways[] = {
	{ .method = 1 },
	{ .method = 1, .width = 1, .compare_below = 2, .split_above = 1 },
	{ .method = 1, .width = 2, .compare_below = 2, .split_above = 2 },
	{ .method = 1, .width = 3, .compare_below = 2, .split_above = 1 },
	{ .method = 1, .width = 4, .compare_below = 4, .split_above = 3 },
	{ .method = 1, .width = 5, .compare_below = 4, .split_above = 3 },
	{ .method = 1, .width = 6, .compare_below = 8, .split_above = 7 },
	{ .method = 1, .width = 7, .compare_below = 16, .split_above = 15 },
	{ .method = 1, .width = 8, .compare_below = 16, .split_above = 15 },
	{ .method = 1, .width = 9, .compare_below = 30, .split_above = 20 },
	{ .method = 1, .width = 10, .compare_below = 30, .split_above = 25 },
	{ .method = 1, .width = 11, .compare_below = 40, .split_above = 30 },
	{ .method = 1, .width = 12, .compare_below = 40, .split_above = 30 },
	{ .method = 1, .compare_below = 2, .split_above = 1 },
	{ .method = 1, .compare_below = 1u << 30 },
	{ .method = 2 },
	{ .method = 2, .scanned = 100 },
	{ .method = 1, .bucket_entries = 100 },
	{ .method = 1, .cut = 1 },
	{ .method = 1, .cut = 2 },
};

#define N_WAYS (sizeof(ways) / sizeof(ways[0]))

/* Plan number _i: every kind of set, every radius. */
START_TEST(test_pairs_of_every_plan)
{
	for (unsigned kind = 0; kind < SXT_JOIN_KINDS; kind++) {
		char name[8] = { 'i', (char)('0' + kind), 0 };
		char *path = sxt_path(t_dir, name);
		sxt_join_docs docs = sxt_join_make(kind, 601, 64, 0, &rng);
		simidx *index = make(path, sxt_plans[_i], kind % 2, &docs);

		sxt_join_store(&docs, 0, docs.n, index);
		sxt_merge(index);
		for (unsigned k = 0; k <= SX_JOIN_MAX_RADIUS; k++) {
			check(index, NULL, &docs, NULL, k, 0, 1, NULL);
			check(index, NULL, &docs, NULL, k, 0, 2, &ways[0]);
			check(index, NULL, &docs, NULL, k, 0, 1,
			      &ways[N_WAYS - 1 - (k + kind) % 2]);
		}
		simidx_close(index);
		free(docs.at);
		free(path);
	}
}
END_TEST

/* Way number _i of splitting sets. */
START_TEST(test_pairs_in_every_way)
{
	static const char *const plan[] = { "4x16", "3x22" };
	/* Where even sets of a few are split, the number of sets grows fast. */
	int is_deep = ways[_i].split_above && ways[_i].split_above <= 3;
	size_t n = is_deep && !sxt_is_long() ? 101 : 302;

	for (unsigned kind = 0; kind < SXT_JOIN_KINDS; kind++)
		for (unsigned p = 0; p < 2; p++) {
			char name[8] = { 'i', (char)('0' + kind), (char)('0' + p), 0 };
			char *path = sxt_path(t_dir, name);
			sxt_join_docs docs = sxt_join_make(kind, n, 64, 0, &rng);
			simidx *index = make(path, plan[p], 0, &docs);

			sxt_join_store(&docs, 0, docs.n, index);
			sxt_merge(index);
			for (unsigned k = 3; k <= SX_JOIN_MAX_RADIUS; k += 1 + p)
				check(index, NULL, &docs, NULL, k, 0, 1 + k % 2, &ways[_i]);
			simidx_close(index);
			free(docs.at);
			free(path);
		}
}
END_TEST

/* Bits number _i of fingerprints. */
START_TEST(test_pairs_of_fewer_bits)
{
	static const unsigned bits[] = { 16, 17, 24, 32, 47, 63 };

	for (unsigned p = 0; p < SXT_N_PLANS; p++) {
		char name[8] = { 'i', (char)('0' + p), 0 };
		char *path = sxt_path(t_dir, name);
		sxt_join_docs docs = sxt_join_make(p % SXT_JOIN_KINDS, 101, bits[_i], 0, &rng);
		simidx *index = make(path, sxt_plans[p], 0, &docs);

		sxt_join_store(&docs, 0, docs.n, index);
		sxt_merge(index);
		for (unsigned k = 0; k <= 9; k++)
			check(index, NULL, &docs, NULL, k, 0, 1, &ways[k % N_WAYS]);
		check(index, NULL, &docs, NULL, bits[_i], 0, 2, NULL);
		simidx_close(index);
		free(docs.at);
		free(path);
	}
}
END_TEST

/* Delete some, add others: all of it is fresh, or half merged. */
START_TEST(test_fresh_rows_and_deletions)
{
	for (unsigned kind = 0; kind < SXT_JOIN_KINDS; kind++) {
		char name[8] = { 'i', (char)('0' + kind), 0 };
		char *path = sxt_path(t_dir, name);
		unsigned flags = kind % 2 ? SIMIDX_CREATE_FP2 : 0;
		sxt_join_docs docs = sxt_join_make(kind, 601, 64, flags, &rng);
		simidx *index = make(path, sxt_plans[_i], kind == 2, &docs);
		simidx_writer *writer;

		sxt_join_store(&docs, 0, 300, index);
		if (_i % 2)
			sxt_merge(index);
		sxt_join_store(&docs, 300, docs.n, index);
		writer = sxt_writer(index, 0);
		for (size_t i = 0; i < docs.n; i += 3) {
			sxt_join_doc *doc = &docs.at[i];

			if (i % 2) { /* it moves to another fingerprint, then back or not */
				simidx_doc d = SIMIDX_DOC_INIT;

				d.id = doc->id;
				d.fp2 = doc->fp2;
				d.flags = flags ? SIMIDX_DOC_FP2 : 0;
				d.fp = ~doc->fp;
				sxt_must_ok(simidx_writer_replace(writer, &d, NULL, &sxt_err));
				d.fp = i % 4 == 1 ? doc->fp : docs.at[i / 2].fp;
				sxt_must_ok(simidx_writer_replace(writer, &d, NULL, &sxt_err));
				doc->fp = d.fp;
				continue;
			}
			sxt_must_ok(simidx_writer_delete_id(writer, doc->id, &sxt_err));
			doc->is_gone = 1;
		}
		sxt_commit(writer);
		simidx_writer_close(writer);
		for (unsigned k = 0; k <= 7; k++)
			check(index, NULL, &docs, NULL, k, flags ? SIMIDX_JOIN_FP2 : 0, 1 + k % 2,
			      &ways[k]);
		sxt_merge(index);
		check(index, NULL, &docs, NULL, 3, 0, 1, NULL);
		simidx_close(index);
		free(docs.at);
		free(path);
	}
}
END_TEST

/* Documents that have many bits in common, of which some are near to one of others. */
static void make_alike(sxt_join_docs *docs, size_t every, uint64_t mask,
		       const sxt_join_docs *others)
{
	for (size_t i = 0; i < docs->n; i += every) {
		uint64_t *fp = &docs->at[i].fp;

		if (others)
			*fp = sxt_rng_flip(&rng, others->at[2 * (i / 2)].fp, 64, (unsigned)(i % 5));
		*fp = (*fp & ~mask) | (UINT64_C(0xabcd9c4e317f5208) & mask);
	}
}

/*
 * Many documents agree in a part of the bits, and there is room for few: they are read again. Of
 * 4x16 all parts are tables, of the others some are sorted first. Then half of them agree in 24
 * bits more, so that no choice of more bits makes them few enough.
 */
START_TEST(test_large_buckets)
{
	static const char *const plan[][2] = { { "4x16", "4x16" }, { "4x16", "4x16" },
					       { "3x22", "3x22" }, { "3x22", "2x32" },
					       { "2x32", "4x16" }, { "10x26", "10x26" } };
	static const sx_join_tuning few = { .method = 1, .cut = 1, .bucket_entries = 100 };
	static const sx_join_tuning fewer = { .method = 1, .cut = 2, .bucket_entries = 16 };
	sxt_join_docs x = sxt_join_make(SXT_JOIN_UNIFORM, 1202, 64, 0, &rng);
	sxt_join_docs y = sxt_join_make(SXT_JOIN_UNIFORM, 501, 64, 0, &rng);
	unsigned shift = 48 - 16 * ((unsigned)_i % 4);
	uint64_t part = UINT64_C(0xffff) << shift, more = part << 24 | part >> 40;
	char *a = sxt_path(t_dir, "a"), *b = sxt_path(t_dir, "b");
	simidx *index = make(a, plan[_i / 4][0], (unsigned)_i % 2, &x);
	simidx *other = make(b, plan[_i / 4][1], 0, &y);

	make_alike(&x, 2, part, NULL);
	make_alike(&x, 4, part | more | (more << 8 | more >> 56), NULL);
	make_alike(&y, 3, part, &x);
	sxt_join_store(&x, 0, 900, index);
	sxt_merge(index);
	sxt_join_store(&x, 900, x.n, index); /* those are fresh */
	sxt_join_store(&y, 0, y.n, other);
	sxt_merge(other);
	for (unsigned k = 1 + (unsigned)_i % 2; k <= SX_JOIN_MAX_RADIUS; k += 2) {
		check(index, NULL, &x, NULL, k, 0, 1 + k / 2 % 2, k == 3 ? &fewer : &few);
		check(index, other, &x, &y, k, 0, 2 - k / 2 % 2, k == 4 ? &fewer : &few);
	}
	simidx_close(index);
	simidx_close(other);
	free(x.at);
	free(y.at);
	free(a);
	free(b);
}
END_TEST

START_TEST(test_two_indexes)
{
	static const char *const plan[][2] = {
		{ "4x16", "4x16" }, { "4x16", "3x22" }, { "10x26", "4x16" }, { "2x32", "20x31" }
	};

	for (unsigned kind = 0; kind < SXT_JOIN_KINDS; kind++) {
		char *a = sxt_path(t_dir, kind ? kind > 1 ? "a2" : "a1" : "a0");
		char *b = sxt_path(t_dir, kind ? kind > 1 ? "b2" : "b1" : "b0");
		sxt_join_docs x = sxt_join_make(kind, 401, 64, kind == 2 ? SIMIDX_CREATE_FP2 : 0,
						&rng);
		sxt_join_docs y = sxt_join_make(kind, 302, 64, kind == 1 ? SIMIDX_CREATE_NO_IDS :
								x.flags, &rng);
		simidx *index, *other;

		for (size_t i = 0; i < y.n; i += 4) /* near to one of the other index, or equal */
			y.at[i].fp = sxt_rng_flip(&rng, x.at[i].fp, 64, (unsigned)(i / 4 % 8));
		index = make(a, plan[_i][0], 0, &x);
		other = make(b, plan[_i][1], 0, &y);
		sxt_join_store(&x, 0, x.n, index);
		sxt_join_store(&y, 0, y.n, other);
		if (kind)
			sxt_merge(index);
		sxt_merge(other);
		for (unsigned k = 0; k <= 8; k++) {
			check(index, other, &x, &y, k, SIMIDX_JOIN_FP2, 1 + k % 2, &ways[k]);
			check(index, other, &x, &y, k, 0, 2, NULL);
		}
		check(other, index, &y, &x, 3, 0, 1, NULL);
		simidx_close(index);
		simidx_close(other);
		free(x.at);
		free(y.at);
		free(a);
		free(b);
	}
}
END_TEST

/* Kernel number _i, from the plainest on. */
START_TEST(test_pairs_by_every_kernel)
{
	const sx_kernel *kernel = sx_kernel_list((unsigned)_i);
	sxt_join_docs docs = sxt_join_make(SXT_JOIN_CLUSTERED, 601, 64, 0, &rng);
	simidx *index = make(t_path, "4x16", 0, &docs);

	sxt_join_store(&docs, 0, docs.n, index);
	for (unsigned k = 1; kernel && k <= 7; k++) {
		index->kernel = kernel;
		check(index, NULL, &docs, NULL, k, 0, 1, &ways[0]);
		check(index, NULL, &docs, NULL, k, 0, 1, &ways[1 + k]);
	}
	simidx_close(index);
	free(docs.at);
	if (!kernel)
		sxt_skip("no such kernel on this CPU");
}
END_TEST

START_TEST(test_second_fingerprints_and_empty_texts)
{
	sxt_join_docs docs = sxt_join_make(SXT_JOIN_CLUSTERED, 601, 64, SIMIDX_CREATE_FP2, &rng);
	simidx *index;

	for (size_t i = 0; i < 40; i++) { /* empty texts, and some that are not */
		docs.at[5 * i].fp = i % 8 == 7;
		docs.at[5 * i].fp2 = i % 4 ? 0 : docs.at[5 * i].fp2;
	}
	index = make(t_path, "4x16", 0, &docs);
	sxt_join_store(&docs, 0, 500, index);
	sxt_merge(index);
	sxt_join_store(&docs, 500, docs.n, index);
	for (unsigned k = 0; k <= 7; k++) {
		check(index, NULL, &docs, NULL, k, SIMIDX_JOIN_TEXT, 1, NULL);
		check(index, NULL, &docs, NULL, k, SIMIDX_JOIN_TEXT | SIMIDX_JOIN_FP2, 2, NULL);
		check(index, NULL, &docs, NULL, k, SIMIDX_JOIN_FP2, 1, &ways[2]);
	}
	simidx_close(index);
	free(docs.at);
}
END_TEST

START_TEST(test_without_ids)
{
	sxt_join_docs docs = sxt_join_make(SXT_JOIN_CLUSTERED, 601, 64, SIMIDX_CREATE_NO_IDS, &rng);
	simidx *index = make(t_path, "4x16", 0, &docs);

	sxt_join_store(&docs, 0, 300, index);
	sxt_merge(index);
	sxt_join_store(&docs, 300, docs.n, index);
	for (unsigned k = 0; k <= 7; k++)
		check(index, NULL, &docs, NULL, k, 0, 1, NULL);
	simidx_close(index);
	free(docs.at);
}
END_TEST

/* No document, one; all bits zero and all one; a radius of all bits. */
START_TEST(test_ends)
{
	sxt_join_docs docs = sxt_join_make(SXT_JOIN_UNIFORM, 5, 64, 0, &rng);
	simidx *index = make(t_path, "4x16", 0, &docs);
	const uint64_t fp[5] = { 0, UINT64_MAX, 1, UINT64_MAX >> 1, 0 };

	docs.n = 0;
	check(index, NULL, &docs, NULL, 3, 0, 2, NULL);
	check(index, NULL, &docs, NULL, 64, 0, 2, NULL);
	docs.n = 5;
	for (size_t i = 0; i < docs.n; i++)
		docs.at[i].fp = fp[i];
	for (size_t i = 0; i < docs.n; i++) {
		sxt_join_docs some = docs;

		sxt_join_store(&docs, i, i + 1, index);
		some.n = i + 1;
		for (unsigned k = 0; k <= 64; k++)
			check(index, NULL, &some, NULL, k, 0, 1 + k % 2, NULL);
		if (i == 2)
			sxt_merge(index);
	}
	simidx_close(index);
	free(docs.at);
}
END_TEST

/* A loader takes documents whose second fingerprint is not known: the first one alone decides. */
START_TEST(test_unknown_second_fingerprints)
{
	sxt_join_docs docs = sxt_join_make(SXT_JOIN_CLUSTERED, 601, 64, SIMIDX_CREATE_FP2, &rng);
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_loader *loader;
	simidx *index;

	create.flags = SIMIDX_CREATE_FP2;
	sxt_must_ok(simidx_loader_open(t_path, &create, NULL, &loader, &sxt_err));
	for (size_t i = 0; i < docs.n; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		docs.at[i].lacks_fp2 = i % 3 == 0;
		if (i % 50 == 0)
			docs.at[i].fp = 0; /* an empty text, for all that is known */
		doc.id = docs.at[i].id;
		doc.fp = docs.at[i].fp;
		doc.flags = docs.at[i].lacks_fp2 ? SIMIDX_DOC_FP2_UNKNOWN : SIMIDX_DOC_FP2;
		doc.fp2 = docs.at[i].lacks_fp2 ? 0 : docs.at[i].fp2;
		sxt_must_ok(simidx_loader_put(loader, &doc, NULL, &sxt_err));
	}
	sxt_must_ok(simidx_loader_finish(loader, NULL, &sxt_err));
	simidx_loader_close(loader);
	sxt_must_ok(simidx_open(t_path, NULL, &index, &sxt_err));
	for (unsigned k = 0; k <= 20; k += 3) { /* above 16 that is the limit */
		check(index, NULL, &docs, NULL, k, SIMIDX_JOIN_FP2, 1, NULL);
		check(index, NULL, &docs, NULL, k, SIMIDX_JOIN_FP2 | SIMIDX_JOIN_TEXT, 2, NULL);
	}
	simidx_close(index);
	free(docs.at);
}
END_TEST

struct list {
	simidx_pair *at;
	size_t n, cap;
};

static int list_pairs(void *ctx, const simidx_pair *pairs, size_t n)
{
	struct list *l = ctx;

	sxt_must(!sx_reserve(&l->at, &l->cap, l->n + n, sizeof(*l->at)));
	memcpy(l->at + l->n, pairs, n * sizeof(*pairs));
	l->n += n;
	return 0;
}

/* More pairs than a chunk of them has: the order is the same for any number of threads. */
START_TEST(test_threads_and_chunks)
{
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT;
	sxt_join_docs docs = sxt_join_make(SXT_JOIN_CLUSTERED, 4001, 64, 0, &rng);
	simidx *index = make(t_path, "4x16", 0, &docs);
	struct list list[3] = { { 0 } };

	sxt_join_store(&docs, 0, docs.n, index);
	sxt_merge(index);
	taker.pairs = list_pairs;
	for (unsigned i = 0; i < 3; i++) {
		simidx_join_options o = SIMIDX_JOIN_OPTIONS_INIT;

		o.radius = 6;
		o.threads = i + 1;
		o.memory = (uint64_t)16 << 20;
		o.tmpdir = t_dir;
		o.ctx = &list[i];
		ck_assert_sx(simidx_pairs(index, NULL, &o, &taker, &sxt_err), SIMIDX_OK);
		sxt_must_gt(list[i].n, 70000); /* several chunks: see PAIR_BYTES */
		sxt_must_eq(list[i].n, list[0].n);
		sxt_must(!memcmp(list[i].at, list[0].at, list[0].n * sizeof(*list[0].at)));
	}
	check(index, NULL, &docs, NULL, 6, 0, 2, NULL);
	for (unsigned i = 0; i < 3; i++)
		free(list[i].at);
	simidx_close(index);
	free(docs.at);
}
END_TEST

/* Of texts it is 7, and 3 where there are more than 100 million; of other fingerprints 3. */
START_TEST(test_default_radius)
{
	sxt_join_docs docs = sxt_join_make(SXT_JOIN_CLUSTERED, 401, 64, 0, &rng);
	const uint64_t as_many = 401, fewer = 400;
	const struct {
		uint64_t many_texts;
		unsigned flags, radius;
	} all[] = { { 0, 0, 3 }, { 0, SIMIDX_JOIN_TEXT, 7 }, { as_many, SIMIDX_JOIN_TEXT, 7 },
		    { fewer, SIMIDX_JOIN_TEXT, 3 }, { as_many, 0, 3 } };
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT;
	simidx *index = make(t_path, "4x16", 0, &docs);

	taker.pairs = sxt_join_take;
	sxt_join_store(&docs, 0, docs.n, index);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		sxt_join_pairs got, want;
		simidx_join_options o =
			options_of(&got, SIMIDX_JOIN_DEFAULT_RADIUS, all[i].flags, 1);

		index->tuning.join = (sx_join_tuning){ .method = all[i].many_texts ? 1 : 0,
						       .many_texts = all[i].many_texts };
		sxt_must_ok(simidx_pairs(index, NULL, &o, &taker, &sxt_err));
		sxt_must_eq(got.planned.radius, all[i].radius);
		sxt_must_eq(got.planned.radius2, SIMIDX_JOIN_NO_RADIUS2);
		o.radius = all[i].radius;
		want = sxt_join_expect(&docs, NULL, &o);
		sxt_must_eq(got.n, want.n);
		free(got.at);
		free(want.at);
	}
	simidx_close(index);
	free(docs.at);
}
END_TEST

/* Of both fingerprints together: 0 are equal ones. */
START_TEST(test_radius_of_both)
{
	sxt_join_docs docs = sxt_join_make(SXT_JOIN_CLUSTERED, 801, 64, SIMIDX_CREATE_FP2, &rng);
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT;
	simidx *index;
	size_t before = 0;

	for (size_t i = 0; i + 1 < docs.n; i += 9) {
		docs.at[i + 1].fp2 = docs.at[i].fp2;
		docs.at[i + 1].fp = i % 2 ? docs.at[i].fp : docs.at[i].fp ^ 1;
	}
	index = make(t_path, "4x16", 0, &docs);
	taker.pairs = sxt_join_take;
	sxt_join_store(&docs, 0, docs.n, index);
	for (unsigned radius2 = 0; radius2 < 4; radius2++) {
		sxt_join_pairs got, want;
		simidx_join_options o = options_of(&got, 3, SIMIDX_JOIN_FP2, 1);

		o.radius2 = radius2;
		sxt_must_ok(simidx_pairs(index, NULL, &o, &taker, &sxt_err));
		sxt_must_eq(got.planned.radius2, radius2);
		want = sxt_join_expect(&docs, NULL, &o);
		sxt_join_sort(&got);
		sxt_join_check(&got, &want);
		sxt_must_gt(want.n, before);
		before = want.n;
		free(got.at);
		free(want.at);
	}
	simidx_close(index);
	free(docs.at);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_pairs_of_every_plan, 0, SXT_N_PLANS },
	{ &test_pairs_in_every_way, 0, N_WAYS },
	{ &test_pairs_of_fewer_bits, 0, 6 },
	{ &test_fresh_rows_and_deletions, 0, SXT_N_PLANS },
	{ &test_large_buckets, 0, 24 },
	{ &test_two_indexes, 0, 4 },
	{ &test_second_fingerprints_and_empty_texts, 0, 1 },
	{ &test_pairs_by_every_kernel, 0, 4 },
	{ &test_without_ids, 0, 1 },
	{ &test_ends, 0, 1 },
	{ &test_unknown_second_fingerprints, 0, 1 },
	{ &test_threads_and_chunks, 0, 1 },
	{ &test_default_radius, 0, 1 },
	{ &test_radius_of_both, 0, 1 },
};

SXT_SUITE(join, set_up, sxt_tear_down);
