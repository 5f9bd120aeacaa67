/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_dedup.h - which rows of a collection are near to earlier ones (libsimidx-dedup).
 *
 * The conventions of simidx.h hold here too. Rows go in one after the other, and a decision about
 * each comes out, in the same order: it is near to a row that is kept, its keeper, or it is kept
 * itself. The rows that are kept lie in an index, in which every later row is searched. A row is a
 * text, or features that others have made of a text, or a bare fingerprint.
 *
 * A text is searched by its fingerprints, more widely than by a plain search. The texts that are
 * found, its candidates, are compared with it, the nearest first: two texts are as similar as the
 * Jaccard similarity of their shingles says, which is the number of shingles that are in both,
 * divided by the number of those that are in either. A shingle is five neighbouring tokens, and
 * tokens are those of the extractor "unspaced12" (simidx_text.h). A text of one to four tokens has
 * one shingle, all of it. Texts of the same bytes are near, whatever is in them. Features and bare
 * fingerprints are decided by their distance alone.
 *
 *     simidx_dedup_options options = SIMIDX_DEDUP_OPTIONS_INIT;
 *
 *     options.calls.decided = print_decision;
 *     simidx_dedup_open(index, writer, &options, &dedup, &err);
 *     for each text: simidx_dedup_add(dedup, &row, &err);
 *     simidx_dedup_flush(dedup, 1, &err);
 *     simidx_dedup_close(dedup);
 *
 * Rows are gathered into batches, of which several threads make the fingerprints, search them
 * among what was kept before and among each other, and compare texts; meanwhile the next rows are
 * added. Then the rows are decided in their turn, and most of what is to be compared was compared
 * by the threads. So neither the number of threads nor the size of batches changes a decision, as
 * long as texts can be read again and simidx_dedup_limit() leaves room for them: the candidates of
 * a row are those that its query finds among the rows kept before it, ordered by distance and then
 * by their place in the input. Of these the first SIMIDX_DEDUP_MOST_COMPARED, or all, are compared,
 * until one is similar enough; and beyond them one of the same bytes.
 *
 * A text that has too few shingles in common with all texts before it for one of them to be near is
 * not searched. That is told by 24 of its shingles, a random sample: of a text that is just as
 * similar to a kept one as it must be, wrongly with a chance of at most 1 in 1,000, and hardly
 * ever of one that is more similar. Then it is kept, also where the text of the other one is not
 * there any more and fingerprints would decide (doc/dedup-design.md).
 *
 * A text that needs a search is compared first with up to three kept texts that were the first to
 * have one of its shingles, and not searched where one is near. So its keeper need not be the
 * nearest one.
 * With SIMIDX_DEDUP_LASTING it is searched: a later run has to find the keeper, too, and has no
 * such shingles. So are rows of which more than the keeper is told (SIMIDX_DEDUP_PAIRS,
 * SIMIDX_DEDUP_NEAREST, SIMIDX_DEDUP_ASK).
 */

#ifndef SIMIDX_DEDUP_H
#define SIMIDX_DEDUP_H

#include <simidx.h>
#include <simidx_sketch.h>
#include <simidx_write.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/** Decides about rows. For one thread at a time, and not always the same one; it starts others by
 * itself. */
typedef struct simidx_dedup simidx_dedup;

/** How similar texts must be, unless the options say so. */
#define SIMIDX_DEDUP_SIMILARITY 0.8

/** Most candidates with which a text is compared, unless SIMIDX_DEDUP_COMPARE_ALL or
 * SIMIDX_DEDUP_PAIRS is given. */
#define SIMIDX_DEDUP_MOST_COMPARED 64

/** Bytes of memory for each text that is kept, until the end. */
#define SIMIDX_DEDUP_BYTES 16

/** What rows have. Features and bare fingerprints decide by themselves. */
enum simidx_dedup_kind {
	SIMIDX_DEDUP_TEXTS,
	SIMIDX_DEDUP_FEATURES,
	SIMIDX_DEDUP_FINGERPRINTS
};

