/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A merge that is killed at any of its commits, or watched at each of them, changes no answer,
 * and the next writer finishes it. Linked with --wrap=mdb_txn_commit, so that a child can end
 * or wait right before or behind a commit; the steps of a merge are made small for it.
 */

#include <stdlib.h>
#include <string.h>

#include <simidx_info.h>

#include "index/sx_index.h"
#include "support/sxt_fixture.h"
#include "support/sxt_kill.h"
#include "support/sxt_model.h"

#define MERGED 1500 /* documents that are merged before */
#define ALL 2400    /* all documents, fresh ones included, that the merge is about */
#define LATER 20    /* put by the next writer */
#define PAIRS 15    /* every so many fresh documents one is near to a merged one */

struct MDB_txn;

int __real_mdb_txn_commit(struct MDB_txn *txn);
int __wrap_mdb_txn_commit(struct MDB_txn *txn);

int __wrap_mdb_txn_commit(struct MDB_txn *txn)
{
	int rc;

	sxt_kill_before();
	rc = __real_mdb_txn_commit(txn);
	sxt_kill_after();
	return rc;
}

static unsigned char *data; /* of the index before the merge */
static size_t data_size;
static sxt_model model;
static sxt_rng rng;

static void set_up(void)
{
	sxt_set_up_path();
	sxt_rng_init(&rng, 1);
}

static void tear_down(void)
{
	sxt_model_free(&model);
	free(data);
	sxt_tear_down();
}

/* The merged one: while tables are merged, one may have the other too, and the next not yet. */
static uint64_t other_of_pair(size_t i)
{
	return model.at[i - MERGED].fp;
}

static uint64_t make_fp(size_t i, uint64_t centre)
{
	/* Among others, many documents on one fingerprint: postings alone repeat keys. */
	if (i % 7 == 0)
		return 12345;
	if (i >= MERGED && i % PAIRS == 0)
		return sxt_rng_flip(&rng, other_of_pair(i), model.bits, 2);
	return sxt_rng_flip(&rng, centre, model.bits, i % 4);
}

static void make(unsigned layout, unsigned flags, const char *plan)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	uint64_t centre = 0;
	simidx *index;

	o.layout = layout;
	o.flags = flags;
	o.plan = plan;
	o.bits = 48;
	sxt_model_init(&model, o.bits, flags);
	for (unsigned i = 0; i < ALL + LATER; i++) {
		if (i % 4 == 0)
			centre = sxt_rng_u64(&rng) >> 16;
		sxt_model_add(&model, make_fp(i, centre), &rng);
	}
	index = sxt_create(t_path, &o);
	sxt_model_store(&model, 0, MERGED, index);
	sxt_merge(index);
	sxt_model_store(&model, MERGED, ALL, index);
	simidx_close(index);
	data = sxt_file_read(t_data, &data_size);
}

/* Back to before the merge. */
static void restore(void)
{
	sxt_file_write(t_data, data, data_size);
}

static simidx *open_with_small_steps(void)
{
	simidx *index = sxt_open(t_path, 0);

	index->tuning.merge_blocks = 1;
	index->tuning.merge_rows = 250;
	return index;
}

/* Ends with SXT_KILLED, or 0 if the merge needs fewer commits. */
static int merge_until_killed(sxt_proc *me, void *ctx)
{
	unsigned argument = *(unsigned *)ctx;
	sxt_kill kill = { .at = argument / 2, .is_after = argument % 2 };
	simidx *index = open_with_small_steps();

	(void)me;
	sxt_kill_begin(&kill);
	sxt_merge(index);
	sxt_kill_begin(NULL);
	simidx_close(index);
	return 0;
}

static void search_one(const sxt_model *m, size_t n, simidx_reader *reader, uint64_t fp,
		       uint64_t limit)
{
	simidx_query query = SIMIDX_QUERY_INIT;
	size_t n_hits;
	sxt_hit *hits;

	query.fp = fp;
	query.limit = limit;
	query.flags = SIMIDX_QUERY_LABELS;
	hits = sxt_model_near(m, n, query.fp, query.radius, &n_hits);
	sxt_check_limit(m, hits, n_hits, reader, &query);
	free(hits);
}

static void search(const sxt_model *m, size_t n, simidx_reader *reader)
{
	for (unsigned i = 0; i < 12; i++) {
		const sxt_doc *doc = &m->at[sxt_rng_below(&rng, n)];

		search_one(m, n, reader, i ? sxt_rng_flip(&rng, doc->fp, m->bits, i % 4) : 12345,
			   i % 5);
	}
	/* Between two of a pair, a bit from either. */
	for (size_t i = MERGED; i < ALL; i += PAIRS) {
		uint64_t differ = m->at[i].fp ^ other_of_pair(i);

		search_one(m, n, reader, m->at[i].fp ^ (differ & (0 - differ)), 0);
	}
}

static void check(simidx *index, size_t n)
{
	simidx_reader *reader = sxt_reader(index);

	search(&model, n, reader);
	simidx_reader_close(reader);
	sxt_check_content(&model, n, index);
}

