/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/sx_loader_documents.h"

#include <stdlib.h>
#include <string.h>

#include "index/sx_documents.h"
#include "index/sx_notes.h"
#include "index/sx_walk.h"
#include "local/sx_local_walk.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

#define PROGRESS_ROWS 65536
#define ROWS_AT_ONCE 256
#define LABEL_BUFFER ((size_t)1 << 20)
#define SIZE_BITS 16 /* of a label's size, below its place */

/* ---- labels of what was put ---- */

int sx_loader_put_label(simidx_loader *l, const simidx_doc *doc, uint64_t id, simidx_error *err)
{
	uint64_t row[3] = { id, l->n_rows, doc->label_size };
	uint64_t hash[5] = { sx_hash(doc->label, doc->label_size), l->sources.n, l->n_rows, 0, id };
	int rc = SIMIDX_OK;

	if (!l->input.label_bytes)
		rc = sx_spill_new(sx_loader_tmpdir(l), LABEL_BUFFER, &l->input.label_bytes, err);
	if (rc)
		return rc;
	row[2] |= sx_spill_size(l->input.label_bytes) << SIZE_BITS;
	hash[3] = row[2];
	rc = sx_spill_write(l->input.label_bytes, doc->label, doc->label_size, err);
	if (!rc)
		rc = sx_sorter_add(l->input.label_rows, row, err);
	return rc ? rc : sx_sorter_add(l->input.label_hashes, hash, err);
}

int sx_loader_read_label(simidx_loader *l, uint64_t where, sx_loader_bytes *label,
			 simidx_error *err)
{
	label->size = (size_t)(where & sx_low_bits(SIZE_BITS));
	if (sx_reserve(&label->at, &label->cap, label->size, 1))
		return sx_fail_nomem(err);
	return sx_spill_read(l->input.label_bytes, where >> SIZE_BITS, label->at, label->size, err);
}

int sx_loader_copy_bytes(sx_loader_bytes *to, sx_slice label, simidx_error *err)
{
	if (sx_reserve(&to->at, &to->cap, label.size, 1))
		return sx_fail_nomem(err);
	memcpy(to->at, label.data, label.size);
	to->size = label.size;
	return SIMIDX_OK;
}

uint64_t sx_loader_order(const simidx_loader *l, uint64_t source, uint64_t key)
{
	return source < l->sources.n ? source : l->sources.n + key;
}

/* ---- notes ---- */

int sx_loader_put_note(simidx_loader *l, const simidx_doc *doc, uint64_t id, simidx_error *err)
{
	uint64_t row[4] = { id, l->n_rows, 0, doc->note_size };
	int rc = SIMIDX_OK;

	if (!l->input.note_bytes)
		rc = sx_spill_new(sx_loader_tmpdir(l), LABEL_BUFFER, &l->input.note_bytes, err);
	if (rc)
		return rc;
	row[2] = sx_spill_size(l->input.note_bytes);
	rc = sx_spill_write(l->input.note_bytes, doc->note, doc->note_size, err);
	return rc ? rc : sx_sorter_add(l->input.note_rows, row, err);
}

/* ---- documents in the order of their ids ---- */

/* The document whose turn it is in one stream. */
struct stream {
	int ended;
	uint64_t key; /* its id, or its row if it was put */
	sx_doc doc;
	sx_slice label; /* of a source: in its map */
	uint64_t where; /* of what was put: its label, 0 = none */
	uint64_t note_at; /* of what was put: its note */
	size_t note_size; /* 0 = none */
};

struct docs {
	simidx_loader *l;
	simidx_error *err;
	struct stream *stream; /* the sources, then what was put */
	const uint64_t *label_row, *note_row; /* the next ones, or NULL */
	const uint64_t *rejected;      /* the next one, or NULL */
	sx_append append;
	/* the document that stays unless another one with its id takes its place */
	int has_candidate;
	sx_doc candidate;
	uint64_t candidate_source, candidate_key;
	sx_loader_bytes label, note; /* size 0: none */
	/* those that stay and are not written yet: id, fingerprint; and records of by_fp */
	uint64_t row[2 * ROWS_AT_ONCE], record[(2 + SX_MAX_COLUMNS) * ROWS_AT_ONCE];
	size_t n_rows;
	uint64_t bytes_apart; /* of labels and notes, written since the last commit, about */
	uint64_t done, total;
};

static int next_of_source(struct docs *d, size_t i)
{
	struct stream *s = &d->stream[i];
	simidx_match m;
	int rc = simidx_walk_next(d->l->sources.walk[i], &m, d->err);

	s->ended = rc == SIMIDX_E_END;
	if (s->ended)
		sx_err_clear(d->err); /* the end is no error here */
	if (rc)
		return s->ended ? SIMIDX_OK : sx_loader_blame(d->l, i, rc, d->err);
	s->key = m.id;
	s->doc = (sx_doc){ m.id, m.fp,
			   sx_match_values(&m, d->l->has_unknown_fp2 ? d->l->unknown_fp2 : 0) };
	s->label = (sx_slice){ m.label, m.label_size };
	return SIMIDX_OK;
}

