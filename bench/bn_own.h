/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Calls of the library that several benchmark programs make. */

#ifndef BN_OWN_H
#define BN_OWN_H

#include <simidx.h>

#include "bn_rival.h"

/**
 * Load fp[0..n), ids being their numbers, into a new index.
 *
 * @return 0, or -1 with the reason when the plan cannot be used
 */
int bn_own_load(const char *dir, const char *plan, unsigned layout, const uint64_t *fp,
		uint64_t n, uint64_t memory, char *reason);

/** Open an index; `kernel` is NULL or the instruction set to use. */
void bn_own_open(const char *dir, const char *kernel, simidx **index);

/** Where the index of a rival made by bn_own_make() is. */
const char *bn_own_dir(const struct bn_rival *rival);

/** Its handle. */
simidx *bn_own_index(const struct bn_rival *rival);

/** Delete an index, if there is one. */
void bn_own_remove(const char *dir);

/** The results of a search as ids. */
struct bn_hits bn_own_hits(const simidx_results *results);

#endif /* BN_OWN_H */
