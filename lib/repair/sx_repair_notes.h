/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Notes in a repair. Each has a checksum that covers the id of its document, so what is sound is
 * that document's, or was.
 */

#ifndef SX_REPAIR_NOTES_H
#define SX_REPAIR_NOTES_H

#include "repair/sx_repair_state.h"

/** What a fresh row says of a document's note. */
enum sx_repair_note_claim { SX_REPAIR_SAYS_NOTHING, SX_REPAIR_SAYS_NONE, SX_REPAIR_SAYS_ONE };

/** Read the sound ones into a sorter and a file. Nothing in an index without notes. */
int sx_repair_gather_notes(sx_repair *repair);

/**
 * Give a document its note, and tell of one that is lost. Ids ascend from call to call.
 *
 * @param doc  gets bytes that are valid until the next call
 */
int sx_repair_take_note(sx_repair *repair, enum sx_repair_note_claim claim, simidx_doc *doc);

/** Tell how many notes the header counts besides those that were taken or told of. */
void sx_repair_tell_lost_notes(sx_repair *repair);

void sx_repair_free_notes(sx_repair *repair);

#endif /* SX_REPAIR_NOTES_H */
