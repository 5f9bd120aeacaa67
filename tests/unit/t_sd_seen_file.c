/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* What was seen, in a file: for which state of an index it counts, and what of it. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simidx_dedup.h>

#include "dedup/sd_seen_file.h"
#include "support/sxt_fixture.h"
#include "support/sxt_index.h"

#define MOST SIMIDX_SKETCH_MOST_LEAST

/* Numbers of 8 bytes in the head of the file, before a table, and before the hashes of an entry. */
#define HEAD 7
#define TABLE 3
#define ENTRY 9

static sxt_rng rng;
static struct sd_first *first; /* what files are read into and written from, or NULL */
static char path[4096];

static void set_up_seen_file(void)
{
	sxt_set_up_path();
	rng.state = 39;
	first = NULL;
	snprintf(path, sizeof(path), "%s/%s", t_path, SIMIDX_DEDUP_SEEN_NAME);
}

static simidx_sketch random_sketch(size_t n)
{
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;

	sketch.flags = SIMIDX_SKETCH_LEAST;
	sketch.n_least = n;
	for (size_t i = 0; i < n; i++)
		sketch.least[i] = sxt_rng_u64(&rng) >> 5;
	return sketch;
}

static struct sd_seen *open_seen(uint64_t most_bytes)
{
	struct sd_seen *seen = sd_seen_open(.8, most_bytes);

	ck_assert_ptr_nonnull(seen);
	return seen;
}

/* Open the file of an index, whose documents are those of t_numbered(). */
static struct sd_seen_file *open_file(simidx *index, struct sd_seen *seen)
{
	simidx_info info = t_info(index);
	struct sd_seen_state state = { info.puts, info.next_id, info.documents ? 0 : SIMIDX_NO_ID,
				       0 };
	const struct sd_known known = { seen, first };
	simidx_reader *reader = sxt_reader(index);
	struct sd_seen_file *file;

	ck_assert_sx(sd_seen_file_open(path, &state, reader, &known, &file, &sxt_err), SIMIDX_OK);
	simidx_reader_close(reader);
	return file;
}

/* Add a document to the index, and n texts to what was seen and to its file. */
static void add(simidx *index, struct sd_seen *seen, struct sd_seen_file *file,
		const simidx_sketch *text, size_t n)
{
	simidx_info info = t_info(index);
	struct sd_seen_state state = { info.puts + 2, info.next_id + 1, info.next_id, 77 };
	const struct sd_known known = { seen, first };
	simidx_writer *writer = sxt_writer(index, 0);

	for (size_t i = 0; i < n; i++) {
		ck_assert_sx(sd_seen_add(seen, &text[i], &sxt_err), SIMIDX_OK);
		ck_assert_sx(sd_seen_file_add(file, text[i].least, text[i].n_least, &sxt_err),
			     SIMIDX_OK);
	}
	ck_assert_int_eq(sd_seen_file_write(file, &known, &state), 0);
	ck_assert_int_eq(t_put(writer, SIMIDX_NO_ID, state.fp, NULL), SIMIDX_OK);
	sxt_commit(writer);
	simidx_writer_close(writer);
}

static int is_new(const struct sd_seen *seen, const simidx_sketch *text)
{
	uint64_t own;

	return sd_seen_is_new(seen, text, &own);
}

/* Texts of an entry do not lie in two filters each, wherever the first one is full. */
START_TEST(test_no_text_is_divided)
{
	enum { N = 2000, SHORT = 25 };
	struct sd_seen *seen = open_seen(UINT64_MAX), *next = open_seen(UINT64_MAX);
	simidx *index = sxt_create(t_path, NULL);
	simidx_sketch *text = calloc(N, sizeof(*text));
	struct sd_seen_file *file;
	uint64_t room = UINT64_MAX;

	sxt_must(text != NULL);
	while (room > (N / 2 + (uint64_t)_i * 100) * SHORT) {
		simidx_sketch other = random_sketch(MOST);

		ck_assert_sx(sd_seen_add(seen, &other, &sxt_err), SIMIDX_OK);
		room = sd_seen_filter(seen, 0)->room;
	}
	/* The filter of what came before is in the file, and the texts are an entry behind it. */
	file = open_file(index, seen);
	for (size_t i = 0; i < N; i++)
		text[i] = random_sketch(SHORT);
	add(index, seen, file, text, N);
	sd_seen_file_close(file);
	file = open_file(index, next);
	ck_assert_ptr_nonnull(file);
	for (size_t i = 0; i < N; i++)
		ck_assert_int_eq(is_new(next, &text[i]), 0);
	ck_assert_ptr_nonnull(sd_seen_filter(next, 1));
	sd_seen_file_close(file);
	sd_seen_close(seen);
	sd_seen_close(next);
	simidx_close(index);
	free(text);
}
END_TEST

