/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Many queries that ask the same of different fingerprints: they are looked up table by table in
 * the order of the table, and their documents in the order of postings, so that neighbours read
 * blocks that are in the CPU's caches (a sort-merge join). Then each is answered from its hits.
 */

#ifndef SX_BATCH_SORTED_H
#define SX_BATCH_SORTED_H

#include "search/sx_reader.h"

typedef struct sx_sorted sx_sorted;

/** NULL when memory is short. */
sx_sorted *sx_sorted_new(void);

/** NULL is allowed. */
void sx_sorted_free(sx_sorted *sorted);

/**
 * Whether queries are to be sorted: they ask the same, the index is in blocks, and all tables that
 * they need have block indexes (sx_view_expect()). What is wrong with a query is told
 * when it is searched for by itself.
 */
int sx_sorted_is_worthwhile(simidx_reader *reader, const simidx_query *queries, size_t n);

/**
 * Look up n queries in the reader's snapshot.
 *
 * @return 0, then sx_sorted_answer() answers them; -1: they have to be searched for one by one
 */
int sx_sorted_search(sx_sorted *sorted, simidx_reader *reader, const simidx_query *queries,
		     size_t n);

/** Answer query number i, as sx_search() does. */
int sx_sorted_answer(sx_sorted *sorted, simidx_reader *reader, size_t i, simidx_results *out,
		     simidx_error *err);

#endif /* SX_BATCH_SORTED_H */
