/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The seam between an index and what holds its tables: a directory of this machine (lib/local) or
 * an engine (lib/remote, simidx_engine.h). What is above it - limits, the nearest, labels that
 * are unique, rows that wait for a commit - stands there once, and does not ask which of the two
 * it talks to.
 *
 * It is chosen where an index is opened (lib/open), and does not change afterwards.
 *
 * Values change hands at eight places. Where a call has a begin and an end, these stand in a
 * struct:
 *
 *	snapshot   counts for the planner; what a look-up sees
 *	near       probes of queries -> near fingerprints   (bulk: of many queries together)
 *	documents  hits -> their documents, and labels
 *	document   id or label -> one document
 *	walk       all documents
 *	writer     a batch of changes: begin, what it asks for, commit
 *	check      what is wrong, and mending it
 *	place      where it is, and what it says of itself
 */

#ifndef SX_BACKEND_H
#define SX_BACKEND_H

#include <simidx_batch.h>
#include <simidx_check.h>
#include <simidx_info.h>
#include <simidx_write.h>

struct sx_finding;
struct sx_labelled_doc;
struct sx_matches;
struct sx_snapshot;
struct sx_slice;
struct sx_taking;

/**
 * What a decision of a writer has read, and which version of it. A commit may refuse the change
 * of a document one of whose conditions does not hold any more.
 */
typedef struct sx_condition {
	uint64_t id;     /* of the document */
	uint64_t version;
	uint32_t prefix; /* of a table, aligned to the left */
	unsigned table;  /* from 0; or one of those below */
} sx_condition;

#define SX_WHOLE UINT32_MAX        /* the index as a whole */
#define SX_CHANGE                                                                                  \
	(UINT32_MAX - 1) /* the transaction's change of the document `version` is stored */

typedef struct sx_conditions {
	sx_condition *at;
	size_t n, cap;
	const struct sx_snapshot *writing; /* the transaction that decides */
} sx_conditions;

/** Where an index is, and what is known of it. */
typedef struct sx_backend_place {
	/** For people: where an index is, and what holds it. */
	const char *(*path)(const simidx *index);
	const char *(*holder)(const simidx *index);

	/** Close what the index has of it, as far as it is open. */
	void (*close)(const simidx *index);

	/** SIMIDX_E_FORK in a child of the process that has opened it. */
	int (*check_fork)(const simidx *index, simidx_error *err);

	/** Fill in what simidx_get_info() tells; all is zero. */
	int (*info)(const simidx *index, simidx_info *out, simidx_error *err);
	/** simidx_get_mark(): SIMIDX_E_NOT_FOUND without setting err. */
	int (*get_mark)(const simidx *index, void *buffer, size_t size, size_t *n,
			simidx_error *err);
} sx_backend_place;

/** Snapshots: sx_snapshot.h */
typedef struct sx_backend_snapshot {
	/** Begin a snapshot that is all zero but for its index, with its header. */
	int (*begin)(struct sx_snapshot *snapshot, simidx_error *err);
	/** Take a new snapshot with one that was reset. */
	int (*renew)(struct sx_snapshot *snapshot, simidx_error *err);
	/** Begin the transaction of a writer. */
	int (*begin_write)(struct sx_snapshot *snapshot, int no_meta_sync, simidx_error *err);
} sx_backend_snapshot;

/** Answering queries of a batch together, by one thread: scratch memory and calls. */
typedef struct sx_backend_bulk {
	/** Queries of a task at most; 0 = as large as slices of the handle may be. */
	size_t most;
	/** What search() has looked up stays as it is until the transaction of a writer ends. */
	int holds_for_writer;
	/** Whether n queries are to be answered so. The reader has a snapshot. */
	int (*is_worthwhile)(simidx_reader *reader, const simidx_query *queries, size_t n);
	/** NULL when memory is short. */
	void *(*create)(void);
	/** NULL is allowed. */
	void (*destroy)(void *bulk);
	/**
	 * Look up n queries. What is wrong with one of them is told by its answer.
	 *
	 * @param together  set to how many were looked up, the first ones; 0: all have to be
	 *                  searched for one by one
	 */
	int (*search)(void *bulk, simidx_reader *reader, const simidx_query *queries, size_t n,
		      size_t *together, simidx_error *err);
	/** Answer query number i of these, once each, in their order: as sx_search() does. */
	int (*answer)(void *bulk, simidx_reader *reader, size_t i, simidx_results *out,
		      simidx_error *err);
} sx_backend_bulk;

