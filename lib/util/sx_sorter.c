/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "util/sx_sorter.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_spill.h"

#define DIGIT_BITS 11
#define BUCKETS ((size_t)1 << DIGIT_BITS)
#define DIGITS 6 /* of 11 bits in 64 */
#define SPILL_BUFFER ((size_t)1 << 20)
#define MIN_RUN_BUFFER ((size_t)16 << 10)

/* A sorted run in the temporary file, and the part of it that is in memory. */
struct run {
	uint64_t start, total; /* first byte, records */
	uint64_t at;   /* byte of the first record that is not in memory */
	uint64_t left; /* records from there on */
	uint64_t *record;
	size_t n, next; /* records in memory, and the one that is its turn */
};

struct sx_sorter {
	unsigned words, keys, shift;
	size_t memory;
	char *dir;
	uint64_t count;
	uint64_t *record, *scratch; /* the run that is being filled; where it is sorted to */
	size_t n, room;
	sx_spill *spill;
	struct run *run;
	size_t n_runs, runs_cap;
	size_t *heap; /* numbers of runs, the smallest head first; ties: the older run */
	size_t n_heap;
	int started; /* the head of the heap has been handed out */
};

int sx_sorter_new(unsigned words, unsigned keys, unsigned shift, size_t memory, const char *dir,
		  sx_sorter **out, simidx_error *err)
{
	sx_sorter *s = sx_calloc(1, sizeof(*s));

	*out = NULL;
	if (!s)
		return sx_fail_nomem(err);
	s->words = words;
	s->keys = keys;
	s->shift = shift;
	s->memory = memory;
	s->room = memory / (2 * words * sizeof(uint64_t));
	s->dir = strdup(dir);
	if (!s->dir) {
		free(s);
		return sx_fail_nomem(err);
	}
	*out = s;
	return SIMIDX_OK;
}

static void free_buffers(sx_sorter *s)
{
	free(s->record);
	free(s->scratch);
	s->record = s->scratch = NULL;
}

void sx_sorter_free(sx_sorter *s)
{
	if (!s)
		return;
	free_buffers(s);
	for (size_t i = 0; i < s->n_runs; i++)
		free(s->run[i].record);
	free(s->run);
	free(s->heap);
	sx_spill_free(s->spill);
	free(s->dir);
	free(s);
}

uint64_t sx_sorter_count(const sx_sorter *s)
{
	return s->count;
}

uint64_t sx_sorter_spilled(const sx_sorter *s)
{
	return s->spill ? sx_spill_size(s->spill) : 0;
}

/* ---- one run in memory ---- */

/* -1, 0 or 1: the order of two records. */
static inline int compare(const sx_sorter *s, const uint64_t *a, const uint64_t *b)
{
	uint64_t x = a[0] >> s->shift, y = b[0] >> s->shift;

	if (x != y)
		return x < y ? -1 : 1;
	if (s->keys > 1 && a[1] != b[1])
		return a[1] < b[1] ? -1 : 1;
	return 0;
}

static int is_sorted(const sx_sorter *s)
{
	const uint64_t *a = s->record, *b = a + s->words;

	for (size_t i = 1; i < s->n; i++, a = b, b += s->words)
		if (compare(s, a, b) > 0)
			return 0;
	return 1;
}

/* One pass over one digit of one key. The number of words is a constant where it is called. */
static inline __attribute__((always_inline)) void
scatter(const uint64_t *from, uint64_t *to, size_t n, unsigned words, unsigned key, unsigned shift,
	size_t *start)
{
	for (size_t i = 0; i < n; i++, from += words) {
		size_t at = start[from[key] >> shift & (BUCKETS - 1)]++;

		memcpy(to + at * words, from, words * sizeof(uint64_t));
	}
}

