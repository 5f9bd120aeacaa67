/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The structure of the data file: each kind of damage that LMDB would not survive is found and
 * named.
 */

#include <signal.h>
#include <sys/resource.h>

#include "store/sx_page_check.h"
#include "support/sxt_fixture.h"
#include "support/sxt_lmdb.h"
#include "support/sxt_store.h"

static unsigned char *file; /* of a store, to be damaged */
static size_t size, page;

/* In it, of table "t": the root, a branch; its first two leaves; a long value. And other trees. */
static unsigned char *meta, *record, *branch, *leaf, *next_leaf, *value_node, *value_page;
static unsigned char *tables_node, *free_leaf, *free_node;

static unsigned char *page_at(uint64_t number)
{
	ck_assert_uint_lt(number, size / page);
	return file + number * page;
}

static size_t nodes_of(const unsigned char *p)
{
	return (get16(p + PAGE_LOWER) - PAGE_NODES) / 2u;
}

static unsigned char *node(unsigned char *p, size_t i)
{
	return p + get16(p + PAGE_NODES + 2 * i);
}

static unsigned char *value(unsigned char *n)
{
	return n + NODE_KEY + get16(n + NODE_KEY_SIZE);
}

static unsigned char *child(unsigned char *p, size_t i)
{
	const unsigned char *n = node(p, i);

	return page_at(get16(n) | (uint64_t)get16(n + 2) << 16 | (uint64_t)get16(n + 4) << 32);
}

static void find_parts(void)
{
	unsigned char *tables;

	meta = file + (get64(file + META_TXN) < get64(file + page + META_TXN) ? page : 0);
	tables = page_at(get64(meta + META_MAIN_ROOT));
	tables_node = node(tables, 0);
	ck_assert_int_eq(tables_node[NODE_KEY], 't');
	record = value(tables_node);
	branch = page_at(get64(record + TREE_ROOT));
	ck_assert_uint_ge(nodes_of(branch), 3);
	leaf = child(branch, 0);
	next_leaf = child(branch, 1);
	value_node = node(leaf, 0);
	ck_assert_uint_eq(get16(value_node + NODE_FLAGS), 1);
	value_page = page_at(get64(value(value_node)));
	free_leaf = page_at(get64(meta + META_FREE_ROOT));
	ck_assert_uint_eq(get16(free_leaf + PAGE_FLAGS), 2);
	free_node = node(free_leaf, 0);
	ck_assert_uint_ge(get64(value(free_node)), 2);
}

#define N_TREES 4 /* the tables t and u, the tree of tables, and the free pages */

/* Table "t": values of a page each, then rows in several leaves; other tables; free pages. */
static void set_up(void)
{
	sx_store *store;
	sx_txn *txn;
	sx_dbi dbi;

	sxt_set_up_path();
	store = t_create(t_path, 0);
	page = sx_store_page_size(store);
	t_rewrite(store, 8, 1);
	for (int round = 0; round < 3; round++) {
		txn = t_write(store);
		dbi = t_table(txn, 0);
		for (unsigned i = 0; i < 400; i++) {
			char key[16], text[64];

			snprintf(key, sizeof(key), "r%06u", i);
			snprintf(text, sizeof(text), "the row %u of round %d", i, round);
			sxt_must_ok(sx_dbi_put(txn, dbi, t_slice(key), t_slice(text), &sxt_err));
		}
		sxt_must_ok(sx_dbi_open(txn, "u", 1, &dbi, &sxt_err));
		t_commit(store, txn);
	}
	sx_store_close(store);
	file = sxt_file_read(t_data, &size);
	find_parts();
}

static void tear_down(void)
{
	free(file);
	sxt_tear_down();
}

/* ------------------------------------------------------------------------------------------
 * Damage
 */

static unsigned problems;
static char first_problem[300];

static void note(void *ctx, const char *table, const char *text)
{
	ck_assert_ptr_eq(ctx, &problems);
	if (!problems++)
		snprintf(first_problem, sizeof(first_problem), "%s: %s", table, text);
}

/* The code for the file as it is at t_path. */
static int check_file(void)
{
	sx_store *store = t_open(t_path, 0);
	sx_txn *txn = t_read(store);
	int rc;

	problems = 0;
	first_problem[0] = 0;
	sxt_error_clear(&sxt_err);
	rc = sx_page_check(txn, note, &problems, &sxt_err);
	ck_assert_int_eq(rc, sxt_err.code);
	ck_assert_int_eq(rc == SIMIDX_E_CORRUPT, problems > 0);
	sx_txn_abort(txn);
	sx_store_close(store);
	return rc;
}

