/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "util/sx_sort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"

#define MAX_DIGIT_BITS 11
#define MAX_BUCKETS ((size_t)1 << MAX_DIGIT_BITS)
#define MAX_DIGITS 6 /* of 11 bits in 64 */
#define SMALL 32     /* up to here an insertion sort of keys takes less time than counting */

/*
 * Bits beyond those that number the records: few random keys agree on all of them, and those that
 * do are sorted by insertion.
 */
#define SPARE_BITS 8

static_assert(sizeof(sx_sort_item) == 2 * sizeof(uint64_t), "an item is a record");

struct sort {
	uint64_t *record, *scratch;
	size_t n;
	unsigned words;
	unsigned key;                 /* word that is sorted by */
	size_t (*start)[MAX_BUCKETS]; /* of each digit: counts, then places */
};

static unsigned bit_length(uint64_t x)
{
	return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
}

/* One pass over one digit. */
SX_INLINE void scatter(unsigned words, const struct sort *s, unsigned shift, uint64_t mask,
		       size_t *start)
{
	const uint64_t *from = s->record;
	uint64_t *to = s->scratch;
	unsigned key = s->key;

	for (size_t i = 0; i < s->n; i++, from += words) {
		size_t at = start[from[key] >> shift & mask]++;

		memcpy(to + at * words, from, words * sizeof(uint64_t));
	}
}

/* Turn counts into start places. Returns 0 when all records are in one bucket. */
static int make_starts(size_t *count, size_t n_buckets, size_t n)
{
	size_t at = 0;

	for (size_t b = 0; b < n_buckets; b++) {
		size_t here = count[b];

		if (here == n)
			return 0;
		count[b] = at;
		at += here;
	}
	return 1;
}

/* Sort by bits [low, high) of the key, in digits of about the same size, the lowest one first. */
static void sort_digits(struct sort *s, unsigned low, unsigned high)
{
	const uint64_t *record = s->record + s->key;
	unsigned n = (high - low + MAX_DIGIT_BITS - 1) / MAX_DIGIT_BITS;
	unsigned bits = (high - low + n - 1) / n;
	uint64_t mask = sx_low_bits(bits);

	for (unsigned d = 0; d < n; d++)
		memset(s->start[d], 0, sizeof(size_t) << bits);
	for (size_t i = 0; i < s->n; i++, record += s->words) {
		uint64_t x = *record >> low;

		for (unsigned d = 0; d < n; d++, x >>= bits)
			s->start[d][x & mask]++;
	}
	for (unsigned d = 0; d < n; d++) {
		uint64_t *swap = s->record;

		if (!make_starts(s->start[d], (size_t)1 << bits, s->n))
			continue;
		SX_BY_WORDS(scatter, s->words, s, low + d * bits, mask, s->start[d]);
		s->record = s->scratch;
		s->scratch = swap;
	}
}

/* Whether a record comes before another one by `keys` keys from s->key on. */
static inline int is_before(const struct sort *s, unsigned keys, unsigned shift, const uint64_t *a,
			    const uint64_t *b)
{
	uint64_t x = a[s->key] >> shift, y = b[s->key] >> shift;

	if (__builtin_expect(x != y, 1))
		return x < y;
	return keys > 1 && a[s->key + 1] < b[s->key + 1];
}

static void sort_by(struct sort *s, unsigned keys, unsigned shift);

/* Sort what agrees from bit `low` of the key on: it stands together. */
SX_INLINE void sort_groups(unsigned words, const struct sort *s, unsigned keys, unsigned shift,
			   unsigned low)
{
	const size_t size = words * sizeof(uint64_t);
	uint64_t *record = s->record, moved[SX_SORT_MAX_WORDS];

	for (size_t i = 0, end; i < s->n; i = end) {
		uint64_t top = record[i * words + s->key] >> low;

		for (end = i + 1; end < s->n && record[end * words + s->key] >> low == top;)
			end++;
		if (end - i > SMALL) {
			struct sort some = *s;

			some.record += i * words;
			some.scratch += i * words;
			some.n = end - i;
			sort_by(&some, keys, shift);
			if (some.record != record + i * words)
				memcpy(record + i * words, some.record, some.n * size);
			continue;
		}
		for (size_t at = i + 1; at < end; at++) {
			size_t to = at;

			memcpy(moved, record + at * words, size);
			for (;
			     to > i && is_before(s, keys, shift, moved, record + (to - 1) * words);
			     to--)
				memcpy(record + to * words, record + (to - 1) * words, size);
			if (to < at)
				memcpy(record + to * words, moved, size);
		}
	}
}