/* The next record of a sorter, NULL after the last one. */
static int next_record(struct docs *d, sx_sorter *sorter, const uint64_t **record)
{
	int rc = sx_sorter_next(sorter, record, d->err);

	if (rc)
		*record = NULL;
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

/* The label of a row: both sorters are in the order of (id, row). */
static int find_label(struct docs *d, struct stream *s)
{
	s->where = 0;
	if (!d->label_row || d->label_row[1] != s->key)
		return SIMIDX_OK;
	s->where = d->label_row[2];
	return next_record(d, d->l->input.label_rows, &d->label_row);
}

static int find_note(struct docs *d, struct stream *s)
{
	s->note_size = 0;
	if (!d->note_row || d->note_row[1] != s->key)
		return SIMIDX_OK;
	s->note_at = d->note_row[2];
	s->note_size = (size_t)d->note_row[3];
	return next_record(d, d->l->input.note_rows, &d->note_row);
}

static int next_put(struct docs *d)
{
	simidx_loader *l = d->l;
	struct stream *s = &d->stream[l->sources.n];
	const uint64_t *record;
	int rc = sx_sorter_next(l->input.by_id, &record, d->err);

	s->ended = rc == SIMIDX_E_END;
	if (rc)
		return s->ended ? SIMIDX_OK : rc;
	s->key = record[1];
	s->doc.id = record[0];
	s->doc.fp = record[2];
	s->doc.values = sx_values_get(&l->target.index->schema->columns, record + 3);
	rc = find_label(d, s);
	return rc ? rc : find_note(d, s);
}

static int next(struct docs *d, size_t i)
{
	return i < d->l->sources.n ? next_of_source(d, i) : next_put(d);
}

/* ---- writing ---- */

static int write_label(struct docs *d, uint64_t id)
{
	simidx_loader *l = d->l;
	unsigned char bytes[8];
	sx_slice key = { bytes, sizeof(bytes) }, value = { d->label.at, d->label.size };
	uint64_t record[2] = { sx_hash(value.data, value.size), id };
	int rc;

	sx_store_be64(bytes, id);
	rc = sx_dbi_append(l->output.txn, l->target.index->tables.labels, key, value, d->err);
	l->output.header.labels++;
	/* With its key and what stays free in a page. */
	d->bytes_apart += value.size + value.size / 4 + 32;
	return rc ? rc : sx_sorter_add(l->output.by_label, record, d->err);
}

static int write_note(struct docs *d, uint64_t id)
{
	simidx_loader *l = d->l;
	sx_slice note = { d->note.at, d->note.size };
	unsigned char bytes[8];
	sx_slice key = { bytes, sizeof(bytes) };

	sx_store_be64(bytes, id);
	if (sx_reserve(&d->note.at, &d->note.cap, note.size + SX_NOTE_CHECKSUM, 1))
		return sx_fail_nomem(d->err);
	note.data = d->note.at;
	sx_note_checksum(id, note, d->note.at + note.size);
	l->output.header.notes++;
	d->bytes_apart += note.size + note.size / 4 + 32;
	return sx_dbi_append(l->output.txn, l->target.index->tables.notes, key,
			     (sx_slice){ d->note.at, note.size + SX_NOTE_CHECKSUM }, d->err);
}

/* Pass on the documents that wait: appending them one by one would cost more. */
static int write_rows(struct docs *d)
{
	simidx_loader *l = d->l;
	size_t n = d->n_rows;
	int rc;

	if (!n)
		return SIMIDX_OK;
	d->n_rows = 0;
	rc = sx_loader_append(l, &d->append, d->row, n, d->err);
	return rc ? rc : sx_sorter_add_some(l->output.by_fp, d->record, n, d->err);
}

static int write_candidate(struct docs *d)
{
	simidx_loader *l = d->l;
	unsigned words = sx_sorter_words(l->output.by_fp);
	uint64_t *row = d->row + 2 * d->n_rows, *record = d->record + words * d->n_rows;
	int rc = SIMIDX_OK;

	if (!d->has_candidate)
		return SIMIDX_OK;
	d->has_candidate = 0;
	if (d->candidate.id >= l->next_id)
		l->next_id = d->candidate.id + 1;
	row[0] = record[1] = d->candidate.id;
	row[1] = record[0] = d->candidate.fp;
	sx_values_put(&l->target.index->schema->columns, &d->candidate.values, record + 2);
	if (++d->n_rows == ROWS_AT_ONCE)
		rc = write_rows(d);
	if (!rc && d->label.size)
		rc = write_label(d, d->candidate.id);
	if (!rc && d->note.size)
		rc = write_note(d, d->candidate.id);
	if (!rc && d->bytes_apart)
		rc = sx_loader_pace(l, &d->bytes_apart, sx_store_page_size(l->target.index->store),
				    d->err);
	d->append.txn = l->output.txn;
	return rc;
}

/* The note of the document that a stream has come to. */
static int read_note(struct docs *d, size_t i)
{
	simidx_loader *l = d->l;
	const struct stream *s = &d->stream[i];
	sx_slice note;
	int rc;

	d->note.size = 0;
	if (i < l->sources.n) {
		rc = simidx_walk_note(l->sources.walk[i], &note.data, &note.size, d->err);
		if (rc)
			return sx_loader_blame(l, i, rc, d->err);
		return note.size ? sx_loader_copy_bytes(&d->note, note, d->err) : SIMIDX_OK;
	}
	if (!s->note_size)
		return SIMIDX_OK;
	if (sx_reserve(&d->note.at, &d->note.cap, s->note_size, 1))
		return sx_fail_nomem(d->err);
	d->note.size = s->note_size;
	return sx_spill_read(l->input.note_bytes, s->note_at, d->note.at, d->note.size, d->err);
}

/* Keep the document of a stream. */
static int set_candidate(struct docs *d, size_t i)
{
	struct stream *s = &d->stream[i];
	int rc = SIMIDX_OK;

	d->has_candidate = 1;
	d->candidate = s->doc;
	d->candidate_source = i;
	d->candidate_key = s->key;
	d->label.size = 0;
	if (i == d->l->sources.n && s->where)
		rc = sx_loader_read_label(d->l, s->where, &d->label, d->err);
	else if (i < d->l->sources.n && s->label.size)
		rc = sx_loader_copy_bytes(&d->label, s->label, d->err);
	return !rc && d->l->input.note_rows ? read_note(d, i) : rc;
}

/* Another document has the id of the candidate. */
static int resolve_duplicate(struct docs *d, size_t i)
{
	if (d->l->options.duplicates == SIMIDX_DUPLICATES_LAST) {
		sx_loader_reject(d->l, d->candidate.id, d->candidate_source, d->candidate_key, 1);
		return set_candidate(d, i);
	}
	sx_loader_reject(d->l, d->candidate.id, i, d->stream[i].key, 1);
	return SIMIDX_OK;
}

/* The stream whose document comes next; among equal ids the earlier one. -1: all have ended. */
static int first_stream(const struct docs *d)
{
	int first = -1;

	for (size_t i = 0; i <= d->l->sources.n; i++)
		if (!d->stream[i].ended &&
		    (first < 0 || d->stream[i].doc.id < d->stream[first].doc.id))
			first = (int)i;
	return first;
}

/* Whether the next document is left out because of a label: those are in the same order. */
static int is_rejected(const struct docs *d, size_t i)
{
	return d->rejected && d->rejected[0] == d->stream[i].doc.id &&
	       d->rejected[1] == sx_loader_order(d->l, i, d->stream[i].key);
}

static int take_document(struct docs *d, size_t i)
{
	int rc;

	if (is_rejected(d, i)) {
		rc = next_record(d, d->l->input.rejected, &d->rejected);
	} else if (d->has_candidate && d->candidate.id == d->stream[i].doc.id) {
		rc = resolve_duplicate(d, i);
	} else {
		rc = write_candidate(d);
		if (!rc)
			rc = set_candidate(d, i);
	}
	if (!rc && ++d->done % PROGRESS_ROWS == 0)
		rc = sx_loader_progress(d->l, "documents", d->done, d->total, d->err);
	return rc ? rc : next(d, i);
}

static int finish_by_id(struct docs *d)
{
	int sorted = d->l->input.is_sorted;

	d->l->input.is_sorted = 1;
	return sorted ? SIMIDX_OK : sx_sorter_finish(d->l->input.by_id, d->l->memory / 4, d->err);
}

static int open_streams(struct docs *d)
{
	simidx_loader *l = d->l;
	int rc = finish_by_id(d);

	if (!rc)
		rc = sx_sorter_finish(l->input.label_rows, l->memory / 16, d->err);
	if (!rc)
		rc = next_record(d, l->input.label_rows, &d->label_row);
	if (!rc && l->input.note_rows)
		rc = sx_sorter_finish(l->input.note_rows, l->memory / 32, d->err);
	if (!rc && l->input.note_rows)
		rc = next_record(d, l->input.note_rows, &d->note_row);
	if (!rc && l->input.rejected)
		rc = next_record(d, l->input.rejected, &d->rejected);
	for (size_t i = 0; !rc && i <= l->sources.n; i++)
		rc = next(d, i);
	return rc;
}

static int write_all(struct docs *d)
{
	simidx_loader *l = d->l;
	int i, rc = open_streams(d);

	while (!rc && (i = first_stream(d)) >= 0)
		rc = take_document(d, (size_t)i);
	if (!rc)
		rc = write_candidate(d);
	if (!rc)
		rc = write_rows(d);
	if (!rc)
		rc = sx_append_finish(&d->append, d->err);
	if (rc)
		return rc;
	l->output.header.other[SX_COUNT_DOCS].rows = d->append.count;
	l->output.header.other[SX_COUNT_DOCS].digest = d->append.digest;
	l->output.header.other[SX_COUNT_DOCS].generation++;
	return SIMIDX_OK;
}

/* Begin again, for the pass that writes. */
static int rewind_all(struct docs *d)
{
	int rc = sx_sorter_rewind(d->l->input.by_id, d->err);

	for (size_t i = 0; !rc && i < d->l->sources.n; i++)
		rc = sx_local_walk_rewind(d->l->sources.walk[i]->walk, d->err);
	return rc;
}

int sx_loader_visit_documents(simidx_loader *l,
		      int (*see)(void *ctx, uint64_t id, uint64_t source, uint64_t key), void *ctx,
		      simidx_error *err)
{
	struct docs d = { .l = l, .err = err }; /* without label_row: labels are not looked at */
	uint64_t done = 0;
	int i, rc;

	d.stream = sx_calloc(l->sources.n + 1, sizeof(*d.stream));
	rc = d.stream ? finish_by_id(&d) : sx_fail_nomem(err);
	for (size_t k = 0; !rc && k <= l->sources.n; k++)
		rc = next(&d, k);
	while (!rc && (i = first_stream(&d)) >= 0) {
		rc = see(ctx, d.stream[i].doc.id, (uint64_t)i, d.stream[i].key);
		if (!rc)
			rc = next(&d, (size_t)i);
		if (!rc && ++done % PROGRESS_ROWS == 0)
			rc = sx_loader_check_stop(l, err);
	}
	free(d.stream);
	return rc ? rc : rewind_all(&d);
}

/* Without ids there are fingerprints alone, and only those of the sources are still missing. */
static int add_fingerprints(simidx_loader *l, simidx_error *err)
{
	uint64_t done = 0;
	simidx_match m;
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < l->sources.n; i++) {
		while (!rc && !(rc = simidx_walk_next(l->sources.walk[i], &m, err))) {
			rc = sx_sorter_add(l->output.by_fp, &m.fp, err);
			if (!rc && ++done % PROGRESS_ROWS == 0)
				rc = sx_loader_progress(l, "documents", done,
							l->sources.documents, err);
		}
		rc = sx_loader_blame(l, i, rc, err);
		if (rc == SIMIDX_E_END) {
			sx_err_clear(err);
			rc = SIMIDX_OK;
		}
	}
	return rc;
}

