/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Checking and mending an index: check() of simidx_engine.h.
 */

#ifndef RD_CHECK_H
#define RD_CHECK_H

#include "rd_index.h"

int rd_check(void *state, simidx_engine_check *check, simidx_error *err);

#endif /* RD_CHECK_H */
