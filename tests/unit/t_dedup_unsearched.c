/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Texts that are not searched: the decisions are those of a run that searches all. */

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
#include "support/sxt_text.h"

#define ROWS 2000
#define WORDS 120
#define MAX_TEXT (8 * WORDS)
#define ASKED_EVERY 9

/* What was decided about a row. */
struct decision {
	uint64_t id, keeper;
	double similarity;
	size_t n;
	unsigned flags, distance;
};

static char *dir;
static char text[ROWS][MAX_TEXT];
static struct decision decision[ROWS], all_searched[ROWS], by_last_shape[ROWS];
static size_t n_decided;
static uint64_t by_hash; /* rows of the last run */
static simidx *kept;
static simidx_writer *writer;
static simidx_error err;

/* Two of three texts are new; a third is an earlier one of which up to every twelfth word is
   another one. */
static void set_up(void)
{
	sxt_rng rng;

	dir = sxt_dir_make();
	sxt_rng_init(&rng, 41);
	for (size_t i = 0; i < ROWS; i++) {
		const char *from = text[i ? sxt_rng_below(&rng, i) : 0];
		uint64_t edits = sxt_rng_below(&rng, 34) / 4;
		size_t is_copy = i && i % 3 == 2, at = 0;

		for (size_t k = 0; k < WORDS; k++, from += is_copy ? 6 : 0)
			at += is_copy && sxt_rng_below(&rng, 100) >= edits ?
				      (size_t)sprintf(text[i] + at, "%.6s", from) :
				      (size_t)sprintf(text[i] + at, "%05u ",
						      (unsigned)sxt_rng_below(&rng, 99999));
	}
}

static void tear_down(void)
{
	free(dir);
}

static int hear(void *ctx, const simidx_dedup_row *row, const simidx_dedup_near *near, size_t n)
{
	struct decision *to = &decision[n_decided++];

	(void)ctx;
	*to = (struct decision){ .n = n, .flags = row->flags };
	if (n) {
		to->id = near->id;
		to->keeper = near->keeper;
		to->similarity = near->similarity;
		to->distance = near->distance;
	}
	return 0;
}

static void open_index(const char *name)
{
	sxt_dedup_index(dir, name, SIMIDX_DEDUP_TEXTS, 0, &kept, &writer);
}

static void close_index(void)
{
	simidx_writer_close(writer);
	simidx_close(kept);
}

static simidx_dedup_options options_of(unsigned threads, size_t batch, unsigned flags)
{
	simidx_dedup_options options = SIMIDX_DEDUP_OPTIONS_INIT;

	options.threads = threads;
	options.batch_rows = batch;
	options.flags = flags;
	options.tmpdir = dir;
	options.calls.decided = hear;
	return options;
}

static void add(simidx_dedup *dedup, size_t from, size_t to, int asks)
{
	for (size_t i = from; i < to; i++) {
		simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;

		row.text = text[i];
		row.text_size = strlen(text[i]);
		row.flags = asks && i % ASKED_EVERY == 0 ? SIMIDX_DEDUP_ASK : 0;
		ck_assert_int_eq(simidx_dedup_add(dedup, &row, &err), SIMIDX_OK);
	}
	ck_assert_int_eq(simidx_dedup_flush(dedup, 1, &err), SIMIDX_OK);
}

static simidx_dedup_counts count(const simidx_dedup *dedup)
{
	simidx_dedup_counts counts = { .size = sizeof(counts) };

	simidx_dedup_count(dedup, &counts);
	return counts;
}

static uint64_t count_unsearched(const simidx_dedup *dedup)
{
	return count(dedup).unsearched;
}

/* Decide about all rows. Returns how many were not searched. */
static uint64_t run(const simidx_dedup_options *options)
{
	simidx_dedup *dedup;
	uint64_t unsearched;

	n_decided = 0;
	ck_assert_int_eq(simidx_dedup_open(kept, writer, options, &dedup, &err), SIMIDX_OK);
	add(dedup, 0, ROWS, !(options->flags & SIMIDX_DEDUP_PAIRS));
	unsearched = count_unsearched(dedup);
	by_hash = count(dedup).by_hash;
	simidx_dedup_close(dedup);
	ck_assert_uint_eq(n_decided, ROWS);
	return unsearched;
}

static uint64_t run_anew(const char *name, const simidx_dedup_options *options)
{
	uint64_t unsearched;

	open_index(name);
	unsearched = run(options);
	close_index();
	return unsearched;
}

static const struct {
	unsigned threads;
	size_t batch;
} shapes[] = { { 1, 4096 }, { 1, 1 }, { 2, 50 }, { 8, 7 } };

