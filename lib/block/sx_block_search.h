/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Blocks as a search sees them: keys only, one probe after the other, with the kernel that the
 * caller has chosen. A probe is open_keys, range, near.
 */

#ifndef SX_BLOCK_SEARCH_H
#define SX_BLOCK_SEARCH_H

#include "block/sx_block.h"
#include "block/sx_block_layout.h"
#include "kernel/sx_kernel.h"
#include "util/sx_bytes.h"

/**
 * sx_block_open() for the keys alone: columns and `used` are not set.
 *
 * @return NULL, or what is wrong: a static string
 */
static inline const char *sx_block_open_keys(sx_block *b, const void *value, size_t size)
{
	sx_block_shape shape;

	if (size < SX_MIN_BLOCK_SIZE || size > SX_MAX_BLOCK_SIZE)
		return "its size is not a block's";
	b->data = (const unsigned char *)value;
	b->size = size;
	b->n_cols = 0;
	shape = sx_block_shape_of(sx_load_le32(b->data + SX_BLOCK_SHAPE_AT));
	b->width = shape.width;
	b->n = shape.n;
	b->n_words = shape.n_words;
	b->base = sx_load_le64(b->data + SX_BLOCK_BASE_AT);
	if (!b->n || b->width > 8 || b->n_words * 64 < b->n ||
	    b->n * b->width + b->n_words * 8 > size - SX_BLOCK_HEADER)
		return "its header is impossible";
	b->low = b->data + SX_BLOCK_HEADER;
	b->bitmap = b->low + b->n * b->width;
	return NULL;
}

/** Where the low bytes of entry i lie, in a block with `width` of them an entry. */
static inline const unsigned char *sx_block_low(const unsigned char *value, unsigned width, size_t i)
{
	return value + SX_BLOCK_HEADER + i * width;
}

/** Low bytes of entry i. The 8 bytes read may reach into the bitmap, which has at least 8. */
static inline uint64_t sx_coded_low(const sx_coded *c, size_t i)
{
	return sx_load_le64(c->low + i * c->width) & sx_low_bits(8 * c->width);
}

/** The keys as the kernels take them. */
static inline sx_coded sx_block_coded(const sx_block *b)
{
	return (sx_coded){ b->low, b->bitmap, b->n_words, b->width, b->base };
}

/**
 * Of n keys, the entries with keys in [low, high], low <= high: [*from, *to), *from <= *to <= n.
 * One pass over the bitmap when no low bytes need to be compared: those of `low` are 0, and all
 * bits of those of `high` are set, as for a prefix that is no longer than the high part.
 */
void sx_coded_range(const sx_kernel *kernel, const sx_coded *keys, size_t n, uint64_t low,
		    uint64_t high, size_t *from, size_t *to);

/** The same of an open block. */
void sx_block_range(const sx_kernel *kernel, const sx_block *block, uint64_t low,
		    uint64_t high, size_t *from, size_t *to);

/** sx_coded_hits() that compares whole keys, for where the low bytes tell too few apart. */
size_t sx_coded_near_whole(const sx_kernel *kernel, const sx_coded *keys, size_t from, size_t to,
			   uint64_t query, unsigned k, uint64_t *hits);

/* Completing one key takes as long as decoding about so many; a few are completed in any case. */
#define SX_WHOLE_SHARE 8
#define SX_WHOLE_FROM 16

/**
 * Complete what near_low() of a kernel has found among entries [from, to): n entries, by their
 * numbers from `from` on. Writes those keys that differ from `query` in at most k bits.
 *
 * @param hits  room for to - from keys, in ascending order
 * @return how many
 */
static inline size_t sx_coded_hits(const sx_kernel *kernel, const sx_coded *keys, size_t from,
				   size_t to, uint64_t query, unsigned k, uint64_t *hits,
				   const uint16_t *entry, size_t n)
{
	if (n > SX_WHOLE_FROM && n > (to - from) / SX_WHOLE_SHARE)
		return sx_coded_near_whole(kernel, keys, from, to, query, k, hits);
	return n ? kernel->complete(keys, from, entry, n, query, k, hits) : 0;
}

/**
 * The keys among entries [from, to) of an open block that differ from `query` in at most k bits.
 *
 * @param hits   room for to - from keys, in ascending order
 * @param entry  room for to - from numbers (scratch)
 * @return how many
 */
size_t sx_block_near(const sx_kernel *kernel, const sx_block *block, size_t from, size_t to,
		     uint64_t query, unsigned k, uint64_t *hits, uint16_t *entry);

#endif /* SX_BLOCK_SEARCH_H */
