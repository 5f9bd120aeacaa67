/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Queries of texts, against a linear scan; and texts without features, of which there are many in
 * each index, and which are near to nothing.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_load.h>
#include <simidx_text.h>

#include "support/sxt_query.h"
#include "support/sxt_text.h"

#define N_TEXTS 1000
#define MAX_TEXT 2000

static const struct {
	const char *plan;
	unsigned bits, flags;
	simidx_text_options options;
	const char *older; /* the profile of an older version, NULL = of this one */
} ways[] = {
	{ "4x16", 64, SIMIDX_CREATE_FP2, SIMIDX_TEXT_OPTIONS_INIT, NULL },
	{ "3x22", 64, SIMIDX_CREATE_FP2, { .size = sizeof(simidx_text_options), .seed = 7 }, NULL },
	{ "4x16", 64, 0, { .size = sizeof(simidx_text_options), .short_exact = 1 }, NULL },
	{ "10x26", 48, SIMIDX_CREATE_FP2, { .size = sizeof(simidx_text_options),
					    .extractor = "char-4", .bits = 48 }, NULL },
	{ "2x32", 16, 0, { .size = sizeof(simidx_text_options), .extractor = "words1",
			   .bits = 16 }, NULL },
	/* Both fingerprints of the same features. */
	{ "4x16", 64, SIMIDX_CREATE_FP2, SIMIDX_TEXT_OPTIONS_INIT,
	  "words12 v1 bits=64 grams=1,2 weights=sqrt hash=xxh3-64 seed=0" },
};

#define N_WAYS (sizeof(ways) / sizeof(*ways))

/* Without words, so without features. */
static const char *const blanks[] = {
	"", " ", "\n\t \r\n", "...", "?! -- ;", "\u3002\u2026\u300a\u300b", "\u00ad\u200d",
};
#define N_BLANKS (sizeof(blanks) / sizeof(*blanks))

static char *dir, *path;
static sxt_rng rng;
static sxt_model model;
static simidx *db;
static simidx_text *text;
static simidx_reader *reader;
static char texts[N_TEXTS][MAX_TEXT];

/* Every tenth has no words, every third is the one before it with a word changed. */
static void make_texts(void)
{
	for (size_t i = 0; i < N_TEXTS; i++) {
		unsigned n_words = 10 + (unsigned)sxt_rng_below(&rng, 150);
		char *at = texts[i];

		if (i % 10 == 9) {
			strcpy(at, blanks[i / 10 % N_BLANKS]);
		} else if (i % 3 == 2) {
			strcpy(at, texts[i - 1]);
			memcpy(at, "other", 5);
		} else {
			while (n_words--)
				at += sprintf(at, "word%llu ",
					      (unsigned long long)sxt_rng_below(&rng, 5000));
		}
	}
}

/* As the index has it. */
static simidx_sketch sketch_of(int way, simidx_text *maker, const char *utf8)
{
	simidx_sketch sketch = sxt_sketch_of_text(maker, utf8, strlen(utf8));
	const simidx_feature *features;
	size_t n;

	if (!ways[way].older)
		return sketch;
	ck_assert_sx(simidx_text_features(maker, utf8, strlen(utf8), &features, &n, &sxt_err),
		     SIMIDX_OK);
	ck_assert_sx(simidx_sketch_make(features, n, 64, SXT_SKETCH_ALL, &sketch, &sxt_err),
		     SIMIDX_OK);
	return sketch;
}

/* By a loader: a writer takes a document whose second fingerprint is not known only beside such. */
static void load_some_unknown(const simidx_create_options *create)
{
	simidx_loader *loader;

	sxt_must_ok(simidx_loader_open(path, create, NULL, &loader, &sxt_err));
	for (size_t i = 0; i < N_TEXTS; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		model.at[i].lacks_fp2 = i % 2 == 0;
		if (model.at[i].lacks_fp2)
			model.at[i].fp2 = 0;
		doc.id = model.at[i].id;
		doc.fp = model.at[i].fp;
		doc.fp2 = model.at[i].fp2;
		doc.flags = model.at[i].lacks_fp2 ? SIMIDX_DOC_FP2_UNKNOWN : SIMIDX_DOC_FP2;
		sxt_must_ok(simidx_loader_put(loader, &doc, NULL, &sxt_err));
	}
	sxt_must_ok(simidx_loader_finish(loader, NULL, &sxt_err));
	simidx_loader_close(loader);
	db = sxt_open(path, 0);
}