static const unsigned ways[] = { 0, SIMIDX_DEDUP_PAIRS, SIMIDX_DEDUP_COMPARE_ALL,
				 SIMIDX_DEDUP_LASTING };

/* Whether a hash may lead to what a row is near to. */
static int leads(unsigned way)
{
	return !(way & (SIMIDX_DEDUP_PAIRS | SIMIDX_DEDUP_LASTING));
}

/* Which rows were kept, by number. */
static size_t find_kept(const struct decision *of, size_t row_of[ROWS])
{
	size_t n = 0;

	for (size_t i = 0; i < ROWS; i++)
		if (!of[i].n && !(of[i].flags & (SIMIDX_DEDUP_ASK | SIMIDX_DEDUP_EMPTY)))
			row_of[n++] = i;
	return n;
}

/* A row that is left out is near to its keeper, which need not be the nearest one. */
static void check_keepers(void)
{
	struct sd_shingles set = { 0 }, other = { 0 };
	struct sd_shingler *shingler;
	size_t row_of[ROWS], n_kept = find_kept(decision, row_of);

	ck_assert_sx(sd_shingler_open(&shingler, &err), SIMIDX_OK);
	for (size_t i = 0; i < ROWS; i++) {
		const struct decision *d = &decision[i];
		const char *keeper;

		if (!d->n)
			continue;
		sxt_must_lt(d->keeper, n_kept);
		sxt_must_lt(row_of[d->keeper], i);
		keeper = text[row_of[d->keeper]];
		sxt_must_sx(sd_shingles_make(shingler, text[i], strlen(text[i]), &set, &err), 0);
		sxt_must_sx(sd_shingles_make(shingler, keeper, strlen(keeper), &other, &err), 0);
		sxt_must(strcmp(text[i], keeper) == 0 ||
			 sd_shingles_jaccard(&set, &other) == d->similarity);
		sxt_must(d->similarity >= SIMIDX_DEDUP_SIMILARITY);
	}
	sd_shingles_free(&set);
	sd_shingles_free(&other);
	sd_shingler_close(shingler);
}

/* The decisions of the last run beside those of the one that has searched all; and of the shape
   before, as none may matter. */
static void compare_decisions(unsigned way, int is_first_shape)
{
	size_t row_of[ROWS], n_more = 0, n_led = 0;

	if (!leads(way)) {
		ck_assert_int_eq(memcmp(decision, all_searched, sizeof(decision)), 0);
		ck_assert_uint_eq(by_hash, 0);
		return;
	}
	/* A hash may lead to what a search misses; then some rows have lost their keeper. */
	find_kept(all_searched, row_of);
	for (size_t i = 0; i < ROWS; i++) {
		const struct decision *other = &all_searched[i];

		n_more += decision[i].n > other->n;
		n_led += decision[i].n && decision[i].distance == SIMIDX_DEDUP_NOT_SEARCHED;
		sxt_must_eq(decision[i].flags, other->flags);
		sxt_must(decision[i].n || !other->n || decision[row_of[other->keeper]].n);
	}
	ck_assert_uint_lt(n_more, ROWS / 100);
	check_keepers();
	ck_assert_uint_gt(by_hash, ROWS / 20);
	ck_assert_uint_eq(by_hash, n_led);
	if (!is_first_shape)
		ck_assert_int_eq(memcmp(decision, by_last_shape, sizeof(decision)), 0);
	memcpy(by_last_shape, decision, sizeof(decision));
}

/* Compare the decisions with those of a run that searches all rows. So many are near and not
   searched at least, and not searched at most. */
static void compare(unsigned way, size_t least_near, uint64_t least, uint64_t most)
{
	char name[16];
	size_t n_near = 0;

	for (size_t i = 0; i <= sizeof(shapes) / sizeof(*shapes); i++) {
		unsigned threads = i ? shapes[i - 1].threads : 2;
		size_t batch = i ? shapes[i - 1].batch : 100;
		simidx_dedup_options options = options_of(threads, batch, way);
		uint64_t unsearched;

		options.unsearched_bytes = i ? options.unsearched_bytes : 0;
		snprintf(name, sizeof(name), "ix%zu", i);
		unsearched = run_anew(name, &options);
		if (i) {
			ck_assert_uint_gt(unsearched, least);
			ck_assert_uint_lt(unsearched, most);
			compare_decisions(way, i == 1);
			continue;
		}
		ck_assert_uint_eq(unsearched, 0);
		memcpy(all_searched, decision, sizeof(decision));
		for (size_t k = 0; k < ROWS; k++)
			n_near += decision[k].n > 0;
		ck_assert_uint_gt(n_near, least_near);
	}
}

