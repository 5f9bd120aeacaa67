/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the header says and files seldom have: a merge that was cut off while rows came, ids of
 * documents that are gone, digests of what was changed with care.
 */

#include <stdlib.h>
#include <string.h>

#include <simidx_load.h>

#include "index/sx_index.h"
#include "support/sxt_fixture.h"
#include "support/sxt_model.h"
#include "util/sx_hash.h"

#define MERGED 300
#define ALL 400

static sxt_model model;
static sxt_rng rng;

static void set_up(void)
{
	sxt_set_up_path();
	sxt_rng_init(&rng, 1);
	sxt_model_init(&model, 64, SIMIDX_CREATE_FP2);
	while (model.n < ALL + 20)
		sxt_model_add(&model, sxt_rng_u64(&rng), &rng);
}

static void tear_down(void)
{
	sxt_model_free(&model);
	sxt_tear_down();
}

/* The first `merged` documents in the tables, the others up to ALL fresh. */
static void make_index(unsigned layout, size_t merged)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index;

	o.flags = SIMIDX_CREATE_FP2;
	o.layout = layout;
	index = sxt_create(t_path, &o);
	sxt_model_store(&model, 0, merged, index);
	sxt_merge(index);
	sxt_model_store(&model, merged, ALL, index);
	simidx_close(index);
}

/* In a write transaction of a closed index. */
static void rewrite(void (*change)(simidx *index, sx_txn *txn))
{
	simidx *index = sxt_open(t_path, 0);
	sx_txn *txn;

	sxt_must_ok(sx_store_lock(index->store, 0, &sxt_err));
	sxt_must_ok(sx_txn_begin_write(index->store, 0, &txn, &sxt_err));
	change(index, txn);
	sxt_must_ok(sx_txn_commit(txn, &sxt_err));
	sx_store_unlock(index->store);
	simidx_close(index);
}

/* A merge that has begun with the first half of the fresh rows, and was killed. */
static void begin_merge(simidx *index, sx_txn *txn)
{
	sx_header h;

	sxt_must_ok(sx_meta_read_header(txn, &index->tables.meta, &h, &sxt_err));
	sxt_must_eq(h.next_seq - h.first_seq, ALL - MERGED);
	h.state |= SX_STATE_MERGING;
	h.merge_end = h.first_seq + (ALL - MERGED) / 2;
	sxt_must_ok(sx_meta_write_header(txn, &index->tables.meta, &h, &sxt_err));
}

/* It is finished with the rows that it had, by the next writer; the others stay as they are. */
START_TEST(test_merge_ends_where_it_was_to_end)
{
	simidx_info info = SIMIDX_INFO_INIT;
	simidx *index;

	make_index((unsigned)_i, MERGED);
	rewrite(begin_merge);
	index = sxt_open(t_path, 0);
	sxt_check_content(&model, ALL, index);
	index->tuning.merge_blocks = index->tuning.merge_rows =
		7; /* several transactions a table */
	sxt_model_store(&model, ALL, ALL + 20, index);
	sxt_must_ok(simidx_get_info(index, &info, &sxt_err));
	ck_assert_uint_eq(info.fresh_rows, (ALL - MERGED) / 2 + 20);
	sxt_check_content(&model, ALL + 20, index);
	sxt_merge(index);
	sxt_must_ok(simidx_get_info(index, &info, &sxt_err));
	ck_assert_uint_eq(info.fresh_rows, 0);
	sxt_check_content(&model, ALL + 20, index);
	simidx_close(index);
}
END_TEST

static int is_deleted(size_t d)
{
	return d % 3 == 0;
}

/*
 * Documents from MERGED on that are in the tables come back into the log, as if postings had got
 * them all but the merge had not removed them yet.
 */