/** Where a text can be read again; what the numbers mean is the caller's. */
typedef struct simidx_dedup_place {
	uint64_t offset; /**< below 2^48 */
	uint32_t source;
	uint32_t length;
} simidx_dedup_place;

/** For simidx_dedup_row.flags: the row has a place. */
#define SIMIDX_DEDUP_PLACED 1u
/** Set when it is decided: it has no bytes or features, is kept, and nothing can be near to it. */
#define SIMIDX_DEDUP_EMPTY 2u

/**
 * Tell of a row all kept ones that it is near to, and do not keep it. It is compared with all that
 * it would be compared with in its turn if none of them were near, but not with other indexes, and
 * it is counted nowhere; where fingerprints alone decide, the nearest is told. What calls.skips
 * names is left out of that. calls.decided is
 * called with all of them, which may be none, in the order of these; nothing is stored, and no
 * later row is compared with it. Not with SIMIDX_DEDUP_PAIRS.
 */
#define SIMIDX_DEDUP_ASK 4u

/** A row. All that it points to is copied when it is added, or not needed any more. */
typedef struct simidx_dedup_row {
	size_t size;      /**< sizeof(simidx_dedup_row); SIMIDX_DEDUP_ROW_INIT sets it */
	uint64_t fp;      /**< of SIMIDX_DEDUP_FINGERPRINTS */
	const simidx_feature *features; /**< of SIMIDX_DEDUP_FEATURES: `n_features` of them */
	size_t n_features;
	const char *text; /**< of SIMIDX_DEDUP_TEXTS: `text_size` bytes, at most 2^30; what is not
	                     UTF-8 counts as U+FFFD */
	size_t text_size;
	const char *label; /**< of the document in the index: `label_size` bytes, or NULL; it is
	                      not stored where another document has it, or where it is too long */
	size_t label_size;
	const void *extra; /**< `extra_size` bytes that come back with the decision, aligned as by
	                      malloc() */
	size_t extra_size;
	/** Where its text can be read again, with SIMIDX_DEDUP_PLACED; a text without is put
	    aside in a temporary file if it is kept */
	simidx_dedup_place place;
	unsigned flags;
	unsigned reserved; /**< zero */
} simidx_dedup_row;

#define SIMIDX_DEDUP_ROW_INIT                                                                 \
	{ sizeof(simidx_dedup_row), 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, { 0, 0, 0 }, 0, 0 }

/** simidx_dedup_near.similarity where fingerprints alone have decided about a text. */
#define SIMIDX_DEDUP_BY_FP (-1.0)

/** In place of a distance: a hash led to the document, and no search. */
#define SIMIDX_DEDUP_NOT_SEARCHED 0xffffffffu

/** simidx_dedup_near.keeper of a document that the index had before simidx_dedup_open(). */
#define SIMIDX_DEDUP_EARLIER UINT64_MAX

/** simidx_dedup_near.keeper of a document of another index, number `against` of the options. */
#define SIMIDX_DEDUP_AGAINST (UINT64_MAX - 2)

/** For simidx_dedup_near.flags: the similarity is estimated, from sketches. */
#define SIMIDX_DEDUP_ESTIMATE 1u
/** The texts were compared, and have the same bytes. */
#define SIMIDX_DEDUP_EQUAL 2u

/** A kept row to which another one is near. */
typedef struct simidx_dedup_near {
	uint64_t id;       /**< in the index, or in the other one */
	uint64_t keeper;   /**< its number among the rows that were kept and are not
	                      SIMIDX_DEDUP_EMPTY, from 0; or SIMIDX_DEDUP_EARLIER or _AGAINST */
	double similarity; /**< of two texts, above 0 and up to 1, or SIMIDX_DEDUP_BY_FP; of bare
	                      fingerprints the number of bits that differ; of features
	                      SIMIDX_DEDUP_BY_FP */
	unsigned distance; /**< as the search weighs it, or SIMIDX_DEDUP_NOT_SEARCHED */
	unsigned flags;    /**< SIMIDX_DEDUP_ESTIMATE, SIMIDX_DEDUP_EQUAL or 0 */
	unsigned against;  /**< with SIMIDX_DEDUP_AGAINST: which of the other indexes, from 0 */
	unsigned reserved; /**< zero */
} simidx_dedup_near;

