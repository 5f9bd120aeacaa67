/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The bitmap functions of sx_near.h, to be inlined into functions that are compiled for some
 * instruction set.
 */

#ifndef SX_BITMAP_PLAIN_H
#define SX_BITMAP_PLAIN_H

#include "kernel/sx_kernel.h"
#include "kernel/sx_near_plain.h"

/** Place of set bit number i of a word that has more than i. */
typedef unsigned sx_select_fn(uint64_t word, unsigned i);

/**
 * By halving: counts of ever smaller groups tell on which side the bit is.
 */
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

#endif /* SX_BITMAP_PLAIN_H */
