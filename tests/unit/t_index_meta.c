/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Header, profile and mark, which an index keeps twice: one damaged copy changes no answer, is
 * named by verification and mended by the next commit. What never changes stands in front a third
 * time.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <simidx_check.h>
#include <simidx_info.h>
#include <simidx_load.h>

#include "index/sx_index.h"
#include "support/sxt_fixture.h"
#include "support/sxt_model.h"
#include "util/sx_bytes.h"
#include "util/sx_hash.h"

#define MERGED 300
#define ALL 400

static const char profile[] = "words12 v1 bits=64";
static const uint64_t check_fps[] = { 1, 22, 333 };
static const char mark[] = "line 400", later_mark[] = "line 410";

static sxt_model model;
static sxt_rng rng;

static void set_up(void)
{
	sxt_set_up_path();
	sxt_rng_init(&rng, 1);
	sxt_model_init(&model, 64, SIMIDX_CREATE_FP2);
	while (model.n < ALL + 20)
		sxt_model_add(&model, sxt_rng_u64(&rng), &rng);
}

static void tear_down(void)
{
	sxt_model_free(&model);
	sxt_tear_down();
}

static void make_index(unsigned layout)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_writer *writer;
	simidx *index;

	o.flags = SIMIDX_CREATE_FP2;
	o.layout = layout;
	o.profile = profile;
	o.check_fps = check_fps;
	o.n_check_fps = 3;
	index = sxt_create(t_path, &o);
	sxt_model_store(&model, 0, MERGED, index);
	sxt_merge(index);
	writer = sxt_writer(index, 0);
	sxt_model_put(&model, MERGED, ALL, writer);
	sxt_must_ok(simidx_writer_set_mark(writer, mark, sizeof(mark), &sxt_err));
	sxt_commit(writer);
	simidx_writer_close(writer);
	simidx_close(index);
}

static void open_fails(int code)
{
	simidx *index = (simidx *)&index;

	ck_assert_sx(simidx_open(t_path, NULL, &index, &sxt_err), code);
	ck_assert_ptr_null(index);
	ck_assert_int_eq(sxt_err.code, code);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, " "));
}

/* In a write transaction of a closed index. */
static void rewrite(void (*change)(simidx *index, sx_txn *txn, int i), int i)
{
	simidx *index = sxt_open(t_path, 0);
	sx_txn *txn;

	sxt_must_ok(sx_store_lock(index->store, 0, &sxt_err));
	sxt_must_ok(sx_txn_begin_write(index->store, 0, &txn, &sxt_err));
	change(index, txn, i);
	sxt_must_ok(sx_txn_commit(txn, &sxt_err));
	sx_store_unlock(index->store);
	simidx_close(index);
}

/* ------------------------------------------------------------------------------------------
 * Other versions
 */

static void change_header(simidx *index, sx_txn *txn, int i)
{
	sx_header h;

	sxt_must_ok(sx_meta_read_header(txn, &index->tables.meta, &h, &sxt_err));
	h.major += i == 0;
	h.minor += i == 1;
	h.incompat |= i == 2 ? 0x80 : 0;
	h.ro_compat |= i == 3 ? 0x80 : 0;
	h.compat |= i == 4 ? 0x80 : 0;
	h.page_size *= i == 5 ? 2 : 1;
	if (i == 6) /* which has more tables */
		sxt_must_ok(sx_plan_make(&h.plan, "10x26", 64, &sxt_err));
	sxt_must_ok(sx_meta_write_header(txn, &index->tables.meta, &h, &sxt_err));
}

START_TEST(test_other_versions_are_refused)
{
	static const int codes[] = { SIMIDX_E_VERSION, SIMIDX_E_VERSION, SIMIDX_E_VERSION,
				     SIMIDX_OK,        SIMIDX_OK,        SIMIDX_E_CORRUPT,
				     SIMIDX_E_CORRUPT };
	simidx_writer *writer = NULL;
	simidx *index;

	make_index(SIMIDX_LAYOUT_BLOCKS);
	rewrite(change_header, _i);
	if (codes[_i]) {
		open_fails(codes[_i]);
		return;
	}
	index = sxt_open(t_path, 0);
	ck_assert_sx(simidx_writer_open(index, NULL, &writer, &sxt_err),
		     _i == 3 ? SIMIDX_E_READ_ONLY : SIMIDX_OK);
	simidx_writer_close(writer);
	sxt_check_content(&model, ALL, index);
	simidx_close(index);
}
END_TEST

