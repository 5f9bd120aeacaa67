/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Opening with SIMIDX_OPEN_CREATE: whoever comes first makes the index.
 */

#include <stdlib.h>
#include <sys/stat.h>

#include <simidx_info.h>

#include "support/sxt_fixture.h"
#include "support/sxt_model.h"

static int open_with(unsigned flags, const simidx_create_options *create, simidx **index)
{
	simidx_open_options o = SIMIDX_OPEN_OPTIONS_INIT;

	o.flags = flags;
	o.map_size = 1 << 28;
	o.create = create;
	return simidx_open(t_path, &o, index, &sxt_err);
}

START_TEST(test_what_is_missing_is_made)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_info info = SIMIDX_INFO_INIT;
	simidx *index;

	create.bits = 48;
	create.map_size = 1 << 28;
	if (_i) /* an empty directory is replaced, as by simidx_create() */
		ck_assert_int_eq(mkdir(t_path, 0700), 0);
	ck_assert_sx(open_with(SIMIDX_OPEN_CREATE, &create, &index), SIMIDX_OK);
	simidx_close(index);
	/* What is there stays as it is. */
	create.bits = 64;
	ck_assert_sx(open_with(SIMIDX_OPEN_CREATE, &create, &index), SIMIDX_OK);
	ck_assert_sx(simidx_get_info(index, &info, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(info.bits, 48);
	simidx_close(index);
}
END_TEST

START_TEST(test_what_cannot_be_made_is_told)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index;

	ck_assert_sx(open_with(SIMIDX_OPEN_CREATE | SIMIDX_OPEN_READ_ONLY, NULL, &index),
		     SIMIDX_E_ARG);
	ck_assert_sx(open_with(SIMIDX_OPEN_CREATE | SIMIDX_OPEN_STATIC, NULL, &index),
		     SIMIDX_E_ARG);
	ck_assert_sx(open_with(0, &create, &index), SIMIDX_E_ARG);
	create.flags = SIMIDX_CREATE_TRUNCATE;
	ck_assert_sx(open_with(SIMIDX_OPEN_CREATE, &create, &index), SIMIDX_E_ARG);
	create.flags = 0;
	create.bits = 65;
	ck_assert_sx(open_with(SIMIDX_OPEN_CREATE, &create, &index), SIMIDX_E_ARG);
	ck_assert_sx(open_with(0, NULL, &index), SIMIDX_E_NOT_FOUND);
	sxt_file_write(t_path, "text", 4);
	ck_assert_sx(open_with(SIMIDX_OPEN_CREATE, NULL, &index), SIMIDX_E_NOT_INDEX);
}
END_TEST

static int open_and_put(sxt_proc *me, void *ctx)
{
	simidx_writer *writer;
	simidx *index;

	(void)ctx;
	sxt_proc_wait(me);
	sxt_must_ok(open_with(SIMIDX_OPEN_CREATE, NULL, &index));
	writer = sxt_writer(index, 0);
	for (int i = 0; i < 10; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.fp = (uint64_t)i;
		sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
		sxt_commit(writer);
	}
	simidx_writer_close(writer);
	simidx_close(index);
	return 0;
}

#define PROCESSES 4

/* All of them put into the same index, and nothing is lost; also where an empty directory was. */
START_TEST(test_several_come_at_once)
{
	for (int round = 0; round < (sxt_is_long() ? 200 : 20); round++) {
		simidx_info info = SIMIDX_INFO_INIT;
		sxt_proc proc[PROCESSES];
		simidx *index;

		if (_i)
			ck_assert_int_eq(mkdir(t_path, 0700), 0);
		for (int i = 0; i < PROCESSES; i++)
			sxt_proc_start(&proc[i], open_and_put, NULL);
		for (int i = 0; i < PROCESSES; i++)
			sxt_proc_tell(&proc[i]);
		for (int i = 0; i < PROCESSES; i++)
			ck_assert_int_eq(sxt_proc_finish(&proc[i]), 0);
		index = sxt_open(t_path, 0);
		ck_assert_sx(simidx_get_info(index, &info, &sxt_err), SIMIDX_OK);
		ck_assert_uint_eq(info.documents, PROCESSES * 10);
		simidx_close(index);
		sxt_remove(t_path);
	}
}
END_TEST

static const sxt_test tests[] = {
	{ &test_what_is_missing_is_made, 0, 2 },
	{ &test_what_cannot_be_made_is_told, 0, 1 },
	{ &test_several_come_at_once, 0, 2 },
};

SXT_SUITE(open_create, sxt_set_up_path, sxt_tear_down);
