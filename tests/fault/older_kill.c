/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A deletion of old documents that is killed at any of its commits, those of its merges included,
 * and done again: what is there then, and the digests of all tables, are those of one that was not
 * disturbed. Linked with --wrap=mdb_txn_commit; its steps and those of merges are small here.
 */

#include <stdlib.h>
#include <string.h>

#include <simidx_walk.h>

#include "index/sx_index.h"
#include "index/sx_snapshot.h"
#include "support/sxt_fixture.h"
#include "support/sxt_kill.h"
#include "support/sxt_model.h"

#define MERGED 900
#define ALL 1200
#define CUT 400u /* times go from 0 to 999 */

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

static const sxt_variant variants[] = {
	{ "4x16", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_TIMES },
	{ "4x16", SIMIDX_LAYOUT_ROWS,
	  SIMIDX_CREATE_TIMES | SIMIDX_CREATE_FP2 | SIMIDX_CREATE_NOTES },
	{ "3x22", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_TIMES | SIMIDX_CREATE_FP2 },
};

#define N_VARIANTS ((int)(sizeof(variants) / sizeof(variants[0])))

static unsigned char *data; /* of the index before */
static size_t data_size;
static sxt_model model, left;
static sxt_rng rng;

static void set_up(void)
{
	sxt_set_up_path();
	sxt_rng_init(&rng, 8800);
}

static void tear_down(void)
{
	sxt_model_free(&model);
	free(left.at);
	free(data);
	sxt_tear_down();
}

static int is_old(const sxt_doc *doc)
{
	return doc->time && doc->time < CUT;
}

static void make(const sxt_variant *v)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index;

	o.plan = v->plan;
	o.layout = v->layout;
	o.flags = v->flags;
	sxt_model_init(&model, 64, v->flags);
	/* Many have one fingerprint. The last one, whose id is the largest, stays. */
	for (unsigned i = 0; i < ALL; i++)
		sxt_model_add(&model, i % 5 ? sxt_rng_u64(&rng) : 77, &rng);
	for (unsigned i = ALL - 4; i < ALL; i++)
		model.at[i].time = CUT;
	index = sxt_create(t_path, &o);
	sxt_model_store(&model, 0, MERGED, index);
	sxt_merge(index);
	sxt_model_store(&model, MERGED, ALL, index);
	simidx_close(index);
	data = sxt_file_read(t_data, &data_size);
	left = model;
	left.at = calloc(ALL, sizeof(*left.at));
	sxt_must(left.at);
	left.n = 0;
	for (unsigned i = 0; i < ALL; i++)
		if (!is_old(&model.at[i]))
			left.at[left.n++] = model.at[i];
	ck_assert_uint_gt(left.n, ALL / 2);
	ck_assert_uint_lt(left.n, ALL * 4 / 5);
}

static simidx *open_with_small_steps(void)
{
	simidx *index = sxt_open(t_path, 0);

	index->tuning.merge_blocks = 1;
	index->tuning.merge_rows = 120;
	index->tuning.older_deleted = 60;
	index->tuning.older_seen = 400;
	return index;
}

/* Ends with SXT_KILLED, or 0 if there are fewer commits. */
static int delete_until_killed(sxt_proc *me, void *ctx)
{
	unsigned argument = *(unsigned *)ctx;
	sxt_kill kill = { .at = argument / 2, .is_after = argument % 2 };
	simidx *index = open_with_small_steps();
	simidx_writer *writer = sxt_writer(index, 130);

	(void)me;
	sxt_kill_begin(&kill);
	sxt_must_ok(simidx_writer_delete_older(writer, CUT, NULL, NULL, NULL, &sxt_err));
	sxt_kill_begin(NULL);
	simidx_writer_close(writer);
	simidx_close(index);
	return 0;
}

/* ---- what is left ---- */

struct digests {
	uint64_t rows[SX_MAX_TABLES + 2], digest[SX_MAX_TABLES + 2];
	unsigned n;
};

static void add_count(struct digests *d, const sx_table_count *count)
{
	d->rows[d->n] = count->rows;
	d->digest[d->n++] = count->digest;
}

static struct digests digests_of(simidx *index)
{
	struct digests d = { .n = 0 };
	sx_snapshot s;

