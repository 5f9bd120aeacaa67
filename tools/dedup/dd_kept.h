/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The index of the documents that are kept, in which every later document is searched. It is a
 * private one, or that of --index. What counts as a candidate is decided here, for documents of
 * the index and for others alike.
 */

#ifndef DD_KEPT_H
#define DD_KEPT_H

#include <simidx_text.h>

#include "dedup/dd_options.h"

/**
 * Texts whose fingerprints weigh so much apart may be this similar; they are compared themselves:
 * 320 for .8, and 120 more for each tenth less.
 */
unsigned dd_accept(double similarity);

/** How many bits of the first ones may differ, besides those without weight: 18 for .8. */
unsigned dd_max_bits(double similarity);

/** Ranges of the tables in which a text is searched: of texts at such a distance more than a plain
 * search finds. Both are chosen by what doc/text-quality.md has measured. */
#define DD_PROBES 256

/** Most candidates with which a text is compared, unless --all or --pairs is given. */
#define DD_MOST_COMPARED 64

/**
 * What the inputs have. Features are what others have made of texts that are not here: two
 * fingerprints are made of them as of texts, and these alone decide.
 */
enum dd_kind { DD_TEXTS, DD_FEATURES, DD_FINGERPRINTS };

struct dd_kept;

/**
 * Open the index, or make it.
 *
 * @param most_rows  rows that a commit may leave unmerged: they are in memory
 * @param dir        where a private one is made
 * @return NULL with a message
 */
struct dd_kept *dd_kept_open(const struct dd_options *options, enum dd_kind kind,
			     uint64_t most_rows, const char *dir);

/** Forget what is not committed and close. NULL is allowed. */
void dd_kept_close(struct dd_kept *kept);

/** A reader and an extractor of texts for a thread. Returns 0, or TL_TROUBLE with a message. */
int dd_kept_thread(struct dd_kept *kept, simidx_reader **reader, simidx_text **text);

/** Weight up to which fingerprints alone decide about a text. */
unsigned dd_kept_trusted(const simidx_sketch *sketch);

/**
 * What asks for the candidates of a document. Any thread.
 *
 * @param sketch  of a text with words, or of features, or with the fingerprint alone; `query`
 *                points to it
 */
int dd_kept_query(const struct dd_kept *kept, const simidx_sketch *sketch, simidx_query *query,
		  simidx_error *err);

/**
 * Whether a query matches a document, as the index decides it. Any thread.
 *
 * @param distance  set to that of the match
 */
int dd_kept_is_near(const simidx_query *query, uint64_t fp, uint64_t fp2, unsigned *distance);

/**
 * A text has a crowd where all candidates that its search may give are at distance 0, so that one
 * of the same bytes may be beyond them. Such a text is noted by a hash of its bytes when it is
 * kept. All others are among the candidates of a text of the same bytes: those before them stay the
 * same.
 *
 * @return the hash, or 0: there is no crowd
 */
uint64_t dd_kept_crowd(const simidx_query *query, const simidx_results *results, const char *text,
		       size_t size);

/**
 * Note a document that was just put. Returns 0, also if `crowd` is 0, or TL_TROUBLE with a message.
 */
int dd_kept_note(struct dd_kept *kept, uint64_t crowd, uint64_t id);

/**
 * Candidate number `i` of a text: those of the results, and then those that were noted with its
 * hash.
 *
 * @param match  set to it; of one that was noted, to id and distance only
 * @return 0: there are no more
 */
int dd_kept_candidate(const struct dd_kept *kept, const simidx_results *results, uint64_t crowd,
		      size_t i, simidx_match *match);

/** Bytes of what was noted. */
size_t dd_kept_bytes(const struct dd_kept *kept);

/**
 * A reader that finds also what is not committed, between dd_kept_begin() and dd_kept_commit().
 * Returns 0, or TL_TROUBLE with a message.
 */
int dd_kept_reader(struct dd_kept *kept, simidx_reader **reader);

/**
 * Before the first transaction, where the mark is of a run that was killed: from then on nothing
 * comes any more that it has sent. Returns 0, or TL_TROUBLE with a message.
 */
int dd_kept_resume(struct dd_kept *kept);

/**
 * Take the write lock, so that nobody else adds documents. Returns 0, or TL_TROUBLE with a message.
 */
int dd_kept_begin(struct dd_kept *kept);

/**
 * Say which documents may be kept next, so that an index on another machine is asked for their
 * labels once. Of `docs` ids and labels are looked at. Returns 0, or TL_TROUBLE with a message.
 */
int dd_kept_expect(struct dd_kept *kept, const simidx_doc *docs, size_t n);

/**
 * Keep a document. dd_kept_reader() finds it at once, the readers of threads after the commit.
 *
 * @param label  `size` bytes, or NULL; not stored in a private index, nor where another document
 *               has it
 * @param id     set to its id, above those of all others
 * @return 0, or TL_TROUBLE with a message
 */
int dd_kept_put(struct dd_kept *kept, const simidx_sketch *sketch, const char *label, size_t size,
		uint64_t *id);

/**
 * Remember a text that is left out, without a label: a later run finds it again by its
 * fingerprints, where the document that it is near to is too far away for that. In this run it is
 * not compared with.
 *
 * @return 0, or TL_TROUBLE with a message
 */
int dd_kept_remember(struct dd_kept *kept, const simidx_sketch *sketch);

/**
 * Commit.
 *
 * @param is_complete  all inputs were dealt with
 */
int dd_kept_commit(struct dd_kept *kept, int is_complete);

/** The mark that the last run has left in the index (dd_mark.h); "" if there is none. */
const char *dd_kept_mark(const struct dd_kept *kept);

/** Read it again. Returns 0, or TL_TROUBLE with a message. */
int dd_kept_read_mark(struct dd_kept *kept);

/**
 * What has no number: a document of an earlier run, and one that this run has left out and
 * remembers.
 */
#define DD_EARLIER UINT64_MAX
#define DD_LEFT_OUT (UINT64_MAX - 1)

/**
 * The number among the documents that this run has kept, from 0, of an id; or one of these two. Any
 * thread, while nothing is put.
 */
uint64_t dd_kept_handle(const struct dd_kept *kept, uint64_t id);

#endif /* DD_KEPT_H */
