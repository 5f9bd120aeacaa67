/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_admin.h - what an index is and holds, how it is searched and what that costs, all of its
 * documents one after another, whether it is sound; copies; and marks. Repairs: simidx_repair.h.
 *
 * The conventions of simidx.h hold here too.
 */

#ifndef SIMIDX_ADMIN_H
#define SIMIDX_ADMIN_H

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
} simidx_info;

#define SIMIDX_INFO_INIT \
	{ sizeof(simidx_info), 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

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
	const char *name;    /**< "t01".., "postings", "docs", "fresh", "labels", "by_label", and with
	                          notes "notes" */
	unsigned prefix_bits; /**< length of the prefix; 0 for what is not a permuted table */
	uint64_t entries;    /**< fingerprints, documents, rows, labels or notes */
	uint64_t keys;       /**< keys of the store: blocks, or entries in the rows layout */
	uint64_t pages;      /**< all pages that belong to it */
	uint64_t overflow_pages; /**< of these, pages that hold one block each */
	uint64_t bytes_used; /**< bytes of the entries themselves, without padding */
	uint64_t digest;     /**< sum of the hashes of its entries; 0 where there is none */
	uint64_t prefix_mask; /**< the bits of a fingerprint that are the prefix; 0 as prefix_bits */
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
	double microseconds; /**< predicted */
	uint64_t reserved[2]; /**< zero */
} simidx_choice;

