/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The documents that are left out because of a label, or of their id where another document with
 * that id has such a label.
 */

#ifndef SX_LOADER_DUPLICATES_H
#define SX_LOADER_DUPLICATES_H

#include "load/sx_loader_state.h"

/**
 * Make input.rejected, if there are such. What has an id twice and no label that is shared is left
 * to sx_loader_write_documents(). Linear.
 */
int sx_loader_find_rejected(simidx_loader *loader, simidx_error *err);

#endif /* SX_LOADER_DUPLICATES_H */
