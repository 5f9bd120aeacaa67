/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is done for the rows of a batch on all threads, before anything of it is decided: their
 * fingerprints, the comparison with what was kept before, and the shingles of those that are
 * candidates of each other.
 */

#ifndef SD_AHEAD_H
#define SD_AHEAD_H

#include "dedup/sd_state.h"

/**
 * Begin to do it, for the batch at hand, while the caller goes on with other things; with one
 * thread, or with a lasting index, not yet.
 */
void sd_ahead_begin(simidx_dedup *dedup);

/** Have it done. Returns SIMIDX_OK, or what the first thread that failed has failed with. */
int sd_ahead_end(simidx_dedup *dedup, simidx_error *err);

#endif /* SD_AHEAD_H */
