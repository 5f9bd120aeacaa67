/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The log of fresh rows, against a plain array of rows.
 */

#include <inttypes.h>
#include <stdio.h>

#include "support/sxt_fresh.h"
#include "support/sxt_table.h"

static const struct t_kind log_kind = { "log", SX_TABLE_NUMBERS, SX_LOG_COLUMNS, NULL, 0, 0,
					 &t_all_columns };

#define LOG_ROWS 40000
#define LOG_BASE 1000

struct visits {
	const sx_fresh_row *rows; /* row i has sequence number LOG_BASE + i */
	uint64_t next, n, stop_after;
};

static int visit(void *ctx, const sx_fresh_row *row)
{
	struct visits *v = ctx;

	sxt_must(same_row(row, &v->rows[v->next - LOG_BASE]));
	v->next++;
	v->n++;
	return v->n == v->stop_after ? 42 : 0;
}

static void check_read(struct t_tab *tab, const sx_fresh_row *rows, uint64_t first,
		       uint64_t end)
{
	struct visits v = { .rows = rows, .next = first };

	ck_assert_sx(sx_fresh_log_read(tab->txn, &tab->table, first, end, visit, &v, &sxt_err),
		     SIMIDX_OK);
	ck_assert_uint_eq(v.n, end > first ? end - first : 0);
}

static sx_fresh_row *random_rows(sxt_rng *rng, size_t n)
{
	sx_fresh_row *rows = malloc(n * sizeof(*rows));
	size_t i;

	for (i = 0; i < n; i++)
		rows[i] = random_row(rng);
	return rows;
}

/* Append all in pieces of random sizes, from one row to more than are encoded at once. */
static void append_all(struct t_tab *tab, sxt_rng *rng, const sx_fresh_row *rows)
{
	static const uint64_t sizes[] = { 1, 3, 100, 500, 20000 };
	size_t at = 0;

	while (at < LOG_ROWS) {
		size_t n = 1 + sxt_rng_below(rng, sizes[sxt_rng_below(rng, 5)]);

		n = n < LOG_ROWS - at ? n : LOG_ROWS - at;
		ck_assert_sx(sx_fresh_log_append(tab->txn, &tab->table, rows + at, n,
					     LOG_BASE + at, &sxt_err),
			     SIMIDX_OK);
		at += n;
	}
}

START_TEST(test_log_keeps_rows)
{
	const uint64_t base = LOG_BASE, end = LOG_BASE + LOG_ROWS;
	uint64_t first, last;
	sx_fresh_row *rows;
	struct t_tab tab;
	sx_dbi_stat stat;
	sxt_rng rng;
	unsigned i;

	sxt_rng_init(&rng, 1500 + (uint64_t)_i);
	t_tab_open(&tab, &log_kind, (unsigned)_i, 100);
	rows = random_rows(&rng, LOG_ROWS);
	check_read(&tab, rows, base, base);
	check_read(&tab, rows, end, base);
	append_all(&tab, &rng, rows);
	t_tab_commit(&tab);
	ck_assert_sx(sx_dbi_stat_get(tab.txn, tab.table.dbi, &stat, &sxt_err), SIMIDX_OK);
	if (_i)
		ck_assert_uint_eq(stat.keys, LOG_ROWS);
	else /* 8 bytes of 5 random columns, 1 of op: 35 to 41 bytes a row */
		ck_assert_uint_lt(stat.keys, LOG_ROWS / 80);
	check_read(&tab, rows, base, end);
	check_read(&tab, rows, end, end);
	for (i = 0; i < 100; i++) {
		first = base + sxt_rng_below(&rng, LOG_ROWS);
		last = first +
		       sxt_rng_below(&rng, sxt_rng_below(&rng, 2) ? 300 : end - first + 1);
		check_read(&tab, rows, first, last < end ? last : end);
	}
	free(rows);
	t_tab_close(&tab);
}
END_TEST

START_TEST(test_log_visit_ends)
{
	sx_fresh_row *rows;
	struct visits v = { .next = LOG_BASE, .stop_after = 500 };
	struct t_tab tab;
	sxt_rng rng;

	sxt_rng_init(&rng, 1510);
	t_tab_open(&tab, &log_kind, (unsigned)_i, 100);
	v.rows = rows = random_rows(&rng, 1000);
	ck_assert_sx(sx_fresh_log_append(tab.txn, &tab.table, rows, 1000, LOG_BASE, &sxt_err),
		     SIMIDX_OK);
	ck_assert_int_eq(sx_fresh_log_read(tab.txn, &tab.table, LOG_BASE, LOG_BASE + 1000, visit,
				       &v, &sxt_err),
			 42);
	ck_assert_uint_eq(v.n, 500);
	free(rows);
	t_tab_close(&tab);
}
END_TEST

/* What is asked for but is not there; the rows before it are delivered. */
static void check_missing(struct t_tab *tab, const sx_fresh_row *rows, uint64_t first,
			  uint64_t end, uint64_t missing)
{
	struct visits v = { .rows = rows, .next = first };
	char text[64];

	ck_assert_sx(sx_fresh_log_read(tab->txn, &tab->table, first, end, visit, &v, &sxt_err),
		     SIMIDX_E_CORRUPT);
	snprintf(text, sizeof(text), "row %" PRIu64 " is missing", missing);
	ck_assert_msg(strstr(sxt_err.text, text) && strstr(sxt_err.text, "fresh"), "%s",
		      sxt_err.text);
	ck_assert_uint_eq(v.n, missing - first);
}

