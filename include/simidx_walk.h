/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_walk.h - all documents of an index, one after another: for dumps, copies and statistics.
 *
 * The conventions of simidx.h hold here too.
 */

#ifndef SIMIDX_WALK_H
#define SIMIDX_WALK_H

#include <simidx.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

typedef struct simidx_walk simidx_walk; /**< goes through all documents in order */

/**
 * Start a walk over all documents of one snapshot, by ascending id (without ids: distinct
 * fingerprints, ascending). A walk pins its snapshot: while it is open, the file grows by what
 * is written.
 *
 * @param out  the walk, for simidx_walk_close()
 * @return SIMIDX_OK; SIMIDX_E_BUSY when all reader slots are taken; SIMIDX_E_MOVED,
 *         SIMIDX_E_CORRUPT
 *
 * Cost: reads all fresh rows.
 */
int simidx_walk_open(simidx *index, simidx_walk **out, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * The next document, with its label, its second fingerprint and its time.
 *
 * @param out  borrowed from the walk until the next call on it; distances are 0
 * @return SIMIDX_OK; SIMIDX_E_END after the last one; SIMIDX_E_CORRUPT: a block or row is damaged
 *         or out of place, the text has its table and key; or, instead of SIMIDX_E_END: the table's
 *         entries are not those that were stored, by their number and digest in the header, or some
 *         label is damaged, simidx_verify() tells which. So only after SIMIDX_E_END is all that was
 *         walked sound; labels are not checked at all in a walk that is begun while a merge is half
 *         done
 *
 * Cost: O(1), and O(log N) for a label, and for a second fingerprint, a time or both; the last call
 * reads one table.
 */
int simidx_walk_next(simidx_walk *walk, simidx_match *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * Read the note of the document that simidx_walk_next() has delivered last.
 *
 * @param note  the bytes; borrowed from the walk until the next call on it. NULL without a note
 * @param size  their number; 0 without a note
 * @return SIMIDX_OK; SIMIDX_E_MISMATCH: the index keeps no notes; SIMIDX_E_STATE: there is no such
 *         document; SIMIDX_E_CORRUPT: the note is damaged, by its checksum, or missing. Where the
 *         notes of all documents were read, simidx_walk_next() tells at the end if some are
 *         missing
 *
 * Cost: O(log N), and that of reading the bytes.
 */
int simidx_walk_note(simidx_walk *walk, const void **note, size_t *size,
		     simidx_error *err) SIMIDX_CHECK_RESULT;

/** End a walk. NULL is allowed. */
void simidx_walk_close(simidx_walk *walk);

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* SIMIDX_WALK_H */
