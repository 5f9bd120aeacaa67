/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * --emit: what --mode if-new decided, on standard output in the order of the input.
 */

#ifndef LD_EMIT_H
#define LD_EMIT_H

#include "load/ld_change.h"
#include "load/ld_report.h"

/**
 * Begin. Where standard output goes to the end of a file that can be read, half a line there is
 * ended, so that nothing is glued to it. With --resume it is of the load that was killed: it is
 * removed, as its row was not committed and comes again.
 */
void ld_emit_begin(const struct ld_options *options);

/** Write what --emit says about a row that was decided; `is_new`: it was stored. */
void ld_emit_row(const struct ld_options *options, const struct ld_item *item, int is_new,
		 const struct ld_change *change);

/**
 * Hand over what was written, and sync it if standard output is a regular file: to be called before
 * the commit that remembers these rows.
 *
 * @return 0, or TL_TROUBLE with a message
 */
int ld_emit_flush(const struct ld_options *options);

/**
 * Rows that were decided and not committed, where an engine holds the index and its commits may
 * decide again, as other writers were first (SIMIDX_ENGINE_CONDITIONS). They are counted as they
 * were decided in the end, and --emit tells of them after the commit. All zero: none.
 */
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

#endif /* LD_EMIT_H */
