/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_remember.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_walk.h>

#include "dedup/sd_compare.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

/* ---- making notes ---- */

int sd_sketch(struct sd_thread *thread, struct sd_item *item, simidx_error *err)
{
	uint64_t all = 0;
	int rc;

	if (item->n_brief)
		return SIMIDX_OK;
	rc = sd_make_set(thread, item, err);
	if (!rc)
		rc = sd_count_shingles(thread, item, &all, err);
	if (!rc)
		item->n_brief = sd_note_sketch(&item->set, all, item->row.text,
					       item->row.text_size, item->brief);
	return rc;
}

int sd_remember(const simidx_dedup *dedup, struct sd_thread *thread, struct sd_item *item,
		simidx_error *err)
{
	int remember = dedup->options.remember;

	if (remember == SIMIDX_DEDUP_FINGERPRINT)
		return SIMIDX_OK;
	if (remember == SIMIDX_DEDUP_SKETCH || item->row.text_size > SD_NOTE_MOST_TEXT)
		return sd_sketch(thread, item, err);
	if (item->n_full)
		return SIMIDX_OK;
	item->n_full = sd_note_text(&thread->packer, item->row.text, item->row.text_size,
				    &item->full);
	return item->n_full ? SIMIDX_OK : sx_fail_nomem(err);
}

/* ---- judging by notes ---- */

/* The note of a document; SD_NOTE_FOREIGN also if it has none. Valid until the reader is used. */
static int remembered(simidx_reader *reader, uint64_t id, struct sd_note *note, simidx_error *err)
{
	const void *bytes;
	size_t size;
	int rc = simidx_reader_note(reader, id, &bytes, &size, err);

	if (rc)
		return rc;
	sd_note_decode(bytes, size, note);
	return note->kind == SD_NOTE_OTHER_RULE ?
		       sx_fail(err, SIMIDX_E_MISMATCH,
			       "what the index remembers of its texts was made by another rule") :
		       SIMIDX_OK;
}

static int judge_sketch(const simidx_dedup *dedup, struct sd_thread *thread, struct sd_item *item,
			const struct sd_note *note, struct sd_candidate *candidate,
			simidx_error *err)
{
	int rc = sd_sketch(thread, item, err);

	if (rc)
		return rc;
	candidate->is_estimate = 1;
	candidate->similarity = 0;
	if (note->kind == SD_NOTE_BYTES) {
		candidate->similarity = sd_note_is_of_bytes(note, item->row.text,
							    item->row.text_size);
	} else if (item->set.n &&
		   sd_set_sketch_similarity(item->brief + SD_NOTE_HEAD,
					    item->n_brief - SD_NOTE_HEAD, note->body, note->size,
					    &candidate->similarity)) {
		thread->n_foreign++;
		candidate->is_estimate = 0;
		sd_trust(dedup, item, candidate);
		return SIMIDX_OK;
	}
	candidate->is_near = candidate->similarity >= dedup->options.similarity;
	return SIMIDX_OK;
}

/* Also by fingerprints, where the note says nothing. */
static int judge_note(const simidx_dedup *dedup, struct sd_thread *thread, struct sd_item *item,
		  const struct sd_note *note, struct sd_candidate *candidate, simidx_error *err)
{
	struct sd_text other = { 0 };

	if (note->kind == SD_NOTE_SKETCH || note->kind == SD_NOTE_BYTES)
		return judge_sketch(dedup, thread, item, note, candidate, err);
	if (note->kind == SD_NOTE_TEXT) {
		other.bytes = sd_note_unpack(note, &thread->unpacker);
		if (!other.bytes && errno == ENOMEM)
			return sx_fail_nomem(err);
	}
	if (!other.bytes) {
		thread->n_foreign++;
		sd_trust(dedup, item, candidate);
		return SIMIDX_OK;
	}
	other.size = other.held = note->text_size;
	return sd_judge(dedup, thread, item, &other, candidate, err);
}

/* A document may be deleted meanwhile, by another process. */
int sd_compare_note(const simidx_dedup *dedup, struct sd_thread *thread, simidx_reader *reader,
		    struct sd_item *item, struct sd_candidate *candidate, simidx_error *err)
{
	struct sd_note note;
	int rc = remembered(reader, candidate->id, &note, err);

	candidate->is_near = candidate->is_estimate = 0;
	if (rc == SIMIDX_E_NOT_FOUND) {
		sx_err_clear(err);
		return SIMIDX_OK;
	}
	return rc ? rc : judge_note(dedup, thread, item, &note, candidate, err);
}

