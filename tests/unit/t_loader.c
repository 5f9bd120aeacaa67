/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The bulk loader against a model that puts one document after another, and against a writer
 * that is given the documents which the model keeps.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_info.h>
#include <simidx_walk.h>

#include "support/sxt_load.h"

/* ------------------------------------------------------------------------------------------
 * The model
 */

struct row {
	simidx_doc doc;
	char label[24];
	uint64_t given; /* the id that it gets */
	int stays;
};

struct rows {
	unsigned bits, flags;
	unsigned policy;
	struct row *at;
	size_t n;
	uint64_t next_id;
};

static void rows_init(struct rows *rows, unsigned bits, unsigned flags, unsigned policy)
{
	memset(rows, 0, sizeof(*rows));
	rows->bits = bits;
	rows->flags = flags;
	rows->policy = policy;
	rows->at = calloc(SXT_MAX_ROWS, sizeof(*rows->at));
	ck_assert_ptr_nonnull(rows->at);
}

/* How ids come. */
enum ids { ASSIGNED, SHUFFLED, CLASHING };

/* A row of random content: fingerprints and labels that repeat, ids as asked for. */
static struct row *add_row(struct rows *rows, enum ids ids, uint64_t n_labels)
{
	struct row *row = &rows->at[rows->n++];
	int has_ids = !(rows->flags & SIMIDX_CREATE_NO_IDS);

	sxt_must_le(rows->n, SXT_MAX_ROWS);
	row->doc = (simidx_doc)SIMIDX_DOC_INIT;
	row->doc.fp = sxt_rng_u64(&sxt_load_rng);
	if (sxt_rng_below(&sxt_load_rng, 3) == 0)
		row->doc.fp = sxt_rng_below(&sxt_load_rng, 50);
	if (rows->bits < 64)
		row->doc.fp &= ((uint64_t)1 << rows->bits) - 1;
	if (rows->flags & SIMIDX_CREATE_FP2) {
		row->doc.flags = SIMIDX_DOC_FP2;
		row->doc.fp2 = sxt_rng_u64(&sxt_load_rng);
	}
	if (has_ids && ids == SHUFFLED)
		row->doc.id = (rows->n * 2654435761u) % ((uint64_t)1 << 32);
	if (has_ids && ids == CLASHING && sxt_rng_below(&sxt_load_rng, 4))
		row->doc.id = sxt_rng_below(&sxt_load_rng, 600);
	if (has_ids && n_labels && sxt_rng_below(&sxt_load_rng, 2)) {
		row->doc.label_size = (size_t)snprintf(row->label, sizeof(row->label), "l%d",
						       (int)sxt_rng_below(&sxt_load_rng, n_labels));
		row->doc.label = row->label;
	}
	row->given = row->doc.id;
	if (has_ids && row->given == SIMIDX_NO_ID)
		row->given = rows->next_id;
	if (has_ids && row->given >= rows->next_id)
		rows->next_id = row->given + 1;
	return row;
}

static int clash(const struct row *a, const struct row *b)
{
	return a->given == b->given ||
	       (a->doc.label && b->doc.label && !strcmp(a->label, b->label));
}

/* Decide who stays, one after another. Returns how many do not. */
static uint64_t decide(struct rows *rows)
{
	uint64_t left_out = 0;

	for (size_t i = 0; i < rows->n; i++) {
		struct row *here = &rows->at[i];

		here->stays = 1;
		if (rows->flags & SIMIDX_CREATE_NO_IDS)
			continue;
		for (size_t k = 0; k < i && here->stays; k++) {
			if (!rows->at[k].stays || !clash(&rows->at[k], here))
				continue;
			left_out++;
			if (rows->policy == SIMIDX_DUPLICATES_LAST)
				rows->at[k].stays = 0;
			else
				here->stays = 0;
		}
	}
	return left_out;
}

/* What stays, put by a writer under the ids that it got, and merged. */
static simidx *make_expected(const struct rows *rows, const simidx_create_options *create)
{
	simidx *index = sxt_create(sxt_load_other, create);
	simidx_writer *writer = sxt_writer(index, 0);

	for (size_t i = 0; i < rows->n; i++) {
		simidx_doc doc = rows->at[i].doc;

		doc.id = rows->at[i].given;
		if (rows->at[i].stays)
			sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	}
	sxt_commit(writer);
	simidx_writer_close(writer);
	sxt_merge(index);
	return index;
}

/* ------------------------------------------------------------------------------------------
 * Comparing
 */

