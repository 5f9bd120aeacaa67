/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text.h"

#include <stdlib.h>
#include <string.h>

#include "text/sx_text_stretch.h"
#include "text/sx_text_weight.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"

/* What one buffer may keep for the next text. */
#define KEEP_BYTES ((size_t)4 << 20)

static int normalise(simidx_text *text, const uint8_t *utf8, size_t size, simidx_error *err)
{
	sx_units *units = &text->units;
	int rc = sx_decode(units, utf8, size, err);

	if (rc)
		return rc;
	/* First, because NFKC does not compose over what is dropped. */
	units->n = sx_drop_ignorable(units->at, units->n);
	rc = sx_nfkc(units, &text->spare, err);
	return rc ? rc : sx_fold(units, &text->spare, err);
}

/** Begin to split one stretch into words. */
static int split_words(simidx_text *text, const uint8_t *utf8, size_t size, simidx_error *err)
{
	int rc = sx_words_stretch(&text->words, &utf8, &size, err);

	if (!rc)
		rc = normalise(text, utf8, size, err);
	return rc ? rc : sx_words_split(&text->words, &text->units, err);
}

/**
 * Hand on Han characters and runs of letters of one stretch. What is ASCII needs no ICU, and
 * between the islands no token goes on.
 */
static int each_run(simidx_text *text, int unspaced, const uint8_t *utf8, size_t size,
		    sx_take_token *take, void *ctx, simidx_error *err)
{
	size_t pos, island, end;
	int rc = SIMIDX_OK;

	for (pos = 0; pos < size && !rc; pos = end) {
		island = sx_ascii_island(utf8, pos, size, &end);
		rc = sx_ascii_split(utf8 + pos, island - pos, &text->token, take, ctx, err);
		if (rc || island == end)
			continue;
		rc = normalise(text, utf8 + island, end - island, err);
		if (!rc)
			rc = sx_han_split(text->units.at, text->units.n, unspaced, &text->token,
					  take, ctx, err);
	}
	return rc;
}

static int is_ascii(const uint8_t *bytes, size_t n)
{
	uint8_t all = 0;

	for (size_t i = 0; i < n; i++)
		all |= bytes[i];
	return all < 0x80;
}

/** Count the words and pairs, and triples, of one stretch where they lie. */
static int count_stretch(simidx_text *text, const uint8_t *utf8, size_t size,
			 sx_triples *triples, simidx_error *err)
{
	sx_words *words = &text->words;
	int has_ascii_least = text->has_least && is_ascii(utf8, size);
	int rc = split_words(text, utf8, size, err);

	while (!rc) {
		rc = sx_words_fill(words, err);
		if (rc || words->n == words->n_old)
			break;
		sx_words_hash(words);
		rc = sx_features_count(&text->features, words, err);
		if (has_ascii_least && !rc)
			rc = sx_least_add(&text->least, words, &text->token, err);
		if (triples && !rc)
			rc = sx_triples_add(triples, words->hash + words->n_old,
					    words->n - words->n_old, err);
	}
	if (rc || !text->has_least || has_ascii_least)
		return rc;
	rc = each_run(text, 1, utf8, size, sx_least_take, &text->least, err);
	sx_least_flush(&text->least);
	return rc;
}

static int count_plain(simidx_text *text, const uint8_t *utf8, size_t size, sx_triples *triples,
		       simidx_error *err)
{
	size_t n;
	int rc = SIMIDX_OK;

	sx_words_begin(&text->words);
	sx_least_begin(&text->least);
	for (; size && !rc; utf8 += n, size -= n) {
		n = sx_stretch(utf8, size, text->stretch, text->stretch_max);
		rc = count_stretch(text, utf8, n, triples, err);
	}
	return rc;
}

/** Hand on the words of one stretch. */
static int each_word(simidx_text *text, const uint8_t *utf8, size_t size, sx_take_token *take,
		     void *ctx, simidx_error *err)
{
	sx_words *words = &text->words;
	size_t i, start;
	int rc = split_words(text, utf8, size, err);

	while (!rc) {
		rc = sx_words_fill(words, err);
		if (rc || words->n == words->n_old)
			break;
		for (i = words->n_old; i < words->n && !rc; i++) {
			start = sx_words_start(words, i);
			rc = take(ctx, words->bytes + start, words->end[i] - start, err);
		}
	}
	return rc;
}

