/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* What a driver of another library has: it is made by this, and searched as any contestant is. */

#ifndef PEER_H
#define PEER_H

#include "bn_rival.h"

/**
 * Build an index of setup->set. Names of files begin with `setup->dir`. The caller fills in the
 * build time, and `bytes`, unless they are set: the memory that this process has taken meanwhile.
 */
void peer_make(const struct bn_setup *setup, struct bn_rival *rival);

#endif /* PEER_H */
