/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A bucket that has no room: it is read again and again, each time for a part of its entries.
 */

#ifndef SX_JOIN_LARGE_H
#define SX_JOIN_LARGE_H

#include "join/sx_join_source.h"

typedef struct sx_join_large {
	const sx_join_source *source; /* n_inputs of one order, that can be read several times: */
	unsigned n_inputs;
	uint64_t from, last;          /* the bucket is what they have in this range */
	const sx_join_constraint *constraint;   /* of the bucket */
	sx_joiner *joiner;            /* what it has begun with is lost */
	sx_join_batch *room;          /* for entries; what it has is lost, but what is spilled */
	size_t max;                   /* entries that there is room for, at least 4 */
	int (*pause)(void *ctx);      /* as that of sx_join_sink; called more often */
	void *ctx;
} sx_join_large;

/**
 * Report all pairs of the bucket that its constraint allows, each once.
 *
 * @return SIMIDX_OK; SIMIDX_E_NOMEM; the codes of a walk, of a temporary file, of the sink, of pause()
 */
int sx_join_large_run(const sx_join_large *large, simidx_error *err);

#endif /* SX_JOIN_LARGE_H */
