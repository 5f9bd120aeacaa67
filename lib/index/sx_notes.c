/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "index/sx_notes.h"

#include <inttypes.h>
#include <string.h>

#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

void sx_note_checksum(uint64_t id, sx_slice note, unsigned char *out)
{
	sx_store_le32(out, (uint32_t)sx_hash_u64_pair(sx_hash(note.data, note.size), id));
}

int sx_note_decode(uint64_t id, sx_slice value, sx_slice *note, simidx_error *err)
{
	unsigned char checksum[SX_NOTE_CHECKSUM];
	int is_sound = value.size > sizeof(checksum) &&
		       value.size <= SIMIDX_MAX_NOTE + sizeof(checksum);

	*note = (sx_slice){ value.data, is_sound ? value.size - sizeof(checksum) : 0 };
	if (is_sound) {
		sx_note_checksum(id, *note, checksum);
		is_sound = !memcmp((const char *)value.data + note->size, checksum,
				   sizeof(checksum));
	}
	return is_sound ? SIMIDX_OK
			: sx_fail(err, SIMIDX_E_CORRUPT,
				  "table notes: the note of document %" PRIu64
				  " is not the one that "
				  "was stored, by its checksum",
				  id);
}

int sx_notes_get(sx_txn *txn, const sx_tables *tables, uint64_t id, sx_slice *note,
		 simidx_error *err)
{
	unsigned char bytes[8];
	sx_slice key = { bytes, sizeof(bytes) }, value;
	int rc;

	sx_store_be64(bytes, id);
	rc = sx_dbi_get(txn, tables->notes, key, &value, err);
	/* The commit of the writer that asks removes an empty one. */
	if (!rc && !value.size)
		rc = SIMIDX_E_NOT_FOUND;
	return rc ? rc : sx_note_decode(id, value, note, err);
}
