/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The bulk loader against a model that puts one document after another, and against a writer
 * that is given the documents which the model keeps.
 */

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "index/sx_index.h"
#include "support/sxt_model.h"
#include "t_fast.h"

Suite *suite_loader(void);

#define MAX_ROWS 4096
#define NONE UINT32_MAX

static char *dir, *path, *other_path;
static sxt_rng rng;

static void set_up(void)
{
	dir = sxt_dir_make();
	path = sxt_path(dir, "index");
	other_path = sxt_path(dir, "other");
	sxt_rng_init(&rng, 77);
}

static void tear_down(void)
{
	sxt_remove(dir);
	free(other_path);
	free(path);
	free(dir);
}

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
	rows->at = calloc(MAX_ROWS, sizeof(*rows->at));
	ck_assert_ptr_nonnull(rows->at);
}

/* How ids come. */
enum ids { ASSIGNED, SHUFFLED, CLASHING };

/* A row of random content: fingerprints and labels that repeat, ids as asked for. */
static struct row *add_row(struct rows *rows, enum ids ids, uint64_t n_labels)
{
	struct row *row = &rows->at[rows->n++];
	int has_ids = !(rows->flags & SIMIDX_CREATE_NO_IDS);

	ck_assert_uint_le(rows->n, MAX_ROWS);
	row->doc = (simidx_doc)SIMIDX_DOC_INIT;
	row->doc.fp = sxt_rng_below(&rng, 3) ? sxt_rng_u64(&rng) : sxt_rng_below(&rng, 50);
	if (rows->bits < 64)
		row->doc.fp &= ((uint64_t)1 << rows->bits) - 1;
	if (rows->flags & SIMIDX_CREATE_FP2) {
		row->doc.flags = SIMIDX_DOC_FP2;
		row->doc.fp2 = sxt_rng_u64(&rng);
	}
	if (has_ids && ids == SHUFFLED)
		row->doc.id = (rows->n * 2654435761u) % ((uint64_t)1 << 32);
	if (has_ids && ids == CLASHING && sxt_rng_below(&rng, 4))
		row->doc.id = sxt_rng_below(&rng, 600);
	if (has_ids && n_labels && sxt_rng_below(&rng, 2)) {
		row->doc.label_size = (size_t)snprintf(row->label, sizeof(row->label), "l%d",
						       (int)sxt_rng_below(&rng, n_labels));
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
	simidx *index = sxt_create(other_path, create);
	simidx_writer *writer = sxt_writer(index, 0);

	for (size_t i = 0; i < rows->n; i++) {
		simidx_doc doc = rows->at[i].doc;

		doc.id = rows->at[i].given;
		if (rows->at[i].stays)
			ck_assert_sx(simidx_put(writer, &doc, NULL, &sxt_err), SIMIDX_OK);
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
		ck_assert_int_eq(ra, rb);
		ck_assert_uint_eq(ma.id, mb.id);
		ck_assert_uint_eq(ma.fp, mb.fp);
		ck_assert_uint_eq(ma.fp2, mb.fp2);
		ck_assert_uint_eq(ma.flags, mb.flags);
		ck_assert_uint_eq(ma.label_size, mb.label_size);
		ck_assert(!ma.label || !memcmp(ma.label, mb.label, ma.label_size));
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

struct heard {
	uint8_t rejected[MAX_ROWS];
	uint64_t n;
	uint64_t calls, stop_at; /* of stop(); 0 = never */
};

static void hear_rejected(void *ctx, uint64_t row, const char *reason)
{
	struct heard *heard = ctx;

	ck_assert_uint_lt(row, MAX_ROWS);
	ck_assert(*reason);
	ck_assert(!heard->rejected[row]);
	heard->rejected[row] = 1;
	heard->n++;
}

static int stop(void *ctx)
{
	struct heard *heard = ctx;

	return ++heard->calls == heard->stop_at;
}

static simidx_loader *open_loader(const simidx_create_options *create, unsigned policy,
				  struct heard *heard)
{
	simidx_loader_options o = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_create_options own;
	simidx_loader *loader;

	if (create) {
		own = *create;
		own.map_size = (uint64_t)1 << 30;
		create = &own;
	}
	o.memory = (uint64_t)64 << 20;
	o.duplicates = policy;
	o.threads = 1 + (unsigned)sxt_rng_below(&rng, 2);
	if (heard) {
		memset(heard, 0, sizeof(*heard));
		o.rejected = hear_rejected;
		o.stop = stop;
		o.ctx = heard;
	}
	ck_assert_sx(simidx_loader_open(path, create, &o, &loader, &sxt_err), SIMIDX_OK);
	return loader;
}

static void put_rows(simidx_loader *loader, const struct rows *rows, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		uint64_t id;

		ck_assert_sx(simidx_loader_put(loader, &rows->at[i].doc, &id, &sxt_err), SIMIDX_OK);
		if (!(rows->flags & SIMIDX_CREATE_NO_IDS))
			ck_assert_uint_eq(id, rows->at[i].given);
	}
}

static void finish(simidx_loader *loader, simidx_loader_report *report)
{
	*report = (simidx_loader_report)SIMIDX_LOADER_REPORT_INIT;
	ck_assert_sx(simidx_loader_finish(loader, report, &sxt_err), SIMIDX_OK);
	simidx_loader_close(loader);
}

/* No private directory, no temporary file. */
static int n_hidden(void)
{
	DIR *d = opendir(dir);
	const struct dirent *entry;
	int n = 0;

	while ((entry = readdir(d)) != NULL)
		n += !strncmp(entry->d_name, ".simidx", 7);
	closedir(d);
	return n;
}

/* Compare what the loader made with what the model says, and clean up. */
static void check_result(struct rows *rows, const simidx_create_options *create,
			 const struct heard *heard, const simidx_loader_report *report, size_t n_old)
{
	uint64_t left_out = decide(rows);
	simidx *expected = make_expected(rows, create), *got = sxt_open(path, 0);
	simidx_info info = SIMIDX_INFO_INIT;

	check_equal(got, expected, rows->next_id);
	ck_assert_sx(simidx_get_info(got, &info, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(report->documents, info.documents);
	ck_assert_uint_eq(report->distinct, info.distinct);
	ck_assert_uint_eq(report->duplicates, left_out);
	for (size_t i = n_old; heard && i < rows->n; i++)
		ck_assert_int_eq(heard->rejected[i - n_old],
				 rows->policy == SIMIDX_DUPLICATES_REJECT && !rows->at[i].stays);
	ck_assert_int_eq(n_hidden(), 0);
	simidx_close(got);
	simidx_close(expected);
	sxt_remove(path);
	sxt_remove(other_path);
	free(rows->at);
}

/* ------------------------------------------------------------------------------------------
 * Tests
 */

static const struct form {
	const char *plan;
	unsigned layout, flags, bits, fill;
} forms[] = {
	{ "4x16", SIMIDX_LAYOUT_BLOCKS, 0, 64, 0 },
	{ "4x16", SIMIDX_LAYOUT_ROWS, SIMIDX_CREATE_FP2, 64, 0 },
	{ "10x26", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_FP2, 64, 100 },
	{ "10x26", SIMIDX_LAYOUT_ROWS, 0, 32, 0 },
	{ "16x28", SIMIDX_LAYOUT_BLOCKS, 0, 64, 50 },
	{ "20x31", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_NO_IDS, 64, 0 },
	{ "4x16", SIMIDX_LAYOUT_ROWS, SIMIDX_CREATE_NO_IDS, 16, 0 },
	{ "4x16", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_NO_IDS, 33, 0 },
};
#define N_FORMS ((int)(sizeof(forms) / sizeof(forms[0])))

static simidx_create_options create_of(const struct form *form)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;

	o.plan = form->plan;
	o.layout = form->layout;
	o.flags = form->flags;
	o.bits = form->bits;
	o.fill = form->fill;
	return o;
}

START_TEST(test_forms)
{
	static const size_t sizes[] = { 0, 1, 2, 300, 3000 };
	simidx_create_options create = create_of(&forms[_i]);

	for (unsigned policy = 0; policy <= SIMIDX_DUPLICATES_LAST; policy++) {
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			enum ids ids = (enum ids)((policy + s) % 3);
			struct heard heard;
			struct rows rows;
			simidx_loader *loader = open_loader(&create, policy, &heard);
			simidx_loader_report report;

			rows_init(&rows, forms[_i].bits, forms[_i].flags, policy);
			for (size_t i = 0; i < sizes[s]; i++)
				add_row(&rows, ids, s % 2 ? 200 : 1000000);
			put_rows(loader, &rows, 0, rows.n);
			finish(loader, &report);
			check_result(&rows, &create, &heard, &report, 0);
		}
	}
}
END_TEST

/* Duplicates by ids and labels at once: what is left out frees its id and its label. */
START_TEST(test_duplicates)
{
	simidx_create_options create = create_of(&forms[_i / 3 % 2]);

	for (int round = 0; round < (sxt_is_long() ? 200 : 12); round++) {
		size_t n = 20 + (size_t)sxt_rng_below(&rng, 400);
		struct heard heard;
		struct rows rows;
		simidx_loader *loader = open_loader(&create, (unsigned)_i % 3, &heard);
		simidx_loader_report report;

		rows_init(&rows, 64, create.flags, (unsigned)_i % 3);
		for (size_t i = 0; i < n; i++)
			add_row(&rows, CLASHING, 1 + n / 3);
		put_rows(loader, &rows, 0, n);
		finish(loader, &report);
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
		int rc = simidx_put(writer, &row->doc, NULL, &sxt_err);

		/* What clashes by chance is no part of the test. */
		if (rc == SIMIDX_E_DUPLICATE)
			rows->n--;
		else
			ck_assert_int_eq(rc, SIMIDX_OK);
		if (i == n / 2) {
			sxt_commit(writer);
			ck_assert_sx(simidx_merge(writer, &sxt_err), SIMIDX_OK);
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
		const struct row *old = &rows->at[sxt_rng_below(&rng, rows->n)];

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

START_TEST(test_merge)
{
	simidx_create_options create = create_of(&forms[_i / 3 % 4]);
	unsigned policy = (unsigned)_i % 3;
	struct heard heard;
	struct rows rows;
	simidx_loader *loader;
	simidx_loader_report report;
	size_t n_old;

	rows_init(&rows, create.bits, create.flags, policy);
	n_old = store_old(&rows, &create, path, 700);
	sort_old(&rows, 0);
	add_clashing(&rows, 300);
	loader = open_loader(NULL, policy, &heard);
	put_rows(loader, &rows, n_old, rows.n);
	finish(loader, &report);
	check_result(&rows, &create, &heard, &report, n_old);
}
END_TEST

/* Two shards with ids and labels that clash, one of them in another layout. */
START_TEST(test_shards)
{
	simidx_create_options create = create_of(&forms[_i / 3 % 4]), odd = create;
	unsigned policy = (unsigned)_i % 3;
	char *shard = sxt_path(dir, "shard"), *second = sxt_path(dir, "second");
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
	loader = open_loader(&create, policy, NULL);
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
	finish(loader, &report);
	simidx_close(a);
	simidx_close(b);
	check_result(&rows, &create, NULL, &report, 0);
	free(more.at);
	free(shard);
	free(second);
}
END_TEST

START_TEST(test_refused_sources)
{
	static const struct form odd[] = {
		{ "4x16", 0, 0, 32, 0 },
		{ "4x16", 0, SIMIDX_CREATE_FP2, 64, 0 },
		{ "4x16", 0, SIMIDX_CREATE_NO_IDS, 64, 0 },
	};
	simidx_create_options create = create_of(&forms[0]), texts = create;
	simidx_loader *loader = open_loader(&create, 0, NULL);
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx *source;

	for (int i = 0; i < 3; i++) {
		simidx_create_options o = create_of(&odd[i]);

		source = sxt_create(other_path, &o);
		ck_assert_sx(simidx_loader_add_index(loader, source, &sxt_err), SIMIDX_E_MISMATCH);
		simidx_close(source);
		sxt_remove(other_path);
	}
	texts.profile = "words99 v1 bits=64";
	source = sxt_create(other_path, &texts);
	ck_assert_sx(simidx_loader_add_index(loader, source, &sxt_err), SIMIDX_E_MISMATCH);
	simidx_close(source);
	sxt_remove(other_path);
	source = sxt_create(other_path, &create);
	ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_add_index(loader, source, &sxt_err), SIMIDX_E_STATE);
	simidx_close(source);
	simidx_loader_close(loader);
	ck_assert_int_eq(n_hidden(), 0);
}
END_TEST

/* Rows that are refused at once count, so that later ones are told by the right number. */
START_TEST(test_row_numbers)
{
	simidx_create_options create = create_of(&forms[3]);
	struct heard heard;
	simidx_loader *loader = open_loader(&create, SIMIDX_DUPLICATES_REJECT, &heard);
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_loader_report report;
	simidx *index;

	doc.id = 5;
	ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_OK);
	doc.fp = (uint64_t)1 << 32;
	ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_E_RANGE);
	doc.fp = 7;
	doc.id = (uint64_t)1 << 63;
	ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_E_RANGE);
	doc.id = 5;
	doc.flags = SIMIDX_DOC_FP2;
	ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_E_MISMATCH);
	doc.flags = 0;
	ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_finish(loader, &report, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_E_STATE);
	ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_E_STATE);
	simidx_loader_close(loader);
	ck_assert_uint_eq(heard.n, 1);
	ck_assert(heard.rejected[4]);
	index = sxt_open(path, 0);
	sxt_check_sound(index);
	simidx_close(index);
}
END_TEST

