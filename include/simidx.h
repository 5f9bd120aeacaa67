/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx.h - exact near-duplicate search over SimHash fingerprints, on disk.
 *
 * An index stores documents: an id, an f-bit SimHash fingerprint and, where wanted, a label
 * and a second fingerprint. A search returns every stored document whose fingerprint differs
 * from the query's in at most k bits: none is missed, none is returned twice.
 *
 * Methods: SimHash is Charikar, "Similarity Estimation Techniques from Rounding Algorithms"
 * (STOC 2002, section 3). The search by permuted tables is Manku, Jain, Das Sarma, "Detecting
 * Near-Duplicates for Web Crawling" (WWW 2007, section 3).
 *
 * Conventions that hold for every function here:
 *
 *  - Functions that can fail return 0 (SIMIDX_OK) or a negative SIMIDX_E_ code. Each function
 *    lists the codes that it is known for; SIMIDX_E_ARG (a NULL or out-of-range argument, a
 *    struct of a bad size or with unknown fields), SIMIDX_E_NOMEM, SIMIDX_E_IO and
 *    SIMIDX_E_FORK can come from any of them that takes a handle.
 *  - The last parameter `err` may be NULL. Otherwise it is cleared on entry and, on failure,
 *    holds the code, the errno if there was one, and a sentence for a person.
 *  - Out-parameters are set before anything else happens, to NULL, 0 or SIMIDX_NO_ID, so they
 *    are defined on every path.
 *  - Structs begin with their size, set by their _INIT macro, so that fields can be added at
 *    the end: a program and a library of different versions work together. What a struct
 *    lacks because it is older counts as zero. One that is newer than the library is taken if
 *    everything that the library does not know of is zero (else SIMIDX_E_ARG). What the library
 *    fills it fills as far as the caller's struct goes, with zeros after what it knows. In an
 *    array, all have the size of the first one. Structs without a size never change, but for
 *    those that are only handed to a callback.
 *  - The library never prints, exits or aborts, installs no signal handler, reads no
 *    environment variable and keeps no locale-dependent state.
 *
 * Threads: a simidx handle may be used by many threads at once. A reader, a writer and a walk
 * belong to one thread at a time; they may move between threads when the caller orders the
 * hand-over, a writer only while nothing is pending. Every thread that searches opens a reader
 * of its own.
 *
 * Processes: any number of processes may read an index while one writes to it. A handle must
 * not be used in a child after fork(); every call there returns SIMIDX_E_FORK, and closing a
 * handle only frees memory. While an index is open, the process must not itself open and close
 * the lock.mdb in its directory, be it to copy it: that drops LMDB's locks (fcntl(2)). Use
 * simidx_backup(). The directory must be on a local file system, because LMDB's locks
 * and memory map are not coherent on NFS, CIFS or 9p: those are refused unless forced.
 */

#ifndef SIMIDX_H
#define SIMIDX_H

#include <stddef.h>
#include <stdint.h>

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

#if defined(__GNUC__)
#define SIMIDX_CHECK_RESULT __attribute__((warn_unused_result))
#define SIMIDX_CONST __attribute__((const))
#define SIMIDX_PURE __attribute__((pure))
#else
#define SIMIDX_CHECK_RESULT
#define SIMIDX_CONST
#define SIMIDX_PURE
#endif

/* ------------------------------------------------------------------------------------------
 * Limits and constants
 */

/** The radius that the field uses for 64-bit fingerprints (Manku et al., section 2). */
#define SIMIDX_DEFAULT_RADIUS 3

/** The largest radius in bits: that of a search which returns everything. */
#define SIMIDX_MAX_RADIUS 64

/**
 * What searches by the weights of a text use, with and without a second fingerprint: the
 * distance that counts as near, how many of the first one's bits that have a weight may differ
 * (simidx_query.max_bits is that and the number of bits of weight 0), and how many probes look
 * for it (plan 3x22 needs more, as most of its prefixes are longer).
 */
#define SIMIDX_TEXT_RADIUS 144
#define SIMIDX_TEXT_RADIUS_NO_FP2 59
#define SIMIDX_TEXT_BITS 16
#define SIMIDX_TEXT_PROBES 32
#define SIMIDX_TEXT_PROBES_3X22 128

/** Narrowest, widest and default fingerprint, in bits. */
#define SIMIDX_MIN_BITS 16
#define SIMIDX_MAX_BITS 64
#define SIMIDX_DEFAULT_BITS 64

/** Ids are 0..SIMIDX_MAX_ID; SIMIDX_NO_ID means "none" or "assign one". */
#define SIMIDX_MAX_ID ((uint64_t)INT64_MAX)
#define SIMIDX_NO_ID UINT64_MAX

/** Longest label, in bytes. */
#define SIMIDX_MAX_LABEL 65535

/** Texts with fewer tokens than this have fingerprints that one edit moves far. */
#define SIMIDX_SHORT_TOKENS 64

/* ------------------------------------------------------------------------------------------
 * Errors
 */

/*
 * Every code once: X(name, value, text). The enum, simidx_error_name() and simidx_strerror()
 * are all made from this list, so they cannot drift apart.
 */
#define SIMIDX_ERRORS(X)                                                                      \
	X(SIMIDX_OK, 0, "success")                                                            \
	X(SIMIDX_E_ARG, -1, "invalid argument")                                               \
	X(SIMIDX_E_NOMEM, -2, "out of memory")                                                \
	X(SIMIDX_E_STATE, -3, "call not allowed in this state")                               \
	X(SIMIDX_E_NOT_FOUND, -4, "not found")                                                \
	X(SIMIDX_E_END, -5, "no more entries")                                                \
	X(SIMIDX_E_EXISTS, -6, "already exists")                                              \
	X(SIMIDX_E_DUPLICATE, -7, "id or label is already in use")                            \
	X(SIMIDX_E_RANGE, -8, "value out of range")                                           \
	X(SIMIDX_E_MISMATCH, -9, "does not fit this index")                                   \
	X(SIMIDX_E_NOT_INDEX, -10, "not a simidx index")                                      \
	X(SIMIDX_E_VERSION, -11, "index format of another version")                           \
	X(SIMIDX_E_CORRUPT, -12, "index is damaged")                                          \
	X(SIMIDX_E_IO, -13, "input/output error")                                             \
	X(SIMIDX_E_NO_SPACE, -14, "no space left on the file system")                         \
	X(SIMIDX_E_MAP_FULL, -15, "memory map is full")                                       \
	X(SIMIDX_E_PERMISSION, -16, "permission denied")                                      \
	X(SIMIDX_E_READ_ONLY, -17, "index was opened read-only")                              \
	X(SIMIDX_E_BUSY, -18, "locked by another writer")                                     \
	X(SIMIDX_E_MOVED, -19, "index was replaced by another one; open it again")            \
	X(SIMIDX_E_FORK, -20, "handle was opened before fork()")                              \
	X(SIMIDX_E_UNSUPPORTED, -21, "not supported here")                                    \
	X(SIMIDX_E_STOPPED, -22, "stopped by the caller")

