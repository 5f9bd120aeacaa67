/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* libsimidx-dedup by itself: its decisions against those of brute force. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_dedup.h>
#include <simidx_info.h>
#include <simidx_text.h>

#include "dedup/sd_shingles.h"
#include "support/sxt.h"
#include "support/sxt_dedup.h"

#define MAX_ROWS 600
#define MAX_TEXT 2000

/* What was given, and what came out. */
struct row {
	char text[MAX_TEXT];
	uint64_t fp;
	uint64_t near_id, keeper;
	double similarity;
	size_t n_near;
	unsigned flags, near_flags;
	int is_decided;
};

static char *dir;
static struct row rows[MAX_ROWS], before[MAX_ROWS];
static size_t n_rows, n_decided, n_commits;
static int fail_at, stop_at, reads;
static unsigned create_flags; /* of the next index, besides those of its kind */
static simidx *index_of_kept;
static simidx_writer *writer;
static simidx_error err;

static void set_up(void)
{
	dir = sxt_dir_make();
	n_rows = 0;
	fail_at = stop_at = -1;
	create_flags = 0;
}

static void tear_down(void)
{
	free(dir);
}

static void open_index(const char *name, int kind)
{
	sxt_dedup_index(dir, name, kind, create_flags, &index_of_kept, &writer);
}

static void close_index(void)
{
	simidx_writer_close(writer);
	simidx_close(index_of_kept);
}

/* ---- calls ---- */

static int hear(void *ctx, const simidx_dedup_row *row, const simidx_dedup_near *near, size_t n)
{
	size_t i;

	ck_assert_ptr_eq(ctx, rows);
	ck_assert_uint_eq(row->extra_size, sizeof(i));
	sxt_must_eq((uintptr_t)row->extra % _Alignof(max_align_t), 0);
	memcpy(&i, row->extra, sizeof(i));
	sxt_must_eq(i, n_decided); /* in the order of the rows */
	n_decided++;
	sxt_must(row->text_size == strlen(rows[i].text) &&
		 memcmp(row->text, rows[i].text, row->text_size) == 0);
	rows[i].is_decided = 1;
	rows[i].flags = row->flags;
	rows[i].n_near = n;
	if (n) {
		rows[i].near_id = near->id;
		rows[i].keeper = near->keeper;
		rows[i].similarity = near->similarity;
		rows[i].near_flags = near->flags;
	}
	return (int)i == fail_at ? 77 : 0;
}

static int committing(void *ctx, int is_complete)
{
	ck_assert_ptr_eq(ctx, rows);
	n_commits++;
	return simidx_writer_set_mark(writer, is_complete ? "all" : "some", is_complete ? 3 : 4,
				      NULL);
}

static int read_text(void *ctx, unsigned thread, const simidx_dedup_place *place,
		     const char **text, size_t *size)
{
	const struct row *row = &((const struct row *)ctx)[place->offset];

	(void)thread;
	__atomic_fetch_add(&reads, 1, __ATOMIC_RELAXED);
	if (place->source == 9)
		return SIMIDX_E_NOT_FOUND;
	*text = row->text;
	*size = place->source == 8 ? 0 : strlen(row->text);
	return SIMIDX_OK;
}

static int stop(void *ctx)
{
	(void)ctx;
	return stop_at >= 0 && n_decided >= (size_t)stop_at;
}

static simidx_dedup_options options_of(int kind, unsigned threads, size_t batch)
{
	simidx_dedup_options options = SIMIDX_DEDUP_OPTIONS_INIT;

	options.kind = kind;
	options.threads = threads;
	options.batch_rows = batch;
	options.tmpdir = dir;
	options.calls = (simidx_dedup_calls){ rows, hear, committing, read_text, stop, NULL };
	return options;
}

