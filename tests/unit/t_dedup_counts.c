/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What simidx_dedup_count() counts, field by field, of a few texts of which it is known what
 * becomes of them.
 */

#include <stdio.h>
#include <string.h>

#include <simidx_dedup.h>
#include <simidx_text.h>
#include <simidx_walk.h>

#include "support/sxt.h"
#include "support/sxt_dedup.h"
#include "support/sxt_fixture.h"

#define WORDS 60
#define TEXT_SIZE (WORDS * 8)

/*
 * Rows 0 and 1 have no tokens, but row 1 has bytes, which are remembered, and equal ones are near
 * to it. Rows 2, 4 and 6 have nothing in common; row 3 is row 2, and row 5
 * is that but for its last word: 55 of 57 runs of five words are in both.
 */
enum { ROWS = 7, EMPTY = 2, KEPT = 3, NEAR = 2 };

static void make_text(unsigned row, char text[TEXT_SIZE])
{
	unsigned of = row == 3 || row == 5 ? 2 : row;
	char *at = text;

	*text = '\0';
	if (row == 1)
		strcpy(text, " ... !\n");
	for (unsigned i = 0; row > 1 && i < WORDS; i++)
		at += sprintf(at, "%c%u ", row == 5 && i == WORDS - 1 ? 'x' : 'w', 100 * of + i);
}

struct run {
	simidx *index;
	simidx_writer *writer;
	simidx_dedup_options options;
	simidx_dedup_counts counts;
	int is_placed;   /* texts can be read again, and what is read is `other` */
	unsigned n_near, n_by_fp;
	const char *other;
};

static int hear(void *ctx, const simidx_dedup_row *row, const simidx_dedup_near *near, size_t n)
{
	struct run *run = ctx;

	(void)row;
	run->n_near += n != 0;
	run->n_by_fp += n && near->similarity == SIMIDX_DEDUP_BY_FP;
	return 0;
}

static int read_text(void *ctx, unsigned thread, const simidx_dedup_place *place,
		     const char **text, size_t *size)
{
	const struct run *run = ctx;

	(void)thread;
	(void)place;
	*text = run->other;
	*size = strlen(run->other);
	return 0;
}

static void begin(struct run *run, unsigned create_flags)
{
	memset(run, 0, sizeof(*run));
	sxt_dedup_index(t_dir, "index", SIMIDX_DEDUP_TEXTS, create_flags, &run->index,
			&run->writer);
	run->options = (simidx_dedup_options)SIMIDX_DEDUP_OPTIONS_INIT;
	run->options.tmpdir = t_dir;
	run->options.calls.decided = hear;
	run->options.calls.read_text = read_text;
	run->options.calls.ctx = run;
	run->counts.size = sizeof(run->counts);
}

/* Decide rows [from, to). */
static void decide(struct run *run, unsigned from, unsigned to)
{
	char text[TEXT_SIZE];
	simidx_dedup *dedup;

	ck_assert_sx(simidx_dedup_open(run->index, run->writer, &run->options, &dedup, &sxt_err),
		     SIMIDX_OK);
	for (unsigned i = from; i < to; i++) {
		simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;

		make_text(i, text);
		row.text = text;
		row.text_size = strlen(text);
		if (run->is_placed)
			row.flags = SIMIDX_DEDUP_PLACED;
		ck_assert_sx(simidx_dedup_add(dedup, &row, &sxt_err), SIMIDX_OK);
	}
	ck_assert_sx(simidx_dedup_flush(dedup, 1, &sxt_err), SIMIDX_OK);
	ck_assert_ptr_null(simidx_dedup_problem(dedup));
	simidx_dedup_count(dedup, &run->counts);
	simidx_dedup_close(dedup);
}

static void end(struct run *run)
{
	simidx_writer_close(run->writer);
	simidx_close(run->index);
}

/* How many documents there are, and the bytes of their notes. */
static uint64_t count_notes(const struct run *run, uint64_t *bytes, size_t most)
{
	simidx_match match;
	simidx_walk *walk;
	const void *note;
	uint64_t n = 0;
	size_t size;

	*bytes = 0;
	sxt_must_ok(simidx_walk_open(run->index, &walk, &sxt_err));
	while (!simidx_walk_next(walk, &match, NULL)) {
		sxt_must_ok(simidx_walk_note(walk, &note, &size, &sxt_err));
		ck_assert(size > 0 && size <= most);
		*bytes += size;
		n++;
	}
	simidx_walk_close(walk);
	return n;
}

/* All counts; of the last ones, which depend on the options, what is expected is given. */
static void check(const struct run *run, uint64_t empty, uint64_t sketches, uint64_t texts,
		  uint64_t unsearched, uint64_t by_hash)
{
	const simidx_dedup_counts *c = &run->counts;

	ck_assert_uint_eq(c->size, sizeof(*c));
	ck_assert_uint_eq(c->exhausted, 0);
	ck_assert_uint_eq(c->empty, empty);
	ck_assert_uint_eq(c->unread, 0);
	ck_assert_uint_eq(c->too_long, 0);
	ck_assert_uint_eq(c->sketches, sketches);
	ck_assert_uint_eq(c->texts, texts);
	ck_assert_int_eq(c->note_bytes != 0, sketches + texts != 0);
	ck_assert_uint_eq(c->unsearched, unsearched);
	ck_assert_uint_eq(c->by_hash, by_hash);
}

