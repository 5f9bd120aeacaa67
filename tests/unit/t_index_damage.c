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

#include <simidx_admin.h>

#include "index/sx_snapshot.h"
#include "support/sxt_fixture.h"
#include "support/sxt_model.h"
#include "util/sx_bytes.h"

#define DOCUMENTS 8000
#define ADDED 1500 /* enough to fall into all blocks */

#define PAGE_HEADER 16 /* of LMDB's pages; its first 8 bytes are the number of the page */

static sxt_model model;
static sxt_rng rng;

/* A block of a table where it lies in the file. */
struct place {
	char table[16];
	off_t at;
};

static struct place *places;
static size_t n_places, block_size;
static unsigned char *sound; /* the whole file */
static size_t sound_size;

static void find_blocks(simidx *index, const sx_table *table)
{
	sx_slice key, value;
	sx_cursor *cursor;
	sx_txn *txn;
	int rc;

	sxt_must_ok(sx_txn_begin_read(index->store, &txn, &sxt_err));
	sxt_must_ok(sx_cursor_open(txn, table->dbi, &cursor, &sxt_err));
	for (rc = sx_cursor_first(cursor, &key, &value, &sxt_err); !rc;
	     rc = sx_cursor_next(cursor, &key, &value, &sxt_err)) {
		const unsigned char *bytes = value.data;
		struct place *p;

		ck_assert_uint_eq(value.size, block_size);
		places = realloc(places, (n_places + 1) * sizeof(*places));
		p = &places[n_places++];
		strcpy(p->table, table->name);
		p->at = (off_t)sx_load_le64(bytes - PAGE_HEADER) *
				(off_t)(block_size + PAGE_HEADER) +
			PAGE_HEADER;
	}
	sx_cursor_close(cursor);
	sx_txn_abort(txn);
}

static void set_up(void)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index;

	sxt_set_up_path();
	sxt_rng_init(&rng, 5150);
	o.flags = SIMIDX_CREATE_FP2;
	sxt_model_init(&model, 64, o.flags);
	while (model.n < DOCUMENTS + ADDED)
		sxt_model_add(&model, sxt_rng_u64(&rng), &rng);
	index = sxt_create(t_path, &o);
	sxt_model_store(&model, 0, DOCUMENTS, index);
	sxt_merge(index);
	block_size = index->tables.docs.block_size;
	places = NULL;
	n_places = 0;
	for (unsigned t = 0; t < index->plan.n_tables; t++)
		find_blocks(index, &index->tables.permuted[t]);
	find_blocks(index, &index->tables.postings);
	find_blocks(index, &index->tables.docs);
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

static void write_block(off_t at, const unsigned char *bytes)
{
	int fd = open(t_data, O_RDWR | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, bytes, block_size, at), (ssize_t)block_size);
	close(fd);
}

/* Two random blocks of one table into which new documents fall: not docs, as ids ascend. */
static void choose_two(const struct place **a, const struct place **b)
{
	do {
		*a = &places[sxt_rng_below(&rng, n_places)];
		*b = &places[sxt_rng_below(&rng, n_places)];
	} while (*a == *b || strcmp((*a)->table, (*b)->table) || !strcmp((*a)->table, "docs"));
}

/* They change places, documents are added and merged: refused, and nothing is lost by trying. */
START_TEST(test_swapped_blocks_are_not_merged)
{
	unsigned rounds = sxt_is_long() ? 300 : 10;

	sxt_rng_init(&rng, 5160 + (uint64_t)_i);
	for (unsigned i = 0; i < rounds; i++) {
		const struct place *a, *b;
		simidx_writer *writer;
		simidx *index;

		choose_two(&a, &b);
		sxt_file_write(t_data, sound, sound_size);
		write_block(a->at, sound + b->at);
		write_block(b->at, sound + a->at);
		index = sxt_open(t_path, 0);
		sxt_model_store(&model, DOCUMENTS, model.n, index);
		writer = sxt_writer(index, 0);
		ck_assert_sx(simidx_writer_merge(writer, &sxt_err), SIMIDX_E_CORRUPT);
		ck_assert_msg(strstr(sxt_err.text, a->table) && strstr(sxt_err.text, "block with key"),
			      "%s: %s", a->table, sxt_err.text);
		simidx_writer_close(writer);
		simidx_close(index);

		write_block(a->at, sound + a->at);
		write_block(b->at, sound + b->at);
		index = sxt_open(t_path, 0);
		sxt_check_content(&model, model.n, index);
		sxt_merge(index);
		sxt_check_content(&model, model.n, index);
		simidx_close(index);
	}
}
END_TEST

static const sxt_test tests[] = {
	{ &test_swapped_blocks_are_not_merged, 0, 12 },
};

SXT_SUITE(index_damage, set_up, tear_down);