/* Many documents on one fingerprint: one entry in each table. */
START_TEST(test_one_fingerprint)
{
	simidx_create_options create = create_of(&forms[0]);
	simidx_loader *loader = open_loader(&create, 0, NULL);
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_table_info table = SIMIDX_TABLE_INFO_INIT;
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_loader_report report;
	simidx_reader *reader;
	simidx *index;

	doc.fp = query.fp = 0x0123456789abcdef;
	for (int i = 0; i < 100000; i++)
		ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_OK);
	finish(loader, &report);
	ck_assert_uint_eq(report.documents, 100000);
	ck_assert_uint_eq(report.distinct, 1);
	index = sxt_open(path, 0);
	sxt_check_sound(index);
	ck_assert_sx(simidx_get_table_info(index, 2, &table, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(table.entries, 1);
	reader = sxt_reader(index);
	ck_assert_sx(simidx_search(reader, &query, &results, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(results.n, 100000);
	ck_assert_uint_eq(results.matches[99999].id, 99999);
	simidx_reader_close(reader);
	simidx_close(index);
}
END_TEST

/* ---- other processes ---- */

static void put_some(simidx *index, uint64_t from, uint64_t n)
{
	simidx_writer *writer = sxt_writer(index, 0);
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_error err;

	for (uint64_t i = 0; i < n; i++) {
		doc.fp = (from + i) * 0x9e3779b97f4a7c15;
		sxt_proc_must(simidx_put(writer, &doc, NULL, &err), SIMIDX_OK, &err);
	}
	sxt_commit(writer);
	simidx_writer_close(writer);
}

static uint64_t count_documents(simidx *index)
{
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_error err;

	sxt_proc_must(simidx_get_info(index, &info, &err), SIMIDX_OK, &err);
	return info.documents;
}

/* Has the old index open while another one takes its place. */
static int old_user(sxt_proc *me, void *ctx)
{
	simidx *index = sxt_open(path, 0);
	simidx_writer_options o = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_writer *writer;
	simidx_match match;
	simidx_walk *walk;
	simidx_error err;
	uint64_t n = 1;
	int rc;

	(void)ctx;
	put_some(index, 100, 50);
	sxt_proc_must(simidx_walk_open(index, &walk, &err), SIMIDX_OK, &err);
	sxt_proc_must(simidx_walk_next(walk, &match, &err), SIMIDX_OK, &err);
	sxt_proc_tell(me);
	sxt_proc_wait(me); /* the loader is open and holds the lock */
	o.wait_ms = 0;
	sxt_proc_must(simidx_writer_open(index, &o, &writer, &err), SIMIDX_OK, &err);
	sxt_proc_must(simidx_put(writer, &doc, NULL, &err), SIMIDX_E_BUSY, &err);
	sxt_proc_tell(me);
	sxt_proc_wait(me); /* exchanged */
	while (!(rc = simidx_walk_next(walk, &match, &err)))
		n++;
	sxt_proc_assert(rc == SIMIDX_E_END && n == 150);
	simidx_walk_close(walk);
	sxt_proc_must(simidx_put(writer, &doc, NULL, &err), SIMIDX_E_MOVED, &err);
	sxt_proc_must(simidx_walk_open(index, &walk, &err), SIMIDX_E_MOVED, &err);
	simidx_writer_close(writer);
	simidx_close(index);
	index = sxt_open(path, 0);
	sxt_proc_assert(count_documents(index) == 151);
	put_some(index, 500, 1);
	sxt_proc_assert(count_documents(index) == 152);
	simidx_close(index);
	return 0;
}

START_TEST(test_moved)
{
	simidx_create_options create = create_of(&forms[0]);
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_loader_report report;
	simidx_loader *loader;
	simidx *index = sxt_create(path, &create);
	sxt_proc proc;

	put_some(index, 0, 100);
	simidx_close(index);
	sxt_proc_start(&proc, old_user, NULL);
	ck_assert_int_eq(sxt_proc_wait(&proc), 0);
	loader = open_loader(NULL, 0, NULL);
	sxt_proc_tell(&proc);
	ck_assert_int_eq(sxt_proc_wait(&proc), 0);
	ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_OK);
	finish(loader, &report);
	ck_assert_uint_eq(report.documents, 151);
	sxt_proc_tell(&proc);
	ck_assert_int_eq(sxt_proc_finish(&proc), 0);
	ck_assert_int_eq(n_hidden(), 0);
}
END_TEST

static int load_and_wait(sxt_proc *me, void *ctx)
{
	simidx_create_options create = create_of(&forms[0]);
	simidx_loader *loader;
	simidx_error err;

	(void)ctx;
	sxt_proc_must(simidx_loader_open(path, &create, NULL, &loader, &err), SIMIDX_OK, &err);
	sxt_proc_tell(me);
	sxt_proc_wait(me);
	return 0;
}

/* A builder that was killed leaves a directory that the next one removes; a live one keeps it. */
START_TEST(test_killed)
{
	simidx_create_options create = create_of(&forms[0]);
	simidx *index;
	sxt_proc proc;

	sxt_proc_start(&proc, load_and_wait, NULL);
	ck_assert_int_eq(sxt_proc_wait(&proc), 0);
	ck_assert_int_eq(n_hidden(), 1);
	index = sxt_create(other_path, &create);
	ck_assert_sx(simidx_backup(index, path, &sxt_err), SIMIDX_OK);
	sxt_remove(path);
	ck_assert_int_eq(n_hidden(), 1);
	sxt_proc_kill(&proc);
	ck_assert_int_eq(n_hidden(), 1);
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_sx(simidx_backup(index, path, &sxt_err), SIMIDX_OK);
	ck_assert_int_eq(n_hidden(), 0);
	simidx_close(index);
}
END_TEST

/* ---- errors ---- */

START_TEST(test_stop)
{
	simidx_create_options create = create_of(&forms[0]);
	uint64_t stops = 1;
	int stopped = 1;

	/* At each of the moments at which it asks, until there are no more. */
	for (uint64_t at = 1; stopped; at++) {
		struct heard heard;
		simidx_loader *loader = open_loader(&create, 0, &heard);
		int rc;

		heard.stop_at = at;
		for (int i = 0; i < 100; i++) {
			simidx_doc doc = SIMIDX_DOC_INIT;

			doc.fp = sxt_rng_u64(&rng);
			ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_OK);
		}
		rc = simidx_loader_finish(loader, NULL, &sxt_err);
		stopped = rc == SIMIDX_E_STOPPED;
		stops += (uint64_t)stopped;
		if (!stopped)
			ck_assert_int_eq(rc, SIMIDX_OK);
		ck_assert_int_eq(access(path, F_OK), stopped ? -1 : 0);
		simidx_loader_close(loader);
		ck_assert_int_eq(n_hidden(), 0);
	}
	ck_assert_uint_gt(stops, 4);
}
END_TEST

START_TEST(test_errors)
{
	simidx_create_options create = create_of(&forms[0]);
	simidx_loader_options o = SIMIDX_LOADER_OPTIONS_INIT;
	char *missing = sxt_path(dir, "no/such");
	simidx_loader *loader;
	simidx *index;

	o.memory = ((uint64_t)64 << 20) - 1;
	ck_assert_sx(simidx_loader_open(path, &create, &o, &loader, &sxt_err), SIMIDX_E_ARG);
	ck_assert_ptr_null(loader);
	o.memory = 0;
	o.duplicates = 3;
	ck_assert_sx(simidx_loader_open(path, &create, &o, &loader, &sxt_err), SIMIDX_E_ARG);
	o.duplicates = 0;
	ck_assert_sx(simidx_loader_open(missing, &create, &o, &loader, &sxt_err),
		     SIMIDX_E_NOT_FOUND);
	ck_assert_sx(simidx_loader_open(path, NULL, &o, &loader, &sxt_err), SIMIDX_E_NOT_FOUND);
	o.tmpdir = missing;
	ck_assert_sx(simidx_loader_open(path, &create, &o, &loader, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_E_NOT_FOUND);
	simidx_loader_close(loader);
	ck_assert_int_ne(access(path, F_OK), 0);
	/* Something has come to the path meanwhile: it is not replaced. */
	o.tmpdir = NULL;
	ck_assert_sx(simidx_loader_open(path, &create, &o, &loader, &sxt_err), SIMIDX_OK);
	index = sxt_create(path, &create);
	put_some(index, 0, 3);
	ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_E_EXISTS);
	simidx_loader_close(loader);
	ck_assert_uint_eq(count_documents(index), 3);
	/* A writer at work. */
	ck_assert_sx(sx_store_lock(index->store, 0, &sxt_err), SIMIDX_OK);
	o.wait_ms = 0;
	ck_assert_sx(simidx_loader_open(path, NULL, &o, &loader, &sxt_err), SIMIDX_E_BUSY);
	sx_store_unlock(index->store);
	simidx_close(index);
	ck_assert_int_eq(n_hidden(), 0);
	free(missing);
}
END_TEST

/* A file system of 2 MiB: both a full one and one that will be are told, and left as it was. */
START_TEST(test_no_space)
{
	simidx_create_options create = create_of(&forms[0]);
	char *small = sxt_path(dir, "small"), *inside = sxt_path(small, "index");
	simidx_loader_options o = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_loader *loader;
	int rc = SIMIDX_OK;

	ck_assert_int_eq(mkdir(small, 0700), 0);
	if (geteuid() || mount("none", small, "tmpfs", 0, "size=2m"))
		goto out; /* not allowed here */
	o.memory = (uint64_t)64 << 20;
	create.map_size = (uint64_t)1 << 30;
	rc = simidx_loader_open(inside, &create, &o, &loader, &sxt_err);
	for (uint64_t i = 0; !rc && i < 200000; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.fp = i * 0x9e3779b97f4a7c15;
		rc = simidx_loader_put(loader, &doc, NULL, &sxt_err);
	}
	if (!rc)
		rc = simidx_loader_finish(loader, NULL, &sxt_err);
	simidx_loader_close(loader);
	/* Only an empty directory can be removed. */
	ck_assert_int_ne(access(inside, F_OK), 0);
	ck_assert_int_eq(umount(small), 0);
	ck_assert_int_eq(rc, SIMIDX_E_NO_SPACE);
out:
	free(inside);
	free(small);
}
END_TEST

/* More than the sorters hold in 64 MiB, so that everything is spilled and merged. */
START_TEST(test_spills)
{
	simidx_create_options create = create_of(&forms[0]);
	uint64_t n = sxt_is_long() ? 5000000 : 1500000;
	simidx_loader *loader = open_loader(&create, 0, NULL);
	simidx_loader_report report;
	simidx_match match;
	simidx_walk *walk;
	simidx *index;

	/* Ids in an order far from theirs: a permutation, as n is no multiple of the prime. */
	for (uint64_t i = 0; i < n; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.id = i * 7919 % n;
		doc.fp = simidx_hash_bytes(&doc.id, sizeof(doc.id));
		ck_assert_int_eq(simidx_loader_put(loader, &doc, NULL, NULL), SIMIDX_OK);
	}
	finish(loader, &report);
	ck_assert_uint_eq(report.documents, n);
	ck_assert_uint_gt(report.spill_bytes, 24 * n);
	index = sxt_open(path, 0);
	sxt_check_sound(index);
	ck_assert_sx(simidx_walk_open(index, &walk, &sxt_err), SIMIDX_OK);
	for (uint64_t i = 0; i < n; i++) {
		ck_assert_int_eq(simidx_walk_next(walk, &match, NULL), SIMIDX_OK);
		ck_assert(match.id == i && match.fp == simidx_hash_bytes(&i, sizeof(i)));
	}
	simidx_walk_close(walk);
	simidx_close(index);
}
END_TEST

/* ---- marks ---- */

static size_t get_mark(simidx *index, char *buffer, int want)
{
	size_t n;

	memset(buffer, 0, 2000);
	ck_assert_sx(simidx_get_mark(index, buffer, 2000, &n, &sxt_err), want);
	return n;
}

START_TEST(test_mark)
{
	simidx *index = sxt_create(path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	char mark[2000];
	simidx_loader_report report;
	size_t n;

	get_mark(index, mark, SIMIDX_E_NOT_FOUND);
	ck_assert_sx(simidx_set_mark(writer, "", 0, &sxt_err), SIMIDX_E_RANGE);
	ck_assert_sx(simidx_set_mark(writer, mark, SIMIDX_MAX_MARK + 1, &sxt_err), SIMIDX_E_RANGE);
	/* It becomes visible with the commit, with documents or without. */
	ck_assert_sx(simidx_set_mark(writer, "one", 3, &sxt_err), SIMIDX_OK);
	get_mark(index, mark, SIMIDX_E_NOT_FOUND);
	sxt_commit(writer);
	ck_assert_uint_eq(get_mark(index, mark, SIMIDX_OK), 3);
	ck_assert_str_eq(mark, "one");
	ck_assert_sx(simidx_set_mark(writer, "two", 3, &sxt_err), SIMIDX_OK);
	simidx_rollback(writer);
	sxt_commit(writer);
	put_some(index, 0, 3);
	get_mark(index, mark, SIMIDX_OK);
	ck_assert_str_eq(mark, "one");
	memset(mark, 'x', SIMIDX_MAX_MARK);
	ck_assert_sx(simidx_set_mark(writer, mark, SIMIDX_MAX_MARK, &sxt_err), SIMIDX_OK);
	sxt_commit(writer);
	sxt_merge(index);
	ck_assert_uint_eq(get_mark(index, mark, SIMIDX_OK), SIMIDX_MAX_MARK);
	ck_assert_sx(simidx_get_mark(index, mark, 2, &n, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(n, SIMIDX_MAX_MARK);
	sxt_check_sound(index);
	simidx_writer_close(writer);
	simidx_close(index);
	/* An index that is built whole has none. */
	finish(open_loader(NULL, 0, NULL), &report);
	index = sxt_open(path, 0);
	get_mark(index, mark, SIMIDX_E_NOT_FOUND);
	ck_assert_uint_eq(count_documents(index), 3);
	simidx_close(index);
}
END_TEST

Suite *suite_loader(void)
{
	Suite *suite = suite_create("loader");
	TCase *tc = tcase_create("loader");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, sxt_is_long() ? 600 : 120);
	tcase_add_loop_test(tc, test_forms, 0, N_FORMS);
	tcase_add_loop_test(tc, test_duplicates, 0, 6);
	tcase_add_loop_test(tc, test_merge, 0, 12);
	tcase_add_loop_test(tc, test_shards, 0, 12);
	tcase_add_test(tc, test_refused_sources);
	tcase_add_test(tc, test_row_numbers);
	tcase_add_test(tc, test_one_fingerprint);
	tcase_add_test(tc, test_moved);
	tcase_add_test(tc, test_killed);
	tcase_add_test(tc, test_stop);
	tcase_add_test(tc, test_errors);
	tcase_add_test(tc, test_no_space);
	tcase_add_test(tc, test_spills);
	tcase_add_test(tc, test_mark);
	suite_add_tcase(suite, tc);
	return suite;
}
