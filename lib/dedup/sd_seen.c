/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_seen.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

/* Of a filter. With 8 bits and 5 of them set for a hash, 1 of 40 others seems to be there. */
#define LINE_WORDS 8
#define LINE_BYTES SD_SEEN_LEAST
#define LINE_HASHES LINE_BYTES
#define HASH_BITS 5

/* The first filter has 4 MB; the others are twice as large as the one before. */
#define FIRST_LINES (((uint64_t)4 << 20) / LINE_BYTES)
#define MOST_FILTERS 16

/* The line of a hash is asked for while so many others come before it. */
#define ASKED_AHEAD SIMIDX_SKETCH_MOST_LEAST

/* Of texts that are more similar as many hashes must be seen, so that few are enough for all. */
#define MOST_SHARE .9

/* 2^64 divided by the golden ratio. */
#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

struct sd_seen {
	struct sd_seen_filter filter[MOST_FILTERS]; /* hashes are added to the last one */
	unsigned n;
	uint64_t most_bytes;
	uint64_t lines; /* for so many more there is memory */
	/* Of a text with n shingles, all of them known, so many are seen, or it is new; and of the
	   first SD_SEEN_ASKED of a text with more. */
	unsigned least[SIMIDX_SKETCH_MOST_LEAST], least_of_many;
};

/* Jaccard's quotient is rounded. */
#define ROUNDED 1e-6

/*
 * How many of all n shingles of a text are seen at least, if an earlier one has this similarity.
 * The similarity is at most what they share of the text with more shingles. If that is the earlier
 * one and some of its shingles are not among those that were added, these may be shared ones; it
 * has n / similarity at most.
 */
static unsigned least_of_all(unsigned n, double similarity)
{
	double shared = similarity * n;
	double added = SIMIDX_SKETCH_MOST_LEAST - (1 - similarity) * n / similarity;

	shared = added < shared ? added : shared;
	return shared > ROUNDED ? (unsigned)(shared - ROUNDED) + 1 : 0;
}

/* How many of n hashes, a random sample, are seen at least, of a text that has this share of its
   shingles in common with one that came before. */
static unsigned least_of_sample(unsigned n, double share)
{
	double exactly = 1, below = 0;

	for (unsigned i = 0; i < n; i++)
		exactly *= 1 - share;
	for (unsigned i = 0; i < n; i++) {
		below += exactly;
		if (below > SD_SEEN_CHANCE)
			return i;
		exactly *= share / (1 - share) * (n - i) / (i + 1);
	}
	return n;
}

struct sd_seen *sd_seen_open(double similarity, uint64_t most_bytes)
{
	struct sd_seen *seen = sx_calloc(1, sizeof(*seen));

	if (!seen)
		return NULL;
	seen->most_bytes = most_bytes;
	seen->lines = most_bytes / LINE_BYTES;
	for (unsigned n = 0; n < SIMIDX_SKETCH_MOST_LEAST; n++)
		seen->least[n] = least_of_all(n, similarity);
	seen->least_of_many = least_of_sample(SD_SEEN_ASKED, similarity < MOST_SHARE ? similarity :
											MOST_SHARE);
	return seen;
}

void sd_seen_close(struct sd_seen *seen)
{
	for (unsigned i = 0; seen && i < seen->n; i++)
		free(seen->filter[i].word);
	free(seen);
}

/* The first bits of the least hashes are the same in most; the last ones are as good as any. */
static uint64_t *line_of(const struct sd_seen_filter *filter, uint64_t hash)
{
	return filter->word + ((hash & UINT32_MAX) * filter->lines >> 32) * LINE_WORDS;
}

static int has(const struct sd_seen_filter *filter, uint64_t hash)
{
	const uint64_t *line = line_of(filter, hash);
	uint64_t bits = hash * FACTOR;

	for (unsigned i = 0; i < HASH_BITS; i++, bits <<= 9)
		if (!(line[bits >> 61] >> (bits >> 55 & 63) & 1))
			return 0;
	return 1;
}

static void set(struct sd_seen_filter *filter, uint64_t hash)
{
	uint64_t *line = line_of(filter, hash), bits = hash * FACTOR, was = UINT64_MAX;

	for (unsigned i = 0; i < HASH_BITS; i++, bits <<= 9) {
		uint64_t *word = &line[bits >> 61];

		was &= *word >> (bits >> 55 & 63);
		*word |= (uint64_t)1 << (bits >> 55 & 63);
	}
	filter->room -= filter->room ? ~was & 1 : 0;
}

