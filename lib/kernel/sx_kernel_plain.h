/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Kernels are made level by level: each copies the one before it and puts its own functions in
 * the place of those that it does better. What the functions do: sx_kernel_type.h.
 *
 * Below the declarations are the loops without vector instructions, to be inlined into functions
 * that are compiled for some instruction set, which use its instructions in `count` and `select`.
 */

#ifndef SX_KERNEL_PLAIN_H
#define SX_KERNEL_PLAIN_H

#include "kernel/sx_bits.h"
#include "kernel/sx_kernel_type.h"
#include "util/sx_bytes.h"

/** All functions, for any CPU. */
void sx_kernel_use_scalar(sx_kernel *kernel);
#if defined(__x86_64__)
/** All functions but pext and pdep, for a CPU with POPCNT. */
void sx_kernel_use_popcnt(sx_kernel *kernel);
#endif

/** The low bytes of an entry, in memory that may end after them. */
SX_INLINE uint64_t sx_load_low(const unsigned char *p, unsigned width, size_t readable)
{
	uint64_t x = 0;

	if (readable >= 8)
		return sx_load_le64(p) & sx_low_bits(8 * width);
	for (unsigned b = 0; b < width; b++)
		x |= (uint64_t)p[b] << (8 * b);
	return x;
}

/** The first four arguments of near_low(). */
typedef struct sx_low_bytes {
	const unsigned char *low;
	unsigned width;
	size_t n, readable;
} sx_low_bytes;

/** near_low() for entries [from, e.n). */
SX_INLINE size_t sx_near_low_plain(sx_count_fn *count, sx_low_bytes e, size_t from, uint64_t query,
				   unsigned k, uint16_t *hits)
{
	size_t found = 0;

	query &= sx_low_bits(8 * e.width);
	/* Written without a branch on the outcome: the next hit overwrites a miss. */
	for (size_t i = from; i < e.n; i++) {
		uint64_t x = sx_load_low(e.low + i * e.width, e.width, e.readable - i * e.width);

		hits[found] = (uint16_t)i;
		found += count(x ^ query) <= k;
	}
	return found;
}

/** near_u64() for fingerprints [from, n). */
SX_INLINE size_t sx_near_u64_plain(sx_count_fn *count, const uint64_t *fps, size_t from,
				   size_t n, uint64_t query, unsigned k, uint32_t *hits)
{
	size_t found = 0;

	for (size_t i = from; i < n; i++) {
		hits[found] = (uint32_t)i;
		found += count(fps[i] ^ query) <= k;
	}
	return found;
}

/** Write (base + number) << 8 | d of each set bit, after `found` hits; returns the new `found`. */
SX_INLINE size_t sx_emit_after(unsigned lanes, size_t base, unsigned d, uint64_t *hits,
			       size_t found)
{
	for (; lanes; lanes &= lanes - 1)
		hits[found++] = (uint64_t)(base + (unsigned)__builtin_ctz(lanes)) << 8 | d;
	return found;
}

/** near_after() */
SX_INLINE size_t sx_near_after_plain(sx_count_fn *count, const uint64_t *v, size_t *from, size_t n,
				     unsigned reach, uint64_t same, unsigned k, uint64_t *hits,
				     size_t room)
{
	size_t found = 0, i = *from;

	for (; i < n && found + SX_NEAR_AFTER_ROOM(reach) <= room; i++) {
		const uint64_t *p = v + i;

		hits[found] = (uint64_t)i << 8;
		found += !((p[0] ^ p[reach + 1]) & same);
		for (unsigned d = 1; d <= reach; d++) {
			hits[found] = (uint64_t)i << 8 | d;
			found += count(p[0] ^ p[d]) <= k;
		}
	}
	*from = i;
	return found;
}

/**
 * Write base + the number of each set bit, after `found` hits; returns the new `found`.
 * Hits are rare for small radii, and the branch of the loop is then predicted; otherwise it is
 * predicted wrongly once in 64 entries.. */
SX_INLINE size_t sx_emit_u16(uint64_t near, size_t base, uint16_t *hits, size_t found)
{
	for (; near; near &= near - 1)
		hits[found++] = (uint16_t)(base + (unsigned)__builtin_ctzll(near));
	return found;
}

SX_INLINE size_t sx_emit_u32(uint64_t near, size_t base, uint32_t *hits, size_t found)
{
	for (; near; near &= near - 1)
		hits[found++] = (uint32_t)(base + (unsigned)__builtin_ctzll(near));
	return found;
}

