/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Blocks that are damaged, or intact in the wrong place, and everything that hands on what it reads
 * of them: an error that names the table, and the contents stay as they were.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simidx_check.h>
#include <simidx_load.h>
#include <simidx_walk.h>

#include "index/sx_snapshot.h"
#include "support/sxt_fixture.h"
#include "support/sxt_model.h"
#include "util/sx_bytes.h"

#define MERGED 4000
#define DOCUMENTS (MERGED + 400) /* the last ones are fresh rows */
#define ADDED 1500 /* enough to fall into all blocks */

#define PAGE_HEADER 16 /* of LMDB's pages; its first 8 bytes are the number of the page */

static sxt_model model;
static sxt_rng rng;

/* A block or row of a table, or a label, where it lies in the file. */
struct place {
	char table[16];
	off_t at;
	size_t size;
};

static struct place *places;
static size_t n_places, block_size;
static unsigned char *sound; /* the whole file */
static size_t sound_size;

/* The values of a sub-database. */
static void find_places(simidx *index, const char *table, sx_dbi dbi)
{
	size_t page = block_size + PAGE_HEADER;
	sx_slice key, value;
	sx_cursor *cursor;
	sx_txn *txn;
	int rc;

	sxt_must_ok(sx_txn_begin_read(index->store, &txn, &sxt_err));
	sxt_must_ok(sx_cursor_open(txn, dbi, &cursor, &sxt_err));
	for (rc = sx_cursor_first(cursor, &key, &value, &sxt_err); !rc;
	     rc = sx_cursor_next(cursor, &key, &value, &sxt_err)) {
		/* LMDB's pages begin at multiples of their size, in memory as in the file. */
		size_t in_page = (uintptr_t)value.data % page;
		const unsigned char *header = (const unsigned char *)value.data - in_page;
		struct place *p;

		if (!(n_places & (n_places - 1))) /* room for twice as many */
			places = realloc(places, (n_places ? 2 * n_places : 1) * sizeof(*places));
		p = &places[n_places++];
		strcpy(p->table, table);
		p->at = (off_t)(sx_load_le64(header) * page + in_page);
		p->size = value.size;
	}
	sx_cursor_close(cursor);
	sx_txn_abort(txn);
}

static void set_up(void)
{
	sxt_set_up_path();
	sxt_rng_init(&rng, 5150);
	sxt_model_init(&model, 64, SIMIDX_CREATE_FP2);
	while (model.n < DOCUMENTS + ADDED)
		sxt_model_add(&model, sxt_rng_u64(&rng), &rng);
}

static void make_index(unsigned layout)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index;

	o.flags = SIMIDX_CREATE_FP2;
	o.layout = layout;
	index = sxt_create(t_path, &o);
	sxt_model_store(&model, 0, MERGED, index);
	sxt_merge(index);
	sxt_model_store(&model, MERGED, DOCUMENTS, index);
	block_size = index->tables.docs.block_size;
	places = NULL;
	n_places = 0;
	for (unsigned t = 0; t < index->schema->plan.n_tables; t++)
		find_places(index, index->tables.permuted[t].name, index->tables.permuted[t].dbi);
	find_places(index, "postings", index->tables.postings.dbi);
	find_places(index, "docs", index->tables.docs.dbi);
	find_places(index, "fresh", index->fresh->log.dbi);
	find_places(index, "labels", index->tables.labels);
	simidx_close(index);
	sound = sxt_file_read(t_data, &sound_size);
}

static void tear_down(void)
{
	free(places);
	free(sound);
	sxt_model_free(&model);
	sxt_tear_down();
}

static void write_place(const struct place *p, const unsigned char *bytes)
{
	int fd = open(t_data, O_RDWR | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, bytes, p->size, p->at), (ssize_t)p->size);
	close(fd);
}

static const struct place *choose(const char *table)
{
	const struct place *p;

	do
		p = &places[sxt_rng_below(&rng, n_places)];
	while (strcmp(p->table, table));
	return p;
}

/* Have two random blocks of a table change places, or the values of two rows. */
static void swap_values(const char *table)
{
	const struct place *a = choose(table), *b;

	do
		b = choose(table);
	while (a == b);
	write_place(a, sound + b->at);
	write_place(b, sound + a->at);
}

