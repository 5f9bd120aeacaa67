/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "repair/sx_repair_gather.h"

#include <inttypes.h>
#include <stdio.h>

#include "repair/sx_repair_notes.h"
#include "repair/sx_repair_read.h"
#include "util/sx_err.h"

#define LABEL_BUFFER ((size_t)1 << 20)

static int is_whole(const sx_repair *r, const sx_repair_tally *tally, const sx_table_count *count)
{
	return !r->is_header_old && tally->rows == count->rows && tally->digest == count->digest;
}

static int add_document(sx_repair *r, uint64_t id, enum sx_repair_source source, uint64_t fp,
			sx_values values)
{
	uint64_t record[SX_REPAIR_VALUES + SX_MAX_COLUMNS] = { id, SX_REPAIR_SOURCE + source, fp };

	sx_values_put(&sx_repair_old(r)->schema->columns, &values, record + SX_REPAIR_VALUES);
	return sx_sorter_add(r->documents, record, r->err);
}

static int add_hash(sx_repair *r, uint64_t id, uint64_t hash)
{
	uint64_t record[2] = { id, hash };

	return sx_sorter_add(r->hashes, record, r->err);
}

/* ---- documents ---- */

/* Whether a fingerprint and an id are such as a document can have; told if not. */
static int can_be(sx_repair *r, const sx_table *table, uint64_t id, uint64_t fp)
{
	if (id <= SIMIDX_MAX_ID && !(fp & ~sx_low_bits(sx_repair_old(r)->schema->bits)))
		return 1;
	if (!sx_repair_is_found(r))
		sx_repair_tell_damage(r, table->name, "a row has an impossible id or fingerprint");
	return 0;
}

static int is_sound_fresh(sx_repair *r, const sx_table *table, const sx_rows *rows, size_t i)
{
	const sx_header *h = sx_repair_header(r);
	const char *wrong = NULL;

	if (rows->key[i] < h->first_seq || rows->key[i] >= h->next_seq)
		wrong = "a row is not of this commit";
	else if (!sx_fresh_is_known(rows, i))
		wrong = "a row is of an unknown kind";
	if (wrong && sx_repair_is_found(r))
		return 0;
	r->has_later_rows |= rows->key[i] >= h->next_seq;
	if (wrong)
		sx_repair_tell_damage(r, table->name, wrong);
	return !wrong;
}

/* A row that is believed. */
static int add_change(sx_repair *r, uint64_t seq, int is_delete)
{
	uint64_t record[2] = { seq, is_delete };

	return sx_sorter_add(r->changes, record, r->err);
}

static void tell_gap(sx_repair *r, uint64_t first, uint64_t end)
{
	simidx_loss loss = { .kind = SIMIDX_LOSS_CHANGES, .table = "fresh", .id = SIMIDX_NO_ID };
	uint64_t n = end - first;
	char range[64];

	snprintf(range, sizeof(range),
		 n == 1 ? "number %" PRIu64 : "numbers %" PRIu64 " to %" PRIu64, first, end - 1);
	if (sx_repair_old(r)->schema->has_ids)
		sx_repair_tell(r, &loss,
			       "%" PRIu64 " change%s lost, %s: a document that was added then is "
			       "not there, and one that was deleted or replaced may be as it was "
			       "before",
			       n, n == 1 ? " is" : "s are", range);
	else
		sx_repair_tell(r, &loss, "%" PRIu64 " fingerprint%s lost, %s of the log", n,
			       n == 1 ? " is" : "s are", range);
	r->report.changes_lost += n - 1; /* one was counted */
}

/*
 * The header counts the documents, and those of postings. The fresh rows make the difference, each
 * one by 1, unless a merge has put some into postings: what those that are there do not make, the
 * lost ones made.
 */
static uint64_t count_deletions_lost(const sx_repair *r, uint64_t read, uint64_t deleted)
{
	const sx_header *h = sx_repair_header(r);
	uint64_t lost = r->report.changes_lost;
	uint64_t more = h->documents - h->other[SX_COUNT_POSTINGS].rows - (read - 2 * deleted);
	uint64_t twice = lost - more; /* mod 2^64, as all of these */

	return h->state & SX_STATE_PARTIAL || twice / 2 > lost ? lost : twice / 2;
}

