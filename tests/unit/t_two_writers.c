/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Two processes write to one index, and wait for each other: nothing that was committed is lost,
 * and of documents that are near to each other one is stored, whichever came first.
 */

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <simidx_info.h>

#include "support/sxt_fixture.h"
#include "support/sxt_model.h"

#define CLUSTERS 200
#define VISITS 15 /* of each cluster, by each writer */
#define STREAM (CLUSTERS * VISITS)

/* What a writer has been told is stored. */
static struct told {
	/* ids of documents that no other is like, in the order of the stream */
	uint64_t own[2][STREAM];
	uint64_t new[2];         /* documents of clusters that were new */
} *told;

static uint64_t centre_of(unsigned cluster)
{
	sxt_rng rng;

	sxt_rng_init(&rng, 9700 + cluster);
	return sxt_rng_u64(&rng);
}

static simidx_doc own_doc(unsigned writer, unsigned i, char label[32])
{
	simidx_doc doc = SIMIDX_DOC_INIT;

	doc.fp = (uint64_t)(writer * STREAM + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
	doc.label = label;
	doc.label_size = (size_t)snprintf(label, 32, "%u of writer %u", i, writer);
	return doc;
}

/* Items [from, to) of the stream. Returns how many of clusters were new. */
static unsigned put_items(simidx_writer *w, unsigned writer, unsigned from, unsigned to,
			  uint64_t *ids)
{
	unsigned n_new = 0;

	for (unsigned i = from; i < to; i++) {
		/* The two go through the clusters in different orders, and meet all the same. */
		unsigned cluster = (writer ? CLUSTERS - 1 - i % CLUSTERS : i) % CLUSTERS;
		simidx_query query = SIMIDX_QUERY_INIT;
		simidx_doc doc = SIMIDX_DOC_INIT;
		char label[32];
		int rc;

		query.fp = doc.fp = centre_of(cluster) ^ UINT64_C(1) << (i + 7 * writer) % 64;
		rc = simidx_writer_put_if_new(w, &doc, &query, NULL, NULL, &sxt_err);
		if (rc != SIMIDX_E_EXISTS)
			sxt_must_sx(rc, SIMIDX_OK);
		n_new += rc == SIMIDX_OK;
		doc = own_doc(writer, i, label);
		sxt_must_ok(simidx_writer_put(w, &doc, &ids[i], &sxt_err));
	}
	return n_new;
}

static int write_stream(sxt_proc *me, void *ctx)
{
	unsigned writer = *(unsigned *)ctx, to;
	simidx_writer *w;
	simidx *index;
	sxt_rng rng;

	sxt_proc_wait(me);
	index = sxt_open(t_path, 0);
	w = sxt_writer(index, 500);
	sxt_rng_init(&rng, 9650 + writer);
	for (unsigned from = 0; from < STREAM; from = to) {
		unsigned n_new;

		to = from + 1 + (unsigned)sxt_rng_below(&rng, 20);
		to = to < STREAM ? to : STREAM;
		n_new = put_items(w, writer, from, to, told->own[writer]);
		if (!sxt_rng_below(&rng, 5)) { /* all of it once more */
			simidx_writer_rollback(w);
			n_new = put_items(w, writer, from, to, told->own[writer]);
		}
		sxt_commit(w);
		told->new[writer] += n_new;
	}
	simidx_writer_close(w);
	simidx_close(index);
	return 0;
}

static void check_own(simidx_reader *reader, unsigned writer)
{
	for (unsigned i = 0; i < STREAM; i++) {
		char label[32];
		simidx_doc doc = own_doc(writer, i, label);
		simidx_match match;

		ck_assert_sx(simidx_reader_find_label(reader, label, doc.label_size, &match,
						      &sxt_err),
			     SIMIDX_OK);
		ck_assert_uint_eq(match.id, told->own[writer][i]);
		ck_assert_uint_eq(match.fp, doc.fp);
	}
}

/* Begin when both wait, or nearly. */
static void run_writers(const simidx_create_options *o)
{
	const struct timespec moment = { .tv_nsec = 20000000 };
	unsigned number[2] = { 0, 1 };
	sxt_proc writer[2];
	simidx_writer *w;
	simidx *index;

	for (unsigned i = 0; i < 2; i++)
		sxt_proc_start(&writer[i], write_stream, &number[i]);
	memset(told, 0, sizeof(*told));
	index = sxt_create(t_path, o);
	w = sxt_writer(index, 0);
	sxt_must_ok(simidx_writer_begin(w, &sxt_err));
	for (unsigned i = 0; i < 2; i++)
		sxt_proc_tell(&writer[i]);
	nanosleep(&moment, NULL);
	simidx_writer_close(w);
	simidx_close(index);
	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(sxt_proc_finish(&writer[i]), 0);
}

static void check_written(void)
{
	simidx *index = sxt_open(t_path, 0);
	simidx_reader *reader = sxt_reader(index);
	simidx_info info = SIMIDX_INFO_INIT;

	/* One of each cluster, and all that stand alone. */
	ck_assert_uint_eq(told->new[0] + told->new[1], CLUSTERS);
	sxt_must_ok(simidx_get_info(index, &info, &sxt_err));
	ck_assert_uint_eq(info.documents, CLUSTERS + 2 * STREAM);
	ck_assert_uint_eq(info.next_id, CLUSTERS + 2 * STREAM);
	for (unsigned i = 0; i < 2; i++)
		check_own(reader, i);
	for (unsigned i = 0; i < CLUSTERS; i++) {
		simidx_results results = SIMIDX_RESULTS_INIT;
		simidx_query query = SIMIDX_QUERY_INIT;

		query.fp = centre_of(i);
		query.radius = 1;
		ck_assert_sx(simidx_reader_search(reader, &query, &results, &sxt_err), SIMIDX_OK);
		ck_assert_uint_eq(results.n, 1);
	}
	sxt_check_sound(index);
	simidx_reader_close(reader);
	simidx_close(index);
}

START_TEST(test_two_writers_lose_nothing)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	unsigned rounds = sxt_is_long() ? 20 : 1, met = 0;

	o.layout = (unsigned)_i;
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sxt_must(told != MAP_FAILED);
	/* On a machine with other work one may be ready before the other has begun. */
	for (unsigned round = 0; round < rounds || (!met && round < 50); round++) {
		run_writers(&o);
		check_written();
		met += told->new[0] && told->new[1];
		sxt_remove(t_path);
	}
	ck_assert_uint_gt(met, 0);
	munmap(told, sizeof(*told));
}
END_TEST

static const sxt_test tests[] = {
	{ &test_two_writers_lose_nothing, 0, 2 },
};

SXT_SUITE(two_writers, sxt_set_up_path, sxt_tear_down);
