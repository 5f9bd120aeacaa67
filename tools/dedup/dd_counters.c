/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_counters.h"

#include <string.h>

#define N_SLOTS ((size_t)2 * DD_COUNTERS)

/* The slot of a document, or the free one where it belongs. */
static struct dd_counted *find(struct dd_counters *counters, uint64_t id, uint32_t other)
{
	size_t i = (size_t)(((id + other) * UINT64_C(0x9e3779b97f4a7c15)) >> 32);

	for (;; i++) {
		struct dd_counted *slot = &counters->slot[i % N_SLOTS];

		if (!slot->n || (slot->id == id && slot->other == other))
			return slot;
	}
}

/* Take one from all, and fill the slots anew. */
static void lessen(struct dd_counters *counters)
{
	struct dd_counted left[DD_COUNTERS];
	size_t n = 0;

	for (size_t i = 0; i < N_SLOTS; i++)
		if (counters->slot[i].n > 1) {
			left[n] = counters->slot[i];
			left[n++].n--;
		}
	memset(counters, 0, sizeof(*counters));
	counters->is_lessened = 1;
	for (; counters->n < n; counters->n++)
		*find(counters, left[counters->n].id, left[counters->n].other) =
			left[counters->n];
}

void dd_counters_add(struct dd_counters *counters, uint64_t id, uint32_t other,
		     const struct dd_name *first)
{
	struct dd_counted *slot = find(counters, id, other);

	if (slot->n) {
		slot->n += slot->n < UINT32_MAX;
		return;
	}
	if (counters->n == DD_COUNTERS) {
		lessen(counters);
		return;
	}
	*slot = (struct dd_counted){ id, other, 1, *first };
	counters->n++;
}
