/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Reading what is sound in a table, and passing over what is not.
 */

#ifndef SX_REPAIR_READ_H
#define SX_REPAIR_READ_H

#include "repair/sx_repair_state.h"

/** Some rows of a table that are sound. A code other than SIMIDX_OK ends the reading. */
typedef int sx_repair_rows_fn(sx_repair *repair, const sx_table *table, const sx_rows *rows);

/**
 * Hand over the sound rows of a table, in no certain order, and tell of each block or row that is
 * not. A block is sound by its checksum and by the order and the place of its entries, a row by
 * its size, its key and its checksum if it has one.
 *
 * @param take   may be NULL: the rows are only counted
 * @param tally  what was handed over; NULL where a table is read again, and nothing is told
 * @return SIMIDX_OK, also where something is damaged; the code of `take`; SIMIDX_E_STOPPED
 */
int sx_repair_read_table(sx_repair *repair, const sx_table *table, sx_repair_rows_fn *take,
			 sx_repair_tally *tally);

/** A label or a note. */
typedef int sx_repair_label_fn(sx_repair *repair, uint64_t id, sx_slice label);

/** Hand over all of table labels that can be a label; their bytes are valid during the call. */
int sx_repair_read_labels(sx_repair *repair, sx_repair_label_fn *take);

/** The same for all of table notes that is sound. */
int sx_repair_read_notes(sx_repair *repair, sx_repair_label_fn *take);

/**
 * Read the header, the profile and the mark from the copy of each that is sound.
 *
 * @param profile  empty, with NULL for its text, if it is lost; for sx_meta_free_profile()
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT or SIMIDX_E_VERSION if no header is sound
 */
int sx_repair_read_meta(sx_repair *repair, sx_profile *profile);

#endif /* SX_REPAIR_READ_H */
