/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "sketch/sx_sketch.h"

#include <string.h>

#include <simidx_sketch.h>

#include "util/sx_err.h"
#include "util/sx_hash.h"
#include "util/sx_struct.h"

#define N_NIBBLES 16
#define N_PLANES 32 /* a count of features is below 2^32 */
#define AT_ONCE 64  /* features that are counted together */
#define AT_ONCE_PLANES 7
#define GUESS_FROM 16

__extension__ typedef unsigned __int128 u128;

unsigned simidx_distance(uint64_t a, uint64_t b)
{
	return (unsigned)__builtin_popcountll(a ^ b);
}

int simidx_is_near(uint64_t a, uint64_t b, unsigned k)
{
	return simidx_distance(a, b) <= k;
}

uint64_t simidx_feature_hash(const void *data, size_t size)
{
	return sx_hash(data, size);
}

uint64_t sx_isqrt(uint64_t high, uint64_t low)
{
	uint64_t root = 0, rest = 0, next;

	/* As on paper: two binary digits of the square give one of the root. */
	for (unsigned i = 0; i < 64; i++) {
		next = rest << 2 | high >> 62;
		high = high << 2 | low >> 62;
		low <<= 2;
		rest = next;
		root <<= 1;
		if (rest > 2 * root) {
			rest -= 2 * root + 1;
			root++;
		}
	}
	return root;
}

/* The weights of the features whose hash has each of a nibble's bits. Spoils its input. */
static void split_nibble(uint64_t of_value[16], uint64_t *with)
{
	for (unsigned bit = 4; bit-- > 0;) {
		unsigned half = 1u << bit;

		with[bit] = 0;
		/* Values that differ in this bit only are one from here on. */
		for (unsigned value = 0; value < half; value++) {
			with[bit] += of_value[half + value];
			of_value[value] += of_value[half + value];
		}
	}
}

/*
 * How much weight each bit has. Most features of a text occur once in it and have the same
 * weight. These are counted, 64 counters at a time: bit b of plane p is bit p of the count of
 * bit b. The others take sixteen additions instead of 64: first the weights for each value of
 * each of the hash's sixteen nibbles, then from these, once a text, the weights for each bit.
 * Sums are taken modulo 2^64; the results fit.
 */
typedef struct adder {
	uint64_t plane[N_PLANES];
	uint64_t of_value[N_NIBBLES][16];
} adder;

/* Two digits of the sum of three bits, 64 times. */
static void add_three(uint64_t *high, uint64_t *low, uint64_t a, uint64_t b)
{
	uint64_t differ = *low ^ a;

	*high = (*low & a) | (differ & b);
	*low = differ ^ b;
}

static void count_eight(uint64_t *plane, const uint64_t *hash)
{
	uint64_t two[4], four[2], carry, next;

	add_three(&two[0], &plane[0], hash[0], hash[1]);
	add_three(&two[1], &plane[0], hash[2], hash[3]);
	add_three(&two[2], &plane[0], hash[4], hash[5]);
	add_three(&two[3], &plane[0], hash[6], hash[7]);
	add_three(&four[0], &plane[1], two[0], two[1]);
	add_three(&four[1], &plane[1], two[2], two[3]);
	add_three(&carry, &plane[2], four[0], four[1]);
#pragma GCC unroll 8
	for (unsigned i = 3; i < AT_ONCE_PLANES; i++) {
		next = plane[i] & carry;
		plane[i] ^= carry;
		carry = next;
	}
}

/* Count n <= AT_ONCE hashes; n is a multiple of 8. */
static void count_hashes(adder *a, const uint64_t *hash, size_t n)
{
	uint64_t plane[AT_ONCE_PLANES] = { 0 }, carry = 0, next;
	size_t i;

	for (i = 0; i < n; i += 8)
		count_eight(plane, hash + i);
	for (i = 0; i < AT_ONCE_PLANES; i++) {
		add_three(&next, &a->plane[i], plane[i], carry);
		carry = next;
	}
	for (; carry; i++) {
		next = a->plane[i] & carry;
		a->plane[i] ^= carry;
		carry = next;
	}
}

static void add_hash(adder *a, uint64_t hash, uint64_t weight)
{
#pragma GCC unroll 16 /* twice as fast: shifts by constants, no counter */
	for (unsigned nibble = 0; nibble < N_NIBBLES; nibble++)
		a->of_value[nibble][hash >> 4 * nibble & 15] += weight;
}

/* Some of the features, in the order of the text. */
typedef struct batch {
	uint64_t hash[AT_ONCE];
	uint64_t is_common[AT_ONCE]; /* all ones, or 0; 0 after the last one */
	uint32_t weight[AT_ONCE];
	uint8_t rest[AT_ONCE];        /* numbers of those that are not */
	size_t n, n_rest;
} batch;