/* Give all rows; every third has a place. Returns what the first call that failed returned. */
static int run(const simidx_dedup_options *options, unsigned source)
{
	simidx_dedup *dedup;
	int rc = simidx_dedup_open(index_of_kept, writer, options, &dedup, &err);

	n_decided = n_commits = 0;
	for (size_t i = 0; !rc && i < n_rows; i++) {
		simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;

		rows[i].is_decided = 0;
		row.fp = rows[i].fp;
		row.text = rows[i].text;
		row.text_size = strlen(rows[i].text);
		row.extra = &i;
		row.extra_size = sizeof(i);
		if (i % 3 == 0) {
			row.place = (simidx_dedup_place){ i, source, 1 };
			row.flags = SIMIDX_DEDUP_PLACED;
		}
		rc = simidx_dedup_add(dedup, &row, &err);
	}
	if (!rc)
		rc = simidx_dedup_flush(dedup, 1, &err);
	if (rc) { /* only closing is of use then */
		simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;

		ck_assert_int_eq(simidx_dedup_flush(dedup, 1, NULL), SIMIDX_E_STATE);
		ck_assert_int_eq(simidx_dedup_add(dedup, &row, NULL), SIMIDX_E_STATE);
	}
	simidx_dedup_close(dedup);
	return rc;
}

/* ---- texts ---- */

/* Originals of 20 to 120 words, and copies in which up to a third of the words are others. */
static void make_texts(size_t n, uint64_t seed)
{
	sxt_rng rng;

	sxt_rng_init(&rng, seed);
	n_rows = n;
	for (size_t i = 0; i < n; i++) {
		char *at = rows[i].text;
		const char *from = rows[i ? sxt_rng_below(&rng, i) : 0].text;
		uint64_t edits = sxt_rng_below(&rng, 34);
		size_t words = 20 + sxt_rng_below(&rng, 100);
		int is_copy = i && sxt_rng_below(&rng, 3) == 0;

		memset(&rows[i], 0, sizeof(rows[i]));
		if (!is_copy) {
			while (words--)
				at += sprintf(at, "w%u ", (unsigned)sxt_rng_below(&rng, 3000));
			continue;
		}
		for (size_t k; (k = strcspn(from, " ")); from += k + 1)
			at += sxt_rng_below(&rng, 100) < edits / 4 ?
				      sprintf(at, "x%u ", (unsigned)sxt_rng_below(&rng, 3000)) :
				      sprintf(at, "%.*s ", (int)k, from);
	}
	strcpy(rows[n / 2].text, "");
	strcpy(rows[n / 2 + 1].text, "...!!!");
	strcpy(rows[n / 2 + 2].text, "...!!!");
	strcpy(rows[n / 2 + 3].text, "...???");
}

/* How many decisions are not those of the greedy rule over all earlier kept rows. */
static void check_greedy(double limit)
{
	struct sd_shingles *set = calloc(n_rows, sizeof(*set));
	size_t *kept = calloc(n_rows, sizeof(*kept)), n_kept = 0, n_near = 0;
	struct sd_shingler *shingler;

	ck_assert_int_eq(sd_shingler_open(&shingler, &err), SIMIDX_OK);
	for (size_t i = 0; i < n_rows; i++) {
		const struct row *row = &rows[i];
		double best = 0;

		ck_assert_int_eq(sd_shingles_make(shingler, row->text, strlen(row->text), &set[i],
						  &err), SIMIDX_OK);
		for (size_t k = 0; k < n_kept; k++) {
			double j = strcmp(row->text, rows[kept[k]].text) == 0 ? 1 :
				   sd_shingles_jaccard(&set[i], &set[kept[k]]);

			best = j > best ? j : best;
			if (row->n_near && row->keeper == k)
				sxt_must(row->similarity == j);
		}
		sxt_must_eq(row->n_near, best >= limit);
		sxt_must_eq(row->flags & SIMIDX_DEDUP_EMPTY, *row->text ? 0 : SIMIDX_DEDUP_EMPTY);
		n_near += row->n_near;
		if (!row->n_near && *row->text)
			kept[n_kept++] = i;
	}
	/* So that the oracle has something to say. */
	ck_assert_uint_gt(n_near, n_rows / 20);
	ck_assert_uint_lt(n_near, n_rows / 3);
	for (size_t i = 0; i < n_rows; i++)
		sd_shingles_free(&set[i]);
	sd_shingler_close(shingler);
	free(set);
	free(kept);
}

