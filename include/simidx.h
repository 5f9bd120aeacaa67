/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx.h - exact near-duplicate search over SimHash fingerprints, on disk.
 *
 * An index stores documents: an id, an f-bit SimHash fingerprint and, where wanted, a label,
 * a second fingerprint, a time and a note. A search returns every stored document whose
 * fingerprint differs from the query's in at most k bits: none is missed, none is returned twice.
 *
 * This header opens an index and searches. It includes the first two; the others include it:
 *
 *   simidx_error.h   codes and texts of errors
 *   simidx_write.h   adding, replacing and deleting documents; marks
 *   simidx_sketch.h  fingerprints from features, distances
 *   simidx_batch.h   searching many queries at once, by several threads
 *   simidx_join.h    all pairs of near documents, and clusters
 *   simidx_load.h    building a whole index at once
 *   simidx_engine.h  what holds indexes elsewhere than in a directory
 *   simidx_info.h    what an index is and holds, how it is searched, what another would be like
 *   simidx_walk.h    all documents, one after another
 *   simidx_check.h   checking, mending, backups, compacting: which of them when
 *   simidx_repair.h  what is sound in a damaged index
 *   simidx_text.h    fingerprints from UTF-8 text (libsimidx-text)
 *
 * The methods: Charikar, "Similarity Estimation Techniques from Rounding Algorithms" (STOC 2002);
 * Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling" (WWW 2007).
 *
 * Conventions that hold for every function of these headers:
 *
 *  - Functions that can fail return 0 (SIMIDX_OK) or a negative SIMIDX_E_ code. Each lists the
 *    codes that it is known for. SIMIDX_E_ARG (a NULL or out-of-range argument, a struct of a bad
 *    size or with unknown fields), SIMIDX_E_NOMEM, SIMIDX_E_IO and SIMIDX_E_FORK can come from
 *    any that takes a handle. SIMIDX_E_MOVED says that the index was replaced: close and open it
 *    again. SIMIDX_E_CORRUPT says that what was read is damaged.
 *  - A function that stores something and fails has stored nothing, unless it says otherwise.
 *    SIMIDX_E_UNKNOWN says that the disk failed so late that nobody can tell: everything may be
 *    stored, or nothing, and a power cut may still take it away; it is never half of it. Close the
 *    index, open it again and look, for example at a mark (simidx_writer_set_mark()).
 *  - The last parameter `err` may be NULL. Otherwise it is cleared on entry and, on failure,
 *    holds the code, the errno if there was one, and a sentence for a person.
 *  - Out-parameters are set first, to NULL, 0 or SIMIDX_NO_ID, so they are defined on every path.
 *  - Structs begin with their size, set by their _INIT macro, so that fields can be added at
 *    the end: a program and a library of different versions work together. What an older struct
 *    lacks counts as zero. A newer one is taken if all that the library does not know of is zero
 *    (else SIMIDX_E_ARG). The library fills a struct as far as it goes, with zeros after what it
 *    knows. In an array, all have the size of the first one. Structs without a size never
 *    change, but for those that are only handed to a callback.
 *  - The library never prints, exits or aborts, installs no signal handler, reads no
 *    environment variable and keeps no locale-dependent state.
 *
 * Threads: a simidx handle may be used by many threads at once. A reader, a writer, a walk and
 * a loader belong to one thread at a time; they may move between threads when the caller orders
 * the hand-over, a writer only while nothing is pending. Every thread that searches opens a
 * reader of its own. Functions without a handle may be called from any thread.
 *
 * Processes: any number of processes may read an index while one writes to it. A handle must
 * not be used in a child after fork(); every call there returns SIMIDX_E_FORK, and closing a
 * handle only frees memory. While an index is open, the process must not itself open and close
 * the lock.mdb in its directory, not even to copy it: that drops LMDB's locks (fcntl(2)). Use
 * simidx_backup(). The directory must be on a local file system, because LMDB's locks and
 * memory map are not coherent on NFS, CIFS or 9p: those are refused unless forced.
 */

#ifndef SIMIDX_H
#define SIMIDX_H

#include <stddef.h>
#include <stdint.h>

#include <simidx_error.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

#define SIMIDX_VERSION_MAJOR 0
#define SIMIDX_VERSION_MINOR 1
#define SIMIDX_VERSION_PATCH 0
#define SIMIDX_VERSION_STRING "0.1.0"

