/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The hits of a query: the distinct fingerprints that it accepts, of the tables and of the fresh
 * rows.
 */

#ifndef SX_HITS_H
#define SX_HITS_H

#include "search/sx_access.h"

typedef struct sx_hit {
	uint64_t fp;
	unsigned distance;
	int in_tables;
	uint32_t docs, n_docs; /* its documents that were read beforehand, by a batch; else
	                          n_docs is SX_NOT_READ */
} sx_hit;

#define SX_NOT_READ UINT32_MAX

typedef struct sx_hits {
	sx_hit *at; /* nearest first */
	size_t n, cap;
	sx_fresh_rows fresh; /* the fresh rows that have one of the fingerprints */
	uint64_t left; /* fingerprints of the tables that the search may still compare */
	sx_lookup lookup;
} sx_hits;

/** 0, or -1 when memory is short. */
int sx_hits_init(sx_hits *hits, const simidx *index);

/** One that is all zero is allowed. */
void sx_hits_free(sx_hits *hits);

/** Append one. Its distance is set. */
int sx_hits_add(sx_hits *hits, const sx_query *query, uint64_t fp, int in_tables,
		simidx_error *err);

/**
 * Asked when hits from number `from` on were added: sets *done to end the search. SIMIDX_OK or an
 * error.
 */
typedef int (*sx_hits_until)(void *ctx, size_t from, int *done, simidx_error *err);

/**
 * Find the hits of a query by its access. hits->left is set, and lowered.
 *
 * @param until  may be NULL
 * @param out    counts are added to, truncated and complete_to set
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT, SIMIDX_E_NOMEM; what `until` returned
 */
int sx_hits_find(sx_hits *hits, sx_view *view, const sx_access *access, const sx_query *query,
		 sx_hits_until until, void *ctx, simidx_results *out, simidx_error *err);

/** The same where the hits of the tables are there already, of a query without weights. */
int sx_hits_find_fresh(sx_hits *hits, sx_view *view, const sx_access *access,
		       const sx_query *query, simidx_results *out, simidx_error *err);

#endif /* SX_HITS_H */
