/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "block/sx_block_search.h"

#include <string.h>

#include "kernel/sx_bits.h"

/* Low bytes of entry i. The 8 bytes read may reach into the bitmap, which has at least 8. */
static uint64_t low_bytes(const sx_coded *c, size_t i)
{
	return sx_load_le64(c->low + i * c->width) & sx_low_bits(8 * c->width);
}

/*
 * Among entries [from, to), which have one high part and so ascending low bytes: the first whose
 * low bytes are not below `low`. The loop's length does not depend on what is compared.
 */
static size_t first_not_below(const sx_coded *c, size_t from, size_t to, uint64_t low)
{
	size_t left = to - from;

	while (left) {
		size_t half = left / 2;

		from = low_bytes(c, from + half) < low ? from + left - half : from;
		left = half;
	}
	return from;
}

struct span {
	size_t from, to;
};

/*
 * The entries with high parts (less the base) in [from, to]. A zero of the bitmap ends each high
 * part. There are fewer than `all` zeros, so that is high enough for any number.
 */
static struct span with_high(const sx_kernel *kernel, const sx_coded *c, size_t n,
			     uint64_t from, uint64_t to)
{
	uint64_t all = 64 * (uint64_t)c->n_words, ones[2];
	uint64_t zeros[2] = { from < all ? from : all, (to < all ? to : all) + 1 };

	kernel->ranks(c->bitmap, c->n_words, zeros, 2, ones);
	/* A damaged bitmap may have more ones than there are entries. */
	return (struct span){ ones[0] < n ? ones[0] : n, ones[1] < n ? ones[1] : n };
}

void sx_coded_range(const sx_kernel *kernel, const sx_coded *c, size_t n, uint64_t low,
		    uint64_t high, size_t *from, size_t *to)
{
	uint64_t mask = sx_low_bits(8 * c->width);
	uint64_t first = sx_block_high(low, c->width), last = sx_block_high(high, c->width);
	struct span range, ends;

	*from = *to = 0;
	if (last < c->base)
		return;
	last -= c->base;
	if (first < c->base) {
		first = 0;
		low = 0;
	} else {
		first -= c->base;
	}
	range = with_high(kernel, c, n, first, last);
	*from = range.from;
	*to = range.to;
	if (low & mask) {
		ends = first == last ? range : with_high(kernel, c, n, first, first);
		*from = first_not_below(c, ends.from, ends.to, low & mask);
	}
	if (~high & mask) {
		ends = first == last ? range : with_high(kernel, c, n, last, last);
		*to = first_not_below(c, ends.from, ends.to, (high & mask) + 1);
	}
	/* Where damaged low bytes do not ascend. */
	if (*to < *from)
		*to = *from;
}

void sx_block_range(const sx_kernel *kernel, const sx_block *b, uint64_t low, uint64_t high,
		    size_t *from, size_t *to)
{
	sx_coded keys = sx_block_coded(b);

	sx_coded_range(kernel, &keys, b->n, low, high, from, to);
}

size_t sx_block_lower_bound(const sx_block *b, uint64_t key)
{
	size_t from, to;

	sx_block_range(sx_kernel_best(), b, key, key | sx_low_bits(8 * b->width), &from, &to);
	return from;
}

size_t sx_block_upper_bound(const sx_block *b, uint64_t key)
{
	return key == UINT64_MAX ? b->n : sx_block_lower_bound(b, key + 1);
}

/* ---- rank samples ---- */

#define SLOPE_BITS 4 /* a slope is in sixteenths of an entry */

/* Unpacked from one read, so that it stays in registers. No entries: the samples are not made. */
static inline sx_block_shape shape_of(const sx_samples *s)
{
	return sx_block_shape_of(atomic_load_explicit(&s->shape, memory_order_acquire));
}

/* High parts before a part, less the base. */
static inline uint64_t zeros_before(uint64_t base, unsigned shift, unsigned part)
{
	return part ? (((base >> shift) + part) << shift) - base : 0;
}

/* Parts of a block. */
struct parts {
	unsigned first, last;
};

/* The parts that keys [low, high] lie in. Returns 0 if the block has no such keys, else 1. */
static inline int parts_of(const sx_samples *s, sx_block_shape shape, uint64_t low,
			       uint64_t high, struct parts *parts)
{
	uint64_t before = sx_samples_base(s) >> s->shift;
	uint64_t first = sx_block_high(low, shape.width) >> s->shift;
	uint64_t last = sx_block_high(high, shape.width) >> s->shift;

	first = first > before ? first - before : 0;
	if (last < before || first >= s->parts)
		return 0;
	last -= before;
	parts->first = (unsigned)first;
	parts->last = last < s->parts ? (unsigned)last : s->parts - 1u;
	return 1;
}

