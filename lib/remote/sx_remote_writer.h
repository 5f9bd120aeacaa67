/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Writers of an index that an engine holds (sx_backend.h). Pending rows are in the memtable as
 * those of any other; what they come to for each document goes to the engine with the commit.
 */

#ifndef SX_REMOTE_WRITER_H
#define SX_REMOTE_WRITER_H

#include "remote/sx_doc_cache.h"
#include "write/sx_writer.h"

extern const sx_backend_writer sx_remote_writer;

#endif /* SX_REMOTE_WRITER_H */
