/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Queries of a batch in an index that an engine holds: they share each wait for an answer.
 */

#ifndef SX_REMOTE_BATCH_H
#define SX_REMOTE_BATCH_H

#include "search/sx_reader.h"

extern const sx_backend_bulk sx_remote_bulk;

#endif /* SX_REMOTE_BATCH_H */
