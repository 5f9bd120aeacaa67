/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A writer of an index that an engine holds. Its pending rows are in the memtable as those of any
 * other; what they come to for each document goes to the engine with the commit.
 */

#ifndef SX_WRITER_ENGINE_H
#define SX_WRITER_ENGINE_H

#include "index/sx_snapshot.h"

typedef struct sx_writer_engine {
	sx_known known;     /* of the transaction */
	uint64_t ids;       /* the next one of those that are reserved, */
	uint64_t n_ids;     /* and how many there are */
	uint64_t block;     /* ids that were reserved last */
	uint64_t hint;      /* documents without ids that were announced */
	uint64_t given_end; /* above all ids that callers have given */
	int has_leases;
} sx_writer_engine;

/** NULL when memory is short. */
sx_writer_engine *sx_writer_engine_new(void);

/** NULL is allowed. */
void sx_writer_engine_free(sx_writer_engine *engine);

/** An id above all others that this writer knows of. */
int sx_writer_engine_id(sx_writer_engine *engine, simidx *index, uint64_t at_least, uint64_t *id,
			simidx_error *err);

/**
 * Take leases on all prefixes of a fingerprint, where the engine has them: nobody else adds a
 * document near it that shares one of them until the transaction ends.
 */
int sx_writer_engine_lease(sx_writer_engine *engine, simidx *index, uint64_t fp, int wait_ms,
			   simidx_error *err);

/**
 * Store what pending rows come to.
 *
 * @return SIMIDX_OK; SIMIDX_E_UNKNOWN; SIMIDX_E_STATE: a lease had expired; other codes of the engine
 */
int sx_writer_engine_store(sx_writer_engine *engine, const sx_snapshot *snapshot,
			   const sx_fresh_rows *pending, const sx_mark *mark, unsigned durability,
			   simidx_error *err);

/** End a transaction: give back the leases, forget what was known. */
void sx_writer_engine_end(sx_writer_engine *engine, simidx *index);

#endif /* SX_WRITER_ENGINE_H */
