/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Covers: how a radius is looked up in the tables of a plan.
 *
 * Each table has a threshold, the number of errors that are allowed in the leading bits of its
 * prefix that are probed; every way to make that many errors or fewer there is one probe. A cover
 * finds all fingerprints within a radius if and only if, for every way to put that many errors
 * into the bits that count, some table sees no more of them than its threshold. Tables that lead
 * with disjoint blocks of bits: sum (threshold + 1) > radius. The tests prove it for every cover
 * that the planner makes (tests/support/sxt_cover.h).
 *
 * Bits of an ignore mask do not count; where one lies among the probed bits, both its values
 * are probed. What is exact without a mask is exact with one, and with fewer probed bits: both
 * take errors out of a table's sight.
 */

#ifndef SX_COVER_H
#define SX_COVER_H

#include <stdint.h>

#include "plan/sx_plan.h"
#include "plan/sx_probes.h"

/** What is probed of one table: all ways to make few enough errors in its leading bits. */
typedef struct sx_probed {
	uint8_t table;
	uint8_t threshold; /* errors that are allowed, 0..126 */
	uint8_t bits;      /* leading bits that are probed, 1..32 */
	uint8_t flipped;   /* errors are made in this many leading ones: all of `bits`, or, where
	                      the threshold is 1, fewer: one range covers those in the others */
	uint32_t ignored;  /* which of `bits` do not count, right-aligned */
	uint64_t counted;  /* in a cover: bits of a fingerprint that are probed and count */
} sx_probed;

typedef struct sx_cover {
	unsigned radius;
	uint64_t ignore; /* bits that do not count */
	int scan;        /* read the whole of table 0 instead */
	unsigned n;      /* tables that are probed */
	sx_probed probed[SX_MAX_TABLES]; /* in probing order: by table, each at most once */
	uint64_t probes;     /* that it makes */
	uint64_t candidates; /* that were expected when it was chosen */
	double ns;           /* time that was expected */
} sx_cover;

/** `flipped` = `bits`, or less to merge. */
sx_probed sx_probed_make(const sx_plan *plan, uint64_t ignore, unsigned table, unsigned threshold,
		     unsigned bits, unsigned flipped);

/** The number of its probes. */
uint64_t sx_probed_probes(const sx_probed *probed);

/** A cover for this radius and mask that probes nothing yet. */
void sx_cover_init(sx_cover *cover, unsigned radius, uint64_t ignore);

/** Add a table, made with the same mask. They are to be added in ascending order. */
void sx_cover_add(const sx_plan *plan, sx_cover *cover, const sx_probed *probed);

/** Read the whole of table 0 instead. */
void sx_cover_make_scan(sx_cover *cover);

/**
 * Append the probes for a fingerprint: table after table in probing order, fewer errors first.
 * Ranges of one table do not overlap.
 *
 * @param max_bits  a match differs from the query in no more bits than these, ignored ones
 *                  included; 64 = any
 * @return 0, or -1 when memory is short
 */
int sx_cover_probes(const sx_plan *plan, const sx_cover *cover, uint64_t fp, unsigned max_bits,
		    sx_probes *out);

/**
 * Whether a match whose XOR with the query is `differ` is to be reported from `table`, where a
 * probe has found it: the table sees no more errors than its threshold, and no table with a
 * lower number does. Of an exact cover exactly one table reports each match, in whatever
 * order the tables are probed. (A merged range also holds matches that are not its own.)
 */
int sx_cover_is_first(const sx_cover *cover, unsigned table, uint64_t differ);

/**
 * Whether the buckets of one query are so much larger than expected that it is worth while to
 * choose a cover for that query alone. `candidates`: the rows in the ranges of its probes.
 */
static inline int sx_cover_needs_replan(const sx_cover *cover, uint64_t candidates)
{
	/* Choosing takes some microseconds, as long as reading some ten thousand rows. */
	return candidates > 4 * cover->candidates + 16384 && !cover->scan;
}

/* ------------------------------------------------------------------------------------------
 * A cover for many queries: what differs between their probes is the fingerprint alone.
 */

/**
 * A cover and, unless they are many, its probes of fingerprint 0: those of another one differ
 * from them as it does from 0. All zero but the cover is a new one.
 */
typedef struct sx_template {
	sx_cover cover;
	sx_probes of_0; /* made when first needed; to be emptied when the cover is changed */
} sx_template;

void sx_template_free(sx_template *template);

/**
 * Append the same probes as sx_cover_probes(), which says what `max_bits` is.
 *
 * @param permuted  by table: set to the permuted value of `fp` where the table is probed
 * @return 0, or -1 when memory is short
 */
int sx_template_probes(const sx_plan *plan, sx_template *template, uint64_t fp,
		       unsigned max_bits, uint64_t *permuted, sx_probes *out);

/** What a probe of fingerprint 0 is for one whose permuted value is this: the same bits differ. */
sx_probe sx_probe_of(const sx_probe *of_0, uint64_t permuted);

#endif /* SX_COVER_H */