/**
 * What the caller does. From each but skips, anything but 0 ends the call in which it happened,
 * which returns it; codes above 0 are the caller's own. decided and committing are called by the
 * thread that calls the library. The rest is called by others, too, also between two calls of the
 * caller's, from the simidx_dedup_add() that fills a batch to the end of the next flush or of
 * simidx_dedup_close(); but by no other thread while decided or committing runs.
 */
typedef struct simidx_dedup_calls {
	void *ctx; /**< the first parameter of each */

	/**
	 * A row is decided: it is kept (n = 0), or near to `near`. With SIMIDX_DEDUP_PAIRS it is
	 * kept, and near to `n` others, in the order of these; with SIMIDX_DEDUP_ASK it is near to
	 * `n` others, and not kept. With SIMIDX_DEDUP_NEAREST and n = 0
	 * `near` is what of all that the row was compared with is most similar to it, and yet not
	 * near; otherwise, or if there is no such document, it is NULL. Row and `near` are valid
	 * until it returns. The transaction that stores the row is not committed yet.
	 */
	int (*decided)(void *ctx, const simidx_dedup_row *row, const simidx_dedup_near *near,
		       size_t n);

	/**
	 * All rows of a batch are decided, and are committed next: what is to be remembered may be
	 * made safe, and a mark be set with the writer. NULL = nothing.
	 *
	 * @param is_complete  as it was given to simidx_dedup_flush()
	 */
	int (*committing)(void *ctx, int is_complete);

	/**
	 * Read a text again that has a place. Several threads call it at once, each with a number
	 * of its own below simidx_dedup_options.threads. NULL where no row has a place.
	 *
	 * @param text  set to the text, valid until the next call by the same thread
	 * @param size  set to its size in bytes
	 * @return 0; SIMIDX_E_NOT_FOUND if it is not there any more: fingerprints decide then
	 */
	int (*read_text)(void *ctx, unsigned thread, const simidx_dedup_place *place,
			 const char **text, size_t *size);

	/** Whether to end with SIMIDX_E_STOPPED; asked often, by any thread. NULL = no. */
	int (*stop)(void *ctx);

	/** Whether a row with SIMIDX_DEDUP_ASK is not to be compared with a kept row of this run,
	    as nothing follows from that: it is not told then. NULL = with all it is. */
	int (*skips)(void *ctx, uint64_t keeper);
} simidx_dedup_calls;

/** For simidx_dedup_options.flags: texts are not compared; fingerprints decide. */
#define SIMIDX_DEDUP_NO_VERIFY 1u
/** Compare a text with all its candidates, not only the first SIMIDX_DEDUP_MOST_COMPARED. */
#define SIMIDX_DEDUP_COMPARE_ALL 2u
/** Keep all rows, and tell of each all that it is near to. */
#define SIMIDX_DEDUP_PAIRS 4u
/**
 * A later run goes on with the index. It decides about documents of this run by what is remembered
 * of them. So a text that is left out now and would not be then is put into the index, too, without
 * a label; and searches are by probes however small the index is, so that what they find does not
 * depend on its size.
 */
#define SIMIDX_DEDUP_LASTING 8u
/**
 * Tell of a row that is kept what was most similar to it, of the texts that it was compared with.
 * Nothing more is compared for that, but all texts are searched; one that is far from the
 * similarity of the options may not be among the candidates. Not with SIMIDX_DEDUP_PAIRS.
 */
#define SIMIDX_DEDUP_NEAREST 16u