static void store_all(const simidx_create_options *create)
{
	db = sxt_create(path, create);
	sxt_model_store(&model, 0, N_TEXTS / 2, db);
	sxt_merge(db);
	sxt_model_store(&model, N_TEXTS / 2, N_TEXTS, db);
}

static void open_index_by(int way, void (*store)(const simidx_create_options *create))
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_text *maker;

	dir = sxt_dir_make();
	path = sxt_path(dir, "index");
	sxt_rng_init(&rng, 500 + (uint64_t)way);
	make_texts();
	sxt_model_init(&model, ways[way].bits, ways[way].flags);
	ck_assert_sx(simidx_text_open(&ways[way].options, &maker, &sxt_err), SIMIDX_OK);
	create.plan = ways[way].plan;
	create.bits = ways[way].bits;
	create.flags = ways[way].flags;
	create.profile = ways[way].older ? ways[way].older : simidx_text_profile(maker);
	create.check_fps = simidx_text_check_fps(maker, &create.n_check_fps);
	model.has_triples = strstr(create.profile, " fp2=triples") != NULL;
	for (size_t i = 0; i < N_TEXTS; i++) {
		simidx_sketch sketch = sketch_of(way, maker, texts[i]);

		sxt_model_add(&model, sketch.fp, &rng);
		if (ways[way].flags & SIMIDX_CREATE_FP2)
			model.at[i].fp2 = sketch.fp2;
		/* By words alone, whatever an extractor makes of them. */
		ck_assert_int_eq(!(sketch.flags & SIMIDX_SKETCH_EMPTY), i % 10 != 9);
	}
	store(&create);
	ck_assert_sx(simidx_text_open_for(db, NULL, &text, &sxt_err), SIMIDX_OK);
	ck_assert_str_eq(simidx_text_profile(text), create.profile);
	simidx_text_close(maker);
	reader = sxt_reader(db);
}

static void open_index(int way)
{
	open_index_by(way, store_all);
}

static void close_index(void)
{
	simidx_reader_close(reader);
	simidx_text_close(text);
	simidx_close(db);
	sxt_model_free(&model);
	sxt_remove(dir);
	free(path);
	free(dir);
}

static simidx_query query_of(const char *utf8, simidx_sketch *sketch)
{
	simidx_query query = SIMIDX_QUERY_INIT;

	*sketch = (simidx_sketch)SIMIDX_SKETCH_INIT;
	ck_assert_sx(simidx_text_query(text, db, utf8, strlen(utf8), sketch, &query, &sxt_err),
		     SIMIDX_OK);
	return query;
}

/* The defaults of doc/text.md. */
static void check_fields(int way, const simidx_query *q, const simidx_sketch *sketch)
{
	int has_fp2 = (ways[way].flags & SIMIDX_CREATE_FP2) != 0;
	int triples = strstr(simidx_text_profile(text), " fp2=triples") != NULL;
	unsigned zeros = 0, limit = triples ? 232 : 144;

	for (unsigned b = 0; b < ways[way].bits; b++)
		zeros += sketch->weights[b] == 0;
	ck_assert_uint_eq(q->fp, sketch->fp);
	ck_assert_uint_eq(q->fp2, sketch->fp2);
	ck_assert_ptr_eq(q->weights, sketch->weights);
	ck_assert_ptr_eq(q->weights2, has_fp2 ? sketch->weights2 : NULL);
	ck_assert_uint_eq(q->flags, SIMIDX_QUERY_TEXT | SIMIDX_QUERY_SCAN_SMALL |
					    (has_fp2 ? SIMIDX_QUERY_FP2 : 0));
	ck_assert_uint_eq(q->radius, has_fp2 ? limit : 59);
	ck_assert_uint_eq(q->radius2, has_fp2 ? limit : 0);
	ck_assert_uint_eq(q->max_bits, 14 + zeros);
	ck_assert_uint_eq(q->probes, strcmp(ways[way].plan, "3x22") ? 64 : 256);
	ck_assert_uint_eq(q->limit, 0);
	ck_assert_uint_eq(q->mode, SIMIDX_ALL);
}

static void check_finds_nothing(simidx_query q)
{
	simidx_results results = SIMIDX_RESULTS_INIT;

	for (q.mode = SIMIDX_ALL; q.mode <= SIMIDX_NEAREST; q.mode++) {
		q.limit = q.mode == SIMIDX_NEAREST;
		ck_assert_sx(simidx_reader_search(reader, &q, &results, &sxt_err), SIMIDX_OK);
		ck_assert_uint_eq(results.n, 0);
		ck_assert_uint_eq(results.count, 0);
	}
}

