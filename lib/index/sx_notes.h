/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Notes: what programs remember of documents. The index does not look into them, so the bytes of
 * each are followed by a checksum, which covers the id too. doc/format.md, "Notes".
 */

#ifndef SX_NOTES_H
#define SX_NOTES_H

#include "index/sx_index.h"

#define SX_NOTE_CHECKSUM 4u /* bytes */

/** The checksum of a note, to follow its bytes. */
void sx_note_checksum(uint64_t id, sx_slice note, unsigned char *out);

/**
 * The note in a value of table notes: SIMIDX_E_CORRUPT if it is not what was stored with this id.
 */
int sx_note_decode(uint64_t id, sx_slice value, sx_slice *note, simidx_error *err);

/** The note of an id, in the map. SIMIDX_E_NOT_FOUND without setting err; SIMIDX_E_CORRUPT. */
int sx_notes_get(sx_txn *txn, const sx_tables *tables, uint64_t id, sx_slice *note,
		 simidx_error *err);

#endif /* SX_NOTES_H */
