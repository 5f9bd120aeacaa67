/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Checking and mending what an engine holds: the engine compares its rows and documents with each
 * other, and asks here which rows a document should have (sx_backend.h).
 */

#ifndef SX_REMOTE_CHECK_H
#define SX_REMOTE_CHECK_H

#include "index/sx_index.h"
#include "remote/sx_engine.h"

/**
 * sx_backend.check(). SIMIDX_E_CORRUPT where problems are left; the codes of an engine's check().
 */
int sx_remote_check(const simidx *index, unsigned flags,
		    void (*callback)(void *ctx, const simidx_problem *problem), void *ctx,
		    simidx_verify_report *out, simidx_error *err);

#endif /* SX_REMOTE_CHECK_H */
