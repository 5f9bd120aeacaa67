/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Single cells of a table, past the engine: how tests damage an index. */

#ifndef HT_RAW_H
#define HT_RAW_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Use the gateway of this port of this machine from now on. */
void ht_raw_gateway(int port);

/** From now on the clock is ahead by so many milliseconds, or behind where it is below 0. */
void ht_raw_clock(int64_t ms);

/** What that clock says, in milliseconds since 1970. */
int64_t ht_raw_now(void);

/** Store a cell with a timestamp of now. */
void ht_raw_put(const char *table, const void *row, size_t row_size, const char *column,
		const void *value, size_t size);

/** Delete a cell as of now. */
void ht_raw_remove(const char *table, const void *row, size_t row_size, const char *column);

/** The key of a document's row: 10 bytes. */
void ht_raw_document(uint64_t id, unsigned char key[10]);

/** The key of a row of the index: 21 bytes. `prefix` aligned to the left, `table` from 0. */
void ht_raw_row(unsigned table, uint32_t prefix, uint64_t fp, uint64_t id, unsigned char key[21]);

#ifdef __cplusplus
}
#endif

#endif /* HT_RAW_H */