static void number_leaf(void)
{
	leaf[0] ^= 1;
}

static void lower_odd(void)
{
	leaf[PAGE_LOWER]++;
}

static void upper_below_lower(void)
{
	put16(leaf + PAGE_UPPER, get16(leaf + PAGE_LOWER) - 2u);
}

static void node_odd(void)
{
	leaf[PAGE_NODES + 2]++;
}

static void node_at_end(void)
{
	put16(leaf + PAGE_NODES + 2, (unsigned)page - 4);
}

static void node_twice(void)
{
	put16(leaf + PAGE_NODES + 4, get16(leaf + PAGE_NODES + 2));
}

static void key_too_long(void)
{
	put16(node(next_leaf, 1) + NODE_KEY_SIZE, 512);
}

static void key_empty(void)
{
	unsigned char *n = node(next_leaf, 1);

	put16(n, get16(n) + get16(n + NODE_KEY_SIZE));
	put16(n + NODE_KEY_SIZE, 0);
}

static void value_beyond_page(void)
{
	put16(node(next_leaf, 0), 4000);
}

static void value_longer(void)
{
	put16(node(next_leaf, 2), get16(node(next_leaf, 2)) + 2u);
}

/* A leaf of one node that fills most of the page: two such could not be split. */
static void node_huge(void)
{
	unsigned at = (unsigned)page - 3000;

	memset(next_leaf + PAGE_NODES, 0, page - PAGE_NODES);
	put16(next_leaf + PAGE_LOWER, PAGE_NODES + 2);
	put16(next_leaf + PAGE_UPPER, at);
	put16(next_leaf + PAGE_NODES, at);
	put16(next_leaf + at, 3000 - NODE_KEY - 2);
	put16(next_leaf + at + NODE_KEY_SIZE, 2);
	memcpy(next_leaf + at + NODE_KEY, "r5", 2);
}

static void swap_keys(void)
{
	unsigned a = get16(leaf + PAGE_NODES + 2), b = get16(leaf + PAGE_NODES + 4);

	put16(leaf + PAGE_NODES + 2, b);
	put16(leaf + PAGE_NODES + 4, a);
}

static void same_key(void)
{
	memcpy(node(leaf, 2) + NODE_KEY, node(leaf, 1) + NODE_KEY, 7);
}

static void key_above_page(void)
{
	node(leaf, nodes_of(leaf) - 1)[NODE_KEY] = 'z';
}

static void key_below_page(void)
{
	node(next_leaf, 0)[NODE_KEY] = 'a';
}

static void child_twice(void)
{
	memcpy(node(branch, 1), node(branch, 0), 6);
}

static void child_nowhere(void)
{
	put16(node(branch, 1) + 2, 0xFFFF);
}

static void child_is_meta(void)
{
	put16(node(branch, 1), 1);
}

static void depth_more(void)
{
	record[TREE_DEPTH]++;
}

static void tree_entries(void)
{
	record[TREE_ENTRIES]++;
}

static void value_page_number(void)
{
	value_page[0] ^= 1;
}

static void value_page_twice(void)
{
	memcpy(value(node(leaf, 1)), value(value_node), 8);
}

static void value_page_nowhere(void)
{
	memset(value(value_node), 0xFF, 8);
}

static void value_beyond_its_pages(void)
{
	put16(value_node, (unsigned)page - 15);
}

static void node_is_table(void)
{
	put16(node(next_leaf, 1) + NODE_FLAGS, 2);
}

static void free_key_size(void)
{
	put16(free_node + NODE_KEY_SIZE, 4);
	put16(free_node, get16(free_node) + 4u);
}

/* As a changed bit makes it; the number of its page stays right, which is even or odd. */
static void txn_later(void)
{
	put64(meta + META_TXN, get64(meta + META_TXN) + 64);
}

static void free_later(void)
{
	unsigned char *last = node(free_leaf, nodes_of(free_leaf) - 1);

	put64(last + NODE_KEY, get64(meta + META_TXN) + 1);
}

static void free_count(void)
{
	put64(value(free_node), get16(free_node) / 8u);
}

static void free_count_huge(void)
{
	put64(value(free_node), UINT64_MAX);
}