/** Hand on single characters of one stretch. */
static int each_char(simidx_text *text, const uint8_t *utf8, size_t size, sx_take_token *take,
		     void *ctx, simidx_error *err)
{
	const sx_units *units = &text->units;
	int rc = normalise(text, utf8, size, err);

	return rc ? rc : sx_chars_split(&text->chars, units->at, units->n, take, ctx, err);
}

int sx_text_tokens(simidx_text *text, const uint8_t *utf8, size_t size, sx_take_token *take,
		   void *ctx, simidx_error *err)
{
	size_t n;
	int rc = SIMIDX_OK;

	sx_words_begin(&text->words);
	memset(&text->chars, 0, sizeof(text->chars));
	for (; size && !rc; utf8 += n, size -= n) {
		n = sx_stretch(utf8, size, text->stretch, text->stretch_max);
		if (text->settings.tokens == SX_TOKENS_WORDS)
			rc = each_word(text, utf8, n, take, ctx, err);
		else if (text->settings.tokens == SX_TOKENS_CHARS)
			rc = each_char(text, utf8, n, take, ctx, err);
		else
			rc = each_run(text, text->settings.tokens == SX_TOKENS_UNSPACED, utf8, n,
				      take, ctx, err);
	}
	return rc;
}

static int begin_features(simidx_text *text, size_t size, const sx_part *part, sx_triples *triples,
			  simidx_error *err)
{
	const sx_part all = { 0, 0 };
	int rc;

	text->features.most_slots = part ? text->most_slots : 0;
	rc = sx_features_begin(&text->features, size, part ? *part : all, err);
	if (rc || !triples)
		return rc;
	triples->most_slots = text->features.most_slots;
	return sx_triples_begin(triples, size, part ? *part : all, err);
}

/** A short text as one feature: all its tokens. */
static int count_whole(simidx_text *text, const sx_part *part, sx_triples *triples,
		       sx_gram_names *names, simidx_error *err)
{
	uint64_t n_words = text->features.n_words;
	const sx_bytes *whole = &text->filter.whole;
	uint64_t hash;
	int rc = begin_features(text, 0, part, triples, err);

	text->features.n_words = n_words;
	if (names)
		names->n = names->bytes.n = 0;
	/* A text without tokens has no features. */
	if (rc || !whole->n)
		return rc;
	rc = sx_features_add(&text->features, whole->at, whole->n, names, err);
	hash = simidx_feature_hash(whole->at, whole->n);
	return triples && !rc ? sx_triples_add(triples, &hash, 1, err) : rc;
}

/** Count n-grams by way of the filters, or hand on the hash of each by `hashes`. */
static int count_tokens(simidx_text *text, const uint8_t *utf8, size_t size, const sx_part *part,
			sx_triples *triples, sx_gram_names *names, sx_hashes *hashes,
			simidx_error *err)
{
	const sx_settings *settings = &text->settings;
	int rc;

	sx_grams_begin(&text->grams, settings, &text->features, triples, names);
	text->grams.hashes = hashes;
	sx_filter_begin(&text->filter, text->lists, settings->exact, text->grams.joint);
	text->filter.take = sx_grams_take;
	text->filter.ctx = &text->grams;
	rc = sx_text_tokens(text, utf8, size, sx_filter_take, &text->filter, err);
	if (!rc)
		rc = sx_filter_end(&text->filter, err);
	if (!rc && settings->exact && text->features.n_words < settings->min_tokens)
		return count_whole(text, part, triples, names, err);
	return rc ? rc : sx_grams_end(&text->grams, err);
}

/** Where both are of parts of different sizes, of the smaller one. */
static int fit_parts(sx_features *features, sx_triples *triples, sx_part *part, simidx_error *err)
{
	int rc = SIMIDX_OK;

	*part = features->part;
	if (!triples || triples->part.mask == part->mask)
		return SIMIDX_OK;
	*part = sx_part_smaller(features->part, triples->part);
	if (features->part.mask != part->mask)
		rc = sx_features_narrow(features, *part, err);
	if (!rc && triples->part.mask != part->mask)
		rc = sx_triples_narrow(triples, *part, err);
	return rc;
}

