/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_shingles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dd_shingler {
	simidx_text *text;
};

static int fail_memory(simidx_error *err)
{
	err->code = SIMIDX_E_NOMEM;
	err->sys_errno = 0;
	snprintf(err->text, sizeof(err->text), "out of memory");
	return err->code;
}

int dd_shingler_open(struct dd_shingler **out, simidx_error *err)
{
	simidx_text_options options = SIMIDX_TEXT_OPTIONS_INIT;
	struct dd_shingler *shingler = calloc(1, sizeof(*shingler));
	int rc;

	*out = NULL;
	if (!shingler)
		return fail_memory(err);
	options.extractor = "unspaced12";
	options.grams = 1u << (DD_SHINGLE_TOKENS - 1);
	rc = simidx_text_open(&options, &shingler->text, err);
	if (rc) {
		free(shingler);
		return rc;
	}
	*out = shingler;
	return 0;
}

void dd_shingler_close(struct dd_shingler *shingler)
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

int dd_shingles_make(struct dd_shingler *shingler, const char *utf8, size_t size,
		     struct dd_shingles *set, simidx_error *err)
{
	const simidx_feature *features;
	uint64_t *hash;
	size_t n;
	int rc;

	set->n = 0;
	rc = simidx_text_features(shingler->text, utf8, size, &features, &n, err);
	if (rc)
		return rc;
	if (in_room_have(&set->room, n * sizeof(*hash)))
		return fail_memory(err);
	set->hash = hash = set->room.bytes;
	for (size_t i = 0; i < n; i++)
		hash[i] = features[i].hash;
	if (n)
		qsort(hash, n, sizeof(*hash), compare_hashes);
	set->n = n;
	return 0;
}

void dd_shingles_free(struct dd_shingles *set)
{
	free(set->room.bytes);
	memset(set, 0, sizeof(*set));
}

double dd_shingles_jaccard(const struct dd_shingles *a, const struct dd_shingles *b)
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
