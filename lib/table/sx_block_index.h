/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A block index of the blocks of one table, in memory: of each block its last key, where it lies
 * and rank samples of what is in it, in one cache line; and how many blocks lie before some keys,
 * the knots, between which a key's block is nearly found by interpolation. It takes the place of
 * LMDB's descents.
 *
 * A block index holds addresses inside the memory map. They are those of the snapshot that it was
 * made in, and of every other snapshot in which the table has the same generation, because a
 * block never changes where it lies; as long as the map does not move. The caller sees to both.
 * It only ever reads a block index, so threads may share one.
 */

#ifndef SX_BLOCK_INDEX_H
#define SX_BLOCK_INDEX_H

#include "block/sx_block_search.h"
#include "table/sx_table.h"

/** A block of a table. */
typedef struct sx_entry {
	uint64_t last; /* its last key, or the fence after that; they ascend */
	int32_t page;  /* where it lies, in pages from the anchor */
	sx_samples samples;
} sx_entry;

static_assert(sizeof(sx_entry) == SX_CACHE_LINE, "a block costs one cache miss");

/** Bits of a place that are a part of a block. */
#define SX_PLACE_PART 16

/** How many blocks lie before a key. */
typedef struct sx_knot {
	uint64_t place; /* blocks, and a part of a block */
	int64_t page;   /* of the first block after it, less the number of that: most often each
	                   block lies in the page after that of the block before */
} sx_knot;

typedef struct sx_block_index {
	const sx_table *table;
	size_t n;       /* blocks */
	uint64_t rows;  /* entries of the table, as the caller said */
	uint64_t max;   /* last key of the last block */
	unsigned shift; /* bits of a key between two knots */
	sx_knot *knot;   /* by the bits above; one more at the end */
	sx_entry *entry; /* by block */
	const unsigned char *anchor; /* the value of the first block */
	size_t page_size;
	size_t bytes;   /* memory that it takes */
	sx_block_guess guess; /* of some block in the middle */
} sx_block_index;

/** So many blocks between two knots, or the knots around a range, are crowded. */
#define SX_BLOCK_INDEX_LARGE 24

/** Memory that the block index of a table with `blocks` blocks will take. */
size_t sx_block_index_size(uint64_t blocks);

/**
 * Make the block index of a table in the blocks layout. Reads the store's tree of keys, and of the
 * blocks none but one.
 *
 * @param rows  entries of the table
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT if its keys or values are not what they should be, also
 *         where LMDB keeps a block in another place than a page of its own, or 2^31 pages from
 *         the first one
 */
int sx_block_index_make(const sx_table *table, sx_txn *txn, uint64_t rows, sx_block_index **out,
		      simidx_error *err);

/** NULL is allowed. */
void sx_block_index_free(sx_block_index *blocks);

/** About where a key up to d->max is: between its knots, if keys are spread evenly. */
static inline uint64_t sx_block_index_about(const sx_block_index *d, uint64_t key)
{
	const sx_knot *knot = &d->knot[key >> d->shift];
	unsigned cut = d->shift > SX_PLACE_PART ? d->shift - SX_PLACE_PART : 0;
	uint64_t part = (key & sx_low_bits(d->shift)) >> cut;

	return knot[0].place + ((knot[1].place - knot[0].place) * part >> (d->shift - cut));
}

/** Have the CPU fetch the entry in which sx_block_index_find() will look for a key first. */
SX_INLINE void sx_block_index_prefetch(const sx_block_index *d, uint64_t key)
{
	if (d->n && key <= d->max)
		sx_prefetch(&d->entry[sx_block_index_about(d, key) >> SX_PLACE_PART]);
}

/**
 * The same, and what most probably is read of the block: the CPU takes longest to translate the
 * address of its page, and need not wait for the entry to begin with it. Returns the block that is
 * likely to have the key; blocks->n if none has.
 */
static inline size_t sx_block_index_guess(const sx_block_index *d, uint64_t key)
{
	uint64_t about, i, page, at;

	if (!d->n || key > d->max)
		return d->n;
	about = sx_block_index_about(d, key);
	i = about >> SX_PLACE_PART;
	sx_prefetch(&d->entry[i]);
	page = (uint64_t)d->knot[key >> d->shift].page + i;
	at = (about & sx_low_bits(SX_PLACE_PART)) * d->guess.bitmap >> SX_PLACE_PART;
	sx_prefetch(d->anchor + (ptrdiff_t)page * (ptrdiff_t)d->page_size + at);
	return (size_t)i;
}

/** sx_block_index_find() where a guess is wrong, or nothing tells that it is right. */
size_t sx_block_index_search(const sx_block_index *blocks, uint64_t key, size_t guess);

/**
 * The first block whose last key is >= `key`; blocks->n if there is none. `guess` is what
 * sx_block_index_guess() has said of this key.
 */
static inline size_t sx_block_index_find_guessed(const sx_block_index *d, uint64_t key,
						 size_t guess)
{
	if (guess < d->n && d->entry[guess].last >= key &&
	    sx_samples_begin_before(&d->entry[guess].samples, key))
		return guess;
	return sx_block_index_search(d, key, guess);
}

/** The same without a guess. */
static inline size_t sx_block_index_find(const sx_block_index *d, uint64_t key)
{
	return sx_block_index_find_guessed(d, key, sx_block_index_guess(d, key));
}

/** Where the value of block i lies. */
static inline const unsigned char *sx_block_index_block(const sx_block_index *d, size_t i)
{
	return d->anchor + (ptrdiff_t)d->entry[i].page * (ptrdiff_t)d->page_size;
}

/** About how many entries have keys in [low, high]; exact to some entries at either end. */
uint64_t sx_block_index_count(const sx_block_index *blocks, uint64_t low, uint64_t high);

/** The same for ranges that may be large; 0 for all others, from the knots alone. */
static inline uint64_t sx_block_index_count_if_large(const sx_block_index *b, uint64_t low,
						     uint64_t high)
{
	uint64_t last = high < b->max ? high : b->max;

	if (!b->n || low > last ||
	    (b->knot[(last >> b->shift) + 1].place - b->knot[low >> b->shift].place) >>
			    SX_PLACE_PART <
		    SX_BLOCK_INDEX_LARGE)
		return 0;
	return sx_block_index_count(b, low, high);
}

/**
 * The part [0, 1] of block i, which covers `key`, that lies before it, if keys are spread evenly.
 */
double sx_block_index_part(const sx_block_index *blocks, size_t i, uint64_t key);

#endif /* SX_BLOCK_INDEX_H */
