/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_prefixes.h"

#include <pthread.h>
#include <stdlib.h>

#include "util/sx_alloc.h"

#define LOCKS 64

/* A text: all zero is none. */
struct slot {
	uint64_t handle;
	uint32_t n; /* shingles of the text */
	uint32_t hash[SD_PREFIX]; /* the upper halves of the smallest ones, ascending */
};

struct sd_prefixes {
	pthread_mutex_t lock[LOCKS]; /* of each slot, by its number */
	size_t n;
	struct slot *slot; /* by the remainder of the handle: recent texts stay together */
};

struct sd_prefixes *sd_prefixes_new(uint64_t bytes)
{
	struct sd_prefixes *p = sx_calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	for (unsigned i = 0; i < LOCKS; i++)
		pthread_mutex_init(&p->lock[i], NULL);
	p->n = bytes / sizeof(*p->slot) ? (size_t)(bytes / sizeof(*p->slot)) : 1;
	p->slot = sx_calloc(p->n, sizeof(*p->slot));
	if (p->slot)
		return p;
	sd_prefixes_free(p);
	return NULL;
}

void sd_prefixes_free(struct sd_prefixes *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < LOCKS; i++)
		pthread_mutex_destroy(&p->lock[i]);
	free(p->slot);
	free(p);
}

static uint32_t upper(uint64_t hash)
{
	return (uint32_t)(hash >> 32);
}

void sd_prefixes_put(struct sd_prefixes *p, uint64_t handle, const struct sd_shingles *set)
{
	size_t at = (size_t)(handle % p->n), n = set->n < SD_PREFIX ? set->n : SD_PREFIX;
	struct slot *slot = &p->slot[at];

	if (!set->n)
		return;
	pthread_mutex_lock(&p->lock[at % LOCKS]);
	slot->handle = handle;
	slot->n = (uint32_t)set->n;
	for (size_t i = 0; i < n; i++)
		slot->hash[i] = upper(set->hash[i]);
	pthread_mutex_unlock(&p->lock[at % LOCKS]);
}

/* How many of a and b shingles must be in both for this similarity: more than there are, if none
   are enough. */
static size_t least_common(size_t a, size_t b, double similarity)
{
	size_t most = a < b ? a : b;
	size_t n = (size_t)(similarity / (1 + similarity) * (double)(a + b));

	/* The quotient is rounded as in sd_shingles_jaccard(). */
	n = n > 2 ? n - 2 : 0;
	while (n <= most && (double)n / (double)(a + b - n) < similarity)
		n++;
	return n;
}

static int excludes(const struct slot *slot, const struct sd_shingles *set, double similarity)
{
	size_t a = set->n, b = slot->n, known = b < SD_PREFIX ? b : SD_PREFIX;
	size_t need = least_common(a, b, similarity), i = 0, j = 0, both = 0;

	for (;;) {
		size_t left = a - i < b - j ? a - i : b - j;
		uint32_t x, y;

		if (both + left < need)
			return 1;
		if (i == a || j == known)
			return 0;
		x = upper(set->hash[i]);
		y = slot->hash[j];
		both += x == y;
		i += x <= y;
		j += y <= x;
	}
}

int sd_prefixes_exclude(struct sd_prefixes *p, uint64_t handle, const struct sd_shingles *set,
			double similarity)
{
	size_t at = (size_t)(handle % p->n);
	const struct slot *slot = &p->slot[at];
	int rc;

	pthread_mutex_lock(&p->lock[at % LOCKS]);
	rc = slot->n && slot->handle == handle && set->n && excludes(slot, set, similarity);
	pthread_mutex_unlock(&p->lock[at % LOCKS]);
	return rc;
}
