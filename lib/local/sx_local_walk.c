/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * All documents in order: the tables and the fresh rows, merged.
 */

#include "local/sx_local_walk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "index/sx_documents.h"
#include "index/sx_notes.h"
#include "table/sx_table_range.h"
#include "table/sx_table_walk.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"
#include "util/sx_sort.h"
#include "util/sx_u64s.h"

struct sx_local_walk {
	const simidx *index;
	sx_snapshot snapshot;
	sx_table_walk table;  /* docs, or t01 in an index without ids */
	size_t at;            /* next row of the piece that is loaded */
	int table_ended;
	uint64_t n_rows, digest; /* of the table so far: see check_table() */
	sx_fresh_rows fresh;
	uint32_t *order;      /* of the fresh rows, by what the walk is in the order of */
	uint64_t *fresh_key;  /* that of each, in this order */
	size_t fresh_at;
	sx_cursor *postings;  /* for optional columns; NULL: there are none */
	sx_rows row;          /* of postings */
	uint64_t label_sum;   /* of those of the rows of the table so far: see check_labels() */
	int labels_are_checked; /* once is enough: the snapshot stays the same */
	int spares_memory;
	unsigned read;        /* documents and labels since pages were given back */
	uint64_t last_id;     /* of the document that was delivered last; SIMIDX_NO_ID: of none */
	uint32_t last_op;     /* of its fresh row; 0: it has none */
	int is_asked;         /* for its note */
	uint64_t documents, asked, notes; /* delivered; whose note was asked for; that had one */
};

/* What these numbers of documents and labels take is little beside what a loader has. */
#define READ_AT_ONCE 16384

void sx_local_walk_spare_memory(sx_local_walk *w)
{
	w->spares_memory = 1;
}

static void count_read(sx_local_walk *w)
{
	if (!w->spares_memory || ++w->read < READ_AT_ONCE)
		return;
	w->read = 0;
	sx_store_unmap_pages(w->index->store);
}

static int load_fresh(sx_local_walk *w, simidx_error *err)
{
	const sx_schema *schema = w->index->schema;
	const sx_header *h = &w->snapshot.header;
	uint64_t *key;
	int rc = sx_fresh_log_load(w->snapshot.txn, &w->index->fresh->log, h->first_seq,
				   h->next_seq, &w->fresh, err);

	if (rc)
		return rc;
	key = sx_realloc(NULL, w->fresh.n, sizeof(*key));
	w->order = sx_realloc(NULL, w->fresh.n, sizeof(*w->order));
	w->fresh_key = sx_realloc(NULL, w->fresh.n, sizeof(*w->fresh_key));
	for (size_t i = 0; key && i < w->fresh.n; i++)
		key[i] = sx_schema_order(schema, w->fresh.at[i].id, w->fresh.at[i].fp);
	if (!key || !w->order || !w->fresh_key || sx_sort_order(key, w->order, w->fresh.n, 0))
		rc = sx_fail_nomem(err);
	for (size_t i = 0; !rc && i < w->fresh.n; i++)
		w->fresh_key[i] = key[w->order[i]];
	free(key);
	return rc;
}

static void close_walk(void *walk)
{
	sx_local_walk *w = walk;

	if (!sx_store_check_fork(w->index->store, NULL)) {
		sx_cursor_close(w->postings);
		if (w->table.table)
			sx_table_walk_end(&w->table);
		sx_snapshot_end(&w->snapshot);
	}
	sx_rows_free(&w->table.rows);
	sx_rows_free(&w->row);
	free(w->fresh.at);
	free(w->order);
	free(w->fresh_key);
	free(w);
}

static int open_walk(const simidx *index, void **out, simidx_error *err)
{
	const sx_table *table;
	sx_local_walk *w = sx_calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return sx_fail_nomem(err);
	w->index = index;
	w->last_id = SIMIDX_NO_ID;
	sx_rows_init(&w->row, index->tables.postings.n_cols);
	/* In the first table of every plan, permuted values are the fingerprints themselves. */
	table = index->schema->has_ids ? &index->tables.docs : &index->tables.permuted[0];
	rc = sx_snapshot_begin(&w->snapshot, index, err);
	if (!rc)
		rc = load_fresh(w, err);
	if (!rc)
		rc = sx_table_walk_begin(&w->table, w->snapshot.txn, table, NULL, err);
	if (!rc && index->schema->columns.n)
		rc = sx_cursor_open(w->snapshot.txn, index->tables.postings.dbi, &w->postings, err);
	if (rc)
		close_walk(w);
	else
		*out = w;
	return rc;
}

