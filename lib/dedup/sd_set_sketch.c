/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_set_sketch.h"

#include "util/sx_bytes.h"

#define VERSION 1
#define HEAD 5      /* bytes: the version, the number of hashes */
#define CELLS 1536u /* bits of the array */

/* Up to so many hashes all count. Of twice as many a half does, and so on. */
#define FULL (2 * CELLS)

/* A hash is counted in parts, so that a number that is estimated need not be a whole one. */
#define PARTS UINT64_C(16)

/*
 * The cells of an array. All 32-bit numbers are cut into CELLS << (level + 1) fine cells of one
 * width, of which two neighbours make a coarse one. The array has the first `fine` fine cells, an
 * even number below CELLS, and then coarse ones; what is beyond these is not in the sample. So with
 * growing sets fine cells take the place of coarse ones, until all are fine: they are the coarse
 * ones of the next level.
 */
struct cells {
	unsigned level, fine;
};

/* A sketch, decoded. */
struct sketch {
	uint32_t n;
	const unsigned char *body; /* the list, or the array */
	struct cells cells;        /* of the array */
};

static struct cells cells_for(uint32_t n)
{
	struct cells cells = { 0, 0 };
	uint64_t full = FULL;

	if (n <= full)
		return cells;
	for (; n >= 2 * full; full *= 2)
		cells.level++;
	cells.fine = (unsigned)(CELLS * (n - full) / full) & ~1u;
	return cells;
}

/* The cell of a hash, of which there are 32 bits; CELLS or more: it is not in the sample. */
static uint64_t cell_of(struct cells cells, uint32_t hash)
{
	uint64_t at = ((uint64_t)hash * ((uint64_t)CELLS << (cells.level + 1))) >> 32;

	return at < cells.fine ? at : cells.fine + (at - cells.fine) / 2;
}

static void flip(unsigned char *array, uint64_t cell)
{
	array[cell / 8] ^= (unsigned char)(1u << (cell % 8));
}

size_t sd_set_sketch_make(const uint64_t *hash, size_t n, uint64_t all,
			  unsigned char out[SD_SET_SKETCH_MAX])
{
	struct cells cells = cells_for((uint32_t)all);
	uint64_t cell;

	out[0] = VERSION;
	sx_store_le32(out + 1, (uint32_t)all);
	if (all <= SD_SET_SKETCH_LISTED) {
		for (size_t i = 0; i < n; i++)
			sx_store_le32(out + HEAD + 4 * i, (uint32_t)(hash[i] >> 32));
		return HEAD + 4 * n;
	}
	memset(out + HEAD, 0, CELLS / 8);
	for (size_t i = 0; i < n && (cell = cell_of(cells, (uint32_t)(hash[i] >> 32))) < CELLS; i++)
		flip(out + HEAD, cell);
	return HEAD + CELLS / 8;
}

/* ---- comparing ---- */

static uint32_t listed(const struct sketch *sketch, size_t i)
{
	return sx_load_le32(sketch->body + 4 * i);
}

static int decode(const unsigned char *bytes, size_t size, struct sketch *sketch)
{
	if (size < HEAD || bytes[0] != VERSION)
		return -1;
	sketch->n = sx_load_le32(bytes + 1);
	sketch->body = bytes + HEAD;
	sketch->cells = cells_for(sketch->n);
	if (sketch->n > SD_SET_SKETCH_LISTED)
		return size == HEAD + CELLS / 8 ? 0 : -1;
	if (size != HEAD + 4 * (size_t)sketch->n)
		return -1;
	for (size_t i = 1; i < sketch->n; i++)
		if (listed(sketch, i - 1) > listed(sketch, i))
			return -1;
	return 0;
}

static size_t in_both(const struct sketch *a, const struct sketch *b)
{
	size_t i = 0, j = 0, both = 0;

	while (i < a->n && j < b->n) {
		uint32_t x = listed(a, i), y = listed(b, j);

		both += x == y;
		i += x <= y;
		j += y <= x;
	}
	return both;
}

/* The array of a list, with the cells of another one. */
static void to_array(const struct sketch *list, struct cells cells, unsigned char *array)
{
	uint64_t cell;

	memset(array, 0, CELLS / 8);
	for (size_t i = 0; i < list->n && (cell = cell_of(cells, listed(list, i))) < CELLS; i++)
		flip(array, cell);
}

/* What two arrays say: how many cells of both widths they have in common, and how many differ. */
struct count {
	unsigned n_fine, fine, n_coarse, coarse;
};

static void spread(const unsigned char *array, unsigned char cell[CELLS])
{
	for (unsigned i = 0; i < CELLS; i++)
		cell[i] = array[i / 8] >> (i % 8) & 1;
}

/* Make one of two neighbours `n` times, in place. */
static void halve(unsigned char *cell, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		cell[i] = cell[2 * i] ^ cell[2 * i + 1];
}

