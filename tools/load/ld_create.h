/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A new index: what it is like, and whether a loader builds it or it is empty for a writer.
 */

#ifndef LD_CREATE_H
#define LD_CREATE_H

#include "load/ld_target.h"

/**
 * Make a new index: with a loader, unless it is to grow commit by commit. The target is LD_BUILDING
 * then, or has an index that is open for a writer. That may be the one of another load which was
 * quicker.
 *
 * @param of_texts  it is for texts
 * @return 0, or TL_TROUBLE with a message
 */
int ld_create(struct ld_target *target, int of_texts);

#endif /* LD_CREATE_H */