int sx_text_extract(simidx_text *text, const uint8_t *utf8, size_t size, sx_part *part,
		    sx_triples *triples, sx_gram_names *names, simidx_error *err)
{
	int rc = begin_features(text, size, part, triples, err);

	if (!rc && text->plain && !names)
		rc = count_plain(text, utf8, size, triples, err);
	else if (!rc)
		rc = count_tokens(text, utf8, size, part, triples, names, NULL, err);
	if (!rc && part)
		rc = fit_parts(&text->features, triples, part, err);
	if (!rc)
		sx_features_finish(&text->features, &text->settings, text->lists);
	if (triples && !rc)
		rc = sx_triples_finish(triples, text->settings.seed, err);
	return rc;
}

/** Free what a normal document does not need. */
static void trim(simidx_text *text)
{
	size_t unit = sizeof(*text->units.at);

	/* ICU's break iterator keeps caches of its own, as large as these. */
	if (text->units.room * unit > KEEP_BYTES || text->spare.room * unit > KEEP_BYTES ||
	    text->words.room > KEEP_BYTES) {
		free(text->units.at);
		free(text->spare.at);
		memset(&text->units, 0, sizeof(text->units));
		memset(&text->spare, 0, sizeof(text->spare));
		sx_words_free(&text->words);
	}
	if (text->token.room + text->filter.waiting.room + text->filter.whole.room +
		    text->grams.bytes.room >
	    KEEP_BYTES) {
		free(text->token.at);
		free(text->filter.waiting.at);
		free(text->filter.whole.at);
		free(text->grams.bytes.at);
		memset(&text->token, 0, sizeof(text->token));
		memset(&text->filter.waiting, 0, sizeof(text->filter.waiting));
		memset(&text->filter.whole, 0, sizeof(text->filter.whole));
		memset(&text->grams.bytes, 0, sizeof(text->grams.bytes));
	}
	if (text->features.room * sizeof(*text->features.slot) > KEEP_BYTES) {
		free(text->features.slot);
		memset(&text->features, 0, sizeof(text->features));
	}
	if (sx_triples_bytes(&text->triples) > KEEP_BYTES)
		sx_triples_free(&text->triples);
}

/** What the fingerprints of a text are made from: sketches of its features and of its triples. */
struct sketches {
	simidx_sketch first, second;
	int is_begun;
};

static int add_features(simidx_sketch *sum, int is_begun, const simidx_feature *features, size_t n,
			unsigned bits, unsigned flags, simidx_error *err)
{
	simidx_sketch more;
	int rc;

	if (!is_begun)
		return simidx_sketch_make(features, n, bits, flags, sum, err);
	more.size = sizeof(more);
	rc = simidx_sketch_make(features, n, bits, flags, &more, err);
	return rc ? rc : simidx_sketch_join(sum, &more, err);
}

/** Add what was extracted, a part of the text's features. */
static int add_part(const simidx_text *text, const sx_triples *triples, unsigned flags,
		    struct sketches *sums, simidx_error *err)
{
	unsigned first_flags = triples ? flags & ~SIMIDX_SKETCH_FP2 : flags;
	int rc = add_features(&sums->first, sums->is_begun, text->features.slot, text->features.n,
			      text->settings.bits, first_flags, err);

	if (!rc && triples)
		rc = add_features(&sums->second, sums->is_begun, triples->list, triples->n, 64,
				  first_flags, err);
	sums->is_begun = 1;
	return rc;
}

/** The fingerprints of all that was added. */
static void make_sketch(const struct sketches *sums, int has_triples, simidx_sketch *out)
{
	const simidx_sketch *second = &sums->second;

	*out = sums->first;
	if (!has_triples)
		return;
	out->flags |= SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_TRIPLES;
	out->fp2 = second->fp;
	memcpy(out->sums2, second->sums, sizeof(out->sums2));
	memcpy(out->weights2, second->weights, sizeof(out->weights2));
}

/** In as many passes as the limit asks for. */
static int sum_text(simidx_text *text, const uint8_t *utf8, size_t size, unsigned flags,
		    sx_triples *triples, struct sketches *sums, simidx_error *err)
{
	/* What weighs most, only all features tell. */
	int in_parts = text->most_slots && text->settings.top == SIMIDX_TEXT_TOP_ALL;
	sx_part part = { 0, 0 };
	int rc;

	do {
		rc = sx_text_extract(text, utf8, size, in_parts ? &part : NULL, triples, NULL, err);
		if (!rc)
			rc = add_part(text, triples, flags, sums, err);
	} while (!rc && sx_part_next(&part));
	return rc;
}

/* Bytes of a slot of each of two tables, of which one has half as many features besides; and of
   the one that it was made from. */
