/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The index that a load writes to: found or made, with an extractor and a writer that fit it.
 */

#ifndef LD_TARGET_H
#define LD_TARGET_H

#include "load/ld_options.h"

/** An index being loaded. */
struct ld_target {
	const struct ld_options *options;
	simidx *index;          /* NULL until it is opened or made */
	simidx_writer *writer;  /* NULL until the first row */
	struct tl_text *text;   /* NULL until the first text */
	unsigned bits;
	unsigned flags;         /* SIMIDX_CREATE_NO_IDS and _FP2 of the index */
	int created;            /* made by this load */
};

/**
 * Open the index if it is there and is to be added to, else check that it may be made; nothing
 * is written.
 *
 * @return 0, or TL_TROUBLE with a message
 */
int ld_target_open(struct ld_target *target, const struct ld_options *options);

/**
 * Get ready for a row: make the index if there is none, open the writer, and the extractor if
 * the row is a text.
 *
 * @param row  NULL at the end of an input without any row
 * @return 0, or TL_TROUBLE with a message
 */
int ld_target_prepare(struct ld_target *target, const struct in_row *row);

/** Close what is open; what was not committed is forgotten. */
void ld_target_close(struct ld_target *target);

#endif /* LD_TARGET_H */
