/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdint.h>

#include <simidx_info.h>
#include <simidx_load.h>

#include "plan/sx_planner.h"
#include "support/sxt.h"
#include "support/sxt_model.h"

static void make(sx_plan *plan, const char *name, unsigned bits)
{
	ck_assert_sx(sx_plan_make(plan, name, bits, &sxt_err), SIMIDX_OK);
}

/* Worked out from the widths of the prefixes, 2^34 rows, 3 errors, nothing merged. */
START_TEST(test_candidates_by_theory)
{
	static const struct {
		const char *name;
		unsigned probes;
		uint64_t candidates;
	} want[] = {
		{ "4x16", 4, 4 << 18 },
		{ "10x26", 10, 6 * 256 + 4 * 512 },
		{ "16x28", 16, 16 * 64 },
		{ "20x31", 20, 16 * 4 + 4 * 8 },
		{ "3x22", 27, 2 * 16384 + 25 * 1024 },
		{ "2x32", 66, 66 * 4 },
	};
	/* Only rows cost, so that nothing is merged. */
	static const sx_costs costs = { .candidate = 1, .scanned = 1 };
	sx_request request = { .radius = 3, .rows = UINT64_C(1) << 34 };
	sx_cover cover;
	sx_plan plan;
	unsigned i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		make(&plan, want[i].name, 64);
		sx_planner_choose(&plan, &request, &costs, &cover);
		ck_assert_uint_eq(cover.probes, want[i].probes);
		ck_assert_uint_eq(cover.candidates, want[i].candidates);
	}
}
END_TEST

/* 2^20 of 2^64: 45.4427 bits; measured 6.25, 5.42, 5.23 bytes at 10^6, 10^7, 10^8. */
START_TEST(test_bytes_by_theory)
{
	sx_prediction predicted;
	sx_plan plan;

	ck_assert_double_eq_tol(sx_costs_row_bytes(64, 1 << 20, 100), 45.4427 / 8 * 1.065, 1e-4);
	ck_assert_double_eq_tol(sx_costs_row_bytes(64, 3 << 20, 100),
				(44 - 1.5849625 + 1.4427) / 8 * 1.065, 1e-4);
	ck_assert_double_eq_tol(sx_costs_row_bytes(64, 1000000, 100), 6.25, 0.04 * 6.25);
	ck_assert_double_eq_tol(sx_costs_row_bytes(64, 10000000, 100), 5.42, 0.04 * 5.42);
	ck_assert_double_eq_tol(sx_costs_row_bytes(64, 100000000, 100), 5.23, 0.04 * 5.23);
	ck_assert_double_eq_tol(sx_costs_row_bytes(64, 1 << 20, 50),
				2 * sx_costs_row_bytes(64, 1 << 20, 100), 1e-4);
	ck_assert_double_gt(sx_costs_row_bytes(16, UINT64_MAX, 100), 0);
	ck_assert_double_gt(sx_costs_row_bytes(16, 0, 100), 2);
	make(&plan, "10x26", 64);
	sx_planner_predict(&plan, 100000000, 3, 90, &predicted);
	ck_assert_double_eq_tol(predicted.document_bytes, 10 * 5.23 / 0.9, 2);
}
END_TEST

/*
 * Microseconds a query that were measured at 10^6, 10^7, 10^8 (bench/bn_search, with ids); the
 * prediction is to tell plans apart, so it may be off by a factor of 1.5.
 */
START_TEST(test_time_tells_plans_apart)
{
	enum { N_MEASURED = 4 };
	static const struct {
		const char *name;
		double us[3];
	} want[N_MEASURED] = {
		{ "4x16", { 0.73, 1.68, 5.19 } },
		{ "3x22", { 1.20, 2.09, 3.07 } },
		{ "2x32", { 1.73, 3.52, 6.93 } },
		{ "10x26", { 1.19, 2.56, 2.88 } },
	};
	static const uint64_t documents[3] = { 1000000, 10000000, 100000000 };
	sx_prediction predicted;
	double predicted_us[N_MEASURED][3], us;
	unsigned i, j, k;
	sx_plan plan;

	for (i = 0; i < N_MEASURED; i++) {
		make(&plan, want[i].name, 64);
		for (j = 0; j < 3; j++) {
			sx_planner_predict(&plan, documents[j], 3, 100, &predicted);
			us = predicted.cover.ns / 1000;
			ck_assert_msg(us > want[i].us[j] / 1.5 && us < want[i].us[j] * 1.5,
				      "%s, %u documents: %f us", want[i].name,
				      (unsigned)documents[j], us);
			predicted_us[i][j] = us;
		}
	}
	/* Of two plans that are clearly apart, it says which is faster. */
	for (i = 0; i < N_MEASURED; i++)
		for (k = 0; k < N_MEASURED; k++)
			for (j = 0; j < 3; j++)
				if (want[i].us[j] * 1.5 < want[k].us[j])
					ck_assert_double_lt(predicted_us[i][j],
							    predicted_us[k][j]);
}
END_TEST