static void undo_last_step(simidx *index, sx_txn *txn)
{
	sx_header h;

	sxt_must_ok(sx_meta_read_header(txn, &index->tables.meta, &h, &sxt_err));
	h.merge_end = h.first_seq;
	h.merged_fp = h.merged_id = UINT64_MAX;
	h.state |= SX_STATE_MERGING | SX_STATE_PARTIAL;
	for (size_t d = MERGED; d < h.merge_end; d++) {
		const sxt_doc *doc = &model.at[d];
		sx_fresh_row row = { .id = doc->id, .fp = doc->fp, .values.of[SX_FP2] = doc->fp2,
				     .op = SX_FRESH_PUT };

		if (doc->label_size) {
			row.op |= SX_FRESH_LABEL;
			row.label_hash = sx_hash(doc->label, doc->label_size);
		}
		sxt_must_ok(sx_fresh_log_append(txn, &index->fresh->log, &row, 1, d, &sxt_err));
	}
	h.first_seq = MERGED;
	sxt_must_ok(sx_meta_write_header(txn, &index->tables.meta, &h, &sxt_err));
}

/* Rows after the end of a merge are not in postings, wherever the merge stands. */
START_TEST(test_rows_after_the_end_of_a_merge_are_found)
{
	const size_t merged = MERGED + (ALL - MERGED) / 2;
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_reader *reader;
	simidx *index;

	make_index((unsigned)_i, merged);
	rewrite(undo_last_step);

	index = sxt_open(t_path, 0);
	sxt_must_ok(simidx_get_info(index, &info, &sxt_err));
	ck_assert_uint_eq(info.fresh_rows, ALL - MERGED);
	reader = sxt_reader(index);
	/* The first look-ups read the log, later ones a memtable of it. */
	for (size_t d = 0; d < ALL; d++)
		sxt_check_search(&model, ALL, reader, model.at[d].fp, 3);
	simidx_reader_close(reader);
	sxt_check_content(&model, ALL, index);
	sxt_model_store(&model, ALL, ALL + 1, index);
	sxt_must_ok(simidx_get_info(index, &info, &sxt_err));
	ck_assert_uint_eq(info.fresh_rows, ALL - merged + 1);
	sxt_check_content(&model, ALL + 1, index);
	simidx_close(index);
}
END_TEST

/* That, and every third document was deleted since, of which the log has both rows. */
static void delete_after_last_step(simidx *index, sx_txn *txn)
{
	sx_header h;

	undo_last_step(index, txn);
	sxt_must_ok(sx_meta_read_header(txn, &index->tables.meta, &h, &sxt_err));
	for (size_t d = MERGED; d < h.merge_end; d++) {
		const sxt_doc *doc = &model.at[d];
		sx_fresh_row row = { .id = doc->id, .fp = doc->fp, .values.of[SX_FP2] = doc->fp2,
				     .op = SX_FRESH_DELETE };

		if (!is_deleted(d))
			continue;
		sxt_must_ok(sx_fresh_log_append(txn, &index->fresh->log, &row, 1, h.next_seq++,
						&sxt_err));
		h.documents--;
	}
	sxt_must_ok(sx_meta_write_header(txn, &index->tables.meta, &h, &sxt_err));
}

/* What postings have already is not found once it is deleted, whoever reads the log. */
START_TEST(test_rows_of_a_merge_are_deleted)
{
	const size_t merged = MERGED + (ALL - MERGED) / 2;
	simidx *index;

	for (size_t d = MERGED; d < merged; d++)
		if (is_deleted(d))
			model.at[d].label_size = 0;
	make_index((unsigned)_i, merged);
	rewrite(delete_after_last_step);
	index = sxt_open(t_path, 0);
	for (int is_finished = 0; is_finished < 2; is_finished++) {
		simidx_reader *reader = sxt_reader(index);

		for (int twice = 0; twice < 2; twice++) { /* first by the log */
			for (size_t d = 0; d < ALL; d++) {
				simidx_query q = SIMIDX_QUERY_INIT;
				simidx_results r = SIMIDX_RESULTS_INIT;
				size_t want = !(d >= MERGED && d < merged && is_deleted(d));

				q.fp = model.at[d].fp;
				sxt_must_ok(simidx_reader_search(reader, &q, &r, &sxt_err));
				sxt_must_eq(r.n, want);
				sxt_must_eq(r.count, want);
				sxt_must(!want || r.matches->id == model.at[d].id);
			}
		}
		simidx_reader_close(reader);
		sxt_check_sound(index);
		sxt_merge(index);
	}
	simidx_close(index);
}
END_TEST