/* As it was. Where a merge has failed, no block of the table has become another one. */
static void mend(const char *table)
{
	for (size_t i = 0; i < n_places; i++)
		if (!strcmp(places[i].table, table))
			write_place(&places[i], sound + places[i].at);
}

static void flip_bit(const char *table)
{
	const struct place *p = choose(table);
	unsigned char *bytes = malloc(p->size);

	memcpy(bytes, sound + p->at, p->size);
	bytes[sxt_rng_below(&rng, p->size)] ^= (unsigned char)(1u << sxt_rng_below(&rng, 8));
	write_place(p, bytes);
	free(bytes);
}

/* The error names the table; that of a label may name by_label, which has its hash. */
static void check_named(int rc, const char *table)
{
	if (!strcmp(table, "labels"))
		table = "label";
	sxt_must_eq(rc, SIMIDX_E_CORRUPT);
	if (!strstr(sxt_err.text, table))
		ck_abort_msg("%s: %s", table, sxt_err.text);
}

/* They change places, documents are added and merged: refused, and nothing is lost by trying. */
START_TEST(test_swapped_blocks_are_not_merged)
{
	/* New ids come after all others: a merge reads no other block of docs than the last one. */
	static const char *const tables[] = { "t01", "t02", "t03", "t04", "postings" };
	unsigned rounds = sxt_is_long() ? 300 : 24;

	make_index(SIMIDX_LAYOUT_BLOCKS);
	sxt_rng_init(&rng, 5160 + (uint64_t)_i);
	for (unsigned i = 0; i < rounds; i++) {
		simidx_writer *writer;
		simidx *index;
	
		sxt_file_write(t_data, sound, sound_size);
		swap_values(tables[_i]);
		index = sxt_open(t_path, 0);
		sxt_model_store(&model, DOCUMENTS, model.n, index);
		writer = sxt_writer(index, 0);
		check_named(simidx_writer_merge(writer, &sxt_err), tables[_i]);
		ck_assert_ptr_nonnull(strstr(sxt_err.text, "block with key"));
		simidx_writer_close(writer);
		simidx_close(index);

		if (i % 8)
			continue;
		mend(tables[_i]);
		index = sxt_open(t_path, 0);
		sxt_check_content(&model, model.n, index);
		sxt_merge(index);
		sxt_check_content(&model, model.n, index);
		simidx_close(index);
	}
}
END_TEST

/* What reads a damaged table, and so must refuse it. */
enum reader {
	SEARCH = 1, /* with SIMIDX_OPEN_CHECK */
	FIND = 2,   /* by id and by label */
	WALK = 4,   /* walks and what is made of them: an index from this one, and its rebuild */
	MERGE = 8
};

struct damage {
	unsigned layout;
	const char *table;
	void (*make)(const char *table);
	unsigned readers;
};

#define BLOCKS SIMIDX_LAYOUT_BLOCKS
#define ROWS SIMIDX_LAYOUT_ROWS

/* A merge into rows reads none but those that it writes or removes. */
static const struct damage damages[] = {
	{ BLOCKS, "t01", flip_bit, SEARCH | MERGE },
	{ BLOCKS, "t02", flip_bit, SEARCH | MERGE },
	{ BLOCKS, "t03", flip_bit, SEARCH | MERGE },
	{ BLOCKS, "t04", flip_bit, SEARCH | MERGE },
	{ BLOCKS, "postings", flip_bit, SEARCH | FIND | WALK | MERGE },
	{ BLOCKS, "docs", flip_bit, FIND | WALK },
	{ BLOCKS, "fresh", flip_bit, SEARCH | FIND | WALK | MERGE },
	{ BLOCKS, "labels", flip_bit, SEARCH | FIND | WALK },
	{ BLOCKS, "t01", swap_values, SEARCH | MERGE },
	{ BLOCKS, "t03", swap_values, SEARCH | MERGE },
	{ BLOCKS, "postings", swap_values, SEARCH | FIND | WALK | MERGE },
	{ BLOCKS, "docs", swap_values, FIND | WALK },
	{ ROWS, "postings", flip_bit, SEARCH | FIND | WALK },
	{ ROWS, "postings", swap_values, SEARCH | FIND | WALK },
	{ ROWS, "docs", flip_bit, FIND | WALK },
	{ ROWS, "docs", swap_values, FIND | WALK },
	{ ROWS, "fresh", flip_bit, SEARCH | FIND | WALK | MERGE },
	{ ROWS, "fresh", swap_values, SEARCH | FIND | WALK | MERGE },
	{ ROWS, "labels", flip_bit, SEARCH | FIND | WALK },
};

