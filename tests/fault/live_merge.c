/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * One process or thread merges while another one changes, commits and searches: the merger gives
 * the write lock up between its transactions. Linked with --wrap=sx_store_unlock, so that the
 * merger can stop or die right where others may commit.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <simidx_info.h>

#include "index/sx_index.h"
#include "support/sxt_fixture.h"
#include "support/sxt_kill.h"
#include "support/sxt_live.h"

void __real_sx_store_unlock(sx_store *store);
void __wrap_sx_store_unlock(sx_store *store);

/* Called where a merger has given the lock up, but not while it is called; NULL: nothing is. */
static _Thread_local void (*between)(void);

void __wrap_sx_store_unlock(sx_store *store)
{
	void (*call)(void) = between;

	sxt_kill_before();
	__real_sx_store_unlock(store);
	sxt_kill_after();
	between = NULL;
	if (call)
		call();
	between = call;
}

static sxt_live live;

static const sxt_variant variants[] = {
	{ "4x16", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_FP2 },
	{ "4x16", SIMIDX_LAYOUT_ROWS, 0 },
	{ "3x22", SIMIDX_LAYOUT_BLOCKS, 0 },
	{ "2x32", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_NO_IDS },
};

#define N_VARIANTS ((int)(sizeof(variants) / sizeof(variants[0])))

static void make(int number, uint64_t stream)
{
	simidx_close(sxt_live_make(&live, &variants[number], 3000, stream));
}

static void tear_down(void)
{
	sxt_live_free(&live);
	sxt_tear_down();
}

static simidx *open_with_small_steps(void)
{
	simidx *index = sxt_open(t_path, 0);

	index->tuning.merge_blocks = 1;
	index->tuning.merge_rows = 200;
	return index;
}

static simidx_writer *open_writer(simidx *index, unsigned merge, uint64_t threshold, int wait_ms)
{
	simidx_writer_options how = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_writer *writer;

	how.merge = merge;
	how.merge_threshold = threshold;
	how.wait_ms = wait_ms;
	sxt_must_ok(simidx_writer_open(index, &how, &writer, &sxt_err));
	return writer;
}

struct plan {
	unsigned merges, kill_at;
	int keeps_lock;
};

static int merge(sxt_proc *me, void *ctx)
{
	const struct plan *plan = ctx;
	sxt_kill kill = { .at = plan->kill_at, .is_after = !plan->keeps_lock, .watcher = me };
	simidx *index = open_with_small_steps();

	sxt_kill_begin(&kill);
	for (unsigned i = 0; i < plan->merges; i++)
		sxt_merge(index);
	sxt_kill_begin(NULL);
	simidx_close(index);
	return 0;
}

/* Change and commit; the writer finds what is pending, the reader what is committed. */
static void change(simidx_writer *writer, simidx_reader *reader, unsigned steps)
{
	simidx_reader *own;
	sxt_live_asked asked;

	for (unsigned i = 0; i < steps; i++)
		sxt_live_step(&live, writer);
	sxt_must_ok(simidx_writer_begin(writer, &sxt_err));
	sxt_must_ok(simidx_writer_reader(writer, &own, &sxt_err));
	asked = sxt_live_writer(&live, own);
	sxt_live_check_searches(&live, &asked, 4);
	sxt_live_commit(&live, writer);
	asked = sxt_live_reader(&live, reader);
	sxt_live_check_searches(&live, &asked, 4);
}

START_TEST(test_others_commit_between_transactions)
{
	struct plan plan = { sxt_is_long() ? 200 : 3, 0, 0 };
	simidx_reader *reader;
	simidx_writer *writer;
	unsigned seen = 0;
	sxt_proc child;
	simidx *index;

	make(_i, 9100 + 2 * (uint64_t)_i);
	sxt_proc_start(&child, merge, &plan);
	index = open_with_small_steps();
	reader = sxt_reader(index);
	/* Merges would be due in each commit, which does not wait for this one. */
	writer = open_writer(index, SIMIDX_MERGE_AUTO, 10, 0);
	while (!sxt_proc_wait(&child)) {
		unsigned state = sxt_merge_state(index);

		change(writer, reader, 8);
		/* A merge whose merger is alive is left to it. */
		if (state & SX_STATE_MERGING)
			ck_assert_uint_eq(sxt_merge_state(index), state);
		seen |= 1u << state;
		sxt_proc_tell(&child);
	}
	ck_assert_int_eq(sxt_proc_finish(&child), 0);
	ck_assert(seen & 1u << SX_STATE_MERGING);
	if (variants[_i].flags & SIMIDX_CREATE_FP2) /* others may have too few postings */
		ck_assert(seen & 1u << (SX_STATE_MERGING | SX_STATE_PARTIAL));
	sxt_live_check_content(&live, index);
	sxt_must_ok(simidx_writer_merge(writer, &sxt_err));
	ck_assert_uint_eq(sxt_merge_state(index), 0);
	sxt_live_check_content(&live, index);
	simidx_writer_close(writer);
	simidx_reader_close(reader);
	simidx_close(index);
}
END_TEST

