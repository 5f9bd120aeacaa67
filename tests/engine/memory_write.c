/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "engine/memory_store.h"

#include <stdlib.h>
#include <string.h>

static int has_row(const struct rows *rows, const struct row *row)
{
	size_t at = memory_place_of_row(rows, row);

	return at < rows->n && !memory_compare_rows(&rows->at[at], row);
}

/* ---- writing ---- */

/* Whether one more step of a write may be done. */
static int may_step(void)
{
	if (!memory_faults_now.break_writes)
		return 1;
	if (!memory_faults_now.steps_left)
		return 0;
	memory_faults_now.steps_left--;
	return 1;
}

/* Rows that come are put at the end, and sorted in when all have come. */
static void add_rows(struct store *s, const simidx_engine_change *c)
{
	for (unsigned t = 0; t < s->n_tables; t++) {
		struct rows *rows = &s->table[t];

		if (rows->n == rows->cap) {
			rows->cap = rows->cap ? 2 * rows->cap : 64;
			rows->at = memory_grown(rows->at, rows->cap, sizeof(*rows->at));
		}
		rows->at[rows->n++] = (struct row){ c->after->prefix[t], c->after->fp, c->id };
	}
}

static void sort_rows(struct store *s)
{
	for (unsigned t = 0; t < s->n_tables; t++) {
		struct rows *rows = &s->table[t];
		size_t n = 0;

		if (rows->n)
			qsort(rows->at, rows->n, sizeof(*rows->at), memory_compare_rows);
		for (size_t i = 0; i < rows->n; i++)
			if (!n || memory_compare_rows(&rows->at[i], &rows->at[n - 1]))
				rows->at[n++] = rows->at[i];
		rows->n = n;
	}
}

static void remove_rows(struct store *s, const simidx_engine_change *c)
{
	if (c->after && c->after->fp == c->before->fp)
		return;
	for (unsigned t = 0; t < s->n_tables; t++) {
		struct rows *rows = &s->table[t];
		struct row row = { c->before->prefix[t], c->before->fp, c->id };
		size_t at = memory_place_of_row(rows, &row);

		sxt_must(has_row(rows, &row));
		memmove(&rows->at[at], &rows->at[at + 1], (--rows->n - at) * sizeof(row));
	}
}

/* Put the document of a change in its place, or take it out. */
static void set_doc(struct store *s, const simidx_engine_change *c)
{
	size_t at = memory_place_of(s, c->id);
	struct doc *doc = memory_find_doc(s, c->id);

	/* The version before is what is there. */
	sxt_must(!c->before == !doc && (!doc || doc->fp == c->before->fp));
	if (doc)
		free(doc->label);
	if (!c->after) {
		memmove(&s->doc[at], &s->doc[at + 1], (--s->n_docs - at) * sizeof(*doc));
		return;
	}
	if (!doc) {
		if (s->n_docs == s->cap_docs) {
			s->cap_docs = s->cap_docs ? 2 * s->cap_docs : 64;
			s->doc = memory_grown(s->doc, s->cap_docs, sizeof(*s->doc));
		}
		memmove(&s->doc[at + 1], &s->doc[at], (s->n_docs++ - at) * sizeof(*doc));
		doc = &s->doc[at];
	}
	*doc = (struct doc){ c->id, c->after->fp, c->after->fp2, c->after->flags, NULL,
			     c->after->label_size, c->after->time };
	if (c->after->label)
		doc->label = memory_copied(c->after->label, c->after->label_size);
}

/*
 * New rows, then the documents, which decide, then the old rows away. Returns 0 if it breaks off.
 */
static int do_steps(struct store *s, const simidx_engine_batch *b)
{
	int goes_on = 1;

	for (size_t i = 0; goes_on && i < b->n; i++)
		if (b->change[i].after && (goes_on = may_step()))
			add_rows(s, &b->change[i]);
	sort_rows(s);
	for (size_t i = 0; goes_on && i < b->n; i++)
		if ((goes_on = may_step()))
			set_doc(s, &b->change[i]);
	for (size_t i = 0; goes_on && i < b->n; i++)
		if (b->change[i].before && !memory_faults_now.keeps_old_rows &&
		    (goes_on = may_step()))
			remove_rows(s, &b->change[i]);
	if (goes_on && b->mark) {
		free(s->mark);
		s->mark = memory_copied(b->mark, b->mark_size);
		s->mark_size = b->mark_size;
	}
	return goes_on;
}

int memory_begin(void *state, simidx_error *err)
{
	(void)state; /* a write that was broken off is left to check() */
	if (memory_fails(err))
		return err ? err->code : SIMIDX_E_IO;
	pthread_mutex_lock(&memory_lock);
	memory_faults_now.n_begun++;
	pthread_mutex_unlock(&memory_lock);
	return SIMIDX_OK;
}

int memory_resume(void *state, simidx_error *err)
{
	int rc = memory_begin(state, err);

	memory_faults_now.n_resumed += !rc;
	return rc;
}

