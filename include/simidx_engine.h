/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_engine.h - other engines that hold the tables of an index: what one must be able to do.
 *
 * An index is most often a directory that this library reads and writes itself. An engine holds the
 * same tables elsewhere, for example in a distributed database. It is chosen by the scheme of a URI
 * that stands where a path would: after simidx_engine_add() of an engine with the scheme "hbase",
 * simidx_open("hbase://host:9090/ns:name", ...) opens an index of that engine, and the functions of
 * the other headers work on it. Those that it cannot serve return SIMIDX_E_UNSUPPORTED.
 *
 * What differs from an index in a directory:
 *  - There are no snapshots: each look-up sees what is there by then. A walk and a search that need
 *    several may see documents that come or go meanwhile.
 *  - A commit is not all or nothing at once: write() says what is there after a failure. Searches
 *    find each document as it was before or after.
 *  - A transaction of a writer keeps out other writers of the same handle, and nobody else. Of two
 *    who change one document the later one counts, and two documents may get one label; but with
 *    SIMIDX_ENGINE_CONDITIONS a commit notices it, and decides again.
 *  - Ids that are chosen may leave gaps. Ids that the caller gives are for one writer at a time, or
 *    must lie below the next id: a writer does not look whether another one has used an id that was
 *    reserved for it.
 *  - Second fingerprints that are not known (SIMIDX_DOC_FP2_UNKNOWN) can always be put.
 *
 * The library plans queries, filters candidates, judges documents and keeps what a writer has not
 * committed. An engine scans prefixes, looks up documents and stores changes. It knows nothing of
 * distances.
 *
 * Terms. A plan has tables, numbered from 0 here. In each of them every document has one row: the
 * prefix of the table, taken from the fingerprint, then the fingerprint and the id. A prefix is
 * handed over in 32 bits, aligned to the left: its unused low bits are 0.
 *
 * The conventions of simidx.h hold here too: return codes, simidx_error, sizes of structs.
 *
 * Threads: the library calls the functions of one state from several threads at once, but
 * begin(), resume(), write(), reserve_ids(), check() and the leases of one state only from one
 * thread at a time.
 */

#ifndef SIMIDX_ENGINE_H
#define SIMIDX_ENGINE_H

#include <simidx_check.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

#define SIMIDX_ENGINE_VERSION 4 /**< of this interface; it grows with incompatible changes only */

/** What an engine can do beyond what all can. */
#define SIMIDX_ENGINE_LEASES 1u /**< lease() and release(); simidx_writer_put_if_new() uses them */
/**
 * It counts versions of prefixes and of the index, and write() refuses changes that rest on an
 * older one. Leases are not needed then, and not used.
 */
#define SIMIDX_ENGINE_CONDITIONS 2u
/**
 * Rows and documents change in one step, so each row that scan() delivers is of a document that was
 * there with that fingerprint. Who asks for nothing else of it needs no look-up.
 */
#define SIMIDX_ENGINE_SOUND_ROWS 4u

/** What an engine says of itself and of the index that was opened. */
typedef struct simidx_engine_info {
	size_t size;             /**< sizeof; set by the library */
	unsigned capabilities;   /**< SIMIDX_ENGINE_ bits, or 0 */
	unsigned text_probes;    /**< of a query of a text whose caller names none; 0 = as a local
	                              index */
	const void *description; /**< as given to create; valid as long as the state */
	size_t description_size; /**< in bytes */
	uint64_t documents;      /**< of batches that are completely stored; where counting takes
	                              long, as many as it knows of */
	uint64_t labels;         /**< documents with a label, likewise */
	uint64_t next_id;        /**< above all ids that were ever there or reserved */
	uint64_t bytes;          /**< that the index takes; 0 = not known */
	/* Predicted costs in microseconds, for the planner: */
	double round_trip;       /**< of a call of scan(), whatever it asks for */
	double probe;            /**< of one more probe in it */
	double row;              /**< of one more row that a probe delivers */
	double scan_row;         /**< of a document that walk() delivers */
	const char *durability;  /**< for people: the setting by which what is stored lasts; NULL:
	                              the engine tells none; valid as long as the state */
} simidx_engine_info;

/** How an index is opened. */
typedef struct simidx_engine_open {
	size_t size;             /**< sizeof */
	unsigned flags;          /**< SIMIDX_OPEN_READ_ONLY, SIMIDX_OPEN_CREATE, both or none of
	                              them; SIMIDX_ENGINE_TRUNCATE */
	unsigned n_tables;       /**< to create: of the plan */
	const void *description; /**< to create: bytes that the engine keeps as they are */
	size_t description_size; /**< at most 64 MiB */
} simidx_engine_open;

