/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is asked of fresh rows.
 */

#ifndef SX_FRESH_QUERY_H
#define SX_FRESH_QUERY_H

#include <stdint.h>

#include "plan/sx_probes.h"

/** What differs from a fingerprint in at most k bits, and is accepted. */
typedef struct sx_fresh_query {
	uint64_t fp;
	unsigned k;
	/* of plan 4x16 for the same f, exact for k; others find fewer rows */
	const sx_probes *probes;
	/* asked of each fingerprint within k bits; NULL: all are accepted */
	int (*accepts)(const void *ctx, uint64_t fp);
	const void *ctx;
} sx_fresh_query;

#endif /* SX_FRESH_QUERY_H */