/* Check what a killed merge has left; `seen` collects the states of headers. */
static void check_left_over(unsigned *seen)
{
	simidx *index = sxt_open(t_path, 0);

	*seen |= 1u << sxt_merge_state(index);
	check(index, ALL);
	simidx_close(index);
}

/* The next writer finishes it, with steps of another size. */
static void check_next_writer(void)
{
	simidx_info info = SIMIDX_INFO_INIT;
	simidx *index = sxt_open(t_path, 0);

	sxt_model_store(&model, ALL, ALL + LATER, index);
	ck_assert_uint_eq(sxt_merge_state(index), 0);
	ck_assert_sx(simidx_get_info(index, &info, &sxt_err), SIMIDX_OK);
	ck_assert_uint_ge(info.fresh_rows, LATER);
	check(index, ALL + LATER);
	sxt_merge(index);
	check(index, ALL + LATER);
	simidx_close(index);
}

/* Whether the merge takes n commits at least. */
static int takes_commits(unsigned n)
{
	unsigned argument = 2 * n;
	int status;

	restore();
	status = sxt_proc_run(merge_until_killed, &argument);
	ck_assert(status == 0 || status == SXT_KILLED);
	return status == SXT_KILLED;
}

/* Commits that the whole merge takes. */
static unsigned count_commits(void)
{
	unsigned takes = 1, more = 2;

	for (; takes_commits(more); more *= 2)
		takes = more;
	while (more - takes > 1) {
		unsigned middle = takes + (more - takes) / 2;

		if (takes_commits(middle))
			takes = middle;
		else
			more = middle;
	}
	return takes;
}

static const sxt_variant variants[] = {
	{ "4x16", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_FP2 },
	{ "4x16", SIMIDX_LAYOUT_ROWS, SIMIDX_CREATE_FP2 },
	{ "10x26", SIMIDX_LAYOUT_BLOCKS, 0 },
	{ "4x16", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_NO_IDS },
	{ "4x16", SIMIDX_LAYOUT_ROWS, SIMIDX_CREATE_NO_IDS },
};

#define N_VARIANTS ((int)(sizeof(variants) / sizeof(variants[0])))

static void make_variant(int i)
{
	make(variants[i].layout, variants[i].flags, variants[i].plan);
}

/* All states must have been met, or the test does not test what it says. */
static void check_states_seen(int variant, unsigned seen)
{
	unsigned all = 1u << 0 | 1u << SX_STATE_MERGING;

	if (!(variants[variant].flags & SIMIDX_CREATE_NO_IDS))
		all |= 1u << (SX_STATE_MERGING | SX_STATE_PARTIAL);
	ck_assert_uint_eq(seen, all);
}

START_TEST(test_killed_at_every_commit)
{
	unsigned n, seen = 0, step;

	make_variant(_i);
	n = count_commits();
	ck_assert_uint_gt(n, 2 * 4);
	/* With ten tables there are many, most of them alike. */
	step = sxt_is_long() || n < 50 ? 1 : 3;
	for (unsigned at = 2; at < 2 * (n + 1); at += step) {
		restore();
		ck_assert_int_eq(sxt_proc_run(merge_until_killed, &at), SXT_KILLED);
		check_left_over(&seen);
		if (at % 3 == 0) { /* killed again while it is being finished */
			unsigned again = 2 + (unsigned)sxt_rng_below(&rng, 2 * n);
			int status = sxt_proc_run(merge_until_killed, &again);

			ck_assert(status == 0 || status == SXT_KILLED);
			check_left_over(&seen);
		}
		check_next_writer();
	}
	check_states_seen(_i, seen);
}
END_TEST

static int merge_watched(sxt_proc *me, void *ctx)
{
	sxt_kill kill = { .watcher = me };
	simidx *index = open_with_small_steps();

	(void)ctx;
	sxt_proc_wait(me);
	sxt_kill_begin(&kill);
	sxt_merge(index);
	simidx_close(index);
	return 0;
}

/* A reader that lives through the merge sees every state that is committed, and no other. */
START_TEST(test_reader_sees_committed_states_only)
{
	simidx_reader *reader;
	unsigned seen = 0;
	sxt_proc child;
	simidx *index;

	make_variant(_i);
	restore();
	sxt_proc_start(&child, merge_watched, NULL);
	index = sxt_open(t_path, 0);
	reader = sxt_reader(index);
	search(&model, ALL, reader);
	do {
		seen |= 1u << sxt_merge_state(index);
		search(&model, ALL, reader);
		sxt_proc_tell(&child);
	} while (!sxt_proc_wait(&child));
	ck_assert_int_eq(sxt_proc_finish(&child), 0);
	check_states_seen(_i, seen);
	search(&model, ALL, reader);
	simidx_reader_close(reader);
	check(index, ALL);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_killed_at_every_commit, 0, N_VARIANTS },
	{ &test_reader_sees_committed_states_only, 0, N_VARIANTS },
};

SXT_SUITE(merge_kill, set_up, tear_down);
