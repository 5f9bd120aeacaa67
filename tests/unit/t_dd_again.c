/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dedup/dd_again.h"
#include "dedup/sd_texts.h"
#include "support/sxt.h"

/* A reading, keeping and getting program in one thread. */
static char *dir;
static struct dd_files *files;
static struct dd_again *again;
static simidx_dedup_options options;
static struct sd_texts *texts;
static struct in_reader reader;
static struct in_columns columns;

static int read_text(void *ctx, unsigned thread, const simidx_dedup_place *place,
		     const char **text, size_t *size)
{
	(void)ctx;
	return dd_again_read(again, thread, place, text, size);
}

static void begin(uint64_t spill_limit)
{
	options = (simidx_dedup_options)SIMIDX_DEDUP_OPTIONS_INIT;
	options.tmpdir = dir;
	options.spill_bytes = spill_limit;
	options.calls.read_text = read_text;
	files = dd_files_new();
	again = dd_again_open(files, &columns, 2);
	texts = sd_texts_open(&options);
	ck_assert_ptr_nonnull(again);
	ck_assert_ptr_nonnull(texts);
	in_reader_init(&reader, 64);
	reader.columns = &columns;
}

static void set_up(void)
{
	dir = sxt_dir_make();
	memset(&columns, 0, sizeof(columns));
	begin(UINT64_MAX);
}

static void end(void)
{
	in_reader_free(&reader);
	sd_texts_close(texts);
	dd_again_close(again);
	dd_files_free(files);
}

static void begin_anew(uint64_t spill_limit)
{
	end();
	begin(spill_limit);
}

static void tear_down(void)
{
	end();
	free(dir);
}

static char *write_file(const char *name, const char *bytes)
{
	char *path = sxt_path(dir, name);

	sxt_file_write(path, bytes, strlen(bytes));
	return path;
}

/* A descriptor's path, of a pipe that holds some bytes and ends. */
static const char *make_pipe(const char *bytes, int *fd)
{
	static char path[32];
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], bytes, strlen(bytes)), strlen(bytes));
	close(ends[1]);
	*fd = ends[0];
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	return path;
}

static uint32_t meet(const char *path, const struct in_format *format, enum dd_met expected)
{
	uint32_t number = UINT32_MAX;

	ck_assert_int_eq(in_reader_open(&reader, path, format, 0), IN_ROW);
	ck_assert_int_eq(dd_files_meet(files, &reader, NULL, &number), expected);
	return number;
}

/* What was kept, as the first reading gave it. */
#define MAX_KEPT 256

static struct {
	char *text;
	size_t size;
	uint64_t handle;
} kept[MAX_KEPT];
static size_t n_kept;

static void forget_kept(void)
{
	while (n_kept > 0)
		free(kept[--n_kept].text);
}

/* Keep all rows of a file; those that cannot be read are passed over. Returns their number. */
static size_t keep_all(const char *path, const struct in_format *format)
{
	uint32_t file = meet(path, format, DD_MET_NEW);
	simidx_dedup_row kept_row = SIMIDX_DEDUP_ROW_INIT;
	struct in_row row;
	enum in_result rc;
	size_t n = 0;

	while ((rc = in_reader_next(&reader, &row)) != IN_END) {
		if (rc == IN_REJECTED)
			continue;
		ck_assert_int_eq(rc, IN_ROW);
		ck_assert_uint_lt(n_kept, MAX_KEPT);
		kept[n_kept].size = row.text_size;
		kept[n_kept].text = malloc(row.text_size + 1);
		memcpy(kept[n_kept].text, row.text ? row.text : "", row.text_size);
		kept_row.text = row.text;
		kept_row.text_size = row.text_size;
		kept_row.flags = dd_again_place(files, &reader, &row, file, &kept_row.place);
		ck_assert_int_eq(sd_texts_keep(texts, &kept_row, &kept[n_kept].handle, NULL), 0);
		ck_assert_uint_eq(kept[n_kept].handle, n_kept);
		n_kept++;
		n++;
	}
	return n;
}

