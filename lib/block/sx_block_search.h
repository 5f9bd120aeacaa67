/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Blocks as a search sees them: keys only, one probe after the other, with the kernel that the
 * caller has chosen. A probe is open_keys, range, near.
 */

#ifndef SX_BLOCK_SEARCH_H
#define SX_BLOCK_SEARCH_H

#include <assert.h>
#include <stdatomic.h>

#include "block/sx_block.h"

/** Where the low bytes of entry i lie, in a block with `width` of them an entry. */
static inline const unsigned char *sx_block_low(const unsigned char *value, unsigned width,
						size_t i)
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

/*
 * ------------------------------------------------------------------------------------------
 * Rank samples of a block: how many of its entries lie before each of some parts of its keys. They
 * are kept in memory and tell nearly which entries a range of keys has, so that these can be
 * prefetched, and most of them rejected, without waiting for the block's header and bitmap.
 *
 * A part is the keys whose high parts agree but for their last `shift` bits: ranges of keys that
 * share a prefix begin and end where parts do, unless they are shorter. `shift` is the least with
 * which SX_SAMPLES_PARTS are enough. Keys that are spread evenly have the same number of entries
 * in each part, `slope`; a sample is the difference from that: `off`, in units of 2^unit, rounded
 * down. `unit` is 0, and samples are exact, unless keys are spread very unevenly.
 *
 * Making samples takes as long as they save in about ten reads, so they are made when a block has
 * been read some times. Threads share samples: one thread writes them, the others do not wait for
 * it.
 */

/** Most parts of a block: as many samples as a cache line has room for. */
#define SX_SAMPLES_PARTS 34

/** No member is wider than 4 bytes, so that a block index has room for 12 in the same line. */
typedef struct sx_samples {
	uint32_t base_low, base_high; /* high part of the block's first key */
	_Atomic uint32_t shape; /* as in the block's header; without entries: not made yet */
	uint16_t slope;         /* in sixteenths of an entry */
	uint8_t unit, shift;    /* logarithms */
	uint8_t parts;          /* that the block has */
	int8_t off[SX_SAMPLES_PARTS + 1];
} sx_samples;

/** What a block probably looks like: as another one of its table does. */
typedef struct sx_block_guess {
	unsigned bitmap, bitmap_bytes; /* where it begins in the block; its size */
	unsigned n_cols, col_width[SX_MAX_COLS];
} sx_block_guess;

/** Some entries of a block, coded as all of its entries are. */
typedef struct sx_window {
	sx_coded keys;
	size_t n;      /* entries */
	size_t before; /* entries of the block before the first one */
} sx_window;

/** Set samples that are not made yet. */
static inline void sx_samples_init(sx_samples *s)
{
	atomic_init(&s->shape, 0);
}

/** True if no read of this block was noted yet. */
static inline int sx_samples_are_new(const sx_samples *s)
{
	return !atomic_load_explicit(&s->shape, memory_order_relaxed);
}

/** The high part of the first key of a block whose samples are made. */
static inline uint64_t sx_samples_base(const sx_samples *s)
{
	return (uint64_t)s->base_high << 32 | s->base_low;
}

/** True if samples tell that a block begins before a key, so that it is not in a block before. */
static inline int sx_samples_begin_before(const sx_samples *s, uint64_t key)
{
	sx_block_shape shape =
		sx_block_shape_of(atomic_load_explicit(&s->shape, memory_order_acquire));

	return shape.n && sx_block_high(key, shape.width) > sx_samples_base(s);
}

/** Note that a block is read whose samples are not made. Returns 1 if they should be made now. */
int sx_samples_are_due(sx_samples *shared);

/**
 * Make the samples of a block that are due, and share them unless another thread does.
 *
 * @param number  of its table
 * @param out     the samples; sx_samples_locate() can be called with them at once
 * @return NULL, or what is wrong with the block: a static string
 */
const char *sx_samples_make(sx_samples *shared, const void *value, size_t size, unsigned number,
			    const sx_kernel *kernel, sx_samples *out);

/**
 * Look at a block as a guess at the others of its table. A damaged block gives a guess without a
 * bitmap and columns.
 */
void sx_block_guess_make(sx_block_guess *guess, const void *value, size_t size, unsigned n_cols);

/** Entries of a block. */
typedef struct sx_entries {
	uint16_t from, to; /* [from, to) */
	uint8_t width;     /* low bytes of each */
} sx_entries;

/**
 * Find the entries of keys [low, high] by the samples of a block, and prefetch them: the low
 * bytes, and the columns where they are if all columns are as wide as in the guess. Not the bitmap:
 * nearly always low bytes tell that nothing is near. Does not read the block.
 *
 * @param out  all entries of the range and at most those of two parts more; from = to if there
 *             are none
 * @return 1, or 0 if the samples are not made
 */
int sx_samples_locate(const sx_samples *samples, const unsigned char *value,
		      const sx_block_guess *guess, uint64_t low, uint64_t high, sx_entries *out);

/** Cache lines of entries that are prefetched; the CPU notices and goes on by itself. */
#define SX_BLOCK_PREFETCH 24

/**
 * Prefetch what is read first of a block without samples: its header, and its bitmap by a guess.
 */
SX_INLINE void sx_block_prefetch(const unsigned char *value, const sx_block_guess *guess)
{
	sx_prefetch(value);
	sx_prefetch_lines(value + guess->bitmap, guess->bitmap_bytes, 4);
}

/**
 * The part of a block that has the keys [low, high]; the whole block if its samples are not made.
 * Of entries after the last part it has low bytes, but perhaps no bits.
 *
 * @param size  of the value; a damaged block without samples gives a window without entries
 */
void sx_samples_window(const sx_samples *samples, const unsigned char *value, size_t size,
		       uint64_t low, uint64_t high, sx_window *window);

#endif /* SX_BLOCK_SEARCH_H */
