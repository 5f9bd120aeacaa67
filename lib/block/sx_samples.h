/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Rank samples of a block: how many of its entries lie before each of some parts of its keys. They
 * are kept in memory and tell nearly which entries a range of keys has, so that these can be
 * prefetched, and most of them rejected, without waiting for the block's header and bitmap.
 *
 * The high parts of a block's keys, less the first one's, are at most the number of zeros in its
 * bitmap. That span is divided into SX_SAMPLES_PARTS parts of about the same length. Keys that
 * are spread evenly have the same number of entries in each part; a sample is the difference from
 * that: `off`, in units of 2^unit, rounded down. The unit is 1 unless keys are spread very unevenly.
 *
 * Making samples takes longer than reading a block without them, so they are made when the block
 * is read for the second time. Threads share samples: one thread writes them, the others do not
 * wait for it.
 */

#ifndef SX_SAMPLES_H
#define SX_SAMPLES_H

#include <assert.h>
#include <stdatomic.h>

#include "block/sx_block_search.h"
#include "util/sx_prefetch.h"

/** Parts of a block that have a sample each: as many as a cache line has room for. */
#define SX_SAMPLES_PARTS 46

typedef struct sx_samples {
	uint64_t base;          /* high part of the block's first key */
	_Atomic uint32_t shape; /* as in the block's header; without entries: not made yet */
	uint32_t scale;
	uint8_t unit;           /* of `off`, its logarithm */
	int8_t off[SX_SAMPLES_PARTS + 1];
} sx_samples;

static_assert(sizeof(sx_samples) == SX_CACHE_LINE, "samples are read with one cache miss");

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

/** Unpacked from one read, so that it stays in registers. */
SX_INLINE sx_block_shape sx_samples_shape(const sx_samples *s)
{
	return sx_block_shape_of(atomic_load_explicit(&s->shape, memory_order_relaxed));
}

/** True if the samples are made. They never change from then on. */
static inline int sx_samples_are_made(const sx_samples *s)
{
	return sx_block_shape_of(atomic_load_explicit(&s->shape, memory_order_acquire)).n != 0;
}

/** Note that a block is read whose samples are not made. Returns 1 if they should be made now. */
int sx_samples_are_due(sx_samples *shared);

/**
 * Make the samples of a block that are due, and share them unless another thread does.
 *
 * @param out  the samples; sx_samples_locate() can be called with them at once
 * @return NULL, or what is wrong with the block: a static string
 */
const char *sx_samples_make(sx_samples *shared, const void *value, size_t size,
			    const sx_kernel *kernel, sx_samples *out);

/**
 * Look at a block as a guess at the others of its table. A damaged block gives a guess without a
 * bitmap and columns.
 */
void sx_block_guess_make(sx_block_guess *guess, const void *value, size_t size, unsigned n_cols);

/**
 * Find the entries of keys [low, high] by the samples of a block, and prefetch them: the low
 * bytes, the bitmap where it begins for them, and the columns where they are if all columns are
 * as wide as in the guess. Does not read the block.
 *
 * @param from, to  entries [from, to): all of the range and at most those of two parts more;
 *                  from = to if there are none
 */
SX_INLINE void sx_samples_locate(const sx_samples *samples, const unsigned char *value,
				 const sx_block_guess *guess, uint64_t low, uint64_t high,
				 uint16_t *from, uint16_t *to);

/** Prefetch what is read first of a block without samples: its header, and its bitmap by a guess. */
SX_INLINE void sx_block_prefetch(const unsigned char *value, const sx_block_guess *guess)
{
	sx_prefetch(value);
	sx_prefetch_lines(value + guess->bitmap, guess->bitmap_bytes, 4);
}

/** Prefetch bytes of entries; from 24 lines on the CPU has noticed and goes on by itself. */
SX_INLINE void sx_block_prefetch_entries(const unsigned char *at, size_t from, size_t to,
					 size_t width)
{
	sx_prefetch_lines(at + from * width, (to - from) * width, 24);
}

/**
 * The part of a block that has the keys [low, high]; the whole block if its samples are not made.
 * Of entries after the last part it has low bytes, but perhaps no bits.
 *
 * @param size  of the value; a damaged block without samples gives a window without entries
 */
void sx_samples_window(const sx_samples *samples, const unsigned char *value, size_t size,
		       uint64_t low, uint64_t high, sx_window *window);

