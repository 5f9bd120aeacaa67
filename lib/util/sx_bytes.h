/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Bytes of memory: integers in them, and prefetching them.
 *
 * Integers are little-endian inside values, big-endian in keys. Unaligned on purpose.
 * The file format is for little-endian machines (doc/format.md), but nothing here assumes one.
 */

#ifndef SX_BYTES_H
#define SX_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* For hot loops: inlined into functions that are compiled for some instruction set. */
#define SX_INLINE static inline __attribute__((always_inline))

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SX_LE64(x) (x)
#define SX_BE64(x) __builtin_bswap64(x)
#else
#define SX_LE64(x) __builtin_bswap64(x)
#define SX_BE64(x) (x)
#endif

static inline uint64_t sx_load_le64(const void *p)
{
	uint64_t x;

	memcpy(&x, p, 8);
	return SX_LE64(x);
}

static inline void sx_store_le64(void *p, uint64_t x)
{
	x = SX_LE64(x);
	memcpy(p, &x, 8);
}

static inline uint64_t sx_load_be64(const void *p)
{
	uint64_t x;

	memcpy(&x, p, 8);
	return SX_BE64(x);
}

static inline void sx_store_be64(void *p, uint64_t x)
{
	x = SX_BE64(x);
	memcpy(p, &x, 8);
}

static inline uint32_t sx_load_le32(const void *p)
{
	const unsigned char *b = p;

	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline void sx_store_le32(void *p, uint32_t x)
{
	unsigned char *b = p;

	b[0] = (unsigned char)x;
	b[1] = (unsigned char)(x >> 8);
	b[2] = (unsigned char)(x >> 16);
	b[3] = (unsigned char)(x >> 24);
}

static inline uint16_t sx_load_le16(const void *p)
{
	const unsigned char *b = p;

	return (uint16_t)(b[0] | b[1] << 8);
}

static inline void sx_store_le16(void *p, uint16_t x)
{
	unsigned char *b = p;

	b[0] = (unsigned char)x;
	b[1] = (unsigned char)(x >> 8);
}

/** Whole bytes that a number takes, 0..8. */
static inline unsigned sx_bytes_for(uint64_t x)
{
	return x ? (71 - (unsigned)__builtin_clzll(x)) / 8 : 0;
}

/** The low n bits, n = 0..64. */
static inline uint64_t sx_low_bits(unsigned n)
{
	return n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
}

/*
 * Prefetching into the CPU's caches. gcc 12 takes a function that only prefetches for one without
 * effect and drops calls of it, so these and all functions like them must be SX_INLINE.
 */

/** Bytes of a cache line. */
#define SX_CACHE_LINE 64

/** Prefetch the cache line of an address, which need not be valid. */
SX_INLINE void sx_prefetch(const void *p)
{
	__builtin_prefetch(p, 0, 3);
}

/**
 * Prefetch bytes [p, p + size), but not more than max cache lines. The number of lines does not
 * depend on where the first one begins: ranges of similar sizes take as many rounds, and branch
 * prediction gets the end of the loop right.
 */
SX_INLINE void sx_prefetch_lines(const void *p, size_t size, size_t max)
{
	const unsigned char *at = p;
	size_t lines = size / SX_CACHE_LINE + 2;

	for (lines = lines < max ? lines : max; size && lines--; at += SX_CACHE_LINE)
		sx_prefetch(at);
}

#endif /* SX_BYTES_H */
