/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "repair/sx_repair_read.h"

#include <string.h>

#include "util/sx_bytes.h"
#include "util/sx_err.h"

#define ROWS_AT_ONCE 256

struct reading {
	sx_repair *r;
	const sx_table *table;
	sx_repair_rows_fn *take;
	sx_repair_tally *tally; /* or NULL */
	sx_rows rows;
	int has_last;
	sx_sort_key last; /* entry of the last block that was sound */
};

/* What is damaged is told; anything else ends the repair. */
static int pass_over(struct reading *g, const simidx_error *err)
{
	if (err->code != SIMIDX_E_CORRUPT)
		return sx_fail(g->r->err, err->code, "%s", err->text);
	if (g->tally)
		sx_repair_tell_damage(g->r, g->table->name, err->text);
	return SIMIDX_OK;
}

static int hand_over(struct reading *g)
{
	int rc = SIMIDX_OK;

	for (size_t i = 0; g->tally && i < g->rows.n; i++)
		g->tally->digest += sx_table_row_hash(g->table, &g->rows, i);
	if (g->tally)
		g->tally->rows += g->rows.n;
	if (g->take && g->rows.n)
		rc = g->take(g->r, g->table, &g->rows);
	g->rows.n = 0;
	return rc;
}

/*
 * A block that has changed places with another one has the right checksum. Its entries show it:
 * they ascend from those of the block before and do not pass its key. A key that is wrong itself
 * costs this block alone, as the next one is compared with the entries and not with the key.
 */
static int read_block(struct reading *g, sx_slice key, sx_slice value)
{
	simidx_error err = { 0 };
	sx_sort_key fence;
	int rc = sx_table_block_decode(g->table, key, value, &g->rows, NULL, &err);

	if (!rc)
		rc = sx_table_check_order(g->table, key, &g->rows, g->has_last ? &g->last : NULL,
					  &fence, &err);
	if (!rc) {
		g->last = sx_sort_key_of(g->table, &g->rows, g->rows.n - 1);
		g->has_last = 1;
		return hand_over(g);
	}
	g->rows.n = 0;
	return pass_over(g, &err);
}

static int read_row(struct reading *g, sx_slice key, sx_slice value)
{
	simidx_error err = { 0 };
	int rc = sx_table_row_decode(g->table, key, value, &g->rows, &err);

	if (rc)
		return pass_over(g, &err);
	return g->rows.n == ROWS_AT_ONCE ? hand_over(g) : SIMIDX_OK;
}

/*
 * Call `see` for each key of a table of the store. Where LMDB itself cannot go on, the rest is
 * lost, and told with `name` unless that is NULL.
 */
static int read_keys(sx_repair *r, sx_dbi dbi, const char *name,
		     int (*see)(void *ctx, sx_slice key, sx_slice value), void *ctx)
{
	simidx_error err = { 0 };
	sx_slice key, value;
	sx_cursor *cursor;
	int rc;

	if (dbi == SX_DBI_NONE) {
		if (name)
			sx_repair_tell_damage(r, name, "the table is missing");
		return SIMIDX_OK;
	}
	rc = sx_cursor_open(r->snapshot.txn, dbi, &cursor, r->err);
	if (rc)
		return rc;
	rc = sx_cursor_first(cursor, &key, &value, &err);
	while (!rc) {
		rc = see(ctx, key, value);
		if (!rc)
			rc = sx_repair_progress(r, "reading");
		if (rc)
			break;
		rc = sx_cursor_next(cursor, &key, &value, &err);
	}
	sx_cursor_close(cursor);
	if (rc == SIMIDX_E_END)
		return SIMIDX_OK;
	if (!err.code)
		return rc; /* of ours, and told */
	if (rc != SIMIDX_E_CORRUPT)
		return sx_fail(r->err, rc, "%s", err.text);
	if (name)
		sx_repair_tell_damage(r, name, err.text);
	return SIMIDX_OK;
}

static int see_key(void *ctx, sx_slice key, sx_slice value)
{
	struct reading *g = ctx;

	return g->table->layout == SIMIDX_LAYOUT_BLOCKS ? read_block(g, key, value)
							: read_row(g, key, value);
}

int sx_repair_read_table(sx_repair *r, const sx_table *table, sx_repair_rows_fn *take,
			 sx_repair_tally *tally)
{
	struct reading g = { .r = r, .table = table, .take = take, .tally = tally };
	int rc;

	if (tally)
		memset(tally, 0, sizeof(*tally));
	sx_rows_init(&g.rows, table->n_cols);
	rc = read_keys(r, table->dbi, tally ? table->name : NULL, see_key, &g);
	if (!rc)
		rc = hand_over(&g);
	sx_rows_free(&g.rows);
	return rc;
}

/* ---- labels ---- */

struct labels {
	sx_repair *r;
	sx_repair_label_fn *take;
};

static int see_label(void *ctx, sx_slice key, sx_slice value)
{
	struct labels *g = ctx;

	if (key.size == 8 && value.size && value.size <= SIMIDX_MAX_LABEL)
		return g->take(g->r, sx_load_be64(key.data), value);
	sx_repair_tell_damage(g->r, "labels", "an entry has a key or value of a wrong size");
	return SIMIDX_OK;
}

int sx_repair_read_labels(sx_repair *r, sx_repair_label_fn *take)
{
	struct labels g = { r, take };

	return read_keys(r, r->old->tables.labels, "labels", see_label, &g);
}