static void check_text(struct sd_texts_reader *getter, size_t i)
{
	const char *text;
	size_t size;

	sxt_must_eq(sd_texts_get(getter, kept[i].handle, &text, &size, NULL), SIMIDX_OK);
	sxt_must_eq(size, kept[i].size);
	sxt_must(memcmp(text, kept[i].text, size) == 0);
}

/* Each again, in an order that goes to and fro among files. */
static void check_all(void)
{
	struct sd_texts_reader *getter = sd_texts_reader_open(texts, 0);

	for (size_t i = 0; i < n_kept; i++)
		check_text(getter, i);
	for (size_t i = 0; i < 2 * n_kept; i++)
		check_text(getter, i * 7 % n_kept);
	sd_texts_reader_close(getter);
}

#define IS_THERE (-1)
#define IS_NOT_THERE (-2)

/* IS_THERE, an enum dd_gone, or IS_NOT_THERE where none was counted. */
static int state_of(size_t i)
{
	struct sd_texts_reader *getter = sd_texts_reader_open(texts, 1);
	uint64_t before[DD_N_GONE] = { 0 }, after[DD_N_GONE] = { 0 };
	int state = IS_NOT_THERE, rc;
	const char *text;
	size_t size;

	dd_again_count(again, before);
	rc = sd_texts_get(getter, kept[i].handle, &text, &size, NULL);
	dd_again_count(again, after);
	sd_texts_count(getter, &after[DD_GONE_CHANGED], &after[DD_GONE_FAILED]);
	if (!rc) {
		state = IS_THERE;
	} else {
		ck_assert_int_eq(rc, SIMIDX_E_NOT_FOUND);
		ck_assert_uint_eq(size, 0);
	}
	for (int why = 0; why < DD_N_GONE; why++)
		if (after[why] != before[why])
			state = why;
	sd_texts_reader_close(getter);
	return state;
}

/* ---- texts that are there again ---- */

START_TEST(test_files_again)
{
	char *first = write_file("first", "The first file.\n");
	char *second = write_file("second", "Zwei \xc3\xa4\xc3\xb6\xc3\xbc, \xff and more");
	char *empty = write_file("empty", "");

	begin_anew(0); /* so that nothing can be put aside */
	ck_assert_uint_eq(keep_all(first, &in_format_text), 1);
	ck_assert_uint_eq(keep_all(second, &in_format_text), 1);
	ck_assert_uint_eq(keep_all(empty, &in_format_text), 1);
	check_all();
	forget_kept();
	free(first);
	free(second);
	free(empty);
}
END_TEST

/*
 * Rows of tables: with quotes and line ends in them, with a mark before the first and one that is
 * part of a text, below a header that is longer than what is read of it at first.
 */
static void keep_table(const char *header, size_t padding, const char *body, size_t n)
{
	char *path = sxt_path(dir, "rows.csv");
	FILE *file = fopen(path, "w");

	fprintf(file, "\xef\xbb\xbf%s", header);
	for (size_t i = 0; i < padding; i++)
		fputs(i % 100 ? "x" : "\n\"\"", file);
	fprintf(file, "%s", body);
	fclose(file);
	begin_anew(0);
	ck_assert_uint_eq(keep_all(path, &in_format_csv), n);
	for (size_t i = 0; i < n; i++)
		ck_assert(memmem(kept[i].text, kept[i].size, "one", 3));
	check_all();
	forget_kept();
	free(path);
}

START_TEST(test_tables_again)
{
	static const char body[] = "\",text\r\n\xef\xbb\xbfone,\"\xef\xbb\xbfone, \"\"two\"\"\n"
				   "three\"\r\n\n\"y\nz\",one\r\n\"\"\"\",\"\r\none\"\r\nx,one";
	static const size_t paddings[] = { 0, 3000, 4080, 5000, 70000, 1100000 };

	columns.header = 1;
	for (size_t i = 0; i < sizeof(paddings) / sizeof(paddings[0]); i++)
		keep_table("\"other", paddings[i], body, 4);
	for (size_t padding = 4050; padding < 4110; padding++)
		keep_table("\"other", padding, body, 4);
	/* Without a header, by number. */
	columns = (struct in_columns){ .text = "2" };
	keep_table("one,one\n", 0, "\xef\xbb\xbfone,\xef\xbb\xbfone\n", 2);
	columns = (struct in_columns){ .text = "1" };
	keep_table("one,one\n", 0, "\xef\xbb\xbfone,\xef\xbb\xbfone\n", 2);
}
END_TEST

