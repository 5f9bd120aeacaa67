/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The tables of a directory, as what holds an index (sx_backend.h).
 */

#ifndef SX_LOCAL_H
#define SX_LOCAL_H

#include "index/sx_backend.h"

extern const sx_backend sx_local_backend;

#endif /* SX_LOCAL_H */