/* ------------------------------------------------------------------------------------------
 * Limits
 */

#define SIMIDX_DEFAULT_RADIUS 3 /**< in bits, usual for fingerprints of 64 bits */
#define SIMIDX_MAX_RADIUS 64    /**< in bits: a search that returns everything */

#define SIMIDX_MIN_BITS 16      /**< of a fingerprint */
#define SIMIDX_MAX_BITS 64
#define SIMIDX_DEFAULT_BITS 64

#define SIMIDX_MAX_ID ((uint64_t)INT64_MAX) /**< ids are 0 to this */
#define SIMIDX_NO_ID UINT64_MAX             /**< "none", or "assign one" */

#define SIMIDX_MAX_LABEL 65535  /**< longest label, in bytes */
#define SIMIDX_MAX_NOTE 8388608  /**< longest note, in bytes */

/** The version of the library that is running, such as "0.1.0". A static string. */
const char *simidx_version(void) SIMIDX_CONST;

/* ------------------------------------------------------------------------------------------
 * The index
 */

typedef struct simidx simidx;               /**< an open index */
typedef struct simidx_reader simidx_reader; /**< searches */

/** How the entries of the tables are stored. */
enum simidx_layout {
	SIMIDX_LAYOUT_BLOCKS = 0, /**< neighbouring entries together, compressed (default) */
	SIMIDX_LAYOUT_ROWS = 1    /**< one key for each entry: literal, readable, larger */
};

#define SIMIDX_CREATE_TRUNCATE 1u /**< replace an index that is already at the path */
#define SIMIDX_CREATE_NO_IDS 2u   /**< store distinct fingerprints only: no ids, no labels */
#define SIMIDX_CREATE_FP2 4u      /**< every document has a second fingerprint */
#define SIMIDX_CREATE_TIMES 16u   /**< every document has a time, which may be unknown */
#define SIMIDX_CREATE_NOTES 32u   /**< documents may have notes: simidx_doc.note */
#define SIMIDX_CREATE_FORCE 8u    /**< accept a network file system, at the caller's risk */

/** What an index is made with; fixed for its life. */
typedef struct simidx_create_options {
	size_t size;             /**< sizeof; SIMIDX_CREATE_OPTIONS_INIT sets it */
	unsigned bits;           /**< f, 16..64; 0 = 64 */
	unsigned layout;         /**< enum simidx_layout */
	unsigned flags;          /**< SIMIDX_CREATE_ flags */
	unsigned fill;           /**< how full merges leave a block, 50..100 percent; 0 = 90 */
	const char *plan;        /**< "4x16", "10x26", "16x28", "20x31", "3x22", "2x32"; NULL or
	                              "auto" = by `expect` */
	const char *profile;     /**< how texts become fingerprints: simidx_text_profile(), or a
	                              line of the caller's own; NULL = none */
	const uint64_t *check_fps; /**< fingerprints of the profile's check texts; may be NULL */
	size_t n_check_fps;      /**< their number, at most 64 */
	uint64_t map_size;       /**< address space to reserve, bytes; 0 = 1 TiB or what there is */
	unsigned mode;           /**< permissions of the files, whatever the umask; 0 = 0600. Who
	                              searches must be able to write the lock file, too (0660 for
	                              a group), or use SIMIDX_OPEN_STATIC */
	uint64_t expect;         /**< documents that the index is going to have; 0 = not known */
} simidx_create_options;

#define SIMIDX_CREATE_OPTIONS_INIT \
	{ sizeof(simidx_create_options), 0, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0, 0 }