/** What is remembered of a text that is kept, for later runs: SIMIDX_DEDUP_LASTING. */
enum simidx_dedup_remember {
	/** The fingerprints alone. They take texts for near up to a weight of 160 */
	SIMIDX_DEDUP_FINGERPRINT,
	/** A note of at most 200 bytes, a sketch of its shingles, from which the similarity is
	    estimated. The standard error is at most .014 at similarity .8 (doc/dedup-design.md) */
	SIMIDX_DEDUP_SKETCH,
	/** A note with the text, compressed, with which later ones are compared. Of a text of more
	    than 8,000,000 bytes a sketch */
	SIMIDX_DEDUP_TEXT
};

/** How to decide. */
typedef struct simidx_dedup_options {
	size_t size;       /**< sizeof; SIMIDX_DEDUP_OPTIONS_INIT sets it */
	int kind;          /**< enum simidx_dedup_kind */
	unsigned flags;    /**< SIMIDX_DEDUP_NO_VERIFY and those that follow it */
	double similarity; /**< of near texts, above 0 and at most 1 */
	/** Distance up to which texts are compared, or, unverified, near: weights of both
	    fingerprints; -1 = by `similarity`, or as simidx_sketch_query_if_new() says */
	int max_weight;
	/** Bits that may differ in place of that, for bare fingerprints and for texts with
	    SIMIDX_DEDUP_NO_VERIFY; -1 = 3, or by weight */
	int max_bits;
	unsigned threads;      /**< 1 to 256; from 2 on they are beside the caller's */
	size_t batch_rows;     /**< of a batch, at most; at least 1. Two batches are in memory */
	uint64_t batch_bytes;  /**< of its rows; a text of more is decided in the
	                          simidx_dedup_add() that adds it, and not copied */
	const char *tmpdir;    /**< where texts are put aside, copied; NULL = $TMPDIR, or /tmp */
	uint64_t spill_bytes;  /**< of these, compressed, at most; UINT64_MAX = a tenth of what is
	                          free there */
	simidx_dedup_calls calls;
	/** enum simidx_dedup_remember. The index has notes (SIMIDX_CREATE_NOTES) for all but the
	    first. With documents that are there already, texts are compared by what the note of
	    each has */
	int remember;
	unsigned reserved;     /**< zero */
	/** Other indexes, `n_against` of them: a row that is near to a document of one of them is
	    left out, and so no keeper of others. They are searched in this order, before what is
	    kept, and compared with by what they remember. Borrowed; not with SIMIDX_DEDUP_PAIRS */
	simidx *const *against;
	size_t n_against;
	/** Memory for telling which texts need no search, at most: 4.1 MB at first, later up to
	    96 bytes a text. Where that is not enough, more and more texts are searched. Below 64
	    bytes all are, as always with SIMIDX_DEDUP_NEAREST, and where the index has
	    documents that were not added here, nor in runs with the same seen_file */
	uint64_t unsearched_bytes;
	/** With SIMIDX_DEDUP_LASTING, a file that keeps for the next run what tells which texts
	    need no search, and what finds most copies before any: SIMIDX_DEDUP_SEEN_NAME in the
	    directory of the index, or NULL. It is made for an index that is empty, and removed
	    where it does not have all of the index, as when others have put documents into it;
	    without it all texts of the next run are searched. It takes 40 to 150 bytes a text.
	    Not with an index in an engine. Read by simidx_dedup_open() alone */
	const char *seen_file;
} simidx_dedup_options;

/** The name of simidx_dedup_options.seen_file in the directory of an index, with which it goes. */
#define SIMIDX_DEDUP_SEEN_NAME "dedup.seen"

