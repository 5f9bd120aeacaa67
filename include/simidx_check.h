/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_check.h - whether an index is sound, what to do if it is not; backups, and compacting.
 *
 * Which call is for when:
 *  - simidx_backup() as often as the documents are worth it. It copies an index that is in use, and
 *    the copy is verified.
 *  - simidx_verify() when there is a doubt: after a crash of the machine, after an error of the
 *    disk, after SIMIDX_E_CORRUPT. Open the index with SIMIDX_OPEN_UNTRUSTED for it.
 *  - simidx_check_pages() when that open fails with SIMIDX_E_CORRUPT: it lists the damaged pages.
 *  - A damaged directory is replaced: by the last backup, or by loading the documents again. With
 *    neither, simidx_repair() (simidx_repair.h) makes a new index of what is sound in it.
 *  - simidx_mend() for an index that an engine holds, where simidx_verify() tells of problems. It
 *    changes the index in place.
 *  - simidx_compact() for a sound index only: after many deletions, when nothing of what was
 *    deleted may be left in the file, or for another plan.
 * A process that was killed leaves nothing to mend in a directory: the next writer goes on.
 *
 * The conventions of simidx.h hold here too.
 */

#ifndef SIMIDX_CHECK_H
#define SIMIDX_CHECK_H

#include <simidx.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------
 * Damage
 */

/*
 * LMDB, which reads and writes the file, trusts it: a damaged or forged page makes it end the
 * process by an assertion or a signal, or hang. Two things prevent that, and they look at the same:
 * simidx_verify(), and SIMIDX_OPEN_UNTRUSTED. With the flag a file that LMDB could not read or
 * write safely is not opened, and searches check what they read, as with SIMIDX_OPEN_CHECK. Use it
 * for a file that others could write, and after a crash of the disk. It does not help against a
 * process that changes the file while it is open.
 *
 * What a search promises about damage. It never reads outside the file, whatever bits of blocks,
 * rows or labels have changed.
 *  - With SIMIDX_OPEN_CHECK each block is checked when a handle reads it for the first time after
 *    the last merge, and each time as long as there is no block index (simidx_open_options): its
 *    checksum, and that its keys belong where it stands. Each label is compared with the hash that
 *    is kept of it. So changed bits, and intact blocks in the place of others, are
 *    SIMIDX_E_CORRUPT. What changes after its check is not noticed.
 *  - Without, SIMIDX_E_CORRUPT comes from a block whose sizes are impossible, and from a changed
 *    one that is read again and again. Before, a changed block may make answers wrong:
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
 * Checking, mending and copying
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

/**
 * Have long work of this thread end with SIMIDX_E_STOPPED, when a function says so. It is asked now
 * and then, in this thread, by
 *  - simidx_open() with SIMIDX_OPEN_UNTRUSTED, simidx_check_pages() and simidx_verify();
 *  - simidx_backup(), which leaves no copy then;
 *  - all that waits for another writer, as simidx_writer_begin() does: when a signal arrives, and
 *    where the other writer is of this process now and then; for another merge only when a signal
 *    arrives;
 *  - a merge: what was committed before is stored, and a later merge takes up the work
 *    (simidx_writer_commit()).
 * Others have a stop() among their parameters. An index of an engine does not ask.
 *
 * @param stop  non-zero ends the work. It must not call back into the library, nor wait for a
 *              thread that writes to the same index, which may stand behind this one. NULL: nobody
 *              is asked, as in a thread that has not called this
 * @param ctx   passed to it
 */
void simidx_set_stop(int (*stop)(void *ctx), void *ctx);

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
	uint64_t mended;    /**< of these, those that the next commit mends: one of two copies of
	                         the header, the profile or the mark is damaged */
} simidx_verify_report;

#define SIMIDX_VERIFY_REPORT_INIT { sizeof(simidx_verify_report), 0, 0, 0, 0, 0 }

/**
 * Read everything in one snapshot and check it: the structure of the file's pages, used and free;
 * the checksum, order and key of each block or row; the counts and digests of each table against
 * the header and against each other; both copies of the header, the profile and the mark; and
 * whether the commit that LMDB shows is the last one, as far as its two header pages tell. Where
 * pages are damaged, nothing else is looked at, because LMDB must not read them: then the report
 * has problems only. Others may search and write meanwhile.
 *
 * Opening reads some pages by LMDB, and so do all other calls on the handle. What may be damaged
 * is opened with SIMIDX_OPEN_UNTRUSTED; if that fails, simidx_check_pages() lists the pages.
 *
 * @param callback  called for each problem; may be NULL. In an index of an engine it must not begin
 *                  a writer of this handle, which would wait for the check
 * @param ctx       passed to it
 * @param out       may be NULL
 * @return SIMIDX_OK if it is sound; SIMIDX_E_CORRUPT if there was a problem; SIMIDX_E_MOVED;
 *         SIMIDX_E_STOPPED; SIMIDX_E_BUSY, at once, in an index of an engine: a writer of this
 *         handle has a transaction, or another thread checks it
 *
 * An index with one damaged copy of its header can be read, and the next commit mends the copy.
 * Cost: reads the whole file once.
 */
