/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "block/sx_samples.h"

#include <string.h>

#include "kernel/sx_bits.h"

/* Shapes without entries, so no thread takes them for samples. */
#define READ_ONCE 1u
#define IN_WORK 2u

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
	return !change(shared, 0, READ_ONCE) &&
	       atomic_load_explicit(&shared->shape, memory_order_relaxed) == READ_ONCE;
}

static void count_parts(const sx_block *block, uint64_t span, const sx_kernel *kernel,
			sx_samples *s)
{
	uint64_t zeros[SX_SAMPLES_PARTS], ones[SX_SAMPLES_PARTS];
	int off[SX_SAMPLES_PARTS + 1] = { 0 }, min = 0, max = 0;

	for (unsigned part = 0; part < SX_SAMPLES_PARTS; part++)
		zeros[part] = sx_samples_start(span, part);
	kernel->ranks(block->bitmap, block->n_words, zeros, SX_SAMPLES_PARTS, ones);
	for (unsigned part = 1; part < SX_SAMPLES_PARTS; part++) {
		/* A damaged bitmap may have more ones than there are entries. */
		uint64_t rank = ones[part] < block->n ? ones[part] : block->n;

		off[part] = (int)rank - (int)(part * block->n / SX_SAMPLES_PARTS);
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

const char *sx_samples_make(sx_samples *shared, const void *value, size_t size,
			    const sx_kernel *kernel, sx_samples *out)
{
	sx_block block;
	const char *wrong = sx_block_open_keys(&block, value, size);
	uint32_t shape;
	uint64_t span;

	if (wrong)
		return wrong;
	shape = sx_load_le32(block.data + SX_BLOCK_SHAPE_AT);
	span = sx_samples_span(sx_block_shape_of(shape));
	atomic_init(&out->shape, shape);
	out->base = block.base;
	out->scale = (uint32_t)(((uint64_t)SX_SAMPLES_PARTS << SX_SAMPLES_SCALE_BITS) / span);
	count_parts(&block, span, kernel, out);
	if (change(shared, READ_ONCE, IN_WORK)) {
		shared->base = out->base;
		shared->scale = out->scale;
		shared->unit = out->unit;
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
		       sx_parts parts, sx_window *window)
{
	const unsigned char *low = value + SX_BLOCK_HEADER;
	const unsigned char *bitmap = low + shape.n * shape.width;
	uint64_t zeros = sx_samples_start(sx_samples_span(shape), parts.first);
	size_t w = 0, end = shape.n_words, min = sx_samples_min(s, shape, parts.first);
	size_t bit = zeros + min;

	window->before = 0;
	/* Only a damaged bitmap can have fewer bits. */
	if (!s->unit && bit / 64 < shape.n_words) {
		w = bit / 64;
		zeros -= sx_count_plain(~sx_load_le64(bitmap + 8 * w) & sx_low_bits(bit % 64));
		window->before = 64 * w - zeros < min ? 64 * w - zeros : min;
		end = sx_samples_bit(s, shape, parts.last + 1) / 64 + 1;
	} else {
		zeros = 0;
	}
	window->n = shape.n - window->before;
	window->keys.width = shape.width;
	window->keys.n_words = (end < shape.n_words ? end : shape.n_words) - w;
	window->keys.base = s->base + zeros;
	window->keys.low = low + window->before * shape.width;
	window->keys.bitmap = bitmap + 8 * w;
}

void sx_samples_window(const sx_samples *samples, const unsigned char *value, size_t size,
		       uint64_t low, uint64_t high, sx_window *window)
{
	sx_block block;
	sx_parts parts;

	if (sx_samples_are_made(samples)) {
		sx_block_shape shape = sx_samples_shape(samples);

		if (sx_samples_parts(samples, shape, low, high, &parts)) {
			cut_window(samples, shape, value, parts, window);
			return;
		}
	}
	memset(window, 0, sizeof(*window));
	if (!sx_block_open_keys(&block, value, size)) {
		window->keys = sx_block_coded(&block);
		window->n = block.n;
	}
}
