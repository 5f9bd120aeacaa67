/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Repairing an index with hundreds of deletions and replacements, merged and not, whatever page of
 * it is damaged or is that of an older commit: what is not as it was is told, by its id or
 * fingerprint, or by how many changes or documents are lost.
 */

#include <simidx_repair.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "index/sx_snapshot.h"
#include "support/sxt_fixture.h"
#include "support/sxt_model.h"
#include "support/sxt_repair.h"
#include "util/sx_bytes.h"

#define MOST_IDS 1000
#define MOST_LINES 8192
#define COMMITS 4   /* that are not merged, before the last one */
#define FLAGS_AT 10 /* in a page of LMDB's trees */
#define IS_LEAF 2
#define IS_BLOCK 4
#define LIST_AT 128 /* in a header page of LMDB: the page of the list of tables */
#define TXN_AT 144

struct doc {
	int is_there;
	uint64_t fp;
	char label[16];
};

static sxt_rng rng;
static struct doc docs[MOST_IDS];
static uint64_t n_ids, n_docs;
static unsigned flags, layout;
static size_t page_size;

/* The file as it is, as it was a commit before, and before the last merge. */
static struct image {
	unsigned char *bytes, header[SX_HEADER_MAX_SIZE];
	size_t size, header_size;
} now, before, unmerged;

static char *data_path;

/* ---- an index that changes ---- */

static void store(simidx_writer *writer, uint64_t id)
{
	struct doc *d = &docs[id];
	simidx_doc doc = SIMIDX_DOC_INIT;

	d->is_there = 1;
	d->fp = sxt_rng_u64(&rng);
	d->label[0] = 0;
	if (sxt_rng_below(&rng, 2))
		snprintf(d->label, sizeof(d->label), "%u-%u", (unsigned)id,
			 (unsigned)sxt_rng_below(&rng, 3));
	doc.id = id;
	doc.fp = d->fp;
	doc.fp2 = d->fp;
	doc.flags = flags & SIMIDX_CREATE_FP2 ? SIMIDX_DOC_FP2 : 0;
	doc.label = d->label[0] ? d->label : NULL;
	doc.label_size = strlen(d->label);
	sxt_must_ok(simidx_writer_replace(writer, &doc, NULL, &sxt_err));
}

static void change(simidx *index, unsigned n_new, unsigned n)
{
	simidx_writer *writer = sxt_writer(index, 0);

	for (unsigned i = 0; i < n_new; i++)
		store(writer, n_ids++);
	for (unsigned i = 0; i < n; i++) {
		uint64_t id = sxt_rng_below(&rng, n_ids);

		if (!docs[id].is_there || sxt_rng_below(&rng, 2)) {
			store(writer, id);
			continue;
		}
		docs[id].is_there = 0;
		sxt_must_ok(simidx_writer_delete_id(writer, id, &sxt_err));
	}
	sxt_commit(writer);
	simidx_writer_close(writer);
}

static void take_image(struct image *image, simidx *index)
{
	sx_snapshot s;

	sxt_must_ok(sx_snapshot_begin(&s, index, &sxt_err));
	image->header_size = sx_header_encode(&s.header, image->header);
	sx_snapshot_end(&s);
	image->bytes = sxt_file_read(data_path, &image->size);
}

/* Kind: bit 0 rows, bit 1 second fingerprints. */
static void begin(int kind)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index;

	o.layout = layout = kind & 1 ? SIMIDX_LAYOUT_ROWS : SIMIDX_LAYOUT_BLOCKS;
	o.flags = flags = kind & 2 ? SIMIDX_CREATE_FP2 : 0;
	index = sxt_create(t_path, &o);
	change(index, 600, 0);
	sxt_merge(index);
	change(index, 20, 150);
	sxt_merge(index);
	change(index, 20, 150);
	take_image(&unmerged, index);
	sxt_merge(index);
	for (unsigned i = 0; i < COMMITS; i++)
		change(index, 20, 60);
	take_image(&before, index);
	change(index, 20, 60);
	take_image(&now, index);
	simidx_close(index);
	for (uint64_t id = 0; id < n_ids; id++)
		n_docs += (uint64_t)docs[id].is_there;
}

