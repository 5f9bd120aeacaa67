/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Hashes that lead to documents: all that were noted, as far as there is memory, and no others. */

#include "dedup/sd_first.h"
#include "support/sxt.h"

#define N 20000
#define SLOTS 8192
#define SLOT 8

static struct sd_first *first;

static void start(void)
{
	first = NULL;
}

static void end(void)
{
	sd_first_close(first);
}

static void open_first(uint64_t most_bytes)
{
	first = sd_first_open(most_bytes);
	sxt_must(first != NULL);
}

/* No two are the same in their low 32 bits. That of number 0 has none of these. */
static uint64_t hash_of(size_t i)
{
	return (uint64_t)(i % 7) << 32 | (uint32_t)(i * 0x9e3779b1u);
}

static void add(size_t i, uint64_t id)
{
	ck_assert_sx(sd_first_add(first, hash_of(i), id, &sxt_err), SIMIDX_OK);
}

/* Find by these hashes; UINT64_MAX: nothing. */
static uint64_t find(const size_t *i, size_t n, uint64_t *hash)
{
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;
	size_t at = 0;
	uint64_t id;

	sketch.flags = SIMIDX_SKETCH_LEAST;
	for (sketch.n_least = 0; sketch.n_least < n; sketch.n_least++)
		sketch.least[sketch.n_least] = hash_of(i[sketch.n_least]);
	return sd_first_find(first, &sketch, &at, hash, &id) ? id : UINT64_MAX;
}

static uint64_t find_one(size_t i)
{
	uint64_t hash;

	return find(&i, 1, &hash);
}

/* So often that it leads nowhere any more. */
static void lead_in_vain(uint64_t hash)
{
	for (int i = 0; i < SD_FIRST_MOST_IN_VAIN; i++)
		sd_first_in_vain(first, hash);
}

START_TEST(test_what_was_noted_is_found)
{
	open_first(UINT64_MAX);
	ck_assert_uint_eq(find_one(0), UINT64_MAX);
	for (size_t i = 0; i < N; i++) {
		add(i, 3 * i);
		sxt_must_eq(find_one(i), 3 * i);
		sxt_must_eq(find_one(i + 1), UINT64_MAX);
	}
	for (size_t i = 0; i < N; i++)
		sxt_must_eq(find_one(i), 3 * i);
	for (size_t i = N; i < 3 * N; i++)
		sxt_must_eq(find_one(i), UINT64_MAX);
	ck_assert_uint_eq(find(NULL, 0, &(uint64_t){ 0 }), UINT64_MAX);
}
END_TEST

START_TEST(test_first_of_several_hashes)
{
	const size_t asked[] = { 9, 7, 8, 5 };
	uint64_t hash = 0;

	open_first(UINT64_MAX);
	add(5, 50);
	add(7, 70);
	ck_assert_uint_eq(find(asked, 4, &hash), 70);
	ck_assert_uint_eq(hash, hash_of(7));
	lead_in_vain(hash);
	ck_assert_uint_eq(find(asked, 4, &hash), 50);
	ck_assert_uint_eq(hash, hash_of(5));
	lead_in_vain(hash);
	ck_assert_uint_eq(find(asked, 4, &hash), UINT64_MAX);
}
END_TEST

/* What it leads to stays, and others are as they were. */
START_TEST(test_a_hash_that_has_led_some_texts_in_vain)
{
	open_first(UINT64_MAX);
	add(5, 50);
	add(7, 70);
	for (int i = 0; i < SD_FIRST_MOST_IN_VAIN; i++) {
		ck_assert_uint_eq(find_one(5), 50);
		sd_first_in_vain(first, hash_of(5));
	}
	ck_assert_uint_eq(find_one(5), UINT64_MAX);
	ck_assert_uint_eq(find_one(7), 70);
}
END_TEST

/* Also while the table grows. */
START_TEST(test_a_hash_keeps_what_it_has)
{
	open_first(UINT64_MAX);
	for (size_t i = 0; i < N; i++) {
		add(i, i);
		if (i % 3 == 0)
			lead_in_vain(hash_of(i));
		add(i, N + i);
	}
	for (size_t i = 0; i < N; i++)
		sxt_must_eq(find_one(i), i % 3 ? i : UINT64_MAX);
}
END_TEST

/* What is noted stays. A table is copied into one of twice the size, so both need memory. */
START_TEST(test_memory_that_is_not_enough)
{
	static const struct {
		uint64_t most;
		size_t noted;
	} of[] = {
		{ 0, 0 },
		{ SLOTS * SLOT - 1, 0 },
		{ SLOTS * SLOT, SLOTS / 4 * 3 },
		{ 3 * SLOTS * SLOT - 1, SLOTS / 4 * 3 },
		{ 3 * SLOTS * SLOT, 2 * SLOTS / 4 * 3 },
	};

	open_first(of[_i].most);
	for (size_t i = 0; i < N; i++)
		add(i, i);
	for (size_t i = 0; i < N; i++)
		sxt_must_eq(find_one(i), i < of[_i].noted ? i : UINT64_MAX);
}
END_TEST

START_TEST(test_largest_id)
{
	open_first(UINT64_MAX);
	add(1, ((uint64_t)1 << 30) - 1);
	add(2, (uint64_t)1 << 30);
	add(3, (uint64_t)UINT32_MAX + 5);
	ck_assert_uint_eq(find_one(1), ((uint64_t)1 << 30) - 1);
	ck_assert_uint_eq(find_one(2), UINT64_MAX);
	ck_assert_uint_eq(find_one(3), UINT64_MAX);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_what_was_noted_is_found, 0, 1 },
	{ &test_first_of_several_hashes, 0, 1 },
	{ &test_a_hash_that_has_led_some_texts_in_vain, 0, 1 },
	{ &test_a_hash_keeps_what_it_has, 0, 1 },
	{ &test_memory_that_is_not_enough, 0, 5 },
	{ &test_largest_id, 0, 1 },
};

SXT_SUITE(first, start, end);