#define BYTES_PER_SLOT 48
#define LEAST_SLOTS ((size_t)8192)

void simidx_text_limit(simidx_text *text, size_t bytes)
{
	size_t slots = LEAST_SLOTS;

	if (!text)
		return;
	while (slots <= bytes / BYTES_PER_SLOT / 2)
		slots *= 2;
	text->most_slots = bytes ? slots : 0;
}

int simidx_text_fingerprint(simidx_text *text, const void *utf8, size_t size, unsigned flags,
			    simidx_sketch *out, simidx_error *err)
{
	simidx_sketch own, *sketch;
	struct sketches sums = { .first = SIMIDX_SKETCH_INIT, .second = SIMIDX_SKETCH_INIT };
	const unsigned sketch_flags = SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS;
	sx_triples *triples = NULL;
	uint64_t n_words;
	int rc;

	sx_err_clear(err);
	sketch = sx_struct_begin(out, SX_STRUCT_TO(simidx_sketch, fp), &own, sizeof(own));
	if (!sketch)
		return sx_fail(err, SIMIDX_E_ARG, "no sketch, or its size is not set");
	if (!text || (!utf8 && size))
		return sx_fail(err, SIMIDX_E_ARG, "extractor or text is NULL");
	if (flags & ~(sketch_flags | SIMIDX_SKETCH_LEAST))
		return sx_fail(err, SIMIDX_E_ARG, "unknown flags 0x%x", flags);
	if (size > SX_TEXT_MAX)
		return sx_fail(err, SIMIDX_E_RANGE, "text of %zu bytes is longer than %zu",
			       size, SX_TEXT_MAX);

	if (text->settings.triples && flags & SIMIDX_SKETCH_FP2)
		triples = &text->triples;
	text->has_least = triples && text->plain && flags & SIMIDX_SKETCH_LEAST;
	rc = sum_text(text, utf8, size, flags & sketch_flags, triples, &sums, err);
	n_words = text->features.n_words;
	if (!rc)
		make_sketch(&sums, triples != NULL, sketch);
	if (!rc && text->has_least) {
		sx_least_finish(&text->least, sketch);
		sketch->flags |= SIMIDX_SKETCH_LEAST;
	}
	text->has_least = 0;
	trim(text);
	if (rc)
		return rc;
	sketch->n_tokens = n_words;
	if (n_words < text->settings.min_tokens)
		sketch->flags |= SIMIDX_SKETCH_SHORT;
	sx_struct_end(out, sketch, sizeof(*sketch));
	return SIMIDX_OK;
}

/* Make the sketch for a query, for which there is room in `out`. */
static int sketch_of_query(simidx_text *text, const void *utf8, size_t size, simidx_sketch *sketch,
			   simidx_query *out, simidx_error *err)
{
	const unsigned flags = SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS;
	simidx_query own;

	if (!sx_struct_begin(out, SX_STRUCT_TO(simidx_query, radius), &own, sizeof(own))) {
		sx_err_clear(err);
		return sx_fail(err, SIMIDX_E_ARG, "no query, or its size is not set");
	}
	return simidx_text_fingerprint(text, utf8, size, flags, sketch, err);
}

int simidx_text_query(simidx_text *text, const simidx *index, const void *utf8, size_t size,
		      simidx_sketch *sketch, simidx_query *out, simidx_error *err)
{
	int rc = sketch_of_query(text, utf8, size, sketch, out, err);

	return rc ? rc : simidx_sketch_query(index, sketch, out, err);
}

int simidx_text_query_if_new(simidx_text *text, const simidx *index, const void *utf8,
			     size_t size, simidx_sketch *sketch, simidx_query *out,
			     simidx_error *err)
{
	int rc = sketch_of_query(text, utf8, size, sketch, out, err);

	return rc ? rc : simidx_sketch_query_if_new(index, sketch, out, err);
}

typedef int feature_callback(void *ctx, const simidx_feature *feature, const char *bytes,
			     size_t n_bytes);

/** Features have been put under the seed since their names were noted. */
static void seed_names(sx_gram_names *names, uint64_t seed)
{
	for (size_t i = 0; seed && i < names->n; i++)
		names->name[i].hash = sx_seeded(names->name[i].hash, seed);
}

