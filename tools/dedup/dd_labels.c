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

int dd_labels_lack(struct dd_labels *labels, const struct in_row *row)
{
	labels->is_partial |= !row;
	return row && row->label_size ? dd_labels_add(labels, row->label, row->label_size) : 0;
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

size_t dd_labels_count_hash(const struct dd_labels *labels, uint64_t hash)
{
	const uint64_t *all = hashes_of(labels), *end = all + labels->n;
	const uint64_t *one = labels->n ? bsearch(&hash, all, labels->n, sizeof(hash), compare) :
					  NULL;
	size_t n = 0;

	while (one && one > all && one[-1] == hash)
		one--;
	for (; one && one < end && *one == hash; one++)
		n++;
	return n;
}

size_t dd_labels_count(const struct dd_labels *labels, const char *name, size_t size)
{
	return dd_labels_count_hash(labels, simidx_feature_hash(name, size));
}

/* As FILE:LINE: how long the path in front of the number is; 0 = it is not written so. */
static size_t path_before_line(const char *name, size_t size)
{
	size_t n = size;

	while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return n > 1 && n < size && name[n - 1] == ':' ? n - 1 : 0;
}

int dd_labels_is_single(const struct dd_labels *labels, const char *label, size_t size)
{
	size_t path = path_before_line(label, size);

	return !labels->is_partial && dd_labels_count(labels, label, size) == 1 &&
	       !(path && dd_labels_count(labels, label, path));
}
