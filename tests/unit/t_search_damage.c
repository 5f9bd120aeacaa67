/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Searching a file in which bits of some block have changed, through the public interface: an
 * error that names a table, or an answer, which is the right one for all queries but the few
 * that read that block. And where a batch ends in a file with many such blocks.
 */

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simidx_info.h>

#include "support/sxt_batch.h"
#include "support/sxt_fixture.h"
#include "support/sxt_model.h"
#include "support/sxt_query.h"

#define DOCUMENTS 12000
#define QUERIES 60
#define BATCH 10500 /* enough to be sorted by table */

/* LMDB's page header: flags at byte 10, among them "overflow page", and 16 bytes in all. */
#define FLAGS_AT 10
#define OVERFLOW_PAGE 4
#define PAGE_HEADER 16

struct answer {
	size_t n;
	uint64_t sum; /* of the ids */
};

static sxt_model model;
static sxt_rng rng;
static int fd;
static size_t page_size;
static off_t *blocks; /* where pages with blocks begin */
static size_t n_blocks;
static uint64_t asked[QUERIES];
static struct answer truth[QUERIES];
static unsigned char *page, *changed;

static void find_blocks(void)
{
	char *name = sxt_path(t_path, "data.mdb");
	size_t size;
	unsigned char *bytes = sxt_file_read(name, &size);

	blocks = malloc(size / page_size * sizeof(*blocks));
	n_blocks = 0;
	for (size_t at = 2 * page_size; at + page_size <= size; at += page_size)
		if (bytes[at + FLAGS_AT] == OVERFLOW_PAGE && !bytes[at + FLAGS_AT + 1])
			blocks[n_blocks++] = (off_t)at;
	ck_assert_uint_gt(n_blocks, 100);
	fd = open(name, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	free(bytes);
	free(name);
}

static uint64_t any_query(void)
{
	return sxt_rng_flip(&rng, model.at[sxt_rng_below(&rng, model.n)].fp, 64,
			    (unsigned)sxt_rng_below(&rng, 4));
}

static void make_queries(void)
{
	for (unsigned i = 0; i < QUERIES; i++) {
		simidx_query q = SIMIDX_QUERY_INIT;
		sxt_found *found;

		asked[i] = q.fp = any_query();
		found = sxt_model_find(&model, model.n, &q, &truth[i].n);
		truth[i].sum = 0;
		for (size_t j = 0; j < truth[i].n; j++)
			truth[i].sum += found[j].doc->id;
		free(found);
	}
}

static void set_up(void)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_info info = SIMIDX_INFO_INIT;
	simidx *index;

	sxt_set_up_path();
	sxt_rng_init(&rng, 4711);
	o.flags = SIMIDX_CREATE_FP2;
	sxt_model_init(&model, 64, o.flags);
	while (model.n < DOCUMENTS)
		sxt_model_add(&model, model.n % 4 ? sxt_rng_u64(&rng) : model.n ? any_query() : 0,
			      &rng);
	index = sxt_create(t_path, &o);
	sxt_model_store(&model, 0, model.n, index);
	sxt_merge(index);
	ck_assert_sx(simidx_get_info(index, &info, &sxt_err), SIMIDX_OK);
	page_size = (size_t)info.page_bytes;
	simidx_close(index);
	page = malloc(page_size);
	changed = malloc(page_size);
	find_blocks();
	make_queries();
}

static void tear_down(void)
{
	close(fd);
	free(blocks);
	free(page);
	free(changed);
	sxt_model_free(&model);
	sxt_tear_down();
}

static simidx *open_with(uint64_t block_index_bytes, const char *kernel)
{
	simidx_open_options o = SIMIDX_OPEN_OPTIONS_INIT;
	simidx *index;

	o.block_index_bytes = block_index_bytes;
	o.kernel = kernel;
	ck_assert_sx(simidx_open(t_path, &o, &index, &sxt_err), SIMIDX_OK);
	return index;
}

/* The map is of the file, so an index that is open sees what is written. */
static off_t damage(void)
{
	off_t at = blocks[sxt_rng_below(&rng, n_blocks)];
	unsigned flips = (unsigned)1 << sxt_rng_below(&rng, 8);

	ck_assert_int_eq(pread(fd, page, page_size, at), (ssize_t)page_size);
	memcpy(changed, page, page_size);
	while (flips--) {
		/* Every other time in the first bytes, which say how large everything is. */
		size_t room = flips % 2 ? 16 : page_size - PAGE_HEADER;

		changed[PAGE_HEADER + sxt_rng_below(&rng, room)] ^=
			(unsigned char)(1u << sxt_rng_below(&rng, 8));
	}
	ck_assert_int_eq(pwrite(fd, changed, page_size, at), (ssize_t)page_size);
	return at;
}