#ifdef HAVE_JSON

/*
 * With what a line may have: a mark before the first, carriage returns, escapes, none at the end.
 */
static const char rows[] = "\xef\xbb\xbf{\"id\": 1, \"text\": \"one \\u00e4 \\\"quoted\\\"\"}\n"
			   "{\"text\": \"\"}\r\n"
			   "no JSON at all\n"
			   "{\"text\": \"a NUL \\u0000 inside\", \"id\": 4}\r\n"
			   "{\"label\": \"x\", \"text\": \"\xe5\xa4\xa9\xe5\x9c\xb0\"}\n"
			   "{\"id\": 6, \"text\": \"the last one\"}";

START_TEST(test_rows_again)
{
	char *path = write_file("rows.jsonl", rows);
	char *other = write_file("other.jsonl", "{\"text\": \"of another file\"}\n");

	begin_anew(0);
	ck_assert_uint_eq(keep_all(path, &in_format_jsonl), 5);
	ck_assert_uint_eq(keep_all(other, &in_format_jsonl), 1);
	check_all();
	ck_assert_ptr_null(sd_texts_problem(texts));
	forget_kept();
	free(path);
	free(other);
}
END_TEST

START_TEST(test_other_member_again)
{
	char *path = write_file("rows.jsonl", "{\"text\": \"not this\", \"body\": \"but this\"}\n");

	columns.text = "body";
	ck_assert_uint_eq(keep_all(path, &in_format_jsonl), 1);
	ck_assert_uint_eq(kept[0].size, strlen("but this"));
	check_all();
	forget_kept();
	free(path);
}
END_TEST

/* Rows that are longer than what is read at once, and begin anywhere in it. */
START_TEST(test_long_rows_again)
{
	const size_t sizes[] = { 300000, 10, 262144, 1, 700000, 65536, 3 };
	const size_t n = sizeof(sizes) / sizeof(sizes[0]);
	char *path = sxt_path(dir, "long.jsonl");
	FILE *file = fopen(path, "w");

	for (size_t i = 0; i < 5 * n; i++) {
		fputs("{\"text\": \"", file);
		for (size_t j = 0; j < sizes[i % n]; j++)
			fputc('a' + (int)((i + j * j) % 26), file);
		fputs("\"}\n", file);
	}
	fclose(file);
	ck_assert_uint_eq(keep_all(path, &in_format_jsonl), 5 * n);
	check_all();
	forget_kept();
	free(path);
}
END_TEST

START_TEST(test_pipe_again)
{
	int fd;

	ck_assert_uint_eq(keep_all(make_pipe(rows, &fd), &in_format_jsonl), 5);
	close(fd);
	check_all();
	forget_kept();
}
END_TEST

#define N_ROWS 100

static void *get_rows(void *ctx)
{
	uintptr_t number = (uintptr_t)ctx;
	struct sd_texts_reader *getter = sd_texts_reader_open(texts, (unsigned)number);
	sxt_rng rng;

	sxt_rng_init(&rng, number);
	for (int i = 0; i < 2000; i++)
		check_text(getter, sxt_rng_below(&rng, N_ROWS));
	sd_texts_reader_close(getter);
	return NULL;
}