static const struct {
	size_t batch;
	unsigned threads;
} shapes[] = { { 1, 1 }, { 100, 1 }, { 2, 3 } };

#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

START_TEST(test_counts_of_a_run)
{
	struct run run;

	begin(&run, 0);
	run.options.batch_rows = shapes[_i].batch;
	run.options.threads = shapes[_i].threads;
	decide(&run, 0, ROWS);
	ck_assert_uint_eq(run.n_near, NEAR);
	ck_assert_uint_eq(run.n_by_fp, 0);
	check(&run, EMPTY, 0, 0, KEPT, NEAR);
	ck_assert_uint_eq(run.counts.changed, 0);
	ck_assert_uint_eq(run.counts.foreign, 0);
	end(&run);
	/* With none of the memory that tells it, all are searched. */
	sxt_dedup_index(t_dir, "other", SIMIDX_DEDUP_TEXTS, 0, &run.index, &run.writer);
	run.options.unsearched_bytes = 63;
	decide(&run, 0, ROWS);
	check(&run, EMPTY, 0, 0, 0, 0);
	end(&run);
}
END_TEST

/* What is remembered is counted, as many bytes as there are. */
START_TEST(test_counts_of_what_is_remembered)
{
	int is_text = _i % 2;
	struct run run;
	uint64_t bytes;

	begin(&run, SIMIDX_CREATE_NOTES);
	run.options.flags = SIMIDX_DEDUP_LASTING;
	run.options.remember = is_text ? SIMIDX_DEDUP_TEXT : SIMIDX_DEDUP_SKETCH;
	run.options.batch_rows = shapes[_i / 2].batch;
	run.options.threads = shapes[_i / 2].threads;
	decide(&run, 0, ROWS);
	ck_assert_uint_eq(run.n_near, NEAR);
	check(&run, EMPTY, is_text ? 0 : KEPT + 1, is_text ? KEPT + 1 : 0, KEPT, NEAR);
	ck_assert_uint_eq(count_notes(&run, &bytes, is_text ? TEXT_SIZE + 64 : 200), KEPT + 1);
	ck_assert_uint_eq(run.counts.note_bytes, bytes);
	/* A second run finds all that have bytes by what was remembered, and remembers nothing. */
	run.n_near = 0;
	decide(&run, 0, ROWS);
	ck_assert_uint_eq(run.n_near, ROWS - 1);
	ck_assert_uint_eq(run.n_by_fp, 0);
	check(&run, EMPTY, 0, 0, 0, 0);
	ck_assert_uint_eq(run.counts.foreign, 0);
	end(&run);
}
END_TEST

/* The text of a keeper is another one by now: fingerprints decide, and each time is counted. */
START_TEST(test_counts_of_texts_that_have_changed)
{
	char other[TEXT_SIZE];
	struct run run;

	begin(&run, 0);
	make_text(2, other);
	other[0] = 'v';
	run.is_placed = 1;
	run.other = other;
	run.options.batch_rows = 1;
	run.options.max_weight = 100;
	decide(&run, 2, 4);
	ck_assert_uint_eq(run.n_near, 1);
	ck_assert_uint_eq(run.n_by_fp, 1);
	ck_assert_uint_eq(run.counts.changed, 1);
	end(&run);
}
END_TEST

/* Documents without a note, or with that of another program. */
START_TEST(test_counts_of_foreign_documents)
{
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	char text[TEXT_SIZE];
	simidx_text *made;
	struct run run;

	begin(&run, SIMIDX_CREATE_NOTES);
	ck_assert_sx(simidx_text_open_for(run.index, NULL, &made, &sxt_err), SIMIDX_OK);
	for (unsigned i = 2; i <= 4; i += 2) {
		make_text(i, text);
		ck_assert_sx(simidx_text_fingerprint(made, text, strlen(text), SIMIDX_SKETCH_FP2,
						     &sketch, &sxt_err),
			     SIMIDX_OK);
		doc.fp = sketch.fp;
		doc.fp2 = sketch.fp2;
		doc.flags = SIMIDX_DOC_FP2;
		doc.note = i == 2 ? "of another program" : NULL;
		doc.note_size = i == 2 ? 18 : 0;
		ck_assert_sx(simidx_writer_put(run.writer, &doc, NULL, &sxt_err), SIMIDX_OK);
	}
	ck_assert_sx(simidx_writer_commit(run.writer, &sxt_err), SIMIDX_OK);
	simidx_text_close(made);
	run.options.flags = SIMIDX_DEDUP_LASTING;
	run.options.remember = SIMIDX_DEDUP_TEXT;
	decide(&run, 4, ROWS);
	ck_assert_uint_eq(run.n_by_fp, 2);
	ck_assert_uint_eq(run.counts.foreign, 2); /* of rows 4 and 5 */
	end(&run);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_counts_of_a_run, 0, N_SHAPES },
	{ &test_counts_of_what_is_remembered, 0, 2 * N_SHAPES },
	{ &test_counts_of_texts_that_have_changed, 0, 1 },
	{ &test_counts_of_foreign_documents, 0, 1 },
};

SXT_SUITE(dedup_counts, sxt_set_up_path, sxt_tear_down);