/* Either right, or refused. Documents are not near to each other, so each finds itself alone. */
static unsigned count_refused(int rc, const simidx_match *m, size_t n, const sxt_doc *doc)
{
	if (rc) {
		sxt_must_eq(rc, SIMIDX_E_CORRUPT);
		return 1;
	}
	sxt_must_eq(n, 1);
	sxt_must_eq(m->id, doc->id);
	sxt_must_eq(m->fp, doc->fp);
	sxt_must_eq(m->fp2, doc->fp2);
	sxt_must_eq(m->label_size, doc->label_size);
	sxt_must(!m->label_size || !memcmp(m->label, doc->label, m->label_size));
	return 0;
}

/* By block indexes, or without. Each block is read for some document. */
static void check_searches(uint64_t block_index_bytes, int is_damaged, const char *table)
{
	simidx_open_options o = SIMIDX_OPEN_OPTIONS_INIT;
	unsigned refused = 0;
	simidx_reader *reader;
	simidx *index;

	o.flags = SIMIDX_OPEN_CHECK;
	o.block_index_bytes = block_index_bytes;
	ck_assert_sx(simidx_open(t_path, &o, &index, &sxt_err), SIMIDX_OK);
	reader = sxt_reader(index);
	for (int twice = 0; twice < 2; twice++) {
		unsigned before = refused;

		for (size_t i = 0; i < DOCUMENTS; i++) {
			simidx_results r = SIMIDX_RESULTS_INIT;
			simidx_query q = SIMIDX_QUERY_INIT;
			int rc;

			q.fp = model.at[i].fp;
			q.flags = SIMIDX_QUERY_LABELS;
			rc = simidx_reader_search(reader, &q, &r, &sxt_err);
			if (rc) {
				check_named(rc, table);
				sxt_must_eq(r.n, 0); /* not even those that were found */
			}
			refused += count_refused(rc, r.matches, r.n, &model.at[i]);
		}
		/* A block that was refused once is refused for ever. */
		ck_assert_uint_eq(refused > before, is_damaged);
	}
	simidx_reader_close(reader);
	simidx_close(index);
}

static void check_look_ups(int is_damaged)
{
	simidx *index = sxt_open(t_path, 0);
	simidx_reader *reader = sxt_reader(index);
	unsigned refused = 0;

	for (size_t i = 0; i < DOCUMENTS; i++) {
		const sxt_doc *doc = &model.at[i];
		simidx_match m;
		int rc = simidx_reader_find_id(reader, doc->id, &m, &sxt_err);

		refused += count_refused(rc, &m, 1, doc);
		if (doc->label_size) {
			rc = simidx_reader_find_label(reader, doc->label, doc->label_size, &m,
						      &sxt_err);
			refused += count_refused(rc, &m, 1, doc);
		}
	}
	ck_assert_uint_eq(refused > 0, is_damaged);
	simidx_reader_close(reader);
	simidx_close(index);
}

static int walk_all(void)
{
	simidx *index = sxt_open(t_path, 0);
	simidx_walk *walk;
	simidx_match m;
	int rc = simidx_walk_open(index, &walk, &sxt_err);

	while (!rc)
		rc = simidx_walk_next(walk, &m, &sxt_err);
	simidx_walk_close(walk);
	simidx_close(index);
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

/* Build an index from the damaged one, beside it, or in its place. */
static int load_from(int in_place, unsigned flags)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_loader_options o = SIMIDX_LOADER_OPTIONS_INIT;
	char *beside = sxt_path(t_dir, "beside");
	simidx *source = NULL;
	simidx_loader *loader;
	int rc;

	create.flags = flags;
	o.memory = (uint64_t)64 << 20;
	rc = simidx_loader_open(in_place ? t_path : beside, in_place ? NULL : &create, &o, &loader,
				&sxt_err);
	if (!in_place && !rc) {
		source = sxt_open(t_path, SIMIDX_OPEN_READ_ONLY);
		rc = simidx_loader_add_index(loader, source, &sxt_err);
	}
	if (!rc)
		rc = simidx_loader_finish(loader, NULL, &sxt_err);
	simidx_loader_close(loader);
	simidx_close(source);
	ck_assert_int_eq(access(beside, F_OK) == 0, !rc && !in_place);
	sxt_remove(beside);
	free(beside);
	return rc;
}

