/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "plan/sx_cover_table.h"

#include <stddef.h>

/*
 * Found by a search through all thresholds, and chosen by the costs of sx_costs_typical() for 64
 * bits and 10^6 to 10^9 documents: with first leads and scans beside them, none takes over 1.15
 * times as long there as the cheapest that was found (but 16x28 at radius 5, from 3 * 10^8
 * documents on: 1.4 times). Larger radii are left to first leads and scans.
 * tests/unit/t_plan_probes.c proves each row.
 *
 * 10x26 without errors, radius 2: one pair of blocks, and the three pairs of the other three
 * blocks; two clean blocks of three, or both of the pair, are among any three clean ones. Most
 * other rows have this shape too, with more errors. 20x31: two halves; or six triples that have
 * one in every four blocks.
 */
const sx_cover_row sx_cover_table[] = {
	/* ab ac ad ae bc bd be cd ce de */
	{ "10x26", 0, "0---------" },
	{ "10x26", 1, "0------0--" },
	{ "10x26", 2, "0-0--0--0-" },
	{ "10x26", 3, "0000000000" },
	{ "10x26", 4, "---111-0--" },
	{ "10x26", 5, "2------110" },
	{ "10x26", 6, "---221-1--" },
	{ "10x26", 7, "22--2----2" },
	{ "10x26", 8, "3------222" },
	{ "10x26", 9, "--3-3-3-2-" },
	{ "10x26", 10, "-4---33--2" },
	{ "10x26", 11, "4--3--34--" },
	{ "10x26", 12, "44--4----4" },

	/* a with four parts of the other bits, b, c, d likewise */
	{ "16x28", 0, "0---------------" },
	{ "16x28", 1, "0----------0----" },
	{ "16x28", 2, "000---00---0----" },
	{ "16x28", 3, "0000000000000000" },
	{ "16x28", 4, "--01111----1----" },
	{ "16x28", 5, "--------2----2--" },
	{ "16x28", 6, "2-------21---122" },
	{ "16x28", 7, "--22222-22---222" },
	{ "16x28", 8, "21223---13----32" },

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
