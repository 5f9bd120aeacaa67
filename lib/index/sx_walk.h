/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * All documents in order.
 */

#ifndef SX_WALK_H
#define SX_WALK_H

#include <simidx_walk.h>

#include "index/sx_index.h"

struct simidx_walk {
	const simidx *index;
	void *walk; /* of what holds the tables: of a directory, a sx_local_walk */
};

#endif /* SX_WALK_H */