/* The same text, by the plain distance of -k. */
static simidx_query plain_query(const char *utf8, unsigned radius)
{
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;

	ck_assert_sx(simidx_text_fingerprint(text, utf8, strlen(utf8), SIMIDX_SKETCH_FP2, &sketch,
					     &sxt_err),
		     SIMIDX_OK);
	ck_assert_sx(simidx_sketch_query(db, &sketch, &query, &sxt_err), SIMIDX_OK);
	ck_assert_ptr_null(query.weights);
	ck_assert_uint_eq(query.flags, SIMIDX_QUERY_TEXT);
	ck_assert_uint_eq(query.radius, 3);
	query.radius = radius;
	return query;
}

START_TEST(test_text_query_equals_the_model)
{
	simidx_sketch sketch;
	simidx_results results;
	size_t found = 0;

	open_index(_i);
	for (size_t i = 0; i < N_TEXTS; i++) {
		simidx_query q = query_of(texts[i], &sketch);

		check_fields(_i, &q, &sketch);
		sxt_check_query(&model, N_TEXTS, reader, &q, &results);
		/* In so small an index nothing is missed. */
		ck_assert_int_eq(results.complete_to, q.radius);
		ck_assert_int_eq(results.n > 0, i % 10 != 9); /* a text finds itself */
		found += results.n > 1;
		if (i % 10)
			continue;
		q = plain_query(texts[i], 3);
		sxt_check_query(&model, N_TEXTS, reader, &q, &results);
		ck_assert_uint_ge(results.n, 1);
		q.radius = ways[_i].bits;
		sxt_check_query(&model, N_TEXTS, reader, &q, &results);
		ck_assert_uint_eq(results.n, N_TEXTS - N_TEXTS / 10);
	}
	ck_assert_uint_gt(found, 300); /* most of those with a word changed */
	close_index();
}
END_TEST

/* Every other document is found by its first fingerprint alone, and must be nearer for that. */
START_TEST(test_second_fingerprints_that_are_not_known)
{
	simidx_sketch sketch;
	simidx_results results;
	size_t n_alone = 0;

	open_index_by(_i ? (int)N_WAYS - 1 : 0, load_some_unknown);
	for (size_t i = 0; i < N_TEXTS; i++) {
		simidx_query q = query_of(texts[i], &sketch);

		sxt_check_query(&model, N_TEXTS, reader, &q, &results);
		ck_assert_int_eq(results.complete_to, q.radius);
		for (size_t k = 0; k < results.n; k++)
			n_alone += results.matches[k].weighted_distance &&
				   !(results.matches[k].flags & SIMIDX_MATCH_FP2);
	}
	ck_assert_uint_gt(n_alone, 50);
	close_index();
}
END_TEST

/* By weights, and stricter, where there are second fingerprints; else within 3 bits. */
static void check_if_new_fields(int way, const simidx_query *q, const simidx_sketch *sketch)
{
	simidx_query search = SIMIDX_QUERY_INIT;

	ck_assert_sx(simidx_sketch_query(db, sketch, &search, &sxt_err), SIMIDX_OK);
	if (ways[way].flags & SIMIDX_CREATE_FP2) {
		search.radius = search.radius2 = search.radius == 232 ? 160 : 112;
		search.max_bits -= 2; /* 12, and those without weight */
	} else {
		search.flags &= ~SIMIDX_QUERY_SCAN_SMALL;
		search.weights = NULL;
		search.radius = 3;
		search.probes = search.max_bits = 0;
	}
	ck_assert_mem_eq(q, &search, sizeof(search));
}

static simidx_query query_if_new(const char *utf8, simidx_sketch *sketch)
{
	simidx_query query = SIMIDX_QUERY_INIT;

	*sketch = (simidx_sketch)SIMIDX_SKETCH_INIT;
	ck_assert_sx(simidx_text_query_if_new(text, db, utf8, strlen(utf8), sketch, &query,
					      &sxt_err),
		     SIMIDX_OK);
	return query;
}