/* Count a hash for each filter that has it. Returns 1 if any has. */
static int count(const struct sd_seen *seen, uint64_t hash, unsigned n_seen[MOST_FILTERS],
		 unsigned *most)
{
	int is = 0;

	for (unsigned f = seen->n; f-- > 0;) {
		if (!has(&seen->filter[f], hash))
			continue;
		is = 1;
		*most = ++n_seen[f] > *most ? n_seen[f] : *most;
	}
	return is;
}

/* All of the text that is asked for are in one filter. */
int sd_seen_is_new(const struct sd_seen *seen, const simidx_sketch *sketch, uint64_t *own)
{
	int has_all = sketch->n_least < SIMIDX_SKETCH_MOST_LEAST;
	size_t n = has_all ? sketch->n_least : SD_SEEN_ASKED;
	unsigned least = has_all ? seen->least[n] : seen->least_of_many, most = 0;
	unsigned n_seen[MOST_FILTERS] = { 0 };

	*own = 0;
	if (!(sketch->flags & SIMIDX_SKETCH_LEAST))
		return 0;
	for (size_t i = 0; i < n; i++)
		for (unsigned f = 0; f < seen->n; f++)
			__builtin_prefetch(line_of(&seen->filter[f], sketch->least[i]));
	for (size_t i = 0; i < n && (!*own || (most < least && most + n - i >= least)); i++) {
		int is = count(seen, sketch->least[i], n_seen, &most);

		*own = is || *own ? *own : sketch->least[i];
	}
	return most < least;
}

uint64_t *sd_seen_add_filter(struct sd_seen *seen, uint64_t lines, uint64_t room)
{
	struct sd_seen_filter filter = { .lines = lines, .room = room };

	if (!lines || lines > UINT32_MAX || lines > seen->lines || seen->n == MOST_FILTERS)
		return NULL;
	filter.word = sx_alloc_lines(lines, LINE_BYTES);
	if (!filter.word)
		return NULL;
	memset(filter.word, 0, lines * LINE_BYTES);
	seen->lines -= lines;
	seen->filter[seen->n++] = filter;
	return filter.word;
}

uint64_t sd_seen_most_bytes(const struct sd_seen *seen)
{
	return seen->most_bytes;
}

const struct sd_seen_filter *sd_seen_filter(const struct sd_seen *seen, unsigned i)
{
	return i < seen->n ? &seen->filter[i] : NULL;
}

static int has_room_for_filter(const struct sd_seen *seen)
{
	return seen->lines && seen->n < MOST_FILTERS;
}

int sd_seen_is_full(const struct sd_seen *seen)
{
	return seen->n && !seen->filter[seen->n - 1].room && !has_room_for_filter(seen);
}

/* If there is memory for none, the last one gets too many. */
static int begin_filter(struct sd_seen *seen, simidx_error *err)
{
	uint64_t lines = FIRST_LINES << seen->n;

	if (!has_room_for_filter(seen))
		return SIMIDX_OK;
	lines = lines < seen->lines ? lines : seen->lines;
	return sd_seen_add_filter(seen, lines, lines * LINE_HASHES) ? SIMIDX_OK :
								       sx_fail_nomem(err);
}

int sd_seen_add_hashes(struct sd_seen *seen, const uint64_t *hash, size_t n, simidx_error *err)
{
	struct sd_seen_filter *last = &seen->filter[seen->n ? seen->n - 1 : 0];
	int rc = last->room < n ? begin_filter(seen, err) : SIMIDX_OK;

	last = &seen->filter[seen->n ? seen->n - 1 : 0];
	for (size_t i = 0; !rc && i < n + ASKED_AHEAD; i++) {
		if (i < n)
			__builtin_prefetch(line_of(last, hash[i]), 1);
		if (i >= ASKED_AHEAD)
			set(last, hash[i - ASKED_AHEAD]);
	}
	return rc;
}

int sd_seen_add(struct sd_seen *seen, const simidx_sketch *sketch, simidx_error *err)
{
	return sd_seen_add_hashes(seen, sketch->least, sketch->n_least, err);
}