/* Read the log of fresh rows, and tell which ones are missing by their sequence numbers. */
static int read_fresh(sx_repair *r,
		      int (*take)(sx_repair *r, const sx_table *table, const sx_rows *rows))
{
	const sx_header *h = sx_repair_header(r);
	uint64_t expected = h->first_seq, read = 0, deleted = 0;
	simidx_loss later = { .kind = SIMIDX_LOSS_DOUBT, .table = "fresh", .id = SIMIDX_NO_ID };
	sx_repair_tally tally; /* so that damage is told */
	const uint64_t *change;
	int rc = sx_sorter_new(2, 1, 0, r->memory / 16, r->tmpdir, &r->changes, r->err);

	if (!rc)
		rc = sx_repair_read_table(r, &sx_repair_old(r)->fresh->log, take, &tally);
	if (!rc)
		rc = sx_sorter_finish(r->changes, r->memory / 16, r->err);
	while (!rc && !(rc = sx_sorter_next(r->changes, &change, r->err))) {
		if (change[0] < expected)
			continue; /* a second time */
		if (change[0] > expected && !r->is_header_old)
			tell_gap(r, expected, change[0]);
		expected = change[0] + 1;
		read++;
		deleted += change[1];
	}
	if (rc == SIMIDX_E_END && expected < h->next_seq && !r->is_header_old)
		tell_gap(r, expected, h->next_seq);
	if (r->has_later_rows)
		sx_repair_tell(
			r, &later,
			"the log has rows of a later commit than the header is of: what was "
			"changed since may be as it was before");
	r->deletions_lost = count_deletions_lost(r, read, deleted);
	sx_sorter_free(r->changes);
	r->changes = NULL;
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

static int take_fresh(sx_repair *r, const sx_table *table, const sx_rows *rows)
{
	uint64_t next_seq = sx_repair_header(r)->next_seq;
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < rows->n; i++) {
		sx_fresh_row row = sx_fresh_row_of(table, rows, i);
		uint64_t record[SX_REPAIR_VALUES + SX_MAX_COLUMNS] = { row.id, 0, row.fp,
								       row.label_hash };

		if (!is_sound_fresh(r, table, rows, i) || !can_be(r, table, row.id, row.fp))
			continue;
		/* The newest comes first. */
		record[1] = (next_seq - 1 - rows->key[i]) << SX_REPAIR_OP_BITS | row.op;
		sx_values_put(table->columns, &row.values, record + SX_REPAIR_VALUES);
		rc = sx_sorter_add(r->documents, record, r->err);
		if (!rc)
			rc = add_change(r, rows->key[i], sx_fresh_is_delete(&row));
	}
	return rc;
}

static int take_postings(sx_repair *r, const sx_table *table, const sx_rows *rows)
{
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < rows->n; i++)
		if (can_be(r, table, rows->col[SX_POSTINGS_ID][i], rows->key[i]))
			rc = add_document(r, rows->col[SX_POSTINGS_ID][i], SX_REPAIR_POSTINGS,
					  rows->key[i], sx_table_values(table, rows, i));
	return rc;
}

static int take_docs(sx_repair *r, const sx_table *table, const sx_rows *rows)
{
	const sx_values none = { { 0 } };
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < rows->n; i++)
		if (can_be(r, table, rows->key[i], rows->col[SX_DOCS_FP][i]))
			rc = add_document(r, rows->key[i], SX_REPAIR_DOCS, rows->col[SX_DOCS_FP][i],
					  none);
	return rc;
}

/* ---- labels ---- */

static int take_by_label(sx_repair *r, const sx_table *table, const sx_rows *rows)
{
	int rc = SIMIDX_OK;

	(void)table;
	for (size_t i = 0; !rc && i < rows->n; i++)
		rc = add_hash(r, rows->col[SX_BY_LABEL_ID][i], rows->key[i]);
	return rc;
}

static int take_label(sx_repair *r, uint64_t id, sx_slice label)
{
	uint64_t found = sx_repair_is_found(r) ? SX_REPAIR_LABEL_FOUND : 0;
	uint64_t record[3] = { id, sx_spill_size(r->label_bytes), label.size | found };
	int rc = sx_spill_write(r->label_bytes, label.data, label.size, r->err);

	return rc ? rc : sx_sorter_add(r->labels, record, r->err);
}

/* ---- all of them ---- */