/* All texts once more, each as a document that is stored if it is new. */
START_TEST(test_only_new_texts_are_stored)
{
	simidx_writer *writer;
	simidx_sketch sketch;
	size_t n_new = 0, n_dup = 0;

	open_index(_i);
	ck_assert_sx(simidx_writer_open(db, NULL, &writer, &sxt_err), SIMIDX_OK);
	for (size_t i = 0; i < N_TEXTS; i++) {
		simidx_query q = query_if_new(texts[i], &sketch);
		simidx_doc doc = SIMIDX_DOC_INIT;
		simidx_match blocker;
		size_t n_found;
		sxt_found *found = sxt_model_find(&model, N_TEXTS, &q, &n_found);
		int rc;

		check_if_new_fields(_i, &q, &sketch);
		doc.fp = sketch.fp;
		doc.fp2 = sketch.fp2;
		doc.flags = ways[_i].flags & SIMIDX_CREATE_FP2 ? SIMIDX_DOC_FP2 : 0;
		rc = simidx_writer_put_if_new(writer, &doc, &q, NULL, &blocker, &sxt_err);
		/* Only texts without words are new, as each of the others is there already. */
		ck_assert_sx(rc, i % 10 == 9 ? SIMIDX_OK : SIMIDX_E_EXISTS);
		ck_assert_int_eq(n_found > 0, i % 10 != 9);
		if (rc) {
			ck_assert_uint_eq(blocker.id, found[0].doc->id);
			ck_assert_uint_eq(blocker.weighted_distance, 0);
		}
		n_new += !rc;
		n_dup += n_found > 1;
		free(found);
	}
	ck_assert_uint_eq(n_new, N_TEXTS / 10);
	ck_assert_uint_gt(n_dup, 0);
	simidx_writer_close(writer);
	close_index();
}
END_TEST

START_TEST(test_texts_without_words_are_near_to_nothing)
{
	simidx_query all = SIMIDX_QUERY_INIT;
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_sketch sketch;

	open_index(_i);
	for (size_t i = 0; i < N_BLANKS; i++) {
		simidx_query q = query_of(blanks[i], &sketch);

		ck_assert_uint_eq(sketch.flags & SIMIDX_SKETCH_EMPTY, SIMIDX_SKETCH_EMPTY);
		ck_assert_uint_eq(sketch.n_features, 0);
		check_finds_nothing(q);
		q.radius = q.radius2 = UINT32_MAX;
		q.max_bits = 0;
		check_finds_nothing(q);
		check_finds_nothing(plain_query(blanks[i], 0));
		check_finds_nothing(plain_query(blanks[i], ways[_i].bits));
	}
	/* By the fingerprint, all that was stored is found. */
	all.radius = ways[_i].bits;
	ck_assert_sx(simidx_reader_search(reader, &all, &results, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(results.n, N_TEXTS);
	all.radius = 0;
	ck_assert_sx(simidx_reader_search(reader, &all, &results, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(results.n, N_TEXTS / 10);
	close_index();
}
END_TEST

START_TEST(test_bad_arguments_are_refused)
{
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;
	simidx_query q = SIMIDX_QUERY_INIT, no_size = { 0 };

	open_index(0);
	ck_assert_sx(simidx_text_query(NULL, db, "a", 1, &sketch, &q, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_text_query(text, NULL, "a", 1, &sketch, &q, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_text_query(text, db, NULL, 1, &sketch, &q, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_text_query(text, db, "a", 1, NULL, &q, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_text_query(text, db, "a", 1, &sketch, NULL, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_text_query(text, db, "a", 1, &sketch, &no_size, &sxt_err),
		     SIMIDX_E_ARG);
	q.fp = 5;
	ck_assert_sx(simidx_text_query(text, db, "a", (size_t)1 << 31, &sketch, &q, &sxt_err),
		     SIMIDX_E_RANGE);
	ck_assert_uint_eq(q.fp, 0);
	ck_assert_sx(simidx_text_query_if_new(text, db, NULL, 1, &sketch, &q, &sxt_err),
		     SIMIDX_E_ARG);
	ck_assert_sx(simidx_sketch_query_if_new(NULL, &sketch, &q, &sxt_err), SIMIDX_E_ARG);
	sketch.bits = 48;
	ck_assert_sx(simidx_sketch_query_if_new(db, &sketch, &q, &sxt_err), SIMIDX_E_MISMATCH);
	ck_assert_sx(simidx_sketch_query(db, &sketch, &q, &sxt_err), SIMIDX_E_MISMATCH);
	ck_assert_str_eq(sxt_err.text,
			 "the sketch has 48 bits, the fingerprints of the index have 64");
	close_index();
}
END_TEST

static const sxt_test tests[] = {
	{ &test_text_query_equals_the_model, 0, N_WAYS },
	{ &test_second_fingerprints_that_are_not_known, 0, 2 },
	{ &test_only_new_texts_are_stored, 0, N_WAYS },
	{ &test_texts_without_words_are_near_to_nothing, 0, N_WAYS },
	{ &test_bad_arguments_are_refused, 0, 1 },
};

SXT_SUITE(text_query, NULL, NULL);