static int hand_on_features(const simidx_text *text, const sx_gram_names *names,
			    feature_callback *callback, void *ctx)
{
	const simidx_feature *feature = text->features.slot;
	const struct sx_gram_name *name;
	size_t i;
	int rc = 0;

	for (i = 0; i < text->features.n && !rc; i++) {
		name = sx_gram_names_find(names, feature[i].hash);
		rc = callback(ctx, &feature[i], names->bytes.at + name->offset, name->size);
	}
	return rc;
}

int simidx_text_each_feature(simidx_text *text, const void *utf8, size_t size,
			     feature_callback *callback, void *ctx, simidx_error *err)
{
	sx_gram_names names = { 0 };
	int rc;

	sx_err_clear(err);
	if (!text || !callback || (!utf8 && size))
		return sx_fail(err, SIMIDX_E_ARG, "extractor, function or text is NULL");
	if (size > SX_TEXT_MAX)
		return sx_fail(err, SIMIDX_E_RANGE, "text of %zu bytes is longer than %zu",
			       size, SX_TEXT_MAX);
	rc = sx_text_extract(text, utf8, size, NULL, NULL, &names, err);
	if (!rc) {
		sx_features_sort(&text->features);
		seed_names(&names, text->settings.seed);
		sx_gram_names_sort(&names);
		rc = hand_on_features(text, &names, callback, ctx);
	}
	sx_gram_names_free(&names);
	trim(text);
	return rc;
}

int simidx_text_features(simidx_text *text, const void *utf8, size_t size,
			 const simidx_feature **features, size_t *n, simidx_error *err)
{
	int rc;

	sx_err_clear(err);
	if (!text || !features || !n || (!utf8 && size))
		return sx_fail(err, SIMIDX_E_ARG, "extractor, features or text is NULL");
	*features = NULL;
	*n = 0;
	if (size > SX_TEXT_MAX)
		return sx_fail(err, SIMIDX_E_RANGE, "text of %zu bytes is longer than %zu",
			       size, SX_TEXT_MAX);
	/* What the caller gets must stay, so it is the text before that is trimmed. */
	trim(text);
	rc = sx_text_extract(text, utf8, size, NULL, NULL, NULL, err);
	if (rc)
		return rc;
	*features = text->features.slot;
	*n = text->features.n;
	return SIMIDX_OK;
}

/** A text that is one feature: whether it is, and its hash is handed on. */
static int each_whole(simidx_text *text, const uint8_t *utf8, size_t size, int *is_whole,
		      int (*callback)(void *ctx, const uint64_t *hashes, size_t n), void *ctx,
		      simidx_error *err)
{
	int rc = SIMIDX_OK;

	*is_whole = 0;
	if (!text->settings.exact)
		return SIMIDX_OK;
	rc = sx_text_extract(text, utf8, size, NULL, NULL, NULL, err);
	if (rc || text->features.n_words >= text->settings.min_tokens)
		return rc;
	*is_whole = 1;
	return text->features.n ? callback(ctx, &text->features.slot[0].hash, 1) : SIMIDX_OK;
}

int simidx_text_each_hash(simidx_text *text, const void *utf8, size_t size,
			  int (*callback)(void *ctx, const uint64_t *hashes, size_t n), void *ctx,
			  simidx_error *err)
{
	sx_hashes *hashes;
	int rc, is_whole;

	sx_err_clear(err);
	if (!text || !callback || (!utf8 && size))
		return sx_fail(err, SIMIDX_E_ARG, "extractor, function or text is NULL");
	if (size > SX_TEXT_MAX)
		return sx_fail(err, SIMIDX_E_RANGE, "text of %zu bytes is longer than %zu",
			       size, SX_TEXT_MAX);
	hashes = &text->hashes;
	hashes->n = 0;
	hashes->seed = text->settings.seed;
	hashes->take = callback;
	hashes->ctx = ctx;
	rc = each_whole(text, utf8, size, &is_whole, callback, ctx, err);
	if (!rc && !is_whole)
		rc = begin_features(text, 0, NULL, NULL, err);
	if (!rc && !is_whole)
		rc = count_tokens(text, utf8, size, NULL, NULL, NULL, hashes, err);
	if (!rc)
		rc = sx_hashes_hand_on(hashes);
	trim(text);
	return rc;
}

const char *simidx_text_profile(const simidx_text *text)
{
	return text ? text->profile : "";
}

const uint64_t *simidx_text_check_fps(const simidx_text *text, size_t *n)
{
	if (n)
		*n = text ? SX_N_CHECK_TEXTS : 0;
	return text ? text->check_fps : NULL;
}