static void set_up(void)
{
	sxt_set_up_path();
	sxt_rng_init(&rng, 82);
	memset(docs, 0, sizeof(docs));
	n_ids = n_docs = 0;
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	data_path = sxt_path(t_path, "data.mdb");
}

static void tear_down(void)
{
	free(now.bytes);
	free(before.bytes);
	free(unmerged.bytes);
	free(data_path);
	sxt_tear_down();
}

/* ---- what is told ---- */

static struct told {
	int ids[MOST_IDS];
	uint64_t fps[MOST_LINES]; /* of lost documents */
	size_t n_fps;
	unsigned doubts, lost_labels; /* that name no document */
	/* damage in the table that is watched, and ids that are told of as such */
	unsigned watched, gone;
	simidx_repair_report report;
} told;

static const char *watched;

static void tell(void *ctx, const simidx_loss *loss)
{
	(void)ctx;
	if (loss->id < MOST_IDS)
		told.ids[loss->id] = 1;
	if (loss->kind == SIMIDX_LOSS_DOCUMENT && loss->flags & SIMIDX_LOSS_HAS_FP) {
		sxt_must(told.n_fps < MOST_LINES);
		told.fps[told.n_fps++] = loss->fp;
	}
	if (loss->kind == SIMIDX_LOSS_DAMAGE && watched && !strcmp(loss->table, watched)) {
		told.watched++;
		told.gone += loss->id != SIMIDX_NO_ID;
	}
	told.doubts += loss->kind == SIMIDX_LOSS_DOUBT && loss->id == SIMIDX_NO_ID;
	told.lost_labels += loss->kind == SIMIDX_LOSS_LABEL && loss->id == SIMIDX_NO_ID;
}

static int is_told_fp(uint64_t fp)
{
	size_t i = 0;

	while (i < told.n_fps && told.fps[i] != fp)
		i++;
	return i < told.n_fps;
}

/* What has become of the documents. */
struct outcome {
	int is_made;
	size_t back, old, missing, labels;
	size_t untold; /* of these, which nothing tells of */
};

static void judge(struct outcome *o, uint64_t id, const simidx_match *match)
{
	const struct doc *d = &docs[id];
	int is_told = told.ids[id] || told.report.changes_lost || told.doubts, is_wrong = 1;
	size_t size = strlen(d->label);

	if (!match) {
		o->missing += is_wrong = d->is_there;
		is_told |= is_told_fp(d->fp) || told.report.documents_lost;
	} else if (!d->is_there) {
		o->back++;
	} else if (match->fp != d->fp || (match->flags & SIMIDX_MATCH_FP2 && match->fp2 != d->fp)) {
		o->old++;
	} else if (match->flags & SIMIDX_MATCH_LABEL) {
		is_wrong = match->label_size != size || memcmp(match->label, d->label, size);
		o->labels += (size_t)is_wrong;
	} else {
		o->labels += is_wrong = size > 0;
		is_told |= told.lost_labels > 0;
	}
	o->untold += is_wrong && !is_told;
}

/* Write the file and repair it. A file that cannot be repaired says so. */
static struct outcome repair(const unsigned char *bytes)
{
	simidx_repair_options how = SIMIDX_REPAIR_OPTIONS_INIT;
	char *path = sxt_path(t_dir, "new");
	struct outcome o = { 0 };
	simidx_reader *reader;
	simidx_match match;
	simidx *index;
	int rc;

	memset(&told, 0, sizeof(told));
	told.report = (simidx_repair_report)SIMIDX_REPAIR_REPORT_INIT;
	how.memory = 128 << 20;
	sxt_file_write(data_path, bytes, now.size);
	rc = simidx_repair(t_path, path, &how, tell, NULL, &told.report, &sxt_err);
	o.is_made = !rc;
	sxt_must(!rc || rc == SIMIDX_E_CORRUPT || rc == SIMIDX_E_NOT_INDEX);
	sxt_error_clear(&sxt_err);
	if (!rc) {
		index = sxt_open(path, SIMIDX_OPEN_READ_ONLY);
		sxt_check_sound(index);
		reader = sxt_reader(index);
		for (uint64_t id = 0; id < n_ids; id++) {
			rc = simidx_reader_find_id(reader, id, &match, &sxt_err);
			sxt_must(!rc || rc == SIMIDX_E_NOT_FOUND);
			judge(&o, id, rc ? NULL : &match);
		}
		sxt_error_clear(&sxt_err);
		simidx_reader_close(reader);
		simidx_close(index);
		sxt_remove(path);
	}
	free(path);
	return o;
}

