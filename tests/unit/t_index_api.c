/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Creating and opening an index: options, permissions and error codes.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/sxt_fixture.h"
#include "support/sxt_index.h"

static int exists(const char *name)
{
	struct stat st;

	return !lstat(name, &st);
}

/* ------------------------------------------------------------------------------------------
 * Creating
 */

static void refuse(const simidx_create_options *o, int code)
{
	simidx *index = (simidx *)&index;

	ck_assert_sx(simidx_create(t_path, o, &index, &sxt_err), code);
	ck_assert_ptr_null(index);
	ck_assert_int_eq(sxt_err.code, code);
	ck_assert_uint_ne(strlen(sxt_err.text), 0);
	ck_assert(!exists(t_path));
	ck_assert_int_eq(simidx_create(t_path, o, &index, NULL), code);
}

#define REFUSE(code, ...)                                                                     \
	do {                                                                                  \
		simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;                         \
                                                                                              \
		__VA_ARGS__;                                                                  \
		refuse(&o, code);                                                             \
	} while (0)

START_TEST(test_create_refuses_bad_options)
{
	char *long_profile = calloc(1, 4098);
	uint64_t check_fps[65] = { 0 };
	simidx *index;

	memset(long_profile, 'x', 4097);
	REFUSE(SIMIDX_E_ARG, o.size = 0);
	REFUSE(SIMIDX_E_ARG, o.size = sizeof(o.size) - 1);
	REFUSE(SIMIDX_E_ARG, o.size = 4097);
	REFUSE(SIMIDX_E_ARG, o.bits = 15);
	REFUSE(SIMIDX_E_ARG, o.bits = 65);
	REFUSE(SIMIDX_E_ARG, o.bits = 1);
	REFUSE(SIMIDX_E_ARG, o.layout = 2);
	REFUSE(SIMIDX_E_ARG, o.flags = 64);
	REFUSE(SIMIDX_E_ARG, o.fill = 49);
	REFUSE(SIMIDX_E_ARG, o.fill = 101);
	REFUSE(SIMIDX_E_ARG, o.plan = "4x17");
	REFUSE(SIMIDX_E_ARG, o.plan = "");
	REFUSE(SIMIDX_E_ARG, o.profile = long_profile);
	REFUSE(SIMIDX_E_ARG, o.n_check_fps = 1);
	REFUSE(SIMIDX_E_ARG, (o.n_check_fps = 65, o.check_fps = check_fps));
	REFUSE(SIMIDX_E_ARG, o.flags = SIMIDX_CREATE_NO_IDS | SIMIDX_CREATE_FP2);
	REFUSE(SIMIDX_E_ARG, o.flags = SIMIDX_CREATE_NO_IDS | SIMIDX_CREATE_TIMES);
	REFUSE(SIMIDX_E_ARG, o.flags = SIMIDX_CREATE_NO_IDS | SIMIDX_CREATE_NOTES);
	ck_assert_sx(simidx_create(NULL, NULL, &index, &sxt_err), SIMIDX_E_ARG);
	ck_assert_ptr_null(index);
	ck_assert_sx(simidx_create(t_path, NULL, NULL, &sxt_err), SIMIDX_E_ARG);
	free(t_path);
	t_path = sxt_path(t_dir, "missing/index");
	REFUSE(SIMIDX_E_NOT_FOUND, (void)o);
	/* Nothing is left behind, neither at the path nor beside it. */
	ck_assert_int_eq(rmdir(t_dir), 0);
	free(long_profile);
}
END_TEST

START_TEST(test_create_stores_what_was_asked)
{
	static const unsigned tables[SXT_N_PLANS] = { 4, 3, 2, 10, 16, 20 }; /* as in sxt_plans */
	uint64_t check_fps[64];

	for (size_t i = 0; i < 64; i++)
		check_fps[i] = i * i;
	for (unsigned i = 0; i < 2 + SXT_N_PLANS; i++) {
		unsigned plan = i < 2 ? 0 : i - 2; /* the default and "auto" are the first */
		simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
		simidx_info info = SIMIDX_INFO_INIT;
		simidx *index;

		o.plan = i == 0 ? NULL : i == 1 ? "auto" : sxt_plans[plan];
		o.bits = i ? 16 + 6 * i : 0;
		o.layout = i % 2;
		o.flags = i % 3 ? SIMIDX_CREATE_FP2 : SIMIDX_CREATE_NO_IDS;
		o.fill = i ? 50 + 7 * i : 0;
		o.profile = i > 2 ? "words12 v1" : NULL;
		o.check_fps = check_fps;
		o.n_check_fps = i > 2 ? 64 : 0;
		index = sxt_create(t_path, &o);
		ck_assert_sx(simidx_get_info(index, &info, &sxt_err), SIMIDX_OK);
		simidx_close(index);
		index = sxt_open(t_path, 0);
		ck_assert_sx(simidx_get_info(index, &info, &sxt_err), SIMIDX_OK);
		ck_assert_uint_eq(info.bits, i ? o.bits : 64);
		ck_assert_uint_eq(info.layout, o.layout);
		ck_assert_uint_eq(info.flags, o.flags);
		ck_assert_uint_eq(info.fill, i ? o.fill : 90);
		ck_assert_uint_eq(info.n_tables, tables[plan]);
		ck_assert_str_eq(info.plan, sxt_plans[plan]);
		ck_assert_str_eq(info.profile, o.profile ? o.profile : "");
		ck_assert_uint_eq(info.n_check_fps, o.n_check_fps);
		if (o.n_check_fps)
			ck_assert_mem_eq(info.check_fps, check_fps, 8 * o.n_check_fps);
		ck_assert_uint_eq(info.format_major, 0);
		ck_assert_uint_eq(info.documents + info.distinct + info.fresh_rows + info.labels,
				  0);
		ck_assert_uint_eq(info.page_bytes, (uint64_t)sysconf(_SC_PAGESIZE));
		simidx_close(index);
		sxt_remove(t_path);
	}
}
END_TEST

