/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Counts -> weighted features.
 */

#ifndef SX_TEXT_WEIGHT_H
#define SX_TEXT_WEIGHT_H

#include <stdint.h>

#include "text/sx_text_features.h"
#include "text/sx_text_lists.h"
#include "text/sx_text_settings.h"

/**
 * Turn counts into weights and keep the heaviest: the first n slots hold the features
 * afterwards, in no particular order. Nothing more can be counted.
 */
void sx_features_finish(sx_features *features, const sx_settings *settings,
			const sx_lists *lists);

/**
 * The function m of simidx_text.h: each bit of the result depends on all bits. One to one. Steele,
 * Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014); with the
 * constants of Stafford's variant 13.
 */
static inline uint64_t sx_mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/** The hash under a seed; seed 0 changes nothing. */
uint64_t sx_seeded(uint64_t hash, uint64_t seed);

/** The heaviest first, ties by smaller hash. */
void sx_features_sort(sx_features *features);

/** floor(sqrt(count) * 2^16). */
uint32_t sx_sqrt_weight(uint32_t count);

/** floor((1 + ln(count)) * 2^16), for counts from 1 on. */
uint32_t sx_log_weight(uint32_t count);

/** ln(x) * 2^56, for x from 1 on, less than 2 too small. */
uint64_t sx_ln(uint64_t x);

#endif /* SX_TEXT_WEIGHT_H */
