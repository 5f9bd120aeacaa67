/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text_least.h"

#include <string.h>

#include "text/sx_text_weight.h"

/* Odd, so that the bits of all tokens count: 2^64 divided by the square root of 2. */
#define FACTOR UINT64_C(0xb504f333f9de6485)
#define POWER2 (FACTOR * FACTOR)
#define POWER3 (POWER2 * FACTOR)
#define POWER4 (POWER3 * FACTOR)

/* Tokens of a run. */
#define RUN 5

void sx_least_begin(sx_least *least)
{
	least->n = 0;
	least->n_tokens = 0;
}

static void note(sx_least *least, uint64_t hash)
{
	uint64_t *at = least->hash;
	size_t i = least->n;

	for (; i && at[i - 1] >= hash; i--)
		if (at[i - 1] == hash)
			return;
	memmove(at + i + 1, at + i, (least->n - i) * sizeof(*at));
	at[i] = hash;
	least->n += least->n < SIMIDX_SKETCH_MOST_LEAST;
}

/* Add the runs that end with n tokens, before which the last ones stand. */
static void add_runs(sx_least *least, const uint64_t *token, size_t n)
{
	uint64_t limit = least->n < SIMIDX_SKETCH_MOST_LEAST ? UINT64_MAX :
								least->hash[least->n - 1];

	for (size_t i = 0; i < n; i++) {
		const uint64_t *t = token + i;
		uint64_t sum = t[0] * POWER4 + t[1] * POWER3 + t[2] * POWER2 + t[3] * FACTOR + t[4];
		uint64_t hash = sx_mix(sum);

		if (hash >= limit)
			continue;
		note(least, hash);
		if (least->n == SIMIDX_SKETCH_MOST_LEAST)
			limit = least->hash[least->n - 1];
	}
}

/* Tokens that have come; those that no run ends with are the last ones of runs to come. */
static void flush(sx_least *least)
{
	size_t n = least->n_tokens > RUN - 1 ? least->n_tokens - (RUN - 1) : 0;

	add_runs(least, least->token, n);
	memmove(least->token, least->token + n, (RUN - 1) * sizeof(*least->token));
	least->n_tokens -= n;
}

static void add_tokens(sx_least *least, const uint64_t *token, size_t n)
{
	for (size_t some; n; token += some, n -= some) {
		if (least->n_tokens == SX_LEAST_TOKENS)
			flush(least);
		some = SX_LEAST_TOKENS - least->n_tokens;
		some = some < n ? some : n;
		memcpy(least->token + least->n_tokens, token, some * sizeof(*token));
		least->n_tokens += some;
	}
}

/* A letter or digit, as folded words have them, or a byte of another character. */
static int is_inner(char byte)
{
	unsigned char c = (unsigned char)byte;

	return (unsigned)(c - 'a') < 26 || (unsigned)(c - '0') < 10 || c >= 0x80;
}

/* Where a part of a word ends that begins at `from`. */
static size_t end_of_part(const char *bytes, size_t from, size_t end)
{
	while (from < end && is_inner(bytes[from]))
		from++;
	return from;
}

static void add_parts(sx_least *least, const char *bytes, size_t from, size_t end)
{
	for (size_t to; from < end; from = to + 1) {
		uint64_t token;

		to = end_of_part(bytes, from, end);
		if (to == from)
			continue;
		token = simidx_feature_hash(bytes + from, to - from);
		add_tokens(least, &token, 1);
	}
}

/* The bytes for which is_inner() says no, eight at once: a set bit 7 stands for each. */
static uint64_t not_inner(uint64_t eight)
{
	const uint64_t each = UINT64_C(0x0101010101010101), high = 0x80 * each;
	uint64_t low = eight & ~high;
	uint64_t letters = (low + (0x80 - 'a') * each) & ~(low + (0x7f - 'z') * each);
	uint64_t digits = (low + (0x80 - '0') * each) & ~(low + (0x7f - '9') * each);

	return ~(letters | digits | eight) & high;
}

/* Whether a word of the batch has several parts: there are more such bytes than joints. */
static int has_parts(const sx_words *words, size_t from, size_t end)
{
	size_t n = 0;
	uint64_t eight;

	for (; from + sizeof(eight) <= end; from += sizeof(eight)) {
		memcpy(&eight, words->bytes + from, sizeof(eight));
		n += (not_inner(eight) >> 7) * UINT64_C(0x0101010101010101) >> 56;
	}
	for (; from < end; from++)
		n += !is_inner(words->bytes[from]);
	return n != words->n - words->n_old;
}

void sx_least_add(sx_least *least, const sx_words *words)
{
	size_t i = words->n_old, from = sx_words_start(words, i);

	if (!has_parts(words, from, sx_words_start(words, words->n)))
		add_tokens(least, words->hash + i, words->n - i);
	else
		for (; i < words->n; from = words->end[i++] + 1)
			add_parts(least, words->bytes, from, words->end[i]);
	flush(least);
}

void sx_least_finish(const sx_least *least, simidx_sketch *sketch)
{
	memcpy(sketch->least, least->hash, least->n * sizeof(*least->hash));
	sketch->n_least = least->n;
}