static void free_order(void)
{
	unsigned char *list = value(free_node) + 8;
	uint64_t first = get64(list);

	put64(list, get64(list + 8));
	put64(list + 8, first);
}

static void free_twice(void)
{
	put64(value(free_node) + 16, get64(value(free_node) + 8));
}

static void free_and_used(void)
{
	uint64_t n = get64(value(free_node));

	put64(value(free_node) + 8 * n, 2); /* the last, so the lowest; 2 is in use */
	ck_assert_uint_gt(get64(value(free_node) + 8 * n - 8), 2);
}

static void free_nowhere(void)
{
	put64(value(free_node) + 8, get64(meta + META_LAST_PAGE) + 1);
}

static void free_meta(void)
{
	put64(value(free_node) + 8 * get64(value(free_node)), 1);
}

/*
 * What is done by a function or by writing a number at an offset of a part. The record of 49 bytes
 * makes the node no longer: with a name of one byte it had a byte to spare.
 */
static const struct damage {
	void (*inflict)(void);
	unsigned char **part;
	size_t at, width;
	uint64_t value;
	const char *table, *text;
} damages[] = {
	{ NULL, &leaf, PAGE_FLAGS, 1, 0x12, "t", "has the flags 0x12, not 0x2" },
	{ NULL, &branch, PAGE_FLAGS, 1, 2, "t", "has the flags 0x2, not 0x1" },
	{ number_leaf, NULL, 0, 0, 0, "t", "says that it is page" },
	{ lower_odd, NULL, 0, 0, 0, "t", "has impossible bounds" },
	{ NULL, &leaf, PAGE_LOWER, 2, 14, "t", "has impossible bounds" },
	{ NULL, &branch, PAGE_LOWER, 2, PAGE_NODES + 2, "t", "has impossible bounds" },
	{ upper_below_lower, NULL, 0, 0, 0, "t", "has impossible bounds" },
	{ NULL, &leaf, PAGE_UPPER, 2, UINT16_MAX - 1, "t", "has impossible bounds" },
	{ node_odd, NULL, 0, 0, 0, "t", "node 1 has an impossible place or size" },
	{ NULL, &leaf, PAGE_NODES + 2, 2, 0, "t", "node 1 has an impossible place or size" },
	{ node_at_end, NULL, 0, 0, 0, "t", "node 1 has an impossible place or size" },
	{ node_twice, NULL, 0, 0, 0, "t", "its nodes overlap or leave gaps" },
	{ key_too_long, NULL, 0, 0, 0, "t", "node 1 has an impossible place or size" },
	{ key_empty, NULL, 0, 0, 0, "t", "the key of node 1 has a wrong size" },
	{ value_beyond_page, NULL, 0, 0, 0, "t", "node 0 has an impossible place or size" },
	{ value_longer, NULL, 0, 0, 0, "t", "its nodes overlap or leave gaps" },
	{ node_huge, NULL, 0, 0, 0, "t", "node 0 has an impossible place or size" },
	{ swap_keys, NULL, 0, 0, 0, "t", "the key of node 2 is out of order" },
	{ same_key, NULL, 0, 0, 0, "t", "the key of node 2 is out of order" },
	{ key_above_page, NULL, 0, 0, 0, "t", "the last key belongs to another page" },
	{ key_below_page, NULL, 0, 0, 0, "t", "the key of node 0 is out of order" },
	{ child_twice, NULL, 0, 0, 0, "t", "is used, or free, a second time" },
	{ child_nowhere, NULL, 0, 0, 0, "t", "there is no page" },
	{ child_is_meta, NULL, 0, 0, 0, "t", "there is no page 1" },
	{ NULL, &record, TREE_ROOT, 8, 1, "t", "there is no page 1" },
	{ depth_more, NULL, 0, 0, 0, "t", "has the flags 0x2, not 0x1" },
	{ NULL, &record, TREE_DEPTH, 1, 0, "t", "the tree has an impossible depth of 0" },
	{ NULL, &record, TREE_DEPTH, 1, 33, "t", "the tree has an impossible depth of 33" },
	{ NULL, &record, TREE_FLAGS, 1, 4, "t", "the tree has the flags 0x4" },
	{ tree_entries, NULL, 0, 0, 0, "t", "its record says" },
	{ NULL, &meta, META_FREE_ROOT - TREE_ROOT + TREE_FLAGS, 1, 0, "free pages",
	  "the tree has the flags 0x0" },
	{ NULL, &value_page, PAGE_LOWER, 4, 3, "t", "is used, or free, a second time" },
	{ NULL, &value_page, PAGE_LOWER, 4, 1u << 31, "t", "is used, or free, a second time" },
	{ NULL, &value_page, PAGE_LOWER, 4, 0, "t", "bytes in 0 pages" },
	{ NULL, &value_page, PAGE_FLAGS, 1, 2, "t", "has the flags 0x2, not 0x4" },
	{ value_page_number, NULL, 0, 0, 0, "t", "says that it is page" },
	{ value_page_twice, NULL, 0, 0, 0, "t", "is used, or free, a second time" },
	{ value_page_nowhere, NULL, 0, 0, 0, "t", "there is no page" },
	{ value_beyond_its_pages, NULL, 0, 0, 0, "t", "in 1 pages" },
	{ node_is_table, NULL, 0, 0, 0, "t", "a node has the flags 0x2" },
	{ NULL, &tables_node, NODE_FLAGS, 2, 0, "tables", "a node has the flags 0x0" },
	{ NULL, &tables_node, 0, 2, 49, "tables", "a table's record has 49 bytes" },
	{ NULL, &tables_node, NODE_KEY, 1, 0, "tables", "the name of a table" },
	{ free_key_size, NULL, 0, 0, 0, "free pages", "the key of node 0 has a wrong size" },
	{ free_later, NULL, 0, 0, 0, "free pages", "has a wrong key or size" },
	{ txn_later, NULL, 0, 0, 0, "free pages", "the header page is of transaction" },
	{ NULL, &free_node, NODE_KEY, 8, 0, "free pages", "has a wrong key or size" },
	{ free_count, NULL, 0, 0, 0, "free pages", "is longer than its value" },
	{ free_count_huge, NULL, 0, 0, 0, "free pages", "is longer than its value" },
	{ free_order, NULL, 0, 0, 0, "free pages", "is not in order" },
	{ free_twice, NULL, 0, 0, 0, "free pages", "is not in order" },
	{ free_and_used, NULL, 0, 0, 0, "free pages", "is used, or free, a second time" },
	{ free_nowhere, NULL, 0, 0, 0, "free pages", "there is no page" },
	{ free_meta, NULL, 0, 0, 0, "free pages", "there is no page 1" },
};