START_TEST(test_missing_row_of_log_is_found)
{
	const uint64_t base = LOG_BASE;
	sx_fresh_row *rows;
	struct t_tab tab;
	sxt_rng rng;

	sxt_rng_init(&rng, 1520);
	t_tab_open(&tab, &log_kind, (unsigned)_i, 100);
	rows = random_rows(&rng, 3000);
	check_missing(&tab, rows, base, base + 1, base);
	ck_assert_sx(sx_fresh_log_append(tab.txn, &tab.table, rows, 1000, base, &sxt_err),
		     SIMIDX_OK);
	ck_assert_sx(sx_fresh_log_append(tab.txn, &tab.table, rows + 1001, 999, base + 1001,
				     &sxt_err),
		     SIMIDX_OK);
	check_read(&tab, rows, base, base + 1000);
	check_read(&tab, rows, base + 1001, base + 2000);
	check_missing(&tab, rows, base, base + 2000, base + 1000);
	check_missing(&tab, rows, base + 900, base + 1001, base + 1000);
	check_missing(&tab, rows, base + 1000, base + 1001, base + 1000);
	check_missing(&tab, rows, base + 1500, base + 2001, base + 2000);
	check_missing(&tab, rows, base - 1, base + 1, base - 1);
	check_missing(&tab, rows, base + 5000, base + 5001, base + 5000);
	free(rows);
	t_tab_close(&tab);
}
END_TEST

START_TEST(test_unknown_kind_of_row_is_refused)
{
	static const uint32_t ops[] = { 0, 3, 4, 17 + 64, 16 + 32, 1u << 31 | 1 };
	struct visits v = { .next = LOG_BASE };
	sx_fresh_row *rows;
	struct t_tab tab;
	sxt_rng rng;

	sxt_rng_init(&rng, 1530);
	t_tab_open(&tab, &log_kind, SIMIDX_LAYOUT_BLOCKS, 100);
	v.rows = rows = random_rows(&rng, 10);
	rows[7].op = ops[_i];
	ck_assert_sx(sx_fresh_log_append(tab.txn, &tab.table, rows, 10, LOG_BASE, &sxt_err),
		     SIMIDX_OK);
	ck_assert_sx(sx_fresh_log_read(tab.txn, &tab.table, LOG_BASE, LOG_BASE + 10, visit, &v,
				   &sxt_err),
		     SIMIDX_E_CORRUPT);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "row 1007"));
	ck_assert_uint_eq(v.n, 7);
	free(rows);
	t_tab_close(&tab);
}
END_TEST

/* The rows before a number are gone, also from the block that they share with those after it. */
START_TEST(test_removed_rows_are_gone)
{
	static const uint64_t ends[] = { 0, 1, 2, 100, 101, 1500, 2999, 3000 };
	const uint64_t base = LOG_BASE;
	sx_fresh_row *rows;
	struct t_tab tab;
	sx_dbi_stat stat;
	sxt_rng rng;

	sxt_rng_init(&rng, 1540);
	t_tab_open(&tab, &log_kind, (unsigned)_i, 100);
	rows = random_rows(&rng, 6000);
	ck_assert_sx(sx_fresh_log_remove(tab.txn, &tab.table, 0, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_fresh_log_remove(tab.txn, &tab.table, base, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_fresh_log_append(tab.txn, &tab.table, rows, 3000, base, &sxt_err),
		     SIMIDX_OK);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		uint64_t end = base + ends[i];
		sx_table_walk walk;
		size_t n = 0;

		ck_assert_sx(sx_fresh_log_remove(tab.txn, &tab.table, end, &sxt_err), SIMIDX_OK);
		check_read(&tab, rows, end, base + 3000);
		if (ends[i])
			check_missing(&tab, rows, end - 1, end, end - 1);
		sxt_must_ok(sx_table_walk_begin(&walk, tab.txn, &tab.table, NULL, &sxt_err));
		while (!sx_table_walk_next(&walk, &sxt_err))
			n += walk.rows.n;
		sx_table_walk_end(&walk);
		sxt_error_clear(&sxt_err);
		ck_assert_uint_eq(n, 3000 - ends[i]);
	}
	ck_assert_sx(sx_dbi_stat_get(tab.txn, tab.table.dbi, &stat, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(stat.keys, 0);
	/* Numbers go on behind what was there. */
	ck_assert_sx(sx_fresh_log_append(tab.txn, &tab.table, rows + 3000, 3000, base + 3000,
				     &sxt_err),
		     SIMIDX_OK);
	check_read(&tab, rows, base + 3000, base + 6000);
	free(rows);
	t_tab_close(&tab);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_log_keeps_rows, 0, 2 },
	{ &test_log_visit_ends, 0, 2 },
	{ &test_missing_row_of_log_is_found, 0, 2 },
	{ &test_unknown_kind_of_row_is_refused, 0, 6 },
	{ &test_removed_rows_are_gone, 0, 2 },
};

SXT_SUITE(fresh, NULL, NULL);