/* How all of this is computed. */

#define SX_SAMPLES_SCALE_BITS 24

/** The number of high parts to divide. */
SX_INLINE uint64_t sx_samples_span(sx_block_shape shape)
{
	return 64 * shape.n_words - shape.n + 1;
}

/** The first high part of part 0..SX_SAMPLES_PARTS, less the block's base. */
SX_INLINE uint64_t sx_samples_start(uint64_t span, unsigned part)
{
	return (part * span + SX_SAMPLES_PARTS - 1) / SX_SAMPLES_PARTS;
}

/** Parts of a block. */
typedef struct sx_parts {
	unsigned first, last;
} sx_parts;

/** The part that a high part below the span is in. */
SX_INLINE unsigned sx_samples_part(const sx_samples *s, uint64_t span, uint64_t high)
{
	unsigned part = (unsigned)(high * s->scale >> SX_SAMPLES_SCALE_BITS);

	/* The scale is rounded down. */
	return part + (sx_samples_start(span, part + 1) <= high);
}

/** The parts that keys [low, high] lie in. Returns 0 if the block has no such keys, else 1. */
SX_INLINE int sx_samples_parts(const sx_samples *s, sx_block_shape shape, uint64_t low,
			       uint64_t high, sx_parts *parts)
{
	uint64_t first = sx_block_high(low, shape.width);
	uint64_t last = sx_block_high(high, shape.width);
	uint64_t span = sx_samples_span(shape);

	if (last < s->base)
		return 0;
	last -= s->base;
	first = first > s->base ? first - s->base : 0;
	parts->first = sx_samples_part(s, span, first < span ? first : span - 1);
	parts->last = sx_samples_part(s, span, last < span ? last : span - 1);
	return 1;
}

/** Entries before part 0..SX_SAMPLES_PARTS: at least the result, and less than a unit more. */
SX_INLINE int sx_samples_rank(const sx_samples *s, sx_block_shape shape, unsigned part)
{
	return (int)(part * shape.n / SX_SAMPLES_PARTS) + s->off[part] * (1 << s->unit);
}

/** Lower bound of the number of entries before a part. */
SX_INLINE unsigned sx_samples_min(const sx_samples *s, sx_block_shape shape, unsigned part)
{
	int min = sx_samples_rank(s, shape, part);

	return min < 0 ? 0 : (unsigned)min;
}

/** Upper bound of the number of entries before a part. */
SX_INLINE unsigned sx_samples_max(const sx_samples *s, sx_block_shape shape, unsigned part)
{
	unsigned max = (unsigned)(sx_samples_rank(s, shape, part) + (1 << s->unit) - 1);

	return max < shape.n ? max : (unsigned)shape.n;
}

/** Where the bits of a part begin in the bitmap, if the unit is 1. */
SX_INLINE size_t sx_samples_bit(const sx_samples *s, sx_block_shape shape, unsigned part)
{
	return sx_samples_start(sx_samples_span(shape), part) + sx_samples_min(s, shape, part);
}

SX_INLINE void sx_samples_locate(const sx_samples *samples, const unsigned char *value,
				 const sx_block_guess *guess, uint64_t low, uint64_t high,
				 uint16_t *from, uint16_t *to)
{
	sx_block_shape shape = sx_samples_shape(samples);
	const unsigned char *at = value + SX_BLOCK_HEADER;
	sx_parts parts;

	*from = *to = 0;
	if (!sx_samples_parts(samples, shape, low, high, &parts))
		return;
	*from = (uint16_t)sx_samples_min(samples, shape, parts.first);
	*to = (uint16_t)sx_samples_max(samples, shape, parts.last + 1);
	if (*to <= *from)
		return;
	sx_block_prefetch_entries(at, *from, *to, shape.width);
	at += shape.n * shape.width;
	sx_prefetch(at + sx_samples_bit(samples, shape, parts.first) / 8);
	at += 8 * shape.n_words;
	for (unsigned c = 0; c < guess->n_cols; c++) {
		sx_prefetch(at);
		at += SX_BLOCK_COL_HEADER;
		sx_block_prefetch_entries(at, *from, *to, guess->col_width[c]);
		at += shape.n * guess->col_width[c];
	}
}

#endif /* SX_SAMPLES_H */