/* Of the copies those with most edits are new, too. */
START_TEST(test_decisions_are_the_same)
{
	compare(ways[_i], ROWS / 20, ROWS / 2, 5 * ROWS / 6);
}
END_TEST

/* Texts all of whose runs are known, and some of a few more: of 4 to 43 words, which are not all
   one token. Two of three are earlier ones with words before them, behind them or less. */
static void make_short(sxt_rng *rng)
{
	static const struct { const char *before, *after; } form[] = {
		{ "", " " }, { "a", "_b " }, { "\u00e9t\u00e9", "-x, " }, { "\u6771", " " },
		{ "A", ".5 " }, { "", "\ub144 " }, { "\u3005", " " }, { "", "_\u0301 " },
	};

	for (size_t i = 0; i < ROWS; i++) {
		size_t n = i % 3 ? sxt_rng_below(rng, 3) : 4 + sxt_rng_below(rng, 40);
		const char *from = text[3 * sxt_rng_below(rng, i / 3 + 1)];
		char *to = text[i];

		for (size_t k = 0; k < n; k++) {
			size_t f = sxt_rng_below(rng, 8);

			to += sprintf(to, "%s%u%s", form[f].before,
				      (unsigned)sxt_rng_below(rng, 9999), form[f].after);
		}
		if (i % 3 == 0)
			continue;
		for (size_t k = sxt_rng_below(rng, 4); k && strchr(from, ' '); k--)
			from = strchr(from, ' ') + 1;
		to += sprintf(to, "%s", from);
		for (size_t k = sxt_rng_below(rng, 4); k > 1; k--)
			to += sprintf(to, " z%u", (unsigned)sxt_rng_below(rng, 9999));
	}
}

START_TEST(test_short_texts)
{
	sxt_rng rng;

	sxt_rng_init(&rng, 42);
	make_short(&rng);
	compare(ways[_i], ROWS / 4, ROWS / 3, 3 * ROWS / 4);
}
END_TEST

/* Write a code point. */
static char *put_utf8(char *to, unsigned c)
{
	if (c < 0x80) {
		*to++ = (char)c;
		return to;
	}
	if (c >= 0x10000)
		*to++ = (char)(0xf0 | c >> 18);
	if (c >= 0x800)
		*to++ = (char)(c >= 0x10000 ? 0x80 | (c >> 12 & 63) : 0xe0 | c >> 12);
	*to++ = (char)(c >= 0x800 ? 0x80 | (c >> 6 & 63) : 0xc0 | c >> 6);
	*to++ = (char)(0x80 | (c & 63));
	return to;
}

/* The least hashes of short texts are those of all their shingles: of each, that is, as many. With
   this character in all places of words. */
static void check_least(simidx_text *maker, struct sd_shingler *shingler, struct sd_shingles *set,
			unsigned c)
{
	static const char *const form[] = {
		"one two * three", "1* *2 a* *b", "_* *_ a_* *_a", "'* a'*", "\u6771* *\u6771",
		"\uac00* *\uac00", "** 3.*", "\u00e9* *\u0436 four five six seven",
	};
	char utf8[256], *to;
	simidx_sketch sketch;

	for (size_t f = 0; f < sizeof(form) / sizeof(*form); f++) {
		to = utf8 + sprintf(utf8, "before this ");
		for (const char *from = form[f]; *from; from++)
			if (*from == '*')
				to = put_utf8(to, c);
			else
				*to++ = *from;
		to += sprintf(to, " and behind it");
		sketch = sxt_sketch_of_text(maker, utf8, (size_t)(to - utf8));
		sxt_must_sx(sd_shingles_make(shingler, utf8, (size_t)(to - utf8), set, &err),
			    SIMIDX_OK);
		if (set->n < SIMIDX_SKETCH_MOST_LEAST)
			sxt_must_eq(sketch.n_least, set->n);
	}
}

START_TEST(test_least_hashes_are_of_all_shingles)
{
	static const unsigned odd[] = { 0xad, 0x301, 0x483, 0x5b0, 0x200d, 0x2e80, 0x3005, 0x3006,
					0x303b, 0xac00, 0xd7a3, 0xff21, 0x16fe2, 0x1f600 };
	struct sd_shingles set = { 0 };
	struct sd_shingler *shingler;
	simidx_text *maker;

	ck_assert_sx(simidx_text_open(NULL, &maker, &err), SIMIDX_OK);
	ck_assert_sx(sd_shingler_open(&shingler, &err), SIMIDX_OK);
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		check_least(maker, shingler, &set, odd[i]);
	/* In short runs some of all. */
	for (unsigned c = 1; c < 0x20000; c += sxt_is_long() ? 1 : c < 0x600 ? 1 : 23)
		if (c < 0xd800 || c > 0xdfff)
			check_least(maker, shingler, &set, c);
	sd_shingles_free(&set);
	sd_shingler_close(shingler);
	simidx_text_close(maker);
}
END_TEST

