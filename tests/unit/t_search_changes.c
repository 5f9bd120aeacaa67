/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Searches through block indexes while the tables change under them: by this process and by
 * another one, with old readers and several threads.
 */

#include <pthread.h>
#include <stdatomic.h>

#include <simidx_batch.h>
#include <simidx_load.h>

#include "support/sxt_search.h"

#define READERS 4

/* Readers come and go, each with what it held when it searched last. */
START_TEST(test_readers_come_and_go)
{
	simidx_reader *reader[READERS] = { NULL };
	struct t_search s;
	size_t n = 200;

	t_search_init(&s, _i, 0);
	t_search_fill(&s, 3000);
	t_search_create(&s);
	sxt_model_store(&s.model, 0, n, s.index);
	for (unsigned step = 0; step < (sxt_is_long() ? 400 : 60); step++) {
		size_t which = (size_t)sxt_rng_below(&s.rng, READERS), to = n;

		switch (sxt_rng_below(&s.rng, 6)) {
		case 0:
			to = n + (size_t)sxt_rng_below(&s.rng, 200);
			to = to < s.model.n ? to : s.model.n;
			sxt_model_store(&s.model, n, to, s.index);
			n = to;
			break;
		case 1:
			sxt_merge(s.index);
			break;
		case 2:
			simidx_reader_close(reader[which]);
			reader[which] = NULL;
			break;
		default:
			if (!reader[which])
				reader[which] = sxt_reader(s.index);
			t_search_some(&s, n, reader[which], 2);
		}
	}
	for (size_t i = READERS; i-- > 0;)
		simidx_reader_close(reader[i]);
	t_search_end(&s);
}
END_TEST

struct turns {
	struct t_search *s;
	size_t step;
};

/* The other process: each turn stores a part, every second one merges. */
static int write_in_turns(sxt_proc *me, void *ctx)
{
	struct turns *turns = ctx;
	struct t_search *s = turns->s;
	simidx *index = sxt_open(s->path, 0);

	for (size_t n = 0; n < s->model.n; n += turns->step) {
		sxt_model_store(&s->model, n, n + turns->step, index);
		if (n / turns->step % 2)
			sxt_merge(index);
		sxt_proc_tell(me);
		if (sxt_proc_wait(me))
			return 1;
	}
	simidx_close(index);
	return 0;
}

/* Also when the file grows beyond this process's map, which then moves. */
START_TEST(test_another_process_writes)
{
	simidx_open_options o = SIMIDX_OPEN_OPTIONS_INIT;
	struct turns turns;
	simidx_reader *reader[3];
	struct t_search s;
	size_t step = sxt_is_long() ? 2000 : 1000;
	unsigned changes;
	sxt_proc child;

	t_search_init(&s, _i % 6, _i % 2 ? SIMIDX_CREATE_FP2 : 0);
	t_search_fill(&s, 10 * step);
	t_search_create(&s);
	simidx_reader_close(s.reader);
	simidx_close(s.index);
	turns.s = &s;
	turns.step = step;
	sxt_proc_start(&child, write_in_turns, &turns);
	o.flags = SIMIDX_OPEN_READ_ONLY;
	o.map_size = _i < 6 ? (uint64_t)1 << 30 : 256 << 10;
	ck_assert_int_eq(sxt_proc_wait(&child), 0);
	ck_assert_sx(simidx_open(s.path, &o, &s.index, &sxt_err), SIMIDX_OK);
	changes = sx_store_map_changes(s.index->store);
	for (unsigned i = 0; i < 3; i++)
		reader[i] = sxt_reader(s.index);
	for (size_t n = turns.step, turn = 0; n <= s.model.n; n += turns.step, turn++) {
		/* The first reader makes block indexes, the others share them. */
		t_search_make_block_indexes(reader[0]);
		for (unsigned i = 0; i < 3; i++)
			if (turn % (i + 1) == 0)
				t_search_some(&s, n, reader[i], 6);
		sxt_proc_tell(&child);
		if (n < s.model.n)
			ck_assert_int_eq(sxt_proc_wait(&child), 0);
	}
	ck_assert_int_eq(sxt_proc_finish(&child), 0);
	ck_assert_uint_gt(s.index->block_index_cache->bytes, 0);
	if (_i >= 6)
		ck_assert_uint_ne(sx_store_map_changes(s.index->store), changes);
	simidx_reader_close(reader[0]);
	simidx_reader_close(reader[1]);
	s.reader = reader[2];
	t_search_end(&s);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * No search waits for all of a new memtable
 */

static uint64_t indexed_rows(const simidx *index)
{
	const sx_memtable *memtable = index->fresh->memtable;

	return memtable ? sx_memtable_end(memtable) - sx_memtable_base(memtable) : 0;
}

START_TEST(test_memtable_in_instalments)
{
	const uint64_t fresh = 10000;
	uint64_t before = 0, after;
	struct t_search s;
	unsigned steps = 0;

	t_search_init(&s, _i, 0);
	t_search_fill(&s, 2000 + fresh);
	t_search_store(&s, 2000);
	t_search_open_with(&s, 0); /* as a process does that has not written them */
	ck_assert_uint_eq(indexed_rows(s.index), 0);
	for (unsigned i = 0; i < 1000 && before < fresh; i++, before = after) {
		uint64_t part = (fresh - before) / 64;

		t_search_some(&s, s.model.n, s.reader, 1);
		after = indexed_rows(s.index);
		ck_assert_uint_le(after - before, part > 128 ? part : 128);
		steps += after > before;
	}
	ck_assert_uint_eq(before, fresh);
	ck_assert_uint_ge(steps, 64);
	t_search_some(&s, s.model.n, s.reader, 10);
	t_search_end(&s);
}
END_TEST

/* A batch has one snapshot; behind its first answer a writer merges and goes on. */
static int write_on(void *ctx, size_t i, const simidx_results *results)
{
	simidx_writer *writer = ctx;
	simidx_doc doc = SIMIDX_DOC_INIT;

	ck_assert_uint_eq(results->count, 0);
	if (i)
		return 0;
	ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_OK);
	doc.id = 7;
	ck_assert_sx(simidx_writer_put(writer, &doc, NULL, &sxt_err), SIMIDX_OK);
	return 0;
}

