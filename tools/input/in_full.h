/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A full dump: an index as lines of JSON, from which the same index can be made again. The first
 * line says what the index is, then comes a line for each document as in the format jsonl, and the
 * last line says how many these were, so that a dump that was cut is noticed.
 */

#ifndef IN_FULL_H
#define IN_FULL_H

#include <simidx_info.h>

/**
 * The member "format" of the first line, and "version": it grows with incompatible changes only.
 */
#define IN_FULL_FORMAT "simidx-dump"
#define IN_FULL_VERSION 1

/** How the marks begin that simidx-load stores: they are about the inputs of a load. */
#define IN_FULL_LOAD_MARK "ld-mark"

/** And those of simidx-dedup: about its runs, and what the index remembers of texts. */
#define IN_FULL_DEDUP_MARK "dd-mark"

/** The first line. */
struct in_head {
	/*
	 * bits, layout, flags, fill, plan, profile, check_fps, n_check_fps, documents and next_id,
	 * which is SIMIDX_NO_ID without ids; plan is NULL and fill 0 where the line does not say.
	 */
	simidx_info info;
	const unsigned char *mark; /* simidx_get_mark() */
	size_t mark_size;          /* 0 = none */
};

#endif /* IN_FULL_H */
