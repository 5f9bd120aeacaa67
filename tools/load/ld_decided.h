/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Rows that were decided and not committed, where an engine holds the index and its commits may
 * decide again, as other writers were first (SIMIDX_ENGINE_CONDITIONS). They are counted as they
 * were decided in the end, and --emit tells of them after the commit.
 */

#ifndef LD_DECIDED_H
#define LD_DECIDED_H

#include "input/in_room.h"
#include "load/ld_emit.h"
#include "load/ld_report.h"

/** All zero: none. */
struct ld_decided {
	struct in_room rows; /* struct ld_decided_row */
	size_t n;
};

/**
 * Keep a row of which the writer has said `code`.
 *
 * @return 0, or TL_TROUBLE with a message
 */
int ld_decided_add(struct ld_decided *decided, const struct ld_item *item, uint64_t number,
		   int code, const struct ld_change *change);

/** For simidx_writer_options: what a commit has decided again. ctx is a struct ld_decided. */
void ld_decided_again(void *ctx, const simidx_rejudged *outcome);

/**
 * After a commit that has decided all but some rows: count and emit what came of each, and forget
 * them.
 */
void ld_decided_end(struct ld_decided *decided, const struct ld_options *options,
		    struct ld_report *report);

/** Forget them. */
void ld_decided_clear(struct ld_decided *decided);

#endif /* LD_DECIDED_H */
