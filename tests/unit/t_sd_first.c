/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Hashes that lead to documents: all that were noted, as far as there is memory, and no others. */

#include <stdlib.h>
#include <string.h>

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
		ck_assert_sx(sd_first_in_vain(first, hash, &sxt_err), SIMIDX_OK);
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
		ck_assert_sx(sd_first_in_vain(first, hash_of(5), &sxt_err), SIMIDX_OK);
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

/* Give what has changed in one to another one, as a file does. */
static size_t copy_changes(struct sd_first *from, struct sd_first *to)
{
	size_t n = sd_first_changed(from);
	uint64_t *slot = calloc(n + 1, sizeof(*slot));

	sxt_must(slot != NULL);
	sd_first_take_changed(from, slot);
	for (size_t i = 0; i < n; i++)
		ck_assert_sx(sd_first_set(to, slot[i], &sxt_err), SIMIDX_OK);
	free(slot);
	ck_assert_uint_eq(sd_first_changed(from), 0);
	return n;
}

/* A copy by changes leads where the first one does, and nowhere where that does, as soon as it is
   given them; also while both grow. Changes before they are noted, or after, are none. */
START_TEST(test_changes)
{
	struct sd_first *copy = sd_first_open(UINT64_MAX), *own;

	open_first(UINT64_MAX);
	own = first;
	sxt_must(copy != NULL);
	add(3 * N, 1);
	sd_first_note_changes(first, 1);
	for (size_t i = 0; i < N; i++) {
		add(i, i);
		add(i, N + i);
		for (size_t j = 0; j < i % 4; j++)
			ck_assert_sx(sd_first_in_vain(first, hash_of(i), &sxt_err), SIMIDX_OK);
		if (i % 1000 == 7)
			copy_changes(first, copy);
	}
	copy_changes(first, copy);
	for (int turn = 0; turn < 2; turn++, first = copy) {
		for (size_t i = 0; i < N; i++)
			sxt_must_eq(find_one(i), i % 4 == 3 ? UINT64_MAX : i);
		ck_assert_uint_eq(find_one(3 * N), turn ? UINT64_MAX : 1);
	}
	/* How often a hash has led in vain is copied, too. */
	for (size_t i = 2; i < N; i += 4) {
		ck_assert_sx(sd_first_in_vain(copy, hash_of(i), &sxt_err), SIMIDX_OK);
		sxt_must_eq(find_one(i), UINT64_MAX);
	}
	first = own;
	sd_first_note_changes(first, 0);
	add(4 * N, 1);
	ck_assert_uint_eq(sd_first_changed(first), 0);
	sd_first_close(copy);
}
END_TEST

/* A table as a file has it: copied whole, and refused where it is none. */
START_TEST(test_table)
{
	struct sd_first *copy = sd_first_open((uint64_t)4 * SLOTS * SLOT), *own;
	const uint64_t *table;
	uint64_t n, *slot;

	open_first(UINT64_MAX);
	own = first;
	sxt_must(copy != NULL);
	ck_assert_ptr_null(sd_first_table(first, &n));
	ck_assert_uint_eq(n, 0);
	for (size_t i = 0; i < SLOTS; i++)
		add(i, i);
	table = sd_first_table(first, &n);
	ck_assert_uint_eq(n, 2 * SLOTS);
	ck_assert_ptr_null(sd_first_slots(copy, 0));
	ck_assert_ptr_null(sd_first_slots(copy, SLOTS / 2));
	ck_assert_ptr_null(sd_first_slots(copy, 2 * SLOTS + 1));
	ck_assert_ptr_null(sd_first_slots(copy, 8 * SLOTS)); /* no memory for that */
	slot = sd_first_slots(copy, n);
	sxt_must(slot != NULL);
	memcpy(slot, table, n * sizeof(*slot));
	ck_assert_int_eq(sd_first_count(copy), 0);
	ck_assert_ptr_null(sd_first_slots(copy, n)); /* there are some */
	first = copy;
	for (size_t i = 0; i < SLOTS; i++)
		sxt_must_eq(find_one(i), i);
	sxt_must_eq(find_one(SLOTS), UINT64_MAX);
	/* It counts what it has: it is full where the other one would be. */
	for (size_t i = SLOTS; i < N; i++)
		add(i, i);
	for (size_t i = 0; i < N; i++)
		sxt_must_eq(find_one(i), i < (size_t)2 * SLOTS / 4 * 3 ? i : UINT64_MAX);
	first = own;
	sd_first_close(copy);
}
END_TEST

/* A slot without a tag is taken all the same: of a table of these nothing would ever be found. */
START_TEST(test_forged_table)
{
	uint64_t *slot;

	open_first(UINT64_MAX);
	slot = sd_first_slots(first, SLOTS);
	sxt_must(slot != NULL);
	for (size_t i = 0; i < SLOTS / 4 * 3; i++)
		slot[i] = _i ? (uint64_t)1 << 32 : i + 1;
	ck_assert_int_eq(sd_first_count(first), 0);
	slot[SLOTS - 1] = (uint64_t)1 << 32;
	ck_assert_int_eq(sd_first_count(first), -1);
	ck_assert_sx(sd_first_set(first, (uint64_t)7 << 32, &sxt_err), SIMIDX_OK);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_what_was_noted_is_found, 0, 1 },
	{ &test_first_of_several_hashes, 0, 1 },
	{ &test_a_hash_that_has_led_some_texts_in_vain, 0, 1 },
	{ &test_a_hash_keeps_what_it_has, 0, 1 },
	{ &test_memory_that_is_not_enough, 0, 5 },
	{ &test_largest_id, 0, 1 },
	{ &test_changes, 0, 1 },
	{ &test_table, 0, 1 },
	{ &test_forged_table, 0, 2 },
};

SXT_SUITE(first, start, end);
