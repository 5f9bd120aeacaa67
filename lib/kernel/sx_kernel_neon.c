/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_kernel_neon.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#include "kernel/sx_kernel_plain.h"

/* How to find what is near; everything is bytes, so that byte order does not matter. */
struct filter {
	uint8x16_t want, spread;
	uint8x8_t k;
	unsigned width;
};

SX_INLINE struct filter filter_of(uint64_t query, unsigned width, unsigned k)
{
	unsigned char want[16], spread[16];
	struct filter f;

	sx_store_le64(want, query & sx_low_bits(8 * width));
	sx_store_le64(want + 8, query & sx_low_bits(8 * width));
	for (unsigned b = 0; b < 16; b++)
		spread[b] = (unsigned char)(b % 8 < width ? b / 8 * width + b % 8 : 0xff);
	f.want = vld1q_u8(want);
	f.spread = vld1q_u8(spread); /* ff: zero */
	f.k = vdup_n_u8((uint8_t)(k < 64 ? k : 64));
	f.width = width;
	return f;
}

/* In each byte the set bits of a byte of two entries, which 16 bytes hold whatever their width. */
SX_INLINE uint8x16_t count_two(const struct filter *f, const unsigned char *p)
{
	return vcntq_u8(veorq_u8(vqtbl1q_u8(vld1q_u8(p), f->spread), f->want));
}

/* Bit j: the j-th of eight counts, of eight bytes each, is at most k. */
SX_INLINE uint64_t few_bits(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d,
			    uint8x8_t k)
{
	static const unsigned char places[8] = { 1, 2, 4, 8, 16, 32, 64, 128 };
	uint8x16_t sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
	uint8x8_t few = vcle_u8(vget_low_u8(vpaddq_u8(sums, sums)), k);

	return vaddv_u8(vand_u8(few, vld1_u8(places)));
}

SX_INLINE uint64_t near_eight(const void *filter, const unsigned char *p)
{
	const struct filter *f = filter;

	return few_bits(count_two(f, p), count_two(f, p + 2 * f->width),
			count_two(f, p + 4 * f->width), count_two(f, p + 6 * f->width), f->k);
}

static size_t near_low_neon(const unsigned char *low, unsigned width, size_t n, size_t readable,
			    uint64_t query, unsigned k, uint16_t *hits)
{
	struct filter f = filter_of(query, width, k);

	return sx_near_low_steps(near_eight, &f, 22 * width + 16,
				 (sx_low_bytes){ low, width, n, readable }, query, k, hits);
}

static size_t near_u64_neon(const uint64_t *fps, size_t n, uint64_t query, unsigned k,
			    uint32_t *hits)
{
	uint64x2_t want = vdupq_n_u64(query);
	uint8x8_t max = vdup_n_u8((uint8_t)(k < 64 ? k : 64));
	size_t found = 0, i = 0;

	for (; n - i >= 8; i += 8) {
		uint8x16_t c[4];

		for (unsigned j = 0; j < 4; j++) {
			uint64x2_t x = veorq_u64(vld1q_u64(fps + i + 2 * j), want);

			c[j] = vcntq_u8(vreinterpretq_u8_u64(x));
		}
		found = sx_emit_u32(few_bits(c[0], c[1], c[2], c[3], max), i, hits, found);
	}
	return found + sx_near_u64_plain(sx_count_builtin, fps, i, n, query, k, hits + found);
}

static size_t near_after_neon(const uint64_t *v, size_t *from, size_t n, unsigned reach,
			      uint64_t same, unsigned k, uint64_t *hits, size_t room)
{
	return sx_near_after_plain(sx_count_builtin, v, from, n, reach, same, k, hits, room);
}

SX_DEFINE_PLAIN_BITMAPS(neon, , sx_count_builtin, sx_select_halving)

void sx_kernel_use_neon(sx_kernel *kernel)
{
	SX_USE_FILTERS(kernel, neon);
	SX_USE_BITMAPS(kernel, neon);
}

#endif
