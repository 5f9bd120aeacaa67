/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Searches in an index that an engine holds (sx_backend.h): probes go to the engine, the rows
 * that come back are filtered, and the documents of those that are near are asked for. Queries
 * that are looked up together share each wait for an answer.
 *
 * An engine has a row for each document, so what is near comes with its id. A row may have been
 * left over by a crash: its document has another fingerprint by then, or is gone. So no match is
 * told before its document has been seen.
 */

#ifndef SX_REMOTE_NEAR_H
#define SX_REMOTE_NEAR_H

#include "remote/sx_doc_cache.h"
#include "search/sx_finding.h"

#define SX_REMOTE_FILTERED 4096 /* rows that the kernel compares at once */
#define SX_REMOTE_ROWS 500000 /* that queries which are looked up together find at most */

/** Scratch memory. */
typedef struct sx_remote_search {
	sx_engine *engine;
	sx_finding *const *finding; /* that are looked up, n of them */
	size_t n;
	simidx_engine_probe *probe;
	uint32_t *owner; /* of each probe: a number of finding[] */
	size_t n_probes, probe_cap, owner_cap;
	size_t rows;       /* that were found, of all queries */
	uint64_t *version; /* of each probe, where a decision rests on it */
	size_t version_cap;
	uint64_t *id;    /* that are asked for, and where they come from */
	struct sx_remote_origin {
		uint32_t finding;
		uint32_t row; /* from rows.from on */
	} *origin;
	size_t n_ids, id_cap, origin_cap;
	uint64_t walked_to; /* the next id of a walk */
	size_t n_walked;    /* documents of the last page */
	uint32_t near[SX_REMOTE_FILTERED];
	const sx_finding *deciding; /* whose documents are looked up once more */
	int has_changed; /* one of these is not any more as a transaction has found it */
	int rc; /* what ended a call from within */
	sx_doc_cache doc_cache; /* the document that was looked up last, by itself */
} sx_remote_search;

/** NULL when memory is short. */
void *sx_remote_search_new(const simidx *index);

/** NULL is allowed. */
void sx_remote_search_free(void *search);

/**
 * sx_backend.near(): the probes of all queries in one call, and one walk over all documents for
 * those that compare with everything. SIMIDX_E_NOMEM; SIMIDX_E_IO, also for something else than
 * was asked for. Where several queries find more than SX_REMOTE_ROWS together it ends, and what
 * they have is of no use: sx_remote_is_full().
 */
int sx_remote_near(void *search, sx_finding *const *finding, size_t n, uint64_t *round_trips,
		   simidx_error *err);

/**
 * Drop those rows of a query whose documents the transaction has changed: its own rows for them
 * count. Where a decision rests on the query, that they are so dropped is one of its conditions.
 * For what the transaction changes between sx_remote_near() and the use of what that has found.
 */
int sx_remote_drop_changed(void *search, sx_finding *finding, uint64_t *round_trips,
			   simidx_error *err);

/** Whether the last sx_remote_near() has ended so. */
int sx_remote_is_full(const void *search);

/** What a callback has ended a call with (search->rc), or else what the call has returned. */
int sx_remote_outcome(const sx_remote_search *search, int rc, simidx_error *err);

#endif /* SX_REMOTE_NEAR_H */
