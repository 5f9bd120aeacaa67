/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What a store is opened from: good files, damaged ones and none.
 */

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "store/sx_page_check.h"
#include "support/sxt_fixture.h"
#include "support/sxt_store.h"

/* Where LMDB 0.9 keeps things in a meta page, as its documentation of the structs says. */
#define AT_FLAGS 10
#define AT_MAGIC 16
#define AT_VERSION 20
#define AT_PAGE_SIZE 40
#define AT_FREE_ROOT 80
#define AT_MAIN_ROOT 128
#define AT_LAST_PAGE 136
#define AT_TXN 144

static unsigned char *good; /* a data file of a few hundred pages */
static size_t good_size, page;

/* The file system that fstatfs() finds, instead of the real one, unless it is 0. */
static long fake_file_system;

int fstatfs(int fd, struct statfs *out)
{
	int rc = (int)syscall(SYS_fstatfs, fd, out);

	if (!rc && fake_file_system)
		out->f_type = fake_file_system;
	return rc;
}

static void set_up(void)
{
	sx_store *store;

	sxt_set_up_path();
	store = t_create(t_path, 0);
	t_rewrite(store, 20, 1);
	t_rewrite(store, 60, 2);
	page = sx_store_page_size(store);
	sx_store_close(store);
	good = sxt_file_read(t_data, &good_size);
}

static void tear_down(void)
{
	free(good);
	sxt_tear_down();
}

/* Open and close, as simidx_open() does it: the code, and its text in sxt_err. */
static int try_open(const char *where, unsigned flags)
{
	sx_store_options options = { .flags = flags, .map_size = T_MAP };
	sx_store *store;
	int rc;

	sxt_error_clear(&sxt_err);
	rc = sx_store_open(where, &options, &store, &sxt_err);
	ck_assert_int_eq(rc, sxt_err.code);
	if (rc) {
		ck_assert_ptr_null(store);
	} else if (sx_store_is_short(store)) {
		sx_txn *txn = t_read(store);

		rc = sx_page_check(txn, NULL, NULL, &sxt_err);
		sx_txn_abort(txn);
	}
	sx_store_close(store);
	return rc;
}

START_TEST(test_cut_short_is_refused)
{
	sxt_rng rng;
	size_t size;
	int i;

	/* The newest transaction wrote the last page, so every byte of the file counts. */
	sxt_rng_init(&rng, 1);
	for (i = 0; i < 400; i++) {
		int rc;

		if (i < 200)
			size = (size_t)i;
		else if (i < 300)
			size = (size_t)(i - 199) * page;
		else
			size = sxt_rng_below(&rng, good_size);
		if (size >= good_size)
			continue;
		sxt_file_write(t_data, good, size);
		rc = try_open(t_path, 0);
		if (size < AT_VERSION)
			ck_assert_int_eq(rc, SIMIDX_E_NOT_INDEX);
		else
			ck_assert_msg(rc == SIMIDX_E_CORRUPT &&
					      strstr(sxt_err.text, "cut short"),
				      "%zu bytes: %d %s", size, rc, sxt_err.text);
	}
	for (size = good_size - 2; size < good_size; size++) {
		sxt_file_write(t_data, good, size);
		ck_assert_int_eq(try_open(t_path, 0), SIMIDX_E_CORRUPT);
	}
	sxt_file_write(t_data, good, good_size);
	ck_assert_int_eq(try_open(t_path, 0), SIMIDX_OK);
	ck_assert_int_eq(try_open(t_path, SX_STORE_STATIC), SIMIDX_OK);
}
END_TEST

static void put16(unsigned char *at, uint16_t x)
{
	memcpy(at, &x, sizeof(x));
}

static void put32(unsigned char *at, uint32_t x)
{
	memcpy(at, &x, sizeof(x));
}

static void put64(unsigned char *at, uint64_t x)
{
	memcpy(at, &x, sizeof(x));
}

/*
 * A change of one or both meta pages, and what must come of it. What every commit writes matters
 * in the newer page only; the rest LMDB wants to see in both.
 */
struct damage {
	size_t at;
	int width;
	uint64_t value;
	int code_both;  /* in both pages */
	int code_newer; /* in the newer one */
	int code_older;
};