/* The document with the largest id was deleted, let us say. */
static void raise_next_id(simidx *index, sx_txn *txn)
{
	sx_header h;

	sxt_must_ok(sx_meta_read_header(txn, &index->tables.meta, &h, &sxt_err));
	h.next_id += 1000;
	sxt_must_ok(sx_meta_write_header(txn, &index->tables.meta, &h, &sxt_err));
}

/* Ids are not given again: not after a rebuild, and not where an index is taken over. */
START_TEST(test_next_id_survives_a_rebuild)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	char *other = sxt_path(t_dir, "other");
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_loader *loader;
	uint64_t next_id, id;
	simidx *index;

	make_index(SIMIDX_LAYOUT_BLOCKS, MERGED);
	rewrite(raise_next_id);
	index = sxt_open(t_path, 0);
	sxt_must_ok(simidx_get_info(index, &info, &sxt_err));
	next_id = info.next_id;
	ck_assert_uint_ge(next_id, 1000 + ALL);
	o.flags = SIMIDX_CREATE_FP2;
	ck_assert_sx(simidx_loader_open(_i ? other : t_path, _i ? &o : NULL, NULL, &loader,
					&sxt_err),
		     SIMIDX_OK);
	if (_i)
		ck_assert_sx(simidx_loader_add_index(loader, index, &sxt_err), SIMIDX_OK);
	ck_assert_sx(simidx_loader_finish(loader, NULL, &sxt_err), SIMIDX_OK);
	simidx_loader_close(loader);
	simidx_close(index);
	index = sxt_open(_i ? other : t_path, 0);
	sxt_must_ok(simidx_get_info(index, &info, &sxt_err));
	ck_assert_uint_eq(info.documents, ALL);
	ck_assert_uint_eq(info.next_id, next_id);
	{
		simidx_writer *writer = sxt_writer(index, 0);
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.flags = SIMIDX_DOC_FP2;
		ck_assert_sx(simidx_writer_put(writer, &doc, &id, &sxt_err), SIMIDX_OK);
		ck_assert_uint_eq(id, next_id);
		simidx_writer_close(writer);
	}
	simidx_close(index);
	free(other);
}
END_TEST

/* A row of postings with another second fingerprint, and a checksum that fits it. */
static void change_fp2(simidx *index, sx_txn *txn)
{
	const sx_table *postings = &index->tables.postings;
	unsigned char key_bytes[SX_TABLE_MAX_KEY], value_bytes[SX_TABLE_MAX_VALUE];
	sx_slice key = { key_bytes, 0 }, value = { value_bytes, 0 };
	const sxt_doc *doc = &model.at[17];
	sx_rows rows;

	sx_rows_init(&rows, postings->n_cols);
	sxt_must(!sx_rows_push(&rows, doc->fp,
			       (const uint64_t[]){ doc->id, doc->fp2 ^ 1 }));
	key.size = sx_table_key(postings, (sx_sort_key){ doc->fp, doc->id }, key_bytes);
	value.size = sx_table_row_encode(postings, &rows, 0, key, value_bytes);
	sxt_must_ok(sx_dbi_put(txn, postings->dbi, key, value, &sxt_err));
	sx_rows_free(&rows);
}

static unsigned problems;

static void note_postings(void *ctx, const simidx_problem *problem)
{
	(void)ctx;
	ck_assert_str_eq(problem->table, "postings");
	ck_assert_ptr_nonnull(strstr(problem->text, "digest"));
	problems++;
}

START_TEST(test_digest_covers_second_fingerprints)
{
	simidx *index;

	make_index(SIMIDX_LAYOUT_ROWS, MERGED);
	rewrite(change_fp2);
	index = sxt_open(t_path, 0);
	ck_assert_sx(simidx_verify(index, note_postings, NULL, NULL, &sxt_err), SIMIDX_E_CORRUPT);
	ck_assert_uint_eq(problems, 1);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_merge_ends_where_it_was_to_end, 0, 2 },
	{ &test_rows_of_a_merge_are_deleted, 0, 2 },
	{ &test_rows_after_the_end_of_a_merge_are_found, 0, 2 },
	{ &test_next_id_survives_a_rebuild, 0, 2 },
	{ &test_digest_covers_second_fingerprints, 0, 1 },
};

SXT_SUITE(index_header, set_up, tear_down);
