/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Batches: many queries in one call. They are answered in tasks of consecutive queries: one query
 * after another or, where they differ in nothing but the fingerprint, sorted, so that neighbours
 * share what is read.
 */

#ifndef SX_BATCH_H
#define SX_BATCH_H

#include <stdatomic.h>

#include "search/sx_reader.h"

typedef struct sx_sorted sx_sorted;

typedef struct sx_batch {
	simidx *index;
	const simidx_query *query;
	size_t n;
	const simidx_batch_options *options;
	int sorted;
	unsigned threads;
	size_t task;        /* queries of each task; the last one may have fewer */
	atomic_size_t next; /* the first query that no thread has taken */
	atomic_int ended;   /* early, for the reason that follows; set by one thread */
	int rc;
	simidx_error err;
} sx_batch;

/** Set how many queries a task has, and how many threads there are: no more than tasks. */
void sx_batch_divide(sx_batch *batch);

/** Answer queries [from, to) in their order. The reader has a snapshot. */
int sx_batch_plain(simidx_reader *reader, sx_batch *batch, size_t from, size_t to,
		   simidx_error *err);

/**
 * Hand the answer to query number i to the caller in pieces, and look up the labels of each.
 *
 * @param found  what sx_search() or sx_search_found() told; the matches are those of the reader
 * @return 0; SIMIDX_E_STOPPED when the caller wants no more or the batch has ended already, then
 *         without a text; SIMIDX_E_CORRUPT, SIMIDX_E_NOMEM for the labels
 */
int sx_batch_deliver(sx_batch *batch, simidx_reader *reader, size_t i,
		     const simidx_results *found, simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * Sorted (sx_batch_sorted.c, sx_batch_tables.c)
 */

/** A query in the order of a table, or a hit in that of postings. */
typedef struct sx_item {
	uint64_t key;
	uint32_t number;
} sx_item;

/** What searching the tables took for one query. */
typedef struct sx_tally {
	uint32_t probes, blocks, candidates;
	int alone; /* its ranges are too large: it is searched for by itself, and its hits dropped */
} sx_tally;

/** A fingerprint that a query has found. */
typedef struct sx_catch {
	uint64_t fp;
	uint32_t query;
	uint32_t known, n_known; /* as in sx_hit */
} sx_catch;

struct sx_sorted {
	const simidx_query *query; /* n of them */
	size_t n;
	sx_query like;        /* one of them: all ask the same */
	sx_cover cover; /* for all of them */
	sx_probes of_0;       /* its probes of fingerprint 0 in the table at hand */
	sx_item *item, *spare; /* sorted by key */
	size_t item_cap, spare_cap;
	uint64_t *fp; /* by query: close together */
	size_t fp_cap;
	sx_tally *tally, *taken; /* by query; by item, in the table at hand */
	size_t tally_cap, taken_cap;
	sx_range *range; /* ranges that are looked up together */
	uint32_t *owner; /* numbers of their items */
	size_t range_cap, owner_cap;
	sx_catch *hit, *grouped; /* as found, and by query */
	size_t n_hits, hit_cap, grouped_cap;
	uint32_t *start; /* of each query's in `grouped`, and the end */
	size_t start_cap;
	sx_doc *doc; /* of the hits */
	size_t n_docs, doc_cap;
};

/** Ranges that are looked up together, but for those of the last query. */
#define SX_SORTED_RANGES 2048

sx_sorted *sx_sorted_new(void);

/** NULL is allowed. */
void sx_sorted_free(sx_sorted *sorted);

/**
 * Whether a batch is one to be sorted: the queries ask the same, and all tables that they need
 * have block indexes, which are made for the purpose.
 */
int sx_batch_can_sort(const sx_batch *batch, simidx_reader *reader);

/** Sort items by their leading 22 bits of `bits`; those that are equal in them keep their order. */
int sx_sorted_sort(sx_sorted *sorted, size_t n, unsigned bits);

/**
 * Search the tables for the queries of a slice.
 *
 * @return 0, then sorted->hit and sorted->tally are what was found; -1 if this is not the way to
 *         answer them, for whatever reason
 */
int sx_sorted_search(sx_sorted *sorted, simidx_reader *reader);

/** Read documents of the hits beforehand, as far as they are not too many. 0 or -1 as above. */
int sx_sorted_read(sx_sorted *sorted, simidx_reader *reader);

/** As sx_batch_plain(), sorted. */
int sx_sorted_run(sx_sorted *sorted, simidx_reader *reader, sx_batch *batch, size_t from,
		  size_t to, simidx_error *err);

#endif /* SX_BATCH_H */
