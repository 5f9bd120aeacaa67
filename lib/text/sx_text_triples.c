/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text_triples.h"

#include <stdlib.h>
#include <string.h>

#include "text/sx_text_weight.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

/* A text begins with a slot for this many bytes of it, within these limits. */
#define BYTES_PER_SLOT 3
#define MIN_SLOTS 64
#define MAX_FIRST_SLOTS 65536

/* Runs that are put together, so that waits for memory overlap. */
#define AT_ONCE 32

#define WEIGHT ((uint32_t)1 << 16)

/* 2^64 divided by the golden ratio: odd, so that the bits of all three tokens count. */
#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

/** There is room. Without a branch on whether it is there, which cannot be predicted. */
static void put(sx_triples *triples, uint64_t hash)
{
	uint64_t *slot = triples->slot, key = hash + !hash;
	size_t i = key & (triples->n_slots - 1);

	while (slot[i] && slot[i] != key)
		i = (i + 1) & (triples->n_slots - 1);
	triples->list[triples->n] = (simidx_feature){ hash, WEIGHT, 0 };
	triples->n += !slot[i];
	slot[i] = key;
}

static int set_slots(sx_triples *triples, size_t n_slots, simidx_error *err)
{
	size_t n = triples->n;

	if (n_slots > triples->slot_room) {
		free(triples->slot);
		triples->slot = sx_alloc_lines(n_slots, sizeof(*triples->slot));
		triples->slot_room = triples->slot ? n_slots : 0;
	}
	if (!triples->slot)
		return sx_fail_nomem(err);
	memset(triples->slot, 0, n_slots * sizeof(*triples->slot));
	triples->n_slots = n_slots;
	/* Each goes to where it is in the list already. */
	for (triples->n = 0; triples->n < n;)
		put(triples, triples->list[triples->n].hash);
	return SIMIDX_OK;
}

int sx_triples_narrow(sx_triples *triples, sx_part part, simidx_error *err)
{
	size_t n = 0;

	triples->part = part;
	for (size_t i = 0; i < triples->n; i++) {
		triples->list[n] = triples->list[i];
		n += sx_part_has(part, triples->list[i].hash);
	}
	triples->n = n;
	return set_slots(triples, triples->n_slots, err);
}

/** Make room for `more`: in more slots, or by less that is added. */
static int reserve(sx_triples *triples, size_t more, simidx_error *err)
{
	size_t n_slots = triples->n_slots;
	int rc = SIMIDX_OK;

	while (!rc && n_slots < 2 * (triples->n + more)) {
		if (n_slots == triples->most_slots)
			rc = sx_triples_narrow(triples, sx_part_half(triples->part), err);
		else
			n_slots *= 2;
	}
	if (rc)
		return rc;
	if (sx_reserve(&triples->list, &triples->room, triples->n + more, sizeof(*triples->list)))
		return sx_fail_nomem(err);
	return n_slots > triples->n_slots ? set_slots(triples, n_slots, err) : SIMIDX_OK;
}

int sx_triples_begin(sx_triples *triples, size_t text_size, sx_part part, simidx_error *err)
{
	size_t n_slots = MIN_SLOTS;

	while (n_slots < text_size / BYTES_PER_SLOT && n_slots < MAX_FIRST_SLOTS &&
	       n_slots != triples->most_slots)
		n_slots *= 2;
	triples->n = 0;
	triples->n_tokens = 0;
	triples->last[0] = triples->last[1] = 0;
	triples->part = part;
	return set_slots(triples, n_slots, err);
}

/** The hash of a run, of those of its tokens; of one or two where the first ones are 0. */
static uint64_t of_run(uint64_t first, uint64_t second, uint64_t third)
{
	return sx_mix((first * FACTOR + second) * FACTOR + third);
}

/** Add the runs that end with n <= AT_ONCE tokens, for which there is room. */
static void add_some(sx_triples *triples, const uint64_t *token, size_t n)
{
	uint64_t hash[AT_ONCE], first = triples->last[0], second = triples->last[1];
	size_t n_runs = 0;

	for (size_t i = 0; i < n; i++) {
		hash[n_runs] = of_run(first, second, token[i]);
		__builtin_prefetch(&triples->slot[hash[n_runs] & (triples->n_slots - 1)]);
		n_runs += (++triples->n_tokens > 2) & sx_part_has(triples->part, hash[n_runs]);
		first = second;
		second = token[i];
	}
	for (size_t i = 0; i < n_runs; i++)
		put(triples, hash[i]);
	triples->last[0] = first;
	triples->last[1] = second;
}

int sx_triples_add(sx_triples *triples, const uint64_t *token, size_t n, simidx_error *err)
{
	int rc = reserve(triples, n, err);

	for (size_t i = 0; i < n && !rc; i += AT_ONCE)
		add_some(triples, token + i, n - i < AT_ONCE ? n - i : AT_ONCE);
	return rc;
}

int sx_triples_finish(sx_triples *triples, uint64_t seed, simidx_error *err)
{
	int rc = SIMIDX_OK;

	if (triples->n_tokens && triples->n_tokens < 3) {
		rc = reserve(triples, 1, err);
		if (!rc)
			put(triples, of_run(0, triples->last[0], triples->last[1]));
	}
	for (size_t i = 0; seed && i < triples->n; i++)
		triples->list[i].hash = sx_seeded(triples->list[i].hash, seed);
	return rc;
}

size_t sx_triples_bytes(const sx_triples *triples)
{
	return triples->room * sizeof(*triples->list) + triples->slot_room * sizeof(*triples->slot);
}

void sx_triples_free(sx_triples *triples)
{
	free(triples->list);
	free(triples->slot);
	memset(triples, 0, sizeof(*triples));
}
