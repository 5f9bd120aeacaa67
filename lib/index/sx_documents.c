/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "index/sx_documents.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

int sx_documents_missing(uint64_t id, simidx_error *err)
{
	return sx_fail(err, SIMIDX_E_CORRUPT,
		       "table postings: document %" PRIu64 ", which is in docs, is missing", id);
}

int sx_documents_by_id(void *search, const sx_snapshot *s, uint64_t id, sx_labelled_doc *out,
		       simidx_error *err)
{
	sx_fresh_span span = sx_header_fresh(&s->header);
	sx_fresh_row row;
	int rc;

	*out = (sx_labelled_doc){ .doc.id = id };
	if (id > SIMIDX_MAX_ID)
		return SIMIDX_E_NOT_FOUND;
	rc = sx_fresh_by_id(s->index->fresh, s->txn, &span, id, &row, err);
	if (rc == SIMIDX_E_NOT_FOUND)
		return s->index->backend->document->by_id(search, s, id, out, err);
	if (!rc)
		out->doc = (sx_doc){ id, row.fp, row.values };
	return !rc && sx_fresh_is_delete(&row) ? SIMIDX_E_NOT_FOUND : rc;
}

int sx_documents_label(sx_txn *txn, const sx_tables *tables, uint64_t id, sx_slice *label,
		       simidx_error *err)
{
	unsigned char bytes[8];
	sx_slice key = { bytes, sizeof(bytes) };
	int rc;

	sx_store_be64(bytes, id);
	rc = sx_dbi_get(txn, tables->labels, key, label, err);
	/* The commit of the writer that asks removes an empty one. */
	return !rc && !label->size ? SIMIDX_E_NOT_FOUND : rc;
}

int sx_documents_has_label(const sx_snapshot *s, uint64_t id, const void *label, size_t size,
			   simidx_error *err)
{
	sx_slice stored;
	int rc = s->index->backend->document->label_of(s, id, &stored, err);

	if (rc == SIMIDX_E_NOT_FOUND)
		return sx_fail(err, SIMIDX_E_CORRUPT,
			       "table labels: the label of document %" PRIu64 " is missing", id);
	if (rc || (stored.size == size && !memcmp(stored.data, label, size)))
		return rc;
	/* The hash that is kept of it is that of `label`. */
	if (sx_hash(stored.data, stored.size) != sx_hash(label, size))
		return sx_documents_label_damaged(id, err);
	return SIMIDX_E_NOT_FOUND;
}

int sx_documents_label_damaged(uint64_t id, simidx_error *err)
{
	return sx_fail(err, SIMIDX_E_CORRUPT,
		       "table labels: the label of document %" PRIu64 " is not the one that was "
		       "stored, by its hash",
		       id);
}

int sx_documents_label_check(const sx_snapshot *s, uint64_t id, sx_slice label, simidx_error *err)
{
	const sx_table *by_label = &s->index->tables.by_label;
	sx_fresh_span span = sx_header_fresh(&s->header);
	unsigned char bytes[SX_TABLE_MAX_KEY];
	sx_sort_key place = { sx_hash(label.data, label.size), id };
	sx_slice key = { bytes, sx_table_key(by_label, place, bytes) }, value;
	sx_fresh_row row;
	int rc = sx_dbi_get(s->txn, by_label->dbi, key, &value, err);

	if (rc != SIMIDX_E_NOT_FOUND)
		return rc;
	rc = sx_fresh_by_id(s->index->fresh, s->txn, &span, id, &row, err);
	if (!rc && row.label_hash == place.key)
		return SIMIDX_OK;
	return rc && rc != SIMIDX_E_NOT_FOUND ? rc : sx_documents_label_damaged(id, err);
}

/* Whether one of rows [from, n) has this id. */
static int is_among(const sx_fresh_rows *rows, size_t from, uint64_t id)
{
	while (from < rows->n && rows->at[from].id != id)
		from++;
	return from < rows->n;
}

/* Among the fresh rows with the hash of the label, the last one about each id counts. */
static int by_label_in_rows(const sx_snapshot *s, const sx_fresh_rows *rows, const void *label,
			    size_t size, sx_doc *doc, simidx_error *err)
{
	int rc = SIMIDX_E_NOT_FOUND;

	for (size_t i = rows->n; rc == SIMIDX_E_NOT_FOUND && i--;) {
		const sx_fresh_row *row = &rows->at[i];

		if (sx_fresh_is_delete(row) || is_among(rows, i + 1, row->id))
			continue;
		rc = sx_documents_has_label(s, row->id, label, size, err);
		if (!rc)
			*doc = (sx_doc){ row->id, row->fp, row->values };
	}
	return rc;
}

