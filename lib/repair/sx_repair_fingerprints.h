/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * An index without ids: what its tables say to the fingerprints of the new one.
 */

#ifndef SX_REPAIR_FINGERPRINTS_H
#define SX_REPAIR_FINGERPRINTS_H

#include "repair/sx_repair_state.h"

/** Put the fingerprints of an index without ids into the loader. */
int sx_repair_put_fingerprints(sx_repair *repair);

#endif /* SX_REPAIR_FINGERPRINTS_H */
