/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_first.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

#define FIRST_SLOT_BITS 13
#define MOST_SLOT_BITS 32

/* 2^64 divided by the golden ratio. */
#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

/*
 * A slot has the tag of a hash in its low 32 bits, then the id of a document, and in the last two
 * bits how many texts it has led in vain. A free slot has no tag. A hash has the slot that its tag
 * says, or the next free one.
 */
#define ID_AT 32
#define ID_BITS 30
#define IN_VAIN_AT (ID_AT + ID_BITS)

struct sd_first {
	uint64_t *slot;      /* 2^bits of them, or NULL */
	unsigned bits;
	uint64_t n;          /* taken */
	uint64_t most_slots; /* while one table is copied into the next, too */
	uint32_t *changed;   /* tags of slots that have changed, where that is asked for */
	size_t n_changed, changed_room;
	int notes_changes;
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
	free(first->changed);
	free(first);
}

static uint64_t slots_of(const struct sd_first *first)
{
	return first->slot ? (uint64_t)1 << first->bits : 0;
}

static int is_full(const struct sd_first *first)
{
	return first->n >= slots_of(first) / 4 * 3;
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
static uint64_t *slot_of(const struct sd_first *first, uint32_t tag)
{
	uint64_t i = place_of(first, tag), last = slots_of(first) - 1;

	while (first->slot[i] && (uint32_t)first->slot[i] != tag)
		i = (i + 1) & last;
	return &first->slot[i];
}

/* Have 2^bits free slots. */
static int make_slots(struct sd_first *first, unsigned bits)
{
	uint64_t n = (uint64_t)1 << bits;

	first->slot = sx_alloc_lines(n, sizeof(*first->slot));
	if (!first->slot)
		return -1;
	memset(first->slot, 0, n * sizeof(*first->slot));
	first->bits = bits;
	return 0;
}

/* Have a free slot of every four, unless there is no memory for that. */
static int make_room(struct sd_first *first, simidx_error *err)
{
	struct sd_first larger = *first;
	unsigned bits = first->slot ? first->bits + 1 : FIRST_SLOT_BITS;

	if (first->n + 1 <= slots_of(first) / 4 * 3 || bits > MOST_SLOT_BITS ||
	    slots_of(first) + ((uint64_t)1 << bits) > first->most_slots)
		return SIMIDX_OK;
	if (make_slots(&larger, bits))
		return sx_fail_nomem(err);
	for (uint64_t i = 0; i < slots_of(first); i++)
		if (first->slot[i])
			*slot_of(&larger, (uint32_t)first->slot[i]) = first->slot[i];
	free(first->slot);
	*first = larger;
	return SIMIDX_OK;
}

static int note_change(struct sd_first *first, uint32_t tag, simidx_error *err)
{
	if (!first->notes_changes)
		return SIMIDX_OK;
	if (sx_reserve(&first->changed, &first->changed_room, first->n_changed + 1,
		       sizeof(*first->changed)))
		return sx_fail_nomem(err);
	first->changed[first->n_changed++] = tag;
	return SIMIDX_OK;
}

int sd_first_add(struct sd_first *first, uint64_t hash, uint64_t id, simidx_error *err)
{
	int rc = make_room(first, err);
	uint64_t *slot;

	if (rc || id >> ID_BITS || is_full(first))
		return rc;
	slot = slot_of(first, tag_of(hash));
	if (*slot)
		return SIMIDX_OK;
	*slot = id << ID_AT | tag_of(hash);
	first->n++;
	return note_change(first, tag_of(hash), err);
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
		uint64_t slot = *slot_of(first, tag_of(least));

		if (!slot || slot >> IN_VAIN_AT == SD_FIRST_MOST_IN_VAIN)
			continue;
		*hash = least;
		*id = slot >> ID_AT & (((uint64_t)1 << ID_BITS) - 1);
		return 1;
	}
	return 0;
}

int sd_first_in_vain(struct sd_first *first, uint64_t hash, simidx_error *err)
{
	*slot_of(first, tag_of(hash)) += (uint64_t)1 << IN_VAIN_AT;
	return note_change(first, tag_of(hash), err);
}

/* ---- for a file ---- */

uint64_t *sd_first_slots(struct sd_first *first, uint64_t n)
{
	unsigned bits = FIRST_SLOT_BITS;

	while (bits < MOST_SLOT_BITS && (uint64_t)1 << bits < n)
		bits++;
	if (first->slot || (uint64_t)1 << bits != n || n > first->most_slots ||
	    make_slots(first, bits))
		return NULL;
	return first->slot;
}

int sd_first_count(struct sd_first *first)
{
	first->n = 0;
	for (uint64_t i = 0; i < slots_of(first); i++)
		first->n += first->slot[i] != 0;
	return first->n > slots_of(first) / 4 * 3 ? -1 : 0;
}

const uint64_t *sd_first_table(const struct sd_first *first, uint64_t *n)
{
	*n = slots_of(first);
	return first->slot;
}

int sd_first_set(struct sd_first *first, uint64_t slot, simidx_error *err)
{
	int rc = make_room(first, err);
	uint64_t *own;

	if (rc || !(uint32_t)slot || is_full(first))
		return rc;
	own = slot_of(first, (uint32_t)slot);
	first->n += !*own;
	*own = slot;
	return SIMIDX_OK;
}

void sd_first_note_changes(struct sd_first *first, int on)
{
	first->notes_changes = on;
	first->n_changed = 0;
}

size_t sd_first_changed(const struct sd_first *first)
{
	return first->n_changed;
}

void sd_first_take_changed(struct sd_first *first, uint64_t *slot)
{
	for (size_t i = 0; i < first->n_changed; i++)
		slot[i] = *slot_of(first, first->changed[i]);
	first->n_changed = 0;
}
