/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The loop of a load: rows in, documents out, commits between.
 */

#ifndef LD_RUN_H
#define LD_RUN_H

#include "load/ld_emit.h"
#include "load/ld_full.h"
#include "load/ld_mark.h"
#include "load/ld_places.h"
#include "load/ld_queue.h"
#include "load/ld_report.h"
#include "load/ld_target.h"

/** Documents that are inserted before it is asked whether a rebuild is better for the rest. */
#define LD_BATCH 100000

/** A load whose first so many rows are all rejected stops. */
#define LD_HOPELESS 1000

/** Room for a place; one with a long path is cut in messages. */
#define LD_PLACE_SIZE 8192

/** A row that is left out, and why. */
struct ld_late {
	uint64_t row;
	char *reason;
};

/** One load. */
struct ld_run {
	const struct ld_options *options;
	struct ld_target *target;
	struct ld_report report;
	struct in_reader reader;
	struct ld_queue *queue;   /* of texts, and of all rows for an engine; NULL until there is one */
	const struct ld_item *ahead; /* of a batch of the queue those that are not stored yet */
	size_t n_ahead;
	struct ld_places *places; /* of what was put into a loader */
	struct ld_full full;      /* what the first lines of full dumps say */
	struct ld_mark mark;      /* where the last row that was dealt with stands */
	struct ld_mark before;    /* and the one before that */
	struct ld_mark start;     /* --resume: what is before this is passed over */
	int resumes;              /* the start is what the mark of the index has said */
	struct ld_late *late;     /* rows that a loader has rejected at its end; or NULL */
	size_t n_late;
	uint64_t put;             /* documents, in this run */
	uint64_t uncommitted;     /* rows since the last commit that were given to the writer */
	int pause_code;           /* of a commit while the input paused: 0, or the exit code */
	uint64_t label_bytes;     /* put since the last commit */
	uint64_t all_label_bytes; /* put into the loader */
	int space_checked;        /* it was seen whether what is to come will fit */
	uint64_t rows_committed;  /* as mark.total at the last commit */
	int is_unknown;           /* whether the last commit, or what was built, is stored */
	int failure;              /* code of the error of the index that ended the load, or 0 */
	uint64_t without, with;   /* is_unknown: documents in the index if it is not, and if it is */
};

/**
 * Load all inputs and print what came of it.
 *
 * @return the exit code
 */
int ld_run(const struct ld_options *options);

/** ld_store.c: a writer is open: store a mark before the first row. Returns 0 or an exit code. */
int ld_store_begin(struct ld_run *run);

/** What is stored next: has the writer look up at once what it needs. Returns 0 or an exit code. */
int ld_store_ahead(void *ctx, const struct ld_item *items, size_t n);

/** Store an item, or count why not. Returns 0 or an exit code. */
int ld_store_item(void *ctx, const struct ld_item *item);

/** Commit what the writer has. Returns 0 or an exit code. */
int ld_store_commit(struct ld_run *run);

/** Everything has been put: commit and merge, or build. Returns 0 or an exit code. */
int ld_store_finish(struct ld_run *run);

/** Move fresh rows into the tables, whoever else writes. Returns 0 or an exit code. */
int ld_store_merge(struct ld_run *run);

/** Set the callbacks of a loader. */
void ld_store_listen(struct ld_run *run);

#endif /* LD_RUN_H */
