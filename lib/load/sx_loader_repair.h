/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What a repair asks of a bulk loader besides what simidx_load.h has.
 */

#ifndef SX_LOADER_REPAIR_H
#define SX_LOADER_REPAIR_H

#include <simidx_load.h>

/**
 * What stands for a second fingerprint that is not known: the value of none of the documents that
 * are put. Before the first one.
 */
void sx_loader_set_unknown_fp2(simidx_loader *loader, uint64_t value);

/** How many documents were put, those that were refused included. */
uint64_t sx_loader_rows(const simidx_loader *loader);

/** Where it makes temporary files. Valid as long as the loader. */
const char *sx_loader_temporary(const simidx_loader *loader);

#endif /* SX_LOADER_REPAIR_H */
