/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <string.h>

#include "table/sx_table.h"
#include "util/sx_err.h"

/* The digest counts the row that is stored, not the one that a removal was asked with. */
static int remove_row(sx_txn *txn, const sx_table *table, sx_slice key, sx_slice value,
		      sx_delta *delta, simidx_error *err)
{
	sx_rows row;
	int rc;

	sx_rows_init(&row, table->n_cols);
	rc = sx_table_row_decode(table, key, value, &row, err);
	if (!rc) {
		delta->digest -= sx_table_row_hash(table, &row, 0);
		rc = sx_dbi_del(txn, table->dbi, key, err);
	}
	sx_rows_free(&row);
	return rc;
}

int sx_table_merge_rows(sx_txn *txn, const sx_table *table, const sx_changes *changes,
			size_t *done, uint64_t max_written, sx_delta *delta, simidx_error *err)
{
	const sx_rows *rows = changes->rows;
	unsigned char key_bytes[SX_TABLE_MAX_KEY], value_bytes[8 * SX_MAX_COLS];

	for (; *done < rows->n && delta->written < max_written; ++*done) {
		size_t i = *done;
		int remove = changes->remove && changes->remove[i];
		sx_slice key = { key_bytes, 0 }, value = { value_bytes, 0 }, old;
		int rc;

		key.size = sx_table_key(table, sx_place_of(table, rows, i), key_bytes);
		rc = sx_dbi_get(txn, table->dbi, key, &old, err);
		if (rc && rc != SIMIDX_E_NOT_FOUND)
			return rc;
		if ((rc == SIMIDX_OK) != remove)
			continue;
		if (remove) {
			rc = remove_row(txn, table, key, old, delta, err);
		} else {
			value.size = sx_table_row_encode(table, rows, i, value_bytes);
			delta->digest += sx_table_row_hash(table, rows, i);
			rc = sx_dbi_put(txn, table->dbi, key, value, err);
		}
		if (rc)
			return rc;
		delta->rows += remove ? -1 : 1;
		delta->written++;
	}
	return SIMIDX_OK;
}
