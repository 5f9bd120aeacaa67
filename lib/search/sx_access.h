/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The access of a query: which probes of which tables find what it asks for, and up to which
 * distance that is complete. It is made once, before anything is looked up.
 */

#ifndef SX_ACCESS_H
#define SX_ACCESS_H

#include "index/sx_snapshot.h"
#include "plan/sx_patterns.h"
#include "plan/sx_planner.h"
#include "search/sx_query.h"

/** The covers of a plan where all ranges are equally full, by radius; made when first needed. */
typedef struct sx_even_covers {
	uint64_t rows; /* they are for about this number of rows */
	sx_template *of[SIMIDX_MAX_RADIUS + 1];
} sx_even_covers;

typedef struct sx_access {
	sx_probes probes;       /* of the tables */
	const sx_probes *fresh; /* of the memtable */
	uint64_t permuted[SX_MAX_TABLES]; /* the query, by table that is probed */
	const sx_cover *cover; /* NULL: the probes are patterns of the weights */
	sx_patterns_end patterns;  /* then this is where they ended, and those of the memtable */
	sx_patterns_end fresh_patterns;
	int complete_to;          /* no match within this distance is missed; -1 = perhaps at 0 */
	int by_sizes; /* the cover is for how full the ranges of this query really are */
	sx_costs costs;           /* by which it was chosen, and the rows that they are for */
	uint64_t costs_rows;
	unsigned shared;      /* set by the caller: queries that a scan would serve at once; 0 = one */

	/* Scratch memory. */
	sx_even_covers even, even_fresh;
	unsigned even_shared; /* what these were chosen for */
	sx_template own, own_fresh; /* covers for one query alone */
	sx_probes fresh_probes;    /* where those of the tables do not serve the memtable */
} sx_access;

/**
 * Make the access of a query in the snapshot that the view has. Where the block indexes show that
 * its ranges are far fuller than the average, the cover is chosen by their real sizes.
 *
 * @param access  all zero, or one that was made before: its memory is used again
 * @return SIMIDX_OK; SIMIDX_E_NOMEM
 */
int sx_access_make(sx_access *access, const sx_view *view, const sx_query *query,
		   simidx_error *err);

void sx_access_free(sx_access *access);

/** Whether it compares with everything: its one probe is the whole of a table. */
int sx_access_is_scan(const sx_access *access);

/** Whether a fingerprint that a probe of a table has found is to be reported from there. */
int sx_access_is_first(const sx_access *access, const sx_query *query, unsigned table,
		       uint64_t fp);

/**
 * Whether a fresh row with this fingerprint, which is near enough, is among what the access looks
 * for. By patterns that is less than what is near, and rows that are read from the log have not
 * been looked up by them.
 */
int sx_access_has_fresh(const sx_access *access, const sx_view *view, const sx_query *query,
			uint64_t fp);

/** About how many entries the ranges of its probes have. */
uint64_t sx_access_candidates(const sx_access *access, const sx_view *view);

/** The covers that were not chosen, of a query without patterns. Returns how many. */
unsigned sx_access_others(const sx_access *access, const sx_view *view, const sx_query *query,
			  sx_cover out[SX_MAX_OTHERS]);

#endif /* SX_ACCESS_H */
