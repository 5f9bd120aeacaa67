/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* What a driver of another library has: it is made by this, and searched as any contestant is. */

#ifndef PEER_H
#define PEER_H

#include "bn_rival.h"

/**
 * Build an index of setup->set. Files have names that begin with `setup->dir`; names, build time, and
 * bytes, if they are those of this process, are filled in by the caller.
 */
void peer_make(const struct bn_setup *setup, struct bn_rival *rival);

#endif /* PEER_H */
