/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "util/sx_radix.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"
#include "util/sx_bytes.h"

#define MAX_DIGIT_BITS 11
#define MAX_BUCKETS ((size_t)1 << MAX_DIGIT_BITS)
#define MAX_DIGITS 6 /* of 11 bits in 64 */

/*
 * Bits beyond those that number the records: of random keys that agree on all of them there are
 * so few that they are sorted one by one.
 */
#define SPARE_BITS 8

struct sort {
	uint64_t *record, *scratch;
	size_t n;
	unsigned words;
	unsigned key;
	size_t (*start)[MAX_BUCKETS]; /* of each digit: counts, then places */
};

/* Bits [low, high) of a key, in digits of about the same size. */
struct digits {
	unsigned low, bits, n;
};

static unsigned bit_length(uint64_t x)
{
	return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
}

/* One pass over one digit. The number of words is a constant where it is called. */
static inline __attribute__((always_inline)) void
scatter(const struct sort *s, unsigned words, unsigned shift, uint64_t mask, size_t *start)
{
	const uint64_t *from = s->record;
	uint64_t *to = s->scratch;
	unsigned key = s->key;

	for (size_t i = 0; i < s->n; i++, from += words) {
		size_t at = start[from[key] >> shift & mask]++;

		memcpy(to + at * words, from, words * sizeof(uint64_t));
	}
}

static void scatter_words(struct sort *s, unsigned shift, uint64_t mask, size_t *start)
{
	uint64_t *swap = s->record;

	switch (s->words) {
	case 1:
		scatter(s, 1, shift, mask, start);
		break;
	case 2:
		scatter(s, 2, shift, mask, start);
		break;
	case 3:
		scatter(s, 3, shift, mask, start);
		break;
	case 4:
		scatter(s, 4, shift, mask, start);
		break;
	default:
		scatter(s, 5, shift, mask, start);
		break;
	}
	s->record = s->scratch;
	s->scratch = swap;
}

static struct digits cut(unsigned low, unsigned high)
{
	unsigned n = (high - low + MAX_DIGIT_BITS - 1) / MAX_DIGIT_BITS;

	return (struct digits){ low, n ? (high - low + n - 1) / n : 0, n };
}

/* Counts of all digits, in one pass. */
static void count_digits(const struct sort *s, const struct digits *d)
{
	const uint64_t *record = s->record + s->key;
	uint64_t mask = sx_low_bits(d->bits);

	memset(s->start, 0, d->n * sizeof(*s->start));
	for (size_t i = 0; i < s->n; i++, record += s->words) {
		uint64_t x = *record >> d->low;

		for (unsigned k = 0; k < d->n; k++, x >>= d->bits)
			s->start[k][x & mask]++;
	}
}

/* Turn counts into start places; 0 when all records are in one bucket. */
static int make_starts(size_t *count, size_t n)
{
	size_t at = 0;

	for (size_t b = 0; b < MAX_BUCKETS; b++) {
		size_t here = count[b];

		if (here == n)
			return 0;
		count[b] = at;
		at += here;
	}
	return 1;
}

/* The least significant digit first. */
static void sort_digits(struct sort *s, const struct digits *d)
{
	count_digits(s, d);
	for (unsigned k = 0; k < d->n; k++)
		if (make_starts(s->start[k], s->n))
			scatter_words(s, d->low + k * d->bits, sx_low_bits(d->bits), s->start[k]);
}

/* Insertion sort of what is nearly in order; gives up (0) after n moves. */
static int insert(struct sort *s, unsigned shift)
{
	size_t size = s->words * sizeof(uint64_t), moves = s->n;
	uint64_t *record = s->record, moved[8];

	for (size_t i = 1; i < s->n; i++) {
		uint64_t x = record[i * s->words + s->key] >> shift;
		size_t to = i;

		while (to && record[(to - 1) * s->words + s->key] >> shift > x && moves) {
			to--;
			moves--;
		}
		if (!moves)
			return 0;
		if (to == i)
			continue;
		memcpy(moved, record + i * s->words, size);
		memmove(record + (to + 1) * s->words, record + to * s->words, (i - to) * size);
		memcpy(record + to * s->words, moved, size);
	}
	return 1;
}

/* Sort by the bits from `shift` on of one key. */
static void sort_by(struct sort *s, unsigned key, unsigned shift)
{
	const uint64_t *record = s->record + key;
	uint64_t first = s->n ? *record >> shift : 0, last = first, differ = 0;
	unsigned high, most = bit_length(s->n) + SPARE_BITS;
	int sorted = 1;
	struct digits d;

	for (size_t i = 0; i < s->n; i++, record += s->words) {
		uint64_t x = *record >> shift;

		sorted &= x >= last;
		differ |= x ^ first;
		last = x;
	}
	if (sorted)
		return;
	s->key = key;
	high = shift + bit_length(differ);
	if (high - shift > most) {
		d = cut(high - most, high);
		sort_digits(s, &d);
		if (insert(s, shift))
			return;
	}
	d = cut(shift, high);
	sort_digits(s, &d);
}

int sx_radix_sort(uint64_t **record, uint64_t **scratch, size_t n, unsigned words, unsigned keys,
		  unsigned shift)
{
	struct sort s = { *record, *scratch, n, words, 0, NULL };

	s.start = sx_realloc(NULL, MAX_DIGITS, sizeof(*s.start));
	if (!s.start)
		return -1;
	if (keys > 1)
		sort_by(&s, 1, 0);
	sort_by(&s, 0, shift);
	free(s.start);
	*record = s.record;
	*scratch = s.scratch;
	return 0;
}
