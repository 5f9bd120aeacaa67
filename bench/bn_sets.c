/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "bn_sets.h"

#include <stdlib.h>
#include <string.h>

#include <simidx_sketch.h>

#include "bn_util.h"

#define CLUSTER 20
#define MAX_BLOCKS3 30000
#define MAX_HOT5M 5000000
#define HOT_QUERIES 1000
#define HOT_EQUAL_QUERIES 200 /* each has 2 % of the documents as its answer */

static const uint64_t hot = 0xabcd1234567890efu; /* the hot fingerprint, prefix or blocks */

/* Flip exactly `flips` of the bits in `where`. */
static uint64_t flip(uint64_t fp, unsigned flips, uint64_t where, uint64_t *random)
{
	uint64_t mask = 0;

	while (flips) {
		uint64_t bit = (uint64_t)1 << bn_random(random) % 64;

		if (!(bit & where) || bit & mask)
			continue;
		mask |= bit;
		flips--;
	}
	return fp ^ mask;
}

/* Each fills the first documents with what is special and returns how many these are. */

static uint64_t fill_uniform(uint64_t *fp, uint64_t n, uint64_t *random)
{
	(void)fp;
	(void)n;
	(void)random;
	return 0;
}

static uint64_t fill_clustered(uint64_t *fp, uint64_t n, uint64_t *random)
{
	uint64_t some = n * 3 / 10, base = 0;

	for (uint64_t i = 0; i < some; i++) {
		if (i % CLUSTER == 0)
			base = bn_random(random);
		fp[i] = flip(base, bn_random(random) % 4, UINT64_MAX, random);
	}
	return some;
}

static uint64_t fill_hot16(uint64_t *fp, uint64_t n, uint64_t *random)
{
	for (uint64_t i = 0; i < n / 100; i++)
		fp[i] = hot >> 48 << 48 | bn_random(random) >> 16;
	return n / 100;
}

static uint64_t fill_hot5m(uint64_t *fp, uint64_t n, uint64_t *random)
{
	uint64_t some = n / 2 < MAX_HOT5M ? n / 2 : MAX_HOT5M;

	for (uint64_t i = 0; i < some; i++)
		fp[i] = hot >> 48 << 48 | bn_random(random) >> 16;
	return some;
}

static uint64_t fill_equal(uint64_t *fp, uint64_t n, uint64_t *random)
{
	(void)random;
	for (uint64_t i = 0; i < n / 50; i++)
		fp[i] = hot;
	return n / 50;
}

/* Pairs of which the second is 1 to 3 bits apart from the first. */
static uint64_t fill_copies(uint64_t *fp, uint64_t n, uint64_t *random)
{
	uint64_t some = n / 20;

	for (uint64_t i = 0; i < some; i++) {
		fp[2 * i] = bn_random(random);
		fp[2 * i + 1] = flip(fp[2 * i], 1 + bn_random(random) % 3, UINT64_MAX, random);
	}
	return 2 * some;
}

static uint64_t fill_skewed(uint64_t *fp, uint64_t n, uint64_t *random)
{
	uint64_t some = fill_copies(fp, n, random);

	some += fill_equal(fp + some, n, random);
	return some + fill_hot16(fp + some, n, random);
}

static uint64_t fill_prefix2(uint64_t *fp, uint64_t n, uint64_t *random)
{
	uint64_t some = fill_copies(fp, n, random);

	some += fill_hot16(fp + some, n, random);
	return some + fill_hot16(fp + some, n, random);
}

static uint64_t fill_blocks3(uint64_t *fp, uint64_t n, uint64_t *random)
{
	uint64_t some = n / 100 < MAX_BLOCKS3 ? n / 100 : MAX_BLOCKS3;
	uint64_t last = bn_random(random), step = bn_random(random) | 1;

	/* An odd step visits all 65,536 values before one comes again. */
	for (uint64_t i = 0; i < some; i++)
		fp[i] = hot >> 16 << 16 | ((last += step) & 0xffff);
	return some;
}

struct kind {
	const char *name;
	uint64_t (*fill)(uint64_t *fp, uint64_t n, uint64_t *random);
	uint64_t hot_bits; /* what hot documents have in common with `hot`; 0 = nothing is hot */
	unsigned near; /* a query this far off in these bits still meets the hot documents */
	uint64_t queries;
};