/*
 * Sort by `keys` keys from s->key on, of which the first has a shift: by as many high bits as tell
 * random keys apart, then each of the small groups that agree in these.
 */
static void sort_by(struct sort *s, unsigned keys, unsigned shift)
{
	const uint64_t *record = s->record;
	uint64_t first = s->n ? record[s->key] >> shift : 0, differ = 0;
	unsigned high, low, enough = bit_length(s->n) + SPARE_BITS;
	int sorted = 1;

	for (size_t i = 0; i < s->n; i++, record += s->words) {
		if (i)
			sorted &= !is_before(s, keys, shift, record, record - s->words);
		differ |= (record[s->key] >> shift) ^ first;
	}
	if (sorted)
		return;
	if (!differ) {
		s->key++;
		sort_by(s, 1, 0);
		s->key--;
		return;
	}
	high = shift + bit_length(differ);
	low = high - shift > enough ? high - enough : shift;
	sort_digits(s, low, high);
	if (low > shift || keys > 1)
		SX_BY_WORDS(sort_groups, s->words, s, keys, shift, low);
}

uint64_t *sx_sort_records(uint64_t *record, uint64_t *scratch, size_t n, unsigned words,
			  unsigned keys, unsigned shift)
{
	struct sort s = { record, scratch, n, words, 0, NULL };

	s.start = sx_realloc(NULL, MAX_DIGITS, sizeof(*s.start));
	if (!s.start)
		return NULL;
	sort_by(&s, keys, shift);
	free(s.start);
	return s.record;
}

sx_sort_item *sx_sort_items(sx_sort_item *item, sx_sort_item *scratch, size_t n, unsigned shift)
{
	uint64_t *sorted = sx_sort_records(&item->key, &scratch->key, n, 2, 1, shift);

	return !sorted ? NULL : sorted == &item->key ? item : scratch;
}

int sx_sort_u64(uint64_t *key, size_t n)
{
	uint64_t *scratch, *sorted;

	if (n <= SMALL) {
		for (size_t i = 1; i < n; i++) {
			uint64_t x = key[i];
			size_t j = i;

			for (; j > 0 && key[j - 1] > x; j--)
				key[j] = key[j - 1];
			key[j] = x;
		}
		return 0;
	}
	scratch = sx_realloc(NULL, n, sizeof(*scratch));
	sorted = scratch ? sx_sort_records(key, scratch, n, 1, 1, 0) : NULL;
	if (sorted && sorted != key)
		memcpy(key, sorted, n * sizeof(*key));
	free(scratch);
	return sorted ? 0 : -1;
}

int sx_sort_order(const uint64_t *key, uint32_t *order, size_t n, int keep_order)
{
	sx_sort_item *item = sx_realloc(NULL, 2 * n, sizeof(*item)), *sorted = NULL;

	for (size_t i = 0; item && i < n; i++) {
		uint32_t number = keep_order ? order[i] : (uint32_t)i;

		item[i] = (sx_sort_item){ key[number], number };
	}
	if (item)
		sorted = sx_sort_items(item, item + n, n, 0);
	for (size_t i = 0; sorted && i < n; i++)
		order[i] = (uint32_t)sorted[i].value;
	free(item);
	return sorted ? 0 : -1;
}

size_t sx_unique_u64(uint64_t *key, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!kept || key[kept - 1] != key[i])
			key[kept++] = key[i];
	return kept;
}