/**
 * Make an empty index and open it for reading and writing.
 *
 * The index is a directory. It is built beside the path under a private name, synced and then
 * renamed, so that the path never holds half an index. An empty directory there is replaced.
 * With SIMIDX_CREATE_TRUNCATE an index that is there is exchanged for the new one in one step
 * under its write lock: processes that have it open finish their snapshot, then get
 * SIMIDX_E_MOVED. Its pages are checked before (SIMIDX_OPEN_UNTRUSTED): one that is damaged stays,
 * and has to be removed by other means.
 *
 * Where the path is the URI of an engine (simidx_engine.h), that makes the index: it takes bits,
 * flags, plan (NULL or "auto": its first one), profile and check fingerprints.
 *
 * @param path     directory to make; its parent must exist
 * @param options  NULL for the defaults; all pointers are copied
 * @param out      the handle, for simidx_close()
 * @return SIMIDX_OK; SIMIDX_E_EXISTS: something is at the path that may not be replaced, or with
 *         _TRUNCATE there are files in the index's directory that are not its own;
 *         SIMIDX_E_NOT_FOUND: no parent directory; SIMIDX_E_ARG: unknown plan or layout, bits or
 *         fill out of range, too many check fingerprints; SIMIDX_E_UNSUPPORTED: a network file
 *         system, or LMDB not of the 0.9 series; SIMIDX_E_PERMISSION, SIMIDX_E_NO_SPACE.
 *         With _TRUNCATE also SIMIDX_E_NOT_INDEX, SIMIDX_E_VERSION, SIMIDX_E_CORRUPT: what is
 *         there is no sound index of this version, so it is left alone; SIMIDX_E_BUSY: another
 *         writer is at work in it; SIMIDX_E_MOVED: it was replaced over and over meanwhile.
 *         SIMIDX_E_UNKNOWN: the new index is at the path, but a power cut may bring back what was
 *         there, as the parent directory could not be synced
 *
 * Cost: some pages and fsyncs.
 */
int simidx_create(const char *path, const simidx_create_options *options, simidx **out,
		  simidx_error *err) SIMIDX_CHECK_RESULT;

#define SIMIDX_OPEN_READ_ONLY 1u /**< refuse writers on this handle */
#define SIMIDX_OPEN_STATIC 2u    /**< nothing is written while this is open: take no locks */
#define SIMIDX_OPEN_FORCE 4u     /**< accept a network file system, at the caller's risk */
#define SIMIDX_OPEN_UNTRUSTED 8u /**< check the pages of the file: simidx_check.h, "Damage" */
#define SIMIDX_OPEN_CHECK 16u    /**< searches check the blocks that they read for the first time */
#define SIMIDX_OPEN_CREATE 32u   /**< make an index where none is: simidx_open_options.create */

/** How to open an index. */
typedef struct simidx_open_options {
	size_t size;       /**< sizeof; SIMIDX_OPEN_OPTIONS_INIT sets it */
	unsigned flags;    /**< SIMIDX_OPEN_ flags */
	uint64_t map_size; /**< address space to reserve, bytes; 0 = 1 TiB or what there is */
	uint64_t block_index_bytes; /**< max bytes of memory for block indexes, which make searches
	                        faster and grow with the documents; 0 = no limit */
	const char *kernel; /**< instruction set that compares fingerprints: "scalar", "popcnt",
	                        "avx2", "avx512", "neon"; NULL = the best that the CPU has */
	const simidx_create_options *create; /**< with SIMIDX_OPEN_CREATE: what to make, without
	                        SIMIDX_CREATE_TRUNCATE; NULL = the defaults */
} simidx_open_options;

#define SIMIDX_BLOCK_INDEX_NEVER UINT64_MAX /**< for block_index_bytes: make none */

#define SIMIDX_OPEN_OPTIONS_INIT { sizeof(simidx_open_options), 0, 0, 0, NULL, NULL }

/**
 * Open an index: a directory or, as "scheme://...", one that an engine holds (simidx_engine.h). Of
 * an engine SIMIDX_OPEN_READ_ONLY and _CREATE count, and the kernel. A path that begins like a URI
 * is written "./scheme://...".
 *
 * A second open of the same directory in one process shares the first one's memory map; both
 * are closed on their own. If the first one was read-only, so are all until it is closed.
 * SIMIDX_OPEN_STATIC is for an index on a read-only mount, or one in which the process may not
 * write the lock file: it takes no lock, so the caller vouches that nothing is written until
 * the handle is closed.
 *
 * With SIMIDX_OPEN_CREATE an index is made where nothing is, or an empty directory; of several
 * processes that do so at once one makes it, and all open the same. An index that is there is
 * opened as it is, whatever `create` says: simidx_get_info() tells what it is like. Where one is to
 * be made, the codes of simidx_create() are returned, too.
 *
 * @param options  NULL for the defaults
 * @param out      the handle, for simidx_close()
 * @return SIMIDX_OK; SIMIDX_E_NOT_FOUND: nothing is at the path; SIMIDX_E_NOT_INDEX: it is not an
 *         index of this library; SIMIDX_E_VERSION: it was made by an incompatible version;
 *         SIMIDX_E_CORRUPT: it is cut short or its header is damaged, with _UNTRUSTED any page;
 *         SIMIDX_E_PERMISSION, the text names SIMIDX_OPEN_STATIC where that would help;
 *         SIMIDX_E_UNSUPPORTED: a network file system, LMDB not of the 0.9 series, another page
 *         size or byte order, a kernel that this CPU cannot run, a URI without an engine for it;
 *         SIMIDX_E_BUSY: open in this process with _STATIC and without; SIMIDX_E_NO_SPACE: the
 *         disk is full and the lock file needs space; _STATIC helps here, too
 *
 * Cost: some pages, whatever the size. With SIMIDX_OPEN_UNTRUSTED a look at every page.
 */
