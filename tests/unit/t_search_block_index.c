/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Searches through block indexes while the tables change under them: by this process and by
 * another one, with old readers, several threads, little memory.
 */

#include <pthread.h>
#include <stdatomic.h>

#include <simidx_load.h>

#include "t_search.h"

Suite *suite_search_block_index(void);

static void search_some(struct t_search *s, size_t n, simidx_reader *reader, unsigned times)
{
	simidx_query q = SIMIDX_QUERY_INIT;

	for (unsigned i = 0; i < times; i++) {
		q.fp = t_search_near(s);
		q.radius = (unsigned)sxt_rng_below(&s->rng, 6);
		sxt_check_query(&s->model, n, reader, &q, NULL);
	}
}

/* Directories that the last search of a reader went through. */
static unsigned used_by(const simidx_reader *reader)
{
	unsigned used = 0;

	for (unsigned t = 0; t < reader->index->plan.n_tables; t++)
		used += reader->blocks[t] != NULL;
	return used;
}

/* ------------------------------------------------------------------------------------------
 * Memory
 */

static uint64_t bytes_of_all(const simidx *index)
{
	uint64_t bytes = 0;

	for (unsigned t = 0; t < SX_SHELF_TABLES; t++)
		if (index->shelf.table[t].held)
			bytes += index->shelf.table[t].held->blocks->bytes;
	return bytes;
}

static void open_with(struct t_search *s, uint64_t blocks)
{
	simidx_open_options o = SIMIDX_OPEN_OPTIONS_INIT;

	simidx_reader_close(s->reader);
	simidx_close(s->index);
	s->reader = NULL;
	o.block_index_bytes = blocks;
	o.map_size = (uint64_t)1 << 30;
	ck_assert_sx(simidx_open(s->path, &o, &s->index, &sxt_err), SIMIDX_OK);
	s->reader = sxt_reader(s->index);
}

/* None, too few bytes for any, for some, enough: the answers are the same. */
START_TEST(most_bytes)
{
	struct t_search s;
	uint64_t all;

	t_search_init(&s, _i * T_SEARCH_PLANS * T_SEARCH_LAYOUTS, SIMIDX_CREATE_FP2);
	t_search_fill(&s, 12000);
	t_search_store(&s, s.model.n - 100);
	open_with(&s, 0);
	search_some(&s, s.model.n, s.reader, 30);
	all = s.index->shelf.bytes;
	ck_assert_uint_gt(all, 0);
	ck_assert_uint_eq(bytes_of_all(s.index), all);
	open_with(&s, SIMIDX_BLOCK_INDEX_NEVER);
	search_some(&s, s.model.n, s.reader, 30);
	ck_assert_uint_eq(bytes_of_all(s.index), 0);
	open_with(&s, 1);
	search_some(&s, s.model.n, s.reader, 30);
	ck_assert_uint_eq(bytes_of_all(s.index), 0);
	for (uint64_t part = 1; part < 8; part++) {
		open_with(&s, all * part / 7);
		search_some(&s, s.model.n, s.reader, 20);
		ck_assert_uint_eq(bytes_of_all(s.index), s.index->shelf.bytes);
		ck_assert_msg(s.index->shelf.bytes <= all * part / 7,
			      "%llu bytes of block indexes, at most %llu",
			      (unsigned long long)s.index->shelf.bytes,
			      (unsigned long long)(all * part / 7));
	}
	t_search_end(&s);
}
END_TEST

/* What is replaced after a merge makes room for what takes its place. */
START_TEST(no_bytes_to_spare)
{
	struct t_search s;
	uint64_t all;

	t_search_init(&s, 0, 0);
	t_search_fill(&s, 12000);
	t_search_store(&s, s.model.n - 100);
	open_with(&s, 0);
	search_some(&s, s.model.n, s.reader, 10);
	all = s.index->shelf.bytes;
	open_with(&s, all + all / 8); /* that of one table takes a fifth */
	for (int merged = 0; merged < 2; merged++) {
		search_some(&s, s.model.n, s.reader, 10);
		ck_assert_uint_eq(used_by(s.reader), 4);
		ck_assert_uint_ge(s.index->shelf.bytes, all);
		sxt_merge(s.index);
	}
	t_search_end(&s);
}
END_TEST

/* A table that could have none may have one after a merge. */
START_TEST(another_chance)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	struct t_search s;

	t_search_init(&s, 0, 0);
	t_search_fill(&s, 12000); /* too many for scans */
	t_search_store(&s, s.model.n - 100);
	open_with(&s, 0);
	s.index->shelf.table[0].generation = s.reader->snapshot.header.table[0].generation;
	s.index->shelf.table[0].hopeless = 1;
	for (unsigned merged = 0; merged < 2; merged++) {
		for (unsigned i = 0; i < 10; i++) {
			q.fp = t_search_near(&s);
			sxt_check_query(&s.model, s.model.n, s.reader, &q, NULL);
		}
		ck_assert_uint_eq(used_by(s.reader), 3 + merged);
		sxt_merge(s.index);
	}
	t_search_end(&s);
}
END_TEST

