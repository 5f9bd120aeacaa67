/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What holds the tables of an index, or is to hold them, by its path: the only place that knows
 * both sides of the seam (sx_backend.h).
 */

#ifndef SX_HOLDER_H
#define SX_HOLDER_H

#include "index/sx_index.h"
#include "remote/sx_engine.h"

typedef struct sx_holder {
	const sx_backend *backend;
	const simidx_engine *engine; /* NULL: a directory of this machine */
	const char *name;            /* for people */
} sx_holder;

/** SIMIDX_OK; SIMIDX_E_UNSUPPORTED: the path is a URI whose scheme no engine has. */
int sx_holder_find(const char *path, sx_holder *out, simidx_error *err);

/**
 * SIMIDX_E_UNSUPPORTED from the function that is named, for the path of an index without a
 * capability; the codes of sx_holder_find().
 */
int sx_holder_need(const char *path, enum sx_capability capability, simidx_error *err);

#endif /* SX_HOLDER_H */