/* Of each hundred texts all are made of one to three of six parts: hashes are dropped within a
   batch, and the turn of a row is led elsewhere than the threads were. */
static void make_of_templates(sxt_rng *rng)
{
	static char part[6][MAX_TEXT / 4];

	for (size_t i = 0; i < ROWS; i++) {
		char *to = text[i];

		if (i % 100 == 0)
			for (size_t p = 0; p < 6; p++)
				for (size_t k = 0, at = 0; k < WORDS / 6; k++)
					at += (size_t)sprintf(part[p] + at, "%05u ",
							      (unsigned)sxt_rng_below(rng, 99999));
		for (size_t n = 1 + sxt_rng_below(rng, 3); n; n--)
			to += sprintf(to, "%s", part[sxt_rng_below(rng, 6)]);
		for (size_t n = sxt_rng_below(rng, 4); n; n--)
			to += sprintf(to, "%05u ", (unsigned)sxt_rng_below(rng, 99999));
	}
}

START_TEST(test_templates)
{
	sxt_rng rng;

	sxt_rng_init(&rng, 43);
	make_of_templates(&rng);
	compare(ways[_i], ROWS / 20, ROWS / 20, ROWS);
}
END_TEST

/* Also with the least memory some texts need no search, and there is none for hashes that lead. */
START_TEST(test_least_memory)
{
	simidx_dedup_options options = options_of(2, 50, 0);

	options.unsearched_bytes = 63;
	ck_assert_uint_eq(run_anew("none", &options), 0);
	memcpy(all_searched, decision, sizeof(decision));
	for (uint64_t bytes = 64; bytes < 90; bytes += 5) {
		char name[16];

		snprintf(name, sizeof(name), "ix%u", (unsigned)bytes);
		options.unsearched_bytes = bytes;
		ck_assert_uint_ge(run_anew(name, &options), 1);
		ck_assert_uint_eq(by_hash, 0);
		ck_assert_int_eq(memcmp(decision, all_searched, sizeof(decision)), 0);
	}
}
END_TEST

/* How many are not searched does not depend on threads and batches. */
START_TEST(test_counts_are_the_same)
{
	simidx_dedup_options one = options_of(1, 4096, 0), many = options_of(8, 30, 0);

	ck_assert_uint_eq(run_anew("one", &one), run_anew("many", &many));
}
END_TEST

START_TEST(test_where_all_are_searched)
{
	simidx_dedup_options by_fp = options_of(2, 50, SIMIDX_DEDUP_NO_VERIFY);
	simidx_dedup_options nearest = options_of(2, 50, SIMIDX_DEDUP_NEAREST);

	ck_assert_uint_eq(run_anew("by_fp", &by_fp), 0);
	ck_assert_uint_eq(run_anew("nearest", &nearest), 0);
}
END_TEST

/* Add rows, and again by another deduplication: what was kept is there by now. Returns how many the
   second one did not search. */
static uint64_t add_twice(simidx_dedup *first, simidx_dedup *second, size_t from, size_t to)
{
	uint64_t before = count_unsearched(second);

	n_decided = 0;
	add(first, from, to, 0);
	memcpy(all_searched, decision, sizeof(decision));
	n_decided = 0;
	add(second, from, to, 0);
	for (size_t i = 0; i < to - from; i++)
		sxt_must(all_searched[i].n || (decision[i].n == 1 &&
					       decision[i].keeper == SIMIDX_DEDUP_EARLIER));
	return count_unsearched(second) - before;
}

/* An index with documents that were not added here: from the beginning, and later. */
START_TEST(test_other_documents_in_the_index)
{
	simidx_dedup_options options = options_of(2, 50, ways[_i]);
	simidx_dedup *first, *second;

	open_index("ix");
	ck_assert_int_eq(simidx_dedup_open(kept, writer, &options, &first, &err), SIMIDX_OK);
	ck_assert_int_eq(simidx_dedup_open(kept, writer, &options, &second, &err), SIMIDX_OK);
	ck_assert_uint_eq(add_twice(first, second, 0, 300), 0);
	ck_assert_uint_gt(count_unsearched(first), 200);
	ck_assert_uint_eq(add_twice(second, first, 300, 600), 0);
	simidx_dedup_close(first);
	simidx_dedup_close(second);
	close_index();
}
END_TEST