static const struct {
	unsigned threads;
	size_t batch;
} shapes[] = { { 1, 4096 }, { 1, 1 }, { 2, 50 }, { 8, 7 }, { 3, 600 }, { 2, 100 } };

#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

START_TEST(test_texts)
{
	char name[16], mark[8];
	size_t size;

	make_texts(MAX_ROWS, 5);
	for (size_t i = 0; i < N_SHAPES; i++) {
		simidx_dedup_options options =
			options_of(SIMIDX_DEDUP_TEXTS, shapes[i].threads, shapes[i].batch);

		snprintf(name, sizeof(name), "ix%zu", i);
		open_index(name, SIMIDX_DEDUP_TEXTS);
		ck_assert_int_eq(run(&options, 0), SIMIDX_OK);
		ck_assert_uint_eq(n_decided, n_rows);
		ck_assert_uint_eq(n_commits, (n_rows + shapes[i].batch - 1) / shapes[i].batch);
		ck_assert_int_eq(simidx_get_mark(index_of_kept, mark, sizeof(mark), &size, NULL),
				 SIMIDX_OK);
		ck_assert(size == 3 && memcmp(mark, "all", 3) == 0);
		check_greedy(SIMIDX_DEDUP_SIMILARITY);
		if (i)
			ck_assert_int_eq(memcmp(rows, before, sizeof(rows)), 0);
		memcpy(before, rows, sizeof(rows));
		close_index();
	}
}
END_TEST

/* Texts that are not there again: fingerprints decide, and it is no failure. */
START_TEST(test_texts_gone)
{
	simidx_dedup_options options = options_of(SIMIDX_DEDUP_TEXTS, 2, 10);
	size_t n_by_fp[3] = { 0 };

	make_texts(300, 6);
	for (unsigned source = 7; source < 10; source++) {
		open_index((char[]){ 'i', (char)('0' + source), 0 }, SIMIDX_DEDUP_TEXTS);
		reads = 0;
		ck_assert_int_eq(run(&options, source), SIMIDX_OK);
		ck_assert_int_gt(reads, 0);
		for (size_t i = 0; i < n_rows; i++)
			n_by_fp[source - 7] += rows[i].n_near &&
					       rows[i].similarity == SIMIDX_DEDUP_BY_FP;
		close_index();
	}
	ck_assert_uint_eq(n_by_fp[0], 0);
	ck_assert_uint_gt(n_by_fp[1], 0); /* another text in its place */
	ck_assert_uint_eq(n_by_fp[1], n_by_fp[2]);
}
END_TEST

/* A second run over the same rows finds all of them, by fingerprints. */
START_TEST(test_lasting)
{
	simidx_dedup_options options = options_of(SIMIDX_DEDUP_TEXTS, 2, 64);

	make_texts(400, 7);
	options.flags = SIMIDX_DEDUP_LASTING;
	open_index("ix", SIMIDX_DEDUP_TEXTS);
	ck_assert_int_eq(run(&options, 0), SIMIDX_OK);
	check_greedy(SIMIDX_DEDUP_SIMILARITY);
	ck_assert_int_eq(run(&options, 0), SIMIDX_OK);
	for (size_t i = 0; i < n_rows; i++) {
		sxt_must_eq(rows[i].n_near, *rows[i].text != 0);
		if (rows[i].n_near)
			sxt_must(rows[i].keeper == SIMIDX_DEDUP_EARLIER &&
				 rows[i].similarity == SIMIDX_DEDUP_BY_FP);
	}
	close_index();
}
END_TEST