static int read_documents(sx_repair *r)
{
	const sx_tables *tables = &sx_repair_old(r)->tables;
	const sx_table_count *count = sx_repair_header(r)->other;
	sx_repair_tally postings, docs;
	int rc = read_fresh(r, take_fresh);

	r->has_all_fresh = !r->report.changes_lost && !r->is_header_old;
	if (!rc)
		rc = sx_repair_read_table(r, &tables->postings, take_postings, &postings);
	if (rc)
		return rc;
	r->has_all_documents =
		r->has_all_fresh && is_whole(r, &postings, &count[SX_COUNT_POSTINGS]);
	if (r->has_all_documents)
		return SIMIDX_OK;
	rc = sx_repair_read_table(r, &tables->docs, take_docs, &docs);
	r->has_whole_docs = is_whole(r, &docs, &count[SX_COUNT_DOCS]);
	r->has_all_documents = r->has_all_fresh && r->has_whole_docs;
	return rc;
}

static int read_labels(sx_repair *r)
{
	sx_repair_tally by_label;
	int rc = sx_repair_read_table(r, &sx_repair_old(r)->tables.by_label, take_by_label,
				      &by_label);

	return rc ? rc : sx_repair_read_labels(r, take_label);
}

int sx_repair_gather_documents(sx_repair *r)
{
	size_t eighth = r->memory / 8;
	unsigned words = SX_REPAIR_VALUES + sx_repair_old(r)->schema->columns.n;
	int rc = sx_sorter_new(words, 2, 0, r->memory / 2, r->tmpdir, &r->documents, r->err);

	if (!rc)
		rc = sx_sorter_new(3, 1, 0, eighth, r->tmpdir, &r->labels, r->err);
	if (!rc)
		rc = sx_sorter_new(2, 2, 0, eighth, r->tmpdir, &r->hashes, r->err);
	if (!rc)
		rc = sx_spill_new(r->tmpdir, LABEL_BUFFER, &r->label_bytes, r->err);
	if (!rc)
		rc = read_documents(r);
	if (!rc)
		rc = read_labels(r);
	if (!rc)
		rc = sx_repair_gather_notes(r);
	if (!rc)
		rc = sx_sorter_finish(r->documents, r->memory / 4, r->err);
	if (!rc)
		rc = sx_sorter_finish(r->labels, eighth, r->err);
	return rc ? rc : sx_sorter_finish(r->hashes, eighth, r->err);
}

/* ---- fingerprints ---- */

static int take_fingerprints(sx_repair *r, const sx_table *table, const sx_rows *rows)
{
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < rows->n; i++) {
		uint64_t fp = sx_unpermute(table->perm, rows->key[i]);

		rc = sx_sorter_add(r->fingerprints, &fp, r->err);
	}
	return rc;
}

int sx_repair_gather_fingerprints(sx_repair *r)
{
	const sx_table *table = sx_repair_old(r)->tables.permuted;
	unsigned n = sx_repair_old(r)->schema->plan.n_tables, whole = n;
	sx_repair_tally tally;
	int rc = sx_sorter_new(1, 1, 0, r->memory / 8, r->tmpdir, &r->fingerprints, r->err);

	for (unsigned t = 0; !rc && t < n && whole == n; t++) {
		rc = sx_repair_read_table(r, &table[t], NULL, &tally);
		if (is_whole(r, &tally, &sx_repair_header(r)->table[t]))
			whole = t;
	}
	for (unsigned t = 0; !rc && t < n; t++)
		if (whole == n || whole == t)
			rc = sx_repair_read_table(r, &table[t], take_fingerprints, NULL);
	r->n_joined = whole == n ? n : 1;
	return rc ? rc : sx_sorter_finish(r->fingerprints, r->memory / 8, r->err);
}

/* ---- fresh rows of an index without ids ---- */

static int put_fresh(sx_repair *r, const sx_table *table, const sx_rows *rows)
{
	simidx_doc doc = SIMIDX_DOC_INIT;
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < rows->n; i++) {
		if (!is_sound_fresh(r, table, rows, i) ||
		    !can_be(r, table, 0, rows->col[SX_LOG_FP][i]))
			continue;
		doc.fp = rows->col[SX_LOG_FP][i];
		rc = simidx_loader_put(r->loader, &doc, NULL, r->err);
		if (!rc)
			rc = add_change(r, rows->key[i], 0);
	}
	return rc;
}

int sx_repair_put_fresh(sx_repair *r)
{
	int rc = read_fresh(r, put_fresh);

	r->report.documents_lost += r->report.changes_lost;
	return rc;
}