static int back_up(void)
{
	simidx *index = sxt_open(t_path, SIMIDX_OPEN_READ_ONLY);
	char *beside = sxt_path(t_dir, "beside");
	int rc = simidx_backup(index, beside, &sxt_err);

	ck_assert_int_eq(access(beside, F_OK) == 0, !rc);
	sxt_remove(beside);
	free(beside);
	simidx_close(index);
	return rc;
}

static int merge(void)
{
	simidx *index = sxt_open(t_path, 0);
	simidx_writer *writer = sxt_writer(index, 0);
	int rc = simidx_writer_merge(writer, &sxt_err);

	simidx_writer_close(writer);
	simidx_close(index);
	return rc;
}

START_TEST(test_damage_is_not_handed_on)
{
	const struct damage *d = &damages[_i];
	unsigned rounds = sxt_is_long() ? 100 : 1;

	make_index(d->layout);
	sxt_rng_init(&rng, 5200 + (uint64_t)_i);
	for (unsigned i = 0; i < rounds; i++) {
		sxt_file_write(t_data, sound, sound_size);
		d->make(d->table);
		check_searches(0, !!(d->readers & SEARCH), d->table);
		check_searches(SIMIDX_BLOCK_INDEX_NEVER, !!(d->readers & SEARCH), d->table);
		check_look_ups(!!(d->readers & FIND));
		check_named(back_up(), d->table);
		if (d->readers & WALK) {
			check_named(walk_all(), d->table);
			check_named(load_from(0, SIMIDX_CREATE_FP2), d->table);
			check_named(load_from(1, SIMIDX_CREATE_FP2), d->table);
		} else {
			ck_assert_sx(walk_all(), SIMIDX_OK);
			ck_assert_sx(load_from(0, SIMIDX_CREATE_FP2), SIMIDX_OK);
		}
		if (d->readers & MERGE) {
			simidx *index;

			check_named(merge(), d->table);
			mend(d->table);
			index = sxt_open(t_path, 0);
			sxt_check_content(&model, DOCUMENTS, index);
			simidx_close(index);
		}
	}
	/* And without any damage all of them go. */
	sxt_file_write(t_data, sound, sound_size);
	check_searches(0, 0, "");
	check_look_ups(0);
	ck_assert_sx(back_up(), SIMIDX_OK);
	ck_assert_sx(walk_all(), SIMIDX_OK);
	ck_assert_sx(load_from(0, SIMIDX_CREATE_FP2), SIMIDX_OK);
	ck_assert_sx(merge(), SIMIDX_OK);
}
END_TEST

static void count(void *ctx, const simidx_problem *problem)
{
	ck_assert_ptr_nonnull(problem->text);
	++*(uint64_t *)ctx;
}

/* A block that is damaged was looked at as well, but nothing in it is an entry. */
START_TEST(test_damaged_blocks_are_counted)
{
	static const char *const tables[] = { "t01", "t04", "postings", "docs", "fresh" };
	simidx_verify_report r = SIMIDX_VERIFY_REPORT_INIT, whole = r;
	uint64_t checked = 0, told = 0;
	simidx *index;

	make_index(BLOCKS);
	for (size_t i = 0; i < n_places; i++)
		checked += !!strcmp(places[i].table, "labels");
	for (size_t i = 0; i < MERGED; i++) /* the rows of by_label */
		checked += model.at[i].label_size != 0;
	index = sxt_open(t_path, 0);
	sxt_must_ok(simidx_verify(index, NULL, NULL, &whole, &sxt_err));
	simidx_close(index);
	ck_assert_uint_eq(whole.blocks, checked);
	ck_assert_uint_eq(whole.documents, DOCUMENTS);
	flip_bit(tables[_i]);
	index = sxt_open(t_path, 0);
	ck_assert_sx(simidx_verify(index, count, &told, &r, &sxt_err), SIMIDX_E_CORRUPT);
	simidx_close(index);
	ck_assert_uint_eq(r.blocks, checked);
	ck_assert_uint_lt(r.entries, whole.entries);
	ck_assert_uint_gt(r.problems, 0);
	ck_assert_uint_eq(r.problems, told);
	ck_assert_uint_eq(r.mended, 0);
}
END_TEST

