/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

/* A text begins with a slot for this many bytes of it, within these limits. */
#define BYTES_PER_SLOT 4
#define MIN_SLOTS 256
#define MAX_FIRST_SLOTS 65536

uint32_t sx_sqrt_weight(uint32_t count)
{
	uint64_t rest = (uint64_t)count << 32;
	uint64_t root = 0, bit = (uint64_t)1 << 62;

	if (count == 1)
		return (uint32_t)1 << 16;
	/* Bit by bit, from the top: floor(sqrt(count * 2^32)). */
	while (bit > rest)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (rest >= root + bit) {
			rest -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (uint32_t)root;
}

int sx_features_begin(sx_features *features, size_t text_size, simidx_error *err)
{
	size_t n_slots = MIN_SLOTS;
	simidx_feature *slot;

	while (n_slots < text_size / BYTES_PER_SLOT && n_slots < MAX_FIRST_SLOTS)
		n_slots *= 2;
	if (n_slots > features->room) {
		slot = sx_realloc(features->slot, n_slots, sizeof(*slot));
		if (!slot)
			return sx_fail_nomem(err);
		features->slot = slot;
		features->room = n_slots;
	}
	/* Only what is used is cleared, so that a large text does not slow down small ones. */
	memset(features->slot, 0, n_slots * sizeof(*features->slot));
	features->n_slots = n_slots;
	features->n = 0;
	features->n_words = 0;
	return SIMIDX_OK;
}

/** The slot of a hash, or the free one where it belongs. */
static simidx_feature *find(simidx_feature *slot, size_t n_slots, uint64_t hash)
{
	size_t i = hash & (n_slots - 1);

	while (slot[i].weight && slot[i].hash != hash)
		i = (i + 1) & (n_slots - 1);
	return &slot[i];
}

static int grow(sx_features *features, simidx_error *err)
{
	size_t n_slots = features->n_slots * 2;
	simidx_feature *slot;
	size_t i;

	slot = sx_calloc(n_slots, sizeof(*slot));
	if (!slot)
		return sx_fail_nomem(err);
	for (i = 0; i < features->n_slots; i++) {
		if (features->slot[i].weight)
			*find(slot, n_slots, features->slot[i].hash) = features->slot[i];
	}
	free(features->slot);
	features->slot = slot;
	features->room = n_slots;
	features->n_slots = n_slots;
	return SIMIDX_OK;
}

static void add(sx_features *features, const char *bytes, size_t size)
{
	uint64_t hash = simidx_hash_bytes(bytes, size);
	simidx_feature *feature = find(features->slot, features->n_slots, hash);

	/* A text of 2^30 bytes cannot hold anything 2^32 times. */
	if (!feature->weight++) {
		feature->hash = hash;
		features->n++;
	}
}

int sx_features_count(sx_features *features, const sx_words *words, simidx_error *err)
{
	size_t i, start, end;
	int rc;

	for (i = words->n_old; i < words->n; i++) {
		/* Two more must leave a quarter of the slots free. */
		if (features->n + 2 > features->n_slots - features->n_slots / 4) {
			rc = grow(features, err);
			if (rc)
				return rc;
		}
		start = sx_words_start(words, i);
		end = words->end[i];
		add(features, words->bytes + start, end - start);
		if (i) {
			start = sx_words_start(words, i - 1);
			add(features, words->bytes + start, end - start);
		}
	}
	features->n_words += words->n - words->n_old;
	return SIMIDX_OK;
}

/** The weight of a count; those of small counts are worked out once a handle. */
static uint32_t weight_of(sx_features *features, uint32_t count)
{
	if (count >= SX_SMALL_COUNTS)
		return sx_sqrt_weight(count);
	if (!features->weight_of[count])
		features->weight_of[count] = sx_sqrt_weight(count);
	return features->weight_of[count];
}

void sx_features_finish(sx_features *features)
{
	simidx_feature *slot = features->slot;
	size_t i, n = 0;

	/* No branches: which slots are free cannot be predicted. */
	for (i = 0; i < features->n_slots; i++) {
		slot[n] = slot[i];
		n += slot[i].weight != 0;
	}
	for (i = 0; i < n; i++)
		slot[i].weight = weight_of(features, slot[i].weight);
}
