/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What searches find and cost where many documents have one fingerprint, or many fingerprints share
 * a prefix.
 */

#include <simidx_info.h>

#include "local/sx_local_reader.h"
#include "support/sxt_search.h"

static const sx_local_search *local(const simidx_reader *reader)
{
	return reader->search;
}

#define HOT 60000
#define EVEN 60000

/* All documents on one fingerprint, in both tiers: postings of many blocks. */
START_TEST(test_all_on_one_fingerprint)
{
	enum { N = 100000 };
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_results r;
	struct t_search s;
	uint64_t fp;

	t_search_init(&s, _i * SXT_N_PLANS, 0);
	fp = t_search_any(&s);
	while (s.model.n < N)
		t_search_add(&s, fp);
	t_search_store(&s, N - 500);
	q.radius = 2;
	q.fp = sxt_rng_flip(&s.rng, fp, s.bits, 2);
	for (int on = 0; on < 2; on++) {
		t_search_block_indexes(&s, on);
		for (q.mode = SIMIDX_ALL; q.mode <= SIMIDX_NEAREST; q.mode++) {
			q.limit = q.mode == SIMIDX_NEAREST ? 5 : 0;
			sxt_check_query(&s.model, N, s.reader, &q, &r);
			sxt_must_eq(r.fingerprints, 1);
			sxt_must_eq(r.n, q.mode == SIMIDX_ALL     ? N
					 : q.mode == SIMIDX_COUNT ? 0
					 : q.mode == SIMIDX_FIRST ? 1
								  : 5);
			if (q.mode == SIMIDX_COUNT)
				sxt_must_eq(r.count, N);
		}
		/* Neither tier has all rows in one slice, nor a hit for each. */
		sxt_must_lt(local(s.reader)->rows.cap, N / 10);
		sxt_must_lt(local(s.reader)->documents.rows.cap, N / 10);
		sxt_must_lt(s.reader->hits.cap, 100);
	}
	t_search_end(&s);
}
END_TEST

/* Of a fingerprint in many blocks a limit reads no more than it needs. */
START_TEST(test_limit_reads_no_more_than_needed)
{
	enum { N = 300000, FEW = 200 }; /* a block has more documents */
	static const uint64_t limits[] = { 1, 100, 5000, N - 1, 0 };
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_results r = SIMIDX_RESULTS_INIT;
	struct t_search s;

	t_search_init(&s, 0, 0);
	q.fp = t_search_any(&s);
	while (s.model.n < N)
		t_search_add(&s, q.fp);
	t_search_store(&s, N);
	t_search_block_indexes(&s, 1);
	ck_assert_ptr_nonnull(s.reader->view.table[SX_VIEW_POSTINGS].blocks);
	ck_assert_sx(simidx_reader_search(s.reader, &q, &r, &sxt_err), SIMIDX_OK);
	ck_assert_uint_gt(local(s.reader)->documents.blocks, 2 * SX_LOOKUP_SLICES);
	for (q.mode = SIMIDX_ALL; q.mode <= SIMIDX_NEAREST; q.mode++)
		for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
			q.limit = limits[i];
			if (!q.limit && q.mode == SIMIDX_NEAREST)
				continue;
			sxt_check_query(&s.model, N, s.reader, &q, &r);
			ck_assert_uint_eq(r.n, q.mode == SIMIDX_COUNT	? 0
					       : q.mode == SIMIDX_FIRST ? 1
					       : q.limit		? q.limit
									: N);
			if (q.mode != SIMIDX_COUNT && q.limit)
				ck_assert_uint_le(local(s.reader)->documents.blocks,
						  3 + r.n / FEW);
		}
	t_search_end(&s);
}
END_TEST

/* 60,000 fingerprints in one prefix of one table, and as many spread evenly. */
static void make_hot(struct t_search *s, uint64_t hot)
{
	t_search_init(s, 0, SIMIDX_CREATE_NO_IDS);
	for (unsigned i = 0; i < HOT; i++)
		t_search_add(s, (t_search_any(s) >> 16) | hot << 48);
	for (unsigned i = 0; i < EVEN; i++)
		t_search_add(s, t_search_any(s));
	t_search_store(s, s->model.n);
}

