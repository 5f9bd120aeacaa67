/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * --emit: what --mode if-new decided, on standard output in the order of the input.
 */

#ifndef LD_EMIT_H
#define LD_EMIT_H

#include "load/ld_change.h"

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

#endif /* LD_EMIT_H */