/* Entries before part 0..parts, if all parts have the same number. */
static inline int even_before(unsigned slope, unsigned part)
{
	return (int)(part * slope >> SLOPE_BITS);
}

/* Entries before part 0..parts: at least the result, and less than a unit more. */
static inline int rank_before(const sx_samples *s, unsigned part)
{
	return even_before(s->slope, part) + s->off[part] * (1 << s->unit);
}

/* Lower bound of the number of entries before a part. */
static inline unsigned min_before(const sx_samples *s, unsigned part)
{
	int min = rank_before(s, part);

	return min < 0 ? 0 : (unsigned)min;
}

/* Upper bound of the number of entries before a part. */
static inline unsigned max_before(const sx_samples *s, sx_block_shape shape, unsigned part)
{
	unsigned max = (unsigned)(rank_before(s, part) + (1 << s->unit) - 1);

	return max < shape.n ? max : (unsigned)shape.n;
}

/* Where the bits of a part begin in the bitmap, if samples are exact. */
static inline size_t bit_of(const sx_samples *s, unsigned part)
{
	return (size_t)zeros_before(sx_samples_base(s), s->shift, part) + min_before(s, part);
}

SX_INLINE void prefetch_entries(const unsigned char *at, size_t from, size_t to, size_t width)
{
	sx_prefetch_lines(at + from * width, (to - from) * width, SX_BLOCK_PREFETCH);
}

int sx_samples_locate(const sx_samples *samples, const unsigned char *value,
		      const sx_block_guess *guess, uint64_t low, uint64_t high, sx_entries *out)
{
	sx_block_shape shape = shape_of(samples);
	const unsigned char *at = value + SX_BLOCK_HEADER;
	struct parts parts;

	out->from = out->to = 0;
	out->width = (uint8_t)shape.width;
	if (!shape.n)
		return 0;
	if (!parts_of(samples, shape, low, high, &parts))
		return 1;
	out->from = (uint16_t)min_before(samples, parts.first);
	out->to = (uint16_t)max_before(samples, shape, parts.last + 1);
	if (out->to <= out->from)
		return 1;
	prefetch_entries(at, out->from, out->to, shape.width);
	at += shape.n * shape.width;
	at += 8 * shape.n_words;
	for (unsigned c = 0; c < guess->n_cols; c++) {
		sx_prefetch(at);
		at += SX_BLOCK_COL_HEADER;
		prefetch_entries(at, out->from, out->to, guess->col_width[c]);
		at += shape.n * guess->col_width[c];
	}
	return 1;
}

/*
 * Shapes without entries, so no thread takes them for samples: how often the block was read, up to
 * READS, or that a thread is making them. Making takes as long as they save in about ten reads.
 */
#define READS 8u
#define IN_WORK 15u

#define UNITS 32768 /* more than entries of a block, and a multiple of each unit */

/*
 * Change the shape if it is `from`. Returns 1 if it was. A thread that sees samples reads the
 * other members as plain memory, so all changes before must be ordered before the shape.
 */
static int change(sx_samples *shared, uint32_t from, uint32_t to)
{
	return atomic_load_explicit(&shared->shape, memory_order_relaxed) == from &&
	       atomic_compare_exchange_strong_explicit(&shared->shape, &from, to,
						       memory_order_acq_rel,
						       memory_order_relaxed);
}

int sx_samples_are_due(sx_samples *shared)
{
	uint32_t reads = atomic_load_explicit(&shared->shape, memory_order_relaxed);

	/* Two threads at once may count one read: that does no harm. */
	if (reads < READS)
		(void)change(shared, reads, reads + 1);
	return reads == READS;
}

/* Divide a block into parts. */
static void divide(const sx_block *block, sx_samples *s)
{
	uint64_t last = block->base + 64 * block->n_words - block->n;
	unsigned slope;

	/* The bitmap may go on behind the greatest key that there can be. */
	if (last < block->base)
		last = UINT64_MAX;
	s->base_low = (uint32_t)block->base;
	s->base_high = (uint32_t)(block->base >> 32);
	s->shift = 0;
	while ((last >> s->shift) - (block->base >> s->shift) >= SX_SAMPLES_PARTS)
		s->shift++;
	s->parts = (uint8_t)((last >> s->shift) - (block->base >> s->shift) + 1);
	slope = ((unsigned)block->n << SLOPE_BITS) / s->parts;
	s->slope = (uint16_t)(slope < UINT16_MAX ? slope : UINT16_MAX);
}

