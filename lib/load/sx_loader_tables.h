/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The tables of a new index, from its documents sorted by fingerprint.
 */

#ifndef SX_LOADER_TABLES_H
#define SX_LOADER_TABLES_H

#include "load/sx_loader_state.h"

/** Write postings, by_label and the permuted tables; empties output.by_fp and output.by_label. */
int sx_loader_write_tables(simidx_loader *loader, simidx_error *err);

#endif /* SX_LOADER_TABLES_H */
