/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text_grams.h"

#include <string.h>

#include "text/sx_text_weight.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

/* The last tokens are moved to the front when this many bytes are before them. */
#define USED_BYTES ((size_t)64 << 10)

int sx_hashes_hand_on(sx_hashes *hashes)
{
	size_t n = hashes->n;

	for (size_t i = 0; hashes->seed && i < n; i++)
		hashes->at[i] = sx_seeded(hashes->at[i], hashes->seed);
	hashes->n = 0;
	return n ? hashes->take(hashes->ctx, hashes->at, n) : 0;
}

static int add_hash(sx_hashes *hashes, const char *bytes, size_t size)
{
	int rc = hashes->n == SX_HASHES_AT_ONCE ? sx_hashes_hand_on(hashes) : 0;

	if (!rc)
		hashes->at[hashes->n++] = simidx_feature_hash(bytes, size);
	return rc;
}

void sx_grams_begin(sx_grams *g, const sx_settings *settings, sx_features *features,
		    sx_triples *triples, sx_gram_names *names)
{
	g->lengths = settings->grams;
	g->longest = settings->max_gram;
	g->triples = triples;
	g->joint = settings->tokens == SX_TOKENS_CHARS ? -1 : SX_JOINT;
	g->features = features;
	g->hashes = NULL;
	g->names = names;
	g->bytes.n = 0;
	g->n = 0;
}

/** Where the token begins that is `back` before the last one. */
static size_t start_of(const sx_grams *g, unsigned back)
{
	return g->start[(g->n - 1 - back) % SIMIDX_TEXT_MAX_GRAM];
}

/** Forget all but the last longest - 1 tokens. */
static void forget(sx_grams *g)
{
	size_t from = g->bytes.n, i;
	uint64_t kept = g->n < g->longest - 1 ? g->n : g->longest - 1;

	if (kept)
		from = start_of(g, (unsigned)kept - 1);
	g->bytes.n -= from;
	memmove(g->bytes.at, g->bytes.at + from, g->bytes.n);
	for (i = 0; i < kept; i++)
		g->start[(g->n - 1 - i) % SIMIDX_TEXT_MAX_GRAM] -= from;
}

static int count(sx_grams *g, size_t start, simidx_error *err)
{
	if (g->hashes)
		return add_hash(g->hashes, g->bytes.at + start, g->bytes.n - start);
	return sx_features_add(g->features, g->bytes.at + start, g->bytes.n - start, g->names,
			       err);
}

int sx_grams_take(void *ctx, const char *bytes, size_t size, simidx_error *err)
{
	sx_grams *g = ctx;
	uint64_t hash;
	unsigned back;
	int rc = SIMIDX_OK;

	if (g->bytes.n > USED_BYTES)
		forget(g);
	if (sx_reserve(&g->bytes.at, &g->bytes.room, g->bytes.n + 1 + size, 1))
		return sx_fail_nomem(err);
	if (g->bytes.n && g->joint >= 0)
		g->bytes.at[g->bytes.n++] = (char)g->joint;
	g->start[g->n++ % SIMIDX_TEXT_MAX_GRAM] = g->bytes.n;
	memcpy(g->bytes.at + g->bytes.n, bytes, size);
	g->bytes.n += size;
	g->features->n_words++;
	for (unsigned rest = g->lengths; rest && !rc; rest &= rest - 1) {
		back = (unsigned)__builtin_ctz(rest);
		if (back >= g->n)
			break;
		rc = count(g, start_of(g, back), err);
	}
	if (!g->triples || rc)
		return rc;
	hash = simidx_feature_hash(bytes, size);
	return sx_triples_add(g->triples, &hash, 1, err);
}

int sx_grams_end(sx_grams *g, simidx_error *err)
{
	unsigned shortest = (unsigned)__builtin_ctz(g->lengths) + 1;

	/* Shorter than all n-grams: then no n-gram was cut, and all is still there. */
	if (!g->n || g->n >= shortest)
		return SIMIDX_OK;
	return count(g, 0, err);
}
