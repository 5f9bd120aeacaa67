/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the tests of libsimidx-dedup share.
 */

#ifndef SXT_DEDUP_H
#define SXT_DEDUP_H

#include <simidx_dedup.h>

/**
 * Open an index for rows of a kind, or make it, with a writer.
 *
 * @param kind   enum simidx_dedup_kind
 * @param flags  SIMIDX_CREATE_ flags besides those of the kind
 */
void sxt_dedup_index(const char *dir, const char *name, int kind, unsigned flags, simidx **index,
		     simidx_writer **writer);

#endif /* SXT_DEDUP_H */
