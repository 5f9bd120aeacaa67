/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_shingles.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

struct sd_shingler {
	simidx_text *text;
};

int sd_shingler_open(struct sd_shingler **out, simidx_error *err)
{
	simidx_text_options options = SIMIDX_TEXT_OPTIONS_INIT;
	struct sd_shingler *shingler = calloc(1, sizeof(*shingler));
	int rc;

	*out = NULL;
	if (!shingler)
		return sx_fail_nomem(err);
	options.extractor = "unspaced12";
	options.grams = 1u << (SD_SHINGLE_TOKENS - 1);
	rc = simidx_text_open(&options, &shingler->text, err);
	if (rc) {
		free(shingler);
		return rc;
	}
	*out = shingler;
	return 0;
}

void sd_shingler_close(struct sd_shingler *shingler)
{
	if (!shingler)
		return;
	simidx_text_close(shingler->text);
	free(shingler);
}

static int compare_hashes(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int sd_shingles_make(struct sd_shingler *shingler, const char *utf8, size_t size,
		     struct sd_shingles *set, simidx_error *err)
{
	const simidx_feature *features;
	size_t n;
	int rc;

	set->n = 0;
	rc = simidx_text_features(shingler->text, utf8, size, &features, &n, err);
	if (rc)
		return rc;
	if (sx_reserve(&set->hash, &set->room, n, sizeof(*set->hash)))
		return sx_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		set->hash[i] = features[i].hash;
	if (n)
		qsort(set->hash, n, sizeof(*set->hash), compare_hashes);
	set->n = n;
	return 0;
}

void sd_shingles_free(struct sd_shingles *set)
{
	free(set->hash);
	memset(set, 0, sizeof(*set));
}

double sd_shingles_jaccard(const struct sd_shingles *a, const struct sd_shingles *b)
{
	size_t i = 0, j = 0, both = 0;

	if (!a->n || !b->n)
		return 0;
	while (i < a->n && j < b->n) {
		uint64_t x = a->hash[i], y = b->hash[j];

		both += x == y;
		i += x <= y;
		j += y <= x;
	}
	return (double)both / (double)(a->n + b->n - both);
}
