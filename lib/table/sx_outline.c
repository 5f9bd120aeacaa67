/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "table/sx_outline.h"

#include <string.h>

#include "kernel/sx_near_plain.h"

/* Shapes without entries, so that nobody takes them for outlines. */
#define READ_ONCE 1u
#define IN_WORK 2u

#define UNITS 32768 /* more than entries of a block, and a multiple of each unit */

/*
 * Change the shape, if it is `from`. Who sees an outline reads its shape as plain memory, so all
 * changes before must be ordered before that, and nobody tries to change one that stays.
 */
static int change(sx_outline *shared, uint32_t from, uint32_t to)
{
	return __atomic_load_n(&shared->shape, __ATOMIC_RELAXED) == from &&
	       __atomic_compare_exchange_n(&shared->shape, &from, to, 0, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

int sx_outline_is_due(sx_outline *shared)
{
	return !change(shared, 0, READ_ONCE) &&
	       __atomic_load_n(&shared->shape, __ATOMIC_RELAXED) == READ_ONCE;
}

static void count_parts(const sx_block *block, const sx_kernel *kernel, sx_outline *o)
{
	uint64_t zeros[SX_PARTS], ones[SX_PARTS], span = sx_outline_span(o);
	int off[SX_PARTS + 1] = { 0 }, least = 0, most = 0;

	for (unsigned part = 0; part < SX_PARTS; part++)
		zeros[part] = sx_outline_start(span, part);
	kernel->ranks(block->bitmap, block->n_words, zeros, SX_PARTS, ones);
	for (unsigned part = 1; part < SX_PARTS; part++) {
		/* A damaged bitmap may have more ones than there are entries. */
		uint64_t rank = ones[part] < block->n ? ones[part] : block->n;

		off[part] = (int)rank - (int)(part * block->n / SX_PARTS);
		least = off[part] < least ? off[part] : least;
		most = off[part] > most ? off[part] : most;
	}
	for (o->unit = 0; least < INT8_MIN * (1 << o->unit) || most >> o->unit > INT8_MAX;)
		o->unit++;
	/* Rounded down, also what is below 0. */
	for (unsigned part = 0; part <= SX_PARTS; part++)
		o->off[part] = (int8_t)((int)((unsigned)(off[part] + UNITS) >> o->unit) -
					(UNITS >> o->unit));
}

const char *sx_outline_make(sx_outline *shared, const void *value, size_t size,
			    const sx_kernel *kernel, sx_outline *out)
{
	sx_block block;
	const char *wrong = sx_block_open_keys(&block, value, size);

	if (wrong)
		return wrong;
	out->shape = sx_load_le32(block.data + SHAPE_AT);
	out->base = block.base;
	out->scale = (uint32_t)(((uint64_t)SX_PARTS << SX_SCALE_BITS) / sx_outline_span(out));
	count_parts(&block, kernel, out);
	if (change(shared, READ_ONCE, IN_WORK)) {
		shared->base = out->base;
		shared->scale = out->scale;
		shared->unit = out->unit;
		memcpy(shared->off, out->off, sizeof(out->off));
		__atomic_store_n(&shared->shape, out->shape, __ATOMIC_RELEASE);
	}
	return NULL;
}

void sx_outline_window(const sx_outline *o, const unsigned char *value, sx_parts parts,
		       sx_window *window)
{
	const unsigned char *bitmap = value + sx_outline_bitmap(o);
	uint64_t zeros = sx_outline_start(sx_outline_span(o), parts.first);
	size_t n_words = sx_outline_words(o), w = 0, end = n_words;
	size_t least = sx_outline_least(o, parts.first), bit = zeros + least;

	window->before = 0;
	/* Only a damaged bitmap can have fewer bits. */
	if (!o->unit && bit / 64 < n_words) {
		w = bit / 64;
		zeros -= sx_count_plain(~sx_load_le64(bitmap + 8 * w) & sx_low_bits(bit % 64));
		window->before = 64 * w - zeros < least ? 64 * w - zeros : least;
		end = sx_outline_bit(o, parts.last + 1) / 64 + 1;
	} else {
		zeros = 0;
	}
	window->n = sx_outline_n(o) - window->before;
	window->keys.width = sx_outline_width(o);
	window->keys.n_words = (end < n_words ? end : n_words) - w;
	window->keys.base = o->base + zeros;
	window->keys.low = value + BLOCK_HEADER + window->before * window->keys.width;
	window->keys.bitmap = bitmap + 8 * w;
}