/* The merger dies between two transactions, or with the lock; others have committed meanwhile. */
START_TEST(test_merger_dies)
{
	unsigned rounds = sxt_is_long() ? 300 : 25, taken_over = 0;
	sxt_rng rng;

	sxt_rng_init(&rng, 9200 + (uint64_t)_i);
	make(_i, 9300 + 2 * (uint64_t)_i);
	for (unsigned round = 0; round < rounds; round++) {
		struct plan plan = { 1, 3 + (unsigned)sxt_rng_below(&rng, 12),
				     (int)sxt_rng_below(&rng, 2) };
		simidx_reader *reader;
		simidx_writer *writer;
		sxt_proc child;
		simidx *index;
		int status;

		sxt_proc_start(&child, merge, &plan);
		index = open_with_small_steps();
		reader = sxt_reader(index);
		writer = open_writer(index, round % 2 ? SIMIDX_MERGE_BESIDE : SIMIDX_MERGE_AUTO, 0,
				     -1);
		while (!sxt_proc_wait(&child)) {
			change(writer, reader, 8);
			sxt_proc_tell(&child);
		}
		status = sxt_proc_finish(&child);
		ck_assert(status == SXT_KILLED || status == 0);
		taken_over += (sxt_merge_state(index) & SX_STATE_MERGING) != 0;
		change(writer, reader, 40);
		/* The writer has finished what was begun. */
		ck_assert_uint_eq(sxt_merge_state(index), 0);
		sxt_live_check_content(&live, index);
		simidx_writer_close(writer);
		simidx_reader_close(reader);
		simidx_close(index);
	}
	ck_assert_uint_gt(taken_over, 0);
}
END_TEST