/* What a batch stores of which changes are refused. */
static simidx_engine_batch judge(struct store *s, const simidx_engine_batch *given)
{
	simidx_engine_change *kept = memory_grown(NULL, given->n, sizeof(*kept));
	simidx_engine_batch batch = *given;
	size_t refused = memory_refuse(s, given);

	batch.change = kept;
	batch.n = 0;
	for (size_t i = 0; i < given->n; i++) {
		for (size_t j = 0; j < given->change[i].n_conditions; j++)
			memory_faults_now.n_whole +=
				given->change[i].condition[j].table == SIMIDX_ENGINE_WHOLE;
		if (!given->refused[i]) {
			memory_raise(s, &given->change[i]);
			kept[batch.n++] = given->change[i];
		}
	}
	if (refused)
		batch.mark = NULL;
	memory_faults_now.n_refused += (unsigned)refused;
	return batch;
}

int memory_write(void *state, const simidx_engine_batch *given, simidx_error *err)
{
	struct store *s = state;
	simidx_engine_batch batch = *given;
	int is_whole;

	if (memory_fails(err))
		return err ? err->code : SIMIDX_E_IO;
	sxt_must(given->n || given->mark);
	if (memory_faults_now.expired)
		return memory_fail(err, SIMIDX_E_STATE, "a lease had expired");
	if (memory_faults_now.before_write)
		memory_faults_now.before_write();
	pthread_mutex_lock(&memory_lock);
	memory_faults_now.n_writes++;
	for (size_t i = 0; i < given->n; i++) {
		if (given->change[i].id >= s->next_id)
			s->next_id = given->change[i].id + 1;
		sxt_must(given->change[i].before || given->change[i].after);
		sxt_must(s->has_conditions || !given->change[i].n_conditions);
	}
	sxt_must(!s->has_conditions == !given->refused);
	if (s->has_conditions)
		batch = judge(s, given);
	is_whole = do_steps(s, &batch);
	if (s->has_conditions)
		free((void *)batch.change);
	memory_save(s);
	pthread_mutex_unlock(&memory_lock);
	return is_whole ? SIMIDX_OK : memory_fail(err, SIMIDX_E_UNKNOWN, "broken off");
}

int memory_reserve_ids(void *state, uint64_t n, uint64_t at_least, uint64_t *first,
			      simidx_error *err)
{
	struct store *s = state;

	if (memory_fails(err))
		return err ? err->code : SIMIDX_E_IO;
	pthread_mutex_lock(&memory_lock);
	if (s->next_id < at_least)
		s->next_id = at_least;
	*first = s->next_id;
	s->next_id += n;
	memory_save(s);
	pthread_mutex_unlock(&memory_lock);
	return SIMIDX_OK;
}

int memory_get_mark(void *state, void **data, size_t *size, simidx_error *err)
{
	const struct store *s = state;

	if (memory_fails(err))
		return err ? err->code : SIMIDX_E_IO;
	pthread_mutex_lock(&memory_lock);
	*data = s->mark ? memory_copied(s->mark, s->mark_size) : NULL;
	*size = s->mark_size;
	pthread_mutex_unlock(&memory_lock);
	return SIMIDX_OK;
}

/* ---- checking ---- */

static void tell(simidx_engine_check *c, const char *text)
{
	simidx_problem problem = { "rows", text };

	c->problems++;
	c->mended += c->flags & SIMIDX_ENGINE_MEND;
	c->problem(c->ctx, &problem);
}

/* Rows whose document is gone or another one. */
static void check_rows(struct store *s, simidx_engine_check *c)
{
	for (unsigned t = 0; t < s->n_tables; t++) {
		struct rows *rows = &s->table[t];
		size_t n = 0;

		for (size_t i = 0; i < rows->n; i++) {
			const struct doc *doc = memory_find_doc(s, rows->at[i].id);

			c->rows++;
			if (!doc || doc->fp != rows->at[i].fp)
				tell(c, "a row is left over");
			if ((doc && doc->fp == rows->at[i].fp) || !(c->flags & SIMIDX_ENGINE_MEND))
				rows->at[n++] = rows->at[i];
		}
		rows->n = n;
	}
}

int memory_check(void *state, simidx_engine_check *c, simidx_error *err)
{
	struct store *s = state;

	if (memory_fails(err))
		return err ? err->code : SIMIDX_E_IO;
	pthread_mutex_lock(&memory_lock);
	check_rows(s, c);
	memory_save(s);
	for (size_t i = 0; i < s->n_docs; i++) {
		uint32_t prefix[MAX_TABLES];

		c->documents++;
		c->prefixes(c->ctx, s->doc[i].fp, prefix);
		for (unsigned t = 0; t < c->n_tables; t++) {
			struct row row = { prefix[t], s->doc[i].fp, s->doc[i].id };

			/* Rows come before documents, so none can be missing. */
			sxt_must(has_row(&s->table[t], &row));
		}
	}
	c->progress(c->ctx, "verify", 1, 1);
	pthread_mutex_unlock(&memory_lock);
	return SIMIDX_OK;
}

int memory_lease(void *state, const simidx_engine_probe *prefix, size_t n, int wait_ms,
			simidx_error *err)
{
	(void)state;
	(void)wait_ms;
	if (memory_fails(err))
		return err ? err->code : SIMIDX_E_IO;
	for (size_t i = 0; i < n; i++)
		sxt_must(prefix[i].table == i);
	memory_faults_now.n_leased += (unsigned)n;
	return SIMIDX_OK;
}

int memory_release(void *state, simidx_error *err)
{
	(void)state;
	(void)err;
	memory_faults_now.n_leased = 0;
	return SIMIDX_OK;
}
