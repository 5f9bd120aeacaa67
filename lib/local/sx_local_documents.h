/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The documents of hits, from the postings of a directory, and their labels (sx_backend.h).
 */

#ifndef SX_LOCAL_DOCUMENTS_H
#define SX_LOCAL_DOCUMENTS_H

#include "local/sx_local_near.h"

/** sx_backend.documents(). Without ids a document is a fingerprint. */
int sx_local_documents(void *search, sx_finding *finding, sx_taking *taking, size_t from, size_t to,
		       simidx_error *err);

/** sx_backend.labels(). They are valid until the next call. */
int sx_local_labels(sx_matches *matches, const sx_snapshot *snapshot, size_t from, size_t n,
		    int checks, simidx_error *err);

/** The columns of a slice of postings: appended to rows, of which they are the only ones. */
int sx_postings_decode(const sx_lookup *lookup, const sx_lookup_task *task,
		       const sx_block_slice *slice, size_t n, sx_rows *rows, simidx_error *err);

#endif /* SX_LOCAL_DOCUMENTS_H */
