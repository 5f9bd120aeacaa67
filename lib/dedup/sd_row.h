/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A row of the caller's, copied.
 */

#ifndef SD_ROW_H
#define SD_ROW_H

#include <simidx_dedup.h>

/** Bytes that it points to. */
size_t sd_row_bytes(const simidx_dedup_row *row);

/**
 * Copy a row with all that it points to.
 *
 * @return what the copy points to, for the caller to free; NULL: out of memory
 */
char *sd_row_copy(simidx_dedup_row *to, const simidx_dedup_row *from);

/**
 * Make the sketch of a text without tokens. All its bytes are one feature: it is near to the same
 * bytes alone. Returns what simidx_sketch_make() does.
 */
int sd_row_sketch_bytes(const simidx_dedup_row *row, unsigned flags, simidx_sketch *sketch,
			simidx_error *err);

#endif /* SD_ROW_H */