/** Documents, one at a time: sx_documents.h */
typedef struct sx_backend_documents {
	/**
	 * Find a document by id in the tables, not among the rows that are fresh. Its label comes
	 * with it or is to be asked for. SIMIDX_E_NOT_FOUND without setting err.
	 *
	 * @param search  scratch memory, which has the label until the next call; NULL: that is the
	 *                transaction of a writer, and has it until its end
	 */
	int (*by_id)(void *search, const struct sx_snapshot *snapshot, uint64_t id,
		       struct sx_labelled_doc *out, simidx_error *err);
	/**
	 * The same by label, also if a fresh row is about it: what the tables say does not count
	 * then.
	 */
	int (*by_label)(void *search, const struct sx_snapshot *snapshot, const void *label,
			  size_t size, struct sx_labelled_doc *out, simidx_error *err);
	/**
	 * The label that a document has now. SIMIDX_E_NOT_FOUND without setting err: it has none.
	 */
	int (*label_of)(const struct sx_snapshot *snapshot, uint64_t id, struct sx_slice *label,
			simidx_error *err);
	/** The same for its note. NULL where no index has notes. */
	int (*note_of)(const struct sx_snapshot *snapshot, uint64_t id, struct sx_slice *note,
		       simidx_error *err);
} sx_backend_documents;

/** A walk over all documents that looks for old ones. All zero but for `time` at first. */
typedef struct sx_older {
	uint32_t time;            /* documents whose time is known and before this one */
	struct sx_doc *doc;       /* some of them: the caller frees it */
	size_t n, cap;
	uint64_t seen, total;     /* rows of the tables so far, and of all at the beginning */
	uint64_t fp, id;          /* the tables were looked at up to this document */
	int is_begun, has_ended;
	int is_stale;             /* none of those that were named is old any more, or there */
} sx_older;

/** Writers: sx_writer.h. One thread at a time. */
typedef struct sx_backend_writer {
	/**
	 * Whether the index can be written; what the writer is to have of its own is made. Sets
	 * writer->has_conditions where commits may refuse changes.
	 */
	int (*open)(simidx_writer *writer, simidx_error *err);
	void (*close)(simidx_writer *writer);
	/**
	 * Take the lock, which a writer with conditions may have already, and begin a
	 * transaction: look-ups find all that is going to be stored.
	 */
	int (*begin)(simidx_writer *writer, simidx_error *err);
	/**
	 * Give back what the transaction has, and the lock if the writer has it; its snapshot
	 * has ended.
	 */
	void (*end)(simidx_writer *writer);
	/** Look up what changes of n documents will ask for, all of it at once. */
	int (*prefetch)(simidx_writer *writer, const simidx_doc *docs, size_t n, simidx_error *err);
	/** An id that no document has, not below at_least. */
	int (*new_id)(simidx_writer *writer, uint64_t at_least, uint64_t *id, simidx_error *err);
	/** Ids below this one are not to be given to anybody from the commit on. */
	void (*use_ids)(simidx_writer *writer, uint64_t below);
	/**
	 * Keep out who adds documents near to a fingerprint, as far as that is possible, until the
	 * transaction ends.
	 */
	int (*lease)(simidx_writer *writer, uint64_t fp, simidx_error *err);
	/** Set the label of a document whose row waits for the commit; NULL: it gets none. */
	int (*label)(simidx_writer *writer, uint64_t id, const char *label, size_t size,
			    simidx_error *err);
	/** The same for its note. NULL where no index has notes. */
	int (*note)(simidx_writer *writer, uint64_t id, const void *note, size_t size,
		    simidx_error *err);
	/** Whether a commit has something to do though nothing was changed. */
	int (*is_unfinished)(const simidx_writer *writer);
	/**
	 * Store what waits, unless that is nothing, and do what is due. The caller ends the
	 * transaction. writer->refused gets the documents whose change is not stored: what it
	 * rests on is not any more as writer->conditions, or the look-ups of the transaction,
	 * say. Then the mark is not stored, and writer->stored is not raised.
	 */
	int (*commit)(simidx_writer *writer, int has_to_store, simidx_error *err);
	/** Move all fresh rows into the tables. There is no transaction. */
	int (*merge)(simidx_writer *writer, simidx_error *err);
	/**
	 * Set older->doc to further old documents, as they are in the transaction: so many as one
	 * is to delete, or none. Those that a commit refuses to delete may be found again.
	 */
	int (*older)(simidx_writer *writer, sx_older *older, simidx_error *err);
} sx_backend_writer;

