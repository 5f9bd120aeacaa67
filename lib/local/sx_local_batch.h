/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Many queries that are looked up together, sorted (sx_sorted.h). Then each is answered from its
 * hits. That is done where the index is in blocks, all tables that they need have block indexes
 * (sx_view_expect()), and they are of one of two kinds: queries that ask the same of different
 * fingerprints, by one cover for all; or queries by weights, each by its own patterns. Among the
 * latter others may come, which are searched for by themselves.
 */

#ifndef SX_LOCAL_BATCH_H
#define SX_LOCAL_BATCH_H

#include "search/sx_reader.h"

extern const sx_backend_bulk sx_local_bulk;

#endif /* SX_LOCAL_BATCH_H */
