/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Whether an index that is being built will fit on the disk, so that it is told before the work.
 * All figures are estimates.
 */

#ifndef SX_LOADER_SPACE_H
#define SX_LOADER_SPACE_H

#include <simidx_admin.h>

#include "load/sx_loader_state.h"

/** Bytes of the labels of an index that is taken over, about: from some of all over the ids. */
uint64_t sx_loader_label_bytes(const simidx *source, const simidx_info *info);

/** Bytes of the notes of an index that is taken over, and of their pages. */
uint64_t sx_loader_note_bytes(const simidx *source);

/** SIMIDX_E_NO_SPACE if what is there for sure will not fit. */
int sx_loader_check_space(const simidx_loader *loader, simidx_error *err);

#endif /* SX_LOADER_SPACE_H */