START_TEST(test_damage_is_found)
{
	const struct damage *d = &damages[_i];
	size_t n = strlen(d->table);

	ck_assert_int_eq(check_file(), SIMIDX_OK);
	if (d->inflict)
		d->inflict();
	else
		/* little-endian, as LMDB's file is here */
		memcpy(*d->part + d->at, &d->value, d->width);
	sxt_file_write(t_data, file, size);
	ck_assert_int_eq(check_file(), SIMIDX_E_CORRUPT);
	ck_assert_msg(!strncmp(first_problem, d->table, n) && first_problem[n] == ':' &&
			      strstr(first_problem, d->text),
		      "found: %s; expected: %s: %s", first_problem, d->table, d->text);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, d->text));
}
END_TEST

/*
 * Neither reads nor writes come to a page that nothing leads to, but LMDB makes no compact copy of
 * such a file: it compares the pages that it copies with all that are not free.
 */
START_TEST(test_lost_page)
{
	put64(meta + META_LAST_PAGE, size / page);
	file = realloc(file, size + page);
	memset(file + size, 0xAA, page);
	sxt_file_write(t_data, file, size + page);
	ck_assert_int_eq(check_file(), SIMIDX_E_CORRUPT);
	ck_assert_str_eq(first_problem, "free pages: pages neither used nor free: 1");
}
END_TEST

/*
 * Of a tree that lacks several pages, all are told at once, between the first and the last of them.
 */
START_TEST(test_missing_pages_are_told_together)
{
	unsigned n_together = 0;

	for (size_t n = size / page; n > 4; n--) {
		sxt_file_write(t_data, file, (n - 1) * page);
		if (check_file() == SIMIDX_OK)
			continue; /* pages that are free */
		ck_assert_uint_le(problems, N_TREES);
		n_together += strstr(first_problem, "its pages from ") != NULL;
	}
	ck_assert_uint_gt(n_together, 0);
}
END_TEST

