/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text_features.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

/* A text begins with a slot for this many bytes of it, within these limits. */
#define BYTES_PER_SLOT 4
#define MIN_SLOTS 256
#define MAX_FIRST_SLOTS 65536

/* Words that are counted together, so that waits for memory overlap. */
#define AT_ONCE 32

int sx_features_begin(sx_features *features, size_t text_size, sx_part part, simidx_error *err)
{
	size_t n_slots = MIN_SLOTS;
	simidx_feature *slot;

	while (n_slots < text_size / BYTES_PER_SLOT && n_slots < MAX_FIRST_SLOTS &&
	       n_slots != features->most_slots)
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
	features->part = part;
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

int sx_features_narrow(sx_features *features, sx_part part, simidx_error *err)
{
	simidx_feature *slot = features->slot, *left;
	size_t n = 0;

	features->part = part;
	for (size_t i = 0; i < features->n_slots; i++)
		n += slot[i].weight && sx_part_has(part, slot[i].hash);
	left = sx_calloc(n, sizeof(*left));
	if (!left)
		return sx_fail_nomem(err);
	n = 0;
	for (size_t i = 0; i < features->n_slots; i++)
		if (slot[i].weight && sx_part_has(part, slot[i].hash))
			left[n++] = slot[i];
	memset(slot, 0, features->n_slots * sizeof(*slot));
	for (size_t i = 0; i < n; i++)
		*find(slot, features->n_slots, left[i].hash) = left[i];
	features->n = n;
	free(left);
	return SIMIDX_OK;
}

/** Have more room: more slots, or less that is counted. */
static int grow(sx_features *features, simidx_error *err)
{
	size_t n_slots = features->n_slots * 2;
	simidx_feature *slot;
	size_t i;

	if (features->n_slots == features->most_slots)
		return sx_features_narrow(features, sx_part_half(features->part), err);
	slot = sx_alloc_lines(n_slots, sizeof(*slot));
	if (!slot)
		return sx_fail_nomem(err);
	memset(slot, 0, n_slots * sizeof(*slot));
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

static void add(sx_features *features, uint64_t hash)
{
	simidx_feature *feature;

	if (!sx_part_has(features->part, hash))
		return;
	feature = find(features->slot, features->n_slots, hash);
	/* A text of 2^30 bytes cannot hold anything 2^32 times. */
	if (!feature->weight++) {
		feature->hash = hash;
		features->n++;
	}
}

int sx_features_add(sx_features *features, const char *bytes, size_t size, sx_gram_names *names,
		    simidx_error *err)
{
	uint64_t hash = simidx_feature_hash(bytes, size);
	size_t n = features->n;
	int rc = SIMIDX_OK;

	while (!rc && features->n + 1 > features->n_slots - features->n_slots / 4)
		rc = grow(features, err);
	if (rc)
		return rc;
	add(features, hash);
	if (!names || features->n == n)
		return SIMIDX_OK;
	return sx_gram_names_add(names, hash, bytes, size, err);
}

int sx_features_count(sx_features *features, const sx_words *words, simidx_error *err)
{
	uint64_t hash[2 * AT_ONCE];
	size_t i = words->n_old, start;
	int rc;

	while (i < words->n) {
		size_t n = 0, end = i + AT_ONCE < words->n ? i + AT_ONCE : words->n;

		/* All of them must leave a quarter of the slots free. */
		while (features->n + 2 * AT_ONCE > features->n_slots - features->n_slots / 4) {
			rc = grow(features, err);
			if (rc)
				return rc;
		}
		for (; i < end; i++) {
			hash[n++] = words->hash[i];
			if (!i)
				continue;
			start = sx_words_start(words, i - 1);
			hash[n++] = simidx_feature_hash(words->bytes + start,
							words->end[i] - start);
			__builtin_prefetch(&features->slot[hash[n - 2] & (features->n_slots - 1)]);
			__builtin_prefetch(&features->slot[hash[n - 1] & (features->n_slots - 1)]);
		}
		for (size_t k = 0; k < n; k++)
			add(features, hash[k]);
	}
	features->n_words += words->n - words->n_old;
	return SIMIDX_OK;
}

/* ------------------------------------------------------------------------------------------
 * Names
 */

int sx_gram_names_add(sx_gram_names *names, uint64_t hash, const char *bytes, size_t size,
		 simidx_error *err)
{
	struct sx_gram_name *name;

	if (sx_reserve(&names->name, &names->room, names->n + 1, sizeof(*names->name)))
		return sx_fail_nomem(err);
	name = &names->name[names->n++];
	name->hash = hash;
	name->offset = names->bytes.n;
	name->size = size;
	return sx_bytes_add(&names->bytes, bytes, size, err);
}

static int compare_names(const void *a, const void *b)
{
	const struct sx_gram_name *x = a, *y = b;

	return (x->hash > y->hash) - (x->hash < y->hash);
}

void sx_gram_names_sort(sx_gram_names *names)
{
	if (names->n)
		qsort(names->name, names->n, sizeof(*names->name), compare_names);
}

const struct sx_gram_name *sx_gram_names_find(const sx_gram_names *names, uint64_t hash)
{
	struct sx_gram_name key = { hash, 0, 0 };

	return names->n ? bsearch(&key, names->name, names->n, sizeof(key), compare_names) : NULL;
}

void sx_gram_names_free(sx_gram_names *names)
{
	free(names->bytes.at);
	free(names->name);
	memset(names, 0, sizeof(*names));
}
