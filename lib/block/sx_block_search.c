/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "block/sx_block_search.h"

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

size_t sx_block_near(const sx_kernel *kernel, const sx_block *b, size_t from, size_t to,
		     uint64_t query, unsigned k, uint64_t *hits, uint16_t *entry)
{
	sx_coded keys = sx_block_coded(b);
	const unsigned char *low = b->low + from * b->width;
	size_t readable = (size_t)(b->data + b->size - low);
	size_t n = kernel->near_low(low, b->width, to - from, readable, query, k, entry);

	return n ? kernel->complete(&keys, from, entry, n, query, k, hits) : 0;
}
