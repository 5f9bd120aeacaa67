/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The documents of rows that are near, from an engine, a page at a time (sx_backend.h).
 */

#ifndef SX_REMOTE_DOCUMENTS_H
#define SX_REMOTE_DOCUMENTS_H

#include "remote/sx_remote_near.h"

/** Look up the documents of the first rows of n queries, `most` of each, in one call. */
int sx_remote_prefetch(sx_remote_search *search, sx_finding *const *finding, size_t n, size_t most,
		       uint64_t *round_trips, simidx_error *err);

/** sx_backend.documents(): those that were not looked up with others are, a page at a time. */
int sx_remote_documents(void *search, sx_finding *finding, sx_taking *taking, size_t from,
			size_t to, simidx_error *err);

/** sx_backend.labels(): those that wait for the commit of the writer who searches. */
int sx_remote_labels(sx_matches *matches, const sx_snapshot *snapshot, size_t from, size_t n,
		     int checks, simidx_error *err);

#endif /* SX_REMOTE_DOCUMENTS_H */
