/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A writer's transaction: begun with the first call that needs it, ended by a commit or a
 * rollback. Its changes are rows that wait for the commit; the bytes of labels are in the store's
 * transaction already.
 */

#ifndef SX_WRITER_H
#define SX_WRITER_H

#include "search/sx_reader.h"
#include "write/sx_writer_engine.h"

struct simidx_writer {
	simidx *index;
	simidx_writer_options options;
	int locked;            /* the write lock is held */
	int cleaned;           /* leftovers of builders that died were looked for */
	sx_snapshot snapshot;  /* of the write transaction, its header as the commit will have it */
	sx_fresh_rows pending; /* changes since the last commit; not in the log yet */
	uint64_t changes;      /* documents that they are about */
	uint64_t stored;       /* those that this writer has committed */
	int uses_memtable;     /* pending rows are in the memtable, too */
	sx_mark mark;          /* for the next commit */
	int has_left_label;    /* a label that is to be removed stands in `labels`, empty: */
	uint64_t left_label;   /* its id */
	int reserves_ids;      /* the next commit has a next id that was raised */
	int has_resumed;       /* with SIMIDX_WRITER_RESUME: others have been shut out */
	sx_writer_engine *engine; /* of an index that an engine holds */
	simidx_reader *reader; /* sees what is pending; NULL until it is asked for */
};

/** Take the lock and begin a transaction, if there is none. The codes of simidx_writer_begin(). */
int sx_writer_begin(simidx_writer *writer, simidx_error *err);

/**
 * Remove the label that was left because it was the only one, before the commit at the latest. LMDB
 * gives the page of a table that becomes empty to nobody until then: a label that changes hands again
 * and again would take a new page each time.
 */
int sx_writer_remove_left_label(simidx_writer *writer, simidx_error *err);

/** Give up the transaction, the lock and what was changed. */
void sx_writer_drop(simidx_writer *writer);

/** From now on this transaction's rows are looked up, so they go into the memtable. */
int sx_writer_use_memtable(simidx_writer *writer, simidx_error *err);

/** The writer's reader: made with the first call. The codes of simidx_reader_open(). */
int sx_writer_reader(simidx_writer *writer, simidx_error *err);

#endif /* SX_WRITER_H */
