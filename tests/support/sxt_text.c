/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "support/sxt_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sxt.h"

void *sxt_alloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	ck_assert_ptr_nonnull(p);
	return p;
}

void sxt_feature(simidx_feature *feature, const char *bytes, size_t size, unsigned count)
{
	feature->hash = simidx_feature_hash(bytes, size);
	feature->weight = (uint32_t)floorl(sqrtl((long double)count) * 65536);
	feature->reserved = 0;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

void sxt_run(simidx_feature *feature, const char *bytes, size_t size)
{
	const char *end = bytes + size, *joint;
	uint64_t sum = 0;

	for (; (joint = memchr(bytes, 0x1f, (size_t)(end - bytes))); bytes = joint + 1)
		sum = (sum + simidx_feature_hash(bytes, (size_t)(joint - bytes))) *
		      UINT64_C(0x9e3779b97f4a7c15);
	sum += simidx_feature_hash(bytes, (size_t)(end - bytes));
	*feature = (simidx_feature){ mix(sum), 65536, 0 };
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/** The distinct strings of a list with their counts, as features. Returns how many. */
static size_t count_strings(char **list, size_t n, simidx_feature *features)
{
	size_t i, j, n_features = 0;

	qsort(list, n, sizeof(*list), compare_strings);
	for (i = 0; i < n; i = j) {
		for (j = i + 1; j < n && !strcmp(list[i], list[j]); j++)
			continue;
		sxt_feature(&features[n_features++], list[i], strlen(list[i]),
			    (unsigned)(j - i));
	}
	return n_features;
}

void sxt_set_triples(simidx_sketch *sketch, const simidx_feature *triples, size_t n)
{
	simidx_sketch second = SIMIDX_SKETCH_INIT;

	ck_assert_sx(simidx_sketch_make(triples, n, 64, SIMIDX_SKETCH_WEIGHTS, &second, &sxt_err),
		     SIMIDX_OK);
	sketch->flags |= SIMIDX_SKETCH_TRIPLES;
	sketch->fp2 = second.fp;
	memcpy(sketch->sums2, second.sums, sizeof(sketch->sums2));
	memcpy(sketch->weights2, second.weights, sizeof(sketch->weights2));
}

/** Runs of three words, each once; or all of fewer. */
static void set_runs(simidx_sketch *sketch, char **words, size_t n)
{
	size_t length = n < 3 ? n : 3, n_runs = n ? n - length + 1 : 0, size, i, j;
	char **runs = sxt_alloc(n_runs * sizeof(*runs));
	simidx_feature *features = sxt_alloc(n_runs * sizeof(*features));

	for (i = 0; i < n_runs; i++) {
		for (size = j = 0; j < length; j++)
			size += strlen(words[i + j]) + 1;
		runs[i] = sxt_alloc(size);
		for (j = 0; j < length; j++) {
			strcat(runs[i], j ? "\x1f" : "");
			strcat(runs[i], words[i + j]);
		}
	}
	qsort(runs, n_runs, sizeof(*runs), compare_strings);
	for (i = size = 0; i < n_runs; i++)
		if (!i || strcmp(runs[i], runs[i - 1]) != 0)
			sxt_run(&features[size++], runs[i], strlen(runs[i]));
	sxt_set_triples(sketch, features, size);
	for (i = 0; i < n_runs; i++)
		free(runs[i]);
	free(runs);
	free(features);
}

simidx_sketch sxt_sketch_of_words(const char *words, unsigned bits)
{
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;
	size_t room = strlen(words) / 2 + 2, size = strlen(words) + 1, n = 0, n_words, i;
	char **list = sxt_alloc(2 * room * sizeof(*list));
	char **in_order = sxt_alloc(room * sizeof(*list));
	simidx_feature *features = sxt_alloc(2 * room * sizeof(*features));
	char *copy = strdup(words), *save = NULL, *word;

	for (word = strtok_r(copy, "|", &save); word; word = strtok_r(NULL, "|", &save))
		list[n++] = strdup(word);
	n_words = n;
	memcpy(in_order, list, n * sizeof(*list));
	for (i = 0; i + 1 < n_words; i++) {
		list[n] = sxt_alloc(size + 1);
		snprintf(list[n++], size + 1, "%s\x1f%s", list[i], list[i + 1]);
	}
	ck_assert_sx(simidx_sketch_make(features, count_strings(list, n, features), bits,
					  SXT_SKETCH_ALL, &sketch, &sxt_err),
		     SIMIDX_OK);
	set_runs(&sketch, in_order, n_words);
	sketch.n_tokens = n_words;
	if (n_words < 64)
		sketch.flags |= SIMIDX_SKETCH_SHORT;
	for (i = 0; i < n; i++)
		free(list[i]);
	free(list);
	free(in_order);
	free(features);
	free(copy);
	return sketch;
}

simidx_sketch sxt_sketch_of_text(simidx_text *text, const void *utf8, size_t size)
{
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;

	ck_assert_sx(simidx_text_fingerprint(text, utf8, size,
					     SXT_SKETCH_ALL | SIMIDX_SKETCH_LEAST, &sketch,
					     &sxt_err),
		     SIMIDX_OK);
	return sketch;
}

void sxt_assert_sketch(const simidx_sketch *got, const simidx_sketch *want, const char *what)
{
	ck_assert_msg(got->n_tokens == want->n_tokens, "%s: %llu words, not %llu", what,
		      (unsigned long long)got->n_tokens, (unsigned long long)want->n_tokens);
	ck_assert_msg(got->n_features == want->n_features, "%s: %llu features, not %llu", what,
		      (unsigned long long)got->n_features,
		      (unsigned long long)want->n_features);
	ck_assert_msg(got->fp == want->fp && got->fp2 == want->fp2, "%s: fingerprints", what);
	ck_assert_msg(!memcmp(got->sums, want->sums, sizeof(got->sums)), "%s: sums", what);
	ck_assert_msg(!memcmp(got->sums2, want->sums2, sizeof(got->sums2)), "%s: sums2", what);
	ck_assert_msg(!memcmp(got->weights, want->weights, sizeof(got->weights)),
		      "%s: weights", what);
	ck_assert_msg(!memcmp(got->weights2, want->weights2, sizeof(got->weights2)),
		      "%s: weights2", what);
	ck_assert_msg(!((got->flags ^ want->flags) & ~SIMIDX_SKETCH_LEAST) &&
			      got->bits == want->bits,
		      "%s: flags", what);
	if (got->flags & want->flags & SIMIDX_SKETCH_LEAST)
		ck_assert_msg(got->n_least == want->n_least &&
				      !memcmp(got->least, want->least, sizeof(got->least)),
			      "%s: least hashes", what);
}
