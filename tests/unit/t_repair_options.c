/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What a repair keeps besides the documents: the options, the profile, the mark and the next id. So
 * does what makes an index anew that is not damaged.
 */

#include <stdlib.h>
#include <string.h>

#include <simidx_check.h>
#include <simidx_info.h>
#include <simidx_load.h>
#include <simidx_repair.h>

#include "support/sxt_fixture.h"
#include "support/sxt_model.h"

#define DOCUMENTS 50
#define NEXT_ID 12345

static const uint64_t check_fps[] = { 5, 7 };

static const struct {
	simidx_create_options create;
	size_t mark_size;
} cases[] = {
	{ { .plan = "4x16", .bits = 64, .fill = 90 }, 0 },
	{ { .plan = "3x22", .bits = 40, .fill = 50, .layout = SIMIDX_LAYOUT_ROWS,
	    .flags = SIMIDX_CREATE_FP2 | SIMIDX_CREATE_NOTES, .profile = "p" }, 1 },
	{ { .plan = "10x26", .bits = 64, .fill = 100, .flags = SIMIDX_CREATE_TIMES,
	    .profile = "a longer profile", .check_fps = check_fps, .n_check_fps = 2 },
	  SIMIDX_MAX_MARK },
	{ { .plan = "2x32", .bits = 64, .fill = 77, .flags = SIMIDX_CREATE_NO_IDS }, 2 },
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static unsigned char mark[SIMIDX_MAX_MARK];

static void make_index(int i)
{
	simidx_create_options o = cases[i].create;
	simidx_writer *writer;
	simidx *index;

	o.size = sizeof(o);
	for (size_t k = 0; k < sizeof(mark); k++)
		mark[k] = (unsigned char)(3 * k + 1);
	index = sxt_create(t_path, &o);
	writer = sxt_writer(index, 0);
	for (uint64_t fp = 0; fp < DOCUMENTS; fp++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.fp = fp * 1000003;
		if (o.flags & SIMIDX_CREATE_FP2)
			doc.flags = SIMIDX_DOC_FP2;
		sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	}
	if (!(o.flags & SIMIDX_CREATE_NO_IDS))
		sxt_must_ok(simidx_writer_reserve_ids(writer, NEXT_ID, &sxt_err));
	if (cases[i].mark_size)
		sxt_must_ok(simidx_writer_set_mark(writer, mark, cases[i].mark_size, &sxt_err));
	sxt_commit(writer);
	simidx_writer_close(writer);
	simidx_close(index);
}

static void check(const char *path, int i)
{
	const simidx_create_options *o = &cases[i].create;
	simidx_info info = SIMIDX_INFO_INIT;
	simidx *index = sxt_open(path, 0);
	unsigned char bytes[SIMIDX_MAX_MARK];
	size_t n = 0;
	int rc = simidx_get_mark(index, bytes, sizeof(bytes), &n, &sxt_err);

	ck_assert_sx(rc, cases[i].mark_size ? SIMIDX_OK : SIMIDX_E_NOT_FOUND);
	ck_assert_uint_eq(n, cases[i].mark_size);
	ck_assert(!memcmp(bytes, mark, n));
	sxt_must_ok(simidx_get_info(index, &info, &sxt_err));
	ck_assert_str_eq(info.plan, o->plan);
	ck_assert_uint_eq(info.bits, o->bits);
	ck_assert_uint_eq(info.fill, o->fill);
	ck_assert_uint_eq(info.layout, o->layout);
	ck_assert_uint_eq(info.flags, o->flags);
	ck_assert_str_eq(info.profile, o->profile ? o->profile : "");
	ck_assert_uint_eq(info.n_check_fps, o->n_check_fps);
	for (size_t k = 0; k < info.n_check_fps; k++)
		ck_assert_uint_eq(info.check_fps[k], check_fps[k]);
	ck_assert_uint_eq(info.documents, DOCUMENTS);
	ck_assert_uint_eq(info.next_id,
			  o->flags & SIMIDX_CREATE_NO_IDS ? SIMIDX_NO_ID : NEXT_ID);
	sxt_check_sound(index);
	simidx_close(index);
}

START_TEST(test_options_stay)
{
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT, none = report;
	simidx_loader_options in_place = SIMIDX_LOADER_OPTIONS_INIT;
	char *repaired = sxt_path(t_dir, "repaired"), *compacted = sxt_path(t_dir, "compacted");
	simidx_loader *loader;

	make_index(_i);
	check(t_path, _i);
	sxt_must_ok(simidx_repair(t_path, repaired, NULL, NULL, NULL, &report, &sxt_err));
	none.documents = DOCUMENTS;
	ck_assert(!memcmp(&report, &none, sizeof(report)));
	check(repaired, _i);
	sxt_must_ok(simidx_compact(repaired, compacted, NULL, NULL, &sxt_err));
	check(compacted, _i);
	sxt_must_ok(simidx_loader_open(compacted, NULL, &in_place, &loader, &sxt_err));
	sxt_must_ok(simidx_loader_finish(loader, NULL, &sxt_err));
	simidx_loader_close(loader);
	check(compacted, _i);
	free(repaired);
	free(compacted);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_options_stay, 0, N_CASES },
};

SXT_SUITE(repair_options, sxt_set_up_path, sxt_tear_down);
