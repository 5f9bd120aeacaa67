/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* What simidx-dedup puts aside of rows, and has again. */

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

#define MOST_TEXT ((size_t)300000)

/* The fact of a row; every third has no label, and some have a long one. */
static struct dd_fact fact_of(uint64_t i, char label[1000])
{
	struct dd_fact fact = { .name = { i + 1, i * 3, 1 }, .hash = i * 11, .offset = i * 13,
				.id = i % 2 ? i : SIMIDX_NO_ID, .key = i * 17,
				.length = (uint32_t)i % 7 };

	/* Some texts are longer than what is written at once. */
	fact.size = i % 5 ? i % 50 : i % 1000 ? i % 3000 : MOST_TEXT - i;
	if (i % 3 == 0)
		return fact;
	fact.label_size = (uint32_t)sprintf(label, "row %*u", i % 100 == 1 ? 900 : 1, (unsigned)i);
	fact.label = label;
	return fact;
}

static char byte_of(uint64_t i, uint64_t at)
{
	return (char)(i * 31 + at * 7);
}

static void check_text(struct dd_facts *facts, uint64_t i, const struct dd_fact *fact,
		       struct in_room *room)
{
	sxt_must((i % 4 == 0) == (fact->text != 0));
	if (i % 4)
		return;
	sxt_must(dd_facts_text(facts, fact, room) == 0);
	for (uint64_t k = 0; k < fact->size; k++)
		if (((char *)room->bytes)[k] != byte_of(i, k))
			sxt_must(0);
}

START_TEST(test_all_again)
{
	struct dd_facts *facts = dd_facts_new(dir, UINT64_MAX);
	struct in_room room = { NULL, 0 }, text = { NULL, 0 };
	uint64_t *at = calloc(N_ROWS, sizeof(*at));
	char label[1000], *bytes = malloc(MOST_TEXT);
	sxt_rng rng;

	sxt_rng_init(&rng, 4);
	for (uint64_t i = 0; i < N_ROWS; i++) {
		struct dd_fact fact = fact_of(i, label), got;
		uint64_t k = sxt_rng_below(&rng, i + 1);

		for (uint64_t b = 0; i % 4 == 0 && b < fact.size; b++)
			bytes[b] = byte_of(i, b);
		sxt_must(dd_facts_add(facts, &fact, i % 4 ? NULL : bytes, &at[i]) == 0);
		sxt_must(!i || at[i] > at[i - 1]);
		/* One of those before, in the file or not yet there. */
		sxt_must(dd_facts_get(facts, at[k], &room, &got) == 0);
		fact = fact_of(k, label);
		sxt_must(got.name.number == fact.name.number && got.name.line == fact.name.line &&
			 got.name.file == fact.name.file);
		sxt_must(got.hash == fact.hash && got.offset == fact.offset && got.id == fact.id &&
			 got.length == fact.length && got.label_size == fact.label_size &&
			 got.size == fact.size && got.key == fact.key);
		sxt_must(!fact.label == !got.label &&
			 (!fact.label || memcmp(got.label, fact.label, fact.label_size) == 0));
		check_text(facts, k, &got, &text);
	}
	dd_facts_free(facts);
	free(room.bytes);
	free(text.bytes);
	free(bytes);
	free(at);
}
END_TEST

/* Beyond the limit there are no texts. */
START_TEST(test_limit)
{
	struct dd_facts *facts = dd_facts_new(dir, 10);
	const struct dd_fact fact = { .size = 4 };
	struct in_room room = { NULL, 0 };
	struct dd_fact got;
	uint64_t at;

	for (int i = 0; i < 4; i++) {
		sxt_must(dd_facts_add(facts, &fact, "text", &at) == 0);
		sxt_must(dd_facts_get(facts, at, &room, &got) == 0);
		sxt_must((got.text != 0) == (i < 2));
	}
	dd_facts_free(facts);
	free(room.bytes);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_all_again, 0, 1 },
	{ &test_limit, 0, 1 },
};

SXT_SUITE(dd_facts, set_up, tear_down);
