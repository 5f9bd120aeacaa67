/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What an engine says of an index (sx_backend.h).
 */

#ifndef SX_REMOTE_INFO_H
#define SX_REMOTE_INFO_H

#include "index/sx_index.h"
#include "remote/sx_engine.h"

extern const sx_backend_place sx_remote_info;

#endif /* SX_REMOTE_INFO_H */