static void check_walks(simidx *a, simidx *b)
{
	simidx_walk *wa, *wb;
	simidx_match ma, mb;
	int ra, rb;

	ck_assert_sx(simidx_walk_open(a, &wa, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_walk_open(b, &wb, &sxt_err), SIMIDX_OK);
	do {
		ra = simidx_walk_next(wa, &ma, NULL);
		rb = simidx_walk_next(wb, &mb, NULL);
		sxt_must_eq(ra, rb);
		sxt_must_eq(ma.id, mb.id);
		sxt_must_eq(ma.fp, mb.fp);
		sxt_must_eq(ma.fp2, mb.fp2);
		sxt_must_eq(ma.flags, mb.flags);
		sxt_must_eq(ma.label_size, mb.label_size);
		sxt_must(!ma.label || !memcmp(ma.label, mb.label, ma.label_size));
	} while (!ra);
	ck_assert_int_eq(ra, SIMIDX_E_END);
	simidx_walk_close(wa);
	simidx_walk_close(wb);
}

/* Everything but the ids that come next, where documents were left out. */
static void check_equal(simidx *a, simidx *b, uint64_t next_id)
{
	simidx_info ia = SIMIDX_INFO_INIT, ib = SIMIDX_INFO_INIT;
	simidx_table_info ta = SIMIDX_TABLE_INFO_INIT, tb = SIMIDX_TABLE_INFO_INIT;
	int rc;

	sxt_check_sound(a);
	sxt_check_sound(b);
	ck_assert_sx(simidx_get_info(a, &ia, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_get_info(b, &ib, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(ia.documents, ib.documents);
	ck_assert_uint_eq(ia.distinct, ib.distinct);
	ck_assert_uint_eq(ia.labels, ib.labels);
	ck_assert_uint_eq(ia.fresh_rows, 0);
	ck_assert_uint_eq(ia.bits, ib.bits);
	ck_assert_uint_eq(ia.layout, ib.layout);
	ck_assert_uint_eq(ia.flags, ib.flags);
	ck_assert_uint_eq(ia.fill, ib.fill);
	ck_assert_str_eq(ia.plan, ib.plan);
	ck_assert_str_eq(ia.profile, ib.profile);
	ck_assert_uint_eq(ia.next_id, ia.flags & SIMIDX_CREATE_NO_IDS ? SIMIDX_NO_ID : next_id);
	for (unsigned i = 0; !(rc = simidx_get_table_info(a, i, &ta, NULL)); i++) {
		ck_assert_sx(simidx_get_table_info(b, i, &tb, &sxt_err), SIMIDX_OK);
		ck_assert_str_eq(ta.name, tb.name);
		ck_assert_uint_eq(ta.entries, tb.entries);
		ck_assert_uint_eq(ta.digest, tb.digest);
	}
	ck_assert_int_eq(rc, SIMIDX_E_END);
	check_walks(a, b);
}

/* ------------------------------------------------------------------------------------------
 * Loading
 */

static void put_rows(simidx_loader *loader, const struct rows *rows, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		uint64_t id;

		sxt_must_ok(simidx_loader_put(loader, &rows->at[i].doc, &id, &sxt_err));
		if (!(rows->flags & SIMIDX_CREATE_NO_IDS))
			sxt_must_eq(id, rows->at[i].given);
	}
}

/* Compare what the loader made with what the model says, and clean up. */
static void check_result(struct rows *rows, const simidx_create_options *create,
			 const sxt_heard *heard, const simidx_loader_report *report, size_t n_old)
{
	uint64_t left_out = decide(rows);
	simidx *expected = make_expected(rows, create), *got = sxt_open(sxt_load_path, 0);
	simidx_info info = SIMIDX_INFO_INIT;

	check_equal(got, expected, rows->next_id);
	ck_assert_sx(simidx_get_info(got, &info, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(report->documents, info.documents);
	ck_assert_uint_eq(report->distinct, info.distinct);
	ck_assert_uint_eq(report->duplicates, left_out);
	for (size_t i = n_old; heard && i < rows->n; i++)
		sxt_must_eq(heard->rejected[i - n_old],
			    (rows->policy == SIMIDX_DUPLICATES_REJECT && !rows->at[i].stays));
	ck_assert_int_eq(sxt_load_hidden(), 0);
	simidx_close(got);
	simidx_close(expected);
	sxt_remove(sxt_load_path);
	sxt_remove(sxt_load_other);
	free(rows->at);
}

/* ------------------------------------------------------------------------------------------
 * Tests
 */

START_TEST(test_loads_equal_the_model)
{
	static const size_t sizes[] = { 0, 1, 2, 300, 3000 };
	simidx_create_options create = sxt_create_of(&sxt_forms[_i]);

	for (unsigned policy = 0; policy <= SIMIDX_DUPLICATES_LAST; policy++) {
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			enum ids ids = (enum ids)((policy + s) % 3);
			sxt_heard heard;
			struct rows rows;
			simidx_loader *loader = sxt_loader(&create, policy, &heard);
			simidx_loader_report report;

			rows_init(&rows, sxt_forms[_i].bits, sxt_forms[_i].flags, policy);
			for (size_t i = 0; i < sizes[s]; i++)
				add_row(&rows, ids, s % 2 ? 200 : 1000000);
			put_rows(loader, &rows, 0, rows.n);
			sxt_load_finish(loader, &report);
			check_result(&rows, &create, &heard, &report, 0);
		}
	}
}
END_TEST

/* Duplicates by ids and labels at once: what is left out frees its id and its label. */
START_TEST(test_policies_for_duplicates)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[_i / 3 % 2]);

	for (int round = 0; round < (sxt_is_long() ? 200 : 12); round++) {
		size_t n = 20 + (size_t)sxt_rng_below(&sxt_load_rng, 400);
		sxt_heard heard;
		struct rows rows;
		simidx_loader *loader = sxt_loader(&create, (unsigned)_i % 3, &heard);
		simidx_loader_report report;

		rows_init(&rows, 64, create.flags, (unsigned)_i % 3);
		for (size_t i = 0; i < n; i++)
			add_row(&rows, CLASHING, 1 + n / 3);
		put_rows(loader, &rows, 0, n);
		sxt_load_finish(loader, &report);
		check_result(&rows, &create, &heard, &report, 0);
	}
}
END_TEST

/* The rows before `n_old` go into an index by a writer that merges some of them only. */
static size_t store_old(struct rows *rows, const simidx_create_options *create, const char *where,
			size_t n)
{
	simidx *index = sxt_create(where, create);
	simidx_writer *writer = sxt_writer(index, 0);
	size_t n_old = 0;

	for (size_t i = 0; i < n; i++) {
		struct row *row = add_row(rows, SHUFFLED, 1000000);
		int rc = simidx_writer_put(writer, &row->doc, NULL, &sxt_err);

		/* What clashes by chance is no part of the test. */
		if (rc == SIMIDX_E_DUPLICATE)
			rows->n--;
		else
			ck_assert_int_eq(rc, SIMIDX_OK);
		if (i == n / 2) {
			sxt_commit(writer);
			ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_OK);
		}
	}
	sxt_commit(writer);
	simidx_writer_close(writer);
	simidx_close(index);
	n_old = rows->n;
	return n_old;
}

static int by_id(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->given < y->given ? -1 : x->given > y->given;
}

/* Rows that an index holds are taken over in the order of their ids. */
static void sort_old(struct rows *rows, size_t from)
{
	qsort(rows->at + from, rows->n - from, sizeof(*rows->at), by_id);
	for (size_t i = from; i < rows->n; i++)
		if (rows->at[i].doc.label)
			rows->at[i].doc.label = rows->at[i].label;
}

/* New rows, some with the id or the label of an old one. */
static void add_clashing(struct rows *rows, size_t n)
{
	size_t n_old = rows->n;

	for (size_t i = 0; i < n; i++) {
		struct row *row = add_row(rows, ASSIGNED, 1000000);
		const struct row *old = &rows->at[sxt_rng_below(&sxt_load_rng, rows->n)];

		if (i % 3 == 0 && old < &rows->at[n_old]) {
			row->doc.id = row->given = old->given;
			rows->next_id = 0;
		}
		if (i % 4 == 0 && old->doc.label) {
			memcpy(row->label, old->label, sizeof(row->label));
			row->doc.label = row->label;
			row->doc.label_size = strlen(row->label);
		}
		/* What is assigned goes on behind the largest one that was seen. */
		rows->next_id = 0;
		for (size_t k = 0; k < rows->n; k++)
			if (rows->at[k].given >= rows->next_id)
				rows->next_id = rows->at[k].given + 1;
	}
}

START_TEST(test_merge_with_an_index)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[_i / 3 % 4]);
	unsigned policy = (unsigned)_i % 3;
	sxt_heard heard;
	struct rows rows;
	simidx_loader *loader;
	simidx_loader_report report;
	size_t n_old;

	rows_init(&rows, create.bits, create.flags, policy);
	n_old = store_old(&rows, &create, sxt_load_path, 700);
	sort_old(&rows, 0);
	add_clashing(&rows, 300);
	loader = sxt_loader(NULL, policy, &heard);
	put_rows(loader, &rows, n_old, rows.n);
	sxt_load_finish(loader, &report);
	check_result(&rows, &create, &heard, &report, n_old);
}
END_TEST