#define SIMIDX_DEDUP_OPTIONS_INIT                                                             \
	{ sizeof(simidx_dedup_options), SIMIDX_DEDUP_TEXTS, 0, SIMIDX_DEDUP_SIMILARITY, -1, -1, \
	  1, 4096, (uint64_t)32 << 20, NULL, UINT64_MAX,                                        \
	  { NULL, NULL, NULL, NULL, NULL, NULL }, SIMIDX_DEDUP_FINGERPRINT, 0, NULL, 0,         \
	  (uint64_t)64 << 20, NULL }

/**
 * Begin to decide.
 *
 * @param index   holds what is kept: what is there counts, too. Made for texts with the profile
 *                and check fingerprints of an extractor and with SIMIDX_CREATE_FP2, for features
 *                with SIMIDX_CREATE_FP2 alone, for bare fingerprints without either; never with
 *                SIMIDX_CREATE_NO_IDS
 * @param writer  of the index. Its transaction is open only while a batch is decided, within one
 *                call. With SIMIDX_DEDUP_LASTING others may write to the index between calls.
 *                Otherwise batches are searched before their transaction, while the caller adds
 *                rows: nobody else may put documents into the index until simidx_dedup_flush()
 *                has returned, or rows that are near to them may stay. Between calls, and in
 *                calls.committing, the caller may use the writer for other things, but must not
 *                leave a transaction open. Both are borrowed and must live longer
 * @param out     for simidx_dedup_close()
 * @return SIMIDX_OK; SIMIDX_E_ARG for a value out of range or calls.decided = NULL;
 *         SIMIDX_E_MISMATCH if the index does not hold such rows (the text says what it holds),
 *         keeps no notes though something is to be remembered, or remembers by another rule, and
 *         the same of another index, or if that has another profile (the text of errors of another
 *         index begins with "index N: ", N from 0, here and later);
 *         SIMIDX_E_UNSUPPORTED for texts without ICU's data; SIMIDX_E_NOMEM; what
 *         simidx_text_open_for() and simidx_reader_open() return
 *
 * Cost: that of simidx_text_open_for(), twice for each thread.
 */
int simidx_dedup_open(simidx *index, simidx_writer *writer, const simidx_dedup_options *options,
		      simidx_dedup **out, simidx_error *err) SIMIDX_CHECK_RESULT;

/** End; what was added and not decided is forgotten, and the threads end. NULL is allowed. */
void simidx_dedup_close(simidx_dedup *dedup);

/**
 * Add a row. If the batch is full, the batch before it is decided and committed first, and with one
 * thread this one, too.
 *
 * @return SIMIDX_OK; SIMIDX_E_ARG for sizes without bytes, unknown flags, a place where
 *         calls.read_text is NULL, SIMIDX_DEDUP_ASK with SIMIDX_DEDUP_PAIRS; SIMIDX_E_RANGE for a
 *         text that is too long or a place beyond 2^48; SIMIDX_E_NOMEM; what simidx_dedup_flush()
 *         returns. After a failed flush only simidx_dedup_close() is of use.
 */
