/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The rows of prefixes: scan() of simidx_engine.h. All commands of a step are sent together, and
 * each reads many keys.
 */

#ifndef RD_SCAN_H
#define RD_SCAN_H

#include <simidx_engine.h>

int rd_scan(void *state, const simidx_engine_probe *probe, size_t n, simidx_engine_rows rows,
	    void *ctx, uint64_t *version, simidx_engine_cost *cost, simidx_error *err);

#endif /* RD_SCAN_H */
