/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_shingles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Hashes are spread evenly, so that sharing them out to as many places as there are hashes nearly
 * sorts them. A place with more than FEW is not of chance.
 */
#define MOST_PLACES ((size_t)1 << 16)
#define FEW 64

struct dd_shingler {
	simidx_text *text;
	struct in_room ends; /* size_t: where each place ends */
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
	free(shingler->ends.bytes);
	free(shingler);
}

static int compare_hashes(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sort n hashes that are nearly sorted. */
static void insert_all(uint64_t *hash, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t x = hash[i];
		size_t j = i;

		for (; j && hash[j - 1] > x; j--)
			hash[j] = hash[j - 1];
		hash[j] = x;
	}
}

/* Copy n hashes in ascending order. */
static int sort_hashes(struct dd_shingler *shingler, const uint64_t *from, size_t n, uint64_t *to)
{
	size_t places = 2, *end, at = 0;
	unsigned shift = 63;

	for (; places < n && places < MOST_PLACES; places *= 2)
		shift--;
	if (in_room_have(&shingler->ends, places * sizeof(*end)))
		return -1;
	end = shingler->ends.bytes;
	memset(end, 0, places * sizeof(*end));
	for (size_t i = 0; i < n; i++)
		end[from[i] >> shift]++;
	for (size_t i = 0; i < places; i++) {
		size_t here = end[i];

		end[i] = at;
		at += here;
	}
	for (size_t i = 0; i < n; i++)
		to[end[from[i] >> shift]++] = from[i];
	for (size_t i = 0, start = 0; i < places; start = end[i++]) {
		size_t here = end[i] - start;

		if (here > FEW)
			qsort(to + start, here, sizeof(*to), compare_hashes);
		else
			insert_all(to + start, here);
	}
	return 0;
}

int dd_shingles_make(struct dd_shingler *shingler, const char *utf8, size_t size,
		     struct dd_shingles *set, simidx_error *err)
{
	const uint64_t *hashes;
	uint64_t *hash;
	size_t n;
	int rc;

	set->n = 0;
	rc = simidx_text_hashes(shingler->text, utf8, size, &hashes, &n, err);
	if (rc)
		return rc;
	if (in_room_have(&set->room, n * sizeof(*hash)) ||
	    sort_hashes(shingler, hashes, n, set->room.bytes))
		return fail_memory(err);
	set->hash = hash = set->room.bytes;
	for (size_t i = 0; i < n; i++) {
		hash[set->n] = hash[i];
		set->n += !i || hash[i] != hash[set->n - 1];
	}
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