int simidx_open(const char *path, const simidx_open_options *options, simidx **out,
		simidx_error *err) SIMIDX_CHECK_RESULT;

/** Close an index. Its readers, writers and walks must have been closed. NULL is allowed. */
void simidx_close(simidx *index);

/* ------------------------------------------------------------------------------------------
 * Searching
 */

/**
 * Open a reader. Each search takes a new snapshot, so it sees every commit that finished before
 * the call and never half of one. Between calls a reader holds no snapshot.
 *
 * @return SIMIDX_OK; SIMIDX_E_BUSY when all reader slots of the index are taken (1,024);
 *         SIMIDX_E_MOVED, SIMIDX_E_CORRUPT
 *
 * Cost: some pages; more than a search, so keep a reader for many.
 */
int simidx_reader_open(simidx *index, simidx_reader **out, simidx_error *err) SIMIDX_CHECK_RESULT;

/** Close a reader; what it returned becomes invalid. NULL is allowed. */
void simidx_reader_close(simidx_reader *reader);

#define SIMIDX_QUERY_LABELS 1u /**< deliver the labels too: one more look-up for each document */
#define SIMIDX_QUERY_FP2 2u    /**< judge by the second fingerprints too: fp2, radius2 */
#define SIMIDX_QUERY_TEXT 4u   /**< the fingerprints are those of texts: see simidx_query */
#define SIMIDX_QUERY_SCAN_SMALL 8u /**< with probes: scan a small index, see simidx_query */

/** What a search is to return. */
enum simidx_mode {
	SIMIDX_ALL = 0,    /**< every match, or the `limit` nearest (default) */
	SIMIDX_FIRST = 1,  /**< one match, whichever is found first */
	SIMIDX_COUNT = 2,  /**< no matches, only how many there are */
	SIMIDX_NEAREST = 3 /**< the `limit` nearest; cheap where they are nearer than the radius */
};

/**
 * What to look for.
 *
 * The distance of a document is the sum of the weights of the bits in which its fingerprint
 * differs from `fp`: with `weights` NULL the Hamming distance; with weights of 0 and 1 the same
 * under an ignore mask; with those of a simidx_sketch one that knows which bits an edit flips
 * first. A match has a distance of at most `radius` and differs in at most `max_bits` bits. With
 * SIMIDX_QUERY_FP2 the distances of both fingerprints must besides add up to at most `radius2`.
 *
 * A document can lack its second fingerprint, after simidx_repair(). With SIMIDX_QUERY_FP2 the
 * first distance must then be at most `radius2`, and with weights at most 59/232 of that (59/144
 * where the second ones are not of runs of three words).
 *
 * A text without features has fingerprint 0 and second fingerprint 0. With SIMIDX_QUERY_TEXT it is
 * near to nothing: it does not match, and as a query it matches nothing. Where the index has second
 * fingerprints, `fp2` is to be set for that, also without SIMIDX_QUERY_FP2.
 *
 * By default all matches are found. `probes` or `complete` make a weighted search cheaper:
 * what lies within simidx_results.complete_to is found for certain, the rest as far as the
 * probes reach. A probe looks up one range of one table.
 *
 * In a small index probes save nothing. With SIMIDX_QUERY_SCAN_SMALL a search goes through all
 * fingerprints, and finds all matches, in an index of up to 128 documents for each of its probes:
 * that depends on these two numbers alone.
 */