static void scatter_words(const sx_sorter *s, unsigned key, unsigned shift, size_t *start)
{
	switch (s->words) {
	case 1:
		scatter(s->record, s->scratch, s->n, 1, key, shift, start);
		break;
	case 2:
		scatter(s->record, s->scratch, s->n, 2, key, shift, start);
		break;
	case 3:
		scatter(s->record, s->scratch, s->n, 3, key, shift, start);
		break;
	case 4:
		scatter(s->record, s->scratch, s->n, 4, key, shift, start);
		break;
	default:
		scatter(s->record, s->scratch, s->n, 5, key, shift, start);
		break;
	}
}

/* Digits of a key from bit `shift` on. */
static unsigned digits_above(unsigned shift)
{
	return (64 - shift + DIGIT_BITS - 1) / DIGIT_BITS;
}

/* Counts of all digits of one key, in one pass. */
static void count_digits(const sx_sorter *s, unsigned key, unsigned shift,
			 size_t (*count)[BUCKETS])
{
	const uint64_t *record = s->record + key;
	unsigned digits = digits_above(shift);

	memset(count, 0, DIGITS * sizeof(*count));
	for (size_t i = 0; i < s->n; i++, record += s->words) {
		uint64_t x = *record >> shift;

		for (unsigned d = 0; d < digits; d++, x >>= DIGIT_BITS)
			count[d][x & (BUCKETS - 1)]++;
	}
}

/* Turn counts into start places; 0 when all records are in one bucket. */
static int make_starts(size_t *count, size_t n)
{
	size_t at = 0;

	for (size_t b = 0; b < BUCKETS; b++) {
		size_t here = count[b];

		if (here == n)
			return 0;
		count[b] = at;
		at += here;
	}
	return 1;
}

/* Radix sort, the least significant digit of the last key first. */
static int sort_run(sx_sorter *s, simidx_error *err)
{
	size_t(*count)[BUCKETS];

	if (is_sorted(s))
		return SIMIDX_OK;
	count = sx_calloc(DIGITS, sizeof(*count));
	if (!count)
		return sx_fail_nomem(err);
	for (unsigned key = s->keys; key-- > 0;) {
		unsigned shift = key ? 0 : s->shift;

		count_digits(s, key, shift, count);
		for (unsigned d = 0; d < digits_above(shift); d++) {
			uint64_t *swap = s->record;

			if (!make_starts(count[d], s->n))
				continue;
			scatter_words(s, key, shift + DIGIT_BITS * d, count[d]);
			s->record = s->scratch;
			s->scratch = swap;
		}
	}
	free(count);
	return SIMIDX_OK;
}

/* ---- adding ---- */

static int spill_run(sx_sorter *s, simidx_error *err)
{
	size_t bytes = s->n * s->words * sizeof(uint64_t);
	struct run *run;
	int rc = sort_run(s, err);

	if (!rc && !s->spill)
		rc = sx_spill_new(s->dir, SPILL_BUFFER, &s->spill, err);
	if (rc)
		return rc;
	if (sx_reserve(&s->run, &s->runs_cap, s->n_runs + 1, sizeof(*s->run)))
		return sx_fail_nomem(err);
	run = &s->run[s->n_runs++];
	memset(run, 0, sizeof(*run));
	run->at = run->start = sx_spill_size(s->spill);
	run->left = run->total = s->n;
	s->n = 0;
	return sx_spill_write(s->spill, s->record, bytes, err);
}

int sx_sorter_add(sx_sorter *s, const uint64_t *record, simidx_error *err)
{
	if (!s->record) {
		s->record = sx_realloc(NULL, s->room * s->words, sizeof(uint64_t));
		s->scratch = sx_realloc(NULL, s->room * s->words, sizeof(uint64_t));
		if (!s->record || !s->scratch)
			return sx_fail_nomem(err);
	}
	if (s->n == s->room) {
		int rc = spill_run(s, err);

		if (rc)
			return rc;
	}
	memcpy(s->record + s->n * s->words, record, s->words * sizeof(uint64_t));
	s->n++;
	s->count++;
	return SIMIDX_OK;
}

