/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Writers of a directory: its write lock, its log, its labels and merges (sx_backend.h).
 */

#ifndef SX_LOCAL_WRITER_H
#define SX_LOCAL_WRITER_H

#include "write/sx_writer.h"

extern const sx_backend_writer sx_local_writer;

#endif /* SX_LOCAL_WRITER_H */
