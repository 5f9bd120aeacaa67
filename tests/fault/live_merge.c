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

#include "index/sx_index.h"
#include "support/sxt_fixture.h"
#include "support/sxt_kill.h"
#include "support/sxt_live.h"

void __real_sx_store_unlock(sx_store *store);
void __wrap_sx_store_unlock(sx_store *store);

void __wrap_sx_store_unlock(sx_store *store)
{
	sxt_kill_before();
	__real_sx_store_unlock(store);
	sxt_kill_after();
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
	writer = sxt_writer(index, 10); /* merges would be due in each commit */
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
		writer = sxt_writer(index, 0);
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

struct shared {
	simidx *index;
	atomic_int stop;
	atomic_uint merges;
};

static void *merge_on(void *ctx)
{
	struct shared *shared = ctx;

	while (!atomic_load(&shared->stop)) {
		sxt_merge(shared->index);
		atomic_fetch_add(&shared->merges, 1);
	}
	return NULL;
}

/* A thread merges while another one writes on the same handle. */
START_TEST(test_thread_merges)
{
	unsigned commits = sxt_is_long() ? 2000 : 60;
	struct shared shared = { 0 };
	simidx_reader *reader;
	simidx_writer *writer;
	pthread_t thread;

	make(_i, 9500 + 2 * (uint64_t)_i);
	shared.index = open_with_small_steps();
	reader = sxt_reader(shared.index);
	writer = sxt_writer(shared.index, 30);
	ck_assert_int_eq(pthread_create(&thread, NULL, merge_on, &shared), 0);
	for (unsigned i = 0; i < commits; i++)
		change(writer, reader, 10);
	atomic_store(&shared.stop, 1);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_uint_gt(atomic_load(&shared.merges), 0);
	sxt_live_check_content(&live, shared.index);
	simidx_writer_close(writer);
	simidx_reader_close(reader);
	simidx_close(shared.index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_others_commit_between_transactions, 0, N_VARIANTS },
	{ &test_merger_dies, 0, N_VARIANTS - 1 },
	{ &test_one_merges_at_a_time, 0, 1 },
	{ &test_thread_merges, 0, N_VARIANTS },
};

SXT_SUITE(live_merge, sxt_set_up_path, tear_down);