static void check_told(const struct outcome *o)
{
	ck_assert_uint_eq(o->untold, 0);
	ck_assert_uint_ge(told.report.documents_lost, told.report.changes_lost);
	if (!told.doubts)
		ck_assert_uint_ge(told.report.documents_lost, o->missing);
}

/* ---- damage ---- */

/* The page of the list of tables: where that is of an older commit, so is all that is read. */
static size_t list_of_tables(void)
{
	const unsigned char *second = now.bytes + page_size;
	int is_second = sx_load_le64(second + TXN_AT) > sx_load_le64(now.bytes + TXN_AT);

	return (size_t)sx_load_le64(is_second ? second + LIST_AT : now.bytes + LIST_AT);
}

/* Put what the page was then into its place. Returns whether it was something else. */
static int put_older(unsigned char *bytes, const struct image *older, size_t page)
{
	size_t at = page * page_size;

	if (page == list_of_tables() || at + page_size > older->size)
		return 0;
	memcpy(bytes + at, older->bytes + at, page_size);
	return memcmp(bytes + at, now.bytes + at, page_size) != 0;
}

static unsigned char *copy_of_now(void)
{
	unsigned char *bytes = malloc(now.size);

	sxt_must(bytes != NULL);
	return memcpy(bytes, now.bytes, now.size);
}

/* All pages are looked at in long runs; T_SOME says why fewer with the address sanitizer. */
#ifdef __SANITIZE_ADDRESS__
#define STEP 16u
#else
#define STEP (sxt_is_long() ? 1u : 2u)
#endif

/* Sums of what came of one page after another. */
static struct sums {
	size_t repaired, with_changes, with_back, with_missing;
} sums;

static void check_page(const unsigned char *bytes)
{
	struct outcome o = repair(bytes);

	if (!o.is_made)
		return;
	check_told(&o);
	/* Two tables have each document, and one of them is whole. */
	if (!told.report.changes_lost)
		ck_assert_uint_eq(o.back + o.old + o.missing, 0);
	sums.repaired++;
	sums.with_changes += told.report.changes_lost > 0;
	sums.with_back += o.back > 0;
	sums.with_missing += o.missing > 0;
}

/* One page after another: a bit in it, nothing but zeros, or as it was before. */
START_TEST(test_whatever_page_is_damaged)
{
	memset(&sums, 0, sizeof(sums));
	begin(_i % 4);
	for (size_t page = 2; page < now.size / page_size; page += STEP) {
		unsigned char *bytes = copy_of_now(), *at = bytes + page * page_size;

		if (_i / 4 == 0)
			at[sxt_rng_below(&rng, page_size)] ^= (unsigned char)(1u << sxt_rng_below(
										      &rng, 8));
		else if (_i / 4 == 1)
			memset(at, 0, page_size);
		else
			put_older(bytes, _i / 4 == 2 ? &before : &unmerged, page);
		if (memcmp(at, now.bytes + page * page_size, page_size))
			check_page(bytes);
		free(bytes);
	}
	if (_i / 4 == 1 && STEP == 1) {
		ck_assert_uint_gt(sums.repaired, 5);
		ck_assert_uint_gt(sums.with_changes, 0);
		ck_assert_uint_gt(sums.with_back, 0);
		ck_assert_uint_gt(sums.with_missing, 0);
	}
}
END_TEST

/*
 * Change the last byte of a page that has entries of a table: rows, or a block. Returns the page.
 */
static size_t damage_page_of(unsigned char *bytes, const char *table)
{
	unsigned kind = layout == SIMIDX_LAYOUT_ROWS ? IS_LEAF : IS_BLOCK;

	watched = table;
	for (size_t page = 2; page < now.size / page_size; page++) {
		unsigned char *at = bytes + page * page_size;

		if (at[FLAGS_AT] != kind)
			continue;
		at[page_size - 1] ^= 1;
		repair(bytes);
		if (told.watched)
			return page;
		at[page_size - 1] ^= 1;
	}
	sxt_fail("no page of the table");
	return 0;
}

