/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "quality/qu_sketch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_text.h>

#include "bn_util.h"

#define SKETCH_FLAGS (SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS)

void qu_add_feature(struct qu_features *to, uint64_t hash, uint32_t weight)
{
	if (to->n == to->room) {
		to->room = 2 * to->room + 16;
		to->list = realloc(to->list, to->room * sizeof(*to->list));
		if (!to->list)
			bn_die("out of memory");
	}
	to->list[to->n++] = (simidx_feature){ hash, weight, 0 };
}

static int add_of_text(void *ctx, const simidx_feature *feature, const char *bytes, size_t n)
{
	(void)bytes;
	(void)n;
	qu_add_feature(ctx, feature->hash, feature->weight);
	return 0;
}

/* By step 7 of simidx_text.h, of the tokens of a run. */
static int add_run(void *ctx, const simidx_feature *feature, const char *bytes, size_t n)
{
	const char *end = bytes + n, *joint;
	uint64_t sum = 0;

	(void)feature;
	for (; (joint = memchr(bytes, 0x1f, (size_t)(end - bytes))); bytes = joint + 1)
		sum = (sum + simidx_feature_hash(bytes, (size_t)(joint - bytes))) *
		      0x9e3779b97f4a7c15u;
	sum += simidx_feature_hash(bytes, (size_t)(end - bytes));
	qu_add_feature(ctx, bn_mix(sum), 1 << 16);
	return 0;
}

static void sketch_one(const struct qu_features *of, uint64_t seed, unsigned flags,
		       simidx_sketch *out)
{
	struct qu_features own = { 0 };
	simidx_error err;

	for (size_t i = 0; i < of->n; i++) {
		uint64_t hash = of->list[i].hash;

		qu_add_feature(&own, seed ? bn_mix(hash ^ bn_mix(seed)) : hash,
			       of->list[i].weight);
	}
	bn_check(simidx_sketch_make(own.list, own.n, 64, flags, out, &err), &err, "fingerprint");
	free(own.list);
}

/* As the library does it under a seed. */
static void sketch(const struct qu_features *of, uint64_t seed, simidx_sketch *out)
{
	simidx_sketch second = SIMIDX_SKETCH_INIT;

	sketch_one(of, seed, SKETCH_FLAGS, out);
	if (!of->second)
		return;
	sketch_one(of->second, seed, SIMIDX_SKETCH_WEIGHTS, &second);
	out->flags |= SIMIDX_SKETCH_TRIPLES;
	out->fp2 = second.fp;
	memcpy(out->weights2, second.weights, sizeof(out->weights2));
}

/* What is measured must be what the library does with a text. */
static void check_text(simidx_text *text, const struct qu_doc *doc,
		       const struct qu_features *f, uint64_t seed)
{
	simidx_sketch whole = SIMIDX_SKETCH_INIT, parts = SIMIDX_SKETCH_INIT;
	simidx_error err;

	bn_check(simidx_text_fingerprint(text, doc->text, doc->size, SKETCH_FLAGS, &whole,
					 &err),
		 &err, doc->id);
	sketch(f, seed, &parts);
	if (whole.fp != parts.fp || whole.fp2 != parts.fp2 ||
	    (whole.flags ^ parts.flags) & SIMIDX_SKETCH_TRIPLES ||
	    memcmp(whole.weights, parts.weights, sizeof(whole.weights)) ||
	    memcmp(whole.weights2, parts.weights2, sizeof(whole.weights2)))
		bn_die("%s: its features make another fingerprint than its text", doc->id);
}

