/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* What is believed of a document of which damaged tables say more than there is room for. */

#include <stdlib.h>

#include <simidx.h>

#include "repair/sx_repair_claims.h"
#include "repair/sx_repair_state.h"
#include "support/sxt.h"
#include "support/sxt_fixture.h"

static simidx *old;
static sx_repair_claims claims;

static void set_up(void)
{
	sxt_set_up_path();
	ck_assert_sx(simidx_create(t_path, NULL, &old, NULL), SIMIDX_OK);
	sx_repair_claims_begin(&claims, 1);
}

static void tear_down(void)
{
	free(claims.former.at);
	simidx_close(old);
	sxt_tear_down();
}

static void claim(sx_repair *repair, enum sx_repair_source source, uint64_t fp)
{
	uint64_t record[SX_SORT_MAX_WORDS] = { 1, SX_REPAIR_SOURCE + source, fp };

	ck_assert_int_eq(sx_repair_claims_add(&claims, repair, record), SIMIDX_OK);
}

/* Old blocks of postings give a document many fingerprints; that of docs comes last, and stays. */
START_TEST(test_more_than_there_is_room_for)
{
	sx_repair repair = { .old = old, .has_whole_docs = _i };
	const sx_repair_claim *best;

	for (uint64_t fp = 1; fp <= 2 * SX_REPAIR_MAX_CLAIMS; fp++)
		claim(&repair, SX_REPAIR_POSTINGS, fp);
	claim(&repair, SX_REPAIR_DOCS, _i ? 99 : 5);
	ck_assert_uint_eq(claims.n_claims, SX_REPAIR_MAX_CLAIMS);
	sx_repair_claims_judge(&claims, &repair);
	ck_assert_int_eq(claims.is_gone, 0);
	best = sx_repair_claims_choose(&claims, &repair);
	ck_assert_ptr_nonnull(best);
	/* By itself docs that is whole is right; otherwise two tables are more than one. */
	ck_assert_uint_eq(best->fp, _i ? 99 : 5);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_more_than_there_is_room_for, 0, 2 },
};

SXT_SUITE(repair_claims, set_up, tear_down);