int sx_local_walk_rewind(sx_local_walk *w, simidx_error *err)
{
	const sx_table *table = w->table.table;

	sx_table_walk_end(&w->table);
	w->at = 0;
	w->fresh_at = 0;
	w->table_ended = 0;
	w->n_rows = 0;
	w->digest = 0;
	w->label_sum = 0;
	w->documents = w->asked = w->notes = 0;
	w->last_id = SIMIDX_NO_ID;
	return sx_table_walk_begin(&w->table, w->snapshot.txn, table, NULL, err);
}

int sx_local_walk_label(sx_local_walk *w, uint64_t id, sx_slice *label, simidx_error *err)
{
	int rc = sx_documents_label(w->snapshot.txn, &w->index->tables, id, label, err);

	count_read(w);
	if (rc == SIMIDX_E_NOT_FOUND)
		rc = sx_fail(err, SIMIDX_E_CORRUPT, "table labels: an entry is missing");
	return rc;
}

/*
 * Nothing but the header tells that a page of an older commit has come back, or that a row without
 * columns has changed, as such a row has no checksum.
 */
static int check_table(sx_local_walk *w, simidx_error *err)
{
	const sx_table_count *count = sx_header_count(&w->snapshot.header, w->table.table->number);

	if (w->n_rows == count->rows && w->digest == count->digest)
		return SIMIDX_OK;
	return sx_fail(err, SIMIDX_E_CORRUPT,
		       "table %s: its entries are not those that were stored, by their number and "
		       "digest in the header", w->table.table->name);
}

/* Whether the table has a next row, loading the next piece if need be. */
static int table_row(sx_local_walk *w, int *has, simidx_error *err)
{
	int rc = SIMIDX_OK;

	if (!w->table_ended && w->at == w->table.rows.n) {
		rc = sx_table_walk_next(&w->table, err);
		w->at = 0;
		w->table_ended = rc == SIMIDX_E_END;
		if (w->table_ended)
			rc = check_table(w, err);
		for (size_t i = 0; !w->table_ended && !rc && i < w->table.rows.n; i++, w->n_rows++)
			w->digest += sx_table_row_hash(w->table.table, &w->table.rows, i);
	}
	*has = !w->table_ended;
	return rc;
}

/* Whether a fresh row is about an id. */
static int has_fresh_row(const sx_local_walk *w, uint64_t id)
{
	size_t i = sx_u64s_below(w->fresh_key, w->fresh.n, id);

	return i < w->fresh.n && w->fresh_key[i] == id;
}

/*
 * The bytes of labels have no checksum, but by_label has the hash of each with its id. Looking each
 * up there would read that table in no order; so the sum over all labels is compared with the sum
 * over the table. What fresh rows are about is left out in both: a merge that is half done may have
 * written it to by_label, and what was deleted stands there still.
 */
static int check_labels(sx_local_walk *w, simidx_error *err)
{
	const sx_table *by_label = &w->index->tables.by_label;
	sx_table_walk walk;
	uint64_t sum = 0;
	int rc;

	if (w->labels_are_checked || !w->index->schema->has_ids)
		return SIMIDX_OK;
	rc = sx_table_walk_begin(&walk, w->snapshot.txn, by_label, NULL, err);
	while (!rc && !(rc = sx_table_walk_next(&walk, err)))
		for (size_t i = 0; i < walk.rows.n; i++) {
			if (!has_fresh_row(w, walk.rows.col[SX_BY_LABEL_ID][i]))
				sum += sx_table_row_hash(by_label, &walk.rows, i);
			count_read(w);
		}
	sx_table_walk_end(&walk);
	if (rc != SIMIDX_E_END)
		return rc;
	if (sum != w->label_sum)
		return sx_fail(
			err, SIMIDX_E_CORRUPT,
			"table labels: some label is not the one that was stored, by the hashes "
			"in by_label");
	w->labels_are_checked = 1;
	return SIMIDX_OK;
}

/* Each has a checksum. After a walk that read all of them, missing ones are noticed, too. */
static int check_notes(const sx_local_walk *w, simidx_error *err)
{
	uint64_t has = w->snapshot.header.notes;

	if (w->asked != w->documents || w->notes == has)
		return SIMIDX_OK;
	return sx_fail(err, SIMIDX_E_CORRUPT,
		       "table notes: it has %" PRIu64 " notes of documents that are there, the "
		       "header says %" PRIu64, w->notes, has);
}

static int read_values(sx_local_walk *w, simidx_match *out, simidx_error *err)
{
	const sx_table *postings = &w->index->tables.postings;
	sx_sort_key place = { out->fp, out->id };
	int rc;

	w->row.n = 0;
	rc = sx_table_range(postings, w->postings, place, place, 1, &w->row, err);
	if (!rc && !w->row.n)
		rc = sx_documents_missing(out->id, err);
	if (!rc)
		sx_match_set_values(w->index, out, sx_table_values(postings, &w->row, 0));
	return rc;
}

