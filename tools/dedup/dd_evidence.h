/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The file of --evidence: a JSON object a line, for each row that is left out, and with
 * --near-misses for kept ones that are nearly near to another one: which rows they are, where their
 * texts lie, what these hash to, and by which rule it was decided. simidx-query review reads it.
 */

#ifndef DD_EVIDENCE_H
#define DD_EVIDENCE_H

#include "dedup/dd_keepers.h"
#include "dedup/dd_texts.h"
#include "dedup/dd_sink.h"

/** Zero but for the first two: nothing is written yet. */
struct dd_evidence {
	const struct dd_work *work;
	struct dd_sink *sink;  /* the file, which is not closed here; NULL: none is written */
	struct in_room label;  /* of a kept row */
	FILE *held;            /* what dd_evidence_hold() has; NULL: nothing */
	uint64_t left_out, near_misses;
};

/** Free what it holds. */
void dd_evidence_free(struct dd_evidence *evidence);

/** A row that is left out, or kept and nearly near to another one, and why. */
struct dd_reason {
	const struct dd_fact *row;
	const struct dd_fact *other; /* a row of this run, or NULL: near tells which document */
	simidx_dedup_near near;      /* similarity and flags are set */
	int is_kept;                 /* it stays, and is nearly near */
	struct dd_text text[2];      /* of the row and of the other, where excerpts are wanted */
};

/** Add one. Returns 0 or an exit code. */
int dd_evidence_put(struct dd_evidence *evidence, const struct dd_reason *reason);

/** As that, when a row is decided. Returns 0 or an exit code. */
int dd_evidence_add(struct dd_evidence *evidence, const simidx_dedup_row *row,
		    const simidx_dedup_near *near, int is_kept);

/**
 * A row is kept and nearly near, but may yet be left out for another one of its group: the line
 * waits in a temporary file.
 *
 * @param handle  of the row
 * @return 0 or an exit code
 */
int dd_evidence_hold(struct dd_evidence *evidence, const simidx_dedup_row *row, uint64_t handle,
		     const simidx_dedup_near *near);

/** Groups are printed: add what waits where both rows stay. Returns 0 or an exit code. */
int dd_evidence_release(struct dd_evidence *evidence);

/** A notice of how many lines the file has got. */
void dd_evidence_tell(const struct dd_evidence *evidence);

#endif /* DD_EVIDENCE_H */
