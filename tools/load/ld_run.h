/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * One load, and what its parts share. Each part calls only those below it:
 *
 *	ld_run     a load from its beginning to the summary
 *	ld_read    rows of the inputs, in their order
 *	ld_store   what becomes of a row
 *	ld_steps   from one state to the next: begin, commit, rebuild, show, finish
 *	ld_end     how a load that fails is told
 *	ld_target  the index, with its writer or loader
 */

#ifndef LD_RUN_H
#define LD_RUN_H

#include "load/ld_emit.h"
#include "load/ld_full.h"
#include "load/ld_mark.h"
#include "load/ld_merger.h"
#include "load/ld_places.h"
#include "load/ld_queue.h"
#include "load/ld_report.h"
#include "load/ld_target.h"

/** One load. */
struct ld_run {
	const struct ld_options *options;
	struct ld_target target;
	struct ld_report report;

	/* ld_read: what is read */
	struct in_reader reader;
	struct ld_full full; /* what the first lines of full dumps say */
	/* of texts, and of all rows for an engine; NULL until there is one */
	struct ld_queue *queue;
	uint64_t queued;     /* rows in it */
	int is_stdin;        /* the input that is read is standard input */
	int pause_code;      /* of what was done while the input paused: 0, or the exit code */

	/* where in the inputs */
	struct ld_mark start;  /* --resume: what is before this is passed over */
	struct ld_mark before; /* the row before the last one */
	struct ld_mark mark;   /* the last row that was dealt with */
	int resumes;           /* the start is what the mark of the index has said */

	/* ld_store: what was put */
	const struct ld_item *ahead; /* of a batch of the queue those that are not stored yet */
	size_t n_ahead;
	uint64_t put;             /* documents */
	struct ld_places places;  /* of those in a loader */
	uint64_t all_bytes_apart; /* labels and notes of those */
	int space_checked;        /* it was seen whether what is to come will fit */

	/* ld_steps: since the last commit */
	uint64_t uncommitted;      /* rows that were given to the writer */
	uint64_t touched;          /* of these, rows that gave their time to a document */
	uint64_t bytes_apart;      /* of labels and notes */
	struct ld_decided decided; /* these rows, where a commit may decide them again */
	/* when the last commit ended, or a writer or loader began; tl_seconds() */
	double committed_at;
	uint64_t rows_committed;   /* as mark.total at the last commit */
	ld_merger merger;          /* of --merge beside */

	/* ld_end: what has failed */
	int failure;    /* code of the error of the index that ended the load, or 0 */
	int is_unknown; /* whether the last commit, or what was built, is stored */
	uint64_t without, with; /* then: documents in the index if it is not, and if it is */
};

/**
 * Load all inputs and print what came of it.
 *
 * @return the exit code
 */
int ld_run(const struct ld_options *options);

#endif /* LD_RUN_H */
