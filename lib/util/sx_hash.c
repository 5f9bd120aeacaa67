/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "util/sx_hash.h"

/*
 * Compiled in: a hash of a few bytes takes no longer than a call into another library, and
 * features and keys are hashed by the million.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "util/sx_bytes.h"

uint64_t sx_hash(const void *data, size_t size)
{
	/* xxHash allows NULL only from 0.8.2 on. */
	return XXH3_64bits(size ? data : "", size);
}

uint64_t sx_hash_seed(const void *data, size_t size, uint64_t seed)
{
	return XXH3_64bits_withSeed(size ? data : "", size, seed);
}

uint64_t sx_hash_u64(uint64_t x)
{
	unsigned char bytes[8];

	sx_store_le64(bytes, x);
	return XXH3_64bits(bytes, sizeof(bytes));
}

void sx_hash_u64s_seed(uint64_t *out, const uint64_t *in, size_t n, uint64_t seed)
{
	unsigned char bytes[8];
	size_t i;

	for (i = 0; i < n; i++) {
		sx_store_le64(bytes, in[i]);
		out[i] = XXH3_64bits_withSeed(bytes, sizeof(bytes), seed);
	}
}

uint64_t sx_hash_u64_pair(uint64_t a, uint64_t b)
{
	unsigned char bytes[16];

	sx_store_le64(bytes, a);
	sx_store_le64(bytes + 8, b);
	return XXH3_64bits(bytes, sizeof(bytes));
}

uint64_t sx_hash_u64s(const uint64_t *numbers, size_t n)
{
	unsigned char bytes[8 * SX_HASH_MAX_U64S];

	for (size_t i = 0; i < n; i++)
		sx_store_le64(bytes + 8 * i, numbers[i]);
	return XXH3_64bits(bytes, 8 * n);
}

unsigned sx_hash_version(void)
{
	return XXH_versionNumber();
}