/* Format 0.1 had one copy, and a header of other fields: its first ones say what to do. */
START_TEST(test_format_0_1_is_refused)
{
	sx_store_options how = { .map_size = 1 << 20 };
	unsigned char header[448] = "simidx\x1a\n\0\0\1\0";
	sx_slice key = { "header", 6 }, value = { header, sizeof(header) };
	sx_store *store;
	sx_txn *txn;
	sx_dbi dbi;

	ck_assert_int_eq(mkdir(t_path, 0755), 0);
	sxt_must_ok(sx_store_create(t_path, &how, &store, &sxt_err));
	sxt_must_ok(sx_store_lock(store, 0, &sxt_err));
	sxt_must_ok(sx_txn_begin_write(store, 0, &txn, &sxt_err));
	sxt_must_ok(sx_dbi_open(txn, "meta", 1, &dbi, &sxt_err));
	sxt_must_ok(sx_dbi_put(txn, dbi, key, value, &sxt_err));
	sxt_must_ok(sx_txn_commit(txn, &sxt_err));
	sx_store_unlock(store);
	sx_store_close(store);
	open_fails(SIMIDX_E_VERSION);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "format 0.1"));
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "can dump it"));
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Two copies
 */

static const char *const records[] = { "header", "profile", "mark" };

enum { FLIPPED, CUT, EMPTIED, LOST, OTHER, DAMAGES };

/* How to damage which copy of which record: number = (record * DAMAGES + damage) * 2 + copy. */
static void damage(simidx *index, sx_txn *txn, int number)
{
	const char *record = records[number / 2 / DAMAGES];
	sx_dbi copy = index->tables.meta.copy[number % 2];
	sx_slice key = { record, strlen(record) }, value;
	unsigned char bytes[SX_HEADER_MAX_SIZE];

	sxt_must_ok(sx_dbi_get(txn, copy, key, &value, &sxt_err));
	memcpy(bytes, value.data, value.size);
	value.data = bytes;
	switch (number / 2 % DAMAGES) {
	case FLIPPED:
		bytes[sxt_rng_below(&rng, value.size)] ^= (unsigned char)(1u << sxt_rng_below(&rng,
											      8));
		break;
	case CUT:
		value.size = sxt_rng_below(&rng, value.size);
		break;
	case EMPTIED:
		value.size = 0;
		break;
	case LOST:
		sxt_must_ok(sx_dbi_del(txn, copy, key, &sxt_err));
		return;
	default: /* sound, but not what it was: of another commit */
		bytes[value.size - 9] ^= 1;
		sx_store_le64(bytes + value.size - 8, sx_hash(bytes, value.size - 8));
	}
	sxt_must_ok(sx_dbi_put(txn, copy, key, value, &sxt_err));
}

static unsigned problems;
static char named[16];

static void note_problem(void *ctx, const simidx_problem *problem)
{
	(void)ctx;
	ck_assert_msg(!strncmp(problem->table, "meta", 4), "%s: %s", problem->table, problem->text);
	strcpy(named, problem->table);
	problems++;
}

static void note_other_problem(void *ctx, const simidx_problem *problem)
{
	(void)ctx;
	ck_assert_msg(strncmp(problem->table, "meta", 4), "%s: %s", problem->table, problem->text);
}

