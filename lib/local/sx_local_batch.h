/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Many queries that ask the same of different fingerprints: they are looked up table by table in
 * the order of the table, and their documents in the order of postings, so that neighbours read
 * blocks that are in the CPU's caches (a sort-merge join). Then each is answered from its hits.
 *
 * That is done where they ask the same, the index is in blocks, and all tables that they need
 * have block indexes (sx_view_expect()).
 */

#ifndef SX_LOCAL_BATCH_H
#define SX_LOCAL_BATCH_H

#include "search/sx_reader.h"

extern const sx_backend_bulk sx_local_bulk;

#endif /* SX_LOCAL_BATCH_H */