/* One merges at a time, and who may not wait is told. */
START_TEST(test_one_merges_at_a_time)
{
	simidx_writer_options o = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_writer *writer;
	simidx *index;

	make(0, 9400);
	index = open_with_small_steps();
	o.wait_ms = 0;
	ck_assert_sx(simidx_writer_open(index, &o, &writer, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_store_lock_merge(index->store, 0, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_E_BUSY);
	sx_store_unlock_merge(index->store);
	ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_OK);
	simidx_writer_close(writer);
	simidx_close(index);
}
END_TEST

#define THRESHOLD 40

static uint64_t fresh_rows(simidx *index)
{
	simidx_info info = SIMIDX_INFO_INIT;

	sxt_must_ok(simidx_get_info(index, &info, &sxt_err));
	return info.fresh_rows;
}

/* Change until the log has more than `rows` rows; what the commits have told, bit by bit. */
static unsigned change_until(simidx *index, simidx_writer *writer, simidx_reader *reader,
			     uint64_t rows)
{
	unsigned told = 0;

	do {
		change(writer, reader, 6);
		told |= 1u << simidx_writer_merge_state(writer);
	} while (fresh_rows(index) <= rows);
	return told;
}

/* Nobody merges: from twice the threshold on a commit does. It says what is due, or done. */
START_TEST(test_commit_merges_late)
{
	simidx *index, *checked;
	simidx_writer *writer;
	simidx_reader *reader;
	unsigned seen = 0;

	make(_i, 9600 + 2 * (uint64_t)_i);
	index = open_with_small_steps();
	checked = sxt_open(t_path, SIMIDX_OPEN_CHECK);
	reader = sxt_reader(checked);
	writer = open_writer(index, SIMIDX_MERGE_BESIDE, THRESHOLD, -1);
	ck_assert_uint_eq(simidx_writer_merge_state(NULL), 0);
	ck_assert_uint_eq(simidx_writer_merge_state(writer), 0);
	for (unsigned i = 0; i < (sxt_is_long() ? 1000u : 60u); i++) {
		unsigned state;
		uint64_t rows;

		change(writer, reader, 6);
		state = simidx_writer_merge_state(writer);
		rows = fresh_rows(index);
		ck_assert_uint_eq(rows, state & SIMIDX_MERGE_WAITED ? 0 : rows);
		ck_assert_uint_eq(state & SIMIDX_MERGE_DUE,
				  rows > THRESHOLD ? SIMIDX_MERGE_DUE : 0);
		ck_assert_uint_lt(rows, 2 * THRESHOLD + 2);
		seen |= 1u << state;
	}
	ck_assert_uint_eq(seen, 1u | 1u << SIMIDX_MERGE_DUE | 1u << SIMIDX_MERGE_WAITED);
	sxt_live_check_content(&live, index);
	simidx_writer_close(writer);
	simidx_reader_close(reader);
	simidx_close(checked);
	simidx_close(index);
}
END_TEST

/*
 * Somebody merges, and does not get ahead: commits store what they have. From twice the threshold
 * on they wait, here for no time, and say so.
 */
START_TEST(test_commit_waits)
{
	static const unsigned due = 1u << SIMIDX_MERGE_DUE,
			      waited = 1u << (SIMIDX_MERGE_DUE | SIMIDX_MERGE_WAITED);
	simidx *index, *other;
	simidx_writer *writer;
	simidx_reader *reader;

	make(0, 9700 + 2 * (uint64_t)_i);
	index = open_with_small_steps();
	other = open_with_small_steps();
	sxt_merge(index);
	reader = sxt_reader(index);
	writer = open_writer(index, (unsigned)_i, THRESHOLD, 0);
	ck_assert_sx(sx_store_lock_merge(other->store, 0, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(change_until(index, writer, reader, THRESHOLD) & ~1u, due);
	ck_assert_uint_eq(change_until(index, writer, reader, 3 * THRESHOLD) & ~due,
			  _i == SIMIDX_MERGE_NEVER ? 0 : waited);
	ck_assert_uint_eq(sxt_merge_state(index), 0);
	sxt_live_check_content(&live, index);
	sx_store_unlock_merge(other->store);
	change(writer, reader, 20);
	if (_i == SIMIDX_MERGE_NEVER)
		ck_assert_uint_gt(fresh_rows(index), 3 * THRESHOLD);
	else
		ck_assert_uint_lt(fresh_rows(index), 2 * THRESHOLD + 2);
	sxt_live_check_content(&live, index);
	simidx_writer_close(writer);
	simidx_reader_close(reader);
	simidx_close(other);
	simidx_close(index);
}
END_TEST

/* What test_memtable_is_prepared() does between the transactions of a merge. */
static struct {
	simidx *index;
	simidx_writer *writer;
	simidx_reader *reader;
	unsigned replaced;
} beside;

static void change_beside(void)
{
	const sx_fresh *fresh = beside.index->fresh;
	const sx_memtable *before = fresh->memtable, *next = fresh->next;

	change(beside.writer, beside.reader, 6);
	if (fresh->memtable == before)
		return;
	ck_assert_ptr_eq(fresh->memtable, next);
	ck_assert_ptr_null(fresh->next);
	beside.replaced++;
}

/* The memtable that takes the place of the old one when a merge ends was made before. */
START_TEST(test_memtable_is_prepared)
{
	make(_i, 9800 + 2 * (uint64_t)_i);
	beside.index = open_with_small_steps();
	beside.reader = sxt_reader(beside.index);
	beside.writer = open_writer(beside.index, SIMIDX_MERGE_BESIDE, 0, -1);
	beside.replaced = 0;
	change(beside.writer, beside.reader, 6);
	ck_assert_ptr_nonnull(beside.index->fresh->memtable);
	between = change_beside;
	sxt_merge(beside.index);
	between = NULL;
	ck_assert_uint_eq(beside.replaced, 1);
	change(beside.writer, beside.reader, 6);
	sxt_live_check_content(&live, beside.index);
	simidx_writer_close(beside.writer);
	simidx_reader_close(beside.reader);
	simidx_close(beside.index);
}
END_TEST

struct shared {
	simidx *index; /* NULL: the thread has a handle of its own */
	atomic_int stop;
	atomic_uint merges;
};

static void *merge_on(void *ctx)
{
	struct shared *shared = ctx;
	simidx *own = shared->index ? NULL : open_with_small_steps();

	while (!atomic_load(&shared->stop)) {
		sxt_merge(own ? own : shared->index);
		atomic_fetch_add(&shared->merges, 1);
	}
	simidx_close(own);
	return NULL;
}

/*
 * Two threads merge while another one writes, one of them on the same handle. A reader that checks
 * what it reads searches meanwhile.
 */
START_TEST(test_threads_merge)
{
	unsigned commits = sxt_is_long() ? 2000 : 60;
	struct shared shared[2] = { { 0 }, { 0 } };
	simidx *index, *checked;
	simidx_reader *reader;
	simidx_writer *writer;
	pthread_t thread[2];

	make(_i / 2, 9500 + 2 * (uint64_t)_i);
	index = shared[0].index = open_with_small_steps();
	checked = sxt_open(t_path, SIMIDX_OPEN_CHECK);
	reader = sxt_reader(checked);
	writer = open_writer(index, _i % 2 ? SIMIDX_MERGE_BESIDE : SIMIDX_MERGE_AUTO, 30, -1);
	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, merge_on, &shared[i]), 0);
	for (unsigned i = 0; i < commits; i++)
		change(writer, reader, 10);
	for (unsigned i = 0; i < 2; i++) {
		atomic_store(&shared[i].stop, 1);
		ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
		ck_assert_uint_gt(atomic_load(&shared[i].merges), 0);
	}
	sxt_live_check_content(&live, index);
	simidx_writer_close(writer);
	simidx_reader_close(reader);
	simidx_close(checked);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_others_commit_between_transactions, 0, N_VARIANTS },
	{ &test_merger_dies, 0, N_VARIANTS - 1 },
	{ &test_one_merges_at_a_time, 0, 1 },
	{ &test_commit_merges_late, 0, N_VARIANTS },
	{ &test_commit_waits, 0, SIMIDX_MERGE_BESIDE + 1 },
	{ &test_memtable_is_prepared, 0, N_VARIANTS },
	{ &test_threads_merge, 0, 2 * N_VARIANTS },
};

SXT_SUITE(live_merge, sxt_set_up_path, tear_down);