typedef struct simidx_query {
	size_t size;    /**< sizeof; SIMIDX_QUERY_INIT sets it */
	uint64_t fp;    /**< the fingerprint; bits above f must be 0 */
	unsigned radius; /**< largest distance; 0..f, with weights any */
	unsigned flags; /**< SIMIDX_QUERY_ flags */
	uint64_t limit; /**< max number of documents to return, the nearest first; 0 = no limit */
	unsigned mode;  /**< enum simidx_mode */
	unsigned max_bits; /**< max number of bits that may differ, those of weight 0 included; 0 =
	                        no such limit */
	const uint8_t *weights;  /**< f of them, weights[b] for bit b; NULL = 1 each */
	const uint8_t *weights2; /**< 64 of them, for fp2; NULL = 1 each */
	uint64_t fp2;     /**< second fingerprint, with SIMIDX_QUERY_FP2 or _TEXT */
	unsigned radius2; /**< largest sum of both distances, with SIMIDX_QUERY_FP2 */
	unsigned probes;  /**< with weights: number of probes, the likeliest first; 0 = as many as
	                        it takes */
	unsigned complete; /**< with weights and probes = 0: distance up to which no match may be
	                        missed; 0 = radius */
	uint32_t newer_than; /**< leave out documents whose time is known and before this one, in
	                        seconds since 1970; 0 = none. Only in an index with times */
	uint64_t max_candidates; /**< max number of fingerprints of the tables to compare with; 0 =
	                              no limit. Fresh rows are all looked at, or none if the search
	                              has ended before; SIMIDX_NEAREST keeps what it found before */
} simidx_query;

#define SIMIDX_QUERY_INIT                                                                     \
	{ sizeof(simidx_query), 0, SIMIDX_DEFAULT_RADIUS, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0, 0, 0 }

#define SIMIDX_MATCH_FP2 1u   /**< fp2 is set: the index has them, and this one is known */
#define SIMIDX_MATCH_LABEL 2u /**< label is set: it was asked for, and there is one */
#define SIMIDX_MATCH_TIME 4u  /**< time is set: the index has times, and this one is known */

/** A document that was found. Arrays of these are returned, so their size never changes. */
typedef struct simidx_match {
	uint64_t id;       /**< its id; SIMIDX_NO_ID in an index without ids */
	uint64_t fp;       /**< its fingerprint */
	uint64_t fp2;      /**< its second fingerprint, if SIMIDX_MATCH_FP2 */
	const char *label; /**< its label, not NUL-terminated; NULL if none or not asked for */
	size_t label_size; /**< in bytes */
	unsigned distance; /**< bits in which fp differs from the query; 0 without a query */
	unsigned flags;    /**< SIMIDX_MATCH_ flags */
	unsigned weighted_distance; /**< distance by the query's weights, with SIMIDX_QUERY_FP2 that
	                        of both fingerprints; equal to `distance` without either */
	unsigned distance2; /**< bits in which fp2 differs, with SIMIDX_QUERY_FP2; else 0 */
	uint32_t time;      /**< its time in seconds since 1970, with SIMIDX_MATCH_TIME; else 0 */
	uint32_t reserved;  /**< zero */
} simidx_match;

#define SIMIDX_CUT_LIMIT 1u      /**< there are more matches than `limit` allows */
#define SIMIDX_CUT_CANDIDATES 2u /**< the search ended at max_candidates */

/** What a search found, and what it took. */
typedef struct simidx_results {
	size_t size;                 /**< sizeof; SIMIDX_RESULTS_INIT sets it */
	const simidx_match *matches; /**< ordered by (weighted_distance, id), without ids by
	                                  (weighted_distance, fingerprint) */
	size_t n;                    /**< their number */
	int truncated;               /**< SIMIDX_CUT_ flags: why there may be more; 0 = that is all
	                                  that was asked for. SIMIDX_NEAREST asks for the `limit`
	                                  nearest, so that its limit cuts nothing */
	int complete_to;             /**< no match within this distance was missed, but for what
	                                  `truncated` says, and with SIMIDX_NEAREST for those beyond
	                                  `limit`; it looks no further than it must, so this may be
	                                  less than the radius; -1 = some at distance 0 may be */
	uint64_t count;              /**< documents that match: in modes _ALL and _COUNT all of them
	                                  unless the answer was cut, else those that were seen */
	uint64_t probes;             /**< ranges of the tables that were looked up */
	uint64_t blocks;             /**< pages of the tables that were read for them */
	uint64_t candidates;         /**< fingerprints that were compared with the query: those in
	                                  the ranges, and perhaps some beside them */
	uint64_t fingerprints;       /**< distinct fingerprints that are near enough; until the next
	                                  merge also those whose documents were all deleted */
	unsigned more;               /**< of a batch: not 0 = further pieces of this query follow */
	unsigned reserved;           /**< zero */
	uint64_t round_trips;        /**< waits for an answer of an engine (simidx_engine.h); what
	                                  queries of a batch share counts for the first of them */
} simidx_results;

