/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Some rows of a table, by a cursor: for look-ups of single ids and labels.
 */

#ifndef SX_TABLE_RANGE_H
#define SX_TABLE_RANGE_H

#include "table/sx_table.h"

/**
 * Append the rows in [low, high] to `rows`, the first `limit` of them (0 = all).
 *
 * @param cursor  of this table's dbi
 * @return SIMIDX_OK, also if there are none; SIMIDX_E_CORRUPT, SIMIDX_E_NOMEM
 */
int sx_table_range(const sx_table *table, sx_cursor *cursor, sx_sort_key low, sx_sort_key high,
		   uint64_t limit, sx_rows *rows, simidx_error *err);

#endif /* SX_TABLE_RANGE_H */
