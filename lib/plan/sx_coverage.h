/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How far an answer with weights is complete: the bound at the head of sx_patterns.h.
 */

#ifndef SX_COVERAGE_H
#define SX_COVERAGE_H

#include <stdint.h>

#include "plan/sx_patterns.h"

/** How many of the first `width` bits of a prefix, at their low end, have no weight: < width. */
unsigned sx_ignored_end(const sx_perm *perm, const uint8_t weights[64], unsigned width);

/** The most tables that probe one bit of a weight above 0; at least 1. */
unsigned sx_most_seen(const uint64_t *probed, unsigned n, const uint8_t weights[64]);

/**
 * The distance up to which an answer is complete. missed[i]: the cost of the cheapest pattern
 * of a table that was not probed, SX_COMPLETE where all were.
 */
int64_t sx_coverage(const int64_t *missed, unsigned n, unsigned most_seen);

#endif /* SX_COVERAGE_H */