static void repair(off_t at)
{
	ck_assert_int_eq(pwrite(fd, page, page_size, at), (ssize_t)page_size);
}

static int is_right(const simidx_results *r, const struct answer *want)
{
	struct answer got = { r->n, 0 };

	for (size_t i = 0; i < r->n; i++)
		got.sum += r->matches[i].id;
	return got.n == want->n && got.sum == want->sum;
}

static void check_code(int rc)
{
	ck_assert_msg(!rc || (rc == SIMIDX_E_CORRUPT && strstr(sxt_err.text, "table ")), "%d: %s",
		      rc, sxt_err.text);
}

/* Queries that are not answered as they should be. */
static unsigned count_wrong(simidx_reader *reader)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < QUERIES; i++) {
		simidx_results r = SIMIDX_RESULTS_INIT;
		simidx_query q = SIMIDX_QUERY_INIT;
		int rc;

		q.fp = asked[i];
		rc = simidx_reader_search(reader, &q, &r, &sxt_err);
		check_code(rc);
		wrong += rc || !is_right(&r, &truth[i]);
	}
	return wrong;
}

/* Of other kinds of queries only that they end, and how. */
static void ask_otherwise(simidx_reader *reader)
{
	uint8_t weights[64];

	for (unsigned b = 0; b < 64; b++)
		weights[b] = (uint8_t)sxt_rng_below(&rng, 40);
	for (unsigned i = 0; i < 24; i++) {
		simidx_results r = SIMIDX_RESULTS_INIT;
		simidx_query q = SIMIDX_QUERY_INIT;

		q.fp = asked[i % QUERIES];
		q.mode = i % 4;
		q.limit = 1 + sxt_rng_below(&rng, 30);
		q.radius = (unsigned)sxt_rng_below(&rng, i % 5 ? 6 : 60);
		q.flags = SIMIDX_QUERY_LABELS | (i % 3 ? 0 : SIMIDX_QUERY_FP2);
		q.radius2 = 40;
		q.weights = i % 7 ? NULL : weights;
		q.probes = i % 7 ? 0 : 20;
		check_code(simidx_reader_search(reader, &q, &r, &sxt_err));
		for (size_t j = 0; j < r.n; j++) /* to read it all */
			ck_assert_uint_le(r.matches[j].distance, 64);
	}
}

/* By block indexes with the best kernel, and by the tree with the plainest. */
START_TEST(test_damage_of_a_block_reaches_few_queries)
{
	unsigned rounds = sxt_is_long() ? 5000 : 150;
	simidx *index[2] = { open_with(0, NULL), open_with(SIMIDX_BLOCK_INDEX_NEVER, "scalar") };
	simidx_reader *reader[2] = { sxt_reader(index[0]), sxt_reader(index[1]) };
	unsigned failed = 0;

	for (unsigned i = 0; i < rounds; i++) {
		off_t at = damage();

		for (unsigned how = 0; how < 2; how++) {
			unsigned wrong = count_wrong(reader[how]);

			/* Of each table a query reads one block in 15 or more. */
			ck_assert_uint_lt(wrong, QUERIES / 2);
			failed += wrong;
			ask_otherwise(reader[how]);
		}
		repair(at);
	}
	ck_assert_uint_gt(failed, 0);
	for (unsigned how = 0; how < 2; how++) {
		ck_assert_uint_eq(count_wrong(reader[how]), 0);
		simidx_reader_close(reader[how]);
		sxt_check_sound(index[how]);
		simidx_close(index[how]);
	}
}
END_TEST

