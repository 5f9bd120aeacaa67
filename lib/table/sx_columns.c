/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "table/sx_columns.h"

#include <simidx.h>

const sx_column_kind sx_column_kinds[SX_MAX_COLUMNS] = {
	[SX_FP2] = { "fp2", 8, 1, 0, SIMIDX_CREATE_FP2 },
	[SX_TIME] = { "time", 4, 1, 0, SIMIDX_CREATE_TIMES },
};

uint32_t sx_columns_flags(void)
{
	uint32_t flags = 0;

	for (unsigned c = 0; c < SX_MAX_COLUMNS; c++)
		flags |= sx_column_kinds[c].flag;
	return flags;
}

sx_columns sx_columns_of_flags(uint32_t flags)
{
	sx_columns columns = { 0 };

	for (unsigned char c = 0; c < SX_MAX_COLUMNS; c++)
		if (flags & sx_column_kinds[c].flag)
			columns.kind[columns.n++] = c;
	return columns;
}
