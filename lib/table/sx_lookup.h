/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Ranges of keys, looked up through block indexes in stages, so that the waits for memory of all
 * of them overlap: offsets, rank samples of blocks, low bytes. What comes out are pieces: entries
 * [from, to) of one block, on their way into the cache.
 */

#ifndef SX_LOOKUP_H
#define SX_LOOKUP_H

#include "kernel/sx_bits.h"
#include "kernel/sx_kernel.h"
#include "table/sx_block_index.h"

/** Pieces that are under way at once. */
#define SX_LOOKUP_PIECES 64

typedef struct sx_range {
	const sx_block_index *blocks;
	uint64_t low, high;
} sx_range;

typedef struct sx_piece {
	const unsigned char *value; /* the block */
	uint32_t range;             /* number of the range it belongs to */
	uint32_t number;            /* of the block in the block index */
	uint16_t from, to;          /* entries: those of the range, and some before and behind */
	uint8_t width;              /* low bytes of an entry */
} sx_piece;

typedef struct sx_lookup {
	const sx_range *range;
	size_t n_ranges;
	size_t next;   /* the first range that is not looked up to its end */
	size_t ahead;  /* ranges whose offsets are on their way */
	size_t block;  /* of range `next`: the block to go on with, or SIZE_MAX */
	size_t first;  /* pieces of a range that are found before it is asked for more of it */
	uint64_t blocks; /* pieces so far */
	size_t n;      /* pieces at hand */
	sx_piece piece[SX_LOOKUP_PIECES];
} sx_lookup;

/**
 * Begin. The ranges and their block indexes stay until the end; low <= high.
 *
 * @param first  pieces of a range that may be all that is wanted of it, at least 1: the others
 *               are found only when sx_lookup_find() is called again
 */
void sx_lookup_begin(sx_lookup *lookup, const sx_range *ranges, size_t n, size_t first);

/**
 * Find the next pieces, up to SX_LOOKUP_PIECES, in the order of the ranges. lookup->n = 0: there
 * are no more.
 */
void sx_lookup_find(sx_lookup *lookup);

/** No more of the range of the last piece is wanted: go on with the next one. */
void sx_lookup_leave(sx_lookup *lookup);

/**
 * Set from and to of the pieces at hand and have the entries fetched. They hold the entries of
 * the range, and up to those of two parts of the block more (sx_samples.h). Blocks that are not
 * in memory should have been asked for before.
 *
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT
 */
int sx_lookup_locate(sx_lookup *lookup, const sx_kernel *kernel, simidx_error *err);

/** The same, but exact: from and to are the entries of the range and no others. */
int sx_lookup_locate_exactly(sx_lookup *lookup, const sx_kernel *kernel, simidx_error *err);

/**
 * How many bits the low bytes of a key of a piece may differ in, if the key does in k: all keys
 * of its range begin alike, and what differs there is used up. -1: none can be near.
 */
static inline int sx_lookup_left(const sx_lookup *lookup, const sx_piece *piece, uint64_t query,
				 unsigned k)
{
	const sx_range *r = &lookup->range[piece->range];
	uint64_t differ = r->low ^ r->high;
	uint64_t alike = differ ? ~(UINT64_MAX >> __builtin_clzll(differ)) : UINT64_MAX;
	uint64_t used = (r->low ^ query) & alike & ~sx_low_bits(8 * piece->width);

	return used ? (int)(k - sx_count_plain(used)) : (int)k;
}

/**
 * Of the first n entries of a located piece: the numbers, from its first one on, of those whose
 * low bytes differ from the query's in at most `left` bits. Some are not in the range, and some
 * differ in more of the bits before these.
 *
 * @param n      up to to - from, at least 1
 * @param entry  room for n
 * @return how many
 */
size_t sx_lookup_filter(const sx_lookup *lookup, const sx_piece *piece, const sx_kernel *kernel,
			size_t n, uint64_t query, unsigned left, uint16_t *entry);

/**
 * The keys of what sx_lookup_filter() has found, n_near, as far as they lie in the range and do
 * differ in at most k bits.
 *
 * @param hits  room for n keys, in ascending order
 * @return how many
 */
size_t sx_lookup_complete(const sx_lookup *lookup, const sx_piece *piece, const sx_kernel *kernel,
			  size_t n, uint64_t query, unsigned k, const uint16_t *entry,
			  size_t n_near, uint64_t *hits);

/** Both. */
size_t sx_lookup_near(const sx_lookup *lookup, const sx_piece *piece, const sx_kernel *kernel,
		      size_t n, uint64_t query, unsigned k, uint64_t *hits, uint16_t *entry);

/** Whether a key of the table, which has no key twice, is in a piece and its range. */
int sx_lookup_has(const sx_lookup *lookup, const sx_piece *piece, uint64_t key);

/** SIMIDX_E_CORRUPT for a block that lies in a block index. */
int sx_block_index_damaged(const sx_block_index *blocks, size_t block, const char *what,
			 simidx_error *err);

#endif /* SX_LOOKUP_H */
