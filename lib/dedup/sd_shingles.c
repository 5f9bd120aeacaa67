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

/* More hashes than these are shared out to so many ranges first. */
#define MANY ((size_t)8 * MOST_PLACES)
#define RANGES 256

/* What is gathered for the next text, at most. */
#define KEEP_HASHES ((size_t)512 << 10)

struct sd_shingler {
	simidx_text *text;
	size_t *end; /* of each place, while hashes are sorted */
	size_t end_room;
	uint64_t *gathered; /* hashes of the text at hand, `n` of them, as they come */
	size_t n, room;
	size_t most;
	struct sd_shingles *set; /* that is made of them */
	simidx_error *err;
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
	free(shingler->gathered);
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

/*
 * Share n hashes out to `places` by the bits from `shift` on, so that those of a place stand
 * together, in ascending order of places. shingler->end[i] is set to where place i ends.
 */
static int share_out(struct sd_shingler *shingler, const uint64_t *from, size_t n, size_t places,
		     unsigned shift, uint64_t *to)
{
	size_t *end, at = 0;

	if (sx_reserve(&shingler->end, &shingler->end_room, places, sizeof(*end)))
		return -1;
	end = shingler->end;
	memset(end, 0, places * sizeof(*end));
	for (size_t i = 0; i < n; i++)
		end[from[i] >> shift & (places - 1)]++;
	for (size_t i = 0; i < places; i++) {
		size_t here = end[i];

		end[i] = at;
		at += here;
	}
	for (size_t i = 0; i < n; i++)
		to[end[from[i] >> shift & (places - 1)]++] = from[i];
	return 0;
}

/* Copy n hashes in ascending order. They are the same in all bits from `bits` on. */
static int sort_some(struct sd_shingler *shingler, const uint64_t *from, size_t n, unsigned bits,
		     uint64_t *to)
{
	size_t places = 2;
	unsigned shift = bits - 1;

	for (; places < n && places < MOST_PLACES; places *= 2)
		shift--;
	if (share_out(shingler, from, n, places, shift, to))
		return -1;
	for (size_t i = 0, start = 0; i < places; start = shingler->end[i++]) {
		size_t here = shingler->end[i] - start;

		if (here > FEW)
			qsort(to + start, here, sizeof(*to), compare_hashes);
		else if (here)
			insert_all(to + start, here);
	}
	return 0;
}

/* The same; what was copied is spoilt. */
static int sort_hashes(struct sd_shingler *shingler, uint64_t *from, size_t n, uint64_t *to)
{
	size_t end[RANGES];

	if (n <= MANY)
		return sort_some(shingler, from, n, 64, to);
	if (share_out(shingler, from, n, RANGES, 56, to))
		return -1;
	memcpy(end, shingler->end, sizeof(end));
	for (size_t i = 0, start = 0; i < RANGES; start = end[i++]) {
		size_t here = end[i] - start;

		if (sort_some(shingler, to + start, here, 56, from + start))
			return -1;
		memcpy(to + start, from + start, here * sizeof(*to));
	}
	return 0;
}

/* Make the set of what is gathered. */
static int make_set(struct sd_shingler *shingler)
{
	struct sd_shingles *set = shingler->set;
	size_t n = shingler->n;

	set->n = 0;
	if (sx_reserve(&set->hash, &set->room, n, sizeof(*set->hash)) ||
	    sort_hashes(shingler, shingler->gathered, n, set->hash))
		return sx_fail_nomem(shingler->err);
	for (size_t i = 0; i < n; i++) {
		set->hash[set->n] = set->hash[i];
		set->n += !i || set->hash[i] != set->hash[set->n - 1];
	}
	return SIMIDX_OK;
}

/* No more may be gathered: have each once, and of many the lesser half. */
static int make_room(struct sd_shingler *shingler)
{
	struct sd_shingles *set = shingler->set;
	int rc = make_set(shingler);

	if (rc)
		return rc;
	if (set->n > shingler->most / 2) {
		set->n /= 2;
		set->last = set->hash[set->n - 1];
	}
	memcpy(shingler->gathered, set->hash, set->n * sizeof(*set->hash));
	shingler->n = set->n;
	return SIMIDX_OK;
}

static int gather(void *ctx, const uint64_t *hashes, size_t n)
{
	struct sd_shingler *shingler = ctx;
	const struct sd_shingles *set = shingler->set;
	uint64_t first = set->first, *at;
	int rc = shingler->n + n > shingler->most ? make_room(shingler) : SIMIDX_OK;

	if (rc)
		return rc;
	if (sx_reserve(&shingler->gathered, &shingler->room, shingler->n + n,
		       sizeof(*shingler->gathered)))
		return sx_fail_nomem(shingler->err);
	at = shingler->gathered + shingler->n;
	for (size_t i = 0; i < n; i++) {
		*at = hashes[i];
		at += hashes[i] - first <= set->last - first;
	}
	shingler->n = (size_t)(at - shingler->gathered);
	return SIMIDX_OK;
}

/* Room for hashes that came many times. */
static void give_back(struct sd_shingles *set)
{
	uint64_t *hash = sx_realloc(set->hash, set->n, sizeof(*hash));

	if (!hash)
		return;
	set->hash = hash;
	set->room = set->n;
}

int sd_shingles_make_part(struct sd_shingler *shingler, const char *utf8, size_t size,
			  size_t most, struct sd_shingles *set, simidx_error *err)
{
	int rc;

	shingler->n = set->n = 0;
	shingler->most = most;
	shingler->set = set;
	shingler->err = err;
	rc = simidx_text_each_hash(shingler->text, utf8, size, gather, shingler, err);
	if (!rc)
		rc = make_set(shingler);
	if (shingler->room > KEEP_HASHES) {
		free(shingler->gathered);
		shingler->gathered = NULL;
		shingler->room = 0;
	}
	if (set->room > KEEP_HASHES && set->n <= set->room / 2)
		give_back(set);
	return rc;
}

int sd_shingles_make(struct sd_shingler *shingler, const char *utf8, size_t size,
		     struct sd_shingles *set, simidx_error *err)
{
	set->first = 0;
	set->last = UINT64_MAX;
	return sd_shingles_make_part(shingler, utf8, size, SIZE_MAX, set, err);
}

void sd_shingles_free(struct sd_shingles *set)
{
	free(set->hash);
	memset(set, 0, sizeof(*set));
}

/* How many of the hashes of a set are less than `hash`. */
static size_t before(const struct sd_shingles *set, uint64_t hash)
{
	size_t low = 0, high = set->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->hash[middle] < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void sd_overlap_add(struct sd_overlap *sum, const struct sd_shingles *a,
		    const struct sd_shingles *b, uint64_t first, uint64_t last)
{
	size_t i = first ? before(a, first) : 0, j = first ? before(b, first) : 0;
	size_t a_end = last < UINT64_MAX ? before(a, last + 1) : a->n;
	size_t b_end = last < UINT64_MAX ? before(b, last + 1) : b->n;
	size_t both = 0;

	sum->a += a_end - i;
	sum->b += b_end - j;
	while (i < a_end && j < b_end) {
		uint64_t x = a->hash[i], y = b->hash[j];

		both += x == y;
		i += x <= y;
		j += y <= x;
	}
	sum->both += both;
}

double sd_overlap_jaccard(const struct sd_overlap *sum)
{
	if (!sum->a || !sum->b)
		return 0;
	return (double)sum->both / (double)(sum->a + sum->b - sum->both);
}

double sd_shingles_jaccard(const struct sd_shingles *a, const struct sd_shingles *b)
{
	struct sd_overlap all = { 0, 0, 0 };

	sd_overlap_add(&all, a, b, 0, UINT64_MAX);
	return sd_overlap_jaccard(&all);
}