enum simidx_code {
#define SIMIDX_ENUM(name, value, text) name = value,
	SIMIDX_ERRORS(SIMIDX_ENUM)
#undef SIMIDX_ENUM
};

/** What went wrong, in a struct that the caller owns. */
typedef struct simidx_error {
	int code;           /**< the SIMIDX_E_ code that the call returned, 0 if it succeeded */
	int sys_errno;      /**< the errno behind it, or 0 */
	char text[496];     /**< one sentence, NUL-terminated, never empty on failure */
	uint64_t reserved;  /**< zero */
} simidx_error;

/**
 * The fixed text of a code.
 *
 * @param code  any int
 * @return a static string; "unknown error" for a value that is not in the list
 */
const char *simidx_strerror(int code) SIMIDX_CONST;

/**
 * The name of a code, such as "SIMIDX_E_BUSY".
 *
 * @param code  any int
 * @return a static string; "SIMIDX_E_?" for a value that is not in the list
 */
const char *simidx_error_name(int code) SIMIDX_CONST;

/** The version of the library that is running, such as "0.1.0". A static string. */
const char *simidx_version(void) SIMIDX_CONST;

/**
 * Versions of what the library runs on, for bug reports: LMDB, xxHash, the file format and the
 * instruction set in use. A static string such as "LMDB 0.9.24, xxHash 0.8.1, format 0.1, avx2".
 */
const char *simidx_build_info(void);

/* ------------------------------------------------------------------------------------------
 * Fingerprints
 */

/**
 * Hamming distance: the number of bits in which two fingerprints differ, 0..64.
 */
unsigned simidx_distance(uint64_t a, uint64_t b) SIMIDX_CONST;

/**
 * Whether two fingerprints differ in at most `k` bits (the field's isEqual(lhs, rhs, n = 3)).
 *
 * @param k  radius in bits; SIMIDX_DEFAULT_RADIUS is what the field uses for 64 bits
 * @return 1 or 0
 */
int simidx_is_near(uint64_t a, uint64_t b, unsigned k) SIMIDX_CONST;

/**
 * The 64-bit hash that turns a feature's bytes into bits: XXH3-64 with seed 0. It is the same
 * on every machine and in every version of the library.
 *
 * @param data  the bytes; may be NULL when size is 0
 * @param size  their number
 */
uint64_t simidx_feature_hash(const void *data, size_t size) SIMIDX_PURE;

/** A feature of a text: a word, a pair of words, anything that can be hashed. */
typedef struct simidx_feature {
	uint64_t hash;   /**< simidx_feature_hash() of it, or any other good 64-bit hash */
	uint32_t weight; /**< how much it counts; any unit, the same for all features of a text */
	uint32_t reserved; /**< zero */
} simidx_feature;

/** A fingerprint with what was known when it was made. */
typedef struct simidx_sketch {
	size_t size;            /**< sizeof(simidx_sketch); SIMIDX_SKETCH_INIT sets it */
	uint64_t fp;            /**< the fingerprint, in the low `bits` bits */
	uint64_t fp2;           /**< the second fingerprint, always 64 bits; 0 if not asked for */
	int64_t sums[64];       /**< per bit: weights of features with it minus those without; 0
	                             from bit f on */
	int64_t sums2[64];      /**< the same for fp2 */
	uint8_t weights[64];    /**< per bit of fp: what a mismatch there says, 0..255 (below) */
	uint8_t weights2[64];   /**< per bit of fp2 */
	uint64_t n_features;    /**< features summed */
	uint64_t n_tokens;      /**< words of the text; set by libsimidx-text, else 0 */
	uint32_t bits;          /**< f */
	uint32_t flags;         /**< SIMIDX_SKETCH_ flags that were asked for, and _SHORT */
} simidx_sketch;

#define SIMIDX_SKETCH_INIT { sizeof(simidx_sketch), 0, 0, { 0 }, { 0 }, { 0 }, { 0 }, 0, 0, 0, 0 }

#define SIMIDX_SKETCH_FP2 1u    /**< compute fp2, sums2 (and weights2, with _WEIGHTS) */
#define SIMIDX_SKETCH_WEIGHTS 2u /**< compute weights */
#define SIMIDX_SKETCH_SHORT 4u  /**< result: a text of fewer than SIMIDX_SHORT_TOKENS tokens */

/**
 * SimHash of weighted features (Charikar 2002; Manku et al., section 2).
 *
 * Bit b is 1 when the weights of the features whose hash has bit b exceed the weights of those
 * that have not; a tie gives 0, and so do no features at all. The second fingerprint is the
 * same over XXH3-64, seed 0x9e3779b97f4a7c15, of the 8 little-endian bytes of each hash. The
 * query weight of a bit is min(255, round(32 |sum| / n)), n being the integer square root of
 * the sum of the squared weights: a bit with a small sum is the first to flip under an edit.
 * Integer arithmetic throughout, so results are equal on every machine. The order of the
 * features does not matter; a feature given twice counts twice.
 *
 * @param features  `n` features; may be NULL when n is 0
 * @param n         their number, at most 2^31
 * @param bits      f, SIMIDX_MIN_BITS..SIMIDX_MAX_BITS; bit b of the result comes from bit b
 *                  of the hashes
 * @param flags     0 or SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS
 * @param out       the result; out->size must be set
 * @return SIMIDX_OK; SIMIDX_E_ARG for bad bits, flags, n or out
 *
 * Cost: a few nanoseconds a feature, twice that with _FP2; least for features of the same
 * weight. Thread-safe.
 */
