/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The decision about one row, in its turn.
 */

#ifndef SD_DECIDE_H
#define SD_DECIDE_H

#include "dedup/sd_state.h"

/**
 * Decide about a row of the batch, after all before it, and tell the caller.
 *
 * @param reader  that of the writer, which finds the rows before it
 */
int sd_decide(simidx_dedup *dedup, simidx_reader *reader, struct sd_item *item, simidx_error *err);

#endif /* SD_DECIDE_H */