/* A file that was begun for an empty index is none for one that has documents, whatever the numbers
   of both: a copy of the index from before its documents were deleted may have been put back. */
START_TEST(test_a_file_without_documents)
{
	struct sd_seen *seen = open_seen(UINT64_MAX);
	simidx *index = t_numbered(t_path, 3, 0);
	simidx_info info = t_info(index);
	struct sd_seen_state state = { info.puts, info.next_id, SIMIDX_NO_ID, 0 };
	const struct sd_known known = { seen, NULL };
	simidx_reader *reader = sxt_reader(index);
	struct sd_seen_file *file;

	ck_assert_sx(sd_seen_file_open(path, &state, reader, &known, &file, &sxt_err), SIMIDX_OK);
	ck_assert_ptr_nonnull(file);
	sd_seen_file_close(file);
	file = open_file(index, seen);
	ck_assert_ptr_null(file);
	ck_assert_int_eq(access(path, F_OK), -1);
	simidx_reader_close(reader);
	sd_seen_close(seen);
	simidx_close(index);
}
END_TEST

/* An index whose documents are all deleted has seen nothing, whatever the file says. */
START_TEST(test_an_index_that_became_empty)
{
	struct sd_seen *seen = open_seen(UINT64_MAX), *next = open_seen(UINT64_MAX);
	simidx *index = sxt_create(t_path, NULL);
	simidx_sketch text = random_sketch(MOST);
	struct sd_seen_file *file = open_file(index, seen);
	simidx_writer *writer;

	add(index, seen, file, &text, 1);
	sd_seen_file_close(file);
	writer = sxt_writer(index, 0);
	ck_assert_sx(simidx_writer_delete_id(writer, 0, &sxt_err), SIMIDX_OK);
	sxt_commit(writer);
	simidx_writer_close(writer);
	file = open_file(index, next);
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(is_new(next, &text), 1);
	sd_seen_file_close(file);
	sd_seen_close(seen);
	sd_seen_close(next);
	simidx_close(index);
}
END_TEST

/* An entry that says to have more hashes than there is memory for, in a file with such a hole. */
START_TEST(test_an_entry_too_large)
{
	const uint64_t n = (uint64_t)1 << 36;
	struct sd_seen *seen = open_seen((uint64_t)1 << 20);
	simidx *index = sxt_create(t_path, NULL);
	simidx_sketch text = random_sketch(MOST);
	struct sd_seen_file *file = open_file(index, seen);
	uint64_t entry[ENTRY];
	int fd;

	add(index, seen, file, &text, 1);
	sd_seen_file_close(file);
	fd = open(path, O_RDWR);
	sxt_must(pread(fd, entry, sizeof(entry), (HEAD + TABLE) * sizeof(uint64_t)) ==
		 (ssize_t)sizeof(entry));
	entry[_i] = n;
	entry[ENTRY - 1] = simidx_feature_hash(entry, (ENTRY - 1) * sizeof(*entry));
	sxt_must(pwrite(fd, entry, sizeof(entry), (HEAD + TABLE) * sizeof(uint64_t)) ==
		 (ssize_t)sizeof(entry));
	/* A file system may have no files so large: then there is nothing to see. */
	if (!ftruncate(fd, (off_t)((HEAD + TABLE + ENTRY + n) * sizeof(uint64_t)))) {
		file = open_file(index, seen);
		ck_assert_ptr_null(file);
		ck_assert_int_eq(access(path, F_OK), -1);
	}
	close(fd);
	sd_seen_close(seen);
	simidx_close(index);
}
END_TEST

static uint64_t find(uint64_t hash)
{
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;
	size_t at = 0;
	uint64_t id;

	sketch.least[sketch.n_least++] = hash;
	return sd_first_find(first, &sketch, &at, &hash, &id) ? id : UINT64_MAX;
}

/* Of the head of the file. */
static uint64_t n_filters(void)
{
	uint64_t n;
	int fd = open(path, O_RDONLY);

	sxt_must(pread(fd, &n, sizeof(n), sizeof(n)) == (ssize_t)sizeof(n));
	close(fd);
	return n;
}