/*
 * Make the cells of a larger set as wide as those that a smaller one has at the same place. Returns
 * their number, and those that the smaller one has beyond it are not in both.
 */
static unsigned widen(unsigned char cell[CELLS], struct cells from, struct cells to)
{
	unsigned n = CELLS, fine = from.fine;

	/* Then all are fine ones of the level below. An odd one is left out. */
	for (; from.level > to.level; from.level--) {
		halve(cell, fine / 2);
		memmove(cell + fine / 2, cell + fine, n - fine);
		n = fine = (n - fine / 2) & ~1u;
	}
	if (fine <= to.fine)
		return n;
	halve(cell + to.fine, (fine - to.fine) / 2);
	memmove(cell + to.fine + (fine - to.fine) / 2, cell + fine, n - fine);
	return n - (fine - to.fine) / 2;
}

/* Arrays with the same cells, as those of all sets have that are not sampled. */
static struct count compare_alike(const struct sketch *a, const struct sketch *b)
{
	unsigned fine = a->cells.fine;
	struct count count = { fine, 0, CELLS - fine, 0 };

	for (unsigned i = 0; i < CELLS; i += 64) {
		uint64_t differ = sx_load_le64(a->body + i / 8) ^ sx_load_le64(b->body + i / 8);
		unsigned n = fine <= i ? 0 : fine - i; /* fine ones among these 64 */
		uint64_t mask = n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX;

		count.fine += (unsigned)__builtin_popcountll(differ & mask);
		count.coarse += (unsigned)__builtin_popcountll(differ);
	}
	count.coarse -= count.fine;
	return count;
}

/* `a` is not the larger set. */
static struct count compare(const struct sketch *a, const struct sketch *b)
{
	unsigned char x[CELLS], y[CELLS];
	struct count count = { 0, 0, 0, 0 };
	unsigned n, i;

	if (a->cells.level == b->cells.level && a->cells.fine == b->cells.fine)
		return compare_alike(a, b);
	spread(a->body, x);
	spread(b->body, y);
	n = widen(y, b->cells, a->cells);
	for (i = 0; i < n && i < a->cells.fine; i++)
		count.fine += x[i] ^ y[i];
	count.n_fine = i;
	for (; i < n; i++)
		count.coarse += x[i] ^ y[i];
	count.n_coarse = i - count.n_fine;
	return count;
}

static double power(double x, uint64_t n)
{
	double y = 1;

	for (; n; n /= 2, x *= x)
		if (n % 2)
			y *= x;
	return y;
}

/*
 * How the logarithm of the likelihood changes with the number d of hashes that are in one set
 * alone: divided by a number above 0, which depends on the level. A cell of width w has an odd
 * number of them with a chance of (1 - y) / 2, where y = (1 - 2 w)^d.
 *
 * @param halves  d, in halves of parts, and not 0: 1 - y is never 0
 */
static double slope(double width, uint64_t halves, unsigned n, unsigned differ)
{
	double y = power(1 - width / (double)PARTS, halves);

	return width * y * (differ / (1 - y) - (n - differ) / (1 + y));
}

/* The likeliest number of hashes that are in one set alone, in parts, least..most. */
static uint64_t estimate(const struct count *count, unsigned level, uint64_t least, uint64_t most)
{
	double width = 1.0 / ((double)CELLS * 2 * (double)(1u << level));

	while (least < most) {
		uint64_t parts = least + (most - least) / 2, halves = 2 * parts + 1;

		/* Between this and the next number. */
		if (slope(width, halves, count->n_fine, count->fine) +
			    slope(2 * width, halves, count->n_coarse, count->coarse) >
		    0)
			least = parts + 1;
		else
			most = parts;
	}
	return least;
}

int sd_set_sketch_similarity(const void *a, size_t a_size, const void *b, size_t b_size,
			     double *similarity)
{
	unsigned char array[CELLS / 8];
	struct sketch x, y, small;
	struct count count;
	uint64_t all, alone;

	*similarity = 0;
	if (decode(a, a_size, &x) || decode(b, b_size, &y))
		return -1;
	if (!x.n || !y.n)
		return 0;
	if (x.n > y.n) {
		small = y;
		y = x;
		x = small;
	}
	all = ((uint64_t)x.n + y.n) * PARTS;
	if (y.n <= SD_SET_SKETCH_LISTED) {
		alone = all - 2 * PARTS * in_both(&x, &y);
	} else {
		if (x.n <= SD_SET_SKETCH_LISTED) {
			to_array(&x, y.cells, array);
			x.body = array;
			x.cells = y.cells;
		}
		count = compare(&x, &y);
		alone = estimate(&count, x.cells.level, (uint64_t)(y.n - x.n) * PARTS, all);
	}
	*similarity = (double)(all - alone) / (double)(all + alone);
	return 0;
}
