/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* What simidx-dedup puts aside of kept rows, and has again. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/tl_msg.h"
#include "dedup/dd_facts.h"
#include "support/sxt.h"

#define N_ROWS 30000

static char *dir;

static void set_up(void)
{
	tl_msg_init("test");
	dir = sxt_dir_make();
}

static void tear_down(void)
{
	free(dir);
}

/* The fact of a row; every third has no label, and some have a long one. */
static struct dd_fact fact_of(uint64_t i, char label[1000])
{
	struct dd_fact fact = { i * 11, i * 13, i % 2 ? i : SIMIDX_NO_ID, (uint32_t)i % 7,
				0, NULL };

	if (i % 3 == 0)
		return fact;
	fact.label_size = (uint32_t)sprintf(label, "row %*u", i % 100 == 1 ? 900 : 1, (unsigned)i);
	fact.label = label;
	return fact;
}

START_TEST(test_all_again)
{
	struct dd_facts *facts = dd_facts_new(dir);
	char label[1000];
	sxt_rng rng;

	sxt_rng_init(&rng, 4);
	for (uint64_t i = 0; i < N_ROWS; i++) {
		struct dd_fact fact = fact_of(i, label), got;
		uint64_t k = sxt_rng_below(&rng, i + 1);

		sxt_must(dd_facts_add(facts, &fact) == 0);
		/* One of those before, in the file or not yet there. */
		sxt_must(dd_facts_get(facts, k, &got) == 0);
		fact = fact_of(k, label);
		sxt_must(got.hash == fact.hash && got.offset == fact.offset && got.id == fact.id &&
			 got.length == fact.length && got.label_size == fact.label_size);
		sxt_must(!fact.label == !got.label &&
			 (!fact.label || memcmp(got.label, fact.label, fact.label_size) == 0));
	}
	dd_facts_free(facts);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_all_again, 0, 1 },
};

SXT_SUITE(dd_facts, set_up, tear_down);
