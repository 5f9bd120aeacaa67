/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * An engine, as what holds the tables of an index (sx_backend.h).
 */

#ifndef SX_REMOTE_H
#define SX_REMOTE_H

#include "index/sx_backend.h"

extern const sx_backend sx_remote_backend;

#endif /* SX_REMOTE_H */
