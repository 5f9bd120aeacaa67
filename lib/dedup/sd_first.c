/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_first.h"

#include <stdlib.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

#define FIRST_SLOT_BITS 13
#define MOST_SLOT_BITS 32

/* 2^64 divided by the golden ratio. */
#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

#define ID_BITS 30

/* A free slot has no tag. A hash has the slot that its tag says, or the next free one. */
struct slot {
	uint32_t tag;
	uint32_t id : ID_BITS;
	uint32_t in_vain : 32 - ID_BITS;
};

struct sd_first {
	struct slot *slot;   /* 2^bits of them, or NULL */
	unsigned bits;
	uint64_t n;          /* taken */
	uint64_t most_slots; /* while one table is copied into the next, too */
};

struct sd_first *sd_first_open(uint64_t most_bytes)
{
	struct sd_first *first = sx_calloc(1, sizeof(*first));

	if (first)
		first->most_slots = most_bytes / sizeof(*first->slot);
	return first;
}

void sd_first_close(struct sd_first *first)
{
	if (!first)
		return;
	free(first->slot);
	free(first);
}

static uint64_t slots_of(const struct sd_first *first)
{
	return first->slot ? (uint64_t)1 << first->bits : 0;
}

/* The first bits of the least hashes are the same in most; the last ones are as good as any. */
static uint32_t tag_of(uint64_t hash)
{
	return (uint32_t)hash ? (uint32_t)hash : 1;
}

static uint64_t place_of(const struct sd_first *first, uint32_t tag)
{
	return tag * FACTOR >> (64 - first->bits);
}

/* The slot of a tag, or the free one that it gets. */
static struct slot *slot_of(const struct sd_first *first, uint32_t tag)
{
	uint64_t i = place_of(first, tag), last = slots_of(first) - 1;

	while (first->slot[i].tag && first->slot[i].tag != tag)
		i = (i + 1) & last;
	return &first->slot[i];
}

/* Have a free slot of every four, unless there is no memory for that. */
static int make_room(struct sd_first *first, simidx_error *err)
{
	struct sd_first larger = *first;

	larger.bits = first->slot ? first->bits + 1 : FIRST_SLOT_BITS;
	if (first->n + 1 <= slots_of(first) / 4 * 3 || larger.bits > MOST_SLOT_BITS ||
	    slots_of(first) + ((uint64_t)1 << larger.bits) > first->most_slots)
		return SIMIDX_OK;
	larger.slot = sx_calloc((size_t)1 << larger.bits, sizeof(*larger.slot));
	if (!larger.slot)
		return sx_fail_nomem(err);
	for (uint64_t i = 0; i < slots_of(first); i++)
		if (first->slot[i].tag)
			*slot_of(&larger, first->slot[i].tag) = first->slot[i];
	free(first->slot);
	*first = larger;
	return SIMIDX_OK;
}

int sd_first_add(struct sd_first *first, uint64_t hash, uint64_t id, simidx_error *err)
{
	int rc = make_room(first, err);
	struct slot *slot;

	if (rc || id >> ID_BITS || first->n >= slots_of(first) / 4 * 3)
		return rc;
	slot = slot_of(first, tag_of(hash));
	if (slot->tag)
		return SIMIDX_OK;
	*slot = (struct slot){ tag_of(hash), (uint32_t)id, 0 };
	first->n++;
	return SIMIDX_OK;
}

int sd_first_find(const struct sd_first *first, const simidx_sketch *sketch, size_t *at,
		  uint64_t *hash, uint64_t *id)
{
	if (!first->slot)
		return 0;
	for (size_t i = 0; !*at && i < sketch->n_least; i++)
		__builtin_prefetch(&first->slot[place_of(first, tag_of(sketch->least[i]))]);
	while (*at < sketch->n_least) {
		uint64_t least = sketch->least[(*at)++];
		const struct slot *slot = slot_of(first, tag_of(least));

		if (!slot->tag || slot->in_vain == SD_FIRST_MOST_IN_VAIN)
			continue;
		*hash = least;
		*id = slot->id;
		return 1;
	}
	return 0;
}

void sd_first_in_vain(struct sd_first *first, uint64_t hash)
{
	slot_of(first, tag_of(hash))->in_vain++;
}