/* What one run over all rows decides is in `before`. Half of the rows is run into an index. */
static void run_half(const simidx_dedup_options *options, const char *name, size_t n)
{
	simidx_dedup_options once = options_of(SIMIDX_DEDUP_TEXTS, 1, 4096);
	char *path = sxt_path(dir, "once");

	create_flags = 0;
	make_texts(n, 7);
	open_index("once", SIMIDX_DEDUP_TEXTS);
	once.flags = SIMIDX_DEDUP_LASTING; /* its searches */
	ck_assert_int_eq(run(&once, 0), SIMIDX_OK);
	close_index();
	memcpy(before, rows, sizeof(rows));
	create_flags = SIMIDX_CREATE_NOTES;
	open_index(name, SIMIDX_DEDUP_TEXTS);
	n_rows = n / 2;
	ck_assert_int_eq(run(options, 0), SIMIDX_OK);
	n_rows = n;
	sxt_remove(path);
	free(path);
}

/* A second run is compared with the texts of the first: it decides as one run. */
START_TEST(test_remember_texts)
{
	for (size_t shape = 0; shape < N_SHAPES; shape++) {
		simidx_dedup_options options =
			options_of(SIMIDX_DEDUP_TEXTS, shapes[shape].threads, shapes[shape].batch);
		char name[16];

		options.flags = SIMIDX_DEDUP_LASTING;
		options.remember = SIMIDX_DEDUP_TEXT;
		snprintf(name, sizeof(name), "ix%zu", shape);
		run_half(&options, name, 400);
		ck_assert_int_eq(run(&options, 0), SIMIDX_OK);
		for (size_t i = 0; i < n_rows; i++) {
			int is_first = i < n_rows / 2 && *rows[i].text;

			sxt_must_eq(rows[i].n_near, is_first || before[i].n_near);
			if (before[i].n_near)
				sxt_must(rows[i].similarity == before[i].similarity);
			sxt_must_eq(rows[i].near_flags & ~SIMIDX_DEDUP_EQUAL, 0);
			if (is_first && !before[i].n_near)
				sxt_must_eq(rows[i].near_flags, SIMIDX_DEDUP_EQUAL);
		}
		close_index();
	}
}
END_TEST

/* Sketches: all that was there is left out again, and the estimate is near. */
START_TEST(test_remember_sketches)
{
	simidx_dedup_options options = options_of(SIMIDX_DEDUP_TEXTS, 2, 64);
	size_t n_other = 0;

	options.flags = SIMIDX_DEDUP_LASTING;
	options.remember = SIMIDX_DEDUP_SKETCH;
	run_half(&options, "ix", 600);
	ck_assert_int_eq(run(&options, 0), SIMIDX_OK);
	for (size_t i = 0; i < n_rows; i++) {
		if (i < n_rows / 2)
			sxt_must_eq(rows[i].n_near, *rows[i].text != 0);
		else
			n_other += rows[i].n_near != before[i].n_near;
		if (!rows[i].n_near)
			continue;
		if (rows[i].keeper == SIMIDX_DEDUP_EARLIER)
			sxt_must_eq(rows[i].near_flags, SIMIDX_DEDUP_ESTIMATE);
		if (i >= n_rows / 2 && before[i].n_near)
			sxt_must(rows[i].similarity > before[i].similarity - .05 &&
				 rows[i].similarity < before[i].similarity + .05);
	}
	ck_assert_uint_le(n_other, 4); /* what is near the limit */
	close_index();
}
END_TEST

