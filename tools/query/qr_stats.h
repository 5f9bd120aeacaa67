/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Figures that stats prints, worked out from what the library tells.
 */

#ifndef QR_STATS_H
#define QR_STATS_H

#include <simidx_admin.h>

#include "query/qr_command.h"

/** A sub-database; the name is a copy. */
struct qr_table {
	char name[32];
	simidx_table_info info;
};

/** Documents whose second fingerprint is not known. */
uint64_t qr_unknown_fp2(const struct qr_table *tables, size_t n);

/** "blocks" or "rows". */
const char *qr_layout_name(const simidx_info *info);

/** Bytes of the file in use for each document, or -1 without documents. */
double qr_bytes_per_document(const simidx_info *info);

/** Bytes of a sub-database's pages for each entry, or -1 without entries. */
double qr_bytes_per_entry(const simidx_table_info *table, uint64_t page_bytes);

/** Share of a sub-database's pages that its entries fill, 0..1, or -1 without pages. */
double qr_table_fill(const simidx_table_info *table, uint64_t page_bytes);

/**
 * The information in a set of n distinct values of `bits` bits, log2(C(2^bits, n)) / n bits
 * an entry: no table of random fingerprints can be smaller. -1 for n = 0.
 */
double qr_limit_bits(unsigned bits, uint64_t n);

#endif /* QR_STATS_H */
