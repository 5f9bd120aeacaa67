/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A block index of the blocks of one table, in memory: the last key of each, where it lies and
 * rank samples of what is in it, and an offset array over the leading bits of the keys. It takes
 * the place of LMDB's descents.
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
	int64_t page;  /* where it lies, in pages from the anchor */
} sx_entry;

/** Where to begin to look for a key by its leading bits. */
typedef struct sx_slot {
	uint32_t first; /* first block whose last key is in this slot or after */
	int32_t page;   /* of that block: most often it is the one, and can be fetched at once */
} sx_slot;

typedef struct sx_block_index {
	const sx_table *table;
	size_t n;       /* blocks */
	uint64_t rows;  /* entries of the table, as the caller said */
	uint64_t max;   /* last key of the last block */
	unsigned shift; /* slot of a key up to max: its bits from here on */
	sx_slot *slot;  /* one more at the end */
	sx_entry *entry;     /* by block */
	sx_samples *samples; /* by block */
	const unsigned char *anchor; /* the value of the first block */
	size_t page_size;
	size_t bytes;   /* memory that it takes */
	sx_block_guess guess; /* of some block in the middle */
} sx_block_index;

/** Memory that the block index of a table with `blocks` blocks will take. */
size_t sx_block_index_size(uint64_t blocks);

/**
 * Make the block index of a table in the blocks layout. Reads the store's tree of keys, and of the
 * blocks none but one.
 *
 * @param rows  entries of the table
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT if its keys or values are not what they should be, also
 *         where LMDB keeps a block in another place than a page of its own
 */
int sx_block_index_make(const sx_table *table, sx_txn *txn, uint64_t rows, sx_block_index **out,
		      simidx_error *err);

/** NULL is allowed. */
void sx_block_index_free(sx_block_index *blocks);

/** Have the CPU fetch where sx_block_index_find() will begin to look for a key. */
SX_INLINE void sx_block_index_prefetch(const sx_block_index *d, uint64_t key)
{
	if (key <= d->max)
		sx_prefetch(&d->slot[key >> d->shift]);
}

/** The first block whose last key is >= `key`; blocks->n if there is none. */
static inline size_t sx_block_index_find(const sx_block_index *d, uint64_t key)
{
	size_t from, to;

	if (!d->n || key > d->max)
		return d->n;
	from = d->slot[key >> d->shift].first;
	to = d->slot[(key >> d->shift) + 1].first;
	/* Where keys are spread evenly a slot has less than one block; a hot one may have many. */
	while (to - from > 8) {
		size_t middle = from + (to - from) / 2;

		if (d->entry[middle].last < key)
			from = middle + 1;
		else
			to = middle;
	}
	/* One more or not, without a branch, which the CPU could not predict; seldom more. */
	from += (size_t)(d->entry[from].last < key);
	while (d->entry[from].last < key)
		from++;
	return from;
}

/** Where the value of block i lies. */
static inline const unsigned char *sx_block_index_block(const sx_block_index *d, size_t i)
{
	return d->anchor + (ptrdiff_t)d->entry[i].page * (ptrdiff_t)d->page_size;
}

/** About how many entries have keys in [low, high]; exact to some entries at either end. */
uint64_t sx_block_index_count(const sx_block_index *blocks, uint64_t low, uint64_t high);

/** Blocks in which a range may lie, by its slots, before its entries are counted. */
#define SX_BLOCK_INDEX_LARGE 16

/** The same for ranges that may be large; 0 for all others, from the slots alone. */
static inline uint64_t sx_block_index_count_if_large(const sx_block_index *b, uint64_t low,
						     uint64_t high)
{
	uint64_t last = high < b->max ? high : b->max;

	if (low > last || b->slot[(last >> b->shift) + 1].first - b->slot[low >> b->shift].first <
				 SX_BLOCK_INDEX_LARGE)
		return 0;
	return sx_block_index_count(b, low, high);
}

/**
 * The part [0, 1] of block i, which covers `key`, that lies before it, if keys are spread evenly.
 */
double sx_block_index_part(const sx_block_index *blocks, size_t i, uint64_t key);

#endif /* SX_BLOCK_INDEX_H */