static void sum_costs(struct t_search *s, int into_hot, unsigned k, simidx_results *sum)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_results r;

	memset(sum, 0, sizeof(*sum));
	q.radius = k;
	for (unsigned i = 0; i < 20; i++) {
		q.fp = sxt_rng_flip(&s->rng,
				    s->model.at[(into_hot ? 0 : HOT) + sxt_rng_below(&s->rng, EVEN)]
					    .fp,
				    48, k);
		sxt_check_query(&s->model, s->model.n, s->reader, &q, &r);
		ck_assert_int_eq(r.complete_to, k);
		sum->candidates += r.candidates;
		sum->blocks += r.blocks;
		sum->probes += r.probes;
	}
}

/* A query into it goes round it, one elsewhere does not see it. */
START_TEST(test_query_goes_round_hot_prefix)
{
	simidx_results hot, cold;
	struct t_search s;

	make_hot(&s, 0xbeef);
	t_search_block_indexes(&s, 1);
	for (unsigned k = 1; k <= 3; k++) {
		sum_costs(&s, 0, k, &cold);
		/* k + 1 prefixes, of which one more than is expected by chance may be hit, and
		   what lies beside them in the same parts of blocks. */
		ck_assert_uint_eq(cold.probes, 20 * (k + 1));
		ck_assert_uint_lt(cold.candidates, 20 * (k + 1) * 32);
		sum_costs(&s, 1, k, &hot);
		ck_assert_msg(hot.candidates < 20 * HOT / 20, "%llu candidates, k %u",
			      (unsigned long long)hot.candidates, k);
		ck_assert_msg(hot.blocks < 20 * 80, "%llu blocks, k %u",
			      (unsigned long long)hot.blocks, k);
	}
	t_search_end(&s);
}
END_TEST

/* A query into the crowded prefix that matches a document outside of it. */
static uint64_t beside_hot(const struct t_search *s, uint64_t hot)
{
	size_t i = HOT;

	while (__builtin_popcountll(s->model.at[i].fp >> 48 ^ hot) != 3)
		i++;
	return (s->model.at[i].fp & t_search_mask(48)) | hot << 48;
}

/*
 * Where no block index tells of the bucket, a query reads it. Where one does, the sizes are known
 * before anything is looked up, and the query goes round the bucket.
 */
