/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_labels.h"

#include "common/tl_msg.h"

#include <stdlib.h>

#include <simidx_sketch.h>

static uint64_t *hashes_of(const struct dd_labels *labels)
{
	return (uint64_t *)labels->hashes.bytes;
}

int dd_labels_add(struct dd_labels *labels, const char *label, size_t size)
{
	if (in_room_have(&labels->hashes, (labels->n + 1) * sizeof(uint64_t)))
		return tl_error("out of memory");
	hashes_of(labels)[labels->n++] = simidx_feature_hash(label, size);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void dd_labels_sort(struct dd_labels *labels)
{
	if (labels->n)
		qsort(labels->hashes.bytes, labels->n, sizeof(uint64_t), compare);
}

int dd_labels_is_single(const struct dd_labels *labels, const char *label, size_t size)
{
	uint64_t hash = simidx_feature_hash(label, size);
	size_t low = 0, high = labels->n;

	/* The first that is not below it. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (hashes_of(labels)[middle] < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return low + 1 >= labels->n || hashes_of(labels)[low + 1] != hash;
}
