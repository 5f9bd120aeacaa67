/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Reading everything in one snapshot and checking it against itself: first the pages of the file,
 * without LMDB, because it may not survive a damaged one; then each block on its own, each
 * table's count and digest against the header, and the tables against each other. While a merge
 * is half done, the tables may be ahead of postings, and only the first two are checked.
 */

#include "index/sx_verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_check.h>

#include "index/sx_documents.h"
#include "index/sx_notes.h"
#include "index/sx_row_claims.h"
#include "store/sx_page_check.h"
#include "table/sx_table_walk.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"
#include "util/sx_stop.h"
#include "util/sx_struct.h"

/* What was counted in one table. */
struct tally {
	uint64_t rows, digest;
	uint64_t distinct, distinct_digest; /* fingerprints of postings: what tables must hold */
	uint64_t docs_digest;               /* of postings, without second fingerprints */
	int damaged;                        /* it could not be read whole: comparing is vain */
};

struct verify {
	const simidx *index;
	sx_snapshot snapshot;
	void (*callback)(void *ctx, const simidx_problem *problem);
	void *ctx;
	int (*stop)(void *ctx); /* may be NULL */
	void *stop_ctx;
	simidx_verify_report report;
	struct tally permuted[SX_MAX_TABLES];
	struct tally postings, docs, fresh, labels, by_label, notes;
	/* Documents and labels that the fresh rows add, less those that they delete. */
	uint64_t fresh_documents, fresh_labels;
	uint64_t docs_end, fresh_end; /* the largest id, and 1 */
	sx_row_claims claims;
	int no_memory;
	unsigned step, n_steps;
	simidx_error *err;
};

