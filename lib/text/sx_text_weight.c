/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text_weight.h"

#include <stdlib.h>

#define LN_DIGITS 56

/* ln 2 * 2^64, rounded down. */
#define LN_2 UINT64_C(0xb17217f7d1cf79ab)

/* What SIMIDX_TEXT_TOP_AUTO keeps. */
#define AUTO_LEAST 16
#define AUTO_FACTOR 4

__extension__ typedef unsigned __int128 u128;

uint32_t sx_sqrt_weight(uint32_t count)
{
	uint64_t rest = (uint64_t)count << 32;
	uint64_t root = 0, bit = (uint64_t)1 << 62;

	if (count == 1)
		return (uint32_t)1 << 16;
	/* Bit by bit, from the top: floor(sqrt(count * 2^32)). */
	while (bit > rest)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (rest >= root + bit) {
			rest -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (uint32_t)root;
}

uint64_t sx_ln(uint64_t x)
{
	unsigned shift = (unsigned)__builtin_clzll(x), digit = LN_DIGITS;
	uint64_t log2 = (uint64_t)(63 - shift) << LN_DIGITS;
	u128 square;

	/* x is 1.something with 63 digits from here on; squared, it doubles its logarithm. */
	x <<= shift;
	while (digit-- > 0) {
		square = (u128)x * x >> 63;
		if (square >> 64) {
			log2 |= (uint64_t)1 << digit;
			square >>= 1;
		}
		x = (uint64_t)square;
	}
	return (uint64_t)((u128)log2 * LN_2 >> 64);
}

uint32_t sx_log_weight(uint32_t count)
{
	return 65536 + (uint32_t)(sx_ln(count) >> (LN_DIGITS - 16));
}

uint32_t simidx_text_idf(uint64_t n_documents, uint64_t n_with)
{
	if (n_documents > (uint64_t)1 << 40 || n_with < 1 || n_with > n_documents)
		return 0;
	return (uint32_t)((sx_ln(n_documents + n_with) - sx_ln(n_with)) >> (LN_DIGITS - 16));
}

static uint32_t at_most_32_bits(uint64_t weight)
{
	return weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX;
}

static uint32_t idf_weight(const simidx_feature *counted, const sx_lists *lists)
{
	const simidx_feature *found = sx_dict_get(&lists->idf, counted->hash);
	uint64_t idf = found ? found->weight - 1 : lists->median;

	return at_most_32_bits(counted->weight * idf);
}

static uint32_t weigh_count(uint32_t count, enum sx_weights how)
{
	switch (how) {
	case SX_LOG:
		return sx_log_weight(count);
	case SX_RAW:
		return at_most_32_bits((uint64_t)count << 16);
	case SX_BINARY:
		return (uint32_t)1 << 16;
	default:
		return sx_sqrt_weight(count);
	}
}

/** The weight of a count; those of small counts are worked out once a handle. */
static uint32_t weight_of(sx_features *features, uint32_t count, enum sx_weights how)
{
	if (count >= SX_SMALL_COUNTS)
		return weigh_count(count, how);
	if (!features->weight_of[count])
		features->weight_of[count] = weigh_count(count, how);
	return features->weight_of[count];
}

/** What weighs nothing is no feature. */
static void weigh_by_idf(sx_features *features, const sx_lists *lists)
{
	simidx_feature *slot = features->slot;
	size_t i, n = 0;

	for (i = 0; i < features->n; i++) {
		slot[n].hash = slot[i].hash;
		slot[n].weight = idf_weight(&slot[i], lists);
		n += slot[n].weight != 0;
	}
	features->n = n;
}

static int compare_features(const void *a, const void *b)
{
	const simidx_feature *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->hash > y->hash) - (x->hash < y->hash);
}

void sx_features_sort(sx_features *features)
{
	if (features->n)
		qsort(features->slot, features->n, sizeof(*features->slot), compare_features);
}

uint64_t sx_seeded(uint64_t hash, uint64_t seed)
{
	return seed ? sx_mix(hash ^ sx_mix(seed)) : hash;
}

static size_t max_features(const sx_settings *settings, uint64_t n_words)
{
	size_t n = settings->top;

	if (n != SIMIDX_TEXT_TOP_AUTO)
		return n;
	/* A text of 2^30 bytes has fewer than 2^32 words. */
	n = AUTO_FACTOR * (size_t)(sx_sqrt_weight((uint32_t)n_words) >> 16);
	return n > AUTO_LEAST ? n : AUTO_LEAST;
}

/** Close the gaps, without branches: which slots are free cannot be predicted. */
static void close_gaps(sx_features *features)
{
	simidx_feature *slot = features->slot;
	size_t i, n = 0;

	for (i = 0; i < features->n_slots; i++) {
		slot[n] = slot[i];
		n += slot[i].weight != 0;
	}
}

/** Keep the heaviest features, as many as the settings allow. */
static void keep_heaviest(sx_features *features, const sx_settings *settings)
{
	size_t max;

	if (settings->top == SIMIDX_TEXT_TOP_ALL)
		return;
	max = max_features(settings, features->n_words);
	if (features->n <= max)
		return;
	sx_features_sort(features);
	features->n = max;
}

void sx_features_finish(sx_features *features, const sx_settings *settings,
			const sx_lists *lists)
{
	simidx_feature *slot = features->slot;
	size_t i;

	close_gaps(features);
	if (settings->weights == SX_TFIDF)
		weigh_by_idf(features, lists);
	else
		for (i = 0; i < features->n; i++)
			slot[i].weight = weight_of(features, slot[i].weight, settings->weights);
	keep_heaviest(features, settings);
	/* Last, so that a seed has no say in which features a text has. */
	for (i = 0; settings->seed && i < features->n; i++)
		slot[i].hash = sx_seeded(slot[i].hash, settings->seed);
}
