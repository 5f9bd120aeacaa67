/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Handles, transactions, tables and cursors within one process.
 */

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "support/sxt_fixture.h"
#include "support/sxt_store.h"

START_TEST(test_reopen)
{
	int version[3];

	ck_assert_str_eq(sx_store_path(t_store), t_path);
	ck_assert(sx_store_is_writable(t_store));
	ck_assert(t_has(t_store, "a", "1"));
	sx_store_close(t_store);
	t_store = t_open(t_path, 0);
	ck_assert(sx_store_is_writable(t_store));
	ck_assert(t_has(t_store, "a", "1"));
	sx_store_lmdb_version(version);
	ck_assert_int_eq(version[0], 0);
	ck_assert_int_eq(version[1], 9);
	ck_assert_int_ge(version[2], 24);
}
END_TEST

START_TEST(test_block_size)
{
	static const int extra[] = { 0, 1 };
	static char bytes[1 << 17];
	sx_dbi_stat stat;
	size_t i;

	ck_assert_uint_eq(sx_store_page_size(t_store), (size_t)sysconf(_SC_PAGESIZE));
	for (i = 0; i < 2; i++) {
		sx_slice value = { bytes, sx_store_block_size(t_store) + (size_t)extra[i] };
		sx_txn *txn = t_write(t_store);
		sx_dbi dbi = t_table(txn, 0);

		ck_assert_sx(sx_dbi_put(txn, dbi, t_slice("k"), value, &sxt_err), SIMIDX_OK);
		ck_assert_sx(sx_dbi_stat_get(txn, dbi, &stat, &sxt_err), SIMIDX_OK);
		ck_assert_uint_eq(stat.overflow_pages, i + 1);
		ck_assert_uint_eq(stat.leaf_pages, 1);
		ck_assert_uint_eq(stat.depth, 1);
		t_commit(t_store, txn);
	}
}
END_TEST