/* One of the options behind an extractor's name; `idf` is the dictionary's bytes, for free(). */
static void set_option(simidx_text_options *options, char *setting, char **idf)
{
	char *value = strchr(setting, '=');

	if (!value)
		bn_die("%s: expected OPTION=VALUE", setting);
	*value++ = 0;
	if (!strcmp(setting, "idf"))
		options->idf = *idf = qu_file_read(value, "", &options->idf_size);
	else if (!strcmp(setting, "stop"))
		options->stop = strcmp(value, "en+zh") ? value : "en,zh";
	else if (!strcmp(setting, "stem"))
		options->stem = value;
	else if (!strcmp(setting, "weights"))
		options->weights = value;
	else if (!strcmp(setting, "top") && !strcmp(value, "all"))
		options->top = SIMIDX_TEXT_TOP_ALL;
	else if (!strcmp(setting, "top") && !strcmp(value, "auto"))
		options->top = SIMIDX_TEXT_TOP_AUTO;
	else if (!strcmp(setting, "top"))
		options->top = (uint32_t)bn_number("top", value);
	else if (!strcmp(setting, "grams"))
		for (options->grams = 0; *value;
		     value += strcspn(value, "+") + (strchr(value, '+') != NULL))
			options->grams |= 1u << (strtoul(value, NULL, 10) - 1) % 16;
	else
		bn_die("%s: no such option of extractors", setting);
}

static simidx_text *open_text(const char *extractor, uint64_t seed)
{
	simidx_text_options options = SIMIDX_TEXT_OPTIONS_INIT;
	char *copy = strdup(extractor), *rest = copy, *idf = NULL, *setting;
	simidx_text *text = NULL;
	simidx_error err;

	options.extractor = strsep(&rest, ":");
	options.seed = seed;
	while ((setting = strsep(&rest, ":")))
		set_option(&options, setting, &idf);
	bn_check(simidx_text_open(&options, &text, &err), &err, extractor);
	free(copy);
	free(idf);
	return text;
}

/* Runs of three tokens of this extractor, each once; NULL where it does without. */
static simidx_text *open_triples(const simidx_text *text, const char *extractor)
{
	char triples[256];

	if (!strstr(simidx_text_profile(text), " fp2=triples"))
		return NULL;
	if (snprintf(triples, sizeof(triples), "%s:grams=3:weights=binary", extractor) >=
	    (int)sizeof(triples))
		bn_die("%s: too long", extractor);
	return open_text(triples, 0);
}

struct qu_features *qu_features_of(const struct qu_set *set, const char *extractor)
{
	struct qu_features *all = bn_alloc(set->n, sizeof(*all));
	const struct qu_doc *doc = set->docs;
	simidx_text *text, *seeded, *triples;
	simidx_error err;
	size_t i;

	if (!strcmp(extractor, QU_REFERENCE)) {
		for (i = 0; i < set->n; i++)
			qu_reference_features(doc[i].text, doc[i].size, &all[i]);
		return all;
	}
	text = open_text(extractor, 0);
	seeded = open_text(extractor, 1);
	triples = open_triples(text, extractor);
	for (i = 0; i < set->n; i++) {
		bn_check(simidx_text_each_feature(text, doc[i].text, doc[i].size, add_of_text,
						  &all[i], &err),
			 &err, doc[i].id);
		if (triples) {
			all[i].second = bn_alloc(1, sizeof(*all[i].second));
			bn_check(simidx_text_each_feature(triples, doc[i].text, doc[i].size,
							  add_run, all[i].second, &err),
				 &err, doc[i].id);
		}
		check_text(text, &doc[i], &all[i], 0);
		check_text(seeded, &doc[i], &all[i], 1);
	}
	simidx_text_close(text);
	simidx_text_close(seeded);
	simidx_text_close(triples);
	return all;
}

void qu_features_free(struct qu_features *features, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (features[i].second)
			qu_features_free(features[i].second, 1);
		free(features[i].list);
	}
	free(features);
}

void qu_fingerprints(const struct qu_features *features, size_t n, uint64_t seed,
		     struct qu_fp *out)
{
	for (size_t i = 0; i < n; i++) {
		simidx_sketch made = SIMIDX_SKETCH_INIT;

		sketch(&features[i], seed, &made);
		out[i].fp = made.fp;
		out[i].fp2 = made.fp2;
		out[i].flags = made.flags;
		memcpy(out[i].weights, made.weights, sizeof(made.weights));
		memcpy(out[i].weights2, made.weights2, sizeof(made.weights2));
	}
}
