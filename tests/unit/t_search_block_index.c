/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Searches through block indexes while the tables change under them: by this process and by
 * another one, with old readers, several threads, little memory; and when they are made.
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

/* Block indexes of permuted tables that the last search of a reader had. */
static unsigned used_by(const simidx_reader *reader)
{
	unsigned used = 0;

	for (unsigned t = 0; t < sx_reader_index(reader)->plan.n_tables; t++)
		used += reader->view.table[t].blocks != NULL;
	return used;
}

/* ------------------------------------------------------------------------------------------
 * Memory
 */

static uint64_t bytes_of_all(const simidx *index)
{
	uint64_t bytes = 0;

	for (unsigned t = 0; t < SX_BLOCK_CACHE_TABLES; t++)
		if (index->block_cache.table[t].cached)
			bytes += index->block_cache.table[t].cached->blocks->bytes;
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

/* Searches, with block indexes as far as there is room. */
static void search_with(struct t_search *s, unsigned times)
{
	t_search_make_block_indexes(s->reader);
	search_some(s, s->model.n, s->reader, times);
}

/* None, too few bytes for any, for some, enough: the answers are the same. */
START_TEST(max_bytes)
{
	struct t_search s;
	uint64_t all;

	t_search_init(&s, _i * T_SEARCH_PLANS * T_SEARCH_LAYOUTS, SIMIDX_CREATE_FP2);
	t_search_fill(&s, 12000);
	t_search_store(&s, s.model.n - 100);
	open_with(&s, 0);
	search_with(&s, 30);
	all = s.index->block_cache.bytes;
	ck_assert_uint_gt(all, 0);
	ck_assert_uint_eq(bytes_of_all(s.index), all);
	ck_assert_uint_eq(used_by(s.reader), 4);
	open_with(&s, SIMIDX_BLOCK_INDEX_NEVER);
	search_with(&s, 30);
	ck_assert_uint_eq(bytes_of_all(s.index), 0);
	ck_assert_uint_eq(used_by(s.reader), 0);
	open_with(&s, 1);
	search_with(&s, 30);
	ck_assert_uint_eq(bytes_of_all(s.index), 0);
	for (uint64_t part = 1; part < 8; part++) {
		open_with(&s, all * part / 7);
		search_with(&s, 20);
		ck_assert_uint_eq(bytes_of_all(s.index), s.index->block_cache.bytes);
		ck_assert_msg(s.index->block_cache.bytes <= all * part / 7,
			      "%llu bytes of block indexes, at most %llu",
			      (unsigned long long)s.index->block_cache.bytes,
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
	search_with(&s, 10);
	all = s.index->block_cache.bytes;
	open_with(&s, all + all / 8); /* that of one table takes a fifth */
	for (int merged = 0; merged < 2; merged++) {
		search_with(&s, 10);
		ck_assert_uint_eq(used_by(s.reader), 4);
		ck_assert_uint_ge(s.index->block_cache.bytes, all);
		ck_assert_uint_eq(bytes_of_all(s.index), s.index->block_cache.bytes);
		sxt_merge(s.index);
	}
	t_search_end(&s);
}
END_TEST

/* A table that could have none may have one after a merge. */
START_TEST(another_chance)
{
	struct t_search s;

	t_search_init(&s, 0, 0);
	t_search_fill(&s, 12000);
	t_search_store(&s, s.model.n - 100);
	open_with(&s, 0);
	ck_assert_sx(sx_view_renew(&s.reader->view, &sxt_err), SIMIDX_OK);
	s.index->block_cache.table[0].generation =
		s.reader->view.snapshot.header.table[0].generation;
	s.index->block_cache.table[0].is_impossible = 1;
	sx_view_reset(&s.reader->view);
	for (unsigned merged = 0; merged < 2; merged++) {
		search_with(&s, 10);
		ck_assert_uint_eq(used_by(s.reader), 3 + merged);
		sxt_merge(s.index);
	}
	t_search_end(&s);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * When they are made
 */

/* Store one more document and merge, as another process does. */
static void merge_elsewhere(struct t_search *s)
{
	simidx *other = sxt_open(s->path, 0);

	t_search_add(s, t_search_any(s));
	sxt_model_store(&s->model, s->model.n - 1, s->model.n, other);
	sxt_merge(other);
	simidx_close(other);
}

static void add_and_merge(struct t_search *s, size_t n)
{
	size_t from = s->model.n;

	while (s->model.n < from + n)
		t_search_add(s, t_search_any(s));
	sxt_model_store(&s->model, from, s->model.n, s->index);
	sxt_merge(s->index);
}

/* Tables whose block indexes are for the newest snapshot; postings are one of them. */
static unsigned valid_in(struct t_search *s)
{
	unsigned map_changes = sx_store_map_changes(s->index->store), valid = 0;
	const sx_tables *tables = &s->index->tables;
	sx_snapshot now;

	ck_assert_sx(sx_snapshot_begin(&now, s->index, &sxt_err), SIMIDX_OK);
	for (unsigned t = 0; t < SX_BLOCK_CACHE_TABLES; t++) {
		int is_postings = t == SX_VIEW_POSTINGS;
		const sx_table_count *count = is_postings ? &now.header.other[SX_COUNT_POSTINGS]
							  : &now.header.table[t];
		sx_table_version version = { is_postings ? &tables->postings : &tables->permuted[t],
					     count->rows, count->generation, map_changes };

		valid += sx_cached_index_fits(s->index->block_cache.table[t].cached, &version);
	}
	sx_snapshot_end(&now);
	return valid;
}

/* So that narrow ranges are worth many probes. */
static const sx_costs probe_costs = { 100, 100, 1e6, 1e6, 0 };

static void make_even(struct t_search *s, size_t merged, size_t n)
{
	t_search_init(s, 0, 0);
	while (s->model.n < n)
		t_search_add(s, t_search_any(s));
	t_search_store(s, merged);
	open_with(s, 0);
	s->index->costs = &probe_costs;
}

/* Within radius 3 by one probe of each table, and one look-up of postings for the only match. */
static void search_one(struct t_search *s, simidx_reader *reader)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_results r;

	q.fp = s->model.at[0].fp;
	q.radius = 3;
	sxt_check_query(&s->model, s->model.n, reader, &q, &r);
	ck_assert_uint_eq(r.probes, 4);
	ck_assert_uint_eq(r.fingerprints, 1);
}

/* Searches until there are block indexes: the number of those that had none. */
static unsigned searches_without(struct t_search *s)
{
	unsigned n = 0;

	for (; n < 1000; n++) {
		search_one(s, s->reader);
		if (used_by(s->reader) == 4)
			break;
		ck_assert_uint_eq(used_by(s->reader), 0);
	}
	ck_assert_uint_eq(valid_in(s), 5);
	return n;
}

/* The first ones come with the look-up after SX_BLOCK_CACHE_LOOKUPS of them in each table. */
START_TEST(after_lookups)
{
	struct t_search s;

	make_even(&s, 5000, 5000);
	ck_assert_uint_eq(valid_in(&s), 0);
	ck_assert_uint_eq(searches_without(&s), SX_BLOCK_CACHE_LOOKUPS);
	/* A new reader has them at once, and a merge of nothing leaves them. */
	simidx_reader_close(s.reader);
	s.reader = sxt_reader(s.index);
	sxt_merge(s.index);
	ck_assert_uint_eq(searches_without(&s), 0);
	t_search_end(&s);
}
END_TEST

/* Look-ups count whichever reader has asked for them. */
START_TEST(lookups_of_all_readers)
{
	simidx_reader *other;
	struct t_search s;
	unsigned n = 0;

	make_even(&s, 5000, 5000);
	other = sxt_reader(s.index);
	for (; !used_by(s.reader) && n < 1000; n++) {
		search_one(&s, s.reader);
		search_one(&s, other);
	}
	/* Those that a reader has done count when it takes the next snapshot. */
	ck_assert_uint_ge(n, SX_BLOCK_CACHE_LOOKUPS / 2);
	ck_assert_uint_le(n, SX_BLOCK_CACHE_LOOKUPS / 2 + 2);
	ck_assert_uint_eq(valid_in(&s), 5);
	simidx_reader_close(other);
	t_search_end(&s);
}
END_TEST

/*
 * After SX_BLOCK_CACHE_LOOKUPS queries of the generation before, the first query after a merge has
 * the new ones, whatever the number of its transactions, and whoever has merged.
 */
START_TEST(after_a_merge)
{
	struct t_search s;

	make_even(&s, 5000, 8000);
	s.index->merge_blocks = _i ? 8 : 4096;
	searches_without(&s);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < SX_BLOCK_CACHE_LOOKUPS; i++)
			search_one(&s, s.reader);
		if (round == 1)
			merge_elsewhere(&s);
		else
			add_and_merge(&s, 1000);
		ck_assert_uint_eq(valid_in(&s), 0); /* a merge makes none */
		ck_assert_uint_eq(searches_without(&s), 0);
		ck_assert_uint_eq(bytes_of_all(s.index), s.index->block_cache.bytes);
	}
	search_some(&s, s.model.n, s.reader, 30);
	t_search_end(&s);
}
END_TEST

/* After a few queries of the generation before, the others are still to come. */
START_TEST(after_few_lookups)
{
	enum { FEW = 40 };
	struct t_search s;
	uint64_t all;

	make_even(&s, 5000, 8000);
	searches_without(&s); /* the last one had block indexes */
	add_and_merge(&s, 1000);
	ck_assert_uint_eq(searches_without(&s), SX_BLOCK_CACHE_LOOKUPS - 1);
	for (unsigned i = 1; i < FEW; i++)
		search_one(&s, s.reader);
	add_and_merge(&s, 1000);
	ck_assert_uint_eq(searches_without(&s), SX_BLOCK_CACHE_LOOKUPS - FEW);
	all = s.index->block_cache.bytes;
	/* None where there must not be any, however many have asked. */
	s.index->block_cache.max_bytes = all / 2; /* as if it had grown by that much */
	for (unsigned i = 0; i < SX_BLOCK_CACHE_LOOKUPS; i++)
		search_one(&s, s.reader);
	add_and_merge(&s, 1000);
	for (unsigned i = 0; i < 2 * SX_BLOCK_CACHE_LOOKUPS; i++)
		search_one(&s, s.reader);
	ck_assert_uint_le(valid_in(&s), 2);
	open_with(&s, SIMIDX_BLOCK_INDEX_NEVER);
	s.index->costs = &probe_costs;
	for (unsigned i = 0; i < 2 * SX_BLOCK_CACHE_LOOKUPS; i++)
		search_one(&s, s.reader);
	ck_assert_uint_eq(s.index->block_cache.bytes, 0);
	ck_assert_uint_eq(used_by(s.reader), 0);
	t_search_end(&s);
}
END_TEST

/* Queries that are about to come count as look-ups of all tables. */
START_TEST(expected)
{
	struct t_search s;
	sx_view *view;

	make_even(&s, 5000, 5000);
	view = &s.reader->view;
	ck_assert_sx(sx_view_renew(view, &sxt_err), SIMIDX_OK);
	sx_view_expect(view, SX_BLOCK_CACHE_LOOKUPS - 1);
	ck_assert_uint_eq(used_by(s.reader), 0);
	ck_assert_int_eq(view->is_whole, 0);
	sx_view_expect(view, 1);
	ck_assert_uint_eq(used_by(s.reader), 4);
	ck_assert_ptr_nonnull(view->table[SX_VIEW_POSTINGS].blocks);
	ck_assert_int_eq(view->is_whole, 1);
	ck_assert_uint_eq(valid_in(&s), 5);
	/* Those that come with block indexes count for the next generation. */
	sx_view_expect(view, SX_BLOCK_CACHE_LOOKUPS);
	sx_view_reset(view);
	search_one(&s, s.reader);
	add_and_merge(&s, 1000);
	ck_assert_uint_eq(searches_without(&s), 0);
	t_search_end(&s);
}
END_TEST

/* A table whose block index cannot be made is read by the cursor, and the others have theirs. */
START_TEST(damaged)
{
	unsigned char bytes[SX_TABLE_MAX_KEY];
	sx_slice key = { bytes, 0 }, value = { bytes, 10 }; /* no block, after all others */
	struct t_search s;
	const sx_table *table;
	sx_txn *txn;

	make_even(&s, 5000, 5000);
	table = &s.index->tables.permuted[1];
	key.size = sx_table_key(table, (sx_sort_key){ UINT64_MAX, 0 }, bytes);
	ck_assert_sx(sx_store_lock(s.index->store, 0, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_txn_begin_write(s.index->store, 0, &txn, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_dbi_put(txn, table->dbi, key, value, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_txn_commit(txn, &sxt_err), SIMIDX_OK);
	sx_store_unlock(s.index->store);
	for (unsigned i = 0; i < SX_BLOCK_CACHE_LOOKUPS + 20; i++) {
		search_one(&s, s.reader);
		ck_assert_uint_eq(used_by(s.reader), i < SX_BLOCK_CACHE_LOOKUPS ? 0 : 3);
	}
	ck_assert_int_eq(s.index->block_cache.table[1].is_impossible, 1);
	ck_assert_ptr_null(s.reader->view.table[1].blocks);
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
		/* The first reader makes block indexes, the others share them. */
		t_search_make_block_indexes(reader[0]);
		for (unsigned i = 0; i < 3; i++)
			if (turn % (i + 1) == 0)
				search_some(&s, n, reader[i], 6);
		sxt_proc_tell(&child);
		if (n < s.model.n)
			ck_assert_int_eq(sxt_proc_wait(&child), 0);
	}
	ck_assert_int_eq(sxt_proc_finish(&child), 0);
	ck_assert_uint_gt(s.index->block_cache.bytes, 0);
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
	search_with(&s, 10);
	ck_assert_uint_gt(used_by(s.reader), 0);
	o.memory = 64 << 20;
	ck_assert_sx(simidx_loader_open(s.path, NULL, &o, &loader, &sxt_err), SIMIDX_OK);
	search_some(&s, s.model.n, s.reader, 10);
	ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_OK);
	simidx_loader_close(loader);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_sx(simidx_reader_search(s.reader, &q, &r, &sxt_err), SIMIDX_E_MOVED);
	open_with(&s, 0);
	search_with(&s, 10);
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
	tcase_add_loop_test(memory, max_bytes, 0, 2);
	tcase_add_test(memory, no_bytes_to_spare);
	tcase_add_test(memory, another_chance);
	tcase_add_test(memory, after_lookups);
	tcase_add_test(memory, lookups_of_all_readers);
	tcase_add_loop_test(memory, after_a_merge, 0, 2);
	tcase_add_test(memory, after_few_lookups);
	tcase_add_test(memory, expected);
	tcase_add_test(memory, damaged);
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
