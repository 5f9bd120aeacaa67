/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_write.h - adding, replacing and deleting documents of an index. simidx.h includes this
 * header.
 *
 * The conventions of simidx.h hold here too. Whatever a writer changes, readers see after the
 * commit: all of it at once. One transaction writes at a time, of all processes.
 */

#ifndef SIMIDX_WRITE_H
#define SIMIDX_WRITE_H

#include <simidx.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

typedef struct simidx_writer simidx_writer; /**< adds, replaces and deletes documents */

/** When a commit counts as stored. */
enum simidx_durability {
	SIMIDX_DURABILITY_FULL = 0,  /**< it survives a power cut (default) */
	SIMIDX_DURABILITY_NORMAL = 1 /**< a power cut may lose the last commits, never mix them */
};

/** When fresh rows, those that commits have stored, are merged into the tables. */
enum simidx_merge_mode {
	SIMIDX_MERGE_AUTO = 0,  /**< in the commit that passes the threshold (default) */
	SIMIDX_MERGE_NEVER = 1, /**< only by simidx_writer_merge() */
	SIMIDX_MERGE_BESIDE = 2 /**< the same, and a commit waits where merges fall behind: by a
	                             thread or process that calls simidx_writer_merge() whenever
	                             simidx_writer_merge_state() has SIMIDX_MERGE_DUE */
};

/** What simidx_writer_merge_state() tells of a commit. */
enum simidx_merge_state {
	SIMIDX_MERGE_DUE = 1,   /**< it has left more fresh rows than the threshold: it is time to
	                             merge, where nobody does yet */
	SIMIDX_MERGE_WAITED = 2 /**< there were more than twice as many: it has waited for another
	                             one's merge, or merged itself */
};

/**
 * The writer goes on where one that was killed, or whose commit has returned SIMIDX_E_UNKNOWN, has
 * stopped. In an index of an engine, what that one has sent may still be on its way, and it may be
 * at work on another machine. So the first transaction begins with taking the place of all writers
 * of other handles that have begun before: their commits with a mark return SIMIDX_E_STATE until
 * they resume, too. From then on simidx_get_mark() and look-ups tell what is stored, and nothing of
 * theirs can come later. In any other index the lock of the transaction is enough for what was
 * under way.
 */
#define SIMIDX_WRITER_RESUME 1u

/**
 * What a change came to at the commit, where that differs from what its call has told. This
 * happens with engines that have SIMIDX_ENGINE_CONDITIONS (simidx_engine.h). Others may change
 * there, before the commit, what a call has looked at. Then the commit decides that change
 * again.
 */
typedef struct simidx_rejudged {
	size_t size;       /**< sizeof; set by the library */
	uint64_t change;   /**< number of the call: those of simidx_writer_put(), _put_if_new(),
	                        _replace(), _touch(), _delete_id() and _delete_label() are
	                        counted from 0 since the writer was opened, if they returned
	                        SIMIDX_OK, _EXISTS, _DUPLICATE or _NOT_FOUND */
	uint64_t id;       /**< with SIMIDX_OK: of the document; otherwise SIMIDX_NO_ID */
	uint64_t blocker;  /**< with SIMIDX_E_EXISTS: the nearest document that is there; otherwise
	                        SIMIDX_NO_ID */
	int code;          /**< SIMIDX_OK: it is done; SIMIDX_E_EXISTS, _DUPLICATE, _NOT_FOUND: it
	                        is not, as the call would now say; another code, which the commit
	                        returns: it is not decided */
	unsigned reserved; /**< zero */
} simidx_rejudged;

/** How a writer works. */
typedef struct simidx_writer_options {
	size_t size;              /**< sizeof; SIMIDX_WRITER_OPTIONS_INIT sets it */
	unsigned durability;      /**< enum simidx_durability */
	unsigned merge;           /**< enum simidx_merge_mode */
	uint64_t merge_threshold; /**< fresh rows that a commit may leave; 0 = in proportion to the
	                               documents, within limits: a 16th, 65,536 to 1,000,000 */
	int wait_ms;              /**< longest wait for another writer, in milliseconds; 0 = do
	                               not wait, -1 = without end */
	unsigned flags;           /**< SIMIDX_WRITER_RESUME or 0 */
	/**
	 * Called at the end of simidx_writer_commit(), in its thread, for each change that came
	 * to something else than its call has told, in their order. It must not use the writer.
	 * NULL: nobody is told, and simidx_writer_stored() counts what is stored all the same.
	 */
	void (*rejudged)(void *ctx, const simidx_rejudged *outcome);
	void *rejudged_ctx;
} simidx_writer_options;

