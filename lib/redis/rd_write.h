/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Storing batches, and ids: calls of simidx_engine.h.
 */

#ifndef RD_WRITE_H
#define RD_WRITE_H

#include "rd_index.h"

int rd_begin(void *state, simidx_error *err);
int rd_resume(void *state, simidx_error *err);
int rd_write(void *state, const simidx_engine_batch *batch, simidx_error *err);
int rd_reserve_ids(void *state, uint64_t n, uint64_t at_least, uint64_t *first, simidx_error *err);

#endif /* RD_WRITE_H */
