/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What one sub-database of an index holds, and what space it takes.
 */

#include <simidx_info.h>

#include "index/sx_snapshot.h"
#include "table/sx_table_walk.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"

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

static int describe(sx_snapshot *s, unsigned i, simidx_table_info *out, simidx_error *err)
{
	const simidx *index = s->index;
	const sx_plan *plan = &index->schema->plan;
	const sx_table_count *count;
	sx_database database;
	sx_dbi_stat stat;
	int rc;

	if (i >= sx_tables_count(index->schema))
		return sx_fail(err, SIMIDX_E_END, "there are no more sub-databases");
	database = sx_tables_number(&index->tables, &index->fresh->log, index->schema, i);
	count = database.table ? sx_header_count(&s->header, database.table->number) : NULL;
	out->name = database.name;
	out->digest = count ? count->digest : 0;
	out->prefix_bits = i < plan->n_tables ? plan->table[i].prefix_bits : 0;
	out->prefix_mask = i < plan->n_tables ? plan->table[i].prefix_mask : 0;
	rc = sx_dbi_stat_get(s->txn, database.dbi, &stat, err);
	if (rc)
		return rc;
	out->keys = stat.keys;
	out->pages = stat.branch_pages + stat.leaf_pages + stat.overflow_pages;
	out->overflow_pages = stat.overflow_pages;
	return database.table ? measure(s, database.table, out, err)
			      : measure_bytes(s->txn, database.dbi, out, err);
}

int simidx_get_table_info(simidx *index, unsigned i, simidx_table_info *out, simidx_error *err)
{
	simidx_table_info own, *info;
	sx_snapshot s;
	int rc;

	sx_err_clear(err);
	info = sx_struct_begin(out, sizeof(size_t), &own, sizeof(own));
	if (!index || !info)
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_get_table_info: bad index or struct size");
	rc = sx_index_need(index, SX_HAS_TABLES, err);
	if (rc)
		return rc;
	rc = sx_snapshot_begin(&s, index, err);
	if (!rc) {
		rc = describe(&s, i, info, err);
		sx_snapshot_end(&s);
	}
	sx_struct_end(out, info, sizeof(*info));
	return rc;
}
