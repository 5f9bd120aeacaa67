/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/kernel_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_ENTRIES 2000
#define MOST_ZEROS 48
#define ROOM 65536 /* bytes: a multiple of the page size of any machine */

/* ------------------------------------------------------------------------------------------
 * Random numbers (splitmix64), and memory with a border
 */

struct rng {
	uint64_t state;
};

static uint64_t rng_u64(struct rng *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint64_t rng_below(struct rng *r, uint64_t n)
{
	return rng_u64(r) % n;
}

static int fail(const sx_kernel *kernel, const char *what, uint64_t a, uint64_t b, uint64_t c)
{
	fprintf(stderr, "%s: %s (%" PRIu64 ", %" PRIu64 ", %" PRIu64 ")\n", kernel->name, what,
		a, b, c);
	return -1;
}

/* The end of ROOM bytes behind which a page cannot be touched; NULL when memory is short. */
static unsigned char *fenced(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *p = mmap(NULL, ROOM + page, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (mprotect(p + ROOM, page, PROT_NONE)) {
		munmap(p, ROOM + page);
		return NULL;
	}
	return p + ROOM;
}

static void unfenced(unsigned char *end)
{
	if (end)
		munmap(end - ROOM, ROOM + (size_t)sysconf(_SC_PAGESIZE));
}

static unsigned bits_of(uint64_t x)
{
	unsigned n = 0;

	for (; x; x >>= 1)
		n += x & 1;
	return n;
}

/* ------------------------------------------------------------------------------------------
 * Filters
 */

/* A number of `bits` bits at a distance from `query` that suits pattern number `pattern`. */
static uint64_t entry_of(struct rng *r, unsigned pattern, size_t i, uint64_t query,
			 unsigned bits)
{
	uint64_t mask = bits ? UINT64_MAX >> (64 - bits) : 0, x = query & mask;
	unsigned flips;

	switch (pattern) {
	case 0: /* every distance is as likely */
		flips = (unsigned)rng_below(r, bits + 1);
		break;
	case 1: /* around the small radii of most searches */
		flips = (unsigned)rng_below(r, bits < 5 ? bits + 1 : 5);
		break;
	case 2:
		return x;
	case 3:
		return ~query & mask;
	case 4: /* one at each end of a list is near, as are some at the borders of vectors */
		return i % 24 == 0 || i % 24 == 23 || i % 8 == 7 ? x : ~query & mask;
	default:
		return rng_u64(r) & mask;
	}
	for (; flips; flips--)
		x ^= UINT64_C(1) << rng_below(r, bits); /* a bit twice: one less, or two */
	return x;
}

static int check_hits(const sx_kernel *kernel, const unsigned *distance, size_t n, unsigned k,
		      const uint16_t *hits16, const uint32_t *hits32, size_t found)
{
	size_t seen = 0;

	for (size_t i = 0; i < n; i++) {
		if (distance[i] > k)
			continue;
		if (seen >= found || (hits16 ? hits16[seen] : hits32[seen]) != i)
			return fail(kernel, "entry i of n is not the next hit for k", i, n, k);
		seen++;
	}
	return seen == found ? 0 : fail(kernel, "more hits than there are", found, n, k);
}

/* One list, for every k. `behind` more bytes may be read. */
static int check_low(const sx_kernel *kernel, struct rng *r, unsigned char *end,
		     uint16_t *hits_end, unsigned width, size_t n, unsigned pattern,
		     size_t behind)
{
	static unsigned distance[MOST_ENTRIES];
	unsigned char *low = end - behind - n * width;
	uint64_t query = rng_u64(r);
	uint16_t *hits = hits_end - n;

	for (size_t i = 0; i < n; i++) {
		uint64_t x = entry_of(r, pattern, i, query, 8 * width);

		distance[i] = 0;
		for (unsigned b = 0; b < width; b++) {
			low[i * width + b] = (unsigned char)(x >> (8 * b));
			distance[i] +=
				bits_of((x >> (8 * b) & 0xff) ^ (query >> (8 * b) & 0xff));
		}
	}
	for (size_t i = 0; i < behind; i++) /* what would be hits, if it were looked at */
		low[n * width + i] = (unsigned char)(width ? query >> (8 * (i % width)) : 0);
	for (unsigned k = 0; k <= 65; k++) {
		unsigned radius = k < 65 ? k : UINT32_MAX;
		size_t found = kernel->near_low(low, width, n, n * width + behind, query,
						radius, hits);

		if (check_hits(kernel, distance, n, radius, hits, NULL, found))
			return fail(kernel, "near_low: width, pattern, behind", width, pattern,
				    behind);
	}
	return 0;
}

/* The most entries that there can be, and the last number that a hit can have. */
static int check_most(const sx_kernel *kernel)
{
	size_t n = 65536, found;
	unsigned char *low = calloc(n, 1);
	uint16_t *hits = malloc(n * sizeof(*hits));
	int rc = 0;

	if (!low || !hits) {
		rc = fail(kernel, "out of memory", 0, 0, 0);
	} else {
		memset(low, 0xff, n - 1);
		found = kernel->near_low(low, 1, n, n, 0, 7, hits);
		if (found != 1 || hits[0] != 65535)
			rc = fail(kernel, "the last of 65536 is the only hit", found, hits[0],
				  0);
		found = kernel->near_low(low, 1, n, n, 0, 8, hits);
		for (size_t i = 0; !rc && i < n; i++)
			if (found != n || hits[i] != i)
				rc = fail(kernel, "all of 65536 are hits", found, i, hits[i]);
	}
	free(low);
	free(hits);
	return rc;
}

int kernel_check_near_low(const sx_kernel *kernel, unsigned width, uint64_t seed,
			  unsigned rounds)
{
	struct rng r = { seed * 1000 + width };
	unsigned char *end = fenced(), *hits = fenced();
	int rc = end && hits ? 0 : fail(kernel, "out of memory", 0, 0, 0);

	for (unsigned i = 0; !rc && i < 6 * 80; i++) /* all short lists in all patterns */
		rc = check_low(kernel, &r, end, (uint16_t *)(void *)hits, width, i / 6, i % 6,
			       i % 7 ? rng_below(&r, 200) : 0);
	for (unsigned i = 0; !rc && i < rounds; i++) {
		size_t n = rng_below(&r, MOST_ENTRIES + 1);
		size_t behind = rng_below(&r, 3) ? rng_below(&r, 300) : 0;

		rc = check_low(kernel, &r, end, (uint16_t *)(void *)hits, width, n, i % 6,
			       behind);
	}
	if (!rc)
		rc = check_most(kernel);
	unfenced(end);
	unfenced(hits);
	return rc;
}

static int check_u64(const sx_kernel *kernel, struct rng *r, unsigned char *end,
		     uint32_t *hits_end, size_t n, unsigned pattern)
{
	static unsigned distance[MOST_ENTRIES];
	uint64_t *fps = (uint64_t *)(void *)end - n, query = rng_u64(r);
	uint32_t *hits = hits_end - n;

	for (size_t i = 0; i < n; i++) {
		fps[i] = entry_of(r, pattern, i, query, 64);
		distance[i] = bits_of(fps[i] ^ query);
	}
	for (unsigned k = 0; k <= 65; k++) {
		unsigned radius = k < 65 ? k : UINT32_MAX;
		size_t found = kernel->near_u64(fps, n, query, radius, hits);

		if (check_hits(kernel, distance, n, radius, NULL, hits, found))
			return fail(kernel, "near_u64: pattern", pattern, 0, 0);
	}
	return 0;
}

int kernel_check_near_u64(const sx_kernel *kernel, uint64_t seed, unsigned rounds)
{
	struct rng r = { seed * 1000 + 9 };
	unsigned char *end = fenced(), *hits = fenced();
	int rc = end && hits ? 0 : fail(kernel, "out of memory", 0, 0, 0);

	for (unsigned i = 0; !rc && i < 6 * 80 + rounds; i++) {
		size_t n = i < 6 * 80 ? i / 6 : rng_below(&r, MOST_ENTRIES + 1);

		rc = check_u64(kernel, &r, end, (uint32_t *)(void *)hits, n, i % 6);
	}
	unfenced(end);
	unfenced(hits);
	return rc;
}

/* Whether entry i is to be a hit with the one that is d after it; d = 0: beyond its reach. */
static int is_after(const uint64_t *v, size_t i, unsigned d, unsigned reach, uint64_t same,
		    unsigned k)
{
	return d ? bits_of(v[i] ^ v[i + d]) <= k : !((v[i] ^ v[i + reach + 1]) & same);
}

/*
 * Hits are those that a loop finds, each once, those of one d in order, however little room there
 * is.
 */
static int check_after(const sx_kernel *kernel, struct rng *r, unsigned char *end, size_t n)
{
	unsigned reach = 1 + (unsigned)rng_below(r, 14), k = (unsigned)rng_below(r, 9);
	uint64_t *v = (uint64_t *)(void *)end - (n + 16 + reach), query = rng_u64(r);
	uint64_t same = UINT64_C(0xff) << rng_below(r, 57), hits[400];
	size_t room = SX_NEAR_AFTER_ROOM(reach) + rng_below(r, 200), first = rng_below(r, 9),
	       from = first;
	size_t last[16], found = 0, want = 0;

	for (size_t i = 0; i < n + 16 + reach; i++)
		v[i] = rng_below(r, 30) ? rng_u64(r) : entry_of(r, 1, i, query, 64);
	for (unsigned d = 0; d <= reach; d++)
		last[d] = SIZE_MAX;
	while (from < n) {
		size_t before = from,
		       some = kernel->near_after(v, &from, n, reach, same, k, hits, room);

		if (from <= before || from > n || some > room)
			return fail(kernel, "near_after: from, before, hits", from, before, some);
		for (size_t h = 0; h < some; h++) {
			size_t i = (size_t)(hits[h] >> 8), d = hits[h] & 0xff;

			if (i < before || i >= from || d > reach ||
			    !is_after(v, i, (unsigned)d, reach, same, k))
				return fail(kernel, "near_after: no hit: i, d, n", i, d, n);
			if (last[d] != SIZE_MAX && last[d] >= i)
				return fail(kernel, "near_after: order: i, d, before", i, d,
					    last[d]);
			last[d] = i;
		}
		found += some;
	}
	for (size_t i = first; i < n; i++)
		for (unsigned d = 0; d <= reach; d++)
			want += (size_t)is_after(v, i, d, reach, same, k);
	return found == want ? 0 : fail(kernel, "near_after: hits, want, n", found, want, n);
}

int kernel_check_near_after(const sx_kernel *kernel, uint64_t seed, unsigned rounds)
{
	struct rng r = { seed * 1000 + 11 };
	unsigned char *end = fenced();
	int rc = end ? 0 : fail(kernel, "out of memory", 0, 0, 0);

	for (unsigned i = 0; !rc && i < 60 + rounds; i++)
		rc = check_after(kernel, &r, end, i < 60 ? i : rng_below(&r, MOST_ENTRIES));
	unfenced(end);
	return rc;
}

/* ------------------------------------------------------------------------------------------
 * Bitmaps
 */

static int bit_at(const unsigned char *bitmap, size_t place)
{
	return bitmap[place / 8] >> place % 8 & 1;
}

/* Set bits before the zero-th zero, of each number of zeros; those ascend. */
static void ones_before(const unsigned char *bitmap, size_t n_words, const uint64_t *zeros,
			unsigned n, uint64_t *ones)
{
	uint64_t met[2] = { 0, 0 }; /* zeros and ones */
	size_t place = 0;

	for (unsigned z = 0; z < n; z++) {
		for (; place < 64 * n_words && met[0] < zeros[z]; place++)
			met[bit_at(bitmap, place)]++;
		ones[z] = met[1];
	}
}

static void fill_bitmap(struct rng *r, unsigned char *bitmap, size_t size)
{
	unsigned kind = (unsigned)rng_below(r, 6);

	for (size_t i = 0; i < size; i++) {
		uint64_t x = rng_u64(r);

		switch (kind) {
		case 0:
			bitmap[i] = (unsigned char)x;
			break;
		case 1: /* many ones, as at 10^6 fingerprints */
			bitmap[i] = (unsigned char)(x | x >> 8 | x >> 16 | x >> 24);
			break;
		case 2:
			bitmap[i] = (unsigned char)(x & x >> 8 & x >> 16);
			break;
		case 3:
			bitmap[i] = 0;
			break;
		case 4:
			bitmap[i] = 0xff;
			break;
		default: /* long runs of both */
			bitmap[i] = i / 13 % 2 ? 0xff : 0;
		}
	}
}

/* Numbers of zeros to look for, ascending; few that are alike or far apart, among others. */
static void any_zeros(struct rng *r, unsigned kind, uint64_t most, uint64_t *zeros, unsigned n)
{
	uint64_t at = kind < 6 ? kind / 2 : rng_below(r, most), step = kind % 5 ? most / 8 + 1 : 3;

	for (unsigned z = 0; z < n; z++, at += rng_below(r, step))
		zeros[z] = at;
	if (n && kind == 50)
		zeros[n - 1] = UINT64_MAX;
}

int kernel_check_ranks(const sx_kernel *kernel, uint64_t seed, unsigned rounds)
{
	struct rng r = { seed * 1000 + 10 };
	unsigned char *end = fenced();
	int rc = end ? 0 : fail(kernel, "out of memory", 0, 0, 0);

	for (unsigned i = 0; !rc && i < 100 + rounds; i++) {
		size_t n_words = i < 100 ? i : rng_below(&r, 700);
		unsigned char *bitmap = end - 8 * n_words;

		fill_bitmap(&r, bitmap, 8 * n_words);
		for (unsigned j = 0; !rc && j < 60; j++) {
			uint64_t zeros[MOST_ZEROS], ones[MOST_ZEROS], want[MOST_ZEROS];
			unsigned n = (unsigned)rng_below(&r, MOST_ZEROS + 1);

			any_zeros(&r, j, 64 * n_words + 3, zeros, n);
			kernel->ranks(bitmap, n_words, zeros, n, ones);
			ones_before(bitmap, n_words, zeros, n, want);
			for (unsigned z = 0; !rc && z < n; z++)
				if (ones[z] != want[z])
					rc = fail(kernel, "ranks: zero, words", ones[z], zeros[z],
						  n_words);
		}
	}
	unfenced(end);
	return rc;
}

/* ------------------------------------------------------------------------------------------
 * Coded keys
 */

/* Coded keys that end at a fence, and the same as plain numbers. */
struct coded {
	sx_coded coded;
	size_t entries; /* that may be asked for: those with low bytes */
	size_t n;       /* that have a bit, too: fewer in a damaged block */
	uint64_t key[MOST_ENTRIES];
};

static void make_coded(struct rng *r, unsigned char *end, struct coded *c)
{
	unsigned width = (unsigned)rng_below(r, 9);
	size_t n_words = 1 + rng_below(r, 60), n_bits = 0, room = MOST_ENTRIES;
	unsigned char *bitmap = end - 8 * n_words, *low;
	uint64_t base = width < 8 ? rng_u64(r) >> (8 * width) >> 1 : 0;

	fill_bitmap(r, bitmap, 8 * n_words);
	for (size_t place = 0; place < 64 * n_words; place++)
		n_bits += (size_t)bit_at(bitmap, place);
	if (rng_below(r, 2) && n_bits < room) /* a sound one */
		room = n_bits ? n_bits : 1;
	c->entries = 1 + rng_below(r, n_bits + 30);
	c->entries = c->entries < room ? c->entries : room;
	low = bitmap - c->entries * width;
	for (size_t i = 0; i < c->entries * width; i++)
		low[i] = (unsigned char)rng_u64(r);
	c->n = 0;
	for (size_t place = 0; place < 64 * n_words && c->n < c->entries; place++) {
		uint64_t key = width < 8 ? (base + place - c->n) << (8 * width) : 0;

		if (!bit_at(bitmap, place))
			continue;
		for (unsigned b = 0; b < width; b++)
			key |= (uint64_t)low[c->n * width + b] << (8 * b);
		c->key[c->n++] = key;
	}
	c->coded = (sx_coded){ low, bitmap, n_words, width, base };
}

static int check_decode(const sx_kernel *kernel, const struct coded *c, size_t from, size_t n,
			unsigned char *keys_end)
{
	uint64_t *keys = (uint64_t *)(void *)keys_end - n;
	size_t want = from >= c->n ? 0 : n < c->n - from ? n : c->n - from;
	size_t got = kernel->decode(&c->coded, from, n, keys);

	if (got != want)
		return fail(kernel, "decode: got, from, n", got, from, n);
	for (size_t i = 0; i < want; i++)
		if (keys[i] != c->key[from + i])
			return fail(kernel, "decode: key i, from, n", i, from, n);
	return 0;
}

/* Every step-th entry or so, from number `from` on. */
static int check_complete(const sx_kernel *kernel, struct rng *r, const struct coded *c,
			  size_t from, uint64_t step, unsigned k, unsigned char *keys_end)
{
	static uint16_t entry[MOST_ENTRIES];
	uint64_t query = c->n ? c->key[rng_below(r, c->n)] : 0, *keys;
	size_t n = 0, got, kept = 0;

	for (size_t i = from; i < c->entries; i++)
		if (!rng_below(r, step))
			entry[n++] = (uint16_t)(i - from);
	if (!n)
		return 0;
	keys = (uint64_t *)(void *)keys_end - n;
	got = kernel->complete(&c->coded, from, entry, n, query, k, keys);
	for (size_t h = 0; h < n && from + entry[h] < c->n; h++) {
		uint64_t key = c->key[from + entry[h]];

		if (bits_of(key ^ query) > k)
			continue;
		if (kept >= got || keys[kept] != key)
			return fail(kernel, "complete: hit h of n, k", h, n, k);
		kept++;
	}
	return kept == got ? 0 : fail(kernel, "complete: got too many, n, k", got, n, k);
}

int kernel_check_coded(const sx_kernel *kernel, uint64_t seed, unsigned rounds)
{
	struct rng r = { seed * 1000 + 11 };
	unsigned char *end = fenced(), *keys = fenced();
	static struct coded c;
	int rc = end && keys ? 0 : fail(kernel, "out of memory", 0, 0, 0);

	for (unsigned i = 0; !rc && i < 100 + rounds; i++) {
		make_coded(&r, end, &c);
		for (unsigned j = 0; !rc && j < 20; j++) {
			size_t from = j % 4 ? rng_below(&r, c.entries) : 0;
			size_t n = j % 3 ? rng_below(&r, c.entries - from + 1)
					 : c.entries - from;

			rc = check_decode(kernel, &c, from, n, keys);
			if (!rc)
				rc = check_complete(kernel, &r, &c, from, 1 + j * j / 4,
						    j % 3 ? (unsigned)rng_below(&r, 40) : 64,
						    keys);
		}
	}
	unfenced(end);
	unfenced(keys);
	return rc;
}
