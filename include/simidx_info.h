/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_info.h - what an index is and holds, how a search is done and why so, and what an index of
 * another plan or size would be like.
 *
 * The conventions of simidx.h hold here too.
 */

#ifndef SIMIDX_INFO_H
#define SIMIDX_INFO_H

#include <simidx.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/**
 * Versions of what the library runs on, for bug reports: LMDB, xxHash, the file format and the
 * instruction set in use. A static string such as "LMDB 0.9.24, xxHash 0.8.1, format 0.3, avx2".
 * The instruction set is one of avx512, avx2, popcnt, neon and scalar.
 */
const char *simidx_build_info(void);

/* ------------------------------------------------------------------------------------------
 * Describing
 */

/** What an index is and holds, in one snapshot. */
typedef struct simidx_info {
	size_t size;           /**< sizeof; SIMIDX_INFO_INIT sets it */
	unsigned bits;         /**< f */
	unsigned layout;       /**< enum simidx_layout */
	unsigned flags;        /**< SIMIDX_CREATE_NO_IDS, _FP2, _TIMES, _NOTES where they apply */
	unsigned fill;         /**< percent */
	unsigned n_tables;     /**< tables of the plan */
	unsigned format_major; /**< of the file */
	unsigned format_minor;
	const char *plan;      /**< such as "4x16"; lives as long as the index */
	const char *profile;   /**< "" for bare fingerprints; lives as long as the index */
	const uint64_t *check_fps; /**< fingerprints of the profile's check texts; live as long as
	                            the index */
	size_t n_check_fps;    /**< their number */
	uint64_t documents;    /**< stored documents, fresh ones included; without ids: distinct
	                            fingerprints that were merged plus fresh rows */
	uint64_t distinct;     /**< distinct fingerprints in the tables (merged ones) */
	uint64_t fresh_rows;   /**< changes that a merge has not yet moved into the tables */
	uint64_t next_id;      /**< the id that the next document without one would get */
	uint64_t labels;       /**< documents with a label */
	uint64_t file_bytes;   /**< size of the data file */
	uint64_t used_bytes;   /**< of these, not on the free list */
	uint64_t page_bytes;   /**< size of a page */
	uint64_t snapshot;     /**< number of the last committed transaction */
	uint64_t notes;        /**< documents with a note */
	unsigned rejudges;     /**< 1: a commit may decide changes again, as others were first
	                            (`rejudged` of simidx_writer_options); 0: none does */
	unsigned reserved;     /**< zero */
	const char *durability; /**< where an engine tells it, the setting by which what is stored
	                            lasts, else NULL; lives as long as the index */
	uint64_t puts;         /**< a number that grows when a document comes: by two if it is put,
	                            replaced or touched, by one if it is loaded in bulk. Deletions
	                            and merges leave it as it is, so as long as it and next_id stay,
	                            none has come. UINT64_MAX: not counted, in an engine or without
	                            ids */
} simidx_info;

#define SIMIDX_INFO_INIT                                                                           \
	{                                                                                          \
		sizeof(simidx_info), 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0,   \
			0, 0, 0, 0, 0, 0, NULL, 0                                                  \
	}

/**
 * Read an index's description and counts, in a snapshot of its own.
 *
 * @return SIMIDX_OK; SIMIDX_E_BUSY when all reader slots are taken; SIMIDX_E_MOVED,
 *         SIMIDX_E_CORRUPT
 *
 * Cost: some pages, and the free list.
 */
