/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* What a gateway can take at all. */

#ifndef BN_HBASE_ROWS_H
#define BN_HBASE_ROWS_H

#include <stdint.h>

#include <simidx.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Put the rows that documents have in the tables of the plan of an index, and nothing else: no
 * journal, no rows of documents, and nothing that waits for something before it. The index is of no
 * use afterwards.
 *
 * @param fingerprint  of document i
 * @param rows         set to their number
 */
int bn_hbase_rows(const char *uri, uint64_t documents, uint64_t (*fingerprint)(uint64_t i),
		  uint64_t *rows, simidx_error *err);

#ifdef __cplusplus
}
#endif

#endif /* BN_HBASE_ROWS_H */
