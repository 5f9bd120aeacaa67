/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is measured of an index that an engine holds, whichever it is. Fingerprints are random. Each
 * line that is printed is a JSON object.
 */

#ifndef BN_ENGINE_H
#define BN_ENGINE_H

#include <simidx_write.h>

/** Document i has this fingerprint. */
uint64_t bn_engine_fp(uint64_t i);

/** One of the first documents' fingerprints with up to 3 bits changed. */
uint64_t bn_engine_query(uint64_t *state, uint64_t documents);

/** Make an index, in the place of one that is there. */
simidx *bn_engine_create(const char *uri, const char *plan);

/** Make one and store documents by a writer, with a commit after so many. */
void bn_engine_load(const char *uri, const char *plan, uint64_t documents, uint64_t commit);

/**
 * Search: n queries that nothing is near to, n that are near to a document, one by one and by
 * batches of 100 and 1,000.
 */
void bn_engine_search(simidx *index, const char *plan, uint64_t documents, size_t n);

#endif /* BN_ENGINE_H */
