/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "util/sx_sorter.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_frames.h"
#include "util/sx_sort.h"

#define SPILL_BUFFER ((size_t)1 << 20)
#define LEAST_RECORDS ((size_t)4096)
#define MAX_RUN_BUFFER ((size_t)256 << 10) /* larger reads are no faster */

/* A sorted run in the temporary file, and the frame of it whose turn it is. */
struct run {
	uint64_t start, end; /* bytes of the file */
	sx_frames frames;
	size_t next; /* record of the frame */
};

/* What the next record of a run is compared by. */
struct head {
	uint64_t key, second;
	size_t order; /* ties: the older run first; SIZE_MAX where a run has ended */
};

struct sx_sorter {
	unsigned words, keys, shift;
	char *dir;
	uint64_t count;
	uint64_t *record;  /* the run that is being filled */
	uint64_t *scratch; /* where it is sorted to, or NULL */
	size_t n;
	size_t cap, room; /* records for which both have room now, and at most */
	sx_spill *spill;
	struct run *run;
	size_t n_runs, runs_cap;
	/*
	 * A tournament of the runs: node i has the children 2i and 2i + 1, run r is leaf n_runs +
	 * r.
	 */
	struct head *head; /* of each run */
	size_t *loser;     /* of each inner node; [0]: the winner of all */
	uint64_t left;     /* records that have not been merged */
	uint64_t *out;     /* merged, or all records where nothing was spilled */
	size_t out_n, out_next;
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
	s->cap = 0;
}

void sx_sorter_free(sx_sorter *s)
{
	if (!s)
		return;
	if (s->n_runs)
		free(s->out);
	free_buffers(s);
	for (size_t i = 0; i < s->n_runs; i++)
		sx_frames_free(&s->run[i].frames);
	free(s->run);
	free(s->head);
	free(s->loser);
	sx_spill_free(s->spill);
	free(s->dir);
	free(s);
}

unsigned sx_sorter_words(const sx_sorter *s)
{
	return s->words;
}

uint64_t sx_sorter_count(const sx_sorter *s)
{
	return s->count;
}

uint64_t sx_sorter_spilled(const sx_sorter *s)
{
	return s->spill ? sx_spill_size(s->spill) : 0;
}

void sx_sorter_give_spill(sx_sorter *s, sx_spill *spill)
{
	s->spill = spill;
}

sx_spill *sx_sorter_take_spill(sx_sorter *s)
{
	sx_spill *spill = s->spill;

	if (spill)
		sx_spill_clear(spill);
	s->spill = NULL;
	return spill;
}

/* ---- adding ---- */

static int sort_run(sx_sorter *s, simidx_error *err)
{
	uint64_t *sorted;

	if (!s->scratch)
		s->scratch = sx_realloc(NULL, s->cap * s->words, sizeof(uint64_t));
	if (!s->scratch)
		return sx_fail_nomem(err);
	sorted = sx_sort_records(s->record, s->scratch, s->n, s->words, s->keys, s->shift);
	if (!sorted)
		return sx_fail_nomem(err);
	if (sorted != s->record) {
		s->scratch = s->record;
		s->record = sorted;
	}
	return SIMIDX_OK;
}

static int spill_run(sx_sorter *s, simidx_error *err)
{
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
	run->start = sx_spill_size(s->spill);
	rc = sx_frames_write(s->spill, s->record, s->n, s->words, err);
	run->end = sx_spill_size(s->spill);
	s->n = 0;
	return rc;
}

/* Room for at least one more record. It grows with them, as many sorters get few. */
static int make_room(sx_sorter *s, simidx_error *err)
{
	size_t cap = s->cap ? 2 * s->cap : LEAST_RECORDS;
	uint64_t *record;

	if (s->cap == s->room)
		return spill_run(s, err);
	cap = cap < s->room ? cap : s->room;
	record = sx_realloc(s->record, cap * s->words, sizeof(uint64_t));
	if (!record)
		return sx_fail_nomem(err);
	free(s->scratch);
	s->scratch = NULL;
	s->record = record;
	s->cap = cap;
	return SIMIDX_OK;
}

int sx_sorter_add_some(sx_sorter *s, const uint64_t *record, size_t n, simidx_error *err)
{
	while (n) {
		size_t some;
		int rc = s->n < s->cap ? SIMIDX_OK : make_room(s, err);

		if (rc)
			return rc;
		some = n < s->cap - s->n ? n : s->cap - s->n;
		memcpy(s->record + s->n * s->words, record, some * s->words * sizeof(uint64_t));
		s->n += some;
		s->count += some;
		record += some * s->words;
		n -= some;
	}
	return SIMIDX_OK;
}

int sx_sorter_add(sx_sorter *s, const uint64_t *record, simidx_error *err)
{
	return sx_sorter_add_some(s, record, 1, err);
}

/* ---- merging ---- */

/* Ties are rare where keys are random, and a wrong guess costs more than the comparison. */
static inline int is_before(const struct head *a, const struct head *b)
{
	if (__builtin_expect(a->key == b->key, 0))
		return a->second < b->second || (a->second == b->second && a->order < b->order);
	return a->key < b->key;
}