/* Two shards with ids and labels that clash, one of them in another layout. */
START_TEST(test_shards_make_one_index)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[_i / 3 % 4]), odd = create;
	unsigned policy = (unsigned)_i % 3;
	char *shard = sxt_path(sxt_load_dir, "shard"), *second = sxt_path(sxt_load_dir, "second");
	struct rows rows, more;
	simidx_loader_report report;
	simidx_loader *loader;
	simidx *a, *b;

	rows_init(&rows, create.bits, create.flags, policy);
	rows_init(&more, create.bits, create.flags, policy);
	store_old(&rows, &create, shard, 600);
	sort_old(&rows, 0);
	odd.layout = !create.layout;
	odd.plan = "10x26";
	/* The ids of rows are a function of their number, so these clash. */
	store_old(&more, &odd, second, 300);
	sort_old(&more, 0);
	loader = sxt_loader(&create, policy, NULL);
	a = sxt_open(shard, 0);
	b = sxt_open(second, 0);
	ck_assert_sx(simidx_loader_add_index(loader, a, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_add_index(loader, b, &sxt_err), SIMIDX_OK);
	memcpy(rows.at + rows.n, more.at, more.n * sizeof(*more.at));
	for (size_t i = rows.n; i < rows.n + more.n; i++)
		if (rows.at[i].doc.label)
			rows.at[i].doc.label = rows.at[i].label;
	rows.n += more.n;
	if (more.next_id > rows.next_id)
		rows.next_id = more.next_id;
	sxt_load_finish(loader, &report);
	simidx_close(a);
	simidx_close(b);
	check_result(&rows, &create, NULL, &report, 0);
	free(more.at);
	free(shard);
	free(second);
}
END_TEST

