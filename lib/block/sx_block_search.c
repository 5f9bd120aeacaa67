/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "block/sx_block_search.h"

#define WHOLE_AT_ONCE 512

/* Among entries [from, to), which have one high part and so ascending low bytes: the first whose
 * low bytes are not below `low`. The loop's length does not depend on what is compared. */
static size_t first_not_below(const sx_block *b, size_t from, size_t to, uint64_t low)
{
	size_t left = to - from;

	while (left) {
		size_t half = left / 2;

		from = sx_block_low(b, from + half) < low ? from + left - half : from;
		left = half;
	}
	return from;
}

/*
 * The entries with high parts (less the base) in [from, to]. A zero of the bitmap ends each high
 * part. There are fewer than `all` zeros, so that is high enough for any number.
 */
static sx_ranks with_high(const sx_kernel *kernel, const sx_block *b, uint64_t from,
			  uint64_t to)
{
	uint64_t all = 64 * (uint64_t)b->n_words;
	sx_ranks zeros = { from < all ? from : all, (to < all ? to : all) + 1 };
	sx_ranks ones = kernel->ranks(b->bitmap, b->n_words, zeros);

	/* A damaged bitmap may have more ones than there are entries. */
	ones.from = ones.from < b->n ? ones.from : b->n;
	ones.to = ones.to < b->n ? ones.to : b->n;
	return ones;
}

void sx_block_range(const sx_kernel *kernel, const sx_block *b, uint64_t low, uint64_t high,
		    size_t *from, size_t *to)
{
	uint64_t mask = sx_low_bits(8 * b->width);
	uint64_t first = high_part(low, b->width), last = high_part(high, b->width);
	sx_ranks range, ends;

	*from = *to = 0;
	if (last < b->base)
		return;
	last -= b->base;
	if (first < b->base) {
		first = 0;
		low = 0;
	} else {
		first -= b->base;
	}
	range = with_high(kernel, b, first, last);
	*from = range.from;
	*to = range.to;
	if (low & mask) {
		ends = first == last ? range : with_high(kernel, b, first, first);
		*from = first_not_below(b, ends.from, ends.to, low & mask);
	}
	if (~high & mask) {
		ends = first == last ? range : with_high(kernel, b, last, last);
		*to = first_not_below(b, ends.from, ends.to, (high & mask) + 1);
	}
	/* Where damaged low bytes do not ascend. */
	if (*to < *from)
		*to = *from;
}

size_t sx_coded_near_whole(const sx_kernel *kernel, const sx_coded *keys, size_t from, size_t to,
			   uint64_t query, unsigned k, uint64_t *hits)
{
	uint32_t near[WHOLE_AT_ONCE];
	size_t n = kernel->decode(keys, from, to - from, hits), kept = 0;

	for (size_t at = 0; at < n; at += WHOLE_AT_ONCE) {
		size_t some = n - at < WHOLE_AT_ONCE ? n - at : WHOLE_AT_ONCE;
		size_t found = kernel->near_u64(hits + at, some, query, k, near);

		for (size_t i = 0; i < found; i++)
			hits[kept++] = hits[at + near[i]];
	}
	return kept;
}

size_t sx_block_near(const sx_kernel *kernel, const sx_block *b, size_t from, size_t to,
		     uint64_t query, unsigned k, uint64_t *hits, uint16_t *entry)
{
	sx_coded keys = sx_block_coded(b);

	return sx_coded_near(kernel, &keys, b->data + b->size, from, to, query, k, hits, entry);
}