int simidx_dedup_add(simidx_dedup *dedup, const simidx_dedup_row *row, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/**
 * Decide about all rows that were added, and commit.
 *
 * @param is_complete  handed on to calls.committing: these were the last rows
 * @return SIMIDX_OK; what a call of the caller's returned; SIMIDX_E_STOPPED; SIMIDX_E_NOMEM; what
 *         simidx_writer_begin(), simidx_writer_put(), simidx_writer_commit() and
 *         simidx_reader_search() return. Nothing of the batch is stored then, unless it says
 *         SIMIDX_E_UNKNOWN.
 *
 * Cost: for each row a fingerprint, and a search unless it needs none (.unsearched and most of
 * .by_hash of simidx_dedup_counts); for each candidate that is compared its text is read again
 * and made into shingles. With SIMIDX_DEDUP_ASK no candidate ends that, so there are up to
 * SIMIDX_DEDUP_MOST_COMPARED of them, or with SIMIDX_DEDUP_COMPARE_ALL any number, but for those
 * that calls.skips leaves out.
 */
int simidx_dedup_flush(simidx_dedup *dedup, int is_complete, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/**
 * Limit the memory in which a batch is worked at, by all threads together: for fingerprints, sets
 * of shingles, and texts that are read again; not for the rows themselves, and what is remembered
 * until the end. It may be another one for each batch, such as by the length of a text.
 *
 * Texts that need more are walked several times, each time for a part of their features and
 * shingles, and nothing changes by that. Only where an earlier text itself does not fit beside
 * that, or too many walks were needed, its sketch decides, with SIMIDX_DEDUP_ESTIMATE, or where
 * there is none fingerprints: simidx_dedup_counts.too_long. Sketches are kept of texts above a
 * sixteenth of the limit of their batch. A single row of a batch has all of the limit, one of
 * several half of it, so here the size of batches counts.
 *
 * @param bytes  for the batches that begin from now on: best at least 8 times batch_bytes, as
 *               shingles of its rows need up to 4 times that, and 1 MB for each thread is used
 *               anyway; 0 = no limit
 */
void simidx_dedup_limit(simidx_dedup *dedup, uint64_t bytes);

/**
 * The text of a document that calls.decided was told of: one that was kept, from its place or from
 * where it was put aside; one of an earlier run or of another index, if that remembers it whole
 * (SIMIDX_DEDUP_TEXT). Only within calls.decided, and after simidx_dedup_flush() before the next
 * simidx_dedup_add().
 *
 * @param near  keeper, id and against are used
 * @param text  set to the text, valid until the next call with `dedup`, or the end of calls.decided
 * @param size  set to its size in bytes
 * @return SIMIDX_OK; SIMIDX_E_NOT_FOUND: it is not there, or has changed, or texts are not
 *         compared; SIMIDX_E_ARG; SIMIDX_E_NOMEM; what calls.read_text and simidx_reader_note()
 *         return
 *
 * Cost: that of calls.read_text, or of reading and decompressing it. Counted in
 * simidx_dedup_counts.changed and unread if it is not there.
 */
int simidx_dedup_text(simidx_dedup *dedup, const simidx_dedup_near *near, const char **text,
		      size_t *size, simidx_error *err) SIMIDX_CHECK_RESULT;

/** What was counted. */
typedef struct simidx_dedup_counts {
	size_t size; /**< sizeof(simidx_dedup_counts); the caller sets it */
	uint64_t exhausted; /**< texts that were compared with SIMIDX_DEDUP_MOST_COMPARED others in
	                       vain, and had more candidates */
	uint64_t empty;     /**< texts without tokens, and rows without features */
	uint64_t changed;   /**< comparisons for which calls.read_text gave another text than
	                       before; fingerprints have decided */
	uint64_t unread;    /**< comparisons for which a text put aside could not be read */
	uint64_t most_bytes; /**< of memory for the candidates of one row and what lasts */
	uint64_t sketches;   /**< texts that were remembered by a sketch */
	uint64_t texts;      /**< texts that were remembered whole */
	uint64_t note_bytes; /**< of both */
	uint64_t foreign;    /**< comparisons with documents that have no note, or one of another
	                        program, in an index with notes; fingerprints have decided */
	uint64_t too_long;   /**< comparisons for which there was no memory for an earlier text: its
	                        sketch, or fingerprints have decided */
	uint64_t unsearched; /**< texts that were not searched, as they share too little with all
	                        before them */
	uint64_t by_hash;    /**< texts that were left out as one of their hashes led to what they
	                        are near to; no search was made, unless that is of the same batch */
} simidx_dedup_counts;

/** Count, for the batches that are decided. Between two calls of the same thread. */
void simidx_dedup_count(const simidx_dedup *dedup, simidx_dedup_counts *counts);

/**
 * Why texts could not be put aside, so that fingerprints alone decide about what is near to them:
 * one line, valid until the next call; NULL = all were.
 */
const char *simidx_dedup_problem(const simidx_dedup *dedup);

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* SIMIDX_DEDUP_H */
