/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A store that several threads of one process use.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "support/sxt_fixture.h"
#include "support/sxt_store.h"

#define THREADS 4

static atomic_int failures, stop, reads;

/* Commits go on until there have been so many reads, and fail if these do not come. */
#define MIN_READS 1000
#define MOST_COMMITS 50000

/* Every snapshot must hold the same value under both keys. */
static void *read_pairs(void *arg)
{
	sx_dbi dbi = *(sx_dbi *)arg;
	sx_txn *txn = t_read(t_store);

	while (!atomic_load(&stop)) {
		sx_slice a, b;

		atomic_fetch_add(&reads, 1);
		if (sx_dbi_get(txn, dbi, t_slice("a"), &a, NULL) ||
		    sx_dbi_get(txn, dbi, t_slice("b"), &b, NULL) || a.size != b.size ||
		    memcmp(a.data, b.data, a.size))
			atomic_fetch_add(&failures, 1);
		sx_txn_reset(txn);
		if (sx_txn_renew(txn, NULL))
			atomic_fetch_add(&failures, 1);
	}
	sx_txn_abort(txn);
	return NULL;
}

START_TEST(test_readers_share_a_table)
{
	pthread_t threads[THREADS];
	sx_txn *txn;
	sx_dbi dbi;
	int i;

	t_put(t_store, "b", "1");
	txn = t_read(t_store);
	dbi = t_table(txn, 0);
	ck_assert_sx(sx_txn_commit(txn, &sxt_err), SIMIDX_OK);
	for (i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, read_pairs, &dbi), 0);
	for (i = 0; i < 50 || atomic_load(&reads) < MIN_READS; i++) {
		char text[16];

		sxt_must_lt(i, MOST_COMMITS);
		snprintf(text, sizeof(text), "%d", i);
		txn = t_write(t_store);
		ck_assert_sx(sx_dbi_put(txn, dbi, t_slice("a"), t_slice(text), &sxt_err), 0);
		ck_assert_sx(sx_dbi_put(txn, dbi, t_slice("b"), t_slice(text), &sxt_err), 0);
		t_commit(t_store, txn);
	}
	atomic_store(&stop, 1);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(atomic_load(&failures), 0);
}
END_TEST

/* The content of a snapshot is the one that its number says. */
static void *read_number(void *arg)
{
	sx_dbi dbi = *(sx_dbi *)arg;
	sx_txn *txn = t_read(t_store);

	while (!atomic_load(&stop)) {
		uint64_t number;
		sx_slice value;

		atomic_fetch_add(&reads, 1);
		if (sx_dbi_get(txn, dbi, t_slice("n"), &value, NULL)) {
			atomic_fetch_add(&failures, 1);
		} else {
			memcpy(&number, value.data, sizeof(number));
			if (number != sx_txn_id(txn))
				atomic_fetch_add(&failures, 1);
		}
		sx_txn_reset(txn);
		if (sx_txn_renew(txn, NULL))
			atomic_fetch_add(&failures, 1);
	}
	sx_txn_abort(txn);
	return NULL;
}

static void put_number(sx_txn *txn, sx_dbi dbi)
{
	uint64_t number = sx_txn_id(txn);
	sx_slice value = { &number, sizeof(number) };

	sxt_must_ok(sx_dbi_put(txn, dbi, t_slice("n"), value, &sxt_err));
	sxt_must_ok(sx_txn_commit(txn, &sxt_err));
}

/*
 * More readers than cores and commits without a pause: now and then a reader stands still for
 * several commits while it takes its snapshot.
 */
START_TEST(test_more_readers_than_cores)
{
	int commits = sxt_is_long() ? 2000000 : 30000;
	pthread_t threads[THREADS];
	sx_txn *txn = t_write(t_store);
	sx_dbi dbi = t_table(txn, 0);

	put_number(txn, dbi);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, read_number, &dbi), 0);
	for (int i = 0; i < commits || atomic_load(&reads) < MIN_READS; i++) {
		sxt_must_lt(i, commits + MOST_COMMITS);
		sxt_must_ok(sx_txn_begin_write(t_store, 1, &txn, &sxt_err));
		put_number(txn, dbi);
	}
	sx_store_unlock(t_store);
	atomic_store(&stop, 1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(atomic_load(&failures), 0);
}
END_TEST

/* Open and close the store, find a table, take the write lock; all at once. */
static void *use_all(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 30; i++) {
		sx_store *mine = t_open(t_path, 0);
		sx_slice value;
		sx_txn *txn;
		sx_dbi dbi;

		sx_dbi_lock(mine);
		txn = t_read(mine);
		if (sx_dbi_get(txn, t_table(txn, 0), t_slice("n"), &value, NULL))
			atomic_fetch_add(&failures, 1);
		if (i % 2 ? sx_txn_commit(txn, NULL) : (sx_txn_abort(txn), 0))
			atomic_fetch_add(&failures, 1);
		sx_dbi_unlock(mine);
		sxt_must_ok(sx_store_lock(mine, -1, NULL));
		sx_dbi_lock(mine);
		sxt_must_ok(sx_txn_begin_write(mine, 0, &txn, NULL));
		dbi = t_table(txn, 0);
		if (!sx_dbi_get(txn, dbi, t_slice("n"), &value, NULL)) {
			int n;

			memcpy(&n, value.data, sizeof(n));
			n++;
			value = (sx_slice){ &n, sizeof(n) };
			if (sx_dbi_put(txn, dbi, t_slice("n"), value, NULL))
				atomic_fetch_add(&failures, 1);
		}
		t_commit(mine, txn);
		sx_dbi_unlock(mine);
		sx_store_close(mine);
	}
	return NULL;
}

START_TEST(test_all_operations_at_once)
{
	pthread_t threads[THREADS];
	sx_slice value;
	sx_txn *txn;
	int i, n = 0;

	value = (sx_slice){ &n, sizeof(n) };
	txn = t_write(t_store);
	ck_assert_sx(sx_dbi_put(txn, t_table(txn, 0), t_slice("n"), value, &sxt_err), SIMIDX_OK);
	t_commit(t_store, txn);
	sx_store_close(t_store);
	t_store = NULL;
	for (i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, use_all, NULL), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(atomic_load(&failures), 0);
	t_store = t_open(t_path, 0);
	txn = t_read(t_store);
	ck_assert_sx(sx_dbi_get(txn, t_table(txn, 0), t_slice("n"), &value, &sxt_err), SIMIDX_OK);
	memcpy(&n, value.data, sizeof(n));
	ck_assert_int_eq(n, THREADS * 30);
	sx_txn_abort(txn);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_readers_share_a_table, 0, 1 },
	{ &test_more_readers_than_cores, 0, 1 },
	{ &test_all_operations_at_once, 0, 1 },
};

SXT_SUITE(store_threads, sxt_set_up_store, sxt_tear_down);