/* Of a file and of the temporary one. */
START_TEST(test_threads)
{
	char *path = sxt_path(dir, "rows.jsonl"), bytes[8192] = "";
	FILE *file = fopen(path, "w");
	pthread_t threads[2];
	int fd;

	for (int i = 0; i < N_ROWS / 2; i++) {
		fprintf(file, "{\"text\": \"row number %d\"}\n", i);
		sprintf(bytes + strlen(bytes), "{\"text\": \"a row of a pipe, %d\"}\n", i);
	}
	fclose(file);
	keep_all(path, &in_format_jsonl);
	keep_all(make_pipe(bytes, &fd), &in_format_jsonl);
	close(fd);
	for (uintptr_t i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, get_rows, (void *)i), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	forget_kept();
	free(path);
}
END_TEST

#endif

/* ---- texts that are gone ---- */

/* Changes: of a file that was read, what makes it another one. */
START_TEST(test_changed_file)
{
	struct timespec times[2] = { { 0, UTIME_OMIT }, { 1000000000, 5 } };
	char *path[4], *spare;
	FILE *file;

	for (int i = 0; i < 4; i++) {
		char name[8] = { 'f', (char)('0' + i) };

		path[i] = write_file(name, "as it was");
		keep_all(path[i], &in_format_text);
	}
	check_all();
	file = fopen(path[0], "a");
	fputs(", and more", file);
	fclose(file);
	ck_assert_int_eq(utimensat(AT_FDCWD, path[1], times, 0), 0);
	spare = write_file("spare", "as it was");
	ck_assert_int_eq(rename(spare, path[2]), 0);
	ck_assert_int_eq(unlink(path[3]), 0);
	ck_assert_int_eq(state_of(0), DD_GONE_CHANGED);
	ck_assert_int_eq(state_of(1), DD_GONE_CHANGED);
	ck_assert_int_eq(state_of(2), DD_GONE_CHANGED);
	ck_assert_int_eq(state_of(3), DD_GONE_REMOVED);
	ck_assert_int_eq(dd_files_state(files, 0, -1), DD_CHANGED);
	ck_assert_int_eq(dd_files_state(files, 1, -1), DD_CHANGED);
	ck_assert_int_eq(dd_files_state(files, 2, -1), DD_CHANGED);
	ck_assert_int_eq(dd_files_state(files, 3, -1), DD_REMOVED);
	/* A pipe in its place: nobody waits for its other end. */
	ck_assert_int_eq(mkfifo(path[3], 0600), 0);
	ck_assert_int_eq(state_of(3), DD_GONE_CHANGED);
	forget_kept();
	for (int i = 0; i < 4; i++)
		free(path[i]);
	free(spare);
}
END_TEST

#ifdef HAVE_JSON

/*
 * Rows that are added to a file leave those before as they are; another row in the place of one
 * does not.
 */
START_TEST(test_grown_file)
{
	static const char anew[] = "{\"text\": \"the other\"}\n{\"text\": \"second one\"}\n{}\n";
	char *path = write_file("rows.jsonl", "{\"text\": \"first one\"}\n{\"text\": \"second "
					      "one\"}\n");
	FILE *file;

	ck_assert_uint_eq(keep_all(path, &in_format_jsonl), 2);
	file = fopen(path, "a");
	fputs("{\"text\": \"third one\"}\n", file);
	fclose(file);
	check_all();
	ck_assert_int_eq(dd_files_state(files, 0, -1), DD_CHANGED);
	sxt_file_write(path, anew, strlen(anew));
	ck_assert_int_eq(state_of(0), DD_GONE_CHANGED);
	ck_assert_int_eq(state_of(1), IS_THERE);
	/* As long as what was read, and then less. */
	sxt_file_write(path, anew, strlen(anew) - 3);
	ck_assert_int_eq(state_of(1), IS_THERE);
	sxt_file_write(path, anew, strlen(anew) - 4);
	ck_assert_int_eq(state_of(1), DD_GONE_CHANGED);
	forget_kept();
	free(path);
}
END_TEST

#endif

/* A change is seen by one who has the file open, and also while it is being read. */
START_TEST(test_changed_meanwhile)
{
	char *path = write_file("f", "as it was");
	struct sd_texts_reader *getter;
	const char *text;
	size_t size;

	keep_all(path, &in_format_text);
	getter = sd_texts_reader_open(texts, 0);
	check_text(getter, 0);
	free(write_file("f", "as it is now"));
	ck_assert_int_eq(sd_texts_get(getter, 0, &text, &size, NULL), SIMIDX_E_NOT_FOUND);
	sd_texts_reader_close(getter);
	forget_kept();
	free(path);
}
END_TEST

