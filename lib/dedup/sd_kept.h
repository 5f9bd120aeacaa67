/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The rows that are kept, as documents of the index, in which every later row is searched. What
 * counts as a candidate is decided here, for documents of the index and for rows of the batch.
 */

#ifndef SD_KEPT_H
#define SD_KEPT_H

#include <simidx_dedup.h>
#include <simidx_text.h>

#include "dedup/sd_seen_file.h"

/**
 * Texts whose fingerprints weigh so much apart may be this similar; they are compared themselves:
 * 320 for .8, and 120 more for each tenth less.
 */
unsigned sd_max_weight(double similarity);

/** How many bits of the first ones may differ, besides those without weight: 16 for .8. */
unsigned sd_max_bits(double similarity);

/** Ranges of the tables in which a text is searched: of texts at such a distance more than a plain
 * search finds. Both are chosen by what doc/text-quality.md has measured. */
#define SD_PROBES 256

struct sd_kept;

/**
 * Begin. Index, writer and options are borrowed.
 *
 * @return what simidx_dedup_open() does
 */
int sd_kept_open(simidx *index, simidx_writer *writer, const simidx_dedup_options *options,
		 struct sd_kept **out, simidx_error *err);

/** End. NULL is allowed. */
void sd_kept_close(struct sd_kept *kept);

/** A reader, and for texts an extractor, for a thread. */
int sd_kept_thread(struct sd_kept *kept, simidx_reader **reader, simidx_text **text,
		   simidx_error *err);

/**
 * How many documents the index has, without those of an open transaction.
 *
 * @param has_others  set to whether others have put some into it since it was opened; in an engine
 *                    also whether it had some then, or any was deleted
 * @param has_less    set to whether others have deleted any since then
 */
int sd_kept_documents(const struct sd_kept *kept, uint64_t *documents, int *has_others,
		      int *has_less, simidx_error *err);

/** The state of the index after the next commit, if nobody else puts documents into it. id and fp
 * are of what was put here; before that id is SIMIDX_NO_ID of an empty index, and 0 of others. */
struct sd_seen_state sd_kept_state(const struct sd_kept *kept);

/** Weight up to which fingerprints alone decide about a text. */
unsigned sd_kept_trusted(const simidx_sketch *sketch);

/**
 * What asks for the candidates of a row. Any thread.
 *
 * @param index   in which index; NULL = in that of what is kept
 * @param sketch  of a text with tokens, or of features, or with the fingerprint alone; `query`
 *                points to it
 */
int sd_kept_query(const struct sd_kept *kept, simidx *index, const simidx_sketch *sketch,
		  simidx_query *query, simidx_error *err);

/**
 * Whether a query matches a document, as the index decides it. Any thread.
 *
 * @param distance  set to that of the match
 */
int sd_kept_is_near(const simidx_query *query, uint64_t fp, uint64_t fp2, unsigned *distance);

/**
 * A text has a crowd where all candidates that its search may give are at distance 0, so that one
 * of the same bytes may be beyond them. Such a text is noted by a hash of its bytes when it is
 * kept. All others are among the candidates of a text of the same bytes: those before them stay the
 * same.
 *
 * @return the hash, or 0: there is no crowd
 */
uint64_t sd_kept_crowd(const simidx_query *query, const simidx_results *results, const char *text,
		       size_t size);

/** Note a document that was just put; nothing if `crowd` is 0. */
int sd_kept_note(struct sd_kept *kept, uint64_t crowd, uint64_t id, simidx_error *err);

/**
 * Candidate number `i` of a text: those of the results, and then those that were noted with its
 * hash.
 *
 * @param match  set to it; of one that was noted, to id and distance only
 * @return 0: there are no more
 */
int sd_kept_candidate(const struct sd_kept *kept, const simidx_results *results, uint64_t crowd,
		      size_t i, simidx_match *match);

/** Bytes of what was noted. */
size_t sd_kept_bytes(const struct sd_kept *kept);

/** A note; without bytes there is none. */
struct sd_kept_note {
	const void *bytes;
	size_t size;
};

/**
 * Keep a row. The writer's reader finds it at once, the readers of threads after the commit.
 *
 * @param row  of it, the label is used: only of a lasting index, and where no other has it
 * @param id   set to the document's id, above those of all others
 */
int sd_kept_put(struct sd_kept *kept, const simidx_sketch *sketch, const simidx_dedup_row *row,
		const struct sd_kept_note *note, uint64_t *id, simidx_error *err);

/**
 * Remember a text that is left out, without a label: a later run finds it again itself, where it
 * would not take it for near to its keeper by what it has of that. In this run it is not compared
 * with.
 */
int sd_kept_remember(struct sd_kept *kept, const simidx_sketch *sketch,
		     const struct sd_kept_note *note, uint64_t *id, simidx_error *err);

/** What has no number: a document of an earlier run, and one that this run has left out and
 * remembers. */
#define SD_EARLIER SIMIDX_DEDUP_EARLIER
#define SD_LEFT_OUT (UINT64_MAX - 1)

/**
 * The number among the rows that this run has kept, from 0, of an id; or one of these two. Any
 * thread, while nothing is put.
 */
uint64_t sd_kept_handle(const struct sd_kept *kept, uint64_t id);

#endif /* SD_KEPT_H */