/* A number of pages that the file does not have costs neither time nor memory. */
START_TEST(test_huge_last_page)
{
	put64(meta + META_LAST_PAGE, size / page + 131071);
	sxt_file_write(t_data, file, size);
	ck_assert_int_eq(check_file(), SIMIDX_E_CORRUPT);
	ck_assert_str_eq(first_problem, "free pages: pages neither used nor free: 131072");
	put64(value(free_node) + 8, (uint64_t)1 << 46);
	sxt_file_write(t_data, file, size);
	ck_assert_int_eq(check_file(), SIMIDX_E_CORRUPT);
}
END_TEST

/* Take pages at the end and free them again, in one transaction, which is committed. */
static void take_and_free(sx_store *store)
{
	sx_txn *txn = t_write(store);
	sx_dbi dbi = t_table(txn, 0);

	sxt_must_ok(t_fill(txn, dbi, 108, 1, store, &sxt_err));
	for (unsigned i = 8; i < 108; i++) {
		char key[16];

		snprintf(key, sizeof(key), "b%06u", i);
		sxt_must_ok(sx_dbi_del(txn, dbi, t_slice(key), &sxt_err));
	}
	t_commit(store, txn);
}

/* Pages at the end that were taken and freed in one transaction are not in the file. */
START_TEST(test_free_pages_beyond_end)
{
	unsigned char *before = file;
	size_t n, size_before = size, left;
	struct rlimit limit;
	sx_store *store = t_open(t_path, 0);

	take_and_free(store);
	ck_assert(!sx_store_is_short(store));
	sx_store_close(store);
	file = sxt_file_read(t_data, &n);
	/*
	 * As if the process had been killed before the file was made longer, which is all zero
	 * there.
	 */
	for (left = n; !file[left - 1]; left--)
		;
	left = (left + page - 1) / page * page;
	ck_assert_uint_lt(left, n);
	sxt_file_write(t_data, file, left);
	store = t_open(t_path, 0);
	ck_assert(sx_store_is_short(store));
	sx_store_close(store);
	ck_assert_int_eq(check_file(), SIMIDX_OK);
	/* One page less, and it is damaged. */
	sxt_file_write(t_data, file, left - page);
	ck_assert_int_eq(check_file(), SIMIDX_E_CORRUPT);
	ck_assert_ptr_nonnull(strstr(first_problem, "the file is cut short"));
	sxt_file_write(t_data, file, left);
	store = t_open(t_path, 0);
	t_rewrite(store, 30, 3);
	sx_store_close(store);
	ck_assert_int_eq(check_file(), SIMIDX_OK);

	/* The file cannot be made longer: the transaction is committed all the same. */
	sxt_file_write(t_data, before, size_before);
	free(before);
	store = t_open(t_path, 0);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = left;
	signal(SIGXFSZ, SIG_IGN);
	ck_assert(!setrlimit(RLIMIT_FSIZE, &limit));
	take_and_free(store);
	ck_assert(sx_store_is_short(store));
	sx_store_close(store);
	ck_assert_int_eq(check_file(), SIMIDX_OK);
}
END_TEST

/* More tables than a store can open. Each open makes as many as it can. */
START_TEST(test_too_many_tables)
{
	for (unsigned from = 0; from < 70; from += 35) {
		sx_store *store = t_open(t_path, 0);
		sx_txn *txn = t_write(store);

		for (unsigned i = from; i < from + 35; i++) {
			char name[16];
			sx_dbi dbi;

			snprintf(name, sizeof(name), "x%u", i);
			sxt_must_ok(sx_dbi_open(txn, name, 1, &dbi, &sxt_err));
		}
		t_commit(store, txn);
		sx_store_close(store);
		ck_assert_int_eq(check_file(), from ? SIMIDX_E_CORRUPT : SIMIDX_OK);
	}
	ck_assert_ptr_nonnull(strstr(first_problem, "tables: there are more than 64 tables"));
}
END_TEST

static const sxt_test tests[] = {
	{ &test_damage_is_found, 0, sizeof(damages) / sizeof(damages[0]) },
	{ &test_lost_page, 0, 1 },
	{ &test_missing_pages_are_told_together, 0, 1 },
	{ &test_huge_last_page, 0, 1 },
	{ &test_free_pages_beyond_end, 0, 1 },
	{ &test_too_many_tables, 0, 1 },
};

SXT_SUITE(page_check, set_up, tear_down);