/* Count the entries before each part. */
static void count_parts(const sx_block *block, const sx_kernel *kernel, sx_samples *s)
{
	uint64_t zeros[SX_SAMPLES_PARTS], ones[SX_SAMPLES_PARTS + 1];
	int off[SX_SAMPLES_PARTS + 1] = { 0 }, min = 0, max = 0;

	for (unsigned part = 0; part < s->parts; part++)
		zeros[part] = zeros_before(block->base, s->shift, part);
	kernel->ranks(block->bitmap, block->n_words, zeros, s->parts, ones);
	ones[s->parts] = block->n;
	for (unsigned part = 1; part <= s->parts; part++) {
		/* A damaged bitmap may have more ones than there are entries. */
		uint64_t rank = ones[part] < block->n ? ones[part] : block->n;

		off[part] = (int)rank - even_before(s->slope, part);
		min = off[part] < min ? off[part] : min;
		max = off[part] > max ? off[part] : max;
	}
	for (s->unit = 0; min < INT8_MIN * (1 << s->unit) || max >> s->unit > INT8_MAX;)
		s->unit++;
	/* Rounded down, also what is below 0. */
	for (unsigned part = 0; part <= SX_SAMPLES_PARTS; part++)
		s->off[part] = (int8_t)((int)((unsigned)(off[part] + UNITS) >> s->unit) -
					(UNITS >> s->unit));
}

const char *sx_samples_make(sx_samples *shared, const void *value, size_t size, unsigned number,
			    const sx_kernel *kernel, sx_samples *out)
{
	sx_block block;
	const char *wrong = sx_block_open_keys(&block, value, size);
	uint32_t shape;

	if (wrong)
		return wrong;
	/* Samples of a damaged block would stay wrong when the block is mended. */
	if (!sx_block_is_intact(&block, number))
		return "checksum mismatch";
	shape = sx_load_le32(block.data + SX_BLOCK_SHAPE_AT);
	atomic_init(&out->shape, shape);
	divide(&block, out);
	count_parts(&block, kernel, out);
	if (change(shared, READS, IN_WORK)) {
		shared->base_low = out->base_low;
		shared->base_high = out->base_high;
		shared->slope = out->slope;
		shared->unit = out->unit;
		shared->shift = out->shift;
		shared->parts = out->parts;
		memcpy(shared->off, out->off, sizeof(out->off));
		atomic_store_explicit(&shared->shape, shape, memory_order_release);
	}
	return NULL;
}

void sx_block_guess_make(sx_block_guess *guess, const void *value, size_t size, unsigned n_cols)
{
	sx_block block;

	memset(guess, 0, sizeof(*guess));
	if (sx_block_open(&block, value, size, n_cols))
		return;
	guess->bitmap = (unsigned)(block.bitmap - block.data);
	guess->bitmap_bytes = (unsigned)block.n_words * 8;
	guess->n_cols = n_cols;
	for (unsigned c = 0; c < n_cols; c++)
		guess->col_width[c] = block.col_width[c];
}

static void cut_window(const sx_samples *s, sx_block_shape shape, const unsigned char *value,
		       struct parts parts, sx_window *window)
{
	const unsigned char *low = value + SX_BLOCK_HEADER;
	const unsigned char *bitmap = low + shape.n * shape.width;
	uint64_t zeros = zeros_before(sx_samples_base(s), s->shift, parts.first);
	size_t w = 0, end = shape.n_words, min = min_before(s, parts.first);
	size_t bit = zeros + min;

	window->before = 0;
	/* Only a damaged bitmap can have fewer bits. */
	if (!s->unit && bit / 64 < shape.n_words) {
		w = bit / 64;
		zeros -= sx_count_plain(~sx_load_le64(bitmap + 8 * w) & sx_low_bits(bit % 64));
		window->before = 64 * w - zeros < min ? 64 * w - zeros : min;
		end = bit_of(s, parts.last + 1) / 64 + 1;
	} else {
		zeros = 0;
	}
	window->n = shape.n - window->before;
	window->keys.width = shape.width;
	window->keys.n_words = (end < shape.n_words ? end : shape.n_words) - w;
	window->keys.base = sx_samples_base(s) + zeros;
	window->keys.low = low + window->before * shape.width;
	window->keys.bitmap = bitmap + 8 * w;
}

void sx_samples_window(const sx_samples *samples, const unsigned char *value, size_t size,
		       uint64_t low, uint64_t high, sx_window *window)
{
	sx_block_shape shape = shape_of(samples);
	struct parts parts;
	sx_block block;

	if (shape.n && parts_of(samples, shape, low, high, &parts)) {
		cut_window(samples, shape, value, parts, window);
		return;
	}
	memset(window, 0, sizeof(*window));
	if (!sx_block_open_keys(&block, value, size)) {
		window->keys = sx_block_coded(&block);
		window->n = block.n;
	}
}
