/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the tables say, into sorters.
 */

#ifndef SX_REPAIR_GATHER_H
#define SX_REPAIR_GATHER_H

#include "repair/sx_repair_state.h"

/**
 * Fill the sorters documents, labels and hashes, of an index with ids.
 *
 * Postings and fresh rows that are whole, so that their number and their digest are those of the
 * header, say all that there is, and docs is not read. Otherwise docs is joined to them.
 */
int sx_repair_gather_documents(sx_repair *repair);

/**
 * Fill the sorter of fingerprints: with those of one permuted table that is whole or, if none is,
 * with those of each table, so that most come several times.
 */
int sx_repair_gather_fingerprints(sx_repair *repair);

/** Put the fresh rows of an index without ids into the loader. */
int sx_repair_put_fresh(sx_repair *repair);

#endif /* SX_REPAIR_GATHER_H */