/* Memory is short for the text of a row that was kept. */
static int compare_sketch(const simidx_dedup *dedup, struct sd_thread *thread,
			  struct sd_item *item, uint64_t handle, struct sd_candidate *candidate,
			  simidx_error *err)
{
	struct sd_note note = { 0 };
	const void *bytes;
	size_t size = 0;

	candidate->is_near = candidate->is_estimate = 0;
	candidate->is_later = thread->is_ahead;
	if (candidate->is_later)
		return SIMIDX_OK;
	thread->n_too_long++;
	bytes = sd_texts_sketch(thread->texts, handle, &size);
	if (bytes)
		sd_note_decode(bytes, size, &note);
	if (note.kind == SD_NOTE_SKETCH)
		return judge_sketch(dedup, thread, item, &note, candidate, err);
	sd_trust(dedup, item, candidate);
	return SIMIDX_OK;
}

int sd_compare_kept(const simidx_dedup *dedup, struct sd_thread *thread, struct sd_item *item,
		    struct sd_candidate *candidate, simidx_error *err)
{
	uint64_t handle = sd_kept_handle(dedup->kept, candidate->id);

	if (dedup->verifies && dedup->has_notes && handle == SD_EARLIER)
		return sd_compare_note(dedup, thread, thread->notes, item, candidate, err);
	if (dedup->verifies && handle < SD_LEFT_OUT &&
	    !sd_has_room(thread, sd_texts_bytes(thread->texts, handle),
			 item->row.text_size + sd_texts_size(thread->texts, handle)))
		return compare_sketch(dedup, thread, item, handle, candidate, err);
	return sd_compare(dedup, thread, item, candidate, err);
}

int sd_is_left_out_again(const simidx_dedup *dedup, simidx_reader *reader, struct sd_item *item,
			 const simidx_dedup_near *near, int *is, simidx_error *err)
{
	struct sd_candidate candidate = { .distance = near->distance };
	struct sd_note note;
	int rc;

	*is = near->distance <= sd_kept_trusted(&item->sketch);
	if (near->keeper == SIMIDX_DEDUP_EARLIER)
		*is = 1; /* this run has what a later one has */
	if (near->keeper == SIMIDX_DEDUP_EARLIER ||
	    dedup->options.remember == SIMIDX_DEDUP_FINGERPRINT)
		return SIMIDX_OK;
	rc = remembered(reader, near->id, &note, err);
	if (rc == SIMIDX_E_NOT_FOUND) { /* deleted meanwhile, by another process */
		sx_err_clear(err);
		*is = 0;
		return SIMIDX_OK;
	}
	if (rc)
		return rc;
	/* Texts that were compared, a later run compares again where a hash or search leads. */
	*is = note.kind == SD_NOTE_TEXT && near->similarity >= 0;
	if (*is)
		return SIMIDX_OK;
	rc = judge_note(dedup, &dedup->thread[0], item, &note, &candidate, err);
	*is = candidate.is_near;
	return rc;
}

int sd_note_get_text(struct sd_thread *thread, simidx_reader *reader, uint64_t id,
		     const char **text, size_t *size, simidx_error *err)
{
	struct sd_note note;
	int rc = remembered(reader, id, &note, err);

	if (rc)
		return rc;
	*text = note.kind == SD_NOTE_TEXT ? sd_note_unpack(&note, &thread->unpacker) : NULL;
	*size = *text ? note.text_size : 0;
	if (*text)
		return SIMIDX_OK;
	return note.kind == SD_NOTE_TEXT && errno == ENOMEM ? sx_fail_nomem(err) :
							      SIMIDX_E_NOT_FOUND;
}

int sd_check_notes(simidx *index, simidx_error *err)
{
	simidx_walk *walk;
	simidx_match match;
	struct sd_note note = { .kind = SD_NOTE_FOREIGN };
	const void *bytes;
	size_t size;
	int rc = simidx_walk_open(index, &walk, err);

	if (!rc)
		rc = simidx_walk_next(walk, &match, err);
	if (!rc)
		rc = simidx_walk_note(walk, &bytes, &size, err);
	if (!rc && size)
		sd_note_decode(bytes, size, &note);
	simidx_walk_close(walk);
	if (rc == SIMIDX_E_END) {
		sx_err_clear(err);
		return SIMIDX_OK;
	}
	return rc || note.kind != SD_NOTE_OTHER_RULE ?
		       rc :
		       sx_fail(err, SIMIDX_E_MISMATCH,
			       "what the index remembers of its texts was made by another rule");
}