/* ---- which files are the same ---- */

START_TEST(test_same_file)
{
	char *a = write_file("a", "the same"), *b = write_file("b", "the same");
	char *hard = sxt_path(dir, "hard"), *soft = sxt_path(dir, "soft"), *dot;

	ck_assert_int_eq(link(a, hard), 0);
	ck_assert_int_eq(symlink("a", soft), 0);
	ck_assert_int_ge(asprintf(&dot, "%s/./a", dir), 0);
	ck_assert_uint_eq(meet(a, &in_format_text, DD_MET_NEW), 0);
	ck_assert_uint_eq(meet(hard, &in_format_text, DD_MET_AGAIN), 0);
	/* A copy is another file. */
	ck_assert_uint_eq(meet(b, &in_format_text, DD_MET_NEW), 1);
	ck_assert_uint_eq(meet(soft, &in_format_text, DD_MET_AGAIN), 0);
	ck_assert_uint_eq(meet(a, &in_format_text, DD_MET_KNOWN), 0);
	ck_assert_uint_eq(meet(dot, &in_format_text, DD_MET_AGAIN), 0);
	ck_assert_uint_eq(meet(soft, &in_format_text, DD_MET_KNOWN), 0);
	ck_assert_str_eq(dd_files_path(files, 0), a);
	ck_assert_str_eq(dd_files_other_path(files, 0, 0), hard);
	ck_assert_str_eq(dd_files_other_path(files, 0, 1), soft);
	ck_assert_str_eq(dd_files_other_path(files, 0, 2), dot);
	ck_assert_ptr_null(dd_files_other_path(files, 0, 3));
	ck_assert_str_eq(dd_files_path(files, 1), b);
	ck_assert_ptr_null(dd_files_other_path(files, 1, 0));
	ck_assert_int_eq(dd_files_state(files, 0, -1), DD_AS_READ);
	free(a);
	free(b);
	free(hard);
	free(soft);
	free(dot);
}
END_TEST

START_TEST(test_pipes_are_never_the_same)
{
	const char *path;
	int fd;

	path = make_pipe("text", &fd);
	ck_assert_uint_eq(meet(path, &in_format_text, DD_MET_NEW), 0);
	ck_assert_uint_eq(meet(path, &in_format_text, DD_MET_NEW), 1);
	ck_assert(!dd_files_can_seek(files, 0));
	ck_assert_int_eq(dd_files_state(files, 0, -1), DD_AS_READ);
	close(fd);
}
END_TEST

START_TEST(test_many_files)
{
	char name[16], *path;

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < 1500; i++) {
			snprintf(name, sizeof(name), "%u", i);
			path = pass ? sxt_path(dir, name) : write_file(name, name);
			ck_assert_uint_eq(meet(path, &in_format_text,
					       pass ? DD_MET_KNOWN : DD_MET_NEW), i);
			ck_assert_str_eq(dd_files_path(files, i), path);
			free(path);
		}
	}
}
END_TEST

static const sxt_test tests[] = {
	{ &test_files_again, 0, 1 },
	{ &test_tables_again, 0, 1 },
#ifdef HAVE_JSON
	{ &test_rows_again, 0, 1 },
	{ &test_other_member_again, 0, 1 },
	{ &test_long_rows_again, 0, 1 },
	{ &test_pipe_again, 0, 1 },
	{ &test_threads, 0, 1 },
	{ &test_grown_file, 0, 1 },
#endif
	{ &test_changed_file, 0, 1 },
	{ &test_changed_meanwhile, 0, 1 },
	{ &test_same_file, 0, 1 },
	{ &test_pipes_are_never_the_same, 0, 1 },
	{ &test_many_files, 0, 1 },
};

SXT_SUITE(dd_again, set_up, tear_down);