/* Against an index with texts, rows are decided as after those of that index. */
START_TEST(test_against)
{
	for (size_t shape = 0; shape < N_SHAPES; shape++) {
		simidx_dedup_options options =
			options_of(SIMIDX_DEDUP_TEXTS, shapes[shape].threads, shapes[shape].batch);
		simidx *other;
		char name[16];

		options.flags = SIMIDX_DEDUP_LASTING;
		options.remember = SIMIDX_DEDUP_TEXT;
		snprintf(name, sizeof(name), "other%zu", shape);
		run_half(&options, name, 400);
		simidx_writer_close(writer);
		other = index_of_kept;
		create_flags = 0;
		snprintf(name, sizeof(name), "ix%zu", shape);
		open_index(name, SIMIDX_DEDUP_TEXTS);
		options.remember = SIMIDX_DEDUP_FINGERPRINT;
		options.against = &other;
		options.n_against = 1;
		ck_assert_int_eq(run(&options, 0), SIMIDX_OK);
		for (size_t i = 0; i < n_rows; i++) {
			int is_first = i < n_rows / 2 && *rows[i].text;

			sxt_must_eq(rows[i].n_near, is_first || before[i].n_near);
			if (is_first)
				sxt_must(rows[i].keeper == SIMIDX_DEDUP_AGAINST);
		}
		close_index();
		simidx_close(other);
	}
}
END_TEST

/* ---- fingerprints ---- */

static unsigned least_distance(size_t i, const size_t *kept, size_t n_kept)
{
	unsigned least = 65;

	for (size_t k = 0; k < n_kept; k++) {
		unsigned d = simidx_distance(rows[i].fp, rows[kept[k]].fp);

		least = d < least ? d : least;
	}
	return least;
}

START_TEST(test_fingerprints)
{
	size_t kept[MAX_ROWS], n_kept, n_near = 0;
	simidx_dedup_options options;
	char name[16];
	sxt_rng rng;

	sxt_rng_init(&rng, 8);
	memset(rows, 0, sizeof(rows));
	n_rows = MAX_ROWS;
	for (size_t i = 0; i < n_rows; i++) {
		rows[i].fp = i % 2 ? rows[sxt_rng_below(&rng, i)].fp : sxt_rng_u64(&rng);
		for (uint64_t k = sxt_rng_below(&rng, 6); i % 2 && k; k--)
			rows[i].fp ^= (uint64_t)1 << sxt_rng_below(&rng, 64);
	}
	rows[3].fp = 0;
	rows[4].fp = UINT64_MAX;
	for (int radius = 0; radius < 6; radius++) {
		snprintf(name, sizeof(name), "ix%d", radius);
		open_index(name, SIMIDX_DEDUP_FINGERPRINTS);
		options = options_of(SIMIDX_DEDUP_FINGERPRINTS, 2, 37);
		options.max_bits = radius;
		options.calls.read_text = read_text;
		ck_assert_int_eq(run(&options, 0), SIMIDX_OK);
		n_kept = 0;
		for (size_t i = 0; i < n_rows; i++) {
			unsigned least = least_distance(i, kept, n_kept);

			sxt_must_eq(rows[i].n_near, least <= (unsigned)radius);
			if (rows[i].n_near)
				sxt_must(rows[i].similarity == least &&
					 simidx_distance(rows[i].fp,
							 rows[kept[rows[i].keeper]].fp) == least);
			else
				kept[n_kept++] = i;
			n_near += rows[i].n_near;
		}
		close_index();
	}
	ck_assert_uint_gt(n_near, 0);
}
END_TEST

/* ---- what goes wrong ---- */

/* A call that ends it: nothing of its batch is stored, what was committed stays. */
START_TEST(test_calls_that_fail)
{
	simidx_dedup_options options = options_of(SIMIDX_DEDUP_TEXTS, 2, 50);
	simidx_info info = SIMIDX_INFO_INIT;
	uint64_t n;

	make_texts(200, 9);
	open_index("ix", SIMIDX_DEDUP_TEXTS);
	fail_at = 120;
	ck_assert_int_eq(run(&options, 0), 77);
	ck_assert_uint_eq(n_commits, 2);
	ck_assert_int_eq(simidx_get_info(index_of_kept, &info, NULL), SIMIDX_OK);
	ck_assert_uint_gt(info.documents, 50);
	ck_assert_uint_le(info.documents, 100);
	/* Nothing is left in the writer that a commit might store. */
	ck_assert_int_eq(simidx_writer_begin(writer, NULL), SIMIDX_OK);
	ck_assert_int_eq(simidx_writer_commit(writer, NULL), SIMIDX_OK);
	n = info.documents;
	ck_assert_int_eq(simidx_get_info(index_of_kept, &info, NULL), SIMIDX_OK);
	ck_assert_uint_eq(info.documents, n);
	fail_at = -1;
	stop_at = 60;
	ck_assert_int_eq(run(&options, 0), SIMIDX_E_STOPPED);
	ck_assert_int_eq(err.code, SIMIDX_E_STOPPED);
	close_index();
}
END_TEST

