/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What a directory says of itself (sx_backend.h).
 */

#ifndef SX_LOCAL_INFO_H
#define SX_LOCAL_INFO_H

#include "index/sx_index.h"

extern const sx_backend_place sx_local_info;

#endif /* SX_LOCAL_INFO_H */