#define SIMIDX_RESULTS_INIT { sizeof(simidx_results), NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Find the documents near to a fingerprint, exactly for any radius. Each query is planned: probes
 * of some tables, or a scan of one where that is cheaper (see simidx_reader_explain()).
 *
 * @param out  the results; borrowed from the reader until the next call on it
 * @return SIMIDX_OK, also when nothing matched (out->n is 0); SIMIDX_E_RANGE: fp wider than f bits,
 *         or a radius above f without weights; SIMIDX_E_MISMATCH: SIMIDX_QUERY_FP2 for an index
 *         without second fingerprints, newer_than for one without times; SIMIDX_E_ARG: unknown
 *         flags or mode, probes or complete without weights, SIMIDX_NEAREST without limit;
 *         SIMIDX_E_MOVED; SIMIDX_E_CORRUPT, the text names the block (simidx_check.h)
 *
 * Cost: O(log N) for each probe and O(1) for each candidate, at most O(N) in all. Then one look-up
 * for each fingerprint that matches; documents beyond a limit are not read, except where their
 * second fingerprints or times decide. The first searches of a handle are slower.
 */
int simidx_reader_search(simidx_reader *reader, const simidx_query *query, simidx_results *out,
			 simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Search, and tell which of other fingerprints the query finds as well: those of documents that
 * are not in the index yet. So who adds documents in an order, each only if nothing near to it is
 * there, can search for many of them at once, and knows of each what a search in its turn would
 * find.
 *
 * @param query     in mode SIMIDX_ALL, without max_candidates, and without `complete`, beyond which
 *                  it depends on how much there is what is found
 * @param fps       `n` fingerprints, n < 2^32
 * @param beside    set to the numbers of those that documents would be found by which have them,
 *                  ascending, as far as first fingerprints decide; borrowed from the reader until
 *                  the next call on it. What `fp2` and times decide is the caller's to see
 * @param n_beside  set to how many they are
 * @return as simidx_reader_search(); SIMIDX_E_ARG for what a query may not have here
 *
 * SIMIDX_QUERY_SCAN_SMALL goes by the documents that are in the index.
 *
 * Cost: that of simidx_reader_search(), and less than a nanosecond for each fingerprint that is not
 * near.
 */
int simidx_reader_search_beside(simidx_reader *reader, const simidx_query *query,
				const uint64_t *fps, size_t n, simidx_results *out,
				const uint32_t **beside, size_t *n_beside, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/**
 * Look up the document with an id or a label; its own label is delivered too.
 *
 * @param label  `size` bytes, compared exactly
 * @param out    borrowed from the reader until the next call on it
 * @return SIMIDX_OK; SIMIDX_E_NOT_FOUND; SIMIDX_E_UNSUPPORTED in an index without ids;
 *         SIMIDX_E_MOVED; SIMIDX_E_CORRUPT: something that was read is damaged, the label too
 *
 * Cost: O(log N), some pages.
 */
int simidx_reader_find_id(simidx_reader *reader, uint64_t id, simidx_match *out,
			  simidx_error *err) SIMIDX_CHECK_RESULT;

int simidx_reader_find_label(simidx_reader *reader, const char *label, size_t size,
			     simidx_match *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Read the note of a document: the bytes that a program has stored with it (simidx_doc.note).
 *
 * @param note  the bytes; borrowed from the reader until the next call on it. NULL without a note
 * @param size  their number; 0 without a note
 * @return SIMIDX_OK; SIMIDX_E_NOT_FOUND: no document has the id; SIMIDX_E_MISMATCH: the index keeps
 *         no notes; SIMIDX_E_MOVED; SIMIDX_E_CORRUPT: the note is damaged, by its checksum
 *
 * Cost: O(log N) and that of copying the bytes.
 */
int simidx_reader_note(simidx_reader *reader, uint64_t id, const void **note, size_t *size,
		       simidx_error *err) SIMIDX_CHECK_RESULT;

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#include <simidx_write.h>

#endif /* SIMIDX_H */
