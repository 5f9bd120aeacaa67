/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Verifying an index that an engine holds.
 */

#ifndef SX_VERIFY_ENGINE_H
#define SX_VERIFY_ENGINE_H

#include <simidx_admin.h>

#include "index/sx_index.h"

/**
 * Have the engine that holds an index check it.
 *
 * @param flags  of simidx_engine_check
 * @param out    may be NULL
 * @return SIMIDX_OK: all is sound, or mended; SIMIDX_E_CORRUPT
 */
int sx_verify_engine(simidx *index, unsigned flags,
		     void (*callback)(void *ctx, const simidx_problem *problem), void *ctx,
		     simidx_verify_report *out, simidx_error *err);

#endif /* SX_VERIFY_ENGINE_H */
