/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Each write of LMDB fails once, at each place of an insert with a merge. What the file holds
 * afterwards is one of the commits, whole, and the index opens, for reading and for writing.
 *
 * When the write of a meta page fails, LMDB writes the new roots with the old transaction number
 * into it, which looks like damage and is none.
 */

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include <simidx_info.h>

#include "support/sxt_fixture.h"
#include "support/sxt_model.h"

#define FAILED 42
#define MERGED 600
#define BATCH 30 /* documents of a commit */
#define BATCHES 4
#define ALL (MERGED + BATCH * BATCHES)
#define LATER 20 /* put after the failure */

static long left; /* writes up to the one that fails; 0 = none does. Set in children only */
static int is_short; /* writes store a part only, as on a full disk, and set no errno */

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
	if (is_short)
		size /= 2;
	if (left && !--left) {
		errno = EIO;
		return -1;
	}
	return (ssize_t)syscall(SYS_pwrite64, fd, data, size, at);
}

static sxt_model model;
static unsigned char *data; /* of the index before the insert */
static size_t data_size;

static void set_up(void)
{
	sxt_set_up_path();
}

static void tear_down(void)
{
	sxt_model_free(&model);
	free(data);
	sxt_tear_down();
}

static void make(unsigned layout)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index;
	sxt_rng rng;

	sxt_rng_init(&rng, 1);
	o.layout = layout;
	sxt_model_init(&model, 64, 0);
	for (unsigned i = 0; i < ALL + LATER; i++)
		sxt_model_add(&model, sxt_rng_u64(&rng), &rng);
	index = sxt_create(t_path, &o);
	sxt_model_store(&model, 0, MERGED, index);
	sxt_merge(index);
	simidx_close(index);
	data = sxt_file_read(t_data, &data_size);
}

/* Put a batch and commit it, by itself; then merge. Ends with FAILED as soon as a call fails. */
static int insert_with_failure(sxt_proc *me, void *ctx)
{
	simidx *index = sxt_open(t_path, 0);
	simidx_writer *writer = sxt_writer(index, 0);

	(void)me;
	left = *(long *)ctx;
	for (size_t i = MERGED; i < ALL; i += BATCH) {
		sxt_model_put(&model, i, i + BATCH, writer);
		if (simidx_writer_commit(writer, &sxt_err))
			return FAILED;
	}
	if (simidx_writer_merge(writer, &sxt_err))
		return FAILED;
	sxt_must(left > 0); /* no call may hide a write that failed */
	simidx_writer_close(writer);
	simidx_close(index);
	return 0;
}

/* Returns how many documents there are: those of whole batches. */
static size_t check_whole_commits(void)
{
	simidx *index = sxt_open(t_path, 0);
	simidx_info info = SIMIDX_INFO_INIT;

	ck_assert_sx(simidx_get_info(index, &info, &sxt_err), SIMIDX_OK);
	ck_assert_uint_ge(info.documents, MERGED);
	ck_assert_uint_eq((info.documents - MERGED) % BATCH, 0);
	sxt_check_content(&model, info.documents, index);
	simidx_close(index);
	return info.documents;
}

/* The next writers find nothing amiss: two commits, one into each meta page, and a merge. */
static void check_next_writers(size_t n)
{
	for (size_t i = n; i < n + LATER; i += LATER / 2) {
		simidx *index = sxt_open(t_path, 0);

		sxt_model_store(&model, i, i + LATER / 2, index);
		simidx_close(index);
	}
	for (int merged = 0; merged < 2; merged++) {
		simidx *index = sxt_open(t_path, 0);

		sxt_check_content(&model, n + LATER, index);
		if (!merged)
			sxt_merge(index);
		simidx_close(index);
	}
}

START_TEST(test_each_write_fails_once)
{
	int status = FAILED;
	long n = 0;

	make((unsigned)_i);
	while (status) {
		n++;
		sxt_file_write(t_data, data, data_size);
		status = sxt_proc_run(insert_with_failure, &n);
		ck_assert(status == FAILED || status == 0);
		check_next_writers(check_whole_commits());
	}
	/* Pages and the meta page of each commit. */
	ck_assert_int_gt(n, 2 * (BATCHES + 3));
}
END_TEST

/* LMDB calls that EIO, as it does a disk that is broken: two things to a user. */
START_TEST(test_short_writes_are_told_as_a_full_disk)
{
	simidx_writer *writer;
	simidx *index;

	make(SIMIDX_LAYOUT_BLOCKS);
	index = sxt_open(t_path, 0);
	writer = sxt_writer(index, 0);
	sxt_model_put(&model, MERGED, ALL, writer);
	is_short = _i;
	left = !_i;
	ck_assert_sx(simidx_writer_commit(writer, &sxt_err), _i ? SIMIDX_E_NO_SPACE : SIMIDX_E_IO);
	is_short = 0;
	simidx_writer_close(writer);
	simidx_close(index);
	check_next_writers(check_whole_commits());
}
END_TEST

static const sxt_test tests[] = {
	{ &test_each_write_fails_once, SIMIDX_LAYOUT_BLOCKS, SIMIDX_LAYOUT_ROWS + 1 },
	{ &test_short_writes_are_told_as_a_full_disk, 0, 2 },
};

SXT_SUITE(failed_write, set_up, tear_down);
