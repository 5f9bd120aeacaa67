/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What simidx_dedup_count() counts, field by field, of a few texts of which it is known what
 * becomes of them; and how similar they are said to be.
 */

#include <stdio.h>
#include <string.h>

#include <simidx_dedup.h>
#include <simidx_info.h>
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
	const char *label;      /* of all rows, or NULL */
	size_t label_size;
	simidx_dedup_near near; /* that of the last row, if it was told one */
	int is_told;
};

static int hear(void *ctx, const simidx_dedup_row *row, const simidx_dedup_near *near, size_t n)
{
	struct run *run = ctx;

	(void)row;
	run->n_near += n != 0;
	run->is_told = near != NULL;
	if (near)
		run->near = *near;
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

static void begin_in(struct run *run, const char *name, unsigned create_flags)
{
	memset(run, 0, sizeof(*run));
	sxt_dedup_index(t_dir, name, SIMIDX_DEDUP_TEXTS, create_flags, &run->index,
			&run->writer);
	run->options = (simidx_dedup_options)SIMIDX_DEDUP_OPTIONS_INIT;
	run->options.tmpdir = t_dir;
	run->options.calls.decided = hear;
	run->options.calls.read_text = read_text;
	run->options.calls.ctx = run;
	run->counts.size = sizeof(run->counts);
}

static void begin(struct run *run, unsigned create_flags)
{
	begin_in(run, "index", create_flags);
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
		row.label = run->label;
		row.label_size = run->label_size;
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

/*
 * Rows 2 and 5 have a similarity of just 55/57, which is enough where that is asked for; in a run,
 * and by what a run before has remembered. What is more is not, and then the nearest is told.
 */
START_TEST(test_similarity_that_is_just_enough)
{
	const double similarity = 55.0 / 57;
	int lasts = _i & 1, is_more = _i >> 1;
	struct run run;

	begin(&run, lasts ? SIMIDX_CREATE_NOTES : 0);
	run.options.flags = SIMIDX_DEDUP_NEAREST | (lasts ? SIMIDX_DEDUP_LASTING : 0);
	run.options.remember = lasts ? SIMIDX_DEDUP_TEXT : SIMIDX_DEDUP_FINGERPRINT;
	run.options.similarity = similarity + is_more * 1e-9;
	run.options.max_weight = 1000;
	if (lasts) {
		decide(&run, 2, 3);
		decide(&run, 5, 6);
	} else {
		decide(&run, 2, 6);
	}
	ck_assert_uint_eq(run.n_near, 1 + (unsigned)!lasts - (unsigned)is_more);
	ck_assert(run.is_told);
	ck_assert_double_eq_tol(run.near.similarity, similarity, 1e-15);
	ck_assert_uint_eq(run.near.id, 0);
	ck_assert_uint_eq(run.near.keeper, lasts ? SIMIDX_DEDUP_EARLIER : 0);
	ck_assert_uint_eq(run.near.flags, 0);
	end(&run);
}
END_TEST

/* By sketches, too: equal texts have a similarity of 1, and others have less. */
START_TEST(test_similarity_of_sketches_that_is_just_enough)
{
	struct run run;

	begin(&run, SIMIDX_CREATE_NOTES);
	run.options.flags = SIMIDX_DEDUP_LASTING;
	run.options.remember = SIMIDX_DEDUP_SKETCH;
	run.options.similarity = 1;
	run.options.max_weight = 1000;
	decide(&run, 2, 3);
	decide(&run, 3, 4);
	ck_assert_uint_eq(run.n_near, 1);
	ck_assert_double_eq(run.near.similarity, 1);
	ck_assert_uint_eq(run.near.flags, SIMIDX_DEDUP_ESTIMATE);
	decide(&run, 5, 6);
	ck_assert_uint_eq(run.n_near, 1);
	end(&run);
}
END_TEST

/* Where fingerprints alone decide, those at the distance of the options are near, whether they are
   searched or are of the same batch. */
START_TEST(test_weight_that_is_just_enough)
{
	unsigned distance = 200; /* far less than that of row 4 */
	struct run run;

	for (int is_less = -1; is_less < 2; is_less++) {
		char name[] = { (char)('b' + is_less), '\0' };

		begin_in(&run, name, 0);
		run.options.flags = SIMIDX_DEDUP_NO_VERIFY;
		run.options.batch_rows = shapes[_i].batch;
		run.options.threads = shapes[_i].threads;
		run.options.max_weight = (int)distance - (is_less > 0);
		decide(&run, 3, 6);
		end(&run);
		if (is_less < 0)
			distance = run.near.distance; /* as it is told */
		ck_assert_uint_gt(distance, 0);
		ck_assert_uint_eq(run.n_near, is_less <= 0);
		ck_assert_uint_eq(run.n_by_fp, is_less <= 0);
	}
}
END_TEST

/* What is most similar in other indexes is told, too: of equally similar ones the first. */
START_TEST(test_nearest_of_other_indexes)
{
	static const char *const names[] = { "a", "b", "c" };
	static const unsigned row[] = { 6, 2, 2 }; /* that it has */
	simidx *against[3];
	struct run run;

	for (int i = 0; i < 3; i++) {
		begin_in(&run, names[i], SIMIDX_CREATE_NOTES);
		run.options.flags = SIMIDX_DEDUP_LASTING;
		run.options.remember = SIMIDX_DEDUP_TEXT;
		decide(&run, row[i], row[i] + 1);
		simidx_writer_close(run.writer);
		against[i] = run.index;
	}
	begin(&run, 0);
	run.options.flags = SIMIDX_DEDUP_NEAREST;
	run.options.similarity = .99;
	run.options.max_weight = 1000;
	run.options.against = against;
	run.options.n_against = 3;
	decide(&run, 4, 6);
	ck_assert_uint_eq(run.n_near, 0);
	ck_assert(run.is_told);
	ck_assert_uint_eq(run.near.keeper, SIMIDX_DEDUP_AGAINST);
	ck_assert_uint_eq(run.near.against, 1);
	ck_assert_double_eq_tol(run.near.similarity, 55.0 / 57, 1e-15);
	end(&run);
	for (int i = 0; i < 3; i++)
		simidx_close(against[i]);
}
END_TEST

/* A label that is too long is not stored, nor one that another document has. */
START_TEST(test_labels_that_cannot_be_stored)
{
	static const struct {
		size_t size;
		uint64_t want; /* documents that have it */
	} labels[] = { { 5, 1 }, { SIMIDX_MAX_LABEL, 1 }, { SIMIDX_MAX_LABEL + 1, 0 } };
	char label[SIMIDX_MAX_LABEL + 1];
	simidx_info info = SIMIDX_INFO_INIT;
	struct run run;

	memset(label, 'l', sizeof(label));
	begin(&run, 0);
	run.options.flags = SIMIDX_DEDUP_LASTING;
	run.label = label;
	run.label_size = labels[_i].size;
	decide(&run, 2, ROWS);
	sxt_must_ok(simidx_get_info(run.index, &info, &sxt_err));
	ck_assert_uint_ge(info.documents, KEPT);
	ck_assert_uint_eq(info.labels, labels[_i].want);
	end(&run);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_similarity_that_is_just_enough, 0, 4 },
	{ &test_similarity_of_sketches_that_is_just_enough, 0, 1 },
	{ &test_weight_that_is_just_enough, 0, N_SHAPES },
	{ &test_nearest_of_other_indexes, 0, 1 },
	{ &test_labels_that_cannot_be_stored, 0, 3 },
	{ &test_counts_of_a_run, 0, N_SHAPES },
	{ &test_counts_of_what_is_remembered, 0, 2 * N_SHAPES },
	{ &test_counts_of_texts_that_have_changed, 0, 1 },
	{ &test_counts_of_foreign_documents, 0, 1 },
};

SXT_SUITE(dedup_counts, sxt_set_up_path, sxt_tear_down);
