/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_shingles.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

/*
 * Hashes are spread evenly, so that sharing them out to as many places as there are hashes nearly
 * sorts them. A place with more than FEW is not of chance.
 */
#define MOST_PLACES ((size_t)1 << 16)
#define FEW 64

struct sd_shingler {
	simidx_text *text;
	size_t *end; /* of each place, while hashes are sorted */
	size_t room;
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
	free(shingler->end);
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
static int sort_hashes(struct sd_shingler *shingler, const uint64_t *from, size_t n, uint64_t *to)
{
	size_t places = 2, *end, at = 0;
	unsigned shift = 63;

	for (; places < n && places < MOST_PLACES; places *= 2)
		shift--;
	if (sx_reserve(&shingler->end, &shingler->room, places, sizeof(*end)))
		return -1;
	end = shingler->end;
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

int sd_shingles_make(struct sd_shingler *shingler, const char *utf8, size_t size,
		     struct sd_shingles *set, simidx_error *err)
{
	const uint64_t *hashes;
	size_t n;
	int rc;

	set->n = 0;
	rc = simidx_text_hashes(shingler->text, utf8, size, &hashes, &n, err);
	if (rc)
		return rc;
	if (sx_reserve(&set->hash, &set->room, n, sizeof(*set->hash)) ||
	    sort_hashes(shingler, hashes, n, set->hash))
		return sx_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		set->hash[set->n] = set->hash[i];
		set->n += !i || set->hash[i] != set->hash[set->n - 1];
	}
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
