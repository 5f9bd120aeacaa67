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

/* Add those whose hashes are below a limit. */
static void add_below(sx_least *least, const uint64_t *token, size_t n, uint64_t limit)
{
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

/*
 * No hash from it on counts. Of the first runs most would be put in and pushed out again: as hashes
 * are spread evenly, those below a limit, half as many more than are asked for, are mostly enough.
 */
static uint64_t limit_of(const sx_least *least, size_t n)
{
	if (least->n == SIMIDX_SKETCH_MOST_LEAST)
		return least->hash[least->n - 1];
	if (!least->n && n > 2 * SIMIDX_SKETCH_MOST_LEAST)
		return UINT64_MAX / n * (SIMIDX_SKETCH_MOST_LEAST * 3 / 2);
	return UINT64_MAX;
}

/* Add the runs that end with n tokens, before which the last ones stand. */
static void add_runs(sx_least *least, const uint64_t *token, size_t n)
{
	uint64_t limit = limit_of(least, n);

	add_below(least, token, n, limit);
	if (least->n < SIMIDX_SKETCH_MOST_LEAST && limit < UINT64_MAX)
		add_below(least, token, n, UINT64_MAX);
}

/* Tokens that have come; those that no run ends with are the last ones of runs to come. */
void sx_least_flush(sx_least *least)
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
			sx_least_flush(least);
		some = SX_LEAST_TOKENS - least->n_tokens;
		some = some < n ? some : n;
		memcpy(least->token + least->n_tokens, token, some * sizeof(*token));
		least->n_tokens += some;
	}
}

int sx_least_take(void *ctx, const char *bytes, size_t size, simidx_error *err)
{
	uint64_t token = simidx_feature_hash(bytes, size);

	(void)err;
	add_tokens(ctx, &token, 1);
	return SIMIDX_OK;
}

/* Neither a letter or digit of ASCII, as folded words have them, nor between words. */
static uint8_t is_other(char byte)
{
	uint8_t c = (uint8_t)byte;

	return (uint8_t)(c - 'a') > 'z' - 'a' && (uint8_t)(c - '0') > '9' - '0' && c != SX_JOINT;
}

/* So many bytes are looked at side by side. */
#define LANES 16

static int has_others(const char *bytes, size_t n)
{
	uint8_t others[LANES] = { 0 }, all = 0;
	size_t i = 0;

	for (; n - i >= LANES; i += LANES)
		for (size_t lane = 0; lane < LANES; lane++)
			others[lane] |= is_other(bytes[i + lane]);
	for (size_t lane = 0; i && lane < LANES; lane++)
		all |= others[lane];
	for (; i < n; i++)
		all |= is_other(bytes[i]);
	return all;
}

int sx_least_add(sx_least *least, const sx_words *words, sx_bytes *token, simidx_error *err)
{
	size_t i = words->n_old, n = words->n - i, from = sx_words_start(words, i);
	int rc = SIMIDX_OK;

	if (!has_others(words->bytes + from, sx_words_start(words, words->n) - from))
		add_tokens(least, words->hash + i, n);
	else
		for (; i < words->n && !rc; from = words->end[i++] + 1) {
			const char *word = words->bytes + from;
			size_t size = words->end[i] - from;

			if (has_others(word, size))
				rc = sx_ascii_split((const uint8_t *)word, size, token,
						    sx_least_take, least, err);
			else
				add_tokens(least, &words->hash[i], 1);
		}
	sx_least_flush(least);
	return rc;
}

void sx_least_finish(const sx_least *least, simidx_sketch *sketch)
{
	memcpy(sketch->least, least->hash, least->n * sizeof(*least->hash));
	sketch->n_least = least->n;
}
