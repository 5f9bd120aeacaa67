/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Blocks as a search sees them: keys only, one probe after the other, with the kernel that the
 * caller has chosen. A probe is open_keys, range, near.
 */

#ifndef SX_BLOCK_SEARCH_H
#define SX_BLOCK_SEARCH_H

#include "block/sx_block.h"

/** Where the low bytes of entry i lie, in a block with `width` of them an entry. */
static inline const unsigned char *sx_block_low(const unsigned char *value, unsigned width, size_t i)
{
	return value + SX_BLOCK_HEADER + i * width;
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

/** The first entry whose key is >= `key`; block->n if there is none. Uses the best kernel. */
size_t sx_block_lower_bound(const sx_block *block, uint64_t key);

/** The first entry whose key is > `key`. */
size_t sx_block_upper_bound(const sx_block *block, uint64_t key);

/**
 * Complete what near_low() of a kernel has found among entries [from, to): n entries, by their
 * numbers from `from` on. Writes those keys that differ from `query` in at most k bits.
 *
 * @param hits  room for n keys, in ascending order
 * @return how many
 */
static inline size_t sx_coded_hits(const sx_kernel *kernel, const sx_coded *keys, size_t from,
				   size_t to, uint64_t query, unsigned k, uint64_t *hits,
				   const uint16_t *entry, size_t n)
{
	(void)to;
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