static const struct damage damages[] = {
	{ AT_MAGIC, 4, 0xBEEFC0DF, SIMIDX_E_NOT_INDEX, SIMIDX_E_CORRUPT, SIMIDX_E_CORRUPT },
	{ AT_MAGIC, 4, 0xDEC0EFBE, SIMIDX_E_UNSUPPORTED, SIMIDX_E_CORRUPT, SIMIDX_E_CORRUPT },
	{ AT_MAGIC, 4, 0, SIMIDX_E_NOT_INDEX, SIMIDX_E_CORRUPT, SIMIDX_E_CORRUPT },
	{ AT_VERSION, 4, 0, SIMIDX_E_UNSUPPORTED, SIMIDX_E_CORRUPT, SIMIDX_E_CORRUPT },
	{ AT_VERSION, 4, 2, SIMIDX_E_UNSUPPORTED, SIMIDX_E_CORRUPT, SIMIDX_E_CORRUPT },
	{ AT_VERSION, 4, 999, SIMIDX_E_UNSUPPORTED, SIMIDX_E_CORRUPT, SIMIDX_E_CORRUPT },
	{ AT_PAGE_SIZE, 4, 512, SIMIDX_E_UNSUPPORTED, SIMIDX_E_CORRUPT, SIMIDX_E_CORRUPT },
	{ AT_PAGE_SIZE, 4, 65536, SIMIDX_E_UNSUPPORTED, SIMIDX_E_CORRUPT, SIMIDX_E_CORRUPT },
	{ AT_PAGE_SIZE, 4, 0, SIMIDX_E_UNSUPPORTED, SIMIDX_E_CORRUPT, SIMIDX_E_CORRUPT },
	{ AT_PAGE_SIZE, 4, 4095, SIMIDX_E_UNSUPPORTED, SIMIDX_E_CORRUPT, SIMIDX_E_CORRUPT },
	{ AT_FLAGS, 2, 0x02, SIMIDX_E_CORRUPT, SIMIDX_E_CORRUPT, SIMIDX_E_CORRUPT },
	{ AT_TXN, 8, (uint64_t)1 << 62, SIMIDX_E_CORRUPT, SIMIDX_E_CORRUPT, SIMIDX_E_CORRUPT },
	{ AT_LAST_PAGE, 8, 0, SIMIDX_E_CORRUPT, SIMIDX_E_CORRUPT, SIMIDX_OK },
	{ AT_LAST_PAGE, 8, UINT64_MAX, SIMIDX_E_CORRUPT, SIMIDX_E_CORRUPT, SIMIDX_OK },
	{ AT_LAST_PAGE, 8, (uint64_t)1 << 52, SIMIDX_E_CORRUPT, SIMIDX_E_CORRUPT, SIMIDX_OK },
	{ AT_MAIN_ROOT, 8, (uint64_t)1 << 40, SIMIDX_E_CORRUPT, SIMIDX_E_CORRUPT, SIMIDX_OK },
	{ AT_FREE_ROOT, 8, (uint64_t)1 << 40, SIMIDX_E_CORRUPT, SIMIDX_E_CORRUPT, SIMIDX_OK },
};

static void inflict(unsigned char *meta, const struct damage *d)
{
	if (d->width == 2)
		put16(meta + d->at, (uint16_t)d->value);
	else if (d->width == 4)
		put32(meta + d->at, (uint32_t)d->value);
	else
		put64(meta + d->at, d->value);
}

/* The meta page of `file` with the higher transaction number, 0 or 1. */
static int newer_of(const unsigned char *file)
{
	uint64_t txn[2];

	memcpy(&txn[0], file + AT_TXN, 8);
	memcpy(&txn[1], file + page + AT_TXN, 8);
	ck_assert_uint_ne(txn[0], txn[1]);
	return txn[0] < txn[1];
}

START_TEST(test_damaged_meta_is_refused)
{
	const struct damage *d = &damages[_i];
	unsigned char *bad = malloc(good_size);
	int newer = newer_of(good);

	for (int which = 1; which <= 3; which++) {
		int expected = which == 3 ? d->code_both
			       : which == newer + 1 ? d->code_newer : d->code_older;

		memcpy(bad, good, good_size);
		if (which & 1)
			inflict(bad, d);
		if (which & 2)
			inflict(bad + page, d);
		sxt_file_write(t_data, bad, good_size);
		ck_assert_int_eq(try_open(t_path, 0), expected);
	}
	free(bad);
}
END_TEST

