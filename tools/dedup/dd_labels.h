/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Which names stand for one row alone. Who removes what a drop list names must not find by it
 * another row, that stays. Names are labels, paths of files, and FILE:LINE of rows.
 *
 * Memory: 8 bytes for each row with a label and each path, and 8 more while they are sorted.
 */

#ifndef DD_LABELS_H
#define DD_LABELS_H

#include "input/in_room.h"
#include "input/in_row.h"

/** Hashes of all labels and paths; all zero: none. */
struct dd_labels {
	struct in_room hashes; /* uint64_t */
	size_t n;
	int is_partial;        /* there are rows whose labels nobody has read: none is single */
};

/** Bytes for a label. */
#define DD_LABELS_BYTES 16

/** Note the label of a row, or the path of a file. Returns 0, or TL_TROUBLE with a message. */
int dd_labels_add(struct dd_labels *labels, const char *label, size_t size);

/** A row that is not decided has its label, too; NULL: there are more, which nobody has read. */
int dd_labels_lack(struct dd_labels *labels, const struct in_row *row);

/** All are noted: from now on they can be asked for. */
void dd_labels_sort(struct dd_labels *labels);

/**
 * Whether a label stands for one row: no other row has it, and it is neither the path of a file nor
 * FILE:LINE of one. Names with one hash count as the same.
 */
int dd_labels_is_single(const struct dd_labels *labels, const char *label, size_t size);

/** How often a name was noted. */
size_t dd_labels_count(const struct dd_labels *labels, const char *name, size_t size);

/** The same of a name with this hash. */
size_t dd_labels_count_hash(const struct dd_labels *labels, uint64_t hash);

#endif /* DD_LABELS_H */
