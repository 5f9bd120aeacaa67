/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Opening, making and describing an index in Redis: calls of simidx_engine.h.
 */

#ifndef RD_OPEN_H
#define RD_OPEN_H

#include "rd_index.h"

int rd_open(const char *uri, const simidx_engine_open *how, void **state, simidx_error *err);
void rd_close(void *state);
int rd_info(void *state, simidx_engine_info *out, simidx_error *err);

#endif /* RD_OPEN_H */
