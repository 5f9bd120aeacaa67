/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "write/sx_writer_change.h"

#include <inttypes.h>
#include <string.h>

#include "index/sx_documents.h"
#include "search/sx_search.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"
#include "util/sx_struct.h"

/* A document that is there. */
struct found {
	sx_doc doc;
	sx_slice label, note; /* in the map, until these are written; size 0 = none */
};

/* ---- looking up ---- */

/* Whether an id is used. */
static int find_id(simidx_writer *w, uint64_t id, int *found, sx_doc *doc, simidx_error *err)
{
	sx_labelled_doc there = { .doc.id = id };
	int rc;

	*found = 0;
	/* Ids above all others need no look-up. */
	if (id >= w->snapshot.header.next_id)
		return SIMIDX_OK;
	rc = sx_writer_use_memtable(w, err);
	if (!rc)
		rc = sx_documents_by_id(NULL, &w->snapshot, id, &there, err);
	*doc = there.doc;
	*found = rc == SIMIDX_OK;
	return rc == SIMIDX_E_NOT_FOUND ? SIMIDX_OK : rc;
}

/* Whether a label is used. */
static int find_label(simidx_writer *w, const char *label, size_t size, int *found, sx_doc *doc,
		      simidx_error *err)
{
	sx_labelled_doc there = { .doc.id = SIMIDX_NO_ID };
	int rc = sx_writer_use_memtable(w, err);

	if (!rc)
		rc = sx_documents_by_label(NULL, &w->snapshot, label, size, &there, err);
	*doc = there.doc;
	*found = rc == SIMIDX_OK;
	return rc == SIMIDX_E_NOT_FOUND ? SIMIDX_OK : rc;
}

static int find_own_label(simidx_writer *w, struct found *f, simidx_error *err)
{
	int rc = w->index->backend->document->label_of(&w->snapshot, f->doc.id, &f->label, err);

	if (rc == SIMIDX_E_NOT_FOUND)
		f->label = (sx_slice){ NULL, 0 };
	return rc == SIMIDX_E_NOT_FOUND ? SIMIDX_OK : rc;
}

/* A note that is damaged is there all the same, and is none that could be given. */
static int find_own_note(simidx_writer *w, struct found *f, simidx_error *err)
{
	int rc = SIMIDX_E_NOT_FOUND;

	if (w->index->schema->has_notes)
		rc = w->index->backend->document->note_of(&w->snapshot, f->doc.id, &f->note, err);
	if (rc == SIMIDX_E_NOT_FOUND)
		f->note = (sx_slice){ NULL, 0 };
	if (rc == SIMIDX_E_CORRUPT) {
		sx_err_clear(err);
		f->note = (sx_slice){ NULL, SIZE_MAX };
		rc = SIMIDX_OK;
	}
	return rc == SIMIDX_E_NOT_FOUND ? SIMIDX_OK : rc;
}

static int find_own(simidx_writer *w, struct found *f, simidx_error *err)
{
	int rc = find_own_label(w, f, err);

	return rc ? rc : find_own_note(w, f, err);
}

/* ---- rows ---- */

/* Add rows, all or none. */
static int add_rows(simidx_writer *w, const sx_fresh_row *rows, size_t n, simidx_error *err)
{
	int rc = SIMIDX_OK;

	if (sx_reserve(&w->pending.at, &w->pending.cap, w->pending.n + n, sizeof(*w->pending.at)))
		return sx_fail_nomem(err);
	if (w->uses_memtable)
		rc = sx_fresh_add(w->index->fresh, rows, n, err);
	for (size_t i = 0; !rc && i < n; i++)
		w->pending.at[w->pending.n++] = rows[i];
	if (!rc)
		w->snapshot.header.next_seq += n;
	return rc;
}

/* NULL: the document has no label, though one that was deleted may have had one with its id. */
static int write_label(simidx_writer *w, uint64_t id, const char *label, size_t size,
		       simidx_error *err)
{
	return w->index->backend->writer->label(w, id, label, size, err);
}

static int write_note(simidx_writer *w, uint64_t id, const simidx_doc *doc, simidx_error *err)
{
	return w->index->backend->writer->note(w, id, doc->note, doc->note ? doc->note_size : 0,
					       err);
}

static sx_fresh_row row_that_puts(const simidx_writer *w, const simidx_doc *doc, uint64_t id)
{
	const simidx *index = w->index;
	sx_fresh_row row = { .id = id,
			     .fp = doc->fp,
			     .values = sx_documents_values(index, doc, index->schema->unknown_fp2,
						    w->now),
			     .op = SX_FRESH_PUT };

	if (doc->label) {
		row.op |= SX_FRESH_LABEL;
		row.label_hash = sx_hash(doc->label, doc->label_size);
	}
	if (doc->note)
		row.op |= SX_FRESH_NOTE;
	return row;
}

