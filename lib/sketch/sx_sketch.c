/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "sketch/sx_sketch.h"

#include <string.h>

#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

#define N_NIBBLES 16

unsigned simidx_distance(uint64_t a, uint64_t b)
{
	return (unsigned)__builtin_popcountll(a ^ b);
}

int simidx_is_near(uint64_t a, uint64_t b, unsigned k)
{
	return simidx_distance(a, b) <= k;
}

uint64_t simidx_hash_bytes(const void *data, size_t size)
{
	return sx_hash(data, size);
}

uint64_t sx_isqrt(uint64_t high, uint64_t low)
{
	uint64_t root = 0, rest = 0, next;
	unsigned i;

	/* As on paper: two binary digits of the square give one of the root. */
	for (i = 0; i < 64; i++) {
		next = rest << 2 | high >> 62;
		high = high << 2 | low >> 62;
		low <<= 2;
		rest = next;
		root <<= 1;
		if (rest > 2 * root) {
			rest -= 2 * root + 1;
			root++;
		}
	}
	return root;
}

static uint64_t hash_again(uint64_t hash)
{
	unsigned char bytes[8];

	sx_store_le64(bytes, hash);
	return sx_hash_seed(bytes, sizeof(bytes), SX_FP2_SEED);
}

/* The weights of the features whose hash has each of a nibble's bits. Spoils its input. */
static void split_nibble(uint64_t of_value[16], uint64_t *with)
{
	unsigned bit, value, half;

	for (bit = 4; bit-- > 0;) {
		half = 1u << bit;
		with[bit] = 0;
		/* Values that differ in this bit only are one from here on. */
		for (value = 0; value < half; value++) {
			with[bit] += of_value[half + value];
			of_value[value] += of_value[half + value];
		}
	}
}

/*
 * Sixteen additions a feature instead of 64: first the weights for each value of each of the
 * hash's sixteen nibbles, then from these, once a text, the weights for each bit. Sums are
 * taken modulo 2^64; the results fit.
 */
static void sum_bits(const simidx_feature *features, size_t n, int again, int64_t *sums)
{
	uint64_t of_value[N_NIBBLES][16] = { { 0 } };
	uint64_t with[64], total = 0, hash;
	unsigned nibble, b;
	size_t i;

	for (i = 0; i < n; i++) {
		hash = again ? hash_again(features[i].hash) : features[i].hash;
		total += features[i].weight;
#pragma GCC unroll 16 /* twice as fast: shifts by constants, no counter */
		for (nibble = 0; nibble < N_NIBBLES; nibble++)
			of_value[nibble][hash >> 4 * nibble & 15] += features[i].weight;
	}
	for (nibble = 0; nibble < N_NIBBLES; nibble++)
		split_nibble(of_value[nibble], with + 4 * nibble);
	for (b = 0; b < 64; b++)
		sums[b] = (int64_t)(2 * with[b] - total);
}

static uint64_t sign_bits(const int64_t *sums, unsigned bits)
{
	uint64_t fp = 0;
	unsigned b;

	for (b = 0; b < bits; b++)
		fp |= (uint64_t)(sums[b] > 0) << b;
	return fp;
}

/* The unit of query weights: the square root of the sum of the squared weights. */
static uint64_t weight_norm(const simidx_feature *features, size_t n)
{
	uint64_t high = 0, low = 0, square;
	size_t i;

	for (i = 0; i < n; i++) {
		square = (uint64_t)features[i].weight * features[i].weight;
		low += square;
		high += low < square;
	}
	return sx_isqrt(high, low);
}

static void weigh_bits(const int64_t *sums, unsigned bits, uint64_t norm, uint8_t *weights)
{
	uint64_t size, weight;
	unsigned b;

	for (b = 0; b < bits && norm; b++) {
		size = sums[b] < 0 ? 0 - (uint64_t)sums[b] : (uint64_t)sums[b];
		/* The norm is below 2^48: a sum that could overflow is far above the cap. */
		weight = size < 8 * norm ? (32 * size + norm / 2) / norm : 255;
		weights[b] = (uint8_t)(weight < 255 ? weight : 255);
	}
}

static int check_arguments(const simidx_feature *features, size_t n, unsigned bits,
			   unsigned flags, simidx_error *err)
{
	if (bits < SIMIDX_MIN_BITS || bits > SIMIDX_MAX_BITS)
		return sx_fail(err, SIMIDX_E_ARG,
			       "fingerprints of %u bits; %d..%d are possible", bits,
			       SIMIDX_MIN_BITS, SIMIDX_MAX_BITS);
	if (flags & ~(SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS))
		return sx_fail(err, SIMIDX_E_ARG, "unknown sketch flags 0x%x", flags);
	if (n > SX_MAX_FEATURES)
		return sx_fail(err, SIMIDX_E_ARG, "more than 2^31 features");
	if (n && !features)
		return sx_fail(err, SIMIDX_E_ARG, "features are NULL");
	return SIMIDX_OK;
}

int simidx_hash_features(const simidx_feature *features, size_t n, unsigned bits,
			 unsigned flags, simidx_sketch *out, simidx_error *err)
{
	uint64_t norm;
	int rc;

	sx_err_clear(err);
	if (!out || out->size != sizeof(*out))
		return sx_fail(err, SIMIDX_E_ARG, "no sketch, or its size is not set");
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	rc = check_arguments(features, n, bits, flags, err);
	if (rc)
		return rc;
	out->bits = bits;
	out->flags = flags;
	out->n_features = n;
	sum_bits(features, n, 0, out->sums);
	/* Bits that the fingerprint does not have say nothing. */
	memset(out->sums + bits, 0, (64 - bits) * sizeof(out->sums[0]));
	out->fp = sign_bits(out->sums, bits);
	if (flags & SIMIDX_SKETCH_FP2) {
		sum_bits(features, n, 1, out->sums2);
		out->fp2 = sign_bits(out->sums2, 64);
	}
	if (flags & SIMIDX_SKETCH_WEIGHTS) {
		norm = weight_norm(features, n);
		weigh_bits(out->sums, bits, norm, out->weights);
		if (flags & SIMIDX_SKETCH_FP2)
			weigh_bits(out->sums2, 64, norm, out->weights2);
	}
	return SIMIDX_OK;
}