struct delivered {
	const struct answer *want; /* NULL: to be noted in got */
	struct answer *got;
	size_t n, wrong; /* under the lock */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int deliver(void *ctx, size_t i, const simidx_results *r)
{
	struct delivered *d = ctx;

	if (d->want) {
		pthread_mutex_lock(&lock);
		d->n++;
		d->wrong += !is_right(r, &d->want[i]);
		pthread_mutex_unlock(&lock);
		return 0;
	}
	d->got[i].n = r->n;
	for (size_t j = 0; j < r->n; j++)
		d->got[i].sum += r->matches[j].id;
	return 0;
}

/* Many at once: what is delivered before an error is right but for the queries of that block. */
START_TEST(test_damage_of_a_block_in_a_batch)
{
	unsigned rounds = sxt_is_long() ? 200 : 12;
	simidx *index = open_with(0, NULL);
	simidx_reader *reader = sxt_reader(index);
	simidx_query *queries = malloc(BATCH * sizeof(*queries));
	struct answer *right = calloc(BATCH, sizeof(*right));
	simidx_batch_options o = SIMIDX_BATCH_OPTIONS_INIT;
	struct delivered d = { NULL, right, 0, 0 };
	unsigned reached = 0, cut = 0;

	for (size_t i = 0; i < BATCH; i++) {
		queries[i] = (simidx_query)SIMIDX_QUERY_INIT;
		queries[i].fp = any_query();
	}
	o.threads = 1;
	o.deliver = deliver;
	o.ctx = &d;
	ck_assert_sx(simidx_reader_search_batch(reader, queries, BATCH, &o, &sxt_err), SIMIDX_OK);
	/* Until some damage was found after answers to other queries, and some went unnoticed. */
	for (unsigned i = 0; i < rounds || !cut || !reached; i++) {
		off_t at = damage();
		int rc;

		ck_assert_uint_lt(i, rounds + 1000);
		o.threads = 1 + i % 2;
		d = (struct delivered){ right, NULL, 0, 0 };
		rc = simidx_reader_search_batch(reader, queries, BATCH, &o, &sxt_err);
		check_code(rc);
		ck_assert_uint_le(d.wrong, BATCH / 2);
		if (rc)
			ck_assert_uint_lt(d.n, BATCH);
		else
			ck_assert_uint_eq(d.n, BATCH);
		reached += !rc && d.wrong;
		cut += rc && d.n;
		repair(at);
	}
	d = (struct delivered){ right, NULL, 0, 0 };
	ck_assert_sx(simidx_reader_search_batch(reader, queries, BATCH, &o, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(d.n, BATCH);
	ck_assert_uint_eq(d.wrong, 0);
	simidx_reader_close(reader);
	simidx_close(index);
	free(queries);
	free(right);
}
END_TEST

/* Make one in `every` blocks impossible: it has no entries. */
static void damage_every(size_t every)
{
	for (size_t i = every - 1; i < n_blocks; i += every)
		ck_assert_int_eq(pwrite(fd, "\0\0\0\0", 4, blocks[i] + PAGE_HEADER + 4), 4);
}

static size_t first_failure(simidx *index, const simidx_query *q, size_t n)
{
	simidx_reader *reader = sxt_reader(index);
	simidx_results results = SIMIDX_RESULTS_INIT;
	size_t i = 0;

	while (i < n && !simidx_reader_search(reader, &q[i], &results, &sxt_err))
		i++;
	ck_assert_uint_lt(i, n);
	ck_assert_int_eq(sxt_err.code, SIMIDX_E_CORRUPT);
	simidx_reader_close(reader);
	return i;
}

/* A batch fails where a single query does, in one thread after the answers to those before it. */
START_TEST(test_batch_fails_where_a_query_does)
{
	simidx *index = open_with(0, NULL);
	simidx_query queries[300];
	const size_t n = 300;

	for (size_t i = 0; i < n; i++) {
		queries[i] = (simidx_query)SIMIDX_QUERY_INIT;
		queries[i].fp = i % 3 ? any_query() : sxt_rng_u64(&rng);
	}
	damage_every(_i ? 1 : 5);
	for (int sorted = 0; sorted < 2; sorted++) {
		index->tuning.batch_sorted_from = sorted ? 1 : SIZE_MAX;
		for (size_t from = 0; from < 100; from += 9)
			for (unsigned threads = 1; threads <= 4; threads++) {
				size_t end = first_failure(index, queries + from, n - from);
				struct t_batch c = { 0 };

				ck_assert_sx(t_batch_run(index, queries + from, n - from, threads,
							 &c),
					     SIMIDX_E_CORRUPT);
				ck_assert(threads > 1 || c.answers == end);
			}
	}
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_damage_of_a_block_reaches_few_queries, 0, 1 },
	{ &test_damage_of_a_block_in_a_batch, 0, 1 },
	{ &test_batch_fails_where_a_query_does, 0, 2 },
};

SXT_SUITE(search_damage, set_up, tear_down);
