/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_load.h - building a whole index at once, by external sorting.
 *
 * The conventions of simidx.h hold here too.
 */

#ifndef SIMIDX_LOAD_H
#define SIMIDX_LOAD_H

#include <simidx.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

typedef struct simidx_loader simidx_loader; /**< builds a whole index at once */

/**
 * What becomes of documents with the same id or the same label. They are judged one after
 * another, as by a writer: one that is left out gets in the way of none that comes later.
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
	unsigned threads;   /**< 0 = one for each core; at most 2 are used */
	unsigned duplicates; /**< enum simidx_duplicates */
	int wait_ms;        /**< longest wait for another writer or loader, as in
	                         simidx_writer_options; in simidx_loader_open(), and again in
	                         simidx_loader_finish() for an index that is to be replaced */
	unsigned flags;     /**< SIMIDX_OPEN_FORCE, SIMIDX_OPEN_UNTRUSTED: for the index at the
	                         path, where there is one */
	/** Called by simidx_loader_finish() for each document that is left out. `row` counts the
	    calls of simidx_loader_put() from 0; may be NULL. */
	void (*rejected)(void *ctx, uint64_t row, const char *reason);
	/** Called now and then by simidx_loader_finish(), as for simidx_set_progress(), and with
	    the phase "waiting: " and two zeros during a wait for a lock; after the blank stands
	    what SIMIDX_E_BUSY would say, with the process that has it. May be NULL. */
	void (*progress)(void *ctx, const char *phase, uint64_t done, uint64_t total);
	/** Asked now and then by simidx_loader_finish(), for the last time before the exchange,
	    and by simidx_loader_open() while it waits: non-zero ends them with SIMIDX_E_STOPPED.
	    May be NULL. */
	int (*stop)(void *ctx);
	void *ctx;          /**< passed to all of them */
	const char *plan;   /**< without `create`: the plan that the index gets, as in
	                         simidx_create_options; NULL = the one it has */
	unsigned fill;      /**< and how full its blocks become, 50..100 percent; 0 = as before */
	unsigned reserved;  /**< zero */
} simidx_loader_options;

#define SIMIDX_LOADER_OPTIONS_INIT \
	{ sizeof(simidx_loader_options), 0, NULL, 0, 0, -1, 0, NULL, NULL, NULL, NULL, NULL, 0, 0 }

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
 * there stays locked for writers until the loader is closed, searches in it go on and get
 * SIMIDX_E_MOVED after the exchange.
 *
 * There is one loader at a time for a path: another one waits until the first is closed, and
 * then sees what that has made.
 *
 * @param create   options of a new index (simidx_create()), or NULL to add to the one at path
 * @param options  NULL for the defaults
 * @param out      for simidx_loader_close()
 * @return SIMIDX_OK; the codes of simidx_create() and, without create, of simidx_open();
 *         SIMIDX_E_EXISTS  create without SIMIDX_CREATE_TRUNCATE: something is there, perhaps
 *                          what another loader has made while this one waited for it; or an
 *                          index is to be replaced, and its directory has files that are not
 *                          its own;
 *         SIMIDX_E_BUSY    another writer or loader was there for longer than wait_ms;
 *         SIMIDX_E_STOPPED the caller's stop() ended the wait;
 *         SIMIDX_E_MOVED   without create: the index was replaced over and over while it was
 *                          being opened; one that is replaced meanwhile is opened again
 *
 * Cost: some pages and fsyncs, besides the wait.
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
 * @return SIMIDX_OK; SIMIDX_E_MISMATCH, the text says in what; SIMIDX_E_STATE after a put or
 *         simidx_loader_finish()
 *
 * Cost: that of simidx_walk_open(); the documents are read by simidx_loader_finish().
 */
int simidx_loader_add_index(simidx_loader *loader, simidx *source, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/**
 * Add a document. Ids and labels that are in use are found out by simidx_loader_finish(); a
 * document that is left out there keeps the id that it got, so ids have a gap
 * (simidx_writer_put() gives such an id to the next document).
 *
 * @param id  if not NULL: the id that the document got
 * @return SIMIDX_OK; SIMIDX_E_RANGE, SIMIDX_E_MISMATCH as simidx_writer_put(), the document is
 *         left out and loading may go on; SIMIDX_E_NO_SPACE, SIMIDX_E_IO: it may only be closed
 *
 * Cost: O(1), and now and then the sorting and writing of what fills the memory.
 */
int simidx_loader_put(simidx_loader *loader, const simidx_doc *doc, uint64_t *id,
		      simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Say how many documents are going to be put in all, about, to learn before the work whether
 * they will fit on the disk. simidx_loader_finish() looks again, when it knows.
 *
 * @param documents    without those of indexes that are added
 * @param label_bytes  of their labels
 * @return SIMIDX_OK; SIMIDX_E_NO_SPACE: the text says how much is needed and where, beside the
 *         path or in tmpdir; SIMIDX_E_RANGE for numbers above SIMIDX_MAX_ID; SIMIDX_E_STATE
 *         after simidx_loader_finish(). Loading may go on all the same
 */
int simidx_loader_expect(simidx_loader *loader, uint64_t documents, uint64_t label_bytes,
			 simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Have the index that is made carry a mark (simidx_writer_set_mark()). Without this call it is
 * that of the index that was at the path, if there was one; those of indexes that are added do
 * not matter.
 *
 * @param data  `size` bytes, copied
 * @param size  1..SIMIDX_MAX_MARK
 * @return SIMIDX_OK; SIMIDX_E_RANGE when it is too long or empty; SIMIDX_E_STATE after
 *         simidx_loader_finish()
 */
int simidx_loader_set_mark(simidx_loader *loader, const void *data, size_t size,
			   simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Have the index that is made keep ids back, as simidx_writer_reserve_ids(); documents that are put
 * after this call and have no id get `next_id` or a larger one, too.
 *
 * @return SIMIDX_OK, also where the next id is larger already; SIMIDX_E_RANGE;
 *         SIMIDX_E_UNSUPPORTED for an index without ids; SIMIDX_E_STATE after
 *         simidx_loader_finish()
 */
int simidx_loader_reserve_ids(simidx_loader *loader, uint64_t next_id,
			      simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Sort, build and put the index in its place. Only simidx_loader_close() may follow.
 *
 * Method: the documents are sorted by (fingerprint, id) once; as permuting keeps the order of
 * the bits after the prefix, each table then needs a stable sort by its prefix only.
 *
 * @param report  may be NULL
 * @return SIMIDX_OK; SIMIDX_E_NO_SPACE, SIMIDX_E_IO, SIMIDX_E_CORRUPT (a source is damaged),
 *         SIMIDX_E_MOVED, SIMIDX_E_STOPPED; SIMIDX_E_EXISTS (an index was made at the path, not
 *         with a loader, or files that are not the index's own were put in its directory),
 *         SIMIDX_E_BUSY (the index that is to be replaced was at work for longer than wait_ms):
 *         nothing at the path has changed; SIMIDX_E_UNKNOWN: the new index is at the path, but a
 *         power cut may bring back what was there, as the parent directory could not be synced
 *
 * Cost: O(N) for each table, N documents in all; memory as in the options; temporary space of O(1)
 * a document, and labels and notes besides: simidx_loader_expect() tells whether there is enough.
 */
int simidx_loader_finish(simidx_loader *loader, simidx_loader_report *report, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/** Free a loader; what was not finished leaves no trace. NULL is allowed. */
void simidx_loader_close(simidx_loader *loader);

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* SIMIDX_LOAD_H */