/* A lasting index is locked only while a batch is decided: others may wait for it. */
START_TEST(test_lock_between_calls)
{
	simidx_dedup_options options = options_of(SIMIDX_DEDUP_TEXTS, 2, 10);
	simidx_writer_options at_once = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_writer *other;
	simidx_dedup *dedup;

	at_once.wait_ms = 0;
	make_texts(25, 10);
	options.flags = SIMIDX_DEDUP_LASTING;
	open_index("ix", SIMIDX_DEDUP_TEXTS);
	ck_assert_int_eq(simidx_writer_open(index_of_kept, &at_once, &other, &err), SIMIDX_OK);
	ck_assert_int_eq(simidx_dedup_open(index_of_kept, writer, &options, &dedup, &err),
			 SIMIDX_OK);
	n_decided = 0;
	for (size_t i = 0; i < n_rows; i++) {
		simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;

		row.text = rows[i].text;
		row.text_size = strlen(rows[i].text);
		row.extra = &i;
		row.extra_size = sizeof(i);
		ck_assert_int_eq(simidx_dedup_add(dedup, &row, &err), SIMIDX_OK);
		ck_assert_int_eq(simidx_writer_begin(other, &err), SIMIDX_OK);
		simidx_writer_rollback(other);
	}
	ck_assert_uint_eq(n_decided, 20);
	simidx_dedup_close(dedup);
	simidx_writer_close(other);
	close_index();
}
END_TEST

/* Pairs of a lasting index: each row is stored once, whatever the size of a batch. */
START_TEST(test_pairs_that_last)
{
	const size_t batches[] = { 1, 7, 1000 };
	size_t n_pairs[3] = { 0 };

	make_texts(100, 11);
	for (int i = 0; i < 3; i++) {
		simidx_dedup_options options = options_of(SIMIDX_DEDUP_TEXTS, 1, batches[i]);
		simidx_info info = SIMIDX_INFO_INIT;

		options.flags = SIMIDX_DEDUP_LASTING | SIMIDX_DEDUP_PAIRS;
		options.similarity = .4;
		open_index((char[]){ 'p', (char)('0' + i), 0 }, SIMIDX_DEDUP_TEXTS);
		ck_assert_int_eq(run(&options, 0), SIMIDX_OK);
		for (size_t k = 0; k < n_rows; k++)
			n_pairs[i] += rows[k].n_near;
		ck_assert_int_eq(simidx_get_info(index_of_kept, &info, NULL), SIMIDX_OK);
		ck_assert_uint_eq(info.documents, n_rows - 1); /* one is empty */
		ck_assert_uint_gt(n_pairs[i], 0);
		ck_assert_uint_eq(n_pairs[i], n_pairs[0]);
		close_index();
	}
}
END_TEST

static const sxt_test tests[] = {
	{ &test_texts, 0, 1 },
	{ &test_texts_gone, 0, 1 },
	{ &test_lasting, 0, 1 },
	{ &test_remember_texts, 0, 1 },
	{ &test_remember_sketches, 0, 1 },
	{ &test_against, 0, 1 },
	{ &test_fingerprints, 0, 1 },
	{ &test_calls_that_fail, 0, 1 },
	{ &test_lock_between_calls, 0, 1 },
	{ &test_pairs_that_last, 0, 1 },
};

SXT_SUITE(dedup, set_up, tear_down);
