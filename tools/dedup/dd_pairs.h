/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A line about a document and what it is near to: of --pairs and --dups.
 */

#ifndef DD_PAIRS_H
#define DD_PAIRS_H

#include <stdio.h>

#include "dedup/dd_keepers.h"

/** What lines are made with. */
struct dd_pairs {
	const struct dd_work *work; /* with facts */
	int is_begun;               /* a terminal has the titles of columns */
};

/** Write one: in columns, or as --json asks for it. */
void dd_pairs_put(struct dd_pairs *pairs, FILE *out, const simidx_dedup_near *near,
		  const simidx_dedup_row *row, const struct dd_keeper *keeper);

#endif /* DD_PAIRS_H */
