/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Whether an index that is being built will fit on the disk, so that it is told before the work.
 * All figures are estimates.
 */

#ifndef SX_LOADER_SPACE_H
#define SX_LOADER_SPACE_H

#include <simidx.h>

#include "load/sx_loader_state.h"

/** Bytes of the labels and notes of an index that is taken over, with their pages. */
uint64_t sx_loader_bytes_apart(const simidx *source);

/** SIMIDX_E_NO_SPACE if what is there for sure will not fit. */
int sx_loader_check_space(const simidx_loader *loader, simidx_error *err);

#endif /* SX_LOADER_SPACE_H */