#define SIMIDX_ENGINE_TRUNCATE 0x10000u /**< with SIMIDX_OPEN_CREATE: in place of what is there */
#define SIMIDX_ENGINE_MUST_CREATE 0x20000u /**< with it: SIMIDX_E_EXISTS where one is there */

/** A scan: all rows of a table that begin with a prefix. */
typedef struct simidx_engine_probe {
	uint32_t prefix; /**< aligned to the left */
	unsigned table;  /**< from 0 */
} simidx_engine_probe;

/** What a callback wants next. */
enum simidx_engine_next {
	SIMIDX_ENGINE_ON = 0,         /**< more */
	SIMIDX_ENGINE_NEXT_PROBE = 1, /**< of rows: no more of this probe; of documents: the end */
	SIMIDX_ENGINE_END = 2         /**< nothing more at all */
};

/**
 * Rows that a probe has found: hears of the rows of each probe in one call or several, in any order
 * of probes.
 *
 * @param probe  its number
 * @param fp     n fingerprints, with the prefix of the probe
 * @param id     n ids
 */
typedef enum simidx_engine_next (*simidx_engine_rows)(void *ctx, size_t probe, const uint64_t *fp,
						      const uint64_t *id, size_t n);

/** What a call took. */
typedef struct simidx_engine_cost {
	uint64_t round_trips; /**< waits for an answer: requests that are sent together count
	                           once */
	uint64_t requests;
	uint64_t bytes;       /**< received, as far as it is known */
} simidx_engine_cost;

/**
 * A document that was looked up. SIMIDX_MATCH_FP2, _LABEL and _TIME are set where it has them;
 * what it points to is valid during the call.
 *
 * @param i  number of the id or label that was asked for; of a walk, 0
 * @return SIMIDX_ENGINE_ON; another value ends the call with SIMIDX_E_STOPPED
 */
typedef enum simidx_engine_next (*simidx_engine_document)(void *ctx, size_t i,
							  const simidx_match *document);

/** Bytes. */
typedef struct simidx_engine_bytes {
	const void *data;
	size_t size;
} simidx_engine_bytes;

/** A document before or after a change. */
typedef struct simidx_engine_version {
	uint64_t fp, fp2;
	unsigned flags;         /**< SIMIDX_DOC_FP2, SIMIDX_DOC_FP2_UNKNOWN or 0 */
	const char *label;      /**< NULL = none */
	size_t label_size;
	const uint32_t *prefix; /**< one for each table */
	uint32_t time;          /**< 0: not known, or the index keeps none */
	uint32_t reserved;      /**< zero */
} simidx_engine_version;

/** A version that a decision has seen, as scan() or walk() has told it. */
typedef struct simidx_engine_condition {
	uint32_t prefix;  /**< aligned to the left */
	unsigned table;   /**< from 0; SIMIDX_ENGINE_WHOLE: the index as a whole, and prefix is 0 */
	uint64_t version; /**< SIMIDX_ENGINE_NO_VERSION does not hold, whatever is there */
} simidx_engine_condition;

#define SIMIDX_ENGINE_WHOLE 0xffffffffu
#define SIMIDX_ENGINE_NO_VERSION 0xffffffffffffffffu /**< no prefix ever has this one */

/** A change of one document. */
typedef struct simidx_engine_change {
	uint64_t id;
	const simidx_engine_version *before; /**< as it was found; NULL: there was none */
	const simidx_engine_version *after;  /**< NULL: it is deleted */
	/** With SIMIDX_ENGINE_CONDITIONS: what must still be so; one may come twice. */
	const simidx_engine_condition *condition;
	size_t n_conditions;
} simidx_engine_change;

/** What is stored together, by one commit. */
typedef struct simidx_engine_batch {
	size_t size;                        /**< sizeof */
	const simidx_engine_change *change; /**< each of another document */
	size_t n;
	const void *mark;  /**< simidx_writer_set_mark(): stored after the changes; NULL = leave
	                        it */
	size_t mark_size;
	unsigned durability; /**< enum simidx_durability */
	unsigned reserved;   /**< zero */
	/**
	 * With SIMIDX_ENGINE_CONDITIONS, else NULL: n bytes of 0, of which write() sets those of
	 * changes that it refuses to 1.
	 */
	unsigned char *refused;
} simidx_engine_batch;

#define SIMIDX_ENGINE_MEND 1u /**< of check(): mend what is found */

/** What check() needs of the library, and tells. */
typedef struct simidx_engine_check {
	size_t size;       /**< sizeof */
	unsigned flags;    /**< SIMIDX_ENGINE_MEND or 0 */
	unsigned n_tables;
	/** The prefix of a fingerprint in each table. */
	void (*prefixes)(void *ctx, uint64_t fp, uint32_t *prefix);
	/** Hears of each problem. */
	void (*problem)(void *ctx, const simidx_problem *problem);
	/** Hears how far it is; `total` may be a guess. */
	void (*progress)(void *ctx, const char *phase, uint64_t done, uint64_t total);
	void *ctx;
	uint64_t rows, documents; /**< out: what was looked at */
	uint64_t problems;        /**< out: what was wrong */
	uint64_t mended;          /**< out: of these, what was mended */
} simidx_engine_check;