/* Make the head of a run that of its next record, which may be in the next frame. */
static inline int set_head(sx_sorter *s, size_t r, simidx_error *err)
{
	struct run *run = &s->run[r];
	struct head *head = &s->head[r];
	const uint64_t *record;

	if (run->next == run->frames.n) {
		int rc = sx_frames_next(&run->frames, err);

		run->next = 0;
		if (rc) {
			*head = (struct head){ UINT64_MAX, UINT64_MAX, SIZE_MAX };
			return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
		}
	}
	record = run->frames.record + run->next * s->words;
	head->key = record[0] >> s->shift;
	head->second = s->keys > 1 ? record[1] : 0;
	return SIMIDX_OK;
}

/* The head of a run has changed: play against all that it or those before it had beaten. */
static inline size_t replay(sx_sorter *s, size_t run)
{
	size_t winner = run;

	for (size_t node = (s->n_runs + run) / 2; node; node /= 2) {
		size_t other = s->loser[node];
		size_t lost = (size_t)0 - (size_t)is_before(&s->head[other], &s->head[winner]);
		size_t swap = (other ^ winner) & lost;

		s->loser[node] = other ^ swap;
		winner ^= swap;
	}
	return winner;
}

/* Fill out[] with the next records. */
SX_INLINE int merge(unsigned words, sx_sorter *s, simidx_error *err)
{
	size_t n = s->left < SX_SORTER_SOME ? (size_t)s->left : SX_SORTER_SOME;
	size_t winner = s->loser[0];

	for (size_t i = 0; i < n; i++) {
		struct run *run = &s->run[winner];
		int rc;

		memcpy(s->out + i * words, run->frames.record + run->next * words,
		       words * sizeof(uint64_t));
		run->next++;
		rc = set_head(s, winner, err);
		if (rc)
			return rc;
		winner = replay(s, winner);
	}
	s->loser[0] = winner;
	s->left -= n;
	s->out_n = n;
	return SIMIDX_OK;
}

/* The first round of the tournament. winner[]: room for 2 * n_runs. */
static void play(sx_sorter *s, size_t *winner)
{
	for (size_t node = 2 * s->n_runs; node-- > 1;) {
		size_t a, b;

		if (node >= s->n_runs) {
			winner[node] = node - s->n_runs;
			continue;
		}
		a = winner[2 * node];
		b = winner[2 * node + 1];
		winner[node] = is_before(&s->head[a], &s->head[b]) ? a : b;
		s->loser[node] = winner[node] == a ? b : a;
	}
	s->loser[0] = winner[1];
}

static int begin_merge(sx_sorter *s, simidx_error *err)
{
	size_t *winner = sx_calloc(2 * s->n_runs, sizeof(*winner));
	int rc = winner ? SIMIDX_OK : sx_fail_nomem(err);

	for (size_t i = 0; !rc && i < s->n_runs; i++) {
		sx_frames_seek(&s->run[i].frames, s->run[i].start, s->run[i].end);
		s->run[i].next = 0;
		s->head[i].order = i;
		rc = set_head(s, i, err);
	}
	if (!rc)
		play(s, winner);
	free(winner);
	s->left = s->count;
	s->out_n = 0;
	return rc;
}

static int prepare_merge(sx_sorter *s, size_t memory, simidx_error *err)
{
	size_t buffer = memory / s->n_runs;
	int rc = SIMIDX_OK;

	s->head = sx_calloc(s->n_runs, sizeof(*s->head));
	s->loser = sx_calloc(s->n_runs, sizeof(*s->loser));
	s->out = sx_realloc(NULL, SX_SORTER_SOME * s->words, sizeof(*s->out));
	if (!s->head || !s->loser || !s->out)
		return sx_fail_nomem(err);
	if (buffer > MAX_RUN_BUFFER)
		buffer = MAX_RUN_BUFFER;
	for (size_t i = 0; !rc && i < s->n_runs; i++)
		rc = sx_frames_init(&s->run[i].frames, s->spill, s->words, buffer, err);
	return rc;
}

int sx_sorter_finish(sx_sorter *s, size_t memory, simidx_error *err)
{
	int rc = s->n ? (s->n_runs ? spill_run : sort_run)(s, err) : SIMIDX_OK;

	if (rc)
		return rc;
	if (s->n_runs) {
		free_buffers(s);
		rc = prepare_merge(s, memory, err);
	} else {
		/* What fits in memory stays there. */
		free(s->scratch);
		s->scratch = NULL;
		s->out = s->record;
	}
	return rc ? rc : sx_sorter_rewind(s, err);
}

int sx_sorter_rewind(sx_sorter *s, simidx_error *err)
{
	s->out_next = 0;
	s->out_n = s->n;
	return s->n_runs ? begin_merge(s, err) : SIMIDX_OK;
}

int sx_sorter_some(sx_sorter *s, const uint64_t **record, size_t *n, simidx_error *err)
{
	if (s->out_next == s->out_n) {
		int rc = SIMIDX_E_END;

		if (s->left) {
			s->out_next = 0;
			rc = SX_BY_WORDS(merge, s->words, s, err);
		}
		if (rc)
			return rc;
	}
	*record = s->out + s->out_next * s->words;
	*n = s->out_n - s->out_next;
	if (*n > SX_SORTER_SOME)
		*n = SX_SORTER_SOME;
	s->out_next += *n;
	return SIMIDX_OK;
}

int sx_sorter_next(sx_sorter *s, const uint64_t **record, simidx_error *err)
{
	int rc = SIMIDX_OK;
	size_t n;

	if (s->out_next < s->out_n) {
		*record = s->out + s->out_next++ * s->words;
	} else {
		rc = sx_sorter_some(s, record, &n, err);
		if (!rc)
			s->out_next -= n - 1;
	}
	return rc;
}
