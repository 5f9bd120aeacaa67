/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "repair/sx_repair_notes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "index/sx_notes.h"
#include "repair/sx_repair_read.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

#define NOTE_BUFFER ((size_t)1 << 20)

/* Pages of older commits may have the same notes again and again: most of these are passed over. */
#define MET ((size_t)1 << 16)

static int is_met(sx_repair_notes *n, uint64_t id, sx_slice note)
{
	uint64_t hash = sx_hash_u64_pair(sx_hash(note.data, note.size), id);
	uint64_t *slot = &n->met[hash % MET];
	int yes = *slot == hash;

	*slot = hash;
	return yes;
}

/* Bytes that are read again when their document's turn comes. */
static int gather(sx_repair *r, uint64_t id, sx_slice note)
{
	sx_repair_notes *n = &r->notes;
	uint64_t record[3] = { id, sx_spill_size(n->bytes), note.size };
	int rc;

	if (is_met(n, id, note))
		return SIMIDX_OK;
	rc = sx_spill_write(n->bytes, note.data, note.size, r->err);
	return rc ? rc : sx_sorter_add(n->sorted, record, r->err);
}

static int next(sx_repair *r)
{
	int rc = sx_sorter_next(r->notes.sorted, &r->notes.next, r->err);

	if (rc)
		r->notes.next = NULL;
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

int sx_repair_gather_notes(sx_repair *r)
{
	sx_repair_notes *n = &r->notes;
	int rc;

	if (!sx_repair_old(r)->schema->has_notes)
		return SIMIDX_OK;
	n->met = sx_calloc(MET, sizeof(*n->met));
	rc = n->met ? sx_sorter_new(3, 1, 0, r->memory / 16, r->tmpdir, &n->sorted, r->err)
		    : sx_fail_nomem(r->err);
	if (!rc)
		rc = sx_spill_new(r->tmpdir, NOTE_BUFFER, &n->bytes, r->err);
	if (!rc)
		rc = sx_repair_read_notes(r, gather);
	if (!rc)
		rc = sx_sorter_finish(n->sorted, r->memory / 16, r->err);
	return rc ? rc : next(r);
}

int sx_repair_take_note(sx_repair *r, enum sx_repair_note_claim claim, simidx_doc *doc)
{
	simidx_loss loss = { .kind = SIMIDX_LOSS_NOTE, .table = "notes", .id = doc->id,
			     .fp = doc->fp, .flags = SIMIDX_LOSS_HAS_FP };
	sx_repair_notes *n = &r->notes;
	int rc = SIMIDX_OK;

	while (!rc && n->next && n->next[0] < doc->id)
		rc = next(r);
	if (rc || claim == SX_REPAIR_SAYS_NONE)
		return rc;
	if (n->next && n->next[0] == doc->id) {
		doc->note_size = (size_t)n->next[2];
		if (sx_reserve(&n->note, &n->cap, doc->note_size, 1))
			return sx_fail_nomem(r->err);
		doc->note = n->note;
		n->taken++;
		return sx_spill_read(n->bytes, n->next[1], n->note, doc->note_size, r->err);
	}
	if (claim == SX_REPAIR_SAYS_ONE)
		sx_repair_tell(r, &loss, "its note is lost");
	return SIMIDX_OK;
}

void sx_repair_tell_lost_notes(sx_repair *r)
{
	simidx_loss loss = { .kind = SIMIDX_LOSS_NOTE, .table = "notes", .id = SIMIDX_NO_ID };
	uint64_t had = sx_repair_header(r)->notes, known = r->notes.taken + r->report.notes_lost;
	uint64_t n = had > known ? had - known : 0;

	if (!n)
		return;
	sx_repair_tell(r, &loss, "%" PRIu64 " note%s of documents that cannot be named %s lost", n,
		       n == 1 ? "" : "s", n == 1 ? "is" : "are");
	r->report.notes_lost += n - 1;
}

void sx_repair_free_notes(sx_repair *r)
{
	sx_sorter_free(r->notes.sorted);
	sx_spill_free(r->notes.bytes);
	free(r->notes.note);
	free(r->notes.met);
	memset(&r->notes, 0, sizeof(r->notes));
}