int simidx_get_info(simidx *index, simidx_info *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/** One sub-database of an index. */
typedef struct simidx_table_info {
	size_t size;         /**< sizeof; SIMIDX_TABLE_INFO_INIT sets it */
	const char *name;    /**< "t01".., "postings", "docs", "fresh", "labels", "by_label", and
	                          with notes "notes" */
	unsigned prefix_bits; /**< length of the prefix; 0 for what is not a permuted table */
	uint64_t entries;    /**< fingerprints, documents, rows, labels or notes */
	uint64_t keys;       /**< keys of the store: blocks, or entries in the rows layout */
	uint64_t pages;      /**< all pages that belong to it */
	uint64_t overflow_pages; /**< of these, pages that hold one block each */
	uint64_t bytes_used; /**< bytes of the entries themselves, without padding */
	uint64_t digest;     /**< sum of the hashes of its entries; 0 where there is none */
	uint64_t prefix_mask; /**< the bits of a fingerprint that are the prefix; 0 as
	                           prefix_bits */
	uint64_t unknown_fp2; /**< entries of documents whose second fingerprint is not known, in
	                           "postings" and "fresh" */
} simidx_table_info;

#define SIMIDX_TABLE_INFO_INIT { sizeof(simidx_table_info), NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Describe sub-database number `i`, counted from 0: the permuted tables first.
 *
 * @return SIMIDX_OK; SIMIDX_E_END if there are not that many; SIMIDX_E_BUSY as simidx_get_info();
 *         SIMIDX_E_MOVED, SIMIDX_E_CORRUPT
 *
 * Cost: for a table of blocks, one visit of every block's header, so all its pages are read.
 */
int simidx_get_table_info(simidx *index, unsigned i, simidx_table_info *out, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/* ------------------------------------------------------------------------------------------
 * Explaining and predicting
 */

/**
 * One way to look a query up, and what the planner expects it to cost. Arrays of these are
 * returned, so their size never changes.
 */
typedef struct simidx_choice {
	char text[120];      /**< such as "t01<=0 t02<=0 t03<=1": errors allowed in the prefix */
	uint64_t probes;     /**< ranges to look up */
	double candidates;   /**< fingerprints in them, expected */
	double microseconds; /**< predicted, with all in memory: for comparing choices */
	uint64_t reserved[2]; /**< zero */
} simidx_choice;

/** How a query is looked up, and why so. */
typedef struct simidx_explanation {
	size_t size;             /**< sizeof; SIMIDX_EXPLANATION_INIT sets it */
	const simidx_choice *choices; /**< first the one that was chosen, then the best of those
	                                   that were rejected, cheapest first; none of them is
	                                   expected to be cheaper than the first */
	size_t n_choices;        /**< their number; 0 when the search failed */
	const simidx_results *results; /**< counts of the search, no matches; NULL when it failed */
	const char *kernel;      /**< instruction set that compares fingerprints; a static string */
	unsigned block_indexes;  /**< tables that were looked up through a block index in memory */
	int looked_up;           /**< 1: candidates and microseconds are by how full the ranges
	                              really are; 0: as if all were equally full */
} simidx_explanation;

#define SIMIDX_EXPLANATION_INIT { sizeof(simidx_explanation), NULL, 0, NULL, NULL, 0, 0 }

/**
 * Search and tell how: what was chosen and rejected, and what it then took.
 *
 * @param out  what it points to is borrowed from the reader until the next call on it
 * @return as simidx_reader_search()
 *
 * Cost: that of the search and of planning once more.
 */
int simidx_reader_explain(simidx_reader *reader, const simidx_query *query,
			  simidx_explanation *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/** What an index of some size would be like. */
typedef struct simidx_prediction {
	size_t size;          /**< sizeof; SIMIDX_PREDICTION_INIT sets it */
	const char *plan;     /**< a static string */
	unsigned n_tables;
	unsigned is_auto;     /**< 1: the plan that "auto" takes for this many documents; else 0 */
	double table_bytes;   /**< bytes a document of the permuted tables */
	double bytes;         /**< of the whole index, postings and docs included, labels not */
	double probes;        /**< of a query */
	double candidates;
	double microseconds;  /**< of a query with all in memory: for comparing plans */
} simidx_prediction;

#define SIMIDX_PREDICTION_INIT { sizeof(simidx_prediction), NULL, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Predict size and speed of an index, for choosing a plan.
 *
 * @param i          number of the plan, from 0 on
 * @param bits       f
 * @param documents  how many, with fingerprints spread evenly
 * @param radius     of the queries, 0..f
 * @return SIMIDX_OK; SIMIDX_E_END if there are not that many plans; SIMIDX_E_ARG for bits or a
 *         radius out of range
 *
 * Cost: arithmetic only.
 */
int simidx_plan_predict(unsigned i, unsigned bits, uint64_t documents, unsigned radius,
			simidx_prediction *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * The prefixes of fingerprints in the tables of a plan: what documents are looked up by, for
 * programs that lay the same tables out elsewhere. A prefix is aligned to the left in 32 bits, with
 * zeros in the low bits, so that prefixes of different lengths spread over the same range.
 *
 * @param plan      as in simidx_create_options, but not "auto"
 * @param bits      f
 * @param fp        n fingerprints; may be NULL if n is 0, to ask for the number of tables
 * @param prefix    n_tables for the first fingerprint, then those for the second one, and so on;
 *                  each in the order of the tables, t01 first
 * @param room      of `prefix`, in numbers
 * @param n_tables  if not NULL: set to the number of tables of the plan
 * @return SIMIDX_OK; SIMIDX_E_ARG: unknown plan, bits out of range, too little room;
 *         SIMIDX_E_RANGE: a fingerprint wider than f bits
 *
 * Cost: arithmetic only; the plan is made anew by each call, so give many fingerprints to one.
 */
int simidx_plan_prefixes(const char *plan, unsigned bits, const uint64_t *fp, size_t n,
			 uint32_t *prefix, size_t room, unsigned *n_tables,
			 simidx_error *err) SIMIDX_CHECK_RESULT;

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* SIMIDX_INFO_H */