/* What LMDB leaves when a meta page cannot be written, made by hand. */
START_TEST(test_commits_mend_both_pages)
{
	unsigned char *bad = malloc(good_size), *now;
	int newer = newer_of(good);
	unsigned char *older = bad + (1 - newer) * page;
	sx_store *store;
	uint64_t root;

	memcpy(bad, good, good_size);
	put64(older + AT_FREE_ROOT, 1000000);
	put64(older + AT_MAIN_ROOT, 1000001);
	sxt_file_write(t_data, bad, good_size);
	store = t_open(t_path, 0);
	t_put(store, "a", "2");
	sx_store_close(store);
	/* The bad page was replaced, so now it is the newer one. */
	now = sxt_file_read(t_data, NULL);
	ck_assert_int_eq(newer_of(now), 1 - newer);
	memcpy(&root, now + (1 - newer) * page + AT_MAIN_ROOT, 8);
	ck_assert_uint_lt(root, 1000000);
	free(now);
	store = t_open(t_path, 0);
	ck_assert(t_has(store, "a", "2"));
	t_put(store, "a", "3");
	sx_store_close(store);
	store = t_open(t_path, SX_STORE_STATIC);
	ck_assert(t_has(store, "a", "3"));
	sx_store_close(store);
	free(bad);
}
END_TEST

/* LMDB looks for transaction N in page N % 2: elsewhere it would read one and count on another. */
START_TEST(test_transaction_in_wrong_page)
{
	unsigned char *bad = malloc(good_size), *newer;
	uint64_t txn;

	memcpy(bad, good, good_size);
	newer = bad + newer_of(good) * page;
	memcpy(&txn, newer + AT_TXN, 8);
	put64(newer + AT_TXN, txn + 1);
	sxt_file_write(t_data, bad, good_size);
	ck_assert_int_eq(try_open(t_path, 0), SIMIDX_E_CORRUPT);
	put64(newer + AT_TXN, txn + 2);
	sxt_file_write(t_data, bad, good_size);
	ck_assert_int_eq(try_open(t_path, 0), SIMIDX_OK);
	free(bad);
}
END_TEST

START_TEST(test_file_of_other_machine_is_refused)
{
	unsigned char *bad = calloc(1, good_size);

	/* A 32-bit LMDB has shorter page numbers, so its magic number stands at 12. */
	put32(bad + 12, 0xBEEFC0DE);
	sxt_file_write(t_data, bad, good_size);
	ck_assert_int_eq(try_open(t_path, 0), SIMIDX_E_UNSUPPORTED);
	/* A file whose pages are larger than ours: the second meta page is elsewhere. */
	memcpy(bad, good, page);
	put32(bad + AT_PAGE_SIZE, (uint32_t)(4 * page));
	memset(bad + page, 0, page);
	memcpy(bad + 4 * page, bad, page);
	sxt_file_write(t_data, bad, good_size);
	ck_assert_int_eq(try_open(t_path, 0), SIMIDX_E_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "pages of"));
	free(bad);
}
END_TEST

/* Of the two meta pages the one with the higher transaction number counts. */
START_TEST(test_newer_counts)
{
	unsigned char *bad = malloc(good_size), *older = bad, *newer = bad + page;

	memcpy(bad, good, good_size);
	if (!newer_of(good)) {
		older = bad + page;
		newer = bad;
	}
	put64(older + AT_LAST_PAGE, 1000000);
	sxt_file_write(t_data, bad, good_size);
	ck_assert_int_eq(try_open(t_path, 0), SIMIDX_OK);
	put64(newer + AT_LAST_PAGE, good_size / page + 131072);
	sxt_file_write(t_data, bad, good_size);
	ck_assert_int_eq(try_open(t_path, 0), SIMIDX_E_CORRUPT);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "cut short"));
	free(bad);
}
END_TEST

START_TEST(test_junk_is_refused)
{
	static const char text[] = "This is a letter, not an index.\n";
	unsigned char *bad = malloc(good_size);
	sxt_rng rng;
	size_t i;
	int n;

	sxt_file_write(t_data, text, sizeof(text) - 1);
	ck_assert_int_eq(try_open(t_path, 0), SIMIDX_E_NOT_INDEX);
	sxt_file_write(t_data, "", 0);
	ck_assert_int_eq(try_open(t_path, 0), SIMIDX_E_NOT_INDEX);
	sxt_rng_init(&rng, 2);
	for (n = 0; n < 20; n++) {
		for (i = 0; i < good_size; i++)
			bad[i] = (unsigned char)sxt_rng_u64(&rng);
		sxt_file_write(t_data, bad, good_size);
		ck_assert_int_eq(try_open(t_path, 0), SIMIDX_E_NOT_INDEX);
	}
	/* Behind the last page anything may stand. */
	sxt_file_write(t_data, good, good_size);
	free(bad);
	bad = malloc(good_size + 5000);
	memcpy(bad, good, good_size);
	memset(bad + good_size, 0xAA, 5000);
	sxt_file_write(t_data, bad, good_size + 5000);
	ck_assert_int_eq(try_open(t_path, 0), SIMIDX_OK);
	free(bad);
}
END_TEST