/** How a query is looked up, and why so. */
typedef struct simidx_explanation {
	size_t size;             /**< sizeof; SIMIDX_EXPLANATION_INIT sets it */
	const simidx_choice *choices; /**< first the one that was chosen, then the best of those that
	                              were rejected, cheapest first; none of them is expected to
	                              be cheaper than the first */
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
	double microseconds;  /**< of a query with all in memory, on a typical machine */
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
 * The prefixes of fingerprints in the tables of a plan: what documents are looked up by, for programs
 * that lay the same tables out elsewhere. A prefix is aligned to the left in 32 bits, with zeros in the
 * low bits, so that prefixes of different lengths spread over the same range.
 *
 * @param plan      as in simidx_create_options, but not "auto"
 * @param bits      f
 * @param fp        n fingerprints; may be NULL if n is 0, to ask for the number of tables
 * @param prefix    n_tables for the first fingerprint, then those for the second one, and so on; each
 *                  in the order of the tables, t01 first
 * @param room      of `prefix`, in numbers
 * @param n_tables  if not NULL: set to the number of tables of the plan
 * @return SIMIDX_OK; SIMIDX_E_ARG: unknown plan, bits out of range, too little room;
 *         SIMIDX_E_RANGE: a fingerprint wider than f bits
 *
 * Cost: arithmetic only; that of making the plan is that of some 30 fingerprints.
 */
int simidx_plan_prefixes(const char *plan, unsigned bits, const uint64_t *fp, size_t n,
			 uint32_t *prefix, size_t room, unsigned *n_tables,
			 simidx_error *err) SIMIDX_CHECK_RESULT;

/* ------------------------------------------------------------------------------------------
 * Walking
 */

typedef struct simidx_walk simidx_walk; /**< goes through all documents in order */

/**
 * Start a walk over all documents of one snapshot, by ascending id (without ids: distinct
 * fingerprints, ascending). A walk pins its snapshot: while it is open, the file grows by what
 * is written.
 *
 * @param out  the walk, for simidx_walk_close()
 * @return SIMIDX_OK; SIMIDX_E_BUSY when all reader slots are taken; SIMIDX_E_MOVED,
 *         SIMIDX_E_CORRUPT
 *
 * Cost: reads all fresh rows.
 */
int simidx_walk_open(simidx *index, simidx_walk **out, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * The next document, with its label, its second fingerprint and its time.
 *
 * @param out  borrowed from the walk until the next call on it; distances are 0
 * @return SIMIDX_OK; SIMIDX_E_END after the last one; SIMIDX_E_CORRUPT: a block or row is damaged
 *         or out of place, the text has its table and key; or, instead of SIMIDX_E_END: the table's
 *         entries are not those that were stored, by their number and digest in the header, or some
 *         label is damaged, simidx_verify() tells which. So only after SIMIDX_E_END is all that was
 *         walked sound; labels are not checked at all in a walk that is begun while a merge is half
 *         done
 *
 * Cost: O(1), and O(log N) for a label, and for a second fingerprint, a time or both; the last call
 * reads one table.
 */
int simidx_walk_next(simidx_walk *walk, simidx_match *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Read the note of the document that simidx_walk_next() has delivered last.
 *
 * @param note  the bytes; borrowed from the walk until the next call on it. NULL without a note
 * @param size  their number; 0 without a note
 * @return SIMIDX_OK; SIMIDX_E_MISMATCH: the index keeps no notes; SIMIDX_E_STATE: there is no such
 *         document; SIMIDX_E_CORRUPT: the note is damaged, by its checksum, or missing. Where the
 *         notes of all documents were read, simidx_walk_next() tells at the end if some are
 *         missing
 *
 * Cost: O(log N), and that of reading the bytes.
 */
int simidx_walk_note(simidx_walk *walk, const void **note, size_t *size,
		     simidx_error *err) SIMIDX_CHECK_RESULT;

/** End a walk. NULL is allowed. */
void simidx_walk_close(simidx_walk *walk);

/* ------------------------------------------------------------------------------------------
 * Damage
 */

/*
 * LMDB, which reads and writes the file, trusts it: a damaged or forged page makes it end the
 * process by an assertion or a signal, or hang. Two things prevent that, and they look at the same:
 * simidx_verify(), and SIMIDX_OPEN_UNTRUSTED. With the flag a file that LMDB could not read or write
 * safely is not opened, and searches check what they read, as with SIMIDX_OPEN_CHECK. Use it for a
 * file that others could write, and after a crash of the disk. It does not help against a process
 * that changes the file while it is open.
 *
 * What a search promises about damage. It never reads outside the file, whatever bits of blocks,
 * rows or labels have changed.
 *  - With SIMIDX_OPEN_CHECK each block is checked when a handle reads it for the first time after
 *    the last merge, and each time as long as there is no block index (simidx_open_options): its
 *    checksum, and that its keys belong where it stands. Each label is compared with the hash that
 *    is kept of it. So changed bits, and intact blocks in the place of others, are SIMIDX_E_CORRUPT.
 *    What changes after its check is not noticed.
 *  - Without, SIMIDX_E_CORRUPT comes from a block whose sizes are impossible, and from a changed
 *    one when it is read about the ninth time. Before, a changed block may make answers wrong:
 *    documents that match are missing, or others are there, or ids and labels are not those that
 *    were stored. A block in the place of another one is not noticed.
 * In the rows layout all rows of postings and docs are checked, with the flag or without; a row of
 * the other tables is its key alone, and a changed one is found by simidx_verify(), or when its
 * prefix and its fingerprint contradict each other: it may hide its document from some searches.
 * Fresh rows are always checked, and so is all that other functions read: look-ups of ids and
 * labels, walks, merges, the loader, simidx_backup(), simidx_verify(). Damage of LMDB's own pages
 * is another matter: simidx_verify().
 */

/* ------------------------------------------------------------------------------------------
 * Checking and copying
 */

/**
 * Have long work (merge, verify, backup) tell how far it is. A backup has the phase "backup", then
 * "verify".
 *
 * @param callback  called now and then from the thread that works; `done` of `total` in
 *                  whatever unit `phase` implies; must not call back into the library. NULL
 *                  switches it off
 * @param ctx       passed to it
 */
void simidx_set_progress(simidx *index,
			 void (*callback)(void *ctx, const char *phase, uint64_t done,
					  uint64_t total),
			 void *ctx);

/** One thing that is wrong. */
typedef struct simidx_problem {
	const char *table; /**< sub-database, such as "t01" or "meta"; "tables" or "free pages" for
	                        what LMDB keeps of its own */
	const char *text;  /**< what is wrong and where, one line; valid during the callback */
} simidx_problem;

/** What simidx_verify() looked at. */
typedef struct simidx_verify_report {
	size_t size;        /**< sizeof; SIMIDX_VERIFY_REPORT_INIT sets it */
	uint64_t blocks;    /**< blocks (or rows) whose checksum and order were checked */
	uint64_t entries;   /**< entries in them */
	uint64_t documents; /**< documents, fresh ones included */
	uint64_t problems;  /**< 0 = sound */
	uint64_t mended;    /**< of these, those that the next commit mends: one of two copies of the
	                         header, the profile or the mark is damaged */
} simidx_verify_report;

#define SIMIDX_VERIFY_REPORT_INIT { sizeof(simidx_verify_report), 0, 0, 0, 0, 0 }

/**
 * Read everything in one snapshot and check it: the structure of the file's pages, used and free;
 * the checksum, order and key of each block or row; the counts and digests of each table against the
 * header and against each other; both copies of the header, the profile and the mark; and whether the
 * commit that LMDB shows is the last one, as far as its two header pages tell. Where pages
 * are damaged, nothing else is looked at, because LMDB must not read them: then the report has
 * problems only. Others may search and write meanwhile.
 *
 * Opening reads some pages by LMDB, and so do all other calls on the handle. What may be damaged
 * is opened with SIMIDX_OPEN_UNTRUSTED; if that fails, simidx_check_pages() lists the pages.
 *
 * @param callback  called for each problem; may be NULL. In an index of an engine it must not begin
 *                  a writer of this handle, which would wait for the check
 * @param ctx       passed to it
 * @param out       may be NULL
 * @return SIMIDX_OK if it is sound; SIMIDX_E_CORRUPT if there was a problem; SIMIDX_E_MOVED;
 *         SIMIDX_E_BUSY, at once, in an index of an engine: a writer of this handle has a transaction,
 *         or another thread checks it
 *
 * An index with one damaged copy of its header can be read, and the next commit mends the copy.
 * Cost: reads the whole file once.
 */
int simidx_verify(simidx *index, void (*callback)(void *ctx, const simidx_problem *problem),
		  void *ctx, simidx_verify_report *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Check the structure of the file's pages, as simidx_verify() does first, without opening the index:
 * LMDB reads none of them. So the problems of a file are listed that SIMIDX_OPEN_UNTRUSTED refuses.
 * The contents of the pages are not looked at. Others may search and write meanwhile; other threads
 * may call it.
 *
 * @param path      the directory of the index
 * @param flags     SIMIDX_OPEN_STATIC, SIMIDX_OPEN_FORCE, or 0
 * @param callback  called for each problem; may be NULL
 * @param ctx       passed to it
 * @return SIMIDX_OK if all pages are sound; SIMIDX_E_CORRUPT if there was a problem, or if the file
 *         is so damaged that there are no pages to check, and then the callback was not called;
 *         SIMIDX_E_BUSY: other processes commit too fast to look at one commit; SIMIDX_E_ARG: no
 *         path, or other flags; SIMIDX_E_NOMEM; the other codes of simidx_open()
 *
 * Cost: that of simidx_open() with SIMIDX_OPEN_UNTRUSTED.
 */
int simidx_check_pages(const char *path, unsigned flags,
		       void (*callback)(void *ctx, const simidx_problem *problem), void *ctx,
		       simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Copy a snapshot of a live index to a new directory, without free pages, and verify the copy as
 * simidx_verify() does. A copy that is not sound is removed, so that it is not taken for a backup.
 *
 * @param destination  must not exist, or be an empty directory, and not be inside the index; appears
 *                     only when the copy is complete, verified and synced
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT: the index is damaged, or the copy, and the text has the first
 *         problem; SIMIDX_E_MOVED: another index has taken its place, before the copy or
 *         meanwhile, or its directory was moved or removed, and there is no copy;
 *         SIMIDX_E_EXISTS, SIMIDX_E_NOT_FOUND (parent), SIMIDX_E_PERMISSION,
 *         SIMIDX_E_NO_SPACE, SIMIDX_E_IO: there is no copy; SIMIDX_E_UNKNOWN: the copy is
 *         complete and in its place, but a power cut may take it away, as the parent directory
 *         could not be synced
 *
 * Cost: reads and writes what the index uses, pinning a snapshot meanwhile, and reads the copy once.
 */
int simidx_backup(simidx *index, const char *destination, simidx_error *err) SIMIDX_CHECK_RESULT;

#define SIMIDX_MEND_DRY_RUN 1u /**< change nothing */

/**
 * Check an index that an engine holds (simidx_engine.h), as simidx_verify() does, and mend in place
 * what a process that was killed in the middle of a commit has left: each of its documents is found
 * as it was before or as it should have become.
 *
 * @param flags     SIMIDX_MEND_DRY_RUN or 0
 * @param callback  called for each problem; may be NULL. It must not begin a writer of this handle,
 *                  which would wait for the check
 * @param ctx       passed to it
 * @param out       may be NULL; with SIMIDX_MEND_DRY_RUN nothing is mended
 * @return SIMIDX_OK: nothing was wrong, or all of it is mended; SIMIDX_E_CORRUPT: something is wrong
 *         still; SIMIDX_E_UNSUPPORTED: the index is a directory: simidx_repair(); SIMIDX_E_READ_ONLY;
 *         SIMIDX_E_BUSY as simidx_verify(); SIMIDX_E_IO
 *
 * Cost: reads all rows and documents.
 */
int simidx_mend(simidx *index, unsigned flags,
		void (*callback)(void *ctx, const simidx_problem *problem), void *ctx,
		simidx_verify_report *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/* ------------------------------------------------------------------------------------------
 * Compacting
 */

/** How an index is compacted. */
typedef struct simidx_compact_options {
	size_t size;        /**< sizeof; SIMIDX_COMPACT_OPTIONS_INIT sets it */
	const char *plan;   /**< the plan that it gets, as in simidx_create_options; NULL = the one it
	                         has */
	unsigned fill;      /**< how full its blocks become, 50..100 percent; 0 = as before */
	unsigned threads;   /**< 0 = one for each core; at most 2 are used */
	uint64_t memory;    /**< bytes to work in, at least 64 MiB; 0 = 1 GiB */
	const char *tmpdir; /**< directory of the temporary files; NULL = that of the new index */
	int wait_ms;        /**< longest wait for another writer or loader, in milliseconds; 0 = do
	                         not wait, -1 = without end */
	unsigned flags;     /**< SIMIDX_OPEN_FORCE; with a destination also SIMIDX_OPEN_STATIC */
	/** Called now and then, as for simidx_loader_options; with the phase "verify" at the beginning
	    and at the end. May be NULL. */
	void (*progress)(void *ctx, const char *phase, uint64_t done, uint64_t total);
	/** Asked now and then: non-zero ends the work with SIMIDX_E_STOPPED. May be NULL. */
	int (*stop)(void *ctx);
	void *ctx;          /**< passed to both */
} simidx_compact_options;

#define SIMIDX_COMPACT_OPTIONS_INIT \
	{ sizeof(simidx_compact_options), NULL, 0, 0, 0, NULL, -1, 0, NULL, NULL, NULL }

/** What it was and what it has become. */
typedef struct simidx_compact_report {
	size_t size;        /**< sizeof; SIMIDX_COMPACT_REPORT_INIT sets it */
	uint64_t documents; /**< in the new index */
	uint64_t old_bytes; /**< size of the old data file */
	uint64_t new_bytes; /**< size of the new one */
} simidx_compact_report;

#define SIMIDX_COMPACT_REPORT_INIT { sizeof(simidx_compact_report), 0, 0, 0 }

/**
 * Build an index anew from its documents: the new file has no free pages, everything is merged, and
 * nothing of documents, labels and fingerprints that were deleted or replaced is left in it. In the
 * old file such bytes can stay until their place is needed.
 *
 * Documents, ids, labels, second fingerprints, times, notes, the next id, the profile, the mark, the
 * layout and the permissions stay. The old index is verified before, as simidx_verify() does, and
 * the new one before it is put in its place. Whatever fails, the old index is as it was.
 *
 * Without a destination the new index takes the place of the old one in one step. Meanwhile writers
 * wait for the lock, or get SIMIDX_E_BUSY. Who reads goes on with the old index until the exchange,
 * and then gets SIMIDX_E_MOVED. The old files are removed, and their space is free when the last
 * process has closed them. A process that is killed leaves the old index or the new one at the path;
 * what it leaves beside it goes when the next index is built there.
 *
 * The exchange takes the whole directory. So it is refused while the directory has files that are not
 * the index's own, which are data.mdb, lock.mdb and write.lock: they would not be at the path any more.
 *
 * With a destination the old index is only read, and a snapshot is pinned meanwhile; writers go on.
 *
 * This erases nothing on the disk: what was in the old file stays there until it is overwritten, and
 * copies and backups of the index are left alone.
 *
 * @param path         the index
 * @param destination  NULL: in place; else where the new one is made, which must not exist or be an
 *                     empty directory, and not be inside the index
 * @param options      NULL for the defaults
 * @param out          may be NULL
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT: the index is damaged, the text has the first problem;
 *         SIMIDX_E_ARG: unknown plan, fill or memory out of range, or the destination is inside the
 *         index; SIMIDX_E_BUSY: another writer or
 *         loader was there for longer than wait_ms, or with a destination others commit too fast to
 *         verify; SIMIDX_E_STOPPED; SIMIDX_E_MOVED: the index was replaced meanwhile, with a
 *         destination one may call again; SIMIDX_E_EXISTS: something is at the destination,
 *         or in place the index's directory has other files, one of which the text names;
 *         SIMIDX_E_NO_SPACE, and the other codes of simidx_open(), simidx_loader_open() and
 *         simidx_loader_finish(); SIMIDX_E_UNKNOWN: the new index is in its place, but a power cut
 *         may bring back what was there, and the old files stay beside it
 *
 * Cost: that of simidx_loader_finish(), and reads the old index twice and the new one once. Beside
 * the old file there must be room for the new one and for temporary files.
 */
int simidx_compact(const char *path, const char *destination, const simidx_compact_options *options,
		   simidx_compact_report *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/* ------------------------------------------------------------------------------------------
 * Marks
 */

/** Longest mark, in bytes. */
#define SIMIDX_MAX_MARK 1024

/**
 * Have the next commit store a mark: a few bytes of the caller's, in one with the documents. It
 * tells a program that reads documents from elsewhere how far it has come. There is one mark in
 * an index; it stays until another one is stored, also when a loader rebuilds the index
 * (simidx_loader_set_mark()). A rollback forgets what was set.
 *
 * @param data  `size` bytes, copied
 * @param size  1..SIMIDX_MAX_MARK
 * @return SIMIDX_OK; SIMIDX_E_RANGE when it is too long or empty
 */
int simidx_writer_set_mark(simidx_writer *writer, const void *data, size_t size,
			   simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Read the mark of the last commit that stored one. Of a writer that was killed in the moment after
 * its commit was written, other processes may not see that commit before somebody writes again. So to go
 * on where it has ended, begin a transaction first (simidx_writer_begin()), and read the mark then.
 *
 * @param buffer  room for `size` bytes; a longer mark is cut
 * @param n       set to the length of the whole mark
 * @return SIMIDX_OK; SIMIDX_E_NOT_FOUND when there is none; SIMIDX_E_BUSY as simidx_get_info();
 *         SIMIDX_E_MOVED, SIMIDX_E_CORRUPT
 */
int simidx_get_mark(simidx *index, void *buffer, size_t size, size_t *n, simidx_error *err)
	SIMIDX_CHECK_RESULT;

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* SIMIDX_ADMIN_H */
