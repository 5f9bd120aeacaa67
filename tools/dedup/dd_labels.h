/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Which labels stand for one row alone. Who removes what a drop list names must not find by a label
 * another row, that stays.
 *
 * Memory: 8 bytes for each row with a label, and 8 more while they are sorted.
 */

#ifndef DD_LABELS_H
#define DD_LABELS_H

#include "input/in_room.h"

/** Hashes of all labels; all zero: none. */
struct dd_labels {
	struct in_room hashes; /* uint64_t */
	size_t n;
};

/** Bytes for a label. */
#define DD_LABELS_BYTES 16

/** Note the label of a row. Returns 0, or TL_TROUBLE with a message. */
int dd_labels_add(struct dd_labels *labels, const char *label, size_t size);

/** All are noted: from now on they can be asked for. */
void dd_labels_sort(struct dd_labels *labels);

/** Whether one row has this label, and no other. Labels with one hash count as the same. */
int dd_labels_is_single(const struct dd_labels *labels, const char *label, size_t size);

#endif /* DD_LABELS_H */