static void check_all_is_there(simidx *index, size_t n, const char *want_mark)
{
	char stored[SIMIDX_MAX_MARK];
	simidx_info info = SIMIDX_INFO_INIT;
	size_t size;

	ck_assert_sx(simidx_get_info(index, &info, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(info.documents, n);
	ck_assert_str_eq(info.profile, profile);
	ck_assert_uint_eq(info.n_check_fps, 3);
	ck_assert_mem_eq(info.check_fps, check_fps, sizeof(check_fps));
	ck_assert_sx(simidx_get_mark(index, stored, sizeof(stored), &size, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(size, sizeof(mark));
	ck_assert_mem_eq(stored, want_mark, size);
}

START_TEST(test_one_damaged_copy_is_named_and_mended)
{
	/* Which of two sound copies is the right one nobody knows: the first one counts. */
	int copy = _i % 2, is_wrong = _i / 2 % DAMAGES == OTHER && !copy;
	simidx *index;

	make_index(SIMIDX_LAYOUT_BLOCKS);
	rewrite(damage, _i);
	index = sxt_open(t_path, 0);
	problems = 0;
	if (!is_wrong) {
		ck_assert_sx(simidx_verify(index, note_problem, NULL, NULL, &sxt_err),
			     SIMIDX_E_CORRUPT);
		ck_assert_uint_eq(problems, 1);
		ck_assert_str_eq(named, copy ? "meta2" : "meta");
		check_all_is_there(index, ALL, mark);
	}
	sxt_model_store(&model, ALL, ALL + 20, index);
	simidx_close(index);

	index = sxt_open(t_path, 0);
	if (is_wrong) {
		/* Both are the same again, for better or worse. */
		ck_assert_int_ne(simidx_verify(index, note_other_problem, NULL, NULL, &sxt_err),
				 SIMIDX_E_NOMEM);
	} else {
		sxt_check_content(&model, ALL + 20, index);
		check_all_is_there(index, ALL + 20, mark);
	}
	simidx_close(index);
}
END_TEST

static unsigned char old_records[2][SX_HEADER_MAX_SIZE];
static sx_slice old_header, old_mark;

static void keep_records(simidx *index, sx_txn *txn, int copy)
{
	sx_slice header = { "header", 6 }, key = { "mark", 4 };

	sxt_must_ok(sx_dbi_get(txn, index->tables.meta.copy[copy], header, &old_header, &sxt_err));
	sxt_must_ok(sx_dbi_get(txn, index->tables.meta.copy[copy], key, &old_mark, &sxt_err));
	memcpy(old_records[0], old_header.data, old_header.size);
	memcpy(old_records[1], old_mark.data, old_mark.size);
	old_header.data = old_records[0];
	old_mark.data = old_records[1];
}

static void put_back_records(simidx *index, sx_txn *txn, int copy)
{
	sx_slice header = { "header", 6 }, key = { "mark", 4 };

	sxt_must_ok(sx_dbi_put(txn, index->tables.meta.copy[copy], header, old_header, &sxt_err));
	sxt_must_ok(sx_dbi_put(txn, index->tables.meta.copy[copy], key, old_mark, &sxt_err));
}

/* One copy is what it was some commits ago, as if the disk had lost its page since. */
START_TEST(test_older_copy_is_not_taken)
{
	simidx_writer *writer;
	simidx *index;

	make_index(SIMIDX_LAYOUT_BLOCKS);
	rewrite(keep_records, _i);
	index = sxt_open(t_path, 0);
	writer = sxt_writer(index, 0);
	sxt_model_put(&model, ALL, ALL + 10, writer);
	sxt_must_ok(simidx_writer_set_mark(writer, later_mark, sizeof(later_mark), &sxt_err));
	sxt_commit(writer);
	simidx_writer_close(writer);
	simidx_close(index);
	rewrite(put_back_records, _i);

	index = sxt_open(t_path, 0);
	check_all_is_there(index, ALL + 10, later_mark);
	problems = 0;
	ck_assert_sx(simidx_verify(index, note_problem, NULL, NULL, &sxt_err), SIMIDX_E_CORRUPT);
	ck_assert_uint_eq(problems, 2); /* header and mark */
	ck_assert_str_eq(named, _i ? "meta2" : "meta");
	sxt_model_store(&model, ALL + 10, ALL + 20, index);
	sxt_check_content(&model, ALL + 20, index);
	check_all_is_there(index, ALL + 20, later_mark);
	simidx_close(index);
}
END_TEST

/* Any pair of damages to one record in both copies. */
START_TEST(test_two_damaged_copies_are_refused)
{
	int record = _i / 16, first = _i / 4 % 4, second = _i % 4;
	int number[2] = { (record * DAMAGES + first) * 2, (record * DAMAGES + second) * 2 + 1 };
	char stored[SIMIDX_MAX_MARK];
	simidx *index;
	size_t size;

	make_index(SIMIDX_LAYOUT_BLOCKS);
	/*
	 * A flipped bit of the header may lie in its magic or version, which have codes of their
	 * own.
	 */
	rewrite(damage, number[0]);
	rewrite(damage, number[1]);
	if (record < 2) {
		index = (simidx *)&index;
		if (record)
			open_fails(SIMIDX_E_CORRUPT);
		else
			ck_assert_int_ne(simidx_open(t_path, NULL, &index, &sxt_err), SIMIDX_OK);
		return;
	}
	index = sxt_open(t_path, 0);
	ck_assert_sx(simidx_get_mark(index, stored, sizeof(stored), &size, &sxt_err),
		     first == LOST && second == LOST ? SIMIDX_E_NOT_FOUND : SIMIDX_E_CORRUPT);
	problems = 0;
	ck_assert_sx(simidx_verify(index, note_problem, NULL, NULL, &sxt_err),
		     first == LOST && second == LOST ? SIMIDX_OK : SIMIDX_E_CORRUPT);
	ck_assert_uint_eq(problems, first == LOST && second == LOST ? 0 : 2);
	simidx_close(index);
}
END_TEST

static void spoil_checksums(simidx *index, sx_txn *txn, int copies)
{
	sx_slice key = { "header", 6 }, value;
	unsigned char bytes[SX_HEADER_MAX_SIZE];

	for (int i = 0; i < copies; i++) {
		sxt_must_ok(sx_dbi_get(txn, index->tables.meta.copy[i], key, &value, &sxt_err));
		memcpy(bytes, value.data, value.size);
		bytes[100] ^= 1;
		value.data = bytes;
		sxt_must_ok(sx_dbi_put(txn, index->tables.meta.copy[i], key, value, &sxt_err));
	}
}

START_TEST(test_no_sound_header_is_damage)
{
	make_index(SIMIDX_LAYOUT_BLOCKS);
	rewrite(spoil_checksums, 2);
	open_fails(SIMIDX_E_CORRUPT);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "header"));
}
END_TEST

/*
 * A page that LMDB cannot read at all holds one copy: the other one is read. Such a page cannot be
 * written either, so that a commit fails and changes nothing.
 */
START_TEST(test_unreadable_page_of_one_copy)
{
	static const unsigned char magic[8] = "simidx\x1a\n";
	char *copy = sxt_path(t_dir, "copy");
	unsigned char zeros[4096] = { 0 }, *bytes, *found = NULL;
	simidx_writer *writer;
	simidx *index;
	size_t size;
	int fd;

	make_index(SIMIDX_LAYOUT_BLOCKS);
	index = sxt_open(t_path, 0);
	if (sx_store_page_size(index->store) != sizeof(zeros))
		sxt_skip("pages have not 4096 bytes here");
	/*
	 * In a copy without free pages, each header is in the file once. The first one is that of
	 * about.
	 */
	ck_assert_sx(simidx_backup(index, copy, &sxt_err), SIMIDX_OK);
	simidx_close(index);
	sxt_remove(t_path);
	ck_assert_int_eq(rename(copy, t_path), 0);
	bytes = sxt_file_read(t_data, &size);
	for (int i = 0; i <= _i + 1; i++) {
		found = found ? found + 1 : bytes;
		found = memmem(found, size - (size_t)(found - bytes), magic, sizeof(magic));
		ck_assert_ptr_nonnull(found);
	}
	fd = open(t_data, O_RDWR);
	ck_assert_int_eq(pwrite(fd, zeros, sizeof(zeros), (found - bytes) / 4096 * 4096), 4096);
	close(fd);

	index = sxt_open(t_path, 0);
	check_all_is_there(index, ALL, mark);
	problems = 0;
	ck_assert_sx(simidx_verify(index, note_problem, NULL, NULL, &sxt_err), SIMIDX_E_CORRUPT);
	ck_assert_uint_eq(problems, 1);
	writer = sxt_writer(index, 0);
	sxt_model_put(&model, ALL, ALL + 20, writer);
	ck_assert_sx(simidx_writer_commit(writer, &sxt_err), SIMIDX_E_CORRUPT);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, named));
	simidx_writer_close(writer);
	check_all_is_there(index, ALL, mark);
	simidx_close(index);
	free(bytes);
	free(copy);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * The copy of what never changes
 */

static void damage_basis(simidx *index, sx_txn *txn, int i)
{
	static const char *const keys[] = { "header", "profile" };
	sx_slice key = { keys[i % 2], strlen(keys[i % 2]) }, value;
	unsigned char bytes[SX_HEADER_MAX_SIZE];

	if (i / 2 == 0) {
		sxt_must_ok(sx_dbi_del(txn, index->tables.meta.basis, key, &sxt_err));
		return;
	}
	sxt_must_ok(sx_dbi_get(txn, index->tables.meta.basis, key, &value, &sxt_err));
	memcpy(bytes, value.data, value.size);
	value.data = bytes;
	bytes[i % 2 ? 9 : 30]--; /* a letter, or the fill factor */
	if (i / 2 == 2)
		sx_store_le64(bytes + value.size - 8, sx_hash(bytes, value.size - 8));
	sxt_must_ok(sx_dbi_put(txn, index->tables.meta.basis, key, value, &sxt_err));
}

static void note_basis(void *ctx, const simidx_problem *problem)
{
	ck_assert_str_eq(problem->table, "basis");
	ck_assert_ptr_nonnull(strstr(problem->text, ctx));
	problems++;
}

/* A record that is missing, changed, or another index's: told by verification, and not used. */
START_TEST(test_damaged_basis)
{
	simidx_verify_report report = SIMIDX_VERIFY_REPORT_INIT;
	char key[8];
	simidx *index;

	strcpy(key, _i % 2 ? "profile" : "header");
	make_index(SIMIDX_LAYOUT_BLOCKS);
	rewrite(damage_basis, _i);
	index = sxt_open(t_path, 0);
	problems = 0;
	ck_assert_sx(simidx_verify(index, note_basis, key, &report, &sxt_err), SIMIDX_E_CORRUPT);
	ck_assert_uint_eq(problems, 1);
	ck_assert_uint_eq(report.mended, 0);
	sxt_model_store(&model, ALL, ALL + 10, index);
	check_all_is_there(index, ALL + 10, mark);
	simidx_close(index);
}
END_TEST

static char longest[SX_MAX_PROFILE + 1];

/*
 * Its header has commit number 0. The page that it is in is the same as before, if that is not
 * NULL.
 */
static void check_front(const char *path, unsigned char *before)
{
	char *name = sxt_path(path, "data.mdb");
	size_t size, page = (size_t)sysconf(_SC_PAGESIZE), front = 8 * page;
	unsigned char *file = sxt_file_read(name, &size), *at = file;

	ck_assert_uint_gt(size, front);
	do {
		at = memmem(at, front - (size_t)(at - file), "headersimidx", 12);
		ck_assert_msg(at != NULL, "no copy in the first 8 pages of %s", path);
		at += 6;
	} while (sx_load_le64(at + 128));
	ck_assert_ptr_nonnull(memmem(file, front, longest, SX_MAX_PROFILE));
	at = file + (size_t)(at - file) / page * page;
	if (before && before[0])
		ck_assert_msg(!memcmp(at, before, page), "the copy was written again");
	if (before)
		memcpy(before, at, page);
	free(file);
	free(name);
}

/* Whatever happens to an index, with as much to say of it as can be. */
START_TEST(test_basis_stays_in_front)
{
	char *backup = sxt_path(t_dir, "backup"), *compact = sxt_path(t_dir, "compact");
	uint64_t fps[SX_MAX_CHECK_FPS] = { 1, 2, 3 };
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_loader_options how = SIMIDX_LOADER_OPTIONS_INIT;
	unsigned char *before = calloc(1, (size_t)sysconf(_SC_PAGESIZE));
	simidx_loader *loader;
	simidx *index;

	memset(longest, 'p', SX_MAX_PROFILE);
	o.flags = SIMIDX_CREATE_FP2;
	o.layout = _i ? SIMIDX_LAYOUT_ROWS : SIMIDX_LAYOUT_BLOCKS;
	o.plan = "20x31"; /* its header is the longest */
	o.profile = longest;
	o.check_fps = fps;
	o.n_check_fps = SX_MAX_CHECK_FPS;
	index = sxt_create(t_path, &o);
	check_front(t_path, before);
	for (size_t i = 0; i < ALL; i += 20) {
		sxt_model_store(&model, i, i + 20, index);
		if (i % 100 == 0)
			sxt_merge(index);
	}
	check_front(t_path, before);
	ck_assert_sx(simidx_backup(index, backup, &sxt_err), SIMIDX_OK);
	check_front(backup, NULL);
	simidx_close(index);
	ck_assert_sx(simidx_compact(t_path, compact, NULL, NULL, &sxt_err), SIMIDX_OK);
	check_front(compact, NULL);
	how.memory = 64 << 20;
	ck_assert_sx(simidx_loader_open(t_path, NULL, &how, &loader, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_OK);
	simidx_loader_close(loader);
	check_front(t_path, NULL);
	free(before);
	free(backup);
	free(compact);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_other_versions_are_refused, 0, 7 },
	{ &test_format_0_1_is_refused, 0, 1 },
	{ &test_one_damaged_copy_is_named_and_mended, 0, 3 * DAMAGES * 2 },
	{ &test_older_copy_is_not_taken, 0, 2 },
	{ &test_two_damaged_copies_are_refused, 0, 3 * 16 },
	{ &test_no_sound_header_is_damage, 0, 1 },
	{ &test_unreadable_page_of_one_copy, 0, 2 },
	{ &test_damaged_basis, 0, 6 },
	{ &test_basis_stays_in_front, 0, 2 },
};

SXT_SUITE(index_meta, set_up, tear_down);