int sx_loader_write_documents(simidx_loader *l, simidx_error *err)
{
	struct docs d = { .l = l, .err = err };
	sx_loader_input *in = &l->input;
	sx_loader_output *out = &l->output;
	int rc;

	if (!in->by_id)
		return add_fingerprints(l, err);
	d.total = l->sources.documents + sx_sorter_count(in->by_id);
	d.stream = sx_calloc(l->sources.n + 1, sizeof(*d.stream));
	rc = d.stream ? sx_append_begin(&d.append, &l->target.index->tables.docs, out->txn, err)
		      : sx_fail_nomem(err);
	if (!rc)
		rc = write_all(&d);
	if (!rc)
		rc = sx_loader_progress(l, "documents", d.total, d.total, err);
	sx_append_end(&d.append);
	free(d.stream);
	free(d.label.at);
	free(d.note.at);
	out->report.spill_bytes += sx_sorter_spilled(in->by_id) + sx_sorter_spilled(in->label_rows);
	if (in->note_rows)
		out->report.spill_bytes += sx_sorter_spilled(in->note_rows);
	if (in->label_bytes)
		out->report.spill_bytes += sx_spill_size(in->label_bytes);
	if (in->note_bytes)
		out->report.spill_bytes += sx_spill_size(in->note_bytes);
	sx_spill_free(in->label_bytes);
	sx_spill_free(in->note_bytes);
	in->label_bytes = in->note_bytes = NULL;
	out->distinct = sx_sorter_take_spill(in->by_id);
	sx_sorter_free(in->by_id);
	sx_sorter_free(in->label_rows);
	sx_sorter_free(in->note_rows);
	in->by_id = in->label_rows = in->note_rows = NULL;
	return rc;
}