	sxt_must_ok(sx_snapshot_begin(&s, index, &sxt_err));
	for (unsigned t = 0; t < index->schema->plan.n_tables; t++)
		add_count(&d, &s.header.table[t]);
	add_count(&d, &s.header.other[SX_COUNT_POSTINGS]);
	add_count(&d, &s.header.other[SX_COUNT_DOCS]);
	sx_snapshot_end(&s);
	return d;
}

/* Delete what is left to delete; `n` documents of what is there are old. */
static struct digests finish(uint64_t n)
{
	simidx *index = open_with_small_steps();
	simidx_writer *writer = sxt_writer(index, 0);
	uint64_t deleted;
	struct digests d;

	sxt_must_ok(simidx_writer_delete_older(writer, CUT, NULL, NULL, &deleted, &sxt_err));
	sxt_must_eq(deleted, n);
	sxt_must_ok(simidx_writer_merge(writer, &sxt_err));
	simidx_writer_close(writer);
	sxt_check_content(&left, left.n, index);
	d = digests_of(index);
	simidx_close(index);
	return d;
}

static int compare_docs(const void *a, const void *b)
{
	const sxt_doc *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* All that is not old is there, and of the others some. Returns how many old ones there are. */
static uint64_t check_left_over(unsigned *seen)
{
	simidx *index = sxt_open(t_path, 0);
	uint64_t n = 0, n_old = 0;
	simidx_walk *walk;
	simidx_match m;
	int rc;

	*seen |= 1u << sxt_merge_state(index);
	sxt_check_sound(index);
	sxt_must_ok(simidx_walk_open(index, &walk, &sxt_err));
	while (!(rc = simidx_walk_next(walk, &m, &sxt_err))) {
		sxt_doc key = { .id = m.id };
		const sxt_doc *doc = bsearch(&key, model.at, model.n, sizeof(key), compare_docs);

		sxt_must(doc && doc->fp == m.fp && doc->time == m.time && doc->fp2 == m.fp2);
		sxt_must_eq(doc->label_size, m.label_size);
		n_old += (uint64_t)is_old(doc);
		n++;
	}
	sxt_must_eq(rc, SIMIDX_E_END);
	sxt_must_eq(n - n_old, left.n);
	simidx_walk_close(walk);
	simidx_close(index);
	return n_old;
}

static void restore(void)
{
	sxt_file_write(t_data, data, data_size);
}

/* Commits that the whole takes. */
static unsigned count_commits(void)
{
	unsigned n = 0, argument;
	int status = SXT_KILLED;

	while (status == SXT_KILLED) {
		argument = 2 * ++n;
		restore();
		status = sxt_proc_run(delete_until_killed, &argument);
	}
	ck_assert_int_eq(status, 0);
	return n - 1;
}

START_TEST(test_killed_at_every_commit)
{
	unsigned n, seen = 0, step = sxt_is_long() ? 1 : 3;
	struct digests want, got;
	uint64_t n_old, parts = 0;

	make(&variants[_i]);
	want = finish(ALL - left.n);
	qsort(model.at, model.n, sizeof(*model.at), compare_docs);
	n = count_commits();
	ck_assert_uint_gt(n, 20);
	for (unsigned at = 2; at < 2 * (n + 1); at += step) {
		restore();
		ck_assert_int_eq(sxt_proc_run(delete_until_killed, &at), SXT_KILLED);
		n_old = check_left_over(&seen);
		parts += n_old && n_old < ALL - left.n;
		if (at % 2) { /* killed again */
			unsigned again = 2 + (unsigned)sxt_rng_below(&rng, 2 * n);
			int status = sxt_proc_run(delete_until_killed, &again);

			ck_assert(status == 0 || status == SXT_KILLED);
			n_old = check_left_over(&seen);
		}
		got = finish(n_old);
		ck_assert(!memcmp(&got, &want, sizeof(got)));
	}
	ck_assert_uint_gt(parts, 5);
	ck_assert_uint_eq(seen, 1u << 0 | 1u << SX_STATE_MERGING |
					1u << (SX_STATE_MERGING | SX_STATE_PARTIAL));
}
END_TEST

static const sxt_test tests[] = {
	{ &test_killed_at_every_commit, 0, N_VARIANTS },
};

SXT_SUITE(older_kill, set_up, tear_down);