/* Store one more document and merge, as another process does. */
static void merge_elsewhere(struct t_search *s)
{
	simidx *other = sxt_open(s->path, 0);

	t_search_add(s, t_search_any(s));
	sxt_model_store(&s->model, s->model.n - 1, s->model.n, other);
	sxt_merge(other);
	simidx_close(other);
}

/* Rent or buy: some searches without them, then with; the same after a merge of another handle. */
START_TEST(after_a_while)
{
	enum { N = 120000 };
	simidx_results r = SIMIDX_RESULTS_INIT;
	simidx_query q = SIMIDX_QUERY_INIT;
	struct t_search s;

	t_search_init(&s, 0, SIMIDX_CREATE_NO_IDS);
	while (s.model.n < N)
		t_search_add(&s, t_search_any(&s));
	t_search_store(&s, N - 1000);
	for (unsigned round = 0; round < 2; round++) {
		unsigned used[40];

		for (unsigned i = 0; i < 40; i++) {
			q.fp = t_search_near(&s);
			ck_assert_sx(simidx_reader_search(s.reader, &q, &r, &sxt_err), SIMIDX_OK);
			used[i] = used_by(s.reader);
			/* None waits for more than one. */
			ck_assert_uint_le(used[i], i ? used[i - 1] + 1 : 0);
		}
		ck_assert_uint_eq(used[39], 4);
		search_some(&s, s.model.n, s.reader, 3);
		if (!round)
			merge_elsewhere(&s);
	}
	t_search_end(&s);
}
END_TEST

/* Tables whose block indexes are for the newest snapshot; postings are one of them. */
static unsigned valid_in(struct t_search *s)
{
	sx_snapshot now;
	unsigned valid = 0;

	ck_assert_sx(sx_snapshot_begin(&now, s->index, &sxt_err), SIMIDX_OK);
	for (unsigned t = 0; t < SX_SHELF_TABLES; t++)
		valid += sx_held_fits(s->index->shelf.table[t].held,
				      t == SX_SHELF_POSTINGS
					      ? now.header.other[SX_COUNT_POSTINGS].generation
					      : now.header.table[t].generation,
				      sx_store_map_changes(s->index->store));
	sx_snapshot_end(&now);
	return valid;
}

/* Searches until all tables have block indexes. */
static void search_to_directories(struct t_search *s)
{
	for (unsigned i = 0; i < 200 && valid_in(s) < 5; i++)
		search_some(s, s->model.n, s->reader, 1);
	ck_assert_uint_eq(valid_in(s), 5);
}

/* A merge replaces those that were in use, whatever its number of transactions. */
START_TEST(merged_at_once)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	struct t_search s;

	t_search_init(&s, 0, _i ? SIMIDX_CREATE_FP2 : 0);
	t_search_fill(&s, 40000);
	t_search_store(&s, s.model.n - 3000);
	s.index->merge_blocks = _i ? 8 : 4096;
	ck_assert_uint_eq(valid_in(&s), 0); /* the first ones wait for searches */
	search_to_directories(&s);
	sxt_merge(s.index);
	ck_assert_uint_eq(valid_in(&s), 5);
	ck_assert_uint_eq(bytes_of_all(s.index), s.index->shelf.bytes);
	q.radius = 3;
	q.fp = t_search_near(&s);
	sxt_check_query(&s.model, s.model.n, s.reader, &q, NULL);
	ck_assert_uint_eq(used_by(s.reader), 4);
	search_some(&s, s.model.n, s.reader, 30);
	t_search_end(&s);
}
END_TEST

static void add_and_merge(struct t_search *s, size_t n)
{
	size_t from = s->model.n;

	while (s->model.n < from + n)
		t_search_add(s, t_search_any(s));
	sxt_model_store(&s->model, from, s->model.n, s->index);
	sxt_merge(s->index);
}

/* It makes none that nobody asks for, and none where there must not be any. */
START_TEST(not_merged_at_once)
{
	struct t_search s;
	uint64_t all;

	t_search_init(&s, 0, 0);
	t_search_fill(&s, 40000);
	t_search_store(&s, s.model.n);
	search_to_directories(&s);
	all = s.index->shelf.bytes;
	add_and_merge(&s, 1000);
	ck_assert_uint_eq(valid_in(&s), 5);
	add_and_merge(&s, 1000); /* no search since the last one */
	ck_assert_uint_eq(valid_in(&s), 0);
	search_to_directories(&s);
	merge_elsewhere(&s);
	add_and_merge(&s, 1000); /* no search since the other's */
	ck_assert_uint_eq(valid_in(&s), 0);
	search_to_directories(&s);
	s.index->shelf.max_bytes = all / 2; /* as if it had grown by that much */
	add_and_merge(&s, 1000);
	ck_assert_uint_eq(valid_in(&s), 0);
	open_with(&s, SIMIDX_BLOCK_INDEX_NEVER);
	search_some(&s, s.model.n, s.reader, 30);
	add_and_merge(&s, 1000);
	ck_assert_uint_eq(s.index->shelf.bytes, 0);
	search_some(&s, s.model.n, s.reader, 10);
	t_search_end(&s);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Changes
 */

#define READERS 4

/* Readers come and go, each with what it held when it searched last. */
START_TEST(many_readers)
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
			search_some(&s, n, reader[which], 2);
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
START_TEST(other_process)
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
		for (unsigned i = 0; i < 3; i++)
			if (turn % (i + 1) == 0)
				search_some(&s, n, reader[i], 6);
		sxt_proc_tell(&child);
		if (n < s.model.n)
			ck_assert_int_eq(sxt_proc_wait(&child), 0);
	}
	ck_assert_int_eq(sxt_proc_finish(&child), 0);
	ck_assert_uint_gt(s.index->shelf.bytes, 0);
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
	const sx_memtable *memtable = index->fresh.memtable;

	return memtable ? sx_memtable_end(memtable) - sx_memtable_base(memtable) : 0;
}