START_TEST(test_first_query_into_hot_bucket)
{
	static const unsigned asked[] = { SIMIDX_ALL, SIMIDX_COUNT, SIMIDX_FIRST, SIMIDX_NEAREST };
	simidx_explanation how = SIMIDX_EXPLANATION_INIT;
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_results r;
	struct t_search s;

	make_hot(&s, 0xbeef);
	q.fp = beside_hot(&s, 0xbeef);
	q.mode = asked[_i];
	q.limit = q.mode == SIMIDX_NEAREST;
	for (int on = 0; on < 2; on++) {
		t_search_block_indexes(&s, on);
		sxt_check_query(&s.model, s.model.n, s.reader, &q, &r);
		ck_assert_uint_eq(r.count, 1);
		if (!on)
			ck_assert_uint_ge(r.candidates, HOT);
		else
			ck_assert_uint_lt(r.candidates, HOT / 20);
		how = (simidx_explanation)SIMIDX_EXPLANATION_INIT;
		ck_assert_sx(simidx_reader_explain(s.reader, &q, &how, &sxt_err), SIMIDX_OK);
		ck_assert_int_eq(how.looked_up, on);
		ck_assert_uint_eq(how.block_indexes > 0, on);
	}
	/* Of the tables that are looked up: one, for what is the same. */
	q.radius = 0;
	how = (simidx_explanation)SIMIDX_EXPLANATION_INIT;
	ck_assert_sx(simidx_reader_explain(s.reader, &q, &how, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(how.block_indexes, 1);
	t_search_end(&s);
}
END_TEST

/* By its real sizes a query reads no full range, though its fingerprint is in one. */
START_TEST(test_cover_by_real_sizes)
{
	simidx_explanation even = SIMIDX_EXPLANATION_INIT, hot = SIMIDX_EXPLANATION_INIT;
	simidx_query q = SIMIDX_QUERY_INIT;
	struct t_search s;
	const sx_probes *probes;
	char *cover;

	make_hot(&s, 0xbeef);
	t_search_block_indexes(&s, 1);
	q.fp = s.model.at[0].fp;
	q.radius = 3;
	ck_assert_sx(simidx_reader_explain(s.reader, &q, &hot, &sxt_err), SIMIDX_OK);
	ck_assert_int_eq(hot.looked_up, 1);
	cover = strdup(hot.choices[0].text); /* valid until the next call */
	probes = &s.reader->access.tables.probes;
	ck_assert_uint_eq(probes->n, hot.results->probes);
	for (size_t i = 0; i < probes->n; i++) {
		const sx_probe *p = &probes->at[i];
		const sx_perm *perm = &s.index->schema->plan.table[p->table];
		uint64_t in = 0;

		/* Counted one by one: none of its ranges has a twentieth of the bucket. */
		for (size_t d = 0; d < s.model.n; d++) {
			uint64_t key = sx_permute(perm, s.model.at[d].fp);

			in += key >= p->low && key <= p->high;
		}
		sxt_must_lt(in, HOT / 20);
	}
	/* A query elsewhere has the cover of even ranges. */
	q.fp = s.model.at[HOT + 1].fp;
	ck_assert_sx(simidx_reader_explain(s.reader, &q, &even, &sxt_err), SIMIDX_OK);
	ck_assert_int_eq(even.looked_up, 0);
	ck_assert_str_ne(even.choices[0].text, cover);
	free(cover);
	t_search_end(&s);
}
END_TEST

/*
 * By weights there is no way round. All that has to be looked up in the table of the bucket is, by
 * a cursor as by a block index: this match is behind the bucket.
 */
START_TEST(test_weights_read_hot_bucket)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	struct t_search s;
	simidx_results r;
	uint8_t weights[64];

	make_hot(&s, 0xbeef);
	q.fp = beside_hot(&s, 0xbeef);
	t_search_add(&s, q.fp ^ 0x8000800080008000);
	sxt_model_store(&s.model, s.model.n - 1, s.model.n, s.index);
	sxt_merge(s.index);
	memset(weights, 10, sizeof(weights));
	weights[63] = 1;
	q.weights = weights;
	q.radius = 31;
	for (int on = 0; on < 2; on++) {
		t_search_block_indexes(&s, on);
		sxt_check_query(&s.model, s.model.n, s.reader, &q, &r);
		ck_assert_uint_gt(r.candidates, HOT);
		ck_assert_uint_eq(r.probes, 5);
	}
	t_search_end(&s);
}
END_TEST

/*
 * One match ends a search wherever it is: in a scan, and in the tree as well as by block indexes.
 */
START_TEST(test_first_match_ends_search)
{
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_explanation how = SIMIDX_EXPLANATION_INIT;
	simidx_results r;
	struct t_search s;

	make_hot(&s, 0xbeef);
	for (int on = 0; on < 2; on++) {
		t_search_block_indexes(&s, on);
		for (unsigned i = 0; i < 5; i++) {
			q.fp = t_search_any(&s);
			q.mode = SIMIDX_FIRST;
			q.radius = 40;
			sxt_check_query(&s.model, s.model.n, s.reader, &q, &r);
			ck_assert_uint_eq(r.n, 1);
			ck_assert_uint_lt(r.candidates, s.model.n / 2);
		}
		ck_assert_sx(simidx_reader_explain(s.reader, &q, &how, &sxt_err), SIMIDX_OK);
		ck_assert_str_eq(how.choices[0].text, "scan of t01");
		/* All pieces together find what all at once does. */
		q.mode = SIMIDX_COUNT;
		sxt_check_query(&s.model, s.model.n, s.reader, &q, &r);
		ck_assert_uint_eq(r.candidates, s.model.n);
	}
	t_search_end(&s);
}
END_TEST

/* The same answers where all of a cluster share three blocks of four. */
START_TEST(test_cluster_sharing_three_blocks)
{
	struct t_search s;

	t_search_init(&s, 0, SIMIDX_CREATE_NO_IDS);
	for (unsigned i = 0; i < 50000; i++)
		t_search_add(&s, 0x1234567800000000 | (t_search_any(&s) & 0xffffffff));
	t_search_store(&s, 48000);
	for (unsigned k = 0; k <= 6; k++)
		for (unsigned i = 0; i < 3; i++) {
			simidx_query q = SIMIDX_QUERY_INIT;

			q.fp = t_search_near(&s);
			q.radius = k;
			sxt_check_query(&s.model, s.model.n, s.reader, &q, NULL);
		}
	t_search_end(&s);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_all_on_one_fingerprint, 0, T_SEARCH_LAYOUTS },
	{ &test_limit_reads_no_more_than_needed, 0, 1 },
	{ &test_query_goes_round_hot_prefix, 0, 1 },
	{ &test_first_query_into_hot_bucket, 0, 4 },
	{ &test_cover_by_real_sizes, 0, 1 },
	{ &test_weights_read_hot_bucket, 0, 1 },
	{ &test_first_match_ends_search, 0, 1 },
	{ &test_cluster_sharing_three_blocks, 0, 1 },
};

SXT_SUITE(search_skew, NULL, NULL);
