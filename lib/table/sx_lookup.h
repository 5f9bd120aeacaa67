/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The executor of searches: probes of the tables of one snapshot -> slices of their blocks.
 *
 * Tables that have a block index in memory are looked up in stages, up to SX_LOOKUP_SLICES slices
 * at once, so that the waits for memory of all of them overlap: find the blocks, prefetch what is
 * read of them, ask for the pages that are not in memory, locate the entries, visit each slice.
 * The other tables are read by an LMDB cursor, block after block or row after row.
 */

#ifndef SX_LOOKUP_H
#define SX_LOOKUP_H

#include "kernel/sx_kernel.h"
#include "plan/sx_probes.h"
#include "table/sx_block_index.h"

/** Slices that are looked up at once. */
#define SX_LOOKUP_SLICES 64

/** A table in one snapshot. */
typedef struct sx_table_view {
	const sx_table *table;
	const sx_block_index *blocks; /* NULL = by the cursor */
	sx_cursor *cursor;            /* opened when first needed */
	uint64_t by_cursor;           /* probes that were looked up by it */
} sx_table_view;

/** Some neighbouring rows that one probe reads: entries [from, to) of a block. */
typedef struct sx_block_slice {
	const unsigned char *value; /* the block; NULL = rows [from, to) of lookup->rows */
	sx_entry *entry;            /* of the block index, or NULL */
	uint64_t last;              /* last key of the block, or its fence */
	uint64_t before;            /* without an entry: that of the block before, or UINT64_MAX;
	                               with one: see sx_block_slice_before() */
	uint32_t probe;             /* its number */
	uint16_t from, to;          /* entries: those of the probe and, unless asked exactly,
	                               some before and after them */
	uint8_t width;              /* low bytes of an entry */
} sx_block_slice;

/**
 * The last key of the block before the one of a slice; 0 = it is the first one; UINT64_MAX = not
 * known. `blocks` is its block index: read only when it is asked for, as it costs a cache miss.
 */
static inline uint64_t sx_block_slice_before(const sx_block_slice *slice,
					     const sx_block_index *blocks)
{
	if (!slice->entry)
		return slice->before;
	return slice->entry > blocks->entry ? slice->entry[-1].last : 0;
}

/** What comes after a slice. */
enum sx_next {
	SX_NEXT_SLICE, /* all that is left */
	SX_NEXT_PROBE, /* nothing more of this probe */
	SX_NEXT_NOTHING /* the end */
};

/** What is done with each slice: sets *next (SX_NEXT_SLICE at first). SIMIDX_OK or an error. */
typedef int (*sx_visit)(void *ctx, const sx_block_slice *slice, enum sx_next *next,
			simidx_error *err);

/** What is looked up. */
typedef struct sx_lookup_task {
	sx_txn *txn;
	sx_table_view *view;   /* by number of the table */
	const sx_probe *probe; /* n of them, low <= high */
	size_t n;
	int exact;             /* the slices have the entries of the probe and no others */
	size_t first;          /* slices of a probe that may be all that is wanted of it: the others
	                          are found only afterwards; at least 1 */
	sx_visit visit;
	void *ctx;
} sx_lookup_task;

/** Scratch memory of lookups, and when to look whether pages are in memory. */
typedef struct sx_lookup {
	const sx_store *store;
	const sx_kernel *kernel;
	size_t block_size;
	int checks;        /* each block is checked when it is read: see sx_lookup_init() */
	uint64_t blocks;   /* visited in the last run; 0 in the rows layout */
	sx_rows rows;      /* of the rows layout */
	uint64_t *keys;    /* SX_MAX_BLOCK_ROWS: of sx_lookup_complete() */
	uint16_t *entry;   /* as many */
	uint32_t *hit;     /* as many */
	unsigned runs, watch; /* runs so far; runs that look at all pages, since one was missing */
	size_t n;
	sx_block_slice slice[SX_LOOKUP_SLICES];
} sx_lookup;

/**
 * @param checks  nonzero: check each block by sx_table_block_wrong() when it is read for the first
 *                time by a block index, and each time that it is read by a cursor. All who share a
 *                block index have the same
 * @param n_cols  of the tables that are going to be looked up
 * @return 0, or -1 when memory is short
 */
int sx_lookup_init(sx_lookup *lookup, const sx_store *store, const sx_kernel *kernel, int checks,
		   unsigned n_cols);

/** One that is all zero is allowed. */
void sx_lookup_free(sx_lookup *lookup);

/**
 * Look the probes up in their order and visit each slice, in the order of its table, until there
 * are no more or the visitor ends it. Slices without entries are visited too.
 *
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT; what the visitor returned
 */
int sx_lookup_run(sx_lookup *lookup, const sx_lookup_task *task, simidx_error *err);

/**
 * Of the first n entries of a slice: how many have low bytes that a match can have. Some of these
 * are not in the range of the probe, or differ in more of the other bits. In a block without low
 * bytes these are all.
 *
 * @param n      up to to - from, at least 1
 * @param query  permuted as the table is
 */
size_t sx_lookup_filter(sx_lookup *lookup, const sx_lookup_task *task,
			const sx_block_slice *slice, size_t n, uint64_t query, unsigned k);

/**
 * Of what sx_lookup_filter() has just found, `near` entries, those in the range of the probe that
 * differ from `query` in at most k bits: lookup->keys, ascending.
 *
 * @return how many
 */
size_t sx_lookup_complete(sx_lookup *lookup, const sx_lookup_task *task,
			  const sx_block_slice *slice, uint64_t query, unsigned k, size_t near);

/** Both. */
static inline size_t sx_lookup_near(sx_lookup *lookup, const sx_lookup_task *task,
				    const sx_block_slice *slice, size_t n, uint64_t query,
				    unsigned k)
{
	size_t near = sx_lookup_filter(lookup, task, slice, n, query, k);

	return sx_lookup_complete(lookup, task, slice, query, k, near);
}

/** SIMIDX_E_CORRUPT for the block of a slice. */
int sx_lookup_damaged(const sx_lookup_task *task, const sx_block_slice *slice, const char *what,
		      simidx_error *err);

#endif /* SX_LOOKUP_H */