static int take_table_row(sx_local_walk *w, simidx_match *out, simidx_error *err)
{
	uint64_t key = w->table.rows.key[w->at];

	if (!w->index->schema->has_ids) {
		out->id = SIMIDX_NO_ID;
		out->fp = key;
		w->at++;
		return SIMIDX_OK;
	}
	out->id = key;
	out->fp = w->table.rows.col[SX_DOCS_FP][w->at++];
	return w->postings ? read_values(w, out, err) : SIMIDX_OK;
}

/*
 * The last of the fresh rows with the next key, which are passed: it says what has become of the
 * document. What is there several times without ids is one fingerprint.
 */
static const sx_fresh_row *pass_fresh_rows(sx_local_walk *w)
{
	uint64_t key = w->fresh_key[w->fresh_at];

	while (w->fresh_at < w->fresh.n && w->fresh_key[w->fresh_at] == key)
		w->fresh_at++;
	return &w->fresh.at[w->order[w->fresh_at - 1]];
}

/* The next document, and its fresh row if it has one. SIMIDX_E_END without setting err. */
static int take_next(sx_local_walk *w, simidx_match *out, const sx_fresh_row **fresh,
		     simidx_error *err)
{
	for (;;) {
		const sx_fresh_row *row;
		int has_table, has_fresh = w->fresh_at < w->fresh.n;
		uint64_t key = has_fresh ? w->fresh_key[w->fresh_at] : 0;
		int rc = table_row(w, &has_table, err);

		if (rc)
			return rc;
		if (!has_table && !has_fresh)
			return SIMIDX_E_END;
		if (!has_fresh || (has_table && w->table.rows.key[w->at] < key))
			return take_table_row(w, out, err);
		/* In both: the fresh rows are the newer ones. */
		if (has_table && w->table.rows.key[w->at] == key)
			w->at++;
		row = pass_fresh_rows(w);
		if (sx_fresh_is_delete(row))
			continue;
		out->id = row->id;
		out->fp = row->fp;
		sx_match_set_values(w->index, out, row->values);
		*fresh = row;
		return SIMIDX_OK;
	}
}

/* The label of a document, of which `fresh` is the fresh row, or NULL. */
static int add_label(sx_local_walk *w, simidx_match *out, const sx_fresh_row *fresh,
		     simidx_error *err)
{
	int rc, is_missing;
	sx_slice label;
	uint64_t hash;

	rc = sx_documents_label(w->snapshot.txn, &w->index->tables, out->id, &label, err);
	is_missing = rc == SIMIDX_E_NOT_FOUND;
	if (rc && !is_missing)
		return rc;
	hash = is_missing ? 0 : sx_hash(label.data, label.size);
	if (fresh && (is_missing == !!(fresh->op & SX_FRESH_LABEL) ||
		      (!is_missing && hash != fresh->label_hash)))
		return sx_documents_label_damaged(out->id, err);
	if (is_missing)
		return SIMIDX_OK;
	if (!fresh)
		w->label_sum += sx_hash_u64_pair(hash, out->id);
	out->label = label.data;
	out->label_size = label.size;
	out->flags |= SIMIDX_MATCH_LABEL;
	return SIMIDX_OK;
}

static int next(void *walk, simidx_match *out, simidx_error *err)
{
	sx_local_walk *w = walk;
	const sx_fresh_row *fresh = NULL;
	int rc;

	count_read(w);
	w->last_id = SIMIDX_NO_ID;
	rc = take_next(w, out, &fresh, err);
	if (rc == SIMIDX_E_END) {
		rc = check_labels(w, err);
		if (!rc)
			rc = check_notes(w, err);
		return rc ? rc : SIMIDX_E_END;
	}
	if (!rc && w->index->schema->has_ids)
		rc = add_label(w, out, fresh, err);
	if (!rc) {
		w->last_id = out->id;
		w->last_op = fresh ? fresh->op : 0;
		w->is_asked = 0;
		w->documents++;
	}
	return rc;
}

static int note(void *walk, sx_slice *note, simidx_error *err)
{
	sx_local_walk *w = walk;
	int rc;

	if (w->last_id == SIMIDX_NO_ID)
		return sx_fail(err, SIMIDX_E_STATE, "the walk has delivered no document");
	rc = sx_notes_get(w->snapshot.txn, &w->index->tables, w->last_id, note, err);
	count_read(w);
	w->asked += !w->is_asked;
	w->notes += !w->is_asked && !rc;
	w->is_asked = 1;
	if ((!rc || rc == SIMIDX_E_NOT_FOUND) && w->last_op &&
	    !rc != !!(w->last_op & SX_FRESH_NOTE))
		return sx_fail(err, SIMIDX_E_CORRUPT,
			       "table notes: document %" PRIu64 " has %s, against what the log "
								"says",
			       w->last_id, rc ? "none" : "one");
	return rc;
}

const sx_backend_walk sx_local_walks = { open_walk, next, note, close_walk };
