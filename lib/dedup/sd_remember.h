/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What an index remembers of texts, as notes (sd_note.h): making the note of a row, and judging a
 * row by the note of a document of an earlier run or of another index.
 */

#ifndef SD_REMEMBER_H
#define SD_REMEMBER_H

#include "dedup/sd_state.h"

/** Make the note of a row that may be kept, unless it has one or none is wanted. */
int sd_remember(const simidx_dedup *dedup, struct sd_thread *thread, struct sd_item *item,
		simidx_error *err);

/**
 * Compare with a document by its note; by fingerprints if it has none that says something.
 *
 * @param reader     of its index, which keeps notes; what it has returned before becomes invalid
 * @param candidate  its id and distance are given, the rest is zero. One that was deleted
 *                   meanwhile is not near
 * @return SIMIDX_OK; SIMIDX_E_MISMATCH: it was remembered by another rule; SIMIDX_E_NOMEM; what
 *         simidx_reader_note() returns
 */
int sd_compare_note(const simidx_dedup *dedup, struct sd_thread *thread, simidx_reader *reader,
		    struct sd_item *item, struct sd_candidate *candidate, simidx_error *err);

/** Compare with a document that was kept: one of an earlier run by its note, else sd_compare(). */
int sd_compare_kept(const simidx_dedup *dedup, struct sd_thread *thread, struct sd_item *item,
		    struct sd_candidate *candidate, simidx_error *err);

/**
 * Whether a later run, which has the note of the keeper, would leave the row out again.
 *
 * @param reader  that of the writer, which finds all that is kept
 * @param near    what the row was left out for; the row has its shingles
 * @param is      set to it
 */
int sd_is_left_out_again(const simidx_dedup *dedup, simidx_reader *reader, struct sd_item *item,
			 const simidx_dedup_near *near, int *is, simidx_error *err);

/**
 * The text of a document, from its note.
 *
 * @param reader  of its index, which keeps notes
 * @param text    set to it, valid until the reader or the thread is used
 * @return SIMIDX_OK; SIMIDX_E_NOT_FOUND: the note has no text, or the document is gone; what
 *         sd_compare_note() returns
 */
int sd_note_get_text(struct sd_thread *thread, simidx_reader *reader, uint64_t id,
		     const char **text, size_t *size, simidx_error *err);

/** Refuse an index whose documents were remembered by another rule, as the first of them tells. */
int sd_check_notes(simidx *index, simidx_error *err);

#endif /* SD_REMEMBER_H */
