/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_writer_delete_older() of an index that the engine in memory holds, by a walk, with and
 * without conditions.
 */

#include <simidx_info.h>
#include <simidx_write.h>

#include "engine/engines.h"
#include "support/sxt_index.h"

#define N_DOCS 9000u /* more than two pages of the walk */
#define CUT 500u

static simidx *index_;
static simidx_writer *writer;

/* Document i has this time; 0: it is not known. */
static uint32_t time_of(uint64_t i)
{
	return i % 7 ? (uint32_t)(i * 37 % 1000) : 0;
}

static int is_old(uint64_t i)
{
	return time_of(i) && time_of(i) < CUT;
}

static void put(uint64_t id, uint32_t time)
{
	simidx_doc doc = SIMIDX_DOC_INIT;

	doc.id = id;
	doc.fp = id * UINT64_C(0x9e3779b97f4a7c15);
	doc.time = time;
	doc.flags = time ? SIMIDX_DOC_TIME : 0;
	sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
}

static void begin(const char *uri, uint64_t n)
{
	engines_add();
	memset(&memory_faults_now, 0, sizeof(memory_faults_now));
	index_ = engines_create(uri, "4x16", 64, SIMIDX_CREATE_TIMES);
	writer = sxt_writer(index_, 0);
	for (uint64_t i = 0; i < n; i++)
		put(i, time_of(i));
	sxt_commit(writer);
}

static void end(void)
{
	sxt_check_sound(index_);
	simidx_writer_close(writer);
	simidx_close(index_);
	memory_clear();
}

/* Whether a document is there, and its time. */
static int find(uint64_t id, uint32_t *time)
{
	simidx_reader *reader = sxt_reader(index_);
	simidx_match match;
	int rc = simidx_reader_find_id(reader, id, &match, NULL);

	sxt_must(rc == SIMIDX_OK || rc == SIMIDX_E_NOT_FOUND);
	*time = rc || !(match.flags & SIMIDX_MATCH_TIME) ? 0 : match.time;
	simidx_reader_close(reader);
	return !rc;
}

static uint64_t delete_older(int want)
{
	uint64_t n = 77;

	ck_assert_sx(simidx_writer_delete_older(writer, CUT, NULL, NULL, &n, &sxt_err), want);
	return n;
}

START_TEST(test_what_is_old_goes)
{
	uint64_t n_old = 0, stored;
	uint32_t time;

	begin(_i ? "memory://older?conditions" : "memory://older", N_DOCS);
	/* What waits is stored first, and is old, too. */
	put(N_DOCS, 3);
	for (uint64_t i = 0; i < N_DOCS; i++)
		n_old += (uint64_t)is_old(i);
	stored = simidx_writer_stored(writer);
	ck_assert_uint_eq(delete_older(SIMIDX_OK), n_old + 1);
	ck_assert_uint_eq(simidx_writer_stored(writer), stored + n_old + 2);
	ck_assert(!find(N_DOCS, &time));
	for (uint64_t i = 0; i < N_DOCS; i += 11)
		sxt_must(find(i, &time) == !is_old(i));
	ck_assert_uint_eq(delete_older(SIMIDX_OK), 0);
	end();
}
END_TEST

/* Another writer sees two old documents again while they are about to be deleted. */
static void see_again(void)
{
	simidx *other = sxt_open("memory://older?conditions", 0);
	simidx_writer *w = sxt_writer(other, 0);

	memory_faults_now.before_write = NULL;
	sxt_must_ok(simidx_writer_touch(w, 1, 900, &sxt_err));
	sxt_must_ok(simidx_writer_touch(w, 2, 901, &sxt_err));
	sxt_commit(w);
	simidx_writer_close(w);
	simidx_close(other);
}

START_TEST(test_what_is_seen_again_stays)
{
	uint64_t n_old = 0, stored;
	uint32_t time;

	begin("memory://older?conditions", 100);
	for (uint64_t i = 0; i < 100; i++)
		n_old += (uint64_t)is_old(i);
	ck_assert(is_old(1) && is_old(2));
	stored = simidx_writer_stored(writer);
	memory_faults_now.before_write = see_again;
	ck_assert_uint_eq(delete_older(SIMIDX_OK), n_old - 2);
	ck_assert_uint_eq(simidx_writer_stored(writer), stored + n_old - 2);
	ck_assert(find(1, &time) && time == 900);
	ck_assert(find(2, &time) && time == 901);
	ck_assert(find(3, &time) == !is_old(3));
	end();
}
END_TEST

/* A walk goes on, though nothing of a page was stored; what is left is for the next call. */
START_TEST(test_all_is_refused)
{
	uint32_t time;

	begin("memory://older?conditions", 20);
	memory_faults_now.refuses_all = 1;
	ck_assert_uint_eq(delete_older(SIMIDX_OK), 0);
	ck_assert(find(1, &time));
	memory_faults_now.refuses_all = 0;
	ck_assert_uint_gt(delete_older(SIMIDX_OK), 5);
	ck_assert(!find(1, &time));
	end();
}
END_TEST

/* What waits counts: a document that was seen again is not old, one that was deleted is gone. */
START_TEST(test_pending_changes_come_first)
{
	uint64_t n_old = 0;
	uint32_t time;

	begin(_i ? "memory://older?conditions" : "memory://older", 50);
	for (uint64_t i = 0; i < 50; i++)
		n_old += (uint64_t)is_old(i);
	ck_assert(is_old(4) && is_old(5));
	ck_assert_sx(simidx_writer_touch(writer, 4, 900, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_writer_delete_id(writer, 5, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(delete_older(SIMIDX_OK), n_old - 2);
	ck_assert(find(4, &time) && time == 900);
	ck_assert(!find(5, &time));
	end();
}
END_TEST

START_TEST(test_no_times)
{
	uint64_t n = 77;

	engines_add();
	memset(&memory_faults_now, 0, sizeof(memory_faults_now));
	index_ = engines_create("memory://timeless", "4x16", 64, 0);
	writer = sxt_writer(index_, 0);
	ck_assert_sx(simidx_writer_delete_older(writer, CUT, NULL, NULL, &n, &sxt_err),
		     SIMIDX_E_MISMATCH);
	ck_assert_uint_eq(n, 0);
	end();
}
END_TEST

static const sxt_test tests[] = {
	{ &test_what_is_old_goes, 0, 2 },
	{ &test_what_is_seen_again_stays, 0, 1 },
	{ &test_all_is_refused, 0, 1 },
	{ &test_pending_changes_come_first, 0, 2 },
	{ &test_no_times, 0, 1 },
};

SXT_SUITE(engine_older, NULL, NULL);
