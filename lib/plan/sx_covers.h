/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Covers of plans whose tables overlap, as data: for each radius thresholds that are exact for
 * every f, whichever bits are ignored.
 */

#ifndef SX_COVERS_H
#define SX_COVERS_H

/** One of them. */
typedef struct sx_covers_row {
	const char *plan;
	unsigned radius;
	const char *thresholds; /* a character for each table: its threshold, or '-': not probed */
} sx_covers_row;

/** All rows, in no particular order of plans; the one after the last has no plan. */
extern const sx_covers_row sx_covers[];

#endif /* SX_COVERS_H */