START_TEST(test_blocks_by_theory)
{
	sx_costs costs;
	sx_prediction predicted;
	sx_plan plan;

	make(&plan, "4x16", 64);
	sx_costs_typical(&plan, 10000000, &costs);
	sx_planner_predict(&plan, 10000000, 3, 90, &predicted);
	ck_assert_uint_eq(predicted.cover.probes, 4);
	ck_assert_double_eq_tol(predicted.cover.ns,
				costs.query + 4 * costs.table + 4 * costs.probe +
					costs.candidate * 4e7 / 65536,
				1e-6);
	/* 4 probes of 152.6 rows of about 6 bytes: 4 blocks and nearly one more. */
	ck_assert_double_gt(predicted.blocks, 4.8);
	ck_assert_double_lt(predicted.blocks, 5);
	/* An empty index. */
	sx_planner_predict(&plan, 0, 3, 90, &predicted);
	ck_assert_uint_eq(predicted.cover.candidates, 0);
}
END_TEST

/* What is predicted is what a loaded index of random fingerprints has. */
START_TEST(test_sizes_of_a_real_index)
{
	enum { DOCUMENTS = 100000 };
	char *dir = sxt_dir_make(), *path = sxt_path(dir, "index");
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_prediction p = SIMIDX_PREDICTION_INIT;
	simidx_table_info t = SIMIDX_TABLE_INFO_INIT;
	uint64_t in_tables = 0, in_others = 0;
	simidx_loader *loader;
	simidx *index;
	double others;
	sxt_rng rng;

	sxt_rng_init(&rng, 4711);
	sxt_must_ok(simidx_plan_predict((unsigned)_i, 64, DOCUMENTS, 3, &p, &sxt_err));
	create.plan = p.plan;
	sxt_must_ok(simidx_loader_open(path, &create, NULL, &loader, &sxt_err));
	for (unsigned i = 0; i < DOCUMENTS; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.fp = sxt_rng_u64(&rng);
		sxt_must_ok(simidx_loader_put(loader, &doc, NULL, &sxt_err));
	}
	sxt_must_ok(simidx_loader_finish(loader, NULL, &sxt_err));
	simidx_loader_close(loader);
	index = sxt_open(path, SIMIDX_OPEN_READ_ONLY);
	for (unsigned i = 0; !simidx_get_table_info(index, i, &t, NULL); i++)
		*(i < p.n_tables ? &in_tables : &in_others) += t.overflow_pages * 4096;
	simidx_close(index);
	/* The last block of a table may be less full. */
	ck_assert_double_eq_tol((double)in_tables / DOCUMENTS, p.table_bytes, .04 * p.table_bytes);
	others = p.bytes - p.table_bytes;
	ck_assert_double_eq_tol((double)in_others / DOCUMENTS, others, .02 * others);
	sxt_remove(dir);
	free(path);
	free(dir);
}
END_TEST

/* The public function says what the planner does, of which the tests above know. */
START_TEST(test_costs_are_those_of_the_planner)
{
	static const uint64_t documents[] = { 1, 1000, 10000000, UINT64_C(1) << 34 };
	simidx_prediction p = SIMIDX_PREDICTION_INIT;
	sx_prediction want;
	sx_plan plan;

	for (unsigned i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
		for (unsigned radius = 0; radius < 8; radius++) {
			sxt_must_ok(simidx_plan_predict((unsigned)_i, 64, documents[i], radius, &p,
							&sxt_err));
			make(&plan, p.plan, 64);
			sx_planner_predict(&plan, documents[i], radius, 90, &want);
			ck_assert_uint_eq(p.n_tables, plan.n_tables);
			ck_assert_double_eq(p.probes, (double)want.cover.probes);
			ck_assert_double_eq(p.candidates, (double)want.cover.candidates);
			ck_assert_double_eq_tol(p.microseconds, want.cover.ns / 1000, 1e-9);
		}
	}
}
END_TEST

static const sxt_test tests[] = {
	{ &test_costs_are_those_of_the_planner, 0, SXT_N_PLANS },
	{ &test_sizes_of_a_real_index, 0, SXT_N_PLANS },
	{ &test_candidates_by_theory, 0, 1 },
	{ &test_bytes_by_theory, 0, 1 },
	{ &test_time_tells_plans_apart, 0, 1 },
	{ &test_blocks_by_theory, 0, 1 },
};

SXT_SUITE(plan_predict, NULL, NULL);