static sx_fresh_row row_that_deletes(const struct found *f)
{
	sx_fresh_row row = { .id = f->doc.id,
			     .fp = f->doc.fp,
			     .values = f->doc.values,
			     .op = SX_FRESH_DELETE };

	if (f->label.size) {
		row.op |= SX_FRESH_LABEL;
		row.label_hash = sx_hash(f->label.data, f->label.size);
	}
	if (f->note.size)
		row.op |= SX_FRESH_NOTE;
	return row;
}

/* What comes after rows were added. A failure here has spoiled the transaction. */
static int finish(simidx_writer *w, int rc)
{
	if (rc)
		sx_writer_drop(w);
	else
		w->changes++;
	return rc;
}

/* ---- put ---- */

/* SIMIDX_E_DUPLICATE if a document other than `self` has the id or label of the call. */
static int check_free(simidx_writer *w, sx_call *c, uint64_t self, simidx_error *err)
{
	const simidx_doc *doc = c->doc;
	int has_id = doc->id != SIMIDX_NO_ID && doc->id != self;
	sx_doc other;
	int found = 0, rc = SIMIDX_OK;

	if (has_id)
		rc = find_id(w, doc->id, &found, &other, err);
	if (!rc && found) {
		c->rests_on = doc->id;
		return sx_fail(err, SIMIDX_E_DUPLICATE, "id %" PRIu64 " is already in use",
			       doc->id);
	}
	if (!rc && doc->label)
		rc = find_label(w, doc->label, doc->label_size, &found, &other, err);
	if (!rc && found && other.id != self) {
		c->rests_on = other.id;
		return sx_fail(err, SIMIDX_E_DUPLICATE, "the label is already in use");
	}
	return rc;
}

/* Choose an id: that of an earlier judgement of the call, if it is still free. */
static int choose_id(simidx_writer *w, sx_call *c, uint64_t *id, simidx_error *err)
{
	const sx_header *h = &w->snapshot.header;
	int found = 1, rc = SIMIDX_OK;
	sx_doc other;

	if (c->chosen != SIMIDX_NO_ID)
		rc = find_id(w, c->chosen, &found, &other, err);
	*id = c->chosen;
	if (rc || !found)
		return rc;
	if (h->next_id > SIMIDX_MAX_ID)
		return sx_fail(err, SIMIDX_E_RANGE, "there is no id above the largest one");
	*id = h->next_id;
	rc = w->index->backend->writer->new_id(w, h->next_id, id, err);
	if (!rc)
		c->chosen = *id;
	return rc;
}

/* The id of a new document: its own one or a new one, as far as documents have ids. */
static int settle_id(simidx_writer *w, sx_call *c, uint64_t *id, simidx_error *err)
{
	*id = c->doc->id;
	if (!w->index->schema->has_ids)
		return SIMIDX_OK;
	if (*id == SIMIDX_NO_ID)
		return choose_id(w, c, id, err);
	w->index->backend->writer->use_ids(w, *id + 1);
	return SIMIDX_OK;
}

/* Write what stands beside the rows of a new document; one that was deleted may have had its id. */
static int write_apart(simidx_writer *w, const simidx_doc *doc, uint64_t id, simidx_error *err)
{
	int is_used = id < w->snapshot.header.next_id;
	int rc = SIMIDX_OK;

	if (doc->label || is_used)
		rc = write_label(w, id, doc->label, doc->label ? doc->label_size : 0, err);
	if (!rc && (doc->note || (is_used && w->index->schema->has_notes)))
		rc = write_note(w, id, doc, err);
	return rc;
}

/* Add a document whose id and label are free. */
static int add(simidx_writer *w, sx_call *c, simidx_error *err)
{
	const simidx_doc *doc = c->doc;
	sx_header *h = &w->snapshot.header;
	sx_fresh_row row = row_that_puts(w, doc, doc->id);
	int rc = settle_id(w, c, &row.id, err);

	if (!rc)
		rc = add_rows(w, &row, 1, err);
	if (rc)
		return rc;
	h->documents++;
	h->labels += doc->label != NULL;
	h->notes += doc->note != NULL;
	rc = write_apart(w, doc, row.id, err);
	if (row.id != SIMIDX_NO_ID && row.id >= h->next_id)
		h->next_id = row.id + 1;
	c->now.id = c->rests_on = row.id;
	return finish(w, rc);
}

static int put(simidx_writer *w, sx_call *c, simidx_error *err)
{
	int rc = check_free(w, c, SIMIDX_NO_ID, err);

	return rc ? rc : add(w, c, err);
}

