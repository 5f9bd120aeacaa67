/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_info.h>

#include "index/sx_info.h"
#include "index/sx_snapshot.h"
#include "table/sx_table_walk.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"

void sx_info_describe(const simidx *index, const sx_header *h, simidx_info *out)
{
	out->bits = index->schema->bits;
	out->layout = index->schema->layout;
	out->flags = index->schema->flags;
	out->fill = index->schema->fill;
	out->n_tables = index->schema->plan.n_tables;
	out->format_major = index->schema->format_major;
	out->format_minor = index->schema->format_minor;
	out->plan = index->schema->plan.name;
	out->profile = index->schema->profile.text;
	out->check_fps = index->schema->profile.check_fps;
	out->n_check_fps = index->schema->profile.n_check_fps;
	out->distinct = h->table[0].rows;
	out->fresh_rows = h->next_seq - h->first_seq;
	/* Without ids, rows that repeat a fingerprint are told apart only by the merge. */
	out->documents = index->schema->has_ids ? h->documents : out->distinct + out->fresh_rows;
	out->next_id = index->schema->has_ids ? h->next_id : SIMIDX_NO_ID;
	out->labels = h->labels;
	out->notes = h->notes;
}

int simidx_get_info(simidx *index, simidx_info *out, simidx_error *err)
{
	simidx_info own, *info;
	int rc;

	sx_err_clear(err);
	info = sx_struct_begin(out, sizeof(size_t), &own, sizeof(own));
	if (!index || !info)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_get_info: bad index or struct size");
	rc = index->backend->place->info(index, info, err);
	sx_struct_end(out, info, sizeof(*info));
	return rc;
}

/* ---- one sub-database ---- */

/* Sub-database number i: the permuted tables, then these; without ids the fresh rows alone. */
enum { POSTINGS = SX_COUNT_POSTINGS, DOCS = SX_COUNT_DOCS, FRESH, LABELS, BY_LABEL, NOTES };

/* Entries and their bytes, by visiting every block. */
static int measure(const sx_snapshot *s, const sx_table *table, simidx_table_info *out,
		   simidx_error *err)
{
	int counts = s->index->schema->has_unknown_fp2 && table->columns;
	sx_table_walk walk;
	int rc = sx_table_walk_begin(&walk, s->txn, table, NULL, err);

	while (!rc && !(rc = sx_table_walk_next(&walk, err))) {
		out->entries += walk.rows.n;
		out->bytes_used += walk.used;
		for (size_t i = 0; counts && i < walk.rows.n; i++) {
			sx_values values = sx_table_values(table, &walk.rows, i);

			out->unknown_fp2 += sx_is_unknown_fp2(s->index, values.of[SX_FP2]);
		}
	}
	sx_table_walk_end(&walk);
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

static int measure_bytes(sx_txn *txn, sx_dbi dbi, simidx_table_info *out, simidx_error *err)
{
	sx_slice key, value;
	sx_cursor *cursor;
	int rc = sx_cursor_open(txn, dbi, &cursor, err);

	if (rc)
		return rc;
	for (rc = sx_cursor_first(cursor, &key, &value, err); !rc;
	     rc = sx_cursor_next(cursor, &key, &value, err)) {
		out->entries++;
		out->bytes_used += key.size + value.size;
	}
	sx_cursor_close(cursor);
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

static int describe_table(const sx_snapshot *s, const sx_table *table, sx_dbi dbi,
			  simidx_table_info *out, simidx_error *err)
{
	sx_dbi_stat stat;
	int rc = sx_dbi_stat_get(s->txn, dbi, &stat, err);

	if (rc)
		return rc;
	out->keys = stat.keys;
	out->pages = stat.branch_pages + stat.leaf_pages + stat.overflow_pages;
	out->overflow_pages = stat.overflow_pages;
	return table ? measure(s, table, out, err)
		     : measure_bytes(s->txn, dbi, out, err);
}

static int describe_number(const simidx *index, const sx_snapshot *s, unsigned i,
			   simidx_table_info *out, simidx_error *err)
{
	const sx_tables *t = &index->tables;
	const sx_table *others[NOTES + 1] = { [POSTINGS] = &t->postings,
					   [DOCS] = &t->docs,
					   [FRESH] = &index->fresh->log,
					   [BY_LABEL] = &t->by_label };
	const sx_table *table;
	unsigned n = index->schema->plan.n_tables, other = FRESH;
	unsigned n_others = index->schema->has_ids ? NOTES + index->schema->has_notes : 1;

	if (i >= n + n_others)
		return sx_fail(err, SIMIDX_E_END, "there are no more sub-databases");
	if (i < n) {
		table = &t->permuted[i];
		out->prefix_bits = index->schema->plan.table[i].prefix_bits;
		out->prefix_mask = index->schema->plan.table[i].prefix_mask;
		out->digest = s->header.table[i].digest;
	} else {
		if (index->schema->has_ids)
			other = i - n;
		table = others[other];
		if (other < SX_COUNT_OTHERS)
			out->digest = s->header.other[other].digest;
	}
	out->name = table ? table->name : other == NOTES ? "notes" : "labels";
	return describe_table(s, table, table ? table->dbi : other == NOTES ? t->notes : t->labels,
			      out, err);
}

int simidx_get_table_info(simidx *index, unsigned i, simidx_table_info *out, simidx_error *err)
{
	simidx_table_info own, *info;
	sx_snapshot s;
	int rc;

	sx_err_clear(err);
	info = sx_struct_begin(out, sizeof(size_t), &own, sizeof(own));
	if (!index || !info)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_get_table_info: bad index or struct size");
	rc = sx_index_need(index, SX_HAS_TABLES, "simidx_get_table_info", err);
	if (rc)
		return rc;
	rc = sx_snapshot_begin(&s, index, err);
	if (!rc) {
		rc = describe_number(index, &s, i, info, err);
		sx_snapshot_end(&s);
	}
	sx_struct_end(out, info, sizeof(*info));
	return rc;
}

/* ---- the mark ---- */

int simidx_get_mark(simidx *index, void *buffer, size_t size, size_t *n, simidx_error *err)
{
	int rc;

	sx_err_clear(err);
	if (n)
		*n = 0;
	if (!index || !n || (!buffer && size))
		return sx_fail(err, SIMIDX_E_ARG, "simidx_get_mark: index, buffer or n is NULL");
	rc = index->backend->place->get_mark(index, buffer, size, n, err);
	return rc == SIMIDX_E_NOT_FOUND ? sx_fail(err, rc, "no mark is stored") : rc;
}
