/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Old documents of an index that an engine holds. The engine says which ones they are, or they are
 * found by a walk over all; then they are looked up, so that what is deleted is what is there.
 */

#ifndef SX_REMOTE_OLDER_H
#define SX_REMOTE_OLDER_H

#include "index/sx_backend.h"
#include "remote/sx_doc_cache.h"
#include "write/sx_writer.h"

/**
 * As sx_backend_writer.older.
 *
 * @param cache  of the transaction
 */
int sx_remote_older(simidx_writer *writer, sx_doc_cache *cache, sx_older *older,
		    simidx_error *err);

#endif /* SX_REMOTE_OLDER_H */