/**
 * An engine. All functions are given but for lease() and release(), which need the capability, and
 * older(). Each
 * returns a SIMIDX_E_ code and keeps to its deadline: a server that is gone, slow or talks garbage
 * is SIMIDX_E_IO with a clear text.
 */
typedef struct simidx_engine {
	size_t size;         /**< sizeof */
	unsigned version;    /**< SIMIDX_ENGINE_VERSION */
	const char *scheme;  /**< letters, digits and hyphens in lower case, such as "hbase" */
	const char *name;    /**< for people, such as "HBase" */
	/** Names of plans that it can hold, such as "4x16": the one for "auto" first, NULL last. */
	const char *const *plans;
	/**
	 * What its indexes can keep with a document beyond what all can: SIMIDX_CREATE_TIMES or 0.
	 * No engine keeps notes.
	 */
	unsigned keeps;

	/**
	 * Open an index. Nothing is created without SIMIDX_OPEN_CREATE.
	 *
	 * @return SIMIDX_OK; SIMIDX_E_NOT_FOUND; SIMIDX_E_EXISTS; SIMIDX_E_NOT_INDEX: what is there
	 *         is something else; SIMIDX_E_VERSION; SIMIDX_E_ARG: a bad URI; SIMIDX_E_IO
	 */
	int (*open)(const char *uri, const simidx_engine_open *how, void **state,
		    simidx_error *err);

	/** Close it. After a fork() in the child it only frees memory. */
	void (*close)(void *state);

	/**
	 * Describe it, with the counts of now. It is called when a transaction begins, and at most
	 * once a second for searches: one round trip is enough. It changes nothing. What writers
	 * that are gone have left counts when it is completed. SIMIDX_E_MOVED: the index was
	 * replaced.
	 */
	int (*info)(void *state, simidx_engine_info *out, simidx_error *err);

	/**
	 * Scan n prefixes, in as few round trips as it can. A row may be of a document that is
	 * gone, without SIMIDX_ENGINE_SOUND_ROWS. `rows` is called from the thread of the call;
	 * after it has returned SIMIDX_ENGINE_END the call returns SIMIDX_OK.
	 *
	 * The first look-up of a state, which is a call of scan(), find_ids(), find_labels() or
	 * walk(), may first complete what writers that are gone have left, so that searches and
	 * info() agree afterwards. It may do so where the index is opened read-only, too.
	 *
	 * @param version  n of them, or NULL, which it always is without
	 *                 SIMIDX_ENGINE_CONDITIONS: gets that of each prefix as it was before
	 *                 its rows were read. Each change that is stored raises those of its
	 *                 document, with the fingerprint before and the one after, in all
	 *                 tables, also where the fingerprint stays. One may be raised for no
	 *                 reason. After SIMIDX_ENGINE_END nobody looks at them
	 */
	int (*scan)(void *state, const simidx_engine_probe *probe, size_t n,
		    simidx_engine_rows rows, void *ctx, uint64_t *version, simidx_engine_cost *cost,
		    simidx_error *err);

	/**
	 * Deliver those of n documents that are there, by id, in any order. An id may be asked for
	 * twice.
	 */
	int (*find_ids)(void *state, const uint64_t *id, size_t n, simidx_engine_document document,
			void *ctx, simidx_engine_cost *cost, simidx_error *err);

	/** The same, by label. */
	int (*find_labels)(void *state, const simidx_engine_bytes *label, size_t n,
			   simidx_engine_document document, void *ctx, simidx_engine_cost *cost,
			   simidx_error *err);

	/**
	 * Deliver the first n documents from an id on, by ascending id; fewer only at the end.
	 *
	 * @param version  NULL, as it always is without SIMIDX_ENGINE_CONDITIONS, or gets that
	 *                 of the index as a whole, as it was before. Each change that is stored
	 *                 raises it
	 */
	int (*walk)(void *state, uint64_t from_id, size_t n, simidx_engine_document document,
		    void *ctx, uint64_t *version, simidx_error *err);

	/**
	 * Of an engine that keeps times: n documents whose time is known and before `time`, or all
	 * of these if they are fewer, in any order. A document that is gone may be among them.
	 * NULL: the library walks over all documents instead.
	 *
	 * @param id     gets their ids
	 * @param found  set to how many
	 */
	int (*older)(void *state, uint32_t time, size_t n, uint64_t *id, size_t *found,
		     simidx_error *err);

	/**
	 * Complete what was begun to be stored. The library calls it when the first transaction
	 * of a state begins, and again when the next one begins after a write() that has
	 * returned SIMIDX_E_UNKNOWN. When it returns SIMIDX_OK, the earlier batch of this state
	 * is stored, or is not going to be. Batches of others that are going to be completed are
	 * stored, too, so that look-ups find what get_mark() has told of.
	 *
	 * @return SIMIDX_OK; SIMIDX_E_IO, SIMIDX_E_BUSY: not all of it is completed;
	 *         SIMIDX_E_MOVED: the index was replaced
	 */
	int (*begin)(void *state, simidx_error *err);

	/**
	 * The same in the place of begin(), where a load goes on after its mark
	 * (SIMIDX_WRITER_RESUME). Moreover, this state takes the place of all others that have
	 * begun before, as far as they set marks: nothing with a mark that they have sent is
	 * stored later, and their write() of a mark returns SIMIDX_E_STATE until they resume,
	 * too.
	 *
	 * @return as begin()
	 */
	int (*resume)(void *state, simidx_error *err);

	/**
	 * Store a batch, which has a change or a mark. When it returns SIMIDX_OK, all is stored.
	 * If it fails or the process is killed, of each document either the version before or
	 * the one after is found by searches and look-ups, and never both or a mixture; the next
	 * writer, or check(), finishes the batch.
	 *
	 * With SIMIDX_ENGINE_CONDITIONS it refuses a change one of whose conditions does not
	 * hold, or whose `before` is not just what is stored, or that gives a document the label
	 * of another one. It must not refuse one for another reason. It compares with what was
	 * there before the batch, so that changes of one batch do not break each other's
	 * conditions; but a label is free that another change of the batch takes away, if that
	 * one is stored. Comparing and storing are one step to all others. The changes that are
	 * not refused are stored. The mark is stored only if none is refused, as the library
	 * tries again.
	 *
	 * @return SIMIDX_OK; SIMIDX_E_UNKNOWN: some of it may be stored; SIMIDX_E_IO: nothing is;
	 *         SIMIDX_E_STATE: a lease had expired, or another state has shut this one out, so
	 *         nothing is stored; SIMIDX_E_RANGE: the batch is larger than the engine takes, and
	 *         nothing is stored; SIMIDX_E_MOVED: the index was replaced, and nothing is stored
	 */
	int (*write)(void *state, const simidx_engine_batch *batch, simidx_error *err);

	/**
	 * Take n ids from *first on, not below at_least, that nobody else is ever given. With n = 0
	 * no id below at_least is given from now on.
	 */
	int (*reserve_ids)(void *state, uint64_t n, uint64_t at_least, uint64_t *first,
			   simidx_error *err);

	/**
	 * The mark of the last batch with one that is stored, or is going to be completed; size 0:
	 * none. To be freed by free().
	 */
	int (*get_mark)(void *state, void **data, size_t *size, simidx_error *err);

	/**
	 * Compare rows and documents with each other: simidx_verify(), simidx_mend(). Without
	 * SIMIDX_ENGINE_MEND it changes nothing.
	 */
	int (*check)(void *state, simidx_engine_check *check, simidx_error *err);

	/**
	 * Wait until nobody else has a lease on one of n prefixes, and take all, in the order
	 * given, until release() or until they expire, which the engine decides. Who has leases
	 * already does not wait, as the other one may wait for them. After an error those of
	 * earlier calls are kept. A lease that has expired is taken over only when all that its
	 * holder has begun to store is stored, and a write() that it may still call would fail.
	 *
	 * @return SIMIDX_OK; SIMIDX_E_BUSY after wait_ms, or at once for one that has leases;
	 *         SIMIDX_E_STATE: one of an earlier call has expired, and another writer has it;
	 *         SIMIDX_E_IO
	 */
	int (*lease)(void *state, const simidx_engine_probe *prefix, size_t n, int wait_ms,
		     simidx_error *err);

	/**
	 * Give back all leases of the state. SIMIDX_E_STATE: some had expired meanwhile. After a
	 * write() that has returned SIMIDX_E_UNKNOWN, nobody else gets them before its batch is
	 * finished.
	 */
	int (*release)(void *state, simidx_error *err);
} simidx_engine;

/**
 * Add an engine, for all indexes that this process opens from now on.
 *
 * @param engine  must stay valid for ever
 * @return SIMIDX_OK, also for one that is there; SIMIDX_E_EXISTS: another one has the scheme;
 *         SIMIDX_E_VERSION: of another version of this interface; SIMIDX_E_ARG: something is
 *         missing
 */
int simidx_engine_add(const simidx_engine *engine, simidx_error *err) SIMIDX_CHECK_RESULT;

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* SIMIDX_ENGINE_H */
