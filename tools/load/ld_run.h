/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The loop of a load: rows in, documents out, commits between.
 */

#ifndef LD_RUN_H
#define LD_RUN_H

#include "load/ld_decided.h"
#include "load/ld_full.h"
#include "load/ld_mark.h"
#include "load/ld_merger.h"
#include "load/ld_places.h"
#include "load/ld_queue.h"
#include "load/ld_report.h"
#include "load/ld_target.h"

/** Documents that are inserted before it is asked whether a rebuild is better for the rest. */
#define LD_BATCH 100000

/** A load whose first so many rows are all rejected stops. */
#define LD_HOPELESS 1000

/**
 * A writer commits after so many seconds, and a loader that gets its rows so slowly gives way to a
 * writer.
 */
#define LD_COMMIT_SECONDS 5

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
	/* of texts, and of all rows for an engine; NULL until there is one */
	struct ld_queue *queue;
	ld_merger merger; /* of --merge beside */
	const struct ld_item *ahead; /* of a batch of the queue those that are not stored yet */
	size_t n_ahead;
	struct ld_places *places; /* of what was put into a loader */
	struct ld_full full;      /* what the first lines of full dumps say */
	struct ld_mark mark;      /* where the last row that was dealt with stands */
	struct ld_mark before;    /* where the row before that one stands */
	struct ld_mark start;     /* --resume: what is before this is passed over */
	int resumes;              /* the start is what the mark of the index has said */
	struct ld_late *late;     /* rows that a loader has rejected at its end; or NULL */
	size_t n_late;
	uint64_t put;             /* documents, in this run */
	uint64_t uncommitted;     /* rows since the last commit that were given to the writer */
	uint64_t touched;         /* of these, rows that gave their time to a document */
	struct ld_decided decided; /* these rows, where a commit may decide them again */
	uint64_t queued;          /* rows in the queue */
	/* when the last commit ended, or a writer or loader began; tl_seconds() */
	double committed_at;
	int is_stdin;             /* the input that is read is standard input */
	int pause_code;           /* of a commit while the input paused: 0, or the exit code */
	uint64_t bytes_apart;     /* of labels and notes put since the last commit */
	uint64_t all_bytes_apart; /* put into the loader */
	int space_checked;        /* it was seen whether what is to come will fit */
	uint64_t rows_committed;  /* as mark.total at the last commit */
	int is_unknown;           /* whether the last commit, or what was built, is stored */
	int failure;              /* code of the error of the index that ended the load, or 0 */
	/* is_unknown: documents in the index if it is not, and if it is */
	uint64_t without, with;
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

/** An error of the index that ends the load, with its message. Returns the exit code. */
int ld_store_fail(struct ld_run *run, const simidx_error *err);

/** More rows were rejected than may be, with a message. Returns the exit code. */
int ld_store_too_many(const struct ld_run *run);

/**
 * What a commit, or the loader if it is not NULL, has to store besides documents: how far the load
 * has come, or in the end the mark that a full dump has brought from its index.
 */
int ld_store_mark(struct ld_run *run, simidx_loader *loader, const struct ld_mark *mark);

/** ld_finish.c: everything has been put: commit and merge, or build. Returns 0 or an exit code. */
int ld_store_finish(struct ld_run *run);

/**
 * Build a new index of what was put so far, and insert what follows into it. Returns 0 or an exit
 * code.
 */
int ld_store_insert(struct ld_run *run);

/** Move fresh rows into the tables, whoever else writes. Returns 0 or an exit code. */
int ld_store_merge(struct ld_run *run);

/** Set the callbacks of a loader. */
void ld_store_listen(struct ld_run *run);

#endif /* LD_RUN_H */
