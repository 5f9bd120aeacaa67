/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The access of a query: which probes of which tables find what it asks for, and up to which
 * distance that is complete. It is made once, before anything is looked up. What choosing costs
 * is paid once: covers where all ranges are equally full are kept by radius, with the costs by
 * which they were chosen.
 */

#ifndef SX_ACCESS_H
#define SX_ACCESS_H

#include "index/sx_snapshot.h"
#include "plan/sx_patterns.h"
#include "plan/sx_planner.h"
#include "search/sx_query.h"

/** The covers of a plan where all ranges are equally full, by radius; made when first needed. */
typedef struct sx_uniform_covers {
	uint64_t rows; /* they are for about this number of rows */
	sx_template *of[SIMIDX_MAX_RADIUS + 1];
} sx_uniform_covers;

/** All zero is an empty one. */
typedef struct sx_cover_cache {
	sx_costs costs;
	uint64_t costs_rows;           /* rows that the costs are for */
	unsigned scan_shared;          /* queries that one scan serves, by the costs; 0 = one */
	sx_uniform_covers tables, fresh;  /* of the plan of the index, and of the memtable's */
	sx_template own;               /* the last one that was chosen for one query alone */
} sx_cover_cache;

void sx_cover_cache_free(sx_cover_cache *cache);

/** What is looked up in the tables, or among the fresh rows. */
typedef struct sx_access_part {
	sx_probes probes;
	sx_patterns_end end; /* where patterns of the weights ended */
} sx_access_part;

typedef struct sx_access {
	sx_access_part tables, fresh;
	/* the probes of the tables serve the memtable, too: `fresh` is not used */
	int fresh_is_tables;
	uint64_t permuted[SX_MAX_TABLES]; /* the query, by table that is probed */
	const sx_cover *cover; /* NULL: the probes are patterns of the weights */
	sx_cover own;          /* what `cover` is where it was chosen for this query alone */
	int complete_to;       /* no match within this distance is missed; -1 = perhaps at 0 */
	int by_sizes; /* the cover is for how full the ranges of this query really are */
} sx_access;

/**
 * Make the access of a query in the snapshot that the view has. Where the block indexes show that
 * its ranges are far fuller than the average, the cover is chosen by their real sizes.
 *
 * @param access       all zero, or one that was made before: its memory is used again
 * @param covers       of the reader; must not change while the access is used
 * @param scan_shared  queries that a scan would serve at once; 0 = one
 * @return SIMIDX_OK; SIMIDX_E_NOMEM
 */
int sx_access_make(sx_access *access, sx_cover_cache *covers, const sx_view *view,
		   const sx_query *query, unsigned scan_shared, simidx_error *err);

/**
 * Make only what is looked up in the memtable, of a query without weights whose hits of the tables
 * are there already. The codes of sx_access_make().
 */
int sx_access_make_fresh(sx_access *access, sx_cover_cache *covers, const sx_view *view,
			 const sx_query *query, simidx_error *err);

void sx_access_free(sx_access *access);

/** What is looked up in the memtable. */
static inline const sx_access_part *sx_access_fresh(const sx_access *access)
{
	return access->fresh_is_tables ? &access->tables : &access->fresh;
}

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

/**
 * After sx_access_make(): have what sx_access_has_fresh() goes by also where the view has no fresh
 * rows. The codes of sx_access_make().
 */
int sx_access_make_beside(sx_access *access, const sx_cover_cache *covers, const sx_view *view,
			  const sx_query *query, simidx_error *err);

/** About how many entries the ranges of its probes have. */
uint64_t sx_access_candidates(const sx_access *access, const sx_view *view);

/** The covers that were not chosen, of a query without patterns. Returns how many. */
unsigned sx_access_others(const sx_access *access, const sx_cover_cache *covers,
			  const sx_view *view, const sx_query *query,
			  sx_cover out[SX_MAX_OTHERS]);

#endif /* SX_ACCESS_H */
