/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "plan/sx_covers.h"

#include <stddef.h>

/*
 * Found by a search through all thresholds, and chosen by the costs of sx_costs_typical() at 10^6
 * to 10^9 documents of 64 bits: with first leads and scans beside them, none takes over 1.15 times
 * as long there as the cheapest that there is (16x28, radius 5: 1.4 times, from 3 * 10^8
 * documents on). A larger radius, or one that is not listed, is left to those. Each row is proved
 * by tests/unit/t_plan_covers.c.
 *
 * 10x26: two errors more than a pair of blocks takes are left to the pairs of the other three.
 * 20x31: every triple of blocks, a set of six that meets every four of them, or two halves.
 */
const sx_covers_row sx_covers[] = {
	/* ab ac ad ae bc bd be cd ce de */
	{ "10x26", 0, "0---------" },
	{ "10x26", 1, "0------0--" },
	{ "10x26", 2, "0------000" },
	{ "10x26", 3, "0000000000" },
	{ "10x26", 4, "1------011" },
	{ "10x26", 5, "2------110" },
	{ "10x26", 6, "2------121" },
	{ "10x26", 7, "2------222" },
	{ "10x26", 8, "3------222" },
	{ "10x26", 9, "3------233" },
	{ "10x26", 10, "4------332" },
	{ "10x26", 11, "4------343" },
	{ "10x26", 12, "4------444" },

	/* a with four parts of the other bits, b, c, d likewise */
	{ "16x28", 0, "0---------------" },
	{ "16x28", 1, "0----------0----" },
	{ "16x28", 2, "000---00---0----" },
	{ "16x28", 3, "0000000000000000" },
	{ "16x28", 4, "--01111----1----" },
	{ "16x28", 5, "--------2----2--" },
	{ "16x28", 6, "2-------21---122" },
	{ "16x28", 7, "--22222-22---222" },

	/* abc ... abf, acd ... aef, bcd ... def */
	{ "20x31", 0, "0-------------------" },
	{ "20x31", 1, "0------------------0" },
	{ "20x31", 2, "0-0-----0-----0-0-0-" },
	{ "20x31", 3, "1------------------1" },
	{ "20x31", 3, "00000000000000000000" },
	{ "20x31", 4, "1---1----1---11---1-" },
	{ "20x31", 5, "2------------------2" },
	{ "20x31", 6, "---------32---------" },
	{ "20x31", 7, "3------------------3" },
	{ "20x31", 8, "3------------------4" },
	{ "20x31", 9, "4------------------4" },
	{ "20x31", 10, "4------------------5" },
	{ "20x31", 11, "5------------------5" },
	{ "20x31", 12, "5------------------6" },
	{ NULL, 0, NULL },
};