/* ---- put, if it is new ---- */

simidx_query sx_writer_asks(const simidx_query *query)
{
	simidx_query asked = *query;

	asked.mode = SIMIDX_ALL;
	asked.limit = 1;
	return asked;
}

/* Answer what a call asks, in the state that the calls before it have left. */
static int answer(simidx_writer *w, const sx_call *c, const simidx_query *asked,
		  simidx_results *results, simidx_error *err)
{
	int together = 0, rc = SIMIDX_OK;
	sx_query q;

	w->conditions.writing = &w->snapshot;
	w->reader->conditions = w->has_conditions ? &w->conditions : NULL;
	if (c->nth)
		rc = sx_ahead_look_up(&w->ahead, w->reader, c->nth - 1, &together, err);
	if (!rc && !together)
		rc = sx_query_init(&q, w->index, asked, err);
	if (!rc && together)
		rc = w->index->backend->bulk->answer(w->ahead.bulk, w->reader,
						     c->nth - 1 - w->ahead.from, results, err);
	else if (!rc)
		rc = sx_search(w->reader, &q, results, err);
	w->reader->conditions = NULL;
	return rc;
}

/* Find the nearest document that a query matches, and of several the one with the smallest id. */
static int find_blocker(simidx_writer *w, sx_call *c, simidx_match *blocker, int *found,
			simidx_error *err)
{
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_query asked = sx_writer_asks(c->query);
	int rc = sx_writer_reader(w, err);

	if (!rc)
		rc = sx_reader_begin(w->reader, err);
	if (rc)
		return rc;
	rc = answer(w, c, &asked, &results, err);
	*found = !rc && results.n;
	if (*found)
		rc = sx_search_labels(w->reader, &asked, 0, 1, err);
	if (!rc && *found) {
		c->now.blocker = c->rests_on = w->reader->matches.at[0].id;
		if (blocker)
			*blocker = w->reader->matches.at[0];
	}
	sx_reader_end(w->reader);
	return rc;
}

static int put_if_new(simidx_writer *w, sx_call *c, simidx_match *blocker, simidx_error *err)
{
	size_t had = w->conditions.n;
	int found = 0, rc = check_free(w, c, SIMIDX_NO_ID, err);

	if (!rc)
		rc = w->index->backend->writer->lease(w, c->doc->fp, err);
	if (!rc)
		rc = find_blocker(w, c, blocker, &found, err);
	if (!rc && found)
		rc = sx_fail(err, SIMIDX_E_EXISTS, "a document that is near enough is there");
	if (!rc)
		rc = add(w, c, err);
	if (rc && w->conditions.n > had)
		w->conditions.n = had;
	for (size_t i = had; i < w->conditions.n; i++)
		w->conditions.at[i].id = c->now.id;
	return rc;
}

/* ---- delete ---- */

/*
 * The row says all. The bytes of the label go with the merge, where each page that has some is
 * written once: documents that are deleted lie anywhere, so here each would cost a page of its own.
 */
static int delete_found(simidx_writer *w, sx_call *c, const struct found *f, simidx_error *err)
{
	sx_fresh_row row = row_that_deletes(f);
	int rc = add_rows(w, &row, 1, err);

	if (rc)
		return rc;
	w->snapshot.header.documents--;
	w->snapshot.header.labels -= f->label.size != 0;
	w->snapshot.header.notes -= f->note.size != 0;
	c->now.id = c->rests_on = f->doc.id;
	return finish(w, SIMIDX_OK);
}

static int delete_id(simidx_writer *w, sx_call *c, simidx_error *err)
{
	struct found f;
	int found = 0, rc = find_id(w, c->doc->id, &found, &f.doc, err);

	c->rests_on = c->doc->id;
	if (!rc && !found)
		rc = sx_fail(err, SIMIDX_E_NOT_FOUND, "no document has this id");
	if (!rc)
		rc = find_own(w, &f, err);
	return rc ? rc : delete_found(w, c, &f, err);
}

static int delete_label(simidx_writer *w, sx_call *c, simidx_error *err)
{
	struct found f;
	int found = 0, rc;

	rc = find_label(w, c->doc->label, c->doc->label_size, &found, &f.doc, err);
	if (!rc && !found)
		rc = sx_fail(err, SIMIDX_E_NOT_FOUND, "no document has this label");
	f.label = (sx_slice){ c->doc->label, c->doc->label_size };
	if (!rc)
		rc = find_own_note(w, &f, err);
	return rc ? rc : delete_found(w, c, &f, err);
}