static void problem(struct verify *v, const char *table, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void problem(struct verify *v, const char *table, const char *format, ...)
{
	char text[512];
	simidx_problem p = { table, text };
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	v->report.problems++;
	if (v->callback)
		v->callback(v->ctx, &p);
}

static void step(struct verify *v)
{
	sx_index_progress(v->index, "verify", ++v->step, v->n_steps);
}

static int check_stop(struct verify *v)
{
	if ((v->stop && v->stop(v->stop_ctx)) || sx_stop_asked())
		return sx_fail(v->err, SIMIDX_E_STOPPED, "stopped; nothing has changed");
	return SIMIDX_OK;
}

/* Add a piece of rows to a table's tally. */
static void count_rows(struct tally *tally, const sx_table *table, const sx_rows *rows,
		       uint64_t *last_fp)
{
	int has_values = table->columns && table->columns->n;
	uint64_t digest = 0, docs_digest = 0;

	for (size_t i = 0; i < rows->n; i++) {
		uint64_t hash = sx_table_row_hash(table, rows, i);

		digest += hash;
		docs_digest += has_values ? sx_hash_u64_pair(rows->key[i],
							     rows->col[SX_POSTINGS_ID][i])
					  : hash;
		if (table->kind == SX_TABLE_PAIRS && (!tally->rows || rows->key[i] != *last_fp)) {
			tally->distinct++;
			tally->distinct_digest += sx_hash_u64(rows->key[i]);
		}
		*last_fp = rows->key[i];
		tally->rows++;
	}
	tally->digest += digest;
	tally->docs_digest += docs_digest;
}

/* Tell of a value that its column has no room for, of each piece of a table one. */
static void check_widths(struct verify *v, const sx_table *table, const sx_rows *rows)
{
	for (unsigned c = 0; table->columns && c < table->columns->n; c++) {
		const sx_column_kind *kind = &sx_column_kinds[table->columns->kind[c]];
		const uint64_t *value = rows->col[table->values_at + c];
		uint64_t most = UINT64_MAX >> (64 - 8 * kind->width);
		size_t i = 0;

		while (i < rows->n && value[i] <= most)
			i++;
		if (i < rows->n)
			problem(v, table->name, "a %s of %" PRIu64 " needs more than %u bytes",
				kind->name, value[i], kind->width);
	}
}

/*
 * Walk a table to its end, past damaged blocks. Returns only what stops the whole verification.
 */
static int read_table(struct verify *v, const sx_table *table, struct tally *tally,
		      void (*see)(struct verify *v, const sx_rows *rows))
{
	simidx_error local = { 0 };
	uint64_t last_fp = 0;
	sx_table_walk walk;
	int rc = sx_table_walk_begin(&walk, v->snapshot.txn, table, NULL, v->err);

	while (!rc && !(rc = check_stop(v))) {
		sx_err_clear(&local);
		rc = sx_table_walk_next(&walk, &local);
		if (rc == SIMIDX_E_END)
			break;
		if (rc == SIMIDX_E_CORRUPT) {
			v->report.blocks++;
			tally->damaged = 1;
			problem(v, table->name, "%s", local.text);
			rc = walk.stuck ? SIMIDX_E_END : SIMIDX_OK;
			continue;
		}
		if (rc)
			rc = sx_fail(v->err, rc, "%s", local.text);
		v->report.blocks += table->layout == SIMIDX_LAYOUT_ROWS ? walk.rows.n : 1;
		v->report.entries += walk.rows.n;
		count_rows(tally, table, &walk.rows, &last_fp);
		check_widths(v, table, &walk.rows);
		if (see)
			see(v, &walk.rows);
	}
	sx_table_walk_end(&walk);
	step(v);
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

/* A table against what the header says of it. */
static int check_table(struct verify *v, const sx_table *table, struct tally *tally,
		       const sx_table_count *count,
		       void (*see)(struct verify *v, const sx_rows *rows))
{
	int rc = read_table(v, table, tally, see);

	if (rc || tally->damaged)
		return rc;
	if (tally->rows != count->rows)
		problem(v, table->name, "it has %" PRIu64 " entries, the header says %" PRIu64,
			tally->rows, count->rows);
	if (tally->digest != count->digest)
		problem(v, table->name, "its digest is %016" PRIx64 ", the header says %016" PRIx64,
			tally->digest, count->digest);
	return SIMIDX_OK;
}

/* In the order of ids. */
static void see_docs(struct verify *v, const sx_rows *rows)
{
	if (rows->n)
		v->docs_end = rows->key[rows->n - 1] + 1;
}

/* No document has an id that is still to be given. */
static void check_next_id(struct verify *v, const char *table, uint64_t end)
{
	const sx_header *h = &v->snapshot.header;

	if (end > h->next_id)
		problem(v, table,
			"document %" PRIu64 " is there, and the header says that %" PRIu64
			" is the next id",
			end - 1, h->next_id);
}

/* The label of a document is the one whose hash `table` has. */
static void check_label(struct verify *v, const char *table, uint64_t id, uint64_t hash)
{
	sx_slice label;

	if (sx_documents_label(v->snapshot.txn, &v->index->tables, id, &label, NULL))
		problem(v, table, "document %" PRIu64 " has no label", id);
	else if (sx_hash(label.data, label.size) != hash)
		problem(v, table, "the hash is not that of document %" PRIu64 "'s label", id);
}

static void see_fresh(struct verify *v, const sx_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		sx_fresh_row row = sx_fresh_row_of(&v->index->fresh->log, rows, i);
		uint64_t one = sx_fresh_is_delete(&row) ? UINT64_MAX : 1;

		v->fresh_documents += one;
		v->fresh_labels += row.op & SX_FRESH_LABEL ? one : 0;
		if (row.id >= v->fresh_end)
			v->fresh_end = row.id + 1;
		v->no_memory |= sx_row_claims_push(&v->claims, &row, rows->key[i]) != 0;
	}
}

/* What the last rows say that documents have is there. */
static void check_claims(struct verify *v)
{
	sx_slice note;

	sx_row_claims_keep_last(&v->claims);
	for (size_t i = 0; i < v->claims.n; i++) {
		const sx_row_claim *s = &v->claims.at[i];

		if (s->has_label && !s->is_delete)
			check_label(v, "fresh", s->id, s->hash);
		if (s->has_note && s->is_last && !s->is_delete &&
		    sx_notes_get(v->snapshot.txn, &v->index->tables, s->id, &note, NULL) ==
			    SIMIDX_E_NOT_FOUND)
			problem(v, "fresh", "document %" PRIu64 " has no note", s->id);
	}
}

/* The log has every row from first_seq on, and none besides. */
static int check_fresh(struct verify *v)
{
	const sx_header *h = &v->snapshot.header;
	const sx_table *log = &v->index->fresh->log;
	simidx_error local = { 0 };
	int rc = read_table(v, log, &v->fresh, see_fresh);

	if (!rc && v->no_memory)
		rc = sx_fail_nomem(v->err);
	if (rc || v->fresh.damaged)
		return rc;
	check_claims(v);
	if (v->fresh.rows != h->next_seq - h->first_seq)
		problem(v, "fresh", "it has %" PRIu64 " rows, the header says %" PRIu64,
			v->fresh.rows, h->next_seq - h->first_seq);
	else
		rc = sx_fresh_log_read(v->snapshot.txn, log, h->first_seq, h->next_seq, NULL, NULL,
				       &local);
	if (rc && rc != SIMIDX_E_CORRUPT)
		return sx_fail(v->err, rc, "%s", local.text);
	if (rc)
		problem(v, "fresh", "%s", local.text);
	return SIMIDX_OK;
}

/* ---- labels and notes ---- */

/* The row that deletes a document has the hash of its label, which is left until the merge. */
static int is_left(struct verify *v, uint64_t id, sx_slice label, size_t *at)
{
	const sx_row_claim *deleted = sx_row_claims_deleted(&v->claims, id, at);

	if (!deleted || !deleted->has_label)
		return 0;
	if (sx_hash(label.data, label.size) != deleted->hash)
		problem(v, "labels", "the hash is not that of document %" PRIu64 "'s label", id);
	return 1;
}

/*
 * Each label belongs to an id; its hash is compared where it stands: in by_label or in fresh. Those
 * of deleted documents do not count.
 */
static int check_labels(struct verify *v)
{
	sx_slice key, value;
	uint64_t entry = 0;
	sx_cursor *cursor;
	size_t at = 0;
	int rc = sx_cursor_open(v->snapshot.txn, v->index->tables.labels, &cursor, v->err);

	if (rc)
		return rc;
	for (rc = sx_cursor_first(cursor, &key, &value, v->err); !rc;
	     rc = sx_cursor_next(cursor, &key, &value, v->err), entry++) {
		if (key.size != 8 || !value.size || value.size > SIMIDX_MAX_LABEL)
			problem(v, "labels", "entry %" PRIu64 " has a key or value of a wrong size",
				entry);
		else
			v->labels.rows += !is_left(v, sx_load_be64(key.data), value, &at);
	}
	sx_cursor_close(cursor);
	step(v);
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

/* Each note is what was stored with its id. Those of deleted documents do not count. */
static int check_notes(struct verify *v)
{
	sx_slice key, value, note;
	simidx_error local;
	sx_cursor *cursor;
	size_t at = 0;
	int rc = sx_cursor_open(v->snapshot.txn, v->index->tables.notes, &cursor, v->err);

	if (rc)
		return rc;
	for (rc = sx_cursor_first(cursor, &key, &value, v->err); !rc;
	     rc = sx_cursor_next(cursor, &key, &value, v->err)) {
		uint64_t id = key.size == 8 ? sx_load_be64(key.data) : 0;
		const sx_row_claim *deleted = sx_row_claims_deleted(&v->claims, id, &at);

		sx_err_clear(&local);
		if (key.size != 8)
			problem(v, "notes", "a key has %zu bytes", key.size);
		else if (sx_note_decode(id, value, &note, &local))
			problem(v, "notes", "%s", local.text);
		v->notes.rows += !deleted || !deleted->has_note;
	}
	sx_cursor_close(cursor);
	step(v);
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

static void see_by_label(struct verify *v, const sx_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		if (!sx_row_claims_have_label(&v->claims, rows->key[i],
					      rows->col[SX_BY_LABEL_ID][i]))
			check_label(v, "by_label", rows->col[SX_BY_LABEL_ID][i], rows->key[i]);
}

/* ---- tables against each other ---- */

static void check_same(struct verify *v, const char *table, const struct tally *tally,
		       uint64_t rows, uint64_t digest, const char *other)
{
	if (tally->damaged)
		return;
	if (tally->rows != rows)
		problem(v, table, "it has %" PRIu64 " entries, %s %" PRIu64, tally->rows, other,
			rows);
	else if (tally->digest != digest)
		problem(v, table, "its entries are not those of %s", other);
}

static void check_documents_agree(struct verify *v)
{
	const sx_header *h = &v->snapshot.header;

	if (v->notes.rows != h->notes && !v->fresh.damaged)
		problem(v, "notes",
			"it has %" PRIu64
			" entries of documents that are there, the header says %" PRIu64,
			v->notes.rows, h->notes);
	if (!v->postings.damaged) {
		for (unsigned t = 0; t < v->index->schema->plan.n_tables; t++)
			check_same(v, v->index->tables.permuted[t].name, &v->permuted[t],
				   v->postings.distinct, v->postings.distinct_digest,
				   "the fingerprints of postings");
		check_same(v, "docs", &v->docs, v->postings.rows, v->postings.docs_digest,
			   "postings");
		if (v->postings.rows + v->fresh_documents != h->documents && !v->fresh.damaged)
			problem(v, "postings",
				"with the fresh rows there are %" PRIu64
				" documents, the header says %" PRIu64,
				v->postings.rows + v->fresh_documents, h->documents);
	}
	if (v->labels.rows != h->labels && !v->fresh.damaged)
		problem(v, "labels",
			"it has %" PRIu64
			" entries of documents that are there, the header says %" PRIu64,
			v->labels.rows, h->labels);
	if (v->by_label.rows + v->fresh_labels != h->labels && !v->by_label.damaged &&
	    !v->fresh.damaged)
		problem(v, "by_label",
			"with the fresh rows it has %" PRIu64 " labels, the header says %" PRIu64,
			v->by_label.rows + v->fresh_labels, h->labels);
}

static void check_tables_agree(struct verify *v)
{
	if (v->permuted[0].damaged)
		return;
	for (unsigned t = 1; t < v->index->schema->plan.n_tables; t++)
		check_same(v, v->index->tables.permuted[t].name, &v->permuted[t],
			   v->permuted[0].rows, v->permuted[0].digest, "t01");
}

/* ---- header, profile and mark ---- */

static void report_meta(void *ctx, const char *name, const char *what)
{
	problem(ctx, name, "%s", what);
}

/* The tables that an index with ids has. */
static int check_documents(struct verify *v)
{
	const sx_tables *tables = &v->index->tables;
	const sx_header *h = &v->snapshot.header;
	int rc = check_table(v, &tables->postings, &v->postings, &h->other[SX_COUNT_POSTINGS],
			     NULL);

	if (!rc)
		rc = check_table(v, &tables->docs, &v->docs, &h->other[SX_COUNT_DOCS], see_docs);
	if (!rc)
		rc = check_labels(v);
	if (!rc)
		rc = read_table(v, &tables->by_label, &v->by_label, see_by_label);
	if (rc)
		return rc;
	check_next_id(v, "docs", v->docs_end);
	check_next_id(v, "fresh", v->fresh_end);
	return SIMIDX_OK;
}

static int verify_all(struct verify *v)
{
	const sx_tables *tables = &v->index->tables;
	const sx_schema *schema = v->index->schema;
	const sx_header *h = &v->snapshot.header;
	int rc = SIMIDX_OK;

	for (unsigned t = 0; !rc && t < schema->plan.n_tables; t++)
		rc = check_table(v, &tables->permuted[t], &v->permuted[t], &h->table[t], NULL);
	if (!rc)
		rc = check_fresh(v);
	if (!rc && schema->has_ids)
		rc = check_documents(v);
	if (!rc && schema->has_notes)
		rc = check_notes(v);
	if (rc)
		return rc;
	if (!(h->state & SX_STATE_MERGING)) {
		if (schema->has_ids)
			check_documents_agree(v);
		else
			check_tables_agree(v);
	}
	rc = sx_meta_check_basis(v->snapshot.txn, &tables->meta, h, report_meta, v, v->err);
	if (rc)
		return rc;
	/* Last, as a copy that cannot be read ends all reading in this transaction. */
	return sx_meta_check(v->snapshot.txn, &tables->meta, report_meta, v,
			     &v->report.mended, v->err);
}

static void note_page(void *ctx, const char *table, const char *text)
{
	problem(ctx, table, "%s", text);
}

/*
 * The number of the commit that the header page leads to that LMDB does not use, if it may be the
 * last.
 */
static int find_later(struct verify *v, uint64_t *commit)
{
	sx_page_roots roots = { .txn = 0 }, other;
	int rc = sx_page_other(v->snapshot.txn, &roots, &other, v->err);

	*commit = 0;
	if (!rc)
		rc = sx_meta_find_commit(v->snapshot.txn, &other, commit, v->err);
	return rc == SIMIDX_E_NOT_FOUND ? SIMIDX_OK : rc;
}

/*
 * Take a snapshot, and check its pages before LMDB reads any of them: of a file that is damaged
 * there, nothing more is read.
 */
static int begin(struct verify *v)
{
	const sx_header *h = &v->snapshot.header;
	simidx_error local = { 0 };
	uint64_t later;
	int rc;

	v->snapshot.index = v->index;
	rc = sx_txn_begin_read(v->index->store, &v->snapshot.txn, v->err);
	if (!rc)
		rc = find_later(v, &later);
	if (rc)
		return rc;
	rc = sx_page_check(v->snapshot.txn, note_page, v, &local);
	step(v);
	if (rc)
		return rc == SIMIDX_E_CORRUPT ? SIMIDX_OK : sx_fail(v->err, rc, "%s", local.text);
	rc = sx_snapshot_load(&v->snapshot, v->err);
	if (!rc && later > h->commit)
		problem(v, SX_PAGE_TABLES,
			"a header page has another transaction number than its commit: commit "
			"%" PRIu64
			" is shown, and the last one is %" PRIu64,
			h->commit, later);
	return rc;
}

static int verify(struct verify *v, const simidx *index, simidx_error *err)
{
	const sx_header *h = &v->snapshot.header;
	int rc;

	v->index = index;
	v->err = err;
	v->n_steps = 1 + sx_tables_count(index->schema); /* the pages, and each table */
	rc = begin(v);
	if (!rc && !v->report.problems) {
		rc = verify_all(v);
		v->report.documents = sx_header_documents(h);
	}
	sx_snapshot_end(&v->snapshot);
	free(v->claims.at);
	if (!rc && v->report.problems)
		rc = sx_fail(err, SIMIDX_E_CORRUPT, "%" PRIu64 " problem%s found",
			     v->report.problems, v->report.problems == 1 ? "" : "s");
	return rc;
}

int sx_verify(const simidx *index, void (*callback)(void *ctx, const simidx_problem *problem),
	      void *ctx, simidx_verify_report *out, simidx_error *err)
{
	struct verify *v = sx_calloc(1, sizeof(*v));
	int rc;

	if (!v)
		return sx_fail_nomem(err);
	v->callback = callback;
	v->ctx = ctx;
	rc = verify(v, index, err);
	*out = v->report;
	free(v);
	return rc;
}

#define NOTED 400 /* of a problem, in the text of an error */

static void note_first(void *ctx, const simidx_problem *problem)
{
	char *first = ctx;

	if (first[0])
		return;
	if (!strncmp(problem->text, "table ", 6)) /* names it already */
		snprintf(first, NOTED, "%s", problem->text);
	else
		snprintf(first, NOTED, "%s: %s", problem->table, problem->text);
}

int sx_verify_sound(const simidx *index, const char *refusal, int (*stop)(void *ctx), void *ctx,
		    simidx_error *err)
{
	char first[NOTED] = "";
	struct verify *v = sx_calloc(1, sizeof(*v));
	int rc;

	if (!v)
		return sx_fail_nomem(err);
	v->callback = note_first;
	v->ctx = first;
	v->stop = stop;
	v->stop_ctx = ctx;
	rc = verify(v, index, err);
	if (rc == SIMIDX_E_CORRUPT && v->report.problems) {
		sx_err_clear(err);
		sx_fail(err, rc, "%s %" PRIu64 " problem%s: %s%s", refusal, v->report.problems,
			v->report.problems == 1 ? "" : "s",
			v->report.problems == 1 ? "" : "the first one is ", first);
	}
	free(v);
	return rc;
}