int simidx_verify(simidx *index, void (*callback)(void *ctx, const simidx_problem *problem),
		  void *ctx, simidx_verify_report *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Check the structure of the file's pages, as simidx_verify() does first, without opening the
 * index: LMDB reads none of them. So the problems of a file are listed that SIMIDX_OPEN_UNTRUSTED
 * refuses. The contents of the pages are not looked at. Others may search and write meanwhile;
 * other threads may call it.
 *
 * @param path      the directory of the index
 * @param flags     SIMIDX_OPEN_STATIC, SIMIDX_OPEN_FORCE, or 0
 * @param callback  called for each problem; may be NULL
 * @param ctx       passed to it
 * @return SIMIDX_OK if all pages are sound; SIMIDX_E_CORRUPT if there was a problem, or if the file
 *         is so damaged that there are no pages to check, and then the callback was not called;
 *         SIMIDX_E_BUSY: other processes commit too fast to look at one commit; SIMIDX_E_ARG: no
 *         path, or other flags; SIMIDX_E_STOPPED; SIMIDX_E_NOMEM; the other codes of
 *         simidx_open()
 *
 * Cost: that of simidx_open() with SIMIDX_OPEN_UNTRUSTED.
 */
int simidx_check_pages(const char *path, unsigned flags,
		       void (*callback)(void *ctx, const simidx_problem *problem), void *ctx,
		       simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Copy a snapshot of a live index to a new directory, without free pages, and verify the copy as
 * simidx_verify() does. A copy that is not sound is removed, so that it is not taken for a backup.
 * Only the owner can read the copy, whoever can read the index.
 *
 * @param destination  must not exist, or be an empty directory, and not be inside the index;
 *                     appears only when the copy is complete, verified and synced
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT: the index is damaged, or the copy, and the text has the
 *         first problem; SIMIDX_E_MOVED: another index has taken its place, before the copy or
 *         meanwhile, or its directory was moved or removed, and there is no copy; SIMIDX_E_EXISTS,
 *         SIMIDX_E_NOT_FOUND (parent), SIMIDX_E_PERMISSION, SIMIDX_E_NO_SPACE, SIMIDX_E_IO,
 *         SIMIDX_E_STOPPED: there is no copy; SIMIDX_E_UNKNOWN: the copy is complete and in its
 *         place, but a power cut may take it away, as the parent directory could not be synced
 *
 * Cost: reads and writes what the index uses, pinning a snapshot meanwhile, and reads the copy
 * once.
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
 * @return SIMIDX_OK: nothing was wrong, or all of it is mended; SIMIDX_E_CORRUPT: something is
 *         wrong still; SIMIDX_E_UNSUPPORTED: the index is a directory: simidx_repair();
 *         SIMIDX_E_READ_ONLY; SIMIDX_E_BUSY as simidx_verify(); SIMIDX_E_IO
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
	const char *plan;   /**< the plan that it gets, as in simidx_create_options; NULL = the one
	                         it has */
	unsigned fill;      /**< how full its blocks become, 50..100 percent; 0 = as before */
	unsigned threads;   /**< 0 = one for each core; at most 2 are used */
	uint64_t memory;    /**< bytes to work in, at least 64 MiB; 0 = 1 GiB */
	const char *tmpdir; /**< directory of the temporary files; NULL = that of the new index */
	int wait_ms;        /**< longest wait for another writer or loader, in milliseconds; 0 = do
	                         not wait, -1 = without end */
	unsigned flags;     /**< SIMIDX_OPEN_FORCE; with a destination also SIMIDX_OPEN_STATIC */
	/** Called now and then, as for simidx_loader_options; with the phase "verify" at the
	    beginning and at the end. May be NULL. */
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
 * Documents, ids, labels, second fingerprints, times, notes, the next id, the profile, the mark,
 * the layout and the permissions stay. The old index is verified before, as simidx_verify() does,
 * and the new one before it is put in its place. Whatever fails, the old index is as it was.
 *
 * Without a destination the new index takes the place of the old one in one step. Meanwhile writers
 * wait for the lock, or get SIMIDX_E_BUSY. Who reads goes on with the old index until the exchange,
 * and then gets SIMIDX_E_MOVED. The old files are removed, and their space is free when the last
 * process has closed them. A process that is killed leaves the old index or the new one at the
 * path; what it leaves beside it goes when the next index is built there.
 *
 * The exchange takes the whole directory. So it is refused while the directory has files that are
 * not the index's own, which are data.mdb, lock.mdb and write.lock: they would not be at the path
 * any more.
 *
 * With a destination the old index is only read, and a snapshot is pinned meanwhile; writers go on.
 *
 * This erases nothing on the disk: what was in the old file stays there until it is overwritten,
 * and copies and backups of the index are left alone.
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

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* SIMIDX_CHECK_H */
