/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A writer's transaction: begun with the first call that needs it, ended by a commit or a
 * rollback. Its changes are rows that wait for the commit; what holds the tables has the bytes of
 * labels already (sx_backend.h).
 */

#ifndef SX_WRITER_H
#define SX_WRITER_H

#include "search/sx_reader.h"
#include "util/sx_u64s.h"
#include "write/sx_ahead.h"
#include "write/sx_calls.h"

struct simidx_writer {
	const simidx *index;
	simidx_writer_options options;
	int locked;            /* the lock is held */
	sx_snapshot snapshot;  /* of the write transaction, its header as the commit will have it */
	sx_fresh_rows pending; /* changes since the last commit; not stored yet */
	uint64_t changes;      /* documents that they are about */
	uint32_t now;          /* when the transaction has begun */
	uint64_t stored;       /* those that this writer has committed */
	unsigned merge_state;  /* enum simidx_merge_state, of the last commit */
	int uses_memtable;     /* pending rows are in the memtable, too */
	sx_mark mark;          /* for the next commit */
	int reserves_ids;      /* the next commit has a next id that was raised */
	void *held;            /* of what holds the tables */
	simidx_reader *reader; /* sees what is pending; NULL until it is asked for */
	sx_ahead ahead;        /* queries of the calls that come next */
	/* Where commits may refuse changes: */
	int has_conditions;
	sx_calls calls;     /* of the transaction */
	sx_conditions conditions; /* of its changes */
	sx_u64s refused;          /* documents whose change the last commit has refused */
};

/** Take the lock and begin a transaction, if there is none. The codes of simidx_writer_begin(). */
int sx_writer_begin(simidx_writer *writer, simidx_error *err);

/**
 * End the transaction and begin another one, without giving the lock up between them. A mark
 * that waits for the commit still does.
 */
int sx_writer_renew(simidx_writer *writer, simidx_error *err);

/** Give up the transaction, the lock and what was changed. */
void sx_writer_drop(simidx_writer *writer);

/** From now on this transaction's rows are looked up, so they go into the memtable. */
int sx_writer_use_memtable(simidx_writer *writer, simidx_error *err);

/** The writer's reader: made with the first call. The codes of simidx_reader_open(). */
int sx_writer_reader(simidx_writer *writer, simidx_error *err);

/** SIMIDX_E_UNKNOWN, with what err says as the cause. */
int sx_writer_fail_unknown(simidx_error *err);

#endif /* SX_WRITER_H */