#define SIMIDX_WRITER_OPTIONS_INIT { sizeof(simidx_writer_options), 0, 0, 0, -1, 0, NULL, NULL }

/**
 * Open a writer. It takes the write lock with simidx_writer_begin(), or at the first change after
 * opening, a commit or a rollback, and gives it back at the commit or rollback. So a writer waits
 * until the one that has the lock ends its transaction (and the merge, if one is due), and until
 * those that have waited longer have had theirs: between two transactions of one writer, the others
 * that wait come first. A writer that is killed, waiting or not, delays nobody. SIMIDX_E_BUSY names
 * the process that has the lock, where the system tells.
 *
 * @param options  NULL for the defaults
 * @param out      the writer, for simidx_writer_close()
 * @return SIMIDX_OK; SIMIDX_E_READ_ONLY when the handle or the file does not allow writing
 */
int simidx_writer_open(simidx *index, const simidx_writer_options *options, simidx_writer **out,
		       simidx_error *err) SIMIDX_CHECK_RESULT;

#define SIMIDX_DOC_FP2 1u         /**< fp2 is set */
#define SIMIDX_DOC_FP2_UNKNOWN 2u /**< in place of it: the document has one that is not known. A
                                       loader takes such documents, a writer only into an index
                                       that has some already */

#define SIMIDX_DOC_TIME 4u        /**< time is set. Without this, and in an index with times, a
                                       document gets the time at which its transaction, or its
                                       loader, has begun */

/** A document to store. */
typedef struct simidx_doc {
	size_t size;       /**< sizeof; SIMIDX_DOC_INIT sets it */
	uint64_t id;       /**< 0..SIMIDX_MAX_ID, or SIMIDX_NO_ID: largest id so far + 1 */
	uint64_t fp;       /**< fingerprint; bits above f must be 0 */
	uint64_t fp2;      /**< second fingerprint, with SIMIDX_DOC_FP2 */
	const char *label; /**< URL, path or any other key; NULL = none. Copied */
	size_t label_size; /**< in bytes, 1..SIMIDX_MAX_LABEL; not looked at when label is NULL */
	unsigned flags;    /**< SIMIDX_DOC_ flags */
	uint32_t time;     /**< seconds since 1970, with SIMIDX_DOC_TIME; 0 = unknown */
	const void *note;  /**< what a program remembers of it, in an index with notes; NULL = none.
	                        Copied. The index does not look into it */
	size_t note_size;  /**< in bytes, 1..SIMIDX_MAX_NOTE; not looked at when note is NULL */
} simidx_doc;

#define SIMIDX_DOC_INIT { sizeof(simidx_doc), SIMIDX_NO_ID, 0, 0, NULL, 0, 0, 0, NULL, 0 }

/**
 * Begin a transaction: take the write lock, so that nobody else changes the index until the commit
 * or rollback. Without this call the first change begins one. If there is one, nothing happens.
 *
 * @return SIMIDX_OK; SIMIDX_E_BUSY: another writer had the lock for longer than wait_ms;
 *         SIMIDX_E_STOPPED by simidx_set_stop() while it waits; SIMIDX_E_MOVED;
 *         SIMIDX_E_NO_SPACE, SIMIDX_E_MAP_FULL, SIMIDX_E_CORRUPT; with an engine
 *         SIMIDX_E_IO, also while an earlier commit that has returned SIMIDX_E_UNKNOWN cannot be
 *         finished
 *
 * Cost: some pages; and that of finishing a merge that was killed, or such a commit.
 */