START_TEST(test_sources_of_other_form_are_refused)
{
	static const struct {
		sxt_form form;
		const char *profile, *says;
	} odd[] = {
		{ { "4x16", 0, 0, 32, 0 }, NULL, "another number of bits" },
		{ { "4x16", 0, SIMIDX_CREATE_FP2, 64, 0 }, NULL, "columns (second fingerprints)" },
		{ { "4x16", 0, SIMIDX_CREATE_NO_IDS, 64, 0 }, NULL, "other columns (ids)" },
		{ { "4x16", 0, SIMIDX_CREATE_TIMES, 64, 0 }, NULL, "other columns (times)" },
		{ { "4x16", 0, SIMIDX_CREATE_NOTES, 64, 0 }, NULL, "other columns (notes)" },
		{ { "4x16", 0, 0, 64, 0 }, "words99 v1 bits=64", "another profile" },
	};
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	simidx_loader *loader = sxt_loader(&create, 0, NULL);
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx *source;

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		simidx_create_options o = sxt_create_of(&odd[i].form);

		o.profile = odd[i].profile;
		source = sxt_create(sxt_load_other, &o);
		ck_assert_sx(simidx_loader_add_index(loader, source, &sxt_err), SIMIDX_E_MISMATCH);
		ck_assert_ptr_nonnull(strstr(sxt_err.text, odd[i].says));
		simidx_close(source);
		sxt_remove(sxt_load_other);
	}
	source = sxt_create(sxt_load_other, &create);
	ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_add_index(loader, source, &sxt_err), SIMIDX_E_STATE);
	simidx_close(source);
	simidx_loader_close(loader);
	ck_assert_int_eq(sxt_load_hidden(), 0);
}
END_TEST

/* Whose check texts have other fingerprints, of those texts were made in another way. */
START_TEST(test_check_texts_of_sources)
{
	static const uint64_t fps[] = { 1, 2, 1, 3, 1, 2, 4 };
	static const struct {
		size_t at, n;
		int code;
	} cases[] = {
		{ 0, 2, SIMIDX_OK },          { 2, 2, SIMIDX_E_MISMATCH },
		{ 0, 1, SIMIDX_E_MISMATCH },  { 0, 0, SIMIDX_E_MISMATCH },
		{ 4, 3, SIMIDX_E_MISMATCH },  { 4, 2, SIMIDX_OK },
	};
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	simidx_loader *loader;
	simidx *source;

	create.profile = "words99 v1 bits=64";
	create.check_fps = fps;
	create.n_check_fps = 2;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		simidx_create_options other = create;

		loader = sxt_loader(&create, 0, NULL);
		other.check_fps = fps + cases[i].at;
		other.n_check_fps = cases[i].n;
		source = sxt_create(sxt_load_other, &other);
		ck_assert_sx(simidx_loader_add_index(loader, source, &sxt_err), cases[i].code);
		simidx_loader_close(loader);
		simidx_close(source);
		sxt_remove(sxt_load_other);
	}
}
END_TEST

static const sxt_test tests[] = {
	{ &test_loads_equal_the_model, 0, SXT_N_FORMS },
	{ &test_policies_for_duplicates, 0, 6 },
	{ &test_merge_with_an_index, 0, 12 },
	{ &test_shards_make_one_index, 0, 12 },
	{ &test_sources_of_other_form_are_refused, 0, 1 },
	{ &test_check_texts_of_sources, 0, 1 },
};

SXT_SUITE(loader, sxt_load_set_up, sxt_load_tear_down);
