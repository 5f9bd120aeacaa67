/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Covers of plans whose tables overlap, as data: for each radius thresholds that are exact for
 * every f, whichever bits are ignored.
 */

#ifndef SX_COVER_TABLE_H
#define SX_COVER_TABLE_H

/** One of them. */
typedef struct sx_cover_row {
	const char *plan;
	unsigned radius;
	const char *thresholds; /* a character for each table: its threshold, or '-': not probed */
} sx_cover_row;

/** All rows, in no particular order of plans; the one after the last has no plan. */
extern const sx_cover_row sx_cover_table[];

#endif /* SX_COVER_TABLE_H */
