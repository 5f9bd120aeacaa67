/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Compacting: the same documents in a new file, in which nothing is left of those that were
 * deleted.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <simidx_check.h>
#include <simidx_info.h>
#include <simidx_load.h>

#include "index/sx_index.h"
#include "index/sx_snapshot.h"
#include "plan/sx_perm.h"
#include "support/sxt_fixture.h"
#include "support/sxt_live.h"
#include "util/sx_bytes.h"

#define MEMORY ((uint64_t)64 << 20)
#define PROFILE "a line of a program of its own"

static const unsigned kinds[] = { 0, SIMIDX_CREATE_NO_IDS, SIMIDX_CREATE_FP2 };

#define KINDS 3
#define LAYOUTS 2
#define VARIANTS (SXT_N_PLANS * LAYOUTS * KINDS)

static char *t_other;

static void set_up(void)
{
	sxt_set_up_path();
	t_other = sxt_path(t_dir, "other");
}

static void tear_down(void)
{
	free(t_other);
	sxt_tear_down();
}

static simidx_create_options variant(int i)
{
	static const uint64_t check_fps[] = { 11, 22, 33 };
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;

	o.plan = sxt_plans[i % SXT_N_PLANS];
	o.layout = (unsigned)(i / SXT_N_PLANS) % LAYOUTS;
	o.flags = kinds[i / SXT_N_PLANS / LAYOUTS];
	o.bits = i % 5 ? 64 : 40;
	o.mode = i % 2 ? 0640 : 0600;
	o.profile = PROFILE;
	o.check_fps = check_fps;
	o.n_check_fps = 3;
	return o;
}

static simidx_compact_options least_memory(void)
{
	simidx_compact_options o = SIMIDX_COMPACT_OPTIONS_INIT;

	o.memory = MEMORY;
	return o;
}

/* ------------------------------------------------------------------------------------------
 * The same content
 */

#define KILLED 42

static unsigned steps_left; /* of a merge, in a child */

static void die_in_time(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
	(void)ctx, (void)phase, (void)done, (void)total;
	if (!steps_left--)
		_exit(KILLED);
}

static int merge_and_die(sxt_proc *me, void *ctx)
{
	simidx *index = sxt_open(t_path, 0);

	(void)me;
	steps_left = *(unsigned *)ctx;
	simidx_set_progress(index, die_in_time, NULL);
	index->tuning.merge_blocks = 1;
	index->tuning.merge_rows = 20;
	sxt_merge(index);
	return 0;
}

/* Merged rows and fresh ones, deletions among both; and with `dies` a merge that is half done. */
static void make_index(const simidx_create_options *o, sxt_live *live, uint64_t stream, int dies)
{
	simidx *index = sxt_create(t_path, o);
	simidx_writer *writer = sxt_writer(index, 0);

	sxt_live_init(live, o->bits, o->flags, 400, stream);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 500; i++)
			sxt_live_step(live, writer);
		sxt_live_commit(live, writer);
		if (!round)
			sxt_must_ok(simidx_writer_merge(writer, &sxt_err));
	}
	simidx_writer_close(writer);
	simidx_close(index);
	for (unsigned n = 3; dies; n++) {
		sx_snapshot snapshot;

		ck_assert_int_eq(sxt_proc_run(merge_and_die, &n), KILLED);
		index = sxt_open(t_path, 0);
		sxt_must_ok(sx_snapshot_begin(&snapshot, index, &sxt_err));
		sx_snapshot_end(&snapshot);
		simidx_close(index);
		dies = !(snapshot.header.state & SX_STATE_MERGING);
	}
}