/* What was seen before a file and what is read from it, and to what hashes lead then. */
static void close_both(simidx *index, struct sd_seen *seen, struct sd_seen *next)
{
	sd_first_close(first);
	sd_seen_close(seen);
	sd_seen_close(next);
	simidx_close(index);
}

/* To what hashes lead comes back from entries and from a table, to who has memory for it. Who has
   none reads the rest, and writes a file without. */
START_TEST(test_what_hashes_lead_to)
{
	enum { N = 3000 };
	struct sd_seen *seen = open_seen(UINT64_MAX), *next = open_seen(UINT64_MAX);
	simidx *index = sxt_create(t_path, NULL);
	simidx_sketch *text = calloc(N, sizeof(*text));
	struct sd_first *own = first = sd_first_open(UINT64_MAX);
	struct sd_seen_file *file = open_file(index, seen);

	sxt_must(text && first && file);
	sd_first_note_changes(first, 1);
	for (size_t i = 0; i < N; i++) {
		text[i] = random_sketch(MOST);
		ck_assert_sx(sd_first_add(first, text[i].least[3], i, &sxt_err), SIMIDX_OK);
		for (size_t j = 0; j < i % 4; j++)
			ck_assert_sx(sd_first_in_vain(first, text[i].least[3], &sxt_err),
				     SIMIDX_OK);
		if (i % 10 == 9)
			add(index, seen, file, text + i - 9, 10);
		/* Entries become a filter and a table when they take more than 4 MB. */
		if (_i == 1 && i % 300 == 299)
			add(index, seen, file, text, i + 1);
	}
	sd_seen_file_close(file);
	ck_assert_uint_eq(n_filters(), _i == 1);
	first = _i == 2 ? NULL : sd_first_open(UINT64_MAX);
	file = open_file(index, next);
	sxt_must(file != NULL);
	for (size_t i = 0; i < N; i++) {
		ck_assert_int_eq(is_new(next, &text[i]), 0);
		if (first)
			sxt_must_eq(find(text[i].least[3]), i % 4 == 3 ? UINT64_MAX : i);
	}
	sd_seen_file_close(file);
	sd_first_close(own);
	close_both(index, seen, next);
	free(text);
}
END_TEST

/* A batch of which nothing is put leaves the state as it is, and what has led in vain in it counts.
   What was written for a commit that never came does not. */
START_TEST(test_entries_of_one_state)
{
	struct sd_seen *seen = open_seen(UINT64_MAX), *next = open_seen(UINT64_MAX);
	simidx *index = sxt_create(t_path, NULL);
	simidx_sketch text = random_sketch(MOST);
	struct sd_first *own = first = sd_first_open(UINT64_MAX);
	const struct sd_known known = { seen, first };
	struct sd_seen_file *file = open_file(index, seen);
	struct sd_seen_state state;
	simidx_info info;

	sxt_must(first && file);
	sd_first_note_changes(first, 1);
	for (size_t i = 1; i < 3; i++)
		ck_assert_sx(sd_first_add(first, text.least[i], i, &sxt_err), SIMIDX_OK);
	add(index, seen, file, &text, 1);
	info = t_info(index);
	state = (struct sd_seen_state){ info.puts, info.next_id, info.next_id - 1, 77 };
	for (size_t i = 1; i < 3; i++, state.puts += 2) {
		for (int j = 0; j < SD_FIRST_MOST_IN_VAIN; j++)
			ck_assert_sx(sd_first_in_vain(first, text.least[i], &sxt_err), SIMIDX_OK);
		ck_assert_int_eq(sd_seen_file_write(file, &known, &state), 0);
	}
	sd_seen_file_close(file);
	first = sd_first_open(UINT64_MAX);
	file = open_file(index, next);
	sxt_must(first && file);
	ck_assert_uint_eq(find(text.least[1]), UINT64_MAX);
	ck_assert_uint_eq(find(text.least[2]), 2);
	sd_seen_file_close(file);
	sd_first_close(own);
	close_both(index, seen, next);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_no_text_is_divided, 0, 4 },
	{ &test_a_file_without_documents, 0, 1 },
	{ &test_an_index_that_became_empty, 0, 1 },
	{ &test_an_entry_too_large, 0, 2 },
	{ &test_what_hashes_lead_to, 0, 3 },
	{ &test_entries_of_one_state, 0, 1 },
};

SXT_SUITE(seen_file, set_up_seen_file, sxt_tear_down);