/* Returns the sum of the weights. */
static uint64_t fill_batch(batch *t, const simidx_feature *features, size_t n, uint32_t common)
{
	uint64_t total = 0;
	size_t i;

	/* No branches: which feature is which cannot be predicted. */
	t->n_rest = 0;
	for (i = 0; i < n; i++) {
		t->hash[i] = features[i].hash;
		t->weight[i] = features[i].weight;
		total += features[i].weight;
		t->is_common[i] = 0 - (uint64_t)(features[i].weight == common);
		t->rest[t->n_rest] = (uint8_t)i;
		t->n_rest += features[i].weight != common;
	}
	for (; i % 8; i++)
		t->is_common[i] = t->hash[i] = 0;
	t->n = i;
	return total;
}

static void add_batch(adder *a, const batch *t, const uint64_t *hash)
{
	uint64_t common[AT_ONCE];

	if (t->n_rest < t->n) {
		for (size_t i = 0; i < t->n; i++)
			common[i] = hash[i] & t->is_common[i];
		count_hashes(a, common, t->n);
	}
	for (size_t i = 0; i < t->n_rest; i++)
		add_hash(a, hash[t->rest[i]], t->weight[t->rest[i]]);
}

/* The sums of all bits. Spoils the adder. */
static void finish_sums(adder *a, uint64_t common, uint64_t total, int64_t *sums)
{
	uint64_t with[64];

	/* A plane is like a hash that 2^p features have. */
	for (unsigned p = 0; p < N_PLANES; p++) {
		if (a->plane[p])
			add_hash(a, a->plane[p], common << p);
	}
	for (unsigned nibble = 0; nibble < N_NIBBLES; nibble++)
		split_nibble(a->of_value[nibble], with + 4 * nibble);
	for (unsigned b = 0; b < 64; b++)
		sums[b] = (int64_t)(2 * with[b] - total);
}

/* Any weight gives the right sums, 0 too if none is common: so look at a few only, from all over
 * the list, as it may be sorted. */
static uint32_t guess_common(const simidx_feature *features, size_t n)
{
	size_t step = (n + GUESS_FROM - 1) / GUESS_FROM, i;
	uint32_t least = UINT32_MAX;
	unsigned n_least = 0;

	for (i = 0; i < n; i += step) {
		n_least = features[i].weight < least ? 0 : n_least;
		least = features[i].weight < least ? features[i].weight : least;
		n_least += features[i].weight == least;
	}
	return n_least > 1 || n == 1 ? least : 0;
}

/* The sum of the squared weights; `n` is below 2^32. */
static u128 sum_squares(const batch *t, size_t n, uint32_t common)
{
	u128 squares = (u128)(n - t->n_rest) * ((uint64_t)common * common);

	for (size_t i = 0; i < t->n_rest; i++)
		squares += (uint64_t)t->weight[t->rest[i]] * t->weight[t->rest[i]];
	return squares;
}

/*
 * The sums over the hashes, and over the second hashes if sums2 is not NULL. Returns the sum of the
 * weights; *squares becomes that of their squares.
 */
static uint64_t sum_bits(const simidx_feature *features, size_t n, int64_t *sums, int64_t *sums2,
			 u128 *squares)
{
	uint32_t common = guess_common(features, n);
	uint64_t total = 0;
	adder first = { 0 }, second;
	size_t i, some;
	batch t;

	*squares = 0;
	if (sums2)
		memset(&second, 0, sizeof(second));
	for (i = 0; i < n; i += some) {
		some = n - i < AT_ONCE ? n - i : AT_ONCE;
		total += fill_batch(&t, features + i, some, common);
		*squares += sum_squares(&t, some, common);
		add_batch(&first, &t, t.hash);
		if (!sums2)
			continue;
		sx_hash_u64s_seed(t.hash, t.hash, t.n, SX_FP2_SEED);
		add_batch(&second, &t, t.hash);
	}
	finish_sums(&first, common, total, sums);
	if (sums2)
		finish_sums(&second, common, total, sums2);
	return total;
}

static uint64_t sign_bits(const int64_t *sums, unsigned bits)
{
	uint64_t fp = 0;

	for (unsigned b = 0; b < bits; b++)
		fp |= (uint64_t)(sums[b] > 0) << b;
	return fp;
}

/* The norm is the unit of query weights. */
static void weigh_bits(const int64_t *sums, unsigned bits, uint64_t norm, uint8_t *weights)
{
	for (unsigned b = 0; b < bits && norm; b++) {
		uint64_t weight, size = sums[b] < 0 ? 0 - (uint64_t)sums[b] : (uint64_t)sums[b];

		/* The norm is below 2^48: a sum that could overflow is far above the cap. */
		weight = size < 8 * norm ? (32 * size + norm / 2) / norm : 255;
		weights[b] = (uint8_t)(weight < 255 ? weight : 255);
	}
}