int simidx_sketch_make(const simidx_feature *features, size_t n, unsigned bits, unsigned flags,
			 simidx_sketch *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/* ------------------------------------------------------------------------------------------
 * The index
 */

typedef struct simidx simidx;               /**< an open index */
typedef struct simidx_reader simidx_reader; /**< searches, one thread at a time */
typedef struct simidx_writer simidx_writer; /**< adds documents */
typedef struct simidx_walk simidx_walk;     /**< all documents in order */

/** How the entries of the tables are stored. */
enum simidx_layout {
	SIMIDX_LAYOUT_BLOCKS = 0, /**< about 700 neighbouring entries behind one key (default) */
	SIMIDX_LAYOUT_ROWS = 1    /**< one LMDB key an entry: literal, readable, larger */
};

#define SIMIDX_CREATE_TRUNCATE 1u /**< replace an index that is already at the path */
#define SIMIDX_CREATE_NO_IDS 2u   /**< store distinct fingerprints only: no ids, no labels */
#define SIMIDX_CREATE_FP2 4u      /**< every document has a second fingerprint */
#define SIMIDX_CREATE_FORCE 8u    /**< accept a network file system, at the caller's risk */

/** What an index is made with; fixed for its life. */
typedef struct simidx_create_options {
	size_t size;             /**< sizeof; SIMIDX_CREATE_OPTIONS_INIT sets it */
	unsigned bits;           /**< f, 16..64; 0 = 64 */
	unsigned layout;         /**< enum simidx_layout */
	unsigned flags;          /**< SIMIDX_CREATE_ flags */
	unsigned fill;           /**< how full merges leave a block, 50..100 percent; 0 = 90 */
	const char *plan;        /**< "4x16", "10x26", "16x28", "20x31", "3x22", "2x32", or "auto":
	                              4x16 up to 50 million expected documents, 3x22 above; NULL =
	                              "auto" */
	const char *profile;     /**< how texts become fingerprints: of simidx_text_profile(), or a
	                              line of the caller's own, to be compared with
	                              simidx_info.profile later; NULL = none */
	const uint64_t *check_fps; /**< fingerprints of the profile's check texts; may be NULL */
	size_t n_check_fps;      /**< their number, at most 64 */
	uint64_t map_size;       /**< address space to reserve, bytes; 0 = 1 TiB or what there is */
	unsigned mode;           /**< permissions of the files; 0 = 0600. The directory gets the
	                              same plus search permission where there is read permission */
	uint64_t expect;         /**< documents that the index is going to have, for "auto"; 0 = not
	                              known */
} simidx_create_options;

#define SIMIDX_CREATE_OPTIONS_INIT \
	{ sizeof(simidx_create_options), 0, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0, 0 }

/**
 * Make an empty index and open it for reading and writing.
 *
 * The index is a directory; it is built beside the target under a private name, synced and
 * then renamed, so that the path never holds half an index. An empty directory at the path is
 * replaced. With SIMIDX_CREATE_TRUNCATE an index that is there is exchanged for the new one in
 * one step under its write lock: processes that have it open finish the snapshot that they
 * read, then get SIMIDX_E_MOVED.
 *
 * @param path     directory to make; its parent must exist
 * @param options  NULL for the defaults; all pointers are copied
 * @param out      the handle, for simidx_close()
 * @return SIMIDX_OK;
 *         SIMIDX_E_EXISTS     something is at the path that may not be replaced;
 *         SIMIDX_E_NOT_INDEX, SIMIDX_E_VERSION, SIMIDX_E_CORRUPT  _TRUNCATE: what is at the path
 *                             is no sound index of this version, so it is left alone;
 *         SIMIDX_E_UNSUPPORTED the file system is a network one, or LMDB is not of the 0.9
 *                             series;
 *         SIMIDX_E_ARG        unknown plan or layout, bits or fill out of range, or too many
 *                             check fingerprints;
 *         SIMIDX_E_NOT_FOUND  the parent directory is missing;
 *         SIMIDX_E_PERMISSION, SIMIDX_E_NO_SPACE, SIMIDX_E_IO from the file system;
 *         SIMIDX_E_BUSY       _TRUNCATE: somebody is writing to the index there;
 *         SIMIDX_E_MOVED      _TRUNCATE: others replaced the index there a thousand times meanwhile
 *
 * Cost: a handful of pages and fsyncs.
 */
int simidx_create(const char *path, const simidx_create_options *options, simidx **out,
		  simidx_error *err) SIMIDX_CHECK_RESULT;

#define SIMIDX_OPEN_READ_ONLY 1u /**< refuse writers on this handle */
#define SIMIDX_OPEN_STATIC 2u    /**< nobody writes while this is open: no locks are taken */
#define SIMIDX_OPEN_FORCE 4u     /**< accept a network file system, at the caller's risk */

/** How to open an index. */
typedef struct simidx_open_options {
	size_t size;       /**< sizeof; SIMIDX_OPEN_OPTIONS_INIT sets it */
	unsigned flags;    /**< SIMIDX_OPEN_ flags */
	uint64_t map_size; /**< address space to reserve, bytes; 0 = 1 TiB or what there is */
	uint64_t block_index_bytes; /**< most bytes of memory for block indexes, which searches
	                         make when it pays, and merges through this handle make anew
	                         where searches use them (about 0.9 bytes a document); 0 = no
	                         limit, SIMIDX_BLOCK_INDEX_NEVER = none */
	const char *kernel; /**< instruction set of the filters: "scalar", "popcnt", "avx2",
	                         "avx512", "neon"; NULL = the best that the CPU has */
} simidx_open_options;

#define SIMIDX_BLOCK_INDEX_NEVER UINT64_MAX

#define SIMIDX_OPEN_OPTIONS_INIT { sizeof(simidx_open_options), 0, 0, 0, NULL }

/**
 * Open an index.
 *
 * A second open of the same directory in one process shares the first one's memory map; both
 * are closed on their own. If the first one was read-only, so are all until it is closed.
 * SIMIDX_OPEN_STATIC is for an index on a read-only mount or one that
 * belongs to somebody else: it takes no lock, so the caller vouches that nobody writes until
 * the handle is closed.
 *
 * @param path     the index directory
 * @param options  NULL for the defaults
 * @param out      the handle, for simidx_close()
 * @return SIMIDX_OK;
 *         SIMIDX_E_NOT_FOUND  nothing is at the path;
 *         SIMIDX_E_NOT_INDEX  it is not a directory, or not an index of this library;
 *         SIMIDX_E_VERSION    it was made by an incompatible version;
 *         SIMIDX_E_CORRUPT    it is cut short or its header is damaged;
 *         SIMIDX_E_PERMISSION no permission; the text names SIMIDX_OPEN_STATIC where that
 *                             would help;
 *         SIMIDX_E_UNSUPPORTED network file system, LMDB not of the 0.9 series, another page
 *                             size or byte order, or a kernel that this CPU cannot run;
 *         SIMIDX_E_BUSY       open in this process with _STATIC and without at once
 *
 * Cost: some milliseconds, whatever the size.
 */
int simidx_open(const char *path, const simidx_open_options *options, simidx **out,
		simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Close an index. Its readers, writers and walks must have been closed before. NULL is allowed.
 */
void simidx_close(simidx *index);

/** What an index is and holds, in one snapshot. */
typedef struct simidx_info {
	size_t size;           /**< sizeof; SIMIDX_INFO_INIT sets it */
	unsigned bits;         /**< f */
	unsigned layout;       /**< enum simidx_layout */
	unsigned flags;        /**< SIMIDX_CREATE_NO_IDS, SIMIDX_CREATE_FP2 where they apply */
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
} simidx_info;

#define SIMIDX_INFO_INIT \
	{ sizeof(simidx_info), 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Read an index's description and counts, in a snapshot of its own.
 *
 * @return SIMIDX_OK; SIMIDX_E_MOVED, SIMIDX_E_CORRUPT
 */
int simidx_get_info(simidx *index, simidx_info *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/** One sub-database of an index. */
typedef struct simidx_table_info {
	size_t size;         /**< sizeof; SIMIDX_TABLE_INFO_INIT sets it */
	const char *name;    /**< "t01".., "postings", "docs", "fresh", "labels", "by_label" */
	unsigned prefix_bits; /**< length of the prefix; 0 for what is not a permuted table */
	uint64_t entries;    /**< fingerprints, documents, rows or labels */
	uint64_t keys;       /**< LMDB keys: blocks, or entries in the rows layout */
	uint64_t pages;      /**< all pages that belong to it */
	uint64_t overflow_pages; /**< of these, pages that hold one block each */
	uint64_t bytes_used; /**< bytes of the entries themselves, without padding */
	uint64_t digest;     /**< sum of the hashes of its entries; 0 where there is none */
} simidx_table_info;

#define SIMIDX_TABLE_INFO_INIT { sizeof(simidx_table_info), NULL, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Describe sub-database number `i`, counted from 0: the permuted tables first.
 *
 * Cost: for a block table, one visit of every block's header, so all its pages are read.
 *
 * @return SIMIDX_OK; SIMIDX_E_END if there are not that many; SIMIDX_E_MOVED, SIMIDX_E_CORRUPT
 */
int simidx_get_table_info(simidx *index, unsigned i, simidx_table_info *out, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/**
 * Have long work (merge, verify, backup) tell how far it is.
 *
 * @param callback  called now and then from the thread that works; `done` of `total` in
 *                  whatever unit `phase` implies; must not call back into the library. NULL
 *                  switches it off
 * @param ctx       passed through
 */
void simidx_set_progress(simidx *index,
			 void (*callback)(void *ctx, const char *phase, uint64_t done,
					  uint64_t total),
			 void *ctx);

/* ------------------------------------------------------------------------------------------
 * Searching
 */

/**
 * Open a reader. Each search takes a new snapshot, so a reader sees every commit that finished
 * before the call and never half of one; between calls it holds no snapshot, so an idle reader
 * costs nothing and does not make the file grow.
 *
 * @param out  the reader, for simidx_reader_close()
 * @return SIMIDX_OK; SIMIDX_E_BUSY when LMDB's reader slots are all taken (1,024);
 *         SIMIDX_E_MOVED, SIMIDX_E_CORRUPT
 */
int simidx_reader_open(simidx *index, simidx_reader **out, simidx_error *err) SIMIDX_CHECK_RESULT;

/** Close a reader; what it returned becomes invalid. NULL is allowed. */
void simidx_reader_close(simidx_reader *reader);

#define SIMIDX_QUERY_LABELS 1u /**< deliver the labels too: one more look-up a document */
#define SIMIDX_QUERY_FP2 2u    /**< judge by the second fingerprints too: fp2, radius2 */

/** What a search is to return. */
enum simidx_mode {
	SIMIDX_ALL = 0,    /**< every match, or the `limit` nearest (default) */
	SIMIDX_FIRST = 1,  /**< one match, whichever is found first */
	SIMIDX_COUNT = 2,  /**< no matches, only how many there are */
	SIMIDX_NEAREST = 3 /**< the `limit` nearest, by searches of growing radius */
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
 * By default all matches are found. `probes` or `complete` make a weighted search cheaper:
 * what lies within simidx_results.complete_to is found for certain, the rest as far as the
 * probes reach.
 */
typedef struct simidx_query {
	size_t size;    /**< sizeof; SIMIDX_QUERY_INIT sets it */
	uint64_t fp;    /**< the fingerprint; bits above f must be 0 */
	unsigned radius; /**< largest distance; 0..f, with weights any */
	unsigned flags; /**< SIMIDX_QUERY_ flags */
	uint64_t limit; /**< most documents to return, the nearest first; 0 = no limit */
	unsigned mode;  /**< enum simidx_mode */
	unsigned max_bits; /**< most bits that may differ; 0 = no such limit. Those of weight 0
	                        count too */
	const uint8_t *weights;  /**< f of them, weights[b] for bit b; NULL = 1 each */
	const uint8_t *weights2; /**< 64 of them, for fp2; NULL = 1 each */
	uint64_t fp2;     /**< second fingerprint, with SIMIDX_QUERY_FP2 */
	unsigned radius2; /**< largest sum of both distances, with SIMIDX_QUERY_FP2 */
	unsigned probes;  /**< with weights: look up so many ranges, the likeliest first; 0 = as
	                       many as it takes */
	unsigned complete; /**< with weights and probes = 0: distance up to which no match may be
	                        missed; 0 = radius */
	unsigned reserved;       /**< zero */
	uint64_t max_candidates; /**< stop after comparing so many fingerprints of the tables; 0 =
	                              never. Fresh rows are all looked at, or none if it came to
	                              that; SIMIDX_NEAREST has at least what smaller radii found */
} simidx_query;

#define SIMIDX_QUERY_INIT                                                                     \
	{ sizeof(simidx_query), 0, SIMIDX_DEFAULT_RADIUS, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0, 0, 0 }

#define SIMIDX_MATCH_FP2 1u   /**< fp2 is set */
#define SIMIDX_MATCH_LABEL 2u /**< label is set: it was asked for, and there is one */

/** A document that was found. Arrays of these are returned, so their size never changes. */
typedef struct simidx_match {
	uint64_t id;       /**< its id; SIMIDX_NO_ID in an index without ids */
	uint64_t fp;       /**< its fingerprint */
	uint64_t fp2;      /**< its second fingerprint, if SIMIDX_MATCH_FP2 */
	const char *label; /**< its label, not NUL-terminated; NULL if none or not asked for */
	size_t label_size; /**< in bytes */
	unsigned distance; /**< bits in which fp differs from the query; 0 where there was none */
	unsigned flags;    /**< SIMIDX_MATCH_ flags */
	unsigned weighted_distance; /**< distance by the query's weights, with SIMIDX_QUERY_FP2 that
	                        of both fingerprints; equal to `distance` without either */
	unsigned distance2; /**< bits in which fp2 differs, with SIMIDX_QUERY_FP2; else 0 */
	uint64_t reserved;  /**< zero */
} simidx_match;

#define SIMIDX_CUT_LIMIT 1u      /**< there are more matches than `limit` allows */
#define SIMIDX_CUT_CANDIDATES 2u /**< the search ended at max_candidates */

/** What a search found, and what it took. */
typedef struct simidx_results {
	size_t size;                 /**< sizeof; SIMIDX_RESULTS_INIT sets it */
	const simidx_match *matches; /**< ordered by (weighted_distance, id), without ids by
	                                  (weighted_distance, fingerprint) */
	size_t n;                    /**< their number */
	int truncated;               /**< SIMIDX_CUT_ flags: why there may be more; 0 = that is all */
	int complete_to;             /**< no match within this distance was missed, but for what
	                                  `truncated` says; -1 = some at distance 0 may be */
	uint64_t count;              /**< documents that match, as far as they were looked at: all
	                                  of them in the modes _ALL and _COUNT unless the answer was
	                                  cut; in mode _FIRST 0 or 1 */
	uint64_t probes;             /**< ranges of the tables that were looked up */
	uint64_t blocks;             /**< pages of the tables that were read for them */
	uint64_t candidates;         /**< fingerprints that were compared with the query: those in the
	                                  ranges and, where a block index is in use, most often up to
	                                  two dozen beside each */
	uint64_t fingerprints;       /**< distinct fingerprints that are near enough */
	unsigned more;               /**< of a batch: not 0 = this is a piece of the matches, and
	                                  further pieces of the same query follow */
	unsigned reserved;           /**< zero */
} simidx_results;

#define SIMIDX_RESULTS_INIT { sizeof(simidx_results), NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Find the documents near to a fingerprint (Manku et al., section 3), exactly.
 *
 * How is planned for each query from its radius and weights, the plan of the index and how full
 * the ranges are that it would read: probes of some tables, or a scan of one where that is
 * cheaper. Any radius is exact; what large ones cost, simidx_reader_explain() tells.
 *
 * @param out  the results; borrowed from the reader until the next call on it
 * @return SIMIDX_OK, also when nothing matched (out->n is 0);
 *         SIMIDX_E_RANGE   fp wider than f bits, or a radius above f without weights;
 *         SIMIDX_E_MISMATCH  SIMIDX_QUERY_FP2 for an index without second fingerprints;
 *         SIMIDX_E_ARG     unknown flags or mode, probes without weights, SIMIDX_NEAREST
 *                          without limit;
 *         SIMIDX_E_MOVED   the index was replaced; close and open again;
 *         SIMIDX_E_CORRUPT a block that was read is damaged; the text names it
 *
 * Cost: with radius 3 and 4x16 four ranges of N/65,536 entries: 0.8 us at 10^6, 1.8 us at 10^7
 * and 5 us at 10^8 (ids included, half of the queries matching) once the block indexes are made; the
 * first searches, up to 2,000, do without and take several times that. Then one look-up a matching
 * fingerprint. With a limit, documents beyond it are not read, except where their second
 * fingerprints decide (SIMIDX_QUERY_FP2).
 */
int simidx_reader_search(simidx_reader *reader, const simidx_query *query, simidx_results *out,
		  simidx_error *err) SIMIDX_CHECK_RESULT;

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
	const char *kernel;      /**< instruction set of the filter; a static string */
	unsigned block_indexes;  /**< tables that were looked up through a block index in memory */
	int looked_up;           /**< 1: candidates and microseconds are by how full the ranges
	                              really are; 0: as if all were equally full, which a search
	                              assumes until it meets one that is far from it */
} simidx_explanation;

#define SIMIDX_EXPLANATION_INIT { sizeof(simidx_explanation), NULL, 0, NULL, NULL, 0, 0 }

/**
 * Search and tell how: what was chosen and rejected, and what it then took.
 *
 * @param out  what it points to is borrowed from the reader until the next call on it
 * @return as simidx_reader_search()
 */
int simidx_reader_explain(simidx_reader *reader, const simidx_query *query, simidx_explanation *out,
		   simidx_error *err) SIMIDX_CHECK_RESULT;

/** How simidx_search_batch() works. */
typedef struct simidx_batch_options {
	size_t size;      /**< sizeof; SIMIDX_BATCH_OPTIONS_INIT sets it */
	unsigned threads; /**< 0 = one a core; more than 256 are taken as 256 */
	/** Takes the answer to query number i, 0..n - 1; `results` stay valid during the call.
	    Anything but 0 ends the batch with SIMIDX_E_STOPPED. See simidx_search_batch(). */
	int (*deliver)(void *ctx, size_t i, const simidx_results *results);
	void *ctx;        /**< passed to deliver() */
} simidx_batch_options;

#define SIMIDX_BATCH_OPTIONS_INIT { sizeof(simidx_batch_options), 0, NULL, NULL }

/**
 * Search many queries. Large batches whose queries differ in nothing but the fingerprint share
 * what they read, and are faster for it than as many single searches. All queries see one
 * snapshot, or those of each thread do; it is pinned until the end, as by a walk.
 *
 * With one thread, answers come in the order of the queries, from the caller's thread. Otherwise
 * deliver() may be called from several threads at the same time, and in no order: order is the
 * caller's business. The matches of a query come in pieces of at most 65,536. Every piece but the
 * last has simidx_results.more set; the pieces of a query come one after another, in the order of
 * their matches and from the same thread; the counts in each are those of the whole query.
 *
 * Memory: some megabytes a thread, and the matches of the query that the thread is at.
 *
 * @param queries  `n` of them; each may have another radius, mode and so on. They lie as far
 *                 apart as the first one's size says, and all have that size
 * @param options  with deliver() set
 * @return as simidx_reader_search(), of a query that fails; with one thread it is the first one
 *         that does, and those before it have been answered; with several, others may be
 *         unanswered too; SIMIDX_E_STOPPED; SIMIDX_E_BUSY when all reader slots of the index are
 *         taken
 */
int simidx_search_batch(simidx *index, const simidx_query *queries, size_t n,
			const simidx_batch_options *options, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/** What an index of some size would be like. */
typedef struct simidx_prediction {
	size_t size;          /**< sizeof; SIMIDX_PREDICTION_INIT sets it */
	const char *plan;     /**< a static string */
	unsigned n_tables;
	double table_bytes;   /**< bytes a document of the permuted tables */
	double bytes;         /**< of the whole index, postings and docs included */
	double probes;        /**< of a query */
	double candidates;
	double microseconds;  /**< of a query with all in memory, on a typical machine: a server
	                           of 2024 (Zen 4). For 10^6 to 10^8 documents and k = 3
	                           it is right there within about a factor of 1.5, and for
	                           20x31 of 1.8 */
} simidx_prediction;

#define SIMIDX_PREDICTION_INIT { sizeof(simidx_prediction), NULL, 0, 0, 0, 0, 0, 0 }

/**
 * Predict size and speed of an index, for choosing a plan.
 *
 * @param i          number of the plan, from 0 on
 * @param bits       f
 * @param documents  how many, with fingerprints spread evenly
 * @param radius     of the queries
 * @return SIMIDX_OK; SIMIDX_E_END if there are not that many plans; SIMIDX_E_ARG
 */
int simidx_plan_predict(unsigned i, unsigned bits, uint64_t documents, unsigned radius,
		   simidx_prediction *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Look up the document with an id, label included.
 *
 * @param out  borrowed from the reader until the next call on it
 * @return SIMIDX_OK; SIMIDX_E_NOT_FOUND; SIMIDX_E_UNSUPPORTED in an index without ids;
 *         SIMIDX_E_MOVED, SIMIDX_E_CORRUPT
 */
int simidx_reader_find_id(simidx_reader *reader, uint64_t id, simidx_match *out, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/**
 * Look up the document with a label.
 *
 * @param label  `size` bytes, compared exactly
 * @param out    borrowed from the reader until the next call on it
 * @return as simidx_reader_find_id()
 */
int simidx_reader_find_label(simidx_reader *reader, const char *label, size_t size, simidx_match *out,
		     simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Start a walk over all documents of one snapshot, by ascending id (without ids: distinct
 * fingerprints, ascending). A walk pins its snapshot: while it is open, the file grows by what
 * others write.
 *
 * @param out  the walk, for simidx_walk_close()
 * @return SIMIDX_OK; SIMIDX_E_BUSY, SIMIDX_E_MOVED, SIMIDX_E_CORRUPT
 */
int simidx_walk_open(simidx *index, simidx_walk **out, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * The next document, with its label and second fingerprint.
 *
 * @param out  borrowed from the walk until the next call on it; distance is 0
 * @return SIMIDX_OK; SIMIDX_E_END after the last one; SIMIDX_E_CORRUPT
 */
int simidx_walk_next(simidx_walk *walk, simidx_match *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/** End a walk. NULL is allowed. */
void simidx_walk_close(simidx_walk *walk);

/* ------------------------------------------------------------------------------------------
 * Writing
 */

/** When a commit counts as stored. */
enum simidx_durability {
	SIMIDX_DURABILITY_FULL = 0,  /**< it survives a power cut (default) */
	SIMIDX_DURABILITY_NORMAL = 1 /**< a power cut may lose the last commits, never mix them */
};

/** When fresh rows are merged into the tables. */
enum simidx_merge_mode {
	SIMIDX_MERGE_AUTO = 0, /**< in the commit that passes the threshold (default) */
	SIMIDX_MERGE_NEVER = 1 /**< only by simidx_writer_merge() */
};

/** How a writer works. */
typedef struct simidx_writer_options {
	size_t size;              /**< sizeof; SIMIDX_WRITER_OPTIONS_INIT sets it */
	unsigned durability;      /**< enum simidx_durability */
	unsigned merge;           /**< enum simidx_merge_mode */
	uint64_t merge_threshold; /**< fresh rows that a commit may leave; 0 = a sixteenth of the
	                               documents, but 65,536..1,000,000 */
	int wait_ms;              /**< longest wait for another writer, in milliseconds; 0 = do
	                               not wait, -1 = for ever */
	unsigned reserved;        /**< zero */
} simidx_writer_options;

#define SIMIDX_WRITER_OPTIONS_INIT { sizeof(simidx_writer_options), 0, 0, 0, -1, 0 }

/**
 * Open a writer. It takes the write lock at the first simidx_writer_put() after opening, a commit or a
 * rollback, and gives it back at the commit or rollback.
 *
 * @param options  NULL for the defaults
 * @param out      the writer, for simidx_writer_close()
 * @return SIMIDX_OK; SIMIDX_E_READ_ONLY when the handle or the file does not allow writing
 */
int simidx_writer_open(simidx *index, const simidx_writer_options *options, simidx_writer **out,
		       simidx_error *err) SIMIDX_CHECK_RESULT;

#define SIMIDX_DOC_FP2 1u /**< fp2 is set */

/** A document to store. */
typedef struct simidx_doc {
	size_t size;       /**< sizeof; SIMIDX_DOC_INIT sets it */
	uint64_t id;       /**< 0..SIMIDX_MAX_ID, or SIMIDX_NO_ID: largest id so far + 1 */
	uint64_t fp;       /**< fingerprint; bits above f must be 0 */
	uint64_t fp2;      /**< second fingerprint, with SIMIDX_DOC_FP2 */
	const char *label; /**< URL, path or any other key; NULL = none. Copied */
	size_t label_size; /**< in bytes, 1..SIMIDX_MAX_LABEL; not looked at when label is NULL */
	unsigned flags;    /**< SIMIDX_DOC_ flags */
	unsigned reserved; /**< zero */
} simidx_doc;

#define SIMIDX_DOC_INIT { sizeof(simidx_doc), SIMIDX_NO_ID, 0, 0, NULL, 0, 0, 0 }

/**
 * Add a document to the current transaction. Others see it after the commit. After any error
 * but the last three the transaction is as it was before the call and goes on.
 *
 * @param id  if not NULL: the id that the document got
 * @return SIMIDX_OK;
 *         SIMIDX_E_DUPLICATE  another document has this id or this label;
 *         SIMIDX_E_RANGE      id or fp out of range, label too long or empty;
 *         SIMIDX_E_MISMATCH   fp2 is missing where the index has it or given where it has not;
 *                             an id or label for an index without ids;
 *         SIMIDX_E_BUSY       another writer held the lock for longer than wait_ms;
 *         SIMIDX_E_MOVED      the index was replaced; close and open again;
 *         SIMIDX_E_NO_SPACE, SIMIDX_E_MAP_FULL, SIMIDX_E_CORRUPT: the transaction is lost
 *
 * Cost: about a microsecond; an id above all others needs no look-up, any other one does.
 */
int simidx_writer_put(simidx_writer *writer, const simidx_doc *doc, uint64_t *id, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/**
 * Store what was put since the last commit: all of it or nothing. Then, with SIMIDX_MERGE_AUTO
 * and more fresh rows than the threshold, merge. Without anything put it only merges if due.
 *
 * @return SIMIDX_OK;
 *         SIMIDX_E_NO_SPACE, SIMIDX_E_MAP_FULL, SIMIDX_E_IO: the transaction is lost and the
 *         index as it was before; or the merge failed, then the rows are stored and a later
 *         merge takes up the work: simidx_writer_stored() tells which
 *
 * Cost: a few pages and one fsync; a merge rewrites the tables' blocks that it touches.
 */
int simidx_writer_commit(simidx_writer *writer, simidx_error *err) SIMIDX_CHECK_RESULT;

/** Most bytes of a mark. */
#define SIMIDX_MAX_MARK 1024

/**
 * Have the next commit store a few bytes of the caller's, in one with the documents: for
 * programs that read documents from somewhere, how far they have come. There is one mark in an
 * index; it stays until another one is stored, also when a loader rebuilds the index
 * (simidx_loader_set_mark()). A rollback forgets what was set.
 *
 * @param data  `size` bytes, copied
 * @param size  1..SIMIDX_MAX_MARK
 * @return SIMIDX_OK; SIMIDX_E_RANGE when it is too long or empty
 */
int simidx_writer_set_mark(simidx_writer *writer, const void *data, size_t size, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/**
 * Read the mark of the last commit that stored one.
 *
 * @param buffer  room for `size` bytes; a longer mark is cut
 * @param n       set to the length of the whole mark
 * @return SIMIDX_OK; SIMIDX_E_NOT_FOUND when there is none; SIMIDX_E_MOVED, SIMIDX_E_CORRUPT
 */
int simidx_get_mark(simidx *index, void *buffer, size_t size, size_t *n, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/** Documents that this writer has committed since it was opened. */
uint64_t simidx_writer_stored(const simidx_writer *writer);

/** Documents put since the last commit or rollback. */
uint64_t simidx_writer_pending(const simidx_writer *writer);

/** Forget what was put since the last commit and release the write lock. */
void simidx_writer_rollback(simidx_writer *writer);

/** Roll back and free a writer. NULL is allowed. */
void simidx_writer_close(simidx_writer *writer);

/**
 * Move all fresh rows into the tables, in several transactions. Killed in between, it changes
 * no answer, and the next merge finishes the work. Readers go on meanwhile; block indexes that
 * those of the same handle use are made anew.
 *
 * @param writer  with nothing pending
 * @return SIMIDX_OK, also if there was nothing to do; SIMIDX_E_STATE with documents pending;
 *         SIMIDX_E_BUSY, SIMIDX_E_MOVED, SIMIDX_E_NO_SPACE, SIMIDX_E_MAP_FULL,
 *         SIMIDX_E_CORRUPT
 *
 * Cost: 0.5 us (10^7 documents) to 5 us (10^8) a row when the threshold is kept.
 */
int simidx_writer_merge(simidx_writer *writer, simidx_error *err) SIMIDX_CHECK_RESULT;

/* ------------------------------------------------------------------------------------------
 * Loading in bulk
 */

typedef struct simidx_loader simidx_loader; /**< builds a whole index at once */

/**
 * What becomes of documents with the same id or the same label. They are judged one after
 * another, as a writer would: one that is left out is in the way of none that comes later.
 */
enum simidx_duplicates {
	SIMIDX_DUPLICATES_REJECT = 0, /**< the first stays, later ones are reported (default) */
	SIMIDX_DUPLICATES_FIRST = 1,  /**< the first stays, silently */
	SIMIDX_DUPLICATES_LAST = 2    /**< the last stays, silently */
};

/** How a loader works. */
typedef struct simidx_loader_options {
	size_t size;        /**< sizeof; SIMIDX_LOADER_OPTIONS_INIT sets it */
	uint64_t memory;    /**< bytes to work in, at least 64 MiB; 0 = 1 GiB */
	const char *tmpdir; /**< directory of the temporary files; NULL = that of the index */
	unsigned threads;   /**< 0 = one a core, at most 2 are used */
	unsigned duplicates; /**< enum simidx_duplicates */
	int wait_ms;        /**< longest wait for another writer or loader, as in
	                         simidx_writer_options; in simidx_loader_open(), and again in
	                         simidx_loader_finish() for an index that is to be replaced */
	unsigned flags;     /**< SIMIDX_OPEN_FORCE, for the index at the path */
	/** Called by simidx_loader_finish() for each document that is left out. `row` counts the
	    calls of simidx_loader_put() from 0; may be NULL. */
	void (*rejected)(void *ctx, uint64_t row, const char *reason);
	/** Called now and then by simidx_loader_finish(), as for simidx_set_progress(), and with
	    the phase "waiting" and two zeros while others are waited for; may be NULL. */
	void (*progress)(void *ctx, const char *phase, uint64_t done, uint64_t total);
	/** Asked now and then by simidx_loader_finish(), for the last time before the exchange,
	    and by simidx_loader_open() while it waits: non-zero ends them with SIMIDX_E_STOPPED.
	    May be NULL. */
	int (*stop)(void *ctx);
	void *ctx;          /**< passed to all of them */
} simidx_loader_options;

#define SIMIDX_LOADER_OPTIONS_INIT \
	{ sizeof(simidx_loader_options), 0, NULL, 0, 0, -1, 0, NULL, NULL, NULL, NULL }

/** What a loader did. */
typedef struct simidx_loader_report {
	size_t size;          /**< sizeof; SIMIDX_LOADER_REPORT_INIT sets it */
	uint64_t documents;   /**< in the index now */
	uint64_t distinct;    /**< distinct fingerprints */
	uint64_t duplicates;  /**< documents left out for their id or label */
	uint64_t left_out;    /**< of these, documents that were put */
	uint64_t spill_bytes; /**< written to temporary files */
} simidx_loader_report;

#define SIMIDX_LOADER_REPORT_INIT { sizeof(simidx_loader_report), 0, 0, 0, 0, 0 }

/**
 * Begin to build an index at `path`.
 *
 * It takes shape in a private directory beside the path and is exchanged for what is there at
 * the end, in one step: a process that is killed leaves the path as it was. With `create` the
 * index is a new one. Without, it becomes what is at the path now and what is put: the index
 * there stays locked for writers until the loader is closed, readers go on with it and get
 * SIMIDX_E_MOVED after the exchange.
 *
 * There is one loader at a time for a path, so that none works for nothing: another one waits
 * until the first is closed, and sees then what that has made.
 *
 * @param create   options of a new index (simidx_create()), or NULL to add to the one at path
 * @param options  NULL for the defaults
 * @param out      for simidx_loader_close()
 * @return SIMIDX_OK; the codes of simidx_create() and, without create, of simidx_open();
 *         SIMIDX_E_EXISTS  create without SIMIDX_CREATE_TRUNCATE: something is there, perhaps
 *                          what another loader has made while this one waited for it;
 *         SIMIDX_E_BUSY    another writer or loader was there for longer than wait_ms;
 *         SIMIDX_E_STOPPED the caller's stop() ended the wait;
 *         SIMIDX_E_MOVED   without create: others replaced the index a thousand times while it
 *                          was being opened; one that is replaced meanwhile is opened again
 */
int simidx_loader_open(const char *path, const simidx_create_options *create,
		       const simidx_loader_options *options, simidx_loader **out,
		       simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Add all documents of another index, as they are when this is called; before the first
 * simidx_loader_put(). Their order for duplicates: the index at the path, these in the order
 * they were added, then what is put.
 *
 * @param source  an index with the same bits, flags and profile; stays open until the loader is
 *                closed
 * @return SIMIDX_OK; SIMIDX_E_MISMATCH, the text says in what; SIMIDX_E_STATE after a put
 */
int simidx_loader_add_index(simidx_loader *loader, simidx *source, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/**
 * Add a document. Ids and labels that are in use are found out by simidx_loader_finish(); a
 * document that is left out there keeps the id that it got, so ids have a gap (simidx_writer_put() gives
 * such an id to the next document).
 *
 * @param id  if not NULL: the id that the document got
 * @return SIMIDX_OK; SIMIDX_E_RANGE, SIMIDX_E_MISMATCH as simidx_writer_put(), the document is left out
 *         and loading may go on; SIMIDX_E_NO_SPACE, SIMIDX_E_IO: it may only be closed
 */
int simidx_loader_put(simidx_loader *loader, const simidx_doc *doc, uint64_t *id,
		      simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Say how many documents are going to be put in all, about, to learn before the work whether
 * they will fit on the disk. simidx_loader_finish() looks again, when it knows.
 *
 * @param documents    without those of indexes that are taken over
 * @param label_bytes  of their labels
 * @return SIMIDX_OK; SIMIDX_E_NO_SPACE: the text says how much is needed and where, beside the
 *         path or in tmpdir; SIMIDX_E_RANGE for numbers above SIMIDX_MAX_ID; SIMIDX_E_STATE
 *         after simidx_loader_finish(). Loading may go on all the same
 */
int simidx_loader_expect(simidx_loader *loader, uint64_t documents, uint64_t label_bytes,
			 simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Have the index that is made carry a mark (simidx_writer_set_mark()). Without this call it is that of
 * the index that was at the path, if there was one; those of indexes that are added do not matter.
 *
 * @param data  `size` bytes, copied
 * @param size  1..SIMIDX_MAX_MARK
 * @return SIMIDX_OK; SIMIDX_E_RANGE when it is too long or empty
 */
int simidx_loader_set_mark(simidx_loader *loader, const void *data, size_t size,
			   simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Sort, build and put the index in its place. Only simidx_loader_close() may follow.
 *
 * Cost: about 0.4 us a document and core (4x16), memory as in the options, temporary space of
 * 24 bytes a document and more, labels besides. Method: the documents are sorted by
 * (fingerprint, id) once; as permuting keeps the order of the bits behind the prefix, each
 * table then needs a stable sort by its prefix only.
 *
 * @param report  may be NULL
 * @return SIMIDX_OK; SIMIDX_E_NO_SPACE, SIMIDX_E_IO, SIMIDX_E_CORRUPT (a source is damaged),
 *         SIMIDX_E_MOVED, SIMIDX_E_STOPPED; SIMIDX_E_EXISTS (somebody has made an index at the
 *         path, not with a loader), SIMIDX_E_BUSY (the index that is to be replaced was at work
 *         for longer than wait_ms): nothing at the path has changed
 */
int simidx_loader_finish(simidx_loader *loader, simidx_loader_report *report, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/** Free a loader; what was not finished leaves no trace. NULL is allowed. */
void simidx_loader_close(simidx_loader *loader);

/* ------------------------------------------------------------------------------------------
 * Keeping
 */

/** One thing that is wrong. */
typedef struct simidx_problem {
	const char *table; /**< sub-database, such as "t01" or "meta" */
	const char *text;  /**< what is wrong and where, one line; valid during the callback */
} simidx_problem;

/** What simidx_verify() looked at. */
typedef struct simidx_verify_report {
	size_t size;        /**< sizeof; SIMIDX_VERIFY_REPORT_INIT sets it */
	uint64_t blocks;    /**< blocks (or rows) whose checksum and order were checked */
	uint64_t entries;   /**< entries in them */
	uint64_t documents; /**< documents, fresh ones included */
	uint64_t problems;  /**< 0 = sound */
} simidx_verify_report;

#define SIMIDX_VERIFY_REPORT_INIT { sizeof(simidx_verify_report), 0, 0, 0, 0 }

/**
 * Read everything in one snapshot and check it: the checksum, order and key of each block, the
 * counts and digests of each table against the header and against each other.
 *
 * @param callback  called for each problem; may be NULL
 * @param ctx       passed through
 * @param out       may be NULL
 * @return SIMIDX_OK if it is sound; SIMIDX_E_CORRUPT if there was a problem; SIMIDX_E_MOVED
 *
 * Entries of the rows layout have no checksums: there, damage is found in keys, order, counts,
 * fingerprints, ids and labels, but not in second fingerprints. Cost: reads the whole file once.
 */
int simidx_verify(simidx *index, void (*callback)(void *ctx, const simidx_problem *problem),
		  void *ctx, simidx_verify_report *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Copy a snapshot of a live index to a new directory, without free pages.
 *
 * @param destination  must not exist, or be an empty directory; appears only when the copy is
 *                     complete and synced
 * @return SIMIDX_OK; SIMIDX_E_EXISTS, SIMIDX_E_NOT_FOUND (parent), SIMIDX_E_PERMISSION,
 *         SIMIDX_E_NO_SPACE, SIMIDX_E_IO
 *
 * Cost: reads and writes what the index uses. It pins a snapshot meanwhile.
 */
int simidx_backup(simidx *index, const char *destination, simidx_error *err) SIMIDX_CHECK_RESULT;

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* SIMIDX_H */