START_TEST(instalments)
{
	const uint64_t fresh = 10000;
	uint64_t before = 0, after;
	struct t_search s;
	unsigned steps = 0;

	t_search_init(&s, _i, 0);
	t_search_fill(&s, 2000 + fresh);
	t_search_store(&s, 2000);
	open_with(&s, 0); /* as a process does that has not written them */
	ck_assert_uint_eq(indexed_rows(s.index), 0);
	for (unsigned i = 0; i < 1000 && before < fresh; i++, before = after) {
		uint64_t part = (fresh - before) / 64;

		search_some(&s, s.model.n, s.reader, 1);
		after = indexed_rows(s.index);
		ck_assert_uint_le(after - before, part > 128 ? part : 128);
		steps += after > before;
	}
	ck_assert_uint_eq(before, fresh);
	ck_assert_uint_ge(steps, 64);
	search_some(&s, s.model.n, s.reader, 10);
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
START_TEST(old_snapshot)
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
			sxt_proc_assert(number < behind && r->matches[at].fp == f->doc->fp);
			at++;
		} else {
			sxt_proc_assert(number >= before);
		}
	}
	sxt_proc_assert(at == r->n);
}

static void *search_on(void *ctx)
{
	struct crowd *c = ctx;
	simidx_results r = SIMIDX_RESULTS_INIT;
	simidx_reader *reader = NULL;
	simidx_error err;

	for (unsigned i = 0; !atomic_load(&c->end); i++) {
		size_t q = i % QUERIES, before = atomic_load(&c->stored);

		if (i % 100 == 0) {
			simidx_reader_close(reader);
			reader = sxt_reader(c->s.index);
		}
		sxt_proc_must(simidx_reader_search(reader, &c->query[q], &r, &err), SIMIDX_OK, &err);
		check_between(c, q, before, atomic_load(&c->storing), &r);
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

START_TEST(threads)
{
	static struct crowd c;
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

START_TEST(replaced)
{
	simidx_loader_options o = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_loader *loader;
	struct t_search s;
	simidx_results r = SIMIDX_RESULTS_INIT;

	t_search_init(&s, 0, 0);
	t_search_fill(&s, 3000);
	t_search_store(&s, s.model.n);
	search_some(&s, s.model.n, s.reader, 10);
	ck_assert_uint_gt(used_by(s.reader), 0);
	o.memory = 64 << 20;
	ck_assert_sx(simidx_loader_open(s.path, NULL, &o, &loader, &sxt_err), SIMIDX_OK);
	search_some(&s, s.model.n, s.reader, 10);
	ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_OK);
	simidx_loader_close(loader);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_sx(simidx_reader_search(s.reader, &q, &r, &sxt_err), SIMIDX_E_MOVED);
	open_with(&s, 0);
	search_some(&s, s.model.n, s.reader, 10);
	ck_assert_uint_gt(used_by(s.reader), 0);
	t_search_end(&s);
}
END_TEST

Suite *suite_search_block_index(void)
{
	Suite *suite = suite_create("search_block_index");
	TCase *memory = tcase_create("memory");
	TCase *changes = tcase_create("changes");

	tcase_set_timeout(memory, 120);
	tcase_add_loop_test(memory, most_bytes, 0, 2);
	tcase_add_test(memory, no_bytes_to_spare);
	tcase_add_test(memory, another_chance);
	tcase_add_test(memory, after_a_while);
	tcase_add_loop_test(memory, merged_at_once, 0, 2);
	tcase_add_test(memory, not_merged_at_once);
	suite_add_tcase(suite, memory);
	tcase_set_timeout(changes, 600);
	tcase_add_loop_test(changes, many_readers, 0, T_SEARCH_PLANS * T_SEARCH_LAYOUTS);
	tcase_add_loop_test(changes, other_process, 0, 12);
	tcase_add_loop_test(changes, instalments, 0, T_SEARCH_PLANS);
	tcase_add_test(changes, old_snapshot);
	tcase_add_loop_test(changes, threads, 0, 2);
	tcase_add_test(changes, replaced);
	suite_add_tcase(suite, changes);
	return suite;
}
