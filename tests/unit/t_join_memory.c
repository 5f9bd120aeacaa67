/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Joins of more fingerprints than the memory of the options has room for.
 */

#include <stdlib.h>
#include <string.h>

#include <simidx_load.h>

#include "support/sxt_fixture.h"
#include "support/sxt_join.h"
#include "util/sx_alloc.h"

static sxt_rng rng;

static void set_up(void)
{
	sxt_set_up_path();
	sxt_rng_init(&rng, 1402);
}

static simidx *load(const char *path, const char *plan, const uint64_t *fp, size_t n)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_loader *loader;
	simidx *index;

	create.flags = SIMIDX_CREATE_NO_IDS; /* each fingerprint counts once */
	create.plan = plan;
	sxt_must_ok(simidx_loader_open(path, &create, NULL, &loader, &sxt_err));
	for (size_t i = 0; i < n; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.fp = fp[i];
		sxt_must_ok(simidx_loader_put(loader, &doc, NULL, &sxt_err));
	}
	sxt_must_ok(simidx_loader_finish(loader, NULL, &sxt_err));
	simidx_loader_close(loader);
	sxt_must_ok(simidx_open(path, NULL, &index, &sxt_err));
	return index;
}

static int by_pair(const void *a, const void *b)
{
	return memcmp(a, b, 2 * sizeof(uint64_t));
}

static uint64_t group_mask;

static int by_group(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a & group_mask, y = *(const uint64_t *)b & group_mask;

	return x < y ? -1 : x > y;
}

/*
 * Fingerprints that have 16 bits in common, and those of their pairs within 3 bits: each agrees in
 * 12 of the others, so only those with equal ones are compared. Returns how many pairs.
 */
static size_t expect_near(uint64_t *fp, size_t n, unsigned common, uint64_t (*pair)[2], size_t room)
{
	size_t found = 0, distinct = 0;

	for (unsigned i = 0; i < 4; i++) {
		/* of 48 bits, among which the common ones stand */
		uint64_t low = UINT64_C(0xfff) << 12 * i;
		uint64_t below = (UINT64_C(1) << common) - 1;

		group_mask = (low & below) | (low & ~below) << 16;
		qsort(fp, n, sizeof(*fp), by_group);
		for (size_t a = 0; a < n; a++)
			for (size_t b = a + 1; b < n && !((fp[a] ^ fp[b]) & group_mask); b++) {
				if (fp[a] == fp[b] || __builtin_popcountll(fp[a] ^ fp[b]) > 3)
					continue;
				sxt_must_lt(found, room);
				pair[found][0] = fp[a] < fp[b] ? fp[a] : fp[b];
				pair[found++][1] = fp[a] < fp[b] ? fp[b] : fp[a];
			}
	}
	qsort(pair, found, sizeof(*pair), by_pair);
	for (size_t i = 0; i < found; i++)
		if (!i || by_pair(pair[i], pair[distinct - 1]))
			memcpy(pair[distinct++], pair[i], sizeof(*pair));
	return distinct;
}

/* 150,000 fingerprints of one bucket, for which 16 MiB and four threads have room for 43,690. */
START_TEST(test_large_buckets_in_little_memory)
{
	enum { N = 150000, ROOM = 200000 };
	static const char *const plan[] = { "4x16", "3x22", "2x32" };
	unsigned common = 16 * ((unsigned)_i % 4);
	uint64_t *fp = sx_calloc(N, sizeof(*fp));
	uint64_t (*pair)[2] = sx_calloc(ROOM, sizeof(*pair)), (*mine)[2];
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT;
	simidx_join_options o = SIMIDX_JOIN_OPTIONS_INIT;
	sxt_join_pairs got = { 0 };
	simidx *index;
	size_t n;

	for (size_t i = 0; i < N; i++) {
		fp[i] = i % 3 ? sxt_rng_u64(&rng)
			      : sxt_rng_flip(&rng, fp[i / 2], 64, (unsigned)(i % 5));
		fp[i] &= ~(UINT64_C(0xffff) << common);
		fp[i] |= UINT64_C(0x5a7c) << common;
	}
	index = load(t_path, plan[_i / 4], fp, N);
	o.radius = 3;
	o.threads = 4;
	o.memory = (uint64_t)16 << 20;
	o.tmpdir = t_dir;
	o.ctx = &got;
	taker.pairs = sxt_join_take;
	sxt_must_ok(simidx_pairs(index, NULL, &o, &taker, &sxt_err));
	n = expect_near(fp, N, common, pair, ROOM);
	sxt_must_gt(n, 20000);
	sxt_must_eq(got.n, n);
	mine = sx_calloc(n, sizeof(*mine));
	for (size_t i = 0; i < n; i++) {
		mine[i][0] = got.at[i].fp_a < got.at[i].fp_b ? got.at[i].fp_a : got.at[i].fp_b;
		mine[i][1] = got.at[i].fp_a ^ got.at[i].fp_b ^ mine[i][0];
	}
	qsort(mine, n, sizeof(*mine), by_pair);
	sxt_must(!memcmp(mine, pair, n * sizeof(*mine)));
	simidx_close(index);
	free(mine);
	free(got.at);
	free(fp);
	free(pair);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_large_buckets_in_little_memory, 0, 12 },
};

SXT_SUITE(join_memory, set_up, sxt_tear_down);