START_TEST(test_put_last)
{
	sx_txn *txn = t_write(t_store);
	sx_dbi dbi = t_table(txn, 0);

	ck_assert_sx(sx_dbi_append(txn, dbi, t_slice("b"), t_slice("2"), &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_dbi_append(txn, dbi, t_slice("b"), t_slice("3"), &sxt_err),
		     SIMIDX_E_EXISTS);
	ck_assert_sx(sx_dbi_append(txn, dbi, t_slice("aa"), t_slice("3"), &sxt_err),
		     SIMIDX_E_EXISTS);
	ck_assert_sx(sx_dbi_append(txn, dbi, t_slice("c"), t_slice("3"), &sxt_err), SIMIDX_OK);
	t_commit(t_store, txn);
	ck_assert(t_has(t_store, "b", "2"));
	ck_assert(t_has(t_store, "c", "3"));
}
END_TEST

START_TEST(test_sizes_out_of_range_are_refused)
{
	static char bytes[SX_DBI_MAX_KEY + 1];
	sx_slice longest = { bytes, SX_DBI_MAX_KEY }, longer = { bytes, sizeof(bytes) };
	sx_slice nothing = { NULL, 0 }, value;
	sx_txn *txn = t_write(t_store);
	sx_dbi dbi = t_table(txn, 0);

	ck_assert_sx(sx_dbi_put(txn, dbi, nothing, t_slice("x"), &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(sx_dbi_put(txn, dbi, longer, t_slice("x"), &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(sx_dbi_put(txn, dbi, longest, nothing, &sxt_err), SIMIDX_OK);
	t_commit(t_store, txn);
	txn = t_read(t_store);
	ck_assert_sx(sx_dbi_get(txn, dbi, longest, &value, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(value.size, 0);
	sx_txn_abort(txn);
}
END_TEST

START_TEST(test_tables_stay_open)
{
	sx_dbi dbi, other;
	sx_slice value;
	sx_txn *txn;

	/* Opened in a read transaction that is committed, a table stays open. */
	txn = t_read(t_store);
	ck_assert_sx(sx_dbi_open(txn, "u", 0, &other, &sxt_err), SIMIDX_E_NOT_FOUND);
	dbi = t_table(txn, 0);
	ck_assert_sx(sx_txn_commit(txn, &sxt_err), SIMIDX_OK);
	txn = t_read(t_store);
	ck_assert_sx(sx_dbi_get(txn, dbi, t_slice("a"), &value, &sxt_err), SIMIDX_OK);
	ck_assert(t_equal(value, "1"));
	sx_txn_abort(txn);
	/* Two tables are two name spaces, and an aborted one is gone. */
	txn = t_write(t_store);
	ck_assert_sx(sx_dbi_open(txn, "u", 1, &other, &sxt_err), SIMIDX_OK);
	ck_assert_uint_ne(dbi, other);
	ck_assert_int_eq(sx_dbi_get(txn, other, t_slice("a"), &value, &sxt_err),
			 SIMIDX_E_NOT_FOUND);
	ck_assert_sx(sx_dbi_open(txn, "u", 0, &dbi, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(dbi, other);
	sx_txn_abort(txn);
	sx_store_unlock(t_store);
	txn = t_read(t_store);
	ck_assert_sx(sx_dbi_open(txn, "u", 0, &dbi, &sxt_err), SIMIDX_E_NOT_FOUND);
	sx_txn_abort(txn);
}
END_TEST

START_TEST(test_too_many_tables)
{
	sx_txn *txn = t_write(t_store);
	char name[16];
	sx_dbi dbi;
	int i;

	t_table(txn, 0);
	for (i = 1; i < SX_DBI_MAX; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		ck_assert_sx(sx_dbi_open(txn, name, 1, &dbi, &sxt_err), SIMIDX_OK);
	}
	ck_assert_sx(sx_dbi_open(txn, "more", 1, &dbi, &sxt_err), SIMIDX_E_UNSUPPORTED);
	t_commit(t_store, txn);
}
END_TEST

START_TEST(test_table_flags)
{
	static const char name[] = "flagged-table";
	char *data, *at;
	sx_txn *txn = t_write(t_store);
	size_t size;
	sx_dbi dbi;

	ck_assert_sx(sx_dbi_open(txn, name, 1, &dbi, &sxt_err), SIMIDX_OK);
	t_commit(t_store, txn);
	sx_store_close(t_store);
	/* Its record follows the name: 4 bytes, then the flags; 4 is LMDB's MDB_DUPSORT. */
	data = sxt_file_read(t_data, &size);
	at = memmem(data, size, name, sizeof(name) - 1);
	ck_assert_ptr_nonnull(at);
	ck_assert_int_eq(at[sizeof(name) - 1 + 4], 0);
	at[sizeof(name) - 1 + 4] = 4;
	sxt_file_write(t_data, data, size);
	t_store = t_open(t_path, 0);
	txn = t_read(t_store);
	t_table(txn, 0);
	ck_assert_sx(sx_dbi_open(txn, name, 0, &dbi, &sxt_err), SIMIDX_E_CORRUPT);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, name));
	sx_txn_abort(txn);
	free(data);
}
END_TEST

START_TEST(test_snapshots)
{
	sx_txn *old = t_read(t_store), *txn;
	sx_dbi dbi = t_table(old, 0);
	sx_slice key, value;
	sx_cursor *cursor;
	uint64_t id = sx_txn_id(old);

	ck_assert_sx(sx_txn_commit(old, &sxt_err), SIMIDX_OK);
	old = t_read(t_store);
	ck_assert_sx(sx_cursor_open(old, dbi, &cursor, &sxt_err), SIMIDX_OK);
	txn = t_write(t_store);
	ck_assert_uint_eq(sx_txn_id(txn), id + 1);
	ck_assert_sx(sx_dbi_put(txn, dbi, t_slice("a"), t_slice("2"), &sxt_err), SIMIDX_OK);
	t_commit(t_store, txn);
	ck_assert_uint_eq(sx_txn_id(old), id);
	ck_assert_sx(sx_cursor_last(cursor, &key, &value, &sxt_err), SIMIDX_OK);
	ck_assert(t_equal(value, "1"));
	sx_txn_reset(old);
	sx_txn_reset(old);
	ck_assert_sx(sx_txn_renew(old, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_cursor_renew(old, cursor, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(sx_txn_id(old), id + 1);
	ck_assert_sx(sx_cursor_last(cursor, &key, &value, &sxt_err), SIMIDX_OK);
	ck_assert(t_equal(value, "2"));
	sx_txn_abort(old);
	sx_cursor_close(cursor);
	sx_cursor_close(NULL);
	sx_txn_abort(NULL);
}
END_TEST

START_TEST(test_usage_counts_pages)
{
	char *data = sxt_path(t_path, "data.mdb"), *copy = sxt_dir_make();
	char *copied = sxt_path(copy, "data.mdb");
	uint64_t file, used, less, page = sx_store_page_size(t_store);
	struct stat st;
	sx_txn *txn;
	int i;

	t_rewrite(t_store, 200, 1);
	txn = t_read(t_store);
	ck_assert_sx(sx_dbi_usage(txn, &file, &used, &sxt_err), SIMIDX_OK);
	sx_txn_abort(txn);
	ck_assert_int_eq(stat(data, &st), 0);
	ck_assert_uint_eq(file, (uint64_t)st.st_size);
	ck_assert_uint_ge(used, 200 * page);
	ck_assert_uint_le(used, file);
	txn = t_write(t_store);
	for (i = 0; i < 150; i++) {
		char key[16];

		snprintf(key, sizeof(key), "b%06d", i);
		ck_assert_sx(sx_dbi_del(txn, t_table(txn, 0), t_slice(key), &sxt_err), SIMIDX_OK);
	}
	t_commit(t_store, txn);
	txn = t_read(t_store);
	ck_assert_sx(sx_dbi_usage(txn, &file, &less, &sxt_err), SIMIDX_OK);
	sx_txn_abort(txn);
	ck_assert_uint_le(less, used - 145 * page);
	/* A compact copy has all that is in use but the free list's own pages. */
	ck_assert_sx(sx_store_copy(t_store, copy, &sxt_err), SIMIDX_OK);
	ck_assert_int_eq(stat(copied, &st), 0);
	ck_assert_uint_le((uint64_t)st.st_size, less);
	ck_assert_uint_ge((uint64_t)st.st_size + 3 * page, less);
	free(copied);
	free(copy);
	free(data);
}
END_TEST

START_TEST(test_read_only)
{
	sx_store *other;
	sx_txn *txn;

	sx_store_close(t_store);
	t_store = t_open(t_path, SX_STORE_READ_ONLY);
	ck_assert(!sx_store_is_writable(t_store));
	ck_assert_sx(sx_store_lock(t_store, 0, &sxt_err), SIMIDX_E_READ_ONLY);
	ck_assert_sx(sx_txn_begin_write(t_store, 0, &txn, &sxt_err), SIMIDX_E_READ_ONLY);
	ck_assert_ptr_null(txn);
	ck_assert(t_has(t_store, "a", "1"));
	other = t_open(t_path, 0);
	ck_assert_ptr_eq(other, t_store);
	sx_store_close(other);
}
END_TEST

START_TEST(test_names_of_one_file_share_it)
{
	char *link = sxt_path(t_path, "../link"), *dotted = sxt_path(t_path, "././");
	sx_store_options options = { .flags = SX_STORE_STATIC };
	sx_store *other, *third;

	ck_assert_int_eq(symlink("index", link), 0);
	other = t_open(link, 0);
	ck_assert_ptr_eq(other, t_store);
	third = t_open(dotted, 0);
	ck_assert_ptr_eq(third, t_store);
	ck_assert_sx(sx_store_open(t_path, &options, &third, &sxt_err), SIMIDX_E_BUSY);
	ck_assert_ptr_null(third);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "SIMIDX_OPEN_STATIC"));
	sx_store_close(other);
	sx_store_close(other);
	t_put(t_store, "b", "2");
	sx_store_close(t_store);
	/* And the other way round. */
	t_store = t_open(t_path, SX_STORE_STATIC);
	ck_assert(!sx_store_is_writable(t_store));
	options.flags = 0;
	ck_assert_sx(sx_store_open(t_path, &options, &third, &sxt_err), SIMIDX_E_BUSY);
	ck_assert(t_has(t_store, "b", "2"));
	free(dotted);
	free(link);
}
END_TEST

START_TEST(test_path_survives_chdir)
{
	sx_store_close(t_store);
	ck_assert_int_eq(chdir(t_path), 0);
	ck_assert_int_eq(chdir(".."), 0);
	t_store = t_open("index", 0);
	ck_assert_str_eq(sx_store_path(t_store), "index");
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_sx(sx_store_check_path(t_store, &sxt_err), SIMIDX_OK);
	t_put(t_store, "a", "2");
}
END_TEST

START_TEST(test_no_meta_sync)
{
	int i;

	for (i = 0; i < 4; i++) {
		char text[2] = { (char)('0' + i), 0 };
		sx_txn *txn;

		ck_assert_sx(sx_store_lock(t_store, 0, &sxt_err), SIMIDX_OK);
		ck_assert_sx(sx_txn_begin_write(t_store, i % 2, &txn, &sxt_err), SIMIDX_OK);
		ck_assert_sx(sx_dbi_put(txn, t_table(txn, 0), t_slice("a"), t_slice(text),
				    &sxt_err),
			     SIMIDX_OK);
		t_commit(t_store, txn);
		ck_assert(t_has(t_store, "a", text));
	}
}
END_TEST

/* A file whose last pages were taken and given back in one transaction is not cut short. */
START_TEST(test_freed_at_end)
{
	char *data = sxt_path(t_path, "data.mdb");
	struct stat before, after;
	sx_txn *txn;
	sx_dbi dbi;
	int i;

	ck_assert_int_eq(stat(data, &before), 0);
	txn = t_write(t_store);
	dbi = t_table(txn, 0);
	ck_assert_sx(t_fill(txn, dbi, 100, 1, t_store, &sxt_err), SIMIDX_OK);
	for (i = 0; i < 100; i++) {
		char key[16];

		snprintf(key, sizeof(key), "b%06d", i);
		ck_assert_sx(sx_dbi_del(txn, dbi, t_slice(key), &sxt_err), SIMIDX_OK);
	}
	t_commit(t_store, txn);
	ck_assert_int_eq(stat(data, &after), 0);
	ck_assert_int_ge(after.st_size,
			 before.st_size + 100 * (off_t)sx_store_page_size(t_store));
	sx_store_close(t_store);
	t_store = t_open(t_path, 0);
	ck_assert(t_has(t_store, "a", "1"));
	free(data);
}
END_TEST

/* No descriptor of a store must reach a program that is started with exec(). */
START_TEST(test_close_on_exec)
{
	int fd, found = 0;

	ck_assert_sx(sx_store_lock(t_store, 0, &sxt_err), SIMIDX_OK);
	for (fd = 3; fd < 100; fd++) {
		char name[64], target[4096];
		ssize_t n;

		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		n = readlink(name, target, sizeof(target));
		if (n < (ssize_t)strlen(t_path) || memcmp(target, t_path, strlen(t_path)))
			continue;
		found++;
		ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	}
	/* data.mdb twice, lock.mdb, write.lock */
	ck_assert_int_ge(found, 4);
	sx_store_unlock(t_store);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_reopen, 0, 1 },
	{ &test_block_size, 0, 1 },
	{ &test_put_last, 0, 1 },
	{ &test_sizes_out_of_range_are_refused, 0, 1 },
	{ &test_tables_stay_open, 0, 1 },
	{ &test_too_many_tables, 0, 1 },
	{ &test_table_flags, 0, 1 },
	{ &test_snapshots, 0, 1 },
	{ &test_usage_counts_pages, 0, 1 },
	{ &test_read_only, 0, 1 },
	{ &test_names_of_one_file_share_it, 0, 1 },
	{ &test_path_survives_chdir, 0, 1 },
	{ &test_no_meta_sync, 0, 1 },
	{ &test_freed_at_end, 0, 1 },
	{ &test_close_on_exec, 0, 1 },
};

SXT_SUITE(store, sxt_set_up_store, sxt_tear_down);