/* Put another page, as it was before the last merge, into the place of one. It keeps its number. */
static void put_unmerged(unsigned char *bytes, size_t page, size_t older)
{
	memcpy(bytes + page * page_size + 8, unmerged.bytes + older * page_size + 8, page_size - 8);
}

/*
 * In the place of a page of postings one that was written before the last merge: documents that are
 * in it and were deleted since do not come back, as docs is whole.
 */
START_TEST(test_postings_of_an_older_commit)
{
	unsigned char *bytes;
	unsigned gone = 0;
	size_t page;

	begin(_i);
	bytes = copy_of_now();
	page = damage_page_of(bytes, "postings");
	for (size_t older = 2; older < unmerged.size / page_size; older += STEP) {
		put_unmerged(bytes, page, older);
		check_page(bytes);
		gone += told.gone;
	}
	if (layout == SIMIDX_LAYOUT_ROWS && STEP <= 2) /* blocks are not in order then */
		ck_assert_uint_gt(gone, 0);
	free(bytes);
}
END_TEST

/* The same, but docs is not whole: they come back. That there are more than there were is told. */
START_TEST(test_more_documents_than_there_were)
{
	unsigned char *bytes;
	struct outcome o;
	size_t page;

	begin(1 + 2 * _i);
	bytes = copy_of_now();
	page = damage_page_of(bytes, "postings");
	for (size_t older = 2; told.gone < 3 && older < unmerged.size / page_size; older++) {
		put_unmerged(bytes, page, older);
		repair(bytes);
	}
	ck_assert_uint_ge(told.gone, 3);
	damage_page_of(bytes, "docs");
	o = repair(bytes);
	ck_assert_uint_eq(told.report.changes_lost, 0);
	ck_assert_uint_gt(o.back, 0);
	ck_assert_uint_gt(told.report.documents, n_docs);
	ck_assert_uint_eq(told.doubts, 1);
	ck_assert_uint_eq(o.untold, 0);
	free(bytes);
}
END_TEST

/* As of a sparse file that was copied badly. */
START_TEST(test_holes)
{
	size_t n_changes = 0;

	begin(_i);
	for (unsigned round = 0; round < 32 / STEP; round++) {
		unsigned char *bytes = copy_of_now();
		struct outcome o;

		for (unsigned holes = 2 + round % 4; holes--;) {
			size_t from = 2 + (size_t)sxt_rng_below(&rng, now.size / page_size - 2);
			size_t n = 1 + (size_t)sxt_rng_below(&rng, 4),
			       most = now.size / page_size - from;

			memset(bytes + from * page_size, 0, (n < most ? n : most) * page_size);
		}
		o = repair(bytes);
		if (o.is_made)
			check_told(&o);
		n_changes += o.is_made && told.report.changes_lost;
		free(bytes);
	}
	if (STEP <= 2)
		ck_assert_uint_gt(n_changes, 0);
}
END_TEST

/* Both copies of the header are those of the commit before. The log has gone on, which shows. */
START_TEST(test_header_of_an_older_commit)
{
	unsigned char *bytes, *at;
	struct outcome o;
	size_t n = 0;

	begin(_i);
	bytes = copy_of_now();
	ck_assert_uint_eq(now.header_size, before.header_size);
	while ((at = memmem(bytes, now.size, now.header, now.header_size)) != NULL) {
		memcpy(at, before.header, before.header_size);
		n++;
	}
	ck_assert_uint_eq(n, 2);
	o = repair(bytes);
	ck_assert_int_eq(o.is_made, 1);
	ck_assert_uint_gt(o.back + o.old + o.missing, 0);
	ck_assert_uint_eq(o.untold, 0);
	ck_assert_uint_eq(told.doubts, 1);
	free(bytes);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_whatever_page_is_damaged, 0, T_SOME(16) },
	{ &test_postings_of_an_older_commit, 0, T_SOME(4) },
	{ &test_holes, 0, T_SOME(4) },
	{ &test_more_documents_than_there_were, 0, T_SOME(2) },
	{ &test_header_of_an_older_commit, 0, T_SOME(4) },
};

SXT_SUITE(repair_changes, set_up, tear_down);