static int check_arguments(const simidx_feature *features, size_t n, unsigned bits,
			   unsigned flags, simidx_error *err)
{
	if (bits < SIMIDX_MIN_BITS || bits > SIMIDX_MAX_BITS)
		return sx_fail(err, SIMIDX_E_ARG,
			       "fingerprints of %u bits; %d..%d are possible", bits,
			       SIMIDX_MIN_BITS, SIMIDX_MAX_BITS);
	if (flags & ~(SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS))
		return sx_fail(err, SIMIDX_E_ARG, "unknown sketch flags 0x%x", flags);
	if (n > SX_MAX_FEATURES)
		return sx_fail(err, SIMIDX_E_ARG, "more than 2^31 features");
	if (n && !features)
		return sx_fail(err, SIMIDX_E_ARG, "features are NULL");
	return SIMIDX_OK;
}

/* Fingerprints and weights, from the sums. */
static void finish(simidx_sketch *sketch)
{
	uint64_t norm;

	sketch->fp = sign_bits(sketch->sums, sketch->bits);
	if (sketch->flags & SIMIDX_SKETCH_FP2)
		sketch->fp2 = sign_bits(sketch->sums2, 64);
	if (!(sketch->flags & SIMIDX_SKETCH_WEIGHTS))
		return;
	norm = sx_isqrt(sketch->squares[1], sketch->squares[0]);
	weigh_bits(sketch->sums, sketch->bits, norm, sketch->weights);
	if (sketch->flags & SIMIDX_SKETCH_FP2)
		weigh_bits(sketch->sums2, 64, norm, sketch->weights2);
}

int simidx_sketch_make(const simidx_feature *features, size_t n, unsigned bits, unsigned flags,
		       simidx_sketch *out, simidx_error *err)
{
	simidx_sketch own, *sketch;
	u128 squares;
	int rc;

	sx_err_clear(err);
	sketch = sx_struct_begin(out, SX_STRUCT_TO(simidx_sketch, fp), &own, sizeof(own));
	if (!sketch)
		return sx_fail(err, SIMIDX_E_ARG, "no sketch, or its size is not set");
	rc = check_arguments(features, n, bits, flags, err);
	if (rc)
		return rc;
	sketch->bits = bits;
	sketch->flags = flags;
	sketch->n_features = n;
	if (!sum_bits(features, n, sketch->sums, flags & SIMIDX_SKETCH_FP2 ? sketch->sums2 : NULL,
		      &squares))
		sketch->flags |= SIMIDX_SKETCH_EMPTY;
	/* Bits that the fingerprint does not have say nothing. */
	memset(sketch->sums + bits, 0, (64 - bits) * sizeof(sketch->sums[0]));
	sketch->squares[0] = (uint64_t)squares;
	sketch->squares[1] = (uint64_t)(squares >> 64);
	finish(sketch);
	sx_struct_end(out, sketch, sizeof(*sketch));
	return SIMIDX_OK;
}

int simidx_sketch_join(simidx_sketch *sketch, const simidx_sketch *more, simidx_error *err)
{
	const unsigned asked = SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS;
	u128 squares;

	sx_err_clear(err);
	if (!sketch || !more || sketch->size != sizeof(*sketch) || more->size != sizeof(*more))
		return sx_fail(err, SIMIDX_E_ARG, "no sketch, or its size is of another version");
	if (sketch->bits != more->bits || (sketch->flags ^ more->flags) & asked ||
	    (sketch->flags | more->flags) & SIMIDX_SKETCH_TRIPLES)
		return sx_fail(err, SIMIDX_E_ARG, "the sketches are of two kinds");
	if (more->n_features > SX_MAX_FEATURES ||
	    sketch->n_features > SX_MAX_FEATURES - more->n_features)
		return sx_fail(err, SIMIDX_E_RANGE, "more than 2^31 features");
	squares = ((u128)sketch->squares[1] << 64 | sketch->squares[0]) +
		  ((u128)more->squares[1] << 64 | more->squares[0]);
	sketch->squares[0] = (uint64_t)squares;
	sketch->squares[1] = (uint64_t)(squares >> 64);
	for (unsigned b = 0; b < 64; b++) {
		sketch->sums[b] += more->sums[b];
		sketch->sums2[b] += more->sums2[b];
	}
	sketch->n_features += more->n_features;
	if (!(more->flags & SIMIDX_SKETCH_EMPTY))
		sketch->flags &= ~SIMIDX_SKETCH_EMPTY;
	finish(sketch);
	return SIMIDX_OK;
}