int simidx_writer_begin(simidx_writer *writer, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Add a document to the current transaction. Readers see it after the commit. After any error
 * but SIMIDX_E_MOVED, _NO_SPACE, _MAP_FULL and _CORRUPT the transaction is as it was before the
 * call and goes on.
 *
 * @param id  if not NULL: the id that the document got. An id that is chosen is above all that
 *            were ever there
 * @return SIMIDX_OK; SIMIDX_E_DUPLICATE: another document has this id or this label;
 *         SIMIDX_E_RANGE: id or fp out of range, label or note too long or empty, or more in
 *         one transaction than LMDB takes (about 500 MB of notes); SIMIDX_E_MISMATCH, as
 *         for any other document of this kind: fp2 is missing where the index has it (an index of
 *         texts) or given where it has not, an id or label for an index without ids, a time or a
 *         note where the index keeps none,
 *         SIMIDX_DOC_FP2_UNKNOWN where no document of the index lacks its second fingerprint; the
 *         codes of simidx_writer_begin()
 *
 * Cost: O(1) for an id above all others, O(log N) for any other one and for a label.
 */
int simidx_writer_put(simidx_writer *writer, const simidx_doc *doc, uint64_t *id,
		      simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Say which documents are going to be put, replaced or deleted next. What these calls would look up
 * one by one is then looked up together: in an index that an engine holds (simidx_engine.h) each
 * look-up by itself is a wait for an answer. In any other index there is nothing to be gained, and
 * nothing is done. With an engine this begins a transaction, and it counts for this one.
 *
 * @param docs  n documents; their ids and labels are looked at. Nothing is kept of them
 * @return SIMIDX_OK; SIMIDX_E_ARG; the codes of simidx_writer_begin()
 */
int simidx_writer_prefetch(simidx_writer *writer, const simidx_doc *docs, size_t n,
			   simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Add a document unless one that a query matches is there: committed or pending. Nobody can add one
 * in between, because the transaction has the write lock. An id or label in use is told first. What
 * the query's `probes`, `complete` or `max_candidates` miss does not count as there.
 *
 * In an index of an engine there is no such lock. With SIMIDX_ENGINE_CONDITIONS
 * (simidx_engine.h) the commit finds out whether others have changed what the query has looked
 * at, for all radii and plans. It asks again then, and tells what comes of that (`rejudged` of
 * simidx_writer_options). With SIMIDX_ENGINE_LEASES, radii up to 3 and the plan 4x16 the engine
 * keeps others from adding a near document until the commit. Without both, nobody does. With
 * leases SIMIDX_E_BUSY can also come in the middle of a transaction, without any wait: another
 * writer has a lease that is needed, and may be waiting for one of this transaction. Commit, and
 * put the document again.
 *
 * @param query    what is too near, such as fp of the document and a radius; mode and limit are not
 *                 looked at
 * @param id       if not NULL: the id that the document got
 * @param blocker  if not NULL: the nearest document that the query matches, of several the one with
 *                 the smallest id; its label with SIMIDX_QUERY_LABELS, which is valid until the
 *                 next call on the writer or its reader
 * @return SIMIDX_OK: it was added; SIMIDX_E_EXISTS: it was not, see `blocker`; as
 *         simidx_writer_put(), and as simidx_reader_search()
 *
 * Cost: that of a search for the nearest and of a put; the first one of a transaction also reads
 * the fresh rows that were committed since the last one of this handle, all of them after a merge.
 */
int simidx_writer_put_if_new(simidx_writer *writer, const simidx_doc *doc,
			     const simidx_query *query, uint64_t *id, simidx_match *blocker,
			     simidx_error *err) SIMIDX_CHECK_RESULT;

/** What simidx_writer_put_if_new_many() has decided of a document. */
typedef struct simidx_decision {
	size_t size;           /**< sizeof; set by the library */
	int code;              /**< SIMIDX_OK: it was added; SIMIDX_E_EXISTS: it was not, see
	                            `blocker`; SIMIDX_E_DUPLICATE, _ARG, _RANGE, _MISMATCH: it was
	                            not, as simidx_writer_put_if_new() would say of it */
	uint64_t id;           /**< that the document got; SIMIDX_NO_ID: it was not added */
	simidx_match blocker;  /**< with SIMIDX_E_EXISTS */
	const simidx_error *why; /**< what is wrong with it; NULL: nothing is */
} simidx_decision;

/**
 * simidx_writer_put_if_new() of many documents, each decided in its turn. The answers are the same:
 * a document counts as there for those that follow it. The tables are searched for many of them
 * together, and that is faster where queries differ in nothing but the fingerprint, or where each
 * goes by weights and has some probes, as those of texts.
 *
 * @param docs     `n` of them. They lie as far apart as the first one's size says, and all have
 *                 that size
 * @param queries  of each: what is too near to it; laid out in the same way
 * @param decided  called in this thread for document after document, 0..n - 1, when it is decided;
 *                 what it gets is valid during the call. It must not use the writer or its reader.
 *                 Anything but 0 ends the call with SIMIDX_E_STOPPED
 * @param ctx      passed to decided()
 * @return SIMIDX_OK: all are decided; SIMIDX_E_STOPPED; another code of simidx_writer_put_if_new():
 *         the next document could not be decided. What was decided before stays in the transaction,
 *         unless the code says that it is lost (simidx_writer_put()): after SIMIDX_E_RANGE here it
 *         is
 *
 * Cost: at most that of single calls. Memory: up to 80 MB. An engine with
 * SIMIDX_ENGINE_CONDITIONS is asked for 100 queries at a time, in one wait.
 */
int simidx_writer_put_if_new_many(simidx_writer *writer, const simidx_doc *docs,
				  const simidx_query *queries, size_t n,
				  int (*decided)(void *ctx, size_t i,
						 const simidx_decision *decision),
				  void *ctx, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Say which documents simidx_writer_put_if_new() is going to put next, and by which queries:
 * simidx_writer_prefetch(), and the searches are made together, as simidx_writer_put_if_new_many()
 * makes them. The answers of the calls stay the same, whatever is changed between them. For callers
 * who cannot decide many in one call, because they change other documents in between. It begins a
 * transaction, and counts for this one.
 *
 * @param docs     `n` of them, laid out as for simidx_writer_put_if_new_many()
 * @param queries  of each; they and their weights are copied. A call whose query is none of the
 *                 next 256 searches by itself
 * @return SIMIDX_OK; SIMIDX_E_ARG; SIMIDX_E_NOMEM; the codes of simidx_writer_begin()
 *
 * Memory: 120 bytes a query, its weights, and 24 bytes for each row that is near to the next 100,
 * up to 12 MB.
 */
int simidx_writer_prefetch_if_new(simidx_writer *writer, const simidx_doc *docs,
				  const simidx_query *queries, size_t n,
				  simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * The writer's own reader. It finds what the current transaction has changed, as if it were
 * committed; all functions of readers take it. It belongs to the writer's thread and is closed with
 * the writer, not by simidx_reader_close(). Without a transaction its searches return
 * SIMIDX_E_STATE: call simidx_writer_begin() first.
 *
 * @return SIMIDX_OK; as simidx_reader_open()
 *
 * Cost: that of simidx_reader_open() once; from then on each transaction begins with having all
 * fresh rows in memory.
 */
int simidx_writer_reader(simidx_writer *writer, simidx_reader **out,
			 simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Add a document, or put it in the place of the one that is there: with `doc->id`, of that id; with
 * SIMIDX_NO_ID, of the one with its label, and the id stays. The document is then as given: one
 * that is replaced without a label or a note has none any more. What is not different is not
 * written; a document that is replaced by just what it was counts as replaced. In an index with
 * times one without SIMIDX_DOC_TIME gets that of the transaction. So it is written also where all
 * else is the same.
 *
 * @param id  if not NULL: the id that the document has
 * @return as simidx_writer_put(); SIMIDX_E_DUPLICATE: another document has the label; SIMIDX_E_ARG
 *         without id and label; SIMIDX_E_UNSUPPORTED in an index without ids
 *
 * Cost: O(log N), some pages.
 */
int simidx_writer_replace(simidx_writer *writer, const simidx_doc *doc, uint64_t *id,
			  simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Delete the document with an id or a label. Its label is free at once; its id is never chosen
 * again, but may be given to simidx_writer_put() or simidx_writer_replace(). The bytes stay in the
 * file until their place is needed for others.
 *
 * @param label  `size` bytes, compared exactly
 * @return SIMIDX_OK; SIMIDX_E_NOT_FOUND; SIMIDX_E_UNSUPPORTED in an index without ids; the codes
 *         of simidx_writer_begin()
 *
 * Cost: O(log N), some pages.
 */
int simidx_writer_delete_id(simidx_writer *writer, uint64_t id,
			    simidx_error *err) SIMIDX_CHECK_RESULT;

int simidx_writer_delete_label(simidx_writer *writer, const char *label, size_t size,
			       simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Delete all documents whose time is known and before `time`: pages that a crawler has not seen for
 * a month, say. One walk reads the times. It commits by itself, many times, and what was pending
 * before is committed with the first part or before it; others may write in between, and what they
 * put meanwhile may stay, old or not. After a failure a part is deleted, and the next call deletes
 * the rest.
 * simidx_set_progress() tells how far it is ("deleting", documents looked at, all of them).
 *
 * @param time  seconds since 1970
 * @param stop  asked between two commits: not 0 ends the call with SIMIDX_E_STOPPED; may be NULL
 * @param ctx   passed to it
 * @param n     if not NULL: how many documents were deleted and committed, also after a failure
 * @return SIMIDX_OK, also if there was none; SIMIDX_E_STOPPED: a part is deleted, and nothing is
 *         pending; SIMIDX_E_MISMATCH: the index keeps no times; SIMIDX_E_BUSY: in an index of an
 *         engine, others have changed what was old each time; the codes of simidx_writer_begin()
 *         and simidx_writer_commit()
 *
 * Cost: reads `postings`, and `labels` of what is deleted; and the merges that are due. An engine
 * is asked for the old ones, 1,000 at a time, which are looked up; one that cannot tell which are
 * old is asked for all documents.
 */
int simidx_writer_delete_older(simidx_writer *writer, uint32_t time, int (*stop)(void *ctx),
			       void *ctx, uint64_t *n, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Say that a document was seen again: its time becomes `time`, unless it is later already. All else
 * stays. A set of what was seen needs this where simidx_writer_put_if_new() has found a near
 * document.
 *
 * @param time  seconds since 1970
 * @return SIMIDX_OK; SIMIDX_E_NOT_FOUND: no document has the id; SIMIDX_E_MISMATCH: the index keeps
 *         no times; the codes of simidx_writer_begin()
 *
 * Cost: O(log N), some pages.
 */
int simidx_writer_touch(simidx_writer *writer, uint64_t id, uint32_t time,
			simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Have the next commit keep ids back: documents that come without an id get `next_id` or a larger
 * one from then on. Nobody else is then given the id of a document that was deleted elsewhere, for
 * example in an index whose documents are being moved here. Ids below may still be chosen. A
 * rollback forgets it.
 *
 * @param next_id  0..SIMIDX_MAX_ID + 1; SIMIDX_MAX_ID + 1: none is assigned any more
 * @return SIMIDX_OK, also where the next id is larger already, which changes nothing;
 *         SIMIDX_E_RANGE; SIMIDX_E_UNSUPPORTED in an index without ids; the codes of
 *         simidx_writer_begin()
 */
int simidx_writer_reserve_ids(simidx_writer *writer, uint64_t next_id,
			      simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Store what was changed since the last commit: all of it or nothing. Then, with SIMIDX_MERGE_AUTO
 * and more fresh rows than the threshold, merge, unless somebody else does. Without any change it
 * only merges if due.
 *
 * Where somebody else merges, or with SIMIDX_MERGE_BESIDE should, the commit returns without that.
 * But from twice the threshold on it gives the write lock up and waits for that merge: 50 ms for
 * each 10,000 rows that it has stored, wait_ms at most. Where none is going on, or after it there
 * are still as many, it merges itself as simidx_writer_merge() does. simidx_writer_merge_state()
 * tells. So merges that are slower than the rows come leave more than twice the threshold.
 *
 * An engine with SIMIDX_ENGINE_CONDITIONS stores the changes one by one. It refuses those that
 * rest on what others have changed meanwhile. In the same call these are decided again and
 * committed, seven times at most, and so are calls whose answer rested on one of them.
 * `rejudged` of simidx_writer_options hears what came of it. The mark is stored with the last of
 * them: not at all if something is left undecided.
 *
 * @return SIMIDX_OK; SIMIDX_E_NO_SPACE, SIMIDX_E_MAP_FULL, SIMIDX_E_IO, SIMIDX_E_STOPPED by
 *         simidx_set_stop(): the transaction is lost and the index as it was before; or the merge
 *         failed or was stopped, then the rows are stored and a
 *         later merge takes up the work: simidx_writer_stored() tells which; SIMIDX_E_UNKNOWN:
 *         the write that decides has failed, and the transaction may be stored or lost. If each
 *         commit has a mark of its own, simidx_get_mark() tells which. Close
 *         the index and open it again before that; with an engine, begin the next transaction,
 *         or commit without changes; with an engine also SIMIDX_E_STATE: a lease had expired, or
 *         another writer has taken the place of this one, and nothing is stored; SIMIDX_E_RANGE:
 *         more than it takes at once, and nothing is stored; SIMIDX_E_MOVED: another index is
 *         there now, and nothing is stored; with SIMIDX_ENGINE_CONDITIONS also SIMIDX_E_BUSY:
 *         others have come first each time, and some changes are not stored. Then, and with any
 *         other error after some were stored, `rejudged` has told which are not, and
 *         simidx_writer_stored() how many are
 *
 * Cost: O(rows), some pages and one fsync; and that of simidx_writer_merge() where one is due.
 */
int simidx_writer_commit(simidx_writer *writer, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Forget what was changed since the last commit and release the write lock. Cost: O(rows).
 */
void simidx_writer_rollback(simidx_writer *writer);

/**
 * Move the fresh rows into the tables: those that were committed before this call. It takes many
 * short transactions, and gives the write lock up between them, so that others can commit
 * meanwhile: a thread of the application with a writer of its own, or another process, merges while
 * one writes. What others commit meanwhile waits for the next merge. Searches go on. The library
 * starts no thread for this.
 *
 * One merges at a time, and automatic merges leave the work to who is at it. Killed in between, or
 * ended by an error, a merge changes no answer, and the next writer or merge finishes it first. So
 * wait_ms limits the waits until it begins; after that it waits for the lock as long as it takes.
 *
 * @return SIMIDX_OK, also if there was nothing to do; SIMIDX_E_STATE with changes, a mark or
 *         reserved ids pending;
 *         SIMIDX_E_BUSY: another writer had the lock, or somebody else merged, for longer than
 *         wait_ms; SIMIDX_E_STOPPED by simidx_set_stop(): a later merge takes up the work;
 *         SIMIDX_E_MOVED, SIMIDX_E_NO_SPACE, SIMIDX_E_MAP_FULL, SIMIDX_E_CORRUPT
 *
 * Cost: reads and writes the pages of the tables into which rows fall, all of them if there are
 * many rows. A few fresh rows cost nearly as much as the threshold of them, so merge when it is
 * due. A transaction writes 4 MB.
 */
int simidx_writer_merge(simidx_writer *writer, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * What the last commit of this writer has left to be merged: flags of enum simidx_merge_state, by
 * its own threshold and whatever its merge mode. 0 before the first commit, after one that has left
 * no more than the threshold, or has merged at once, and in an index of an engine. A thread that
 * merges is another one than the writer's, with a writer of its own, on the same handle or not: on
 * the same one, the writer's next look-ups are spared the reading of what was committed meanwhile.
 *
 * @param writer  NULL is allowed: 0
 */
unsigned simidx_writer_merge_state(const simidx_writer *writer);

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
 * its commit was written, other processes may not see that commit before somebody writes again. So
 * to go on where it has ended, begin a transaction first (simidx_writer_begin()), and read the mark
 * then.
 *
 * @param buffer  room for `size` bytes; a longer mark is cut
 * @param n       set to the length of the whole mark
 * @return SIMIDX_OK; SIMIDX_E_NOT_FOUND when there is none; SIMIDX_E_BUSY when all reader
 *         slots are taken; SIMIDX_E_MOVED, SIMIDX_E_CORRUPT
 */
int simidx_get_mark(simidx *index, void *buffer, size_t size, size_t *n, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/** Documents that this writer has added, replaced, touched or deleted by commits so far. */
uint64_t simidx_writer_stored(const simidx_writer *writer);

/** Documents added, replaced, touched or deleted since the last commit or rollback. */
uint64_t simidx_writer_pending(const simidx_writer *writer);

/** Roll back and free a writer. NULL is allowed. */
void simidx_writer_close(simidx_writer *writer);

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* SIMIDX_WRITE_H */