/* Put a text, and delete another document. */
static void exchange(const char *utf8, uint64_t id)
{
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_text *maker;

	ck_assert_int_eq(simidx_text_open(NULL, &maker, &err), SIMIDX_OK);
	ck_assert_int_eq(simidx_text_fingerprint(maker, utf8, strlen(utf8), SIMIDX_SKETCH_FP2,
						 &sketch, &err),
			 SIMIDX_OK);
	simidx_text_close(maker);
	doc.fp = sketch.fp;
	doc.fp2 = sketch.fp2;
	doc.flags = SIMIDX_DOC_FP2;
	ck_assert_int_eq(simidx_writer_begin(writer, &err), SIMIDX_OK);
	ck_assert_int_eq(simidx_writer_put(writer, &doc, NULL, &err), SIMIDX_OK);
	ck_assert_int_eq(simidx_writer_delete_id(writer, id, &err), SIMIDX_OK);
	ck_assert_int_eq(simidx_writer_commit(writer, &err), SIMIDX_OK);
}

/* Another document, though there are as many as before: it is found, and no hash leads to the one
   that was deleted. */
START_TEST(test_a_document_in_the_place_of_another)
{
	simidx_dedup_options options = options_of(2, 50, ways[_i]);
	simidx_dedup *dedup;
	simidx_info info = SIMIDX_INFO_INIT;
	size_t last = 299;

	open_index("ix");
	ck_assert_int_eq(simidx_dedup_open(kept, writer, &options, &dedup, &err), SIMIDX_OK);
	n_decided = 0;
	add(dedup, 0, 300, 0);
	while (decision[last].n)
		last--;
	strcpy(text[301], text[last]);
	ck_assert_int_eq(simidx_get_info(kept, &info, &err), SIMIDX_OK);
	exchange(text[300], info.next_id - 1);
	n_decided = 0;
	add(dedup, 300, 302, 0);
	ck_assert_uint_eq(decision[0].n, 1);
	ck_assert_uint_eq(decision[0].id, info.next_id);
	ck_assert_uint_eq(decision[1].n, 0);
	simidx_dedup_close(dedup);
	close_index();
}
END_TEST

/* The words from `from` to `to` of a row that has its own ones: no two rows have one in common. */
static char *put_words(char *to, size_t row, size_t from, size_t end)
{
	for (size_t k = from; k < end; k++)
		to += sprintf(to, "%05zu ", row * WORDS + k);
	return to;
}

/* A hash leads to a text until it has led there from one that is not near. Rows 1 to 10, which have
   three of four words of row 0, are not; the last one is. */
START_TEST(test_a_hash_that_led_astray)
{
	simidx_dedup_options options = options_of(1, _i ? 1 : 100, 0);
	size_t n_between = _i == 2 ? 0 : 10, last = n_between + 1;
	simidx_dedup *dedup;

	put_words(text[0], 0, 0, WORDS);
	for (size_t i = 1; i <= last; i++) {
		size_t own = i == last ? 2 : WORDS / 4;

		put_words(put_words(text[i], 0, 0, WORDS - own), i, WORDS - own, WORDS);
	}
	open_index("ix");
	n_decided = 0;
	ck_assert_int_eq(simidx_dedup_open(kept, writer, &options, &dedup, &err), SIMIDX_OK);
	add(dedup, 0, last + 1, 0);
	for (size_t i = 0; i <= last; i++)
		ck_assert_uint_eq(decision[i].n, i == last);
	ck_assert_uint_eq(decision[last].keeper, 0);
	ck_assert_uint_eq(count(dedup).by_hash, n_between == 0);
	simidx_dedup_close(dedup);
	close_index();
}
END_TEST

static const sxt_test tests[] = {
	{ &test_decisions_are_the_same, 0, 4 },
	{ &test_short_texts, 0, 3 },
	{ &test_least_hashes_are_of_all_shingles, 0, 1 },
	{ &test_templates, 0, 3 },
	{ &test_least_memory, 0, 1 },
	{ &test_counts_are_the_same, 0, 1 },
	{ &test_where_all_are_searched, 0, 1 },
	{ &test_other_documents_in_the_index, 3, 4 },
	{ &test_other_documents_in_the_index, 0, 1 },
	{ &test_a_document_in_the_place_of_another, 3, 4 },
	{ &test_a_document_in_the_place_of_another, 0, 1 },
	{ &test_a_hash_that_led_astray, 0, 3 },
};

SXT_SUITE(dedup_unsearched, set_up, tear_down);