/** Bit j: entry j of the eight whose low bytes begin at p is near. */
typedef uint64_t sx_near_eight_fn(const void *filter, const unsigned char *p);

/**
 * near_low() by vectors: eight entries a step, and 16 more if there are more than eight. Probes
 * have few entries mostly; for these no branch is hard to predict, and no cache line is touched
 * far after the last entry.
 *
 * @param need  bytes that 24 entries read
 */
SX_INLINE size_t sx_near_low_steps(sx_near_eight_fn *eight, const void *filter, size_t need,
				   sx_low_bytes e, uint64_t query, unsigned k, uint16_t *hits)
{
	size_t found = 0, step, i = 0;

	for (; i < e.n && e.readable - i * e.width >= need; i += step) {
		const unsigned char *p = e.low + i * e.width;
		uint64_t near = eight(filter, p);

		step = 8;
		if (e.n - i > 8) {
			near |= eight(filter, p + 8 * e.width) << 8;
			near |= eight(filter, p + 16 * e.width) << 16;
			step = 24;
		}
		if (e.n - i < step)
			near &= sx_low_bits((unsigned)(e.n - i));
		found = sx_emit_u16(near, i, hits, found);
	}
	return found + sx_near_low_plain(sx_count_builtin, e, i, query, k, hits + found);
}

/** Place of set bit number i of a word that has more than i. */
typedef unsigned sx_select_fn(uint64_t word, unsigned i);

/** By halving: counts of ever smaller groups tell on which side the bit is. */
SX_INLINE unsigned sx_select_halving(uint64_t word, unsigned i)
{
	const uint64_t byte = UINT64_C(0x0101010101010101);
	uint64_t pairs = word - (word >> 1 & UINT64_C(0x5555555555555555));
	uint64_t fours = (pairs & UINT64_C(0x3333333333333333)) +
			 (pairs >> 2 & UINT64_C(0x3333333333333333));
	/* In byte b the bits of bytes 0..b: 64 at most. */
	uint64_t sums = ((fours + (fours >> 4)) & 0xf * byte) * byte;
	/* The top bit of byte b is left where they are not more than i. */
	uint64_t over = (i * byte | 0x80 * byte) - sums;
	unsigned place = 8 * (unsigned)((over >> 7 & byte) * byte >> 56);
	unsigned left = i - (unsigned)(sums << 8 >> place & 0xff), here, right;

	here = (unsigned)(fours >> place) & 0xf;
	right = left >= here;
	left -= here & -right;
	place += 4 * right;
	here = (unsigned)(pairs >> place) & 3;
	right = left >= here;
	left -= here & -right;
	place += 2 * right;
	here = (unsigned)(word >> place) & 1;
	return place + (left >= here);
}

/** ranks() */
SX_INLINE void sx_ranks_plain(sx_count_fn *count, sx_select_fn *select,
			      const unsigned char *bitmap, size_t n_words, const uint64_t *zeros,
			      unsigned n, uint64_t *ones)
{
	uint64_t before = 0; /* zeros in the words before w */
	unsigned i = 0;

	for (; i < n && !zeros[i]; i++)
		ones[i] = 0;
	for (size_t w = 0; w < n_words && i < n; w++) {
		uint64_t clear = ~sx_load_le64(bitmap + 8 * w);
		unsigned here = count(clear);

		for (; i < n && zeros[i] - before <= here; i++)
			ones[i] = 64 * w + select(clear, (unsigned)(zeros[i] - before - 1)) -
				  (zeros[i] - 1);
		before += here;
	}
	for (; i < n; i++)
		ones[i] = 64 * n_words - before;
}

/** Key of entry i, whose bit is number `place`. Its low bytes are followed by a bitmap word. */
SX_INLINE uint64_t sx_key_at(const sx_coded *c, size_t i, uint64_t place)
{
	uint64_t low = sx_load_le64(c->low + i * c->width) & sx_low_bits(8 * c->width);

	return c->width >= 8 ? low : (c->base + place - i) << (8 * c->width) | low;
}