/** All documents: simidx_walk_open() and those that follow. */
typedef struct sx_backend_walk {
	int (*open)(const simidx *index, void **walk, simidx_error *err);
	int (*next)(void *walk, simidx_match *out, simidx_error *err);
	/**
	 * The note of the last document. SIMIDX_E_NOT_FOUND without setting err: it has none. NULL
	 * where no index has notes.
	 */
	int (*note)(void *walk, struct sx_slice *note, simidx_error *err);
	void (*close)(void *walk);
} sx_backend_walk;

/**
 * What only some can do. A function that needs it says so by sx_index_need(), or by
 * sx_holder_need() for an index that is not open, and by nothing else:
 *
 *	SX_HAS_TABLES  simidx_backup(), simidx_check_pages(), simidx_clusters(), simidx_compact(),
 *	               simidx_get_table_info(), simidx_loader_add_index(), simidx_loader_open(),
 *	               simidx_pairs(), simidx_repair()
 *	SX_CAN_MEND    simidx_mend()
 */
enum sx_capability {
	SX_HAS_TABLES = 1, /* its sub-databases can be read, copied and built as such */
	SX_CAN_MEND = 2    /* it mends itself */
};

typedef struct sx_backend {
	unsigned capabilities; /* enum sx_capability */
	const char *scan;      /* what comparing with everything is, for people */
	unsigned nearest_step; /* by so much the radius of a search for the nearest grows */
	const sx_backend_place *place;
	const sx_backend_snapshot *snapshot;
	const sx_backend_bulk *bulk;
	const sx_backend_documents *document;
	const sx_backend_writer *writer;
	const sx_backend_walk *walk;

	/** Scratch memory of the searches of one thread. NULL when memory is short. */
	void *(*search_new)(const simidx *index);
	/** NULL is allowed. */
	void (*search_free)(void *search);

	/**
	 * Look up the probes of n queries, and add what is near enough to the hits of each
	 * (sx_finding.h): fingerprints, or fingerprints with the ids of their documents.
	 *
	 * @param round_trips  raised by the waits for an answer
	 */
	int (*near)(void *search, struct sx_finding *const *finding, size_t n,
		    uint64_t *round_trips, simidx_error *err);

	/**
	 * Take the documents of hits [from, to) that the tables have. They are all hits of their
	 * distances.
	 */
	int (*documents)(void *search, struct sx_finding *finding, struct sx_taking *taking,
			 size_t from, size_t to, simidx_error *err);

	/**
	 * Add the labels of matches [from, from + n) that have not come with them.
	 *
	 * @param checks  nonzero: compare each with what is kept of it
	 */
	int (*labels)(struct sx_matches *matches, const struct sx_snapshot *snapshot, size_t from,
		      size_t n, int checks, simidx_error *err);

	/** simidx_verify(), simidx_mend(); flags: SX_CHECK_MEND. */
	int (*check)(const simidx *index, unsigned flags,
		     void (*problem)(void *ctx, const simidx_problem *problem), void *ctx,
		     simidx_verify_report *out, simidx_error *err);
} sx_backend;

#define SX_CHECK_MEND 1u /**< of check(): mend what is found */

#endif /* SX_BACKEND_H */