int sx_writer_delete(simidx_writer *w, const sx_doc *doc, simidx_error *err)
{
	sx_call c = sx_call_of(SX_CALL_DELETE_ID, NULL, NULL);
	struct found f = { .doc = *doc };
	int rc = find_own(w, &f, err);

	if (!rc)
		rc = delete_found(w, &c, &f, err);
	return rc;
}

/* ---- touch ---- */

/* Raise the time of a document. All else stays, its label and its note too. */
static int touch(simidx_writer *w, sx_call *c, simidx_error *err)
{
	uint64_t id = c->doc->id;
	struct found f;
	sx_fresh_row rows[2];
	int found = 0, rc = find_id(w, id, &found, &f.doc, err);

	c->rests_on = id;
	if (!rc && !found)
		rc = sx_fail(err, SIMIDX_E_NOT_FOUND, "no document has this id");
	if (!rc)
		rc = find_own(w, &f, err);
	if (rc)
		return rc;
	c->now.id = id;
	if (c->doc->time > sx_documents_time(&f.doc.values)) {
		rows[0] = rows[1] = row_that_deletes(&f);
		rows[1].op = SX_FRESH_PUT | (rows[0].op & SX_FRESH_HAS);
		rows[1].values.of[SX_TIME] = c->doc->time;
		rc = add_rows(w, rows, 2, err);
	}
	return rc ? rc : finish(w, SIMIDX_OK);
}

/* ---- replace ---- */

/* Whether bytes that are there are those that are given; NULL: none. */
static int is_same(sx_slice there, const void *given, size_t size)
{
	size = given ? size : 0;
	return there.size == size && !(size && memcmp(there.data, given, size));
}

/* Replace a document that is there. What is not different is not written, but counts. */
static int replace_found(simidx_writer *w, sx_call *c, const struct found *f, simidx_error *err)
{
	const simidx_doc *doc = c->doc;
	sx_header *h = &w->snapshot.header;
	sx_fresh_row rows[2] = { row_that_deletes(f), row_that_puts(w, doc, f->doc.id) };
	int has_same_label = is_same(f->label, doc->label, doc->label_size);
	int has_same_note = is_same(f->note, doc->note, doc->note_size), rc;

	c->now.id = c->rests_on = f->doc.id;
	if (has_same_label && has_same_note && rows[0].fp == rows[1].fp &&
	    sx_values_are_equal(&rows[0].values, &rows[1].values))
		return finish(w, SIMIDX_OK);
	rc = add_rows(w, rows, 2, err);
	if (rc)
		return rc;
	h->labels += doc->label != NULL;
	h->labels -= f->label.size != 0;
	h->notes += doc->note != NULL;
	h->notes -= f->note.size != 0;
	if (!has_same_label)
		rc = write_label(w, f->doc.id, doc->label, doc->label_size, err);
	if (!rc && !has_same_note)
		rc = write_note(w, f->doc.id, doc, err);
	return finish(w, rc);
}

static int replace(simidx_writer *w, sx_call *c, simidx_error *err)
{
	const simidx_doc *doc = c->doc;
	struct found f;
	int found = 0, rc;

	f.label = (sx_slice){ doc->label, doc->label_size };
	if (doc->id != SIMIDX_NO_ID)
		rc = find_id(w, doc->id, &found, &f.doc, err);
	else
		rc = find_label(w, doc->label, doc->label_size, &found, &f.doc, err);
	if (!rc && doc->id != SIMIDX_NO_ID)
		rc = check_free(w, c, doc->id, err);
	if (!rc && found && doc->id != SIMIDX_NO_ID)
		rc = find_own_label(w, &f, err);
	if (!rc && found)
		rc = find_own_note(w, &f, err);
	if (rc)
		return rc;
	return found ? replace_found(w, c, &f, err) : add(w, c, err);
}

/* ---- calls ---- */

static int decide(simidx_writer *w, sx_call *c, simidx_match *blocker, simidx_error *err)
{
	switch (c->kind) {
	case SX_CALL_PUT:
		return put(w, c, err);
	case SX_CALL_PUT_IF_NEW:
		return put_if_new(w, c, blocker, err);
	case SX_CALL_REPLACE:
		return replace(w, c, err);
	case SX_CALL_TOUCH:
		return touch(w, c, err);
	case SX_CALL_DELETE_ID:
		return delete_id(w, c, err);
	default:
		return delete_label(w, c, err);
	}
}

int sx_writer_judge(simidx_writer *w, sx_call *c, simidx_match *blocker, simidx_error *err)
{
	c->now = (sx_answer){ SIMIDX_OK, SIMIDX_NO_ID, SIMIDX_NO_ID };
	c->rests_on = SIMIDX_NO_ID;
	c->now.code = decide(w, c, blocker, err);
	return c->now.code;
}