/* Searches in an old snapshot leave the memtable to those who have what it is about. */
START_TEST(test_old_snapshot_leaves_memtable)
{
	enum { N = 40 };
	simidx_batch_options o = SIMIDX_BATCH_OPTIONS_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_reader *reader;
	simidx_query q[N];
	struct t_search s;

	t_search_init(&s, 0, 0);
	t_search_create(&s);
	reader = sxt_reader(s.index);
	o.ctx = sxt_writer(s.index, 0);
	doc.id = 100;
	ck_assert_sx(simidx_writer_put(o.ctx, &doc, NULL, &sxt_err), SIMIDX_OK);
	sxt_commit(o.ctx);
	for (unsigned i = 0; i < N; i++) {
		q[i] = (simidx_query)SIMIDX_QUERY_INIT;
		q[i].fp = UINT64_MAX;
	}
	o.threads = 1;
	o.deliver = write_on;
	ck_assert_sx(simidx_reader_search_batch(reader, q, N, &o, &sxt_err), SIMIDX_OK);
	/* The writer still knows what it has put. */
	doc.id = 7;
	ck_assert_sx(simidx_writer_put(o.ctx, &doc, NULL, &sxt_err), SIMIDX_E_DUPLICATE);
	sxt_commit(o.ctx);
	simidx_writer_close(o.ctx);
	simidx_reader_close(reader);
	sxt_check_sound(s.index);
	t_search_end(&s);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Threads
 */

#define THREADS 3
#define QUERIES 24

struct crowd {
	struct t_search s;
	simidx_query query[QUERIES];
	sxt_found *found[QUERIES];
	size_t n_found[QUERIES];
	atomic_size_t stored, storing; /* documents: committed, and being so */
	atomic_size_t searches;
	atomic_int end;
};

/* All that was there before, nothing that was not there behind. */
static void check_between(struct crowd *c, size_t q, size_t before, size_t behind,
			  const simidx_results *r)
{
	size_t at = 0;

	for (size_t i = 0; i < c->n_found[q]; i++) {
		const sxt_found *f = &c->found[q][i];
		size_t number = (size_t)(f->doc - c->s.model.at);

		if (at < r->n && r->matches[at].id == f->doc->id) {
			sxt_must(number < behind && r->matches[at].fp == f->doc->fp);
			at++;
		} else {
			sxt_must_ge(number, before);
		}
	}
	sxt_must_eq(at, r->n);
}

static void *search_on(void *ctx)
{
	struct crowd *c = ctx;
	simidx_results r = SIMIDX_RESULTS_INIT;
	simidx_reader *reader = NULL;

	for (unsigned i = 0; !atomic_load(&c->end); i++) {
		size_t q = i % QUERIES, before = atomic_load(&c->stored);

		if (i % 100 == 0) {
			simidx_reader_close(reader);
			reader = sxt_reader(c->s.index);
		}
		sxt_must_ok(simidx_reader_search(reader, &c->query[q], &r, &sxt_err));
		check_between(c, q, before, atomic_load(&c->storing), &r);
		atomic_fetch_add(&c->searches, 1);
	}
	simidx_reader_close(reader);
	return NULL;
}

static void prepare_crowd(struct crowd *c)
{
	static const simidx_query none = SIMIDX_QUERY_INIT;

	for (size_t q = 0; q < QUERIES; q++) {
		c->query[q] = none;
		c->query[q].fp = t_search_near(&c->s);
		c->query[q].radius = (unsigned)(q % 8);
		c->found[q] = sxt_model_find(&c->s.model, c->s.model.n, &c->query[q],
					     &c->n_found[q]);
	}
}

START_TEST(test_threads_beside_a_writer)
{
	static struct crowd c;
	struct timespec pause = { 0, 1000000 };
	pthread_t thread[THREADS];
	size_t step = 100;

	t_search_init(&c.s, _i, 0);
	t_search_fill(&c.s, sxt_is_long() ? 40000 : 4000);
	t_search_create(&c.s);
	prepare_crowd(&c);
	for (size_t t = 0; t < THREADS; t++)
		ck_assert_int_eq(pthread_create(&thread[t], NULL, search_on, &c), 0);
	for (size_t n = 0; n < c.s.model.n; n += step) {
		atomic_store(&c.storing, n + step);
		sxt_model_store(&c.s.model, n, n + step, c.s.index);
		atomic_store(&c.stored, n + step);
		if (n / step % 3 == 2)
			sxt_merge(c.s.index);
		/* On a machine with other work they may not have had a turn yet. */
		for (unsigned i = 0; atomic_load(&c.searches) < n / step; i++) {
			ck_assert_msg(i < 300000, "no reader searches");
			nanosleep(&pause, NULL);
		}
	}
	atomic_store(&c.end, 1);
	for (size_t t = 0; t < THREADS; t++)
		ck_assert_int_eq(pthread_join(thread[t], NULL), 0);
	for (size_t q = 0; q < QUERIES; q++) {
		sxt_check_found(c.found[q], c.n_found[q], c.s.reader, &c.query[q], NULL);
		free(c.found[q]);
	}
	t_search_end(&c.s);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * An index in the place of this one
 */

START_TEST(test_replaced_index)
{
	simidx_loader_options o = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_loader *loader;
	struct t_search s;
	simidx_results r = SIMIDX_RESULTS_INIT;

	t_search_init(&s, 0, 0);
	t_search_fill(&s, 3000);
	t_search_store(&s, s.model.n);
	t_search_some_indexed(&s, 10);
	ck_assert_uint_gt(t_search_used_by(s.reader), 0);
	o.memory = 64 << 20;
	ck_assert_sx(simidx_loader_open(s.path, NULL, &o, &loader, &sxt_err), SIMIDX_OK);
	t_search_some(&s, s.model.n, s.reader, 10);
	ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_OK);
	simidx_loader_close(loader);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_sx(simidx_reader_search(s.reader, &q, &r, &sxt_err), SIMIDX_E_MOVED);
	t_search_open_with(&s, 0);
	t_search_some_indexed(&s, 10);
	ck_assert_uint_gt(t_search_used_by(s.reader), 0);
	t_search_end(&s);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_readers_come_and_go, 0, SXT_N_PLANS * T_SEARCH_LAYOUTS },
	{ &test_another_process_writes, 0, 12 },
	{ &test_memtable_in_instalments, 0, SXT_N_PLANS },
	{ &test_old_snapshot_leaves_memtable, 0, 1 },
	{ &test_threads_beside_a_writer, 0, 2 },
	{ &test_replaced_index, 0, 1 },
};

SXT_SUITE(search_changes, NULL, NULL);