int sx_documents_by_label(void *search, const sx_snapshot *s, const void *label, size_t size,
			  sx_labelled_doc *out, simidx_error *err)
{
	sx_fresh_span span = sx_header_fresh(&s->header);
	sx_fresh_rows rows = { 0 };
	int rc;

	*out = (sx_labelled_doc){ .doc.id = SIMIDX_NO_ID };
	if (!size || size > SIMIDX_MAX_LABEL)
		return SIMIDX_E_NOT_FOUND;
	rc = sx_fresh_by_label(s->index->fresh, s->txn, &span, sx_hash(label, size), &rows, err);
	if (!rc)
		rc = by_label_in_rows(s, &rows, label, size, &out->doc, err);
	if (rc == SIMIDX_E_NOT_FOUND)
		rc = s->index->backend->document->by_label(search, s, label, size, out, err);
	free(rows.at);
	return rc;
}

int sx_documents_check(const simidx *index, const simidx_doc *doc, simidx_error *err)
{
	const unsigned second = SIMIDX_DOC_FP2 | SIMIDX_DOC_FP2_UNKNOWN;

	if (!doc || doc->flags & ~(second | SIMIDX_DOC_TIME) || (doc->flags & second) == second ||
	    (doc->time && !(doc->flags & SIMIDX_DOC_TIME)))
		return sx_fail(err, SIMIDX_E_ARG, "document: bad struct size or flags");
	if (doc->fp & ~sx_low_bits(index->schema->bits))
		return sx_fail(err, SIMIDX_E_RANGE, "the fingerprint has more than %u bits",
			       index->schema->bits);
	if (doc->id != SIMIDX_NO_ID && doc->id > SIMIDX_MAX_ID)
		return sx_fail(err, SIMIDX_E_RANGE, "the id is above %llu",
			       (unsigned long long)SIMIDX_MAX_ID);
	if (doc->label && (!doc->label_size || doc->label_size > SIMIDX_MAX_LABEL))
		return sx_fail(err, SIMIDX_E_RANGE, "a label has 1 to %d bytes, this one %zu",
			       SIMIDX_MAX_LABEL, doc->label_size);
	if (doc->note && (!doc->note_size || doc->note_size > SIMIDX_MAX_NOTE))
		return sx_fail(err, SIMIDX_E_RANGE, "a note has 1 to %d bytes, this one %zu",
			       SIMIDX_MAX_NOTE, doc->note_size);
	if (doc->note && !index->schema->has_notes)
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "the index keeps no notes, and the document has one");
	if (!index->schema->has_ids && (doc->id != SIMIDX_NO_ID || doc->label))
		return sx_fail(err, SIMIDX_E_MISMATCH, "the index holds no ids and no labels");
	if (!(doc->flags & second) != !index->schema->has_fp2)
		return sx_fail(
			err, SIMIDX_E_MISMATCH,
			doc->flags & second
				? "the index keeps no second fingerprints, and the document has one"
				: "the index keeps a second fingerprint with each document, as "
				  "indexes of texts do, and this one has none");
	if (doc->flags & SIMIDX_DOC_TIME && !index->schema->has_times)
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "the index keeps no times, and the document has one");
	return SIMIDX_OK;
}

sx_values sx_documents_values(const simidx *index, const simidx_doc *doc, uint64_t unknown_fp2,
			      uint32_t now)
{
	sx_values values = { { 0 } };

	if (index->schema->has_times)
		values.of[SX_TIME] = doc->flags & SIMIDX_DOC_TIME ? doc->time : now;

	if (doc->flags & SIMIDX_DOC_FP2)
		values.of[SX_FP2] = doc->fp2;
	else if (doc->flags & SIMIDX_DOC_FP2_UNKNOWN)
		values.of[SX_FP2] = unknown_fp2;
	return values;
}

void sx_match_set_values(const simidx *index, simidx_match *match, sx_values values)
{
	if (index->schema->has_fp2 && !sx_is_unknown_fp2(index, values.of[SX_FP2])) {
		match->fp2 = values.of[SX_FP2];
		match->flags |= SIMIDX_MATCH_FP2;
	}
	match->time = sx_documents_time(&values);
	if (match->time)
		match->flags |= SIMIDX_MATCH_TIME;
}

uint32_t sx_documents_now(void)
{
	time_t now = time(NULL);

	return now < 0 ? 0 : (uint64_t)now < UINT32_MAX ? (uint32_t)now : UINT32_MAX;
}

sx_values sx_match_values(const simidx_match *match, uint64_t unknown_fp2)
{
	sx_values values = { { 0 } };

	values.of[SX_FP2] = match->flags & SIMIDX_MATCH_FP2 ? match->fp2 : unknown_fp2;
	values.of[SX_TIME] = match->flags & SIMIDX_MATCH_TIME ? match->time : 0;
	return values;
}

int sx_documents_check_next_id(const simidx *index, uint64_t next_id, simidx_error *err)
{
	int rc = sx_schema_need_ids(index->schema, err);

	if (rc)
		return rc;
	if (next_id > SIMIDX_MAX_ID + 1)
		return sx_fail(err, SIMIDX_E_RANGE, "the next id is above %llu",
			       (unsigned long long)SIMIDX_MAX_ID + 1);
	return SIMIDX_OK;
}