START_TEST(test_create_replaces_nothing)
{
	char *file = sxt_path(t_dir, "file"), *full = sxt_path(t_dir, "full");
	char *in_full = sxt_path(full, "note");
	simidx *index;

	/* An empty directory is taken. */
	ck_assert_int_eq(mkdir(t_path, 0755), 0);
	index = t_numbered(t_path, 3, 0);
	simidx_close(index);
	/* An index is not, nor a file, nor a directory with something in it. */
	ck_assert_sx(simidx_create(t_path, NULL, &index, &sxt_err), SIMIDX_E_EXISTS);
	ck_assert_ptr_null(index);
	sxt_file_write(file, "text", 4);
	ck_assert_sx(simidx_create(file, NULL, &index, &sxt_err), SIMIDX_E_EXISTS);
	ck_assert_int_eq(mkdir(full, 0755), 0);
	sxt_file_write(in_full, "text", 4);
	ck_assert_sx(simidx_create(full, NULL, &index, &sxt_err), SIMIDX_E_EXISTS);
	index = sxt_open(t_path, 0);
	ck_assert_uint_eq(t_info(index).documents, 3);
	simidx_close(index);
	ck_assert(exists(file));
	ck_assert(exists(in_full));
	free(file);
	free(in_full);
	free(full);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Opening
 */

START_TEST(test_open_refuses_what_is_no_index)
{
	simidx_open_options o = SIMIDX_OPEN_OPTIONS_INIT;
	char *file = sxt_path(t_dir, "file");
	simidx *index = (simidx *)&index;

	ck_assert_sx(simidx_open(t_path, NULL, &index, &sxt_err), SIMIDX_E_NOT_FOUND);
	ck_assert_ptr_null(index);
	ck_assert_int_eq(sxt_err.code, SIMIDX_E_NOT_FOUND);
	ck_assert_sx(simidx_open(NULL, NULL, &index, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_open(t_path, NULL, NULL, &sxt_err), SIMIDX_E_ARG);
	o.size = 0;
	ck_assert_sx(simidx_open(t_path, &o, &index, &sxt_err), SIMIDX_E_ARG);
	o.size = sizeof(o);
	o.flags = 1u << 31;
	ck_assert_sx(simidx_open(t_path, &o, &index, &sxt_err), SIMIDX_E_ARG);
	sxt_file_write(file, "text", 4);
	ck_assert_sx(simidx_open(file, NULL, &index, &sxt_err), SIMIDX_E_NOT_INDEX);
	ck_assert_int_eq(mkdir(t_path, 0755), 0);
	ck_assert_sx(simidx_open(t_path, NULL, &index, &sxt_err), SIMIDX_E_NOT_INDEX);
	ck_assert_int_eq(simidx_open(t_path, NULL, &index, NULL), SIMIDX_E_NOT_INDEX);
	free(file);
}
END_TEST

START_TEST(test_read_only_handle_cannot_write)
{
	simidx *index = t_numbered(t_path, 3, 0);
	simidx_writer *writer = (simidx_writer *)&writer;
	simidx *reading = sxt_open(t_path, SIMIDX_OPEN_READ_ONLY);

	ck_assert_sx(simidx_writer_open(reading, NULL, &writer, &sxt_err), SIMIDX_E_READ_ONLY);
	ck_assert_ptr_null(writer);
	ck_assert_uint_eq(t_info(reading).documents, 3);
	simidx_close(index);
	simidx_close(reading);
	/* Alone in the process, too. */
	reading = sxt_open(t_path, SIMIDX_OPEN_READ_ONLY);
	ck_assert_sx(simidx_writer_open(reading, NULL, &writer, &sxt_err), SIMIDX_E_READ_ONLY);
	sxt_check_sound(reading);
	simidx_close(reading);
}
END_TEST

START_TEST(test_static_handle_is_alone)
{
	simidx_open_options o = SIMIDX_OPEN_OPTIONS_INIT;
	simidx *index = t_numbered(t_path, 3, 0), *other;
	simidx_writer *writer;
	char *lock = sxt_path(t_path, "lock.mdb");

	o.flags = SIMIDX_OPEN_STATIC;
	ck_assert_sx(simidx_open(t_path, &o, &other, &sxt_err), SIMIDX_E_BUSY);
	ck_assert_ptr_null(other);
	simidx_close(index);
	sxt_remove(lock);
	index = sxt_open(t_path, SIMIDX_OPEN_STATIC);
	ck_assert_sx(simidx_writer_open(index, NULL, &writer, &sxt_err), SIMIDX_E_READ_ONLY);
	ck_assert_uint_eq(t_info(index).documents, 3);
	sxt_check_sound(index);
	ck_assert(!exists(lock));
	ck_assert_sx(simidx_open(t_path, NULL, &other, &sxt_err), SIMIDX_E_BUSY);
	simidx_close(index);
	free(lock);
}
END_TEST

/* As somebody who may not write here; root takes the identity of nobody for it. */
static int without_permission(sxt_proc *me, void *ctx)
{
	char *other = sxt_path(t_dir, "other");
	simidx_open_options o = SIMIDX_OPEN_OPTIONS_INIT;
	simidx *index;

	(void)me;
	(void)ctx;
	if (!geteuid() && (setegid(65534) || seteuid(65534)))
		return SXT_CHILD_SKIPPED;
	sxt_must_sx(simidx_create(other, NULL, &index, &sxt_err), SIMIDX_E_PERMISSION);
	sxt_must_sx(simidx_open(t_path, NULL, &index, &sxt_err), SIMIDX_E_PERMISSION);
	sxt_must(strstr(sxt_err.text, "SIMIDX_OPEN_STATIC"));
	sxt_must_eq(sxt_err.sys_errno, EACCES);
	o.flags = SIMIDX_OPEN_STATIC;
	sxt_must_ok(simidx_open(t_path, &o, &index, &sxt_err));
	sxt_must_eq(t_info(index).documents, 3);
	simidx_close(index);
	free(other);
	return 0;
}

START_TEST(test_without_permission)
{
	char *data = sxt_path(t_path, "data.mdb"), *lock = sxt_path(t_path, "lock.mdb");
	struct stat st;
	int rc;

	simidx_close(t_numbered(t_path, 3, 0));
	ck_assert_int_eq(stat(t_path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0700);
	ck_assert_int_eq(stat(data, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(chmod(t_path, 0555) | chmod(data, 0444) | chmod(lock, 0444), 0);
	/* The directory of the run belongs to us alone. */
	ck_assert_int_eq(chmod(t_dir, 0555), 0);
	{
		char *run = sxt_path(t_dir, "..");

		ck_assert_int_eq(chmod(run, 0711), 0);
		free(run);
	}
	rc = sxt_proc_run(without_permission, NULL);
	ck_assert_int_eq(chmod(t_dir, 0755), 0);
	free(data);
	free(lock);
	if (rc == SXT_CHILD_SKIPPED)
		sxt_skip("no right to become nobody");
	ck_assert_int_eq(rc, 0);
}
END_TEST

/* Two handles on one path are one file, and are closed on their own. */
START_TEST(test_two_handles_are_one_file)
{
	simidx *first = t_numbered(t_path, 3, 0), *second = sxt_open(t_path, 0);
	simidx_writer *writer = sxt_writer(second, 0);
	simidx_reader *reader = sxt_reader(first);
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;

	doc.fp = query.fp = UINT64_MAX;
	ck_assert_sx(simidx_writer_put(writer, &doc, NULL, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_reader_search(reader, &query, &results, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(results.n, 0);
	sxt_commit(writer);
	ck_assert_sx(simidx_reader_search(reader, &query, &results, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(results.n, 1);
	simidx_writer_close(writer);
	simidx_close(second);
	ck_assert_sx(simidx_reader_search(reader, &query, &results, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(results.n, 1);
	simidx_reader_close(reader);
	simidx_close(first);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_create_refuses_bad_options, 0, 1 },
	{ &test_create_stores_what_was_asked, 0, 1 },
	{ &test_create_replaces_nothing, 0, 1 },
	{ &test_open_refuses_what_is_no_index, 0, 1 },
	{ &test_read_only_handle_cannot_write, 0, 1 },
	{ &test_static_handle_is_alone, 0, 1 },
	{ &test_without_permission, 0, 1 },
	{ &test_two_handles_are_one_file, 0, 1 },
};

SXT_SUITE(index_api, sxt_set_up_path, sxt_tear_down);