static const struct kind kinds[] = {
	{ "uniform", fill_uniform, 0, 0, 0 },
	{ "clustered", fill_clustered, 0, 0, 0 },
	{ "hot16", fill_hot16, 0xffff000000000000u, 0, HOT_QUERIES },
	{ "hot5m", fill_hot5m, 0xffff000000000000u, 0, HOT_QUERIES },
	{ "equal", fill_equal, UINT64_MAX, 3, HOT_EQUAL_QUERIES },
	{ "blocks3", fill_blocks3, 0xffffffffffff0000u, 3, HOT_QUERIES },
	{ "copies", fill_copies, 0, 0, 0 },
	{ "skewed", fill_skewed, 0, 0, 0 },
	{ "prefix2", fill_prefix2, 0, 0, 0 },
};

/* Numbers that were drawn already; 0 stands for an empty slot. */
struct seen {
	uint64_t *slots, mask;
};

static int is_new(struct seen *seen, uint64_t x)
{
	uint64_t i = bn_mix(x) & seen->mask;

	while (seen->slots[i]) {
		if (seen->slots[i] == x)
			return 0;
		i = (i + 1) & seen->mask;
	}
	seen->slots[i] = x;
	return x != 0;
}

static void shuffle(uint64_t *fp, uint64_t n, uint64_t *random)
{
	for (uint64_t i = n; i > 1; i--) {
		uint64_t j = bn_random(random) % i, kept = fp[i - 1];

		fp[i - 1] = fp[j];
		fp[j] = kept;
	}
}

static int is_hot(const struct kind *kind, uint64_t fp)
{
	return kind->hot_bits &&
	       simidx_distance(fp & kind->hot_bits, hot & kind->hot_bits) <= kind->near;
}

static void fill_queries(struct bn_set *set, const struct kind *kind, uint64_t *random)
{
	struct bn_class *class = &set->classes[0];
	struct seen seen;
	uint64_t slots = 1024;

	while (slots < 4 * set->n_queries)
		slots *= 2;
	seen.slots = bn_alloc(slots, sizeof(*seen.slots));
	seen.mask = slots - 1;
	for (uint64_t i = 0; i < class->n;) {
		uint64_t fp = bn_random(random);

		if (i % 2 == 0)
			fp = flip(set->fp[fp % set->n], bn_random(random) % 4, UINT64_MAX,
				  random);
		if (!is_hot(kind, fp) && is_new(&seen, fp))
			set->query[i++] = fp;
	}
	for (uint64_t i = class->n; i < set->n_queries;) {
		uint64_t fp = set->fp[bn_random(random) % set->n];
		unsigned flips = bn_random(random) % 4;

		if (!is_hot(kind, fp))
			continue;
		fp = flip(fp, flips, kind->near ? UINT64_MAX : ~kind->hot_bits, random);
		if (is_hot(kind, fp) && is_new(&seen, fp))
			set->query[i++] = fp;
	}
	free(seen.slots);
}

void bn_set_make(struct bn_set *set, const char *name, uint64_t documents, uint64_t queries,
		 uint64_t seed)
{
	const struct kind *kind = NULL;
	uint64_t random = bn_mix(seed), i, n_hot;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, name))
			kind = &kinds[i];
	if (!kind)
		bn_die("no set is called '%s'", name);
	memset(set, 0, sizeof(*set));
	set->name = kind->name;
	set->n = documents;
	set->fp = bn_alloc(documents, sizeof(*set->fp));
	for (i = kind->fill(set->fp, documents, &random); i < documents; i++)
		set->fp[i] = bn_random(&random);
	shuffle(set->fp, documents, &random);

	n_hot = kind->queries < queries ? kind->queries : queries;
	if (documents < 100)
		n_hot = 0; /* nothing is hot there */
	set->n_queries = queries + n_hot;
	set->query = bn_alloc(set->n_queries, sizeof(*set->query));
	set->n_classes = n_hot ? 2 : 1;
	set->classes[0] = (struct bn_class){ n_hot ? "other" : "all", 0, queries };
	set->classes[1] = (struct bn_class){ "hot", queries, n_hot };
	fill_queries(set, kind, &random);
}

void bn_set_free(struct bn_set *set)
{
	free(set->fp);
	free(set->query);
}