/** complete() */
SX_INLINE size_t sx_complete_plain(sx_count_fn *count, sx_select_fn *select, const sx_coded *c,
				   size_t from, const uint16_t *entry, size_t n,
				   uint64_t query, unsigned k, uint64_t *keys)
{
	size_t w = 0, before = 0, h = 0, kept = 0;

	/* `before` bits are set in the words before w. */
	for (; w < c->n_words && h < n; w++) {
		uint64_t word = sx_load_le64(c->bitmap + 8 * w);
		size_t end = before + count(word);

		for (; h < n && from + entry[h] < end; h++) {
			size_t i = from + entry[h];
			unsigned place = select(word, (unsigned)(i - before));

			keys[kept] = sx_key_at(c, i, 64 * w + place);
			kept += count(keys[kept] ^ query) <= k;
		}
		before = end;
	}
	return kept;
}

/** decode() */
SX_INLINE size_t sx_decode_plain(sx_count_fn *count, sx_select_fn *select,
				 const sx_coded *coded, size_t from, size_t n, uint64_t *keys)
{
	const sx_coded c = *coded; /* a copy that no store to keys can change */
	size_t w = 0, before = 0, i = from;
	uint64_t word = 0;

	for (; w < c.n_words; w++) {
		unsigned here;

		word = sx_load_le64(c.bitmap + 8 * w);
		here = count(word);
		if (from - before < here)
			break;
		before += here;
	}
	if (w == c.n_words || !n)
		return 0;
	/* From here on `word` is what is left of word w. */
	word &= UINT64_MAX << select(word, (unsigned)(from - before));
	while (i < from + n) {
		for (; word && i < from + n; word &= word - 1, i++)
			keys[i - from] =
				sx_key_at(&c, i, 64 * w + (unsigned)__builtin_ctzll(word));
		if (++w == c.n_words)
			break;
		word = sx_load_le64(c.bitmap + 8 * w);
	}
	return i - from;
}

/* The plain loops as static functions for one instruction set. */

#define SX_DEFINE_PLAIN_FILTERS(isa, target, count)                                           \
	target static size_t near_low_##isa(const unsigned char *low, unsigned width,         \
					    size_t n, size_t readable, uint64_t query,        \
					    unsigned k, uint16_t *hits)                       \
	{                                                                                     \
		return sx_near_low_plain(count, (sx_low_bytes){ low, width, n, readable }, 0, \
					 query, k, hits);                                     \
	}                                                                                     \
	target static size_t near_u64_##isa(const uint64_t *fps, size_t n, uint64_t query,    \
					    unsigned k, uint32_t *hits)                       \
	{                                                                                     \
		return sx_near_u64_plain(count, fps, 0, n, query, k, hits);                   \
	}                                                                                     \
	target static size_t near_after_##isa(const uint64_t *v, size_t *from, size_t n,      \
					      unsigned reach, uint64_t same, unsigned k,      \
					      uint64_t *hits, size_t room)                    \
	{                                                                                     \
		return sx_near_after_plain(count, v, from, n, reach, same, k, hits, room);    \
	}

#define SX_DEFINE_PLAIN_BITMAPS(isa, target, count, select)                                   \
	target static void ranks_##isa(const unsigned char *bitmap, size_t n_words,           \
				       const uint64_t *zeros, unsigned n, uint64_t *ones)     \
	{                                                                                     \
		sx_ranks_plain(count, select, bitmap, n_words, zeros, n, ones);               \
	}                                                                                     \
	target static size_t complete_##isa(const sx_coded *coded, size_t from,               \
					    const uint16_t *entry, size_t n, uint64_t query,  \
					    unsigned k, uint64_t *keys)                       \
	{                                                                                     \
		return sx_complete_plain(count, select, coded, from, entry, n, query, k,      \
					 keys);                                               \
	}                                                                                     \
	target static size_t decode_##isa(const sx_coded *coded, size_t from, size_t n,       \
					  uint64_t *keys)                                     \
	{                                                                                     \
		return sx_decode_plain(count, select, coded, from, n, keys);                  \
	}

/** Put what was defined into a kernel. */
#define SX_USE_FILTERS(kernel, isa)                                                           \
	((kernel)->near_low = near_low_##isa, (kernel)->near_u64 = near_u64_##isa,            \
	 (kernel)->near_after = near_after_##isa)
#define SX_USE_BITMAPS(kernel, isa)                                                           \
	((kernel)->ranks = ranks_##isa, (kernel)->complete = complete_##isa,                  \
	 (kernel)->decode = decode_##isa)

#endif /* SX_KERNEL_PLAIN_H */
