/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What a reader asks of a directory (sx_backend.h): snapshots, which are transactions of its
 * store; the hits that the permuted tables have; the documents of hits, from postings, and their
 * labels.
 */

#ifndef SX_LOCAL_READER_H
#define SX_LOCAL_READER_H

#include "search/sx_finding.h"

extern const sx_backend_snapshot sx_local_snapshot;

/** A fingerprint that a query of a batch has found, and its documents as far as they were read. */
typedef struct sx_local_found {
	uint64_t fp;
	uint32_t query;
	uint32_t docs, n_docs; /* the first one's number; SX_LOCAL_NOT_READ: they were not read */
} sx_local_found;

#define SX_LOCAL_NOT_READ UINT32_MAX

/** Scratch memory. */
typedef struct sx_local_search {
	sx_lookup near;        /* in the permuted tables */
	sx_lookup documents;   /* in postings */
	sx_probes probes;      /* of postings */
	sx_rows rows;          /* of one slice of postings */
	sx_u64s fps;           /* of hits that the tables have; only where rows delete documents */
	sx_fresh_rows deleted; /* documents of these that postings have no more */
	const sx_local_found *found; /* of the query of a batch that is answered, by fingerprint */
	size_t n_found;
	const sx_doc *docs;    /* of these */
} sx_local_search;

/** NULL when memory is short. */
void *sx_local_search_new(const simidx *index);

/** NULL is allowed. */
void sx_local_search_free(void *search);

/** sx_backend.near(), of one query. SIMIDX_E_CORRUPT, SIMIDX_E_NOMEM; what `until` returned. */
int sx_local_near(void *search, sx_finding *const *finding, size_t n, uint64_t *round_trips,
		  simidx_error *err);

/** sx_backend.documents(). Without ids a document is a fingerprint. */
int sx_local_documents(void *search, sx_finding *finding, sx_taking *taking, size_t from, size_t to,
		       simidx_error *err);

/** sx_backend.labels(). They are valid until the next call. */
int sx_local_labels(sx_matches *matches, const sx_snapshot *snapshot, size_t from, size_t n,
		    int checks, simidx_error *err);

/** The columns of a slice of postings: appended to rows, of which they are the only ones. */
int sx_postings_decode(const sx_lookup *lookup, const sx_lookup_task *task,
		       const sx_block_slice *slice, size_t n, sx_rows *rows, simidx_error *err);

#endif /* SX_LOCAL_READER_H */