static void check_compacted(const char *path, const sxt_live *live, const simidx_create_options *o,
			    const char *plan, unsigned fill)
{
	simidx *index = sxt_open(path, 0);
	simidx_info info = SIMIDX_INFO_INIT;
	char *file = sxt_path(path, "data.mdb");
	uint64_t mark = 0;
	struct stat st;
	size_t n;

	sxt_live_check_content(live, index);
	ck_assert_sx(simidx_get_info(index, &info, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(info.bits, o->bits);
	ck_assert_uint_eq(info.layout, o->layout);
	ck_assert_uint_eq(info.flags, o->flags);
	ck_assert_uint_eq(info.fill, fill);
	ck_assert_str_eq(info.plan, plan);
	ck_assert_str_eq(info.profile, PROFILE);
	ck_assert_uint_eq(info.n_check_fps, 3);
	ck_assert_uint_eq(info.check_fps[2], 33);
	ck_assert_uint_eq(info.fresh_rows, 0);
	ck_assert_sx(simidx_get_mark(index, &mark, sizeof(mark), &n, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(n, sizeof(mark));
	ck_assert_uint_eq(mark, live->commits);
	ck_assert_int_eq(stat(file, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, o->mode);
	free(file);
	simidx_close(index);
}

static void check_report(const simidx_compact_report *r, const char *path, uint64_t old_bytes,
			 uint64_t documents)
{
	char *file = sxt_path(path, "data.mdb");
	struct stat st;

	ck_assert_int_eq(stat(file, &st), 0);
	ck_assert_uint_eq(r->new_bytes, (uint64_t)st.st_size);
	ck_assert_uint_eq(r->old_bytes, old_bytes);
	ck_assert_uint_eq(r->documents, documents);
	free(file);
}

START_TEST(test_same_content)
{
	simidx_compact_options how = least_memory();
	simidx_compact_report report = SIMIDX_COMPACT_REPORT_INIT;
	simidx_create_options o = variant(_i);
	const char *plan = sxt_plans[(_i + 1) % SXT_N_PLANS];
	char *third = sxt_path(t_dir, "third");
	unsigned char *before, *after;
	size_t size, size_after;
	simidx_writer *writer;
	simidx *index;
	sxt_live live;

	make_index(&o, &live, 9700 + 2 * (uint64_t)_i, _i % 3 == 0);
	before = sxt_file_read(t_data, &size);

	/* A new index, with another plan and other blocks: the old one is only read. */
	how.plan = plan;
	how.fill = 70;
	ck_assert_sx(simidx_compact(t_path, t_other, &how, &report, &sxt_err), SIMIDX_OK);
	check_report(&report, t_other, size, live.stored.n);
	after = sxt_file_read(t_data, &size_after);
	ck_assert_uint_eq(size_after, size);
	ck_assert(!memcmp(before, after, size));
	free(before);
	free(after);
	check_compacted(t_other, &live, &o, plan, 70);
	/* Where nothing else is said, blocks are as full as they were. */
	how = least_memory();
	ck_assert_sx(simidx_compact(t_other, third, &how, NULL, &sxt_err), SIMIDX_OK);
	check_compacted(third, &live, &o, plan, 70);
	free(third);

	/* In place, as it is; then writing goes on. */
	how = least_memory();
	ck_assert_sx(simidx_compact(t_path, NULL, &how, &report, &sxt_err), SIMIDX_OK);
	check_report(&report, t_path, size, live.stored.n);
	check_compacted(t_path, &live, &o, o.plan, 90);
	index = sxt_open(t_path, 0);
	writer = sxt_writer(index, 50);
	for (unsigned i = 0; i < 200; i++)
		sxt_live_step(&live, writer);
	sxt_live_commit(&live, writer);
	simidx_writer_close(writer);
	sxt_live_check_content(&live, index);
	simidx_close(index);

	/* In place, with another plan: "auto" is 4x16 for as few as these. */
	how.plan = "auto";
	how.fill = 100;
	ck_assert_sx(simidx_compact(t_path, NULL, &how, NULL, &sxt_err), SIMIDX_OK);
	check_compacted(t_path, &live, &o, "4x16", 100);
	sxt_live_free(&live);
}
END_TEST

/* Documents whose second fingerprint is not known keep lacking it. */
START_TEST(test_unknown_second_fingerprints)
{
	simidx_compact_options how = least_memory();
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_loader *loader;
	simidx_reader *reader;
	simidx *index;

	o.flags = SIMIDX_CREATE_FP2;
	sxt_must_ok(simidx_loader_open(t_path, &o, NULL, &loader, &sxt_err));
	for (uint64_t i = 0; i < 200; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.fp = i * i;
		doc.fp2 = i;
		doc.flags = i % 3 ? SIMIDX_DOC_FP2 : SIMIDX_DOC_FP2_UNKNOWN;
		sxt_must_ok(simidx_loader_put(loader, &doc, NULL, &sxt_err));
	}
	sxt_must_ok(simidx_loader_finish(loader, NULL, &sxt_err));
	simidx_loader_close(loader);
	ck_assert_sx(simidx_compact(t_path, NULL, &how, NULL, &sxt_err), SIMIDX_OK);
	index = sxt_open(t_path, 0);
	reader = sxt_reader(index);
	for (uint64_t i = 0; i < 200; i++) {
		simidx_match match;

		ck_assert_sx(simidx_reader_find_id(reader, i, &match, &sxt_err), SIMIDX_OK);
		ck_assert_uint_eq(match.fp, i * i);
		ck_assert_uint_eq(match.flags & SIMIDX_MATCH_FP2, i % 3 ? SIMIDX_MATCH_FP2 : 0);
		ck_assert_uint_eq(match.fp2, i % 3 ? i : 0);
	}
	simidx_reader_close(reader);
	simidx_close(index);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * What was deleted
 */

#define SECRETS 120

/* Fingerprints of which no eight bytes come by chance. */
static uint64_t fp_of(unsigned i, int is_replaced)
{
	return (i + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15) ^
	       (is_replaced ? UINT64_C(0x5a5a5a5a5a) : 0);
}

static simidx_doc secret(unsigned i, int is_replaced, char label[32])
{
	simidx_doc doc = SIMIDX_DOC_INIT;

	doc.id = i;
	doc.fp = fp_of(i, is_replaced);
	doc.label = label;
	doc.label_size = (size_t)snprintf(label, 32, "%s-number-%05u", is_replaced ? "new" : "old",
					  i);
	return doc;
}

/* Number i is deleted, replaced, or stays. */
static int is_deleted(unsigned i)
{
	return i % 3 == 0;
}

static int is_replaced(unsigned i)
{
	return i % 3 == 1;
}

static void make_secrets(const simidx_create_options *o, int merges)
{
	simidx *index = sxt_create(t_path, o);
	simidx_writer *writer = sxt_writer(index, 0);
	char label[32];

	for (unsigned i = 0; i < SECRETS; i++) {
		simidx_doc doc = secret(i, 0, label);

		sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	}
	sxt_commit(writer);
	if (merges)
		sxt_must_ok(simidx_writer_merge(writer, &sxt_err));
	for (unsigned i = 0; i < SECRETS; i++) {
		simidx_doc doc = secret(i, 1, label);

		if (is_deleted(i))
			sxt_must_ok(simidx_writer_delete_id(writer, i, &sxt_err));
		else if (is_replaced(i))
			sxt_must_ok(simidx_writer_replace(writer, &doc, NULL, &sxt_err));
	}
	sxt_commit(writer);
	if (merges)
		sxt_must_ok(simidx_writer_merge(writer, &sxt_err));
	simidx_writer_close(writer);
	simidx_close(index);
}

static int has(const unsigned char *file, size_t size, const void *bytes, size_t n)
{
	return sxt_find(file, size, bytes, n) != NULL;
}

/* A fingerprint in either order of bytes, as it is and as each table has it. */
static int has_fp(const unsigned char *file, size_t size, const sx_plan *plan, uint64_t fp)
{
	unsigned char bytes[8];

	for (unsigned t = 0; t <= plan->n_tables; t++) {
		uint64_t value = t < plan->n_tables ? sx_permute(&plan->table[t], fp) : fp;

		if (has(file, size, &value, sizeof(value)))
			return 1;
		sx_store_be64(bytes, value);
		if (has(file, size, bytes, sizeof(bytes)))
			return 1;
	}
	return 0;
}

/* How many old labels and fingerprints of deleted or replaced documents a file has. */
static void count_secrets(const char *path, const sx_plan *plan, unsigned *labels, unsigned *fps)
{
	char *name = sxt_path(path, "data.mdb"), label[32];
	unsigned char *file;
	size_t size;

	file = sxt_file_read(name, &size);
	*labels = *fps = 0;
	for (unsigned i = 0; i < SECRETS; i++) {
		simidx_doc doc = secret(i, 0, label);
		int has_label = has(file, size, label, doc.label_size);

		if (!is_deleted(i) && !is_replaced(i)) {
			ck_assert(has_label);
			continue;
		}
		*labels += (unsigned)has_label;
		*fps += (unsigned)has_fp(file, size, plan, doc.fp);
		if (is_replaced(i)) {
			doc = secret(i, 1, label);
			ck_assert(has(file, size, label, doc.label_size));
		}
	}
	free(file);
	free(name);
}

START_TEST(test_nothing_deleted_is_left)
{
	simidx_compact_options how = least_memory();
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	unsigned labels, fps;
	sx_plan plan;

	o.plan = sxt_plans[_i % SXT_N_PLANS];
	o.layout = (unsigned)(_i / SXT_N_PLANS) % LAYOUTS;
	sxt_must_ok(sx_plan_make(&plan, o.plan, 64, &sxt_err));
	make_secrets(&o, _i >= SXT_N_PLANS * LAYOUTS);
	/* Or else this test would find nothing in any file. */
	count_secrets(t_path, &plan, &labels, &fps);
	ck_assert_uint_gt(labels, 0);
	ck_assert_uint_gt(fps, 0);
	ck_assert_sx(simidx_compact(t_path, t_other, &how, NULL, &sxt_err), SIMIDX_OK);
	count_secrets(t_other, &plan, &labels, &fps);
	ck_assert_uint_eq(labels, 0);
	ck_assert_uint_eq(fps, 0);
	ck_assert_sx(simidx_compact(t_path, NULL, &how, NULL, &sxt_err), SIMIDX_OK);
	count_secrets(t_path, &plan, &labels, &fps);
	ck_assert_uint_eq(labels, 0);
	ck_assert_uint_eq(fps, 0);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Others at the index, and errors
 */

/* Who has the old index open goes on with it until the exchange; who writes waits, or is told. */
START_TEST(test_others)
{
	simidx_compact_options how = least_memory();
	simidx_writer_options o = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_writer *writer;
	simidx_reader *reader;
	simidx *index;
	simidx_doc doc = SIMIDX_DOC_INIT;

	index = sxt_create(t_path, NULL);
	reader = sxt_reader(index);
	writer = sxt_writer(index, 0);
	doc.fp = 77;
	sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	how.wait_ms = 0;
	ck_assert_sx(simidx_compact(t_path, NULL, &how, NULL, &sxt_err), SIMIDX_E_BUSY);
	/* Without the lock a copy is made, of what is committed. */
	ck_assert_sx(simidx_compact(t_path, t_other, &how, NULL, &sxt_err), SIMIDX_OK);
	sxt_commit(writer);
	query.fp = 77;
	ck_assert_sx(simidx_compact(t_path, NULL, &how, NULL, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_reader_search(reader, &query, &results, &sxt_err), SIMIDX_E_MOVED);
	ck_assert_sx(simidx_writer_put(writer, &doc, NULL, &sxt_err), SIMIDX_E_MOVED);
	simidx_writer_close(writer);
	simidx_reader_close(reader);
	simidx_close(index);
	index = sxt_open(t_path, 0);
	reader = sxt_reader(index);
	ck_assert_sx(simidx_reader_search(reader, &query, &results, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(results.n, 1);
	o.wait_ms = 0;
	ck_assert_sx(simidx_writer_open(index, &o, &writer, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_writer_put(writer, &doc, NULL, &sxt_err), SIMIDX_OK);
	simidx_writer_close(writer);
	simidx_reader_close(reader);
	simidx_close(index);
}
END_TEST

struct counter {
	uint64_t calls, stop_at;
	unsigned phases[2]; /* of verifying: the old index, the new one */
	int has_built;
};

static int stop_in_time(void *ctx)
{
	struct counter *c = ctx;

	return ++c->calls == c->stop_at;
}

static void count_phases(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
	struct counter *c = ctx;

	ck_assert_uint_le(done, total);
	if (!strcmp(phase, "verify"))
		c->phases[c->has_built]++;
	else
		c->has_built = 1;
}

static int leftovers(void)
{
	char command[512];

	snprintf(command, sizeof(command), "ls -d '%s'/.simidx-* >/dev/null 2>&1", t_dir);
	return system(command) == 0;
}

/* At whatever moment it is stopped, the index is as it was, and nothing lies about. */
START_TEST(test_stopped)
{
	simidx_compact_options how = least_memory();
	simidx_create_options o = variant(0);
	struct counter counter = { .stop_at = 0 };
	unsigned char *before, *after;
	size_t size, size_after;
	uint64_t all, step;
	sxt_live live;

	make_index(&o, &live, 9800, 0);
	how.stop = stop_in_time;
	how.progress = count_phases;
	how.ctx = &counter;
	ck_assert_sx(simidx_compact(t_path, t_other, &how, NULL, &sxt_err), SIMIDX_OK);
	sxt_remove(t_other);
	/* Each has more steps than tables. */
	ck_assert_uint_gt(counter.phases[0], 4);
	ck_assert_uint_gt(counter.phases[1], 4);
	all = counter.calls;
	step = sxt_is_long() ? 1 : 1 + all / 15;
	before = sxt_file_read(t_data, &size);
	for (uint64_t at = 1; at <= all; at += step) {
		counter = (struct counter){ .stop_at = at };
		ck_assert_sx(simidx_compact(t_path, at % 2 ? t_other : NULL, &how, NULL, &sxt_err),
			     SIMIDX_E_STOPPED);
		after = sxt_file_read(t_data, &size_after);
		ck_assert(size == size_after && !memcmp(before, after, size));
		free(after);
		ck_assert(!leftovers());
	}
	free(before);
	sxt_live_free(&live);
}
END_TEST

START_TEST(test_errors)
{
	simidx_compact_options how = least_memory();
	simidx_compact_report report = SIMIDX_COMPACT_REPORT_INIT;
	simidx_create_options o = variant(0);
	unsigned char *before, *after;
	size_t size;
	sxt_live live;

	ck_assert_sx(simidx_compact(NULL, NULL, NULL, NULL, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_compact(t_path, NULL, &how, NULL, &sxt_err), SIMIDX_E_NOT_FOUND);
	make_index(&o, &live, 9900, 0);
	how.memory = MEMORY - 1;
	ck_assert_sx(simidx_compact(t_path, NULL, &how, NULL, &sxt_err), SIMIDX_E_ARG);
	how = least_memory();
	how.flags = SIMIDX_OPEN_STATIC;
	ck_assert_sx(simidx_compact(t_path, NULL, &how, NULL, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_compact(t_path, t_other, &how, NULL, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_compact(t_path, t_other, NULL, NULL, &sxt_err), SIMIDX_E_EXISTS);
	ck_assert_sx(simidx_compact(t_path, t_path, NULL, NULL, &sxt_err), SIMIDX_E_EXISTS);
	sxt_remove(t_other);
	how = least_memory();
	how.plan = "5x12";
	ck_assert_sx(simidx_compact(t_path, NULL, &how, NULL, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_compact(t_path, t_other, &how, NULL, &sxt_err), SIMIDX_E_ARG);
	how.plan = NULL;
	for (how.fill = 49; how.fill < 102; how.fill += 52) {
		ck_assert_sx(simidx_compact(t_path, NULL, &how, NULL, &sxt_err), SIMIDX_E_ARG);
		ck_assert_sx(simidx_compact(t_path, t_other, &how, NULL, &sxt_err), SIMIDX_E_ARG);
	}
	how = least_memory();

	/* One bit of any page that is in use: told, and nothing is made or exchanged. */
	before = sxt_file_read(t_data, &size);
	for (unsigned i = 0; i < 12; i++) {
		size_t at = 4096 * (2 + sxt_rng_below(&live.asks, size / 4096 - 2)) + 40;
		int rc;

		before[at] ^= 1;
		sxt_file_write(t_data, before, size);
		rc = simidx_compact(t_path, i % 2 ? t_other : NULL, &how, &report, &sxt_err);
		if (rc) {
			ck_assert_int_eq(rc, SIMIDX_E_CORRUPT);
			ck_assert_uint_eq(report.new_bytes, 0);
			after = sxt_file_read(t_data, &size);
			ck_assert(!memcmp(before, after, size));
			free(after);
		} else { /* the page was free */
			simidx *index = sxt_open(i % 2 ? t_other : t_path, 0);

			sxt_live_check_content(&live, index);
			simidx_close(index);
		}
		sxt_remove(t_other);
		ck_assert(!leftovers());
		before[at] ^= 1;
		report = (simidx_compact_report)SIMIDX_COMPACT_REPORT_INIT;
	}
	free(before);
	sxt_live_free(&live);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_same_content, 0, VARIANTS },
	{ &test_unknown_second_fingerprints, 0, 1 },
	{ &test_nothing_deleted_is_left, 0, 2 * SXT_N_PLANS * LAYOUTS },
	{ &test_others, 0, 1 },
	{ &test_stopped, 0, 1 },
	{ &test_errors, 0, 1 },
};

SXT_SUITE(compact, set_up, tear_down);