START_TEST(test_what_is_no_store_is_refused)
{
	char *nothing = sxt_path(t_dir, "nothing"), *file = sxt_path(t_dir, "file");
	char *empty = sxt_path(t_dir, "empty"), *inside = sxt_path(empty, "data.mdb");
	char *lock = sxt_path(t_path, "lock.mdb");

	ck_assert_int_eq(try_open(nothing, 0), SIMIDX_E_NOT_FOUND);
	sxt_file_write(file, "x", 1);
	ck_assert_int_eq(try_open(file, 0), SIMIDX_E_NOT_INDEX);
	ck_assert_int_eq(mkdir(empty, 0700), 0);
	ck_assert_int_eq(try_open(empty, 0), SIMIDX_E_NOT_INDEX);
	ck_assert_int_eq(mkdir(inside, 0700), 0);
	ck_assert_int_eq(try_open(empty, 0), SIMIDX_E_NOT_INDEX);
	ck_assert_int_eq(rmdir(inside), 0);
	ck_assert_int_eq(symlink(t_data, inside), 0);
	ck_assert_int_eq(try_open(empty, 0), SIMIDX_E_NOT_INDEX);
	ck_assert_int_eq(unlink(inside), 0);
	ck_assert_int_eq(mkfifo(inside, 0600), 0);
	ck_assert_int_eq(try_open(empty, 0), SIMIDX_E_NOT_INDEX);
	ck_assert_int_eq(unlink(lock), 0);
	ck_assert_int_eq(symlink(file, lock), 0);
	ck_assert_int_eq(try_open(t_path, 0), SIMIDX_E_NOT_INDEX);
	ck_assert_int_eq(unlink(lock), 0);
	ck_assert_int_eq(try_open(t_path, 0), SIMIDX_OK);
	free(lock);
	free(inside);
	free(empty);
	free(file);
	free(nothing);
}
END_TEST

START_TEST(test_network_file_system)
{
	static const long refused[] = { 0x6969, 0xFF534D42, 0xFE534D42, 0x01021997,
					0x65735546 };
	/* ext4, xfs, btrfs, tmpfs, overlayfs */
	static const long accepted[] = { 0xEF53, 0x58465342, 0x9123683E, 0x01021994,
					 0x794C7630 };
	sx_store_options options = { .map_size = T_MAP };
	char *other = sxt_dir_make();
	sx_store *store;
	size_t i;

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		fake_file_system = refused[i];
		ck_assert_int_eq(try_open(t_path, 0), SIMIDX_E_UNSUPPORTED);
		ck_assert_int_eq(try_open(t_path, SX_STORE_FORCE), SIMIDX_OK);
		ck_assert_sx(sx_store_create(other, &options, &store, &sxt_err),
			     SIMIDX_E_UNSUPPORTED);
	}
	for (i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
		fake_file_system = accepted[i];
		ck_assert_int_eq(try_open(t_path, 0), SIMIDX_OK);
	}
	free(other);
}
END_TEST

START_TEST(test_create_rules)
{
	sx_store_options options = { .map_size = T_MAP };
	sx_store *store;

	ck_assert_sx(sx_store_create(t_path, &options, &store, &sxt_err), SIMIDX_E_EXISTS);
	ck_assert_ptr_null(store);
	options.flags = SX_STORE_READ_ONLY;
	ck_assert_sx(sx_store_create(t_dir, &options, &store, &sxt_err), SIMIDX_E_ARG);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_cut_short_is_refused, 0, 1 },
	{ &test_damaged_meta_is_refused, 0, sizeof(damages) / sizeof(damages[0]) },
	{ &test_commits_mend_both_pages, 0, 1 },
	{ &test_transaction_in_wrong_page, 0, 1 },
	{ &test_file_of_other_machine_is_refused, 0, 1 },
	{ &test_newer_counts, 0, 1 },
	{ &test_junk_is_refused, 0, 1 },
	{ &test_what_is_no_store_is_refused, 0, 1 },
	{ &test_network_file_system, 0, 1 },
	{ &test_create_rules, 0, 1 },
};

SXT_SUITE(store_files, set_up, tear_down);