/* ---- reading ---- */

static int load_run(sx_sorter *s, struct run *run, size_t room, simidx_error *err)
{
	size_t n = run->left < room ? (size_t)run->left : room;
	size_t bytes = n * s->words * sizeof(uint64_t);
	int rc = sx_spill_read(s->spill, run->at, run->record, bytes, err);

	run->at += bytes;
	run->left -= n;
	run->n = n;
	run->next = 0;
	return rc;
}

static const uint64_t *head(const sx_sorter *s, size_t run)
{
	return s->run[run].record + s->run[run].next * s->words;
}

static int is_before(const sx_sorter *s, size_t a, size_t b)
{
	int order = compare(s, head(s, a), head(s, b));

	return order ? order < 0 : a < b;
}

static void sift_down(sx_sorter *s, size_t i)
{
	size_t moving = s->heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= s->n_heap)
			break;
		if (child + 1 < s->n_heap && is_before(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (!is_before(s, s->heap[child], moving))
			break;
		s->heap[i] = s->heap[child];
		i = child;
	}
	s->heap[i] = moving;
}

int sx_sorter_finish(sx_sorter *s, size_t memory, simidx_error *err)
{
	size_t buffer, room;
	int rc;

	/* What fits in memory stays there. */
	if (!s->n_runs)
		return s->n ? sort_run(s, err) : SIMIDX_OK;
	rc = s->n ? spill_run(s, err) : SIMIDX_OK;
	free_buffers(s);
	s->heap = sx_calloc(s->n_runs, sizeof(*s->heap));
	if (!rc && !s->heap)
		rc = sx_fail_nomem(err);
	buffer = memory / s->n_runs;
	if (buffer < MIN_RUN_BUFFER)
		buffer = MIN_RUN_BUFFER;
	room = buffer / (s->words * sizeof(uint64_t));
	s->room = room;
	for (size_t i = 0; !rc && i < s->n_runs; i++) {
		s->run[i].record = sx_realloc(NULL, room * s->words, sizeof(uint64_t));
		if (!s->run[i].record)
			rc = sx_fail_nomem(err);
	}
	return rc ? rc : sx_sorter_rewind(s, err);
}

int sx_sorter_rewind(sx_sorter *s, simidx_error *err)
{
	int rc = SIMIDX_OK;

	s->started = 0;
	for (size_t i = 0; !rc && i < s->n_runs; i++) {
		s->run[i].at = s->run[i].start;
		s->run[i].left = s->run[i].total;
		rc = load_run(s, &s->run[i], s->room, err);
		s->heap[i] = i;
	}
	if (rc)
		return rc;
	s->n_heap = s->n_runs;
	for (size_t i = s->n_heap; i-- > 0;)
		sift_down(s, i);
	return SIMIDX_OK;
}

/* Step over the record that was handed out last. */
static int advance(sx_sorter *s, simidx_error *err)
{
	struct run *run = &s->run[s->heap[0]];
	int rc = SIMIDX_OK;

	if (++run->next == run->n) {
		if (run->left)
			rc = load_run(s, run, s->room, err);
		else
			s->heap[0] = s->heap[--s->n_heap];
	}
	if (!rc && s->n_heap)
		sift_down(s, 0);
	return rc;
}

int sx_sorter_next(sx_sorter *s, const uint64_t **record, simidx_error *err)
{
	int rc = SIMIDX_OK;

	if (!s->n_runs) {
		/* `room` counts what was handed out: nothing is added any more. */
		if (!s->started) {
			s->started = 1;
			s->room = 0;
		}
		if (s->room == s->n)
			return SIMIDX_E_END;
		*record = s->record + s->room++ * s->words;
		return SIMIDX_OK;
	}
	if (s->started)
		rc = advance(s, err);
	s->started = 1;
	if (rc)
		return rc;
	if (!s->n_heap)
		return SIMIDX_E_END;
	*record = head(s, s->heap[0]);
	return SIMIDX_OK;
}