/* An index of fingerprints alone, the first of which has one bit more. */
static void make_bare(unsigned layout, uint64_t bit)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_writer *writer;
	simidx *index;

	o.flags = SIMIDX_CREATE_NO_IDS | SIMIDX_CREATE_TRUNCATE;
	o.layout = layout;
	index = sxt_create(t_path, &o);
	/* A merge in a commit writes the same file again; steps of another one go by time. */
	writer = sxt_writer(index, 1);
	for (size_t i = 0; i < MERGED; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.fp = model.at[i].fp | (i ? 0 : bit);
		ck_assert_sx(simidx_writer_put(writer, &doc, NULL, &sxt_err), SIMIDX_OK);
	}
	sxt_commit(writer);
	simidx_writer_close(writer);
	simidx_close(index);
}

/* Where the page begins in which t01 has a fingerprint. */
static size_t find_page(uint64_t fp)
{
	simidx *index = sxt_open(t_path, SIMIDX_OPEN_READ_ONLY);
	const sx_table *t01 = &index->tables.permuted[0];
	size_t page;
	sx_sort_key place = { 0, 0 };
	sx_slice key, value;
	sx_cursor *cursor;
	const unsigned char *at;
	sx_txn *txn;
	int rc;

	block_size = t01->block_size;
	page = block_size + PAGE_HEADER;
	sxt_must_ok(sx_txn_begin_read(index->store, &txn, &sxt_err));
	sxt_must_ok(sx_cursor_open(txn, t01->dbi, &cursor, &sxt_err));
	for (rc = sx_cursor_first(cursor, &key, &value, &sxt_err); !rc;
	     rc = sx_cursor_next(cursor, &key, &value, &sxt_err)) {
		sxt_must(!sx_table_sort_key(t01, key, &place));
		if (place.key >= fp) /* of a block it is the last one */
			break;
	}
	sxt_must_ok(rc);
	at = t01->layout == BLOCKS ? value.data : key.data;
	page *= sx_load_le64(at - (uintptr_t)at % page);
	sx_cursor_close(cursor);
	sx_txn_abort(txn);
	simidx_close(index);
	return page;
}

/*
 * A page of t01 that is sound in itself, and not the one that was stored: without ids no other
 * table is read for the documents.
 */
START_TEST(test_page_of_another_index)
{
	uint64_t fp = model.at[0].fp &= ~UINT64_C(1);
	size_t at, size, page;
	unsigned char *other;

	make_bare((unsigned)_i, 1);
	other = sxt_file_read(t_data, &size);
	make_bare((unsigned)_i, 0);
	sound = sxt_file_read(t_data, &sound_size);
	at = find_page(fp);
	page = block_size + PAGE_HEADER;
	ck_assert_uint_eq(size, sound_size);
	ck_assert(memcmp(sound + at, other + at, page));
	ck_assert_sx(walk_all(), SIMIDX_OK);

	memcpy(sound + at, other + at, page);
	sxt_file_write(t_data, sound, sound_size);
	check_named(walk_all(), "t01");
	check_named(load_from(0, SIMIDX_CREATE_NO_IDS), "t01");
	check_named(load_from(1, SIMIDX_CREATE_NO_IDS), "t01");
	check_named(back_up(), "t01");
	free(other);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_page_of_another_index, 0, 2 },
	{ &test_damaged_blocks_are_counted, 0, 5 },
	{ &test_swapped_blocks_are_not_merged, 0, 5 },
	{ &test_damage_is_not_handed_on, 0, sizeof(damages) / sizeof(damages[0]) },
};

SXT_SUITE(index_damage, set_up, tear_down);
