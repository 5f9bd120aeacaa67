/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Outlines of blocks: how many entries lie before each of some parts of a block, in memory beside
 * the directory. They tell nearly which entries a range of keys has, so that these can be fetched,
 * and most often rejected, without waiting for the block's header and bitmap.
 *
 * The high parts of a block's keys, less the first one's, are below the number of zeros in its
 * bitmap + 1. They are divided into SX_PARTS parts of about the same length. Of keys that are
 * spread evenly about as many lie in each; what is kept is how far off they are: `off`, in units
 * of 2^unit, rounded down. The unit is 1 unless keys are spread very unevenly.
 *
 * An outline takes longer to make than a block to read without it, so it is made when a block is
 * read for the second time. Threads share outlines: one enters it, the others wait for nobody.
 */

#ifndef SX_OUTLINE_H
#define SX_OUTLINE_H

#include "block/sx_block_search.h"
#include "table/sx_directory.h"

#define SX_SCALE_BITS 24

/** Whether an outline is there; if so it stays as it is. */
static inline int sx_outline_is_known(const sx_outline *o)
{
	return (__atomic_load_n(&o->shape, __ATOMIC_ACQUIRE) >> SHAPE_N_SHIFT &
		SHAPE_N_MASK) != 0;
}

/** Note that a block is read for which there is no outline; 1 if it is to have one now. */
int sx_outline_is_due(sx_outline *shared);

/**
 * Make the outline of a block that is due, and enter it unless another thread does.
 *
 * @return NULL, or what is wrong with the block: a static string
 */
const char *sx_outline_make(sx_outline *shared, const void *value, size_t size,
			    const sx_kernel *kernel, sx_outline *out);

/** Low bytes of a key, 0..8. */
static inline unsigned sx_outline_width(const sx_outline *o)
{
	return o->shape & SHAPE_WIDTH_MASK;
}

static inline size_t sx_outline_n(const sx_outline *o)
{
	return o->shape >> SHAPE_N_SHIFT & SHAPE_N_MASK;
}

static inline size_t sx_outline_words(const sx_outline *o)
{
	return o->shape >> SHAPE_WORDS_SHIFT;
}

/** Where the bitmap begins, from the beginning of the block. */
static inline size_t sx_outline_bitmap(const sx_outline *o)
{
	return BLOCK_HEADER + sx_outline_n(o) * sx_outline_width(o);
}

/** How many high parts there are to divide. */
static inline uint64_t sx_outline_span(const sx_outline *o)
{
	return 64 * sx_outline_words(o) - sx_outline_n(o) + 1;
}

/** The first high part of part 0..SX_PARTS, less the block's base. */
static inline uint64_t sx_outline_start(uint64_t span, unsigned part)
{
	return (part * span + SX_PARTS - 1) / SX_PARTS;
}

/** Parts of a block. */
typedef struct sx_parts {
	unsigned first, last;
} sx_parts;

/** The part that a high part below the span is in. */
static inline unsigned sx_outline_part(const sx_outline *o, uint64_t span, uint64_t high)
{
	unsigned part = (unsigned)(high * o->scale >> SX_SCALE_BITS);

	/* The scale is rounded down. */
	return part + (sx_outline_start(span, part + 1) <= high);
}

/** The parts that keys [low, high] lie in; 0 if the block has no such keys, else 1. */
static inline int sx_outline_parts(const sx_outline *o, uint64_t low, uint64_t high,
				   sx_parts *parts)
{
	unsigned width = sx_outline_width(o);
	uint64_t first = high_part(low, width), last = high_part(high, width);
	uint64_t span = sx_outline_span(o);

	if (last < o->base)
		return 0;
	last -= o->base;
	first = first > o->base ? first - o->base : 0;
	parts->first = sx_outline_part(o, span, first < span ? first : span - 1);
	parts->last = sx_outline_part(o, span, last < span ? last : span - 1);
	return 1;
}

/** Entries before a part 0..SX_PARTS: so many at least, and less than a unit more. */
static inline int sx_outline_rank(const sx_outline *o, unsigned part)
{
	int off = o->off[part];

	return (int)(part * sx_outline_n(o) / SX_PARTS) + off * (1 << o->unit);
}

/** No fewer entries before a part than there are. */
static inline unsigned sx_outline_most(const sx_outline *o, unsigned part)
{
	unsigned most = (unsigned)(sx_outline_rank(o, part) + (1 << o->unit) - 1);

	return most < sx_outline_n(o) ? most : (unsigned)sx_outline_n(o);
}

/** No more entries before a part than there are. */
static inline unsigned sx_outline_least(const sx_outline *o, unsigned part)
{
	int least = sx_outline_rank(o, part);

	return least < 0 ? 0 : (unsigned)least;
}

/** Where the bits of a part begin in the bitmap, if the unit is 1. */
static inline size_t sx_outline_bit(const sx_outline *o, unsigned part)
{
	return sx_outline_start(sx_outline_span(o), part) + sx_outline_least(o, part);
}

/** Some entries of a block, coded as its own are. */
typedef struct sx_window {
	sx_coded keys;
	size_t n;      /* entries */
	size_t before; /* those of the block before its first one */
} sx_window;

/**
 * What can be told apart of a block that has these parts. Of the entries behind them it has low
 * bytes, but perhaps no bits.
 */
void sx_outline_window(const sx_outline *outline, const unsigned char *value, sx_parts parts,
		       sx_window *window);

#endif /* SX_OUTLINE_H */
