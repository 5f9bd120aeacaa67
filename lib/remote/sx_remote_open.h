/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Opening and making an index that an engine holds.
 */

#ifndef SX_REMOTE_OPEN_H
#define SX_REMOTE_OPEN_H

#include "index/sx_index.h"
#include "remote/sx_engine.h"

/**
 * Open a URI.
 *
 * @param options  how to open it, checked; NULL = the defaults
 * @param create   what to make where there is nothing, checked; NULL = the defaults
 * @param flags    of simidx_engine_open: whether to make it
 * @return SIMIDX_OK; SIMIDX_E_UNSUPPORTED: the engine does not have the plan, or is to hold an
 *         index without ids; the codes of the engine's open()
 */
int sx_remote_open(const simidx_engine *engine, const char *uri,
		   const simidx_open_options *options, const simidx_create_options *create,
		   unsigned flags, simidx **out, simidx_error *err);

#endif /* SX_REMOTE_OPEN_H */
