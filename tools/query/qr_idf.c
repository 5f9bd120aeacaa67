/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_index.h"
#include "common/tl_msg.h"
#include "common/tl_output.h"
#include "common/tl_text_options.h"
#include "input/in_files.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS ((size_t)4096)

/* A word, and in how many texts it is. */
struct word {
	uint64_t hash;
	uint64_t n_with; /* 0 = a free slot */
	char *bytes;
	size_t size;
};

/* All words: open addressing by hash. */
struct words {
	struct word *slot;
	size_t n_slots, n;
	uint64_t n_texts;
};

static struct options {
	struct tl_text_options text;
	struct in_files_options files;
	uint64_t min_texts;
} options;

static struct word *find(struct word *slot, size_t n_slots, uint64_t hash)
{
	size_t i = hash & (n_slots - 1);

	while (slot[i].n_with && slot[i].hash != hash)
		i = (i + 1) & (n_slots - 1);
	return &slot[i];
}

static int grow(struct words *words)
{
	size_t n_slots = words->n_slots ? 2 * words->n_slots : FIRST_SLOTS;
	struct word *slot = calloc(n_slots, sizeof(*slot));

	if (!slot)
		return -1;
	for (size_t i = 0; i < words->n_slots; i++)
		if (words->slot[i].n_with)
			*find(slot, n_slots, words->slot[i].hash) = words->slot[i];
	free(words->slot);
	words->slot = slot;
	words->n_slots = n_slots;
	return 0;
}

/* A feature of one text comes once, however often it is there. */
static int count_word(void *ctx, const simidx_feature *feature, const char *bytes,
		      size_t n_bytes)
{
	struct words *words = ctx;
	struct word *word;

	if (words->n >= words->n_slots / 2 && grow(words))
		return SIMIDX_E_NOMEM;
	word = find(words->slot, words->n_slots, feature->hash);
	if (word->n_with++)
		return 0;
	word->hash = feature->hash;
	word->size = n_bytes;
	word->bytes = tl_text_words(bytes, n_bytes);
	words->n++;
	if (!word->bytes)
		return SIMIDX_E_NOMEM;
	return 0;
}

static int count_row(struct words *words, simidx_text *text, const struct in_reader *reader,
		     const struct in_row *row)
{
	simidx_error err;
	int rc;

	if (row->kind != IN_TEXT)
		return tl_error("%s: no text", in_reader_place(reader));
	words->n_texts++;
	rc = simidx_text_each_feature(text, row->text, row->text_size, count_word, words, &err);
	if (rc)
		return tl_error("%s: %s", in_reader_place(reader),
				*err.text ? err.text : simidx_strerror(rc));
	return 0;
}

/* A dictionary of half a collection would look like one of the whole: so any row that cannot be
 * read ends it. Files that are no texts are told and passed over. */
static int count_file(struct words *words, simidx_text *text, struct in_reader *reader,
		      const struct in_file *file)
{
	struct in_row row;
	enum in_result rc;
	int code = 0;

	rc = in_reader_open(reader, file->path, file->format, file->is_stdin);
	if (rc != IN_ROW)
		return tl_error("%s: %s", file->path, reader->reason);
	while (!code && (rc = in_reader_next(reader, &row)) != IN_END) {
		if (rc == IN_SKIPPED)
			tl_notice("%s: skipped: %s", file->path, reader->reason);
		else if (rc != IN_ROW)
			code = tl_error("%s: %s", in_reader_place(reader), reader->reason);
		else
			code = count_row(words, text, reader, &row);
	}
	return code;
}

static int count_files(struct words *words, simidx_text *text,
		       const struct in_files_options *inputs)
{
	struct in_files files = { .options = inputs };
	struct in_reader reader;
	struct in_file file;
	enum in_result rc;
	int code = 0;

	in_reader_init(&reader, SIMIDX_DEFAULT_BITS);
	reader.columns = &inputs->columns;
	while (!code && (rc = in_files_next(&files, &file)) != IN_END) {
		if (rc == IN_ROW)
			code = count_file(words, text, &reader, &file);
		else
			code = tl_error("%s", files.reason);
	}
	in_reader_free(&reader);
	in_files_close(&files);
	return code;
}

/* ---- the dictionary ---- */

static int by_bytes(const void *a, const void *b)
{
	const struct word *x = a, *y = b;
	size_t n = x->size < y->size ? x->size : y->size;
	int order = n ? memcmp(x->bytes, y->bytes, n) : 0;

	return order ? order : (x->size > y->size) - (x->size < y->size);
}

/* Six digits behind the point are enough for the same number to be read again. */
static void print_word(const struct word *word, uint64_t n_texts)
{
	uint64_t idf = simidx_text_idf(n_texts, word->n_with);
	uint64_t millionths = (idf * 1000000 + 32768) >> 16;

	fwrite(word->bytes, 1, word->size, stdout);
	printf(" %llu.%06llu\n", (unsigned long long)(millionths / 1000000),
	       (unsigned long long)(millionths % 1000000));
}

static int print_words(struct words *words, uint64_t min_texts)
{
	struct word *word = words->slot;
	size_t i, n = 0, n_printed = 0;

	for (i = 0; i < words->n_slots; i++)
		if (word[i].n_with)
			word[n++] = word[i];
	words->n_slots = n;
	if (n)
		qsort(word, n, sizeof(*word), by_bytes);
	for (i = 0; i < n && !tl_output_failed(); i++)
		if (word[i].size && word[i].n_with >= min_texts) {
			print_word(&word[i], words->n_texts);
			n_printed++;
		}
	if (n && !n_printed)
		tl_notice("no word is in %s texts (--min-texts)", tl_count(min_texts));
	tl_notice("%zu word%s in %llu text%s", n, n == 1 ? "" : "s",
		  (unsigned long long)words->n_texts, words->n_texts == 1 ? "" : "s");
	return tl_output_failed() ? TL_TROUBLE : words->n_texts ? TL_OK : TL_PARTLY;
}

/* ---- the command ---- */

static int make_dictionary(const struct in_files_options *files)
{
	struct words words = { NULL, 0, 0, 0 };
	simidx_text *text = NULL;
	uint64_t bytes;
	simidx_error err;
	int code = 0;

	/* What is counted are words, whatever becomes of them; a text is counted as it is. */
	if (!options.text.how.extractor)
		options.text.how.extractor = "words1";
	options.text.how.top = 0;
	options.text.short_texts = TL_SHORT_NOT_GIVEN;
	if (tl_text_open(&options.text, SIMIDX_DEFAULT_BITS, &text, &err))
		return tl_index_error(NULL, &err);
	/* Which nothing would read. */
	if (strncmp(simidx_text_profile(text), "char-", 5) == 0)
		code = tl_error("there are no dictionaries of characters: --extractor words1, "
				"words12, han12 or unspaced12");
	if (!code)
		code = in_files_check(files, &bytes);
	if (!code)
		code = count_files(&words, text, files);
	if (!code)
		code = print_words(&words, options.min_texts);
	if (!code)
		in_files_tell_whole(files, words.n_texts, 1);
	for (size_t i = 0; i < words.n_slots; i++)
		free(words.slot[i].bytes);
	free(words.slot);
	simidx_text_close(text);
	return code;
}

static const struct tl_option rows[] = {
	{ 'F', "format", "FORMAT",
	  TL_WORD_FROM(struct options, files.format_word, in_format_names, 1),
	  .otherwise = "by their names", .help = "format of all files",
	  .more = "Format of all files, as in simidx-load." },
	{ 0, "min-texts", "N", TL_COUNT(struct options, min_texts, 1, UINT64_MAX), .standard = "1",
	  .help = "only words that are in N texts or more" },
	{ TL_GROUP(in_columns_rows, struct options, files.columns) },
	{ TL_SECTION("What words are") },
	{ TL_PARAGRAPH("These should be the same when the dictionary is used; --extractor is "
		       "words1 here if it is not given.") },
	{ TL_GROUP(tl_text_cutting_rows, struct options, text) },
	{ TL_SECTION("Examples") },
	{ TL_EXAMPLE("simidx-query idf articles.jsonl >words.idf",
		     "Make a dictionary of the texts in a file.") },
	{ TL_EXAMPLE("simidx-load --extractor tfidf --idf words.idf index articles.jsonl",
		     "Use it.") },
	{ TL_SECTION("Exit status") },
	{ TL_PARAGRAPH("0: done. 1: there were no texts. 2: error, also with a row that is no "
		       "text; then nothing is printed.") },
	{ 0 },
};

static int run_idf(struct qr_context *ctx)
{
	struct in_files_options *files = &options.files;

	if (ctx->json)
		return tl_usage_error("idf prints a dictionary, with or without --json");
	files->operands = ctx->operands;
	files->n_operands = (size_t)ctx->n_operands;
	files->format = in_format_at(files->format_word);
	if (!files->format && in_files_n_stdin(files->operands, files->n_operands))
		return tl_usage_error("standard input needs its format, such as -F jsonl");
	return make_dictionary(files);
}

const struct qr_command qr_idf = {
	.line = { .name = "idf", .operands = "FILE...", .least = 1, .most = INT_MAX,
		  .shortest = "FILE",
		  .summary = "make a dictionary of the words of texts",
		  .about = "Print a dictionary for 'simidx-load --extractor tfidf --idf': a line "
			   "\"word idf\" for each word in the texts of the files, ordered by their "
			   "bytes. The idf is ln(1 + N / n), N being the number of texts and n "
			   "that of those with the word.",
		  .options = rows, .program = &qr_program },
	.options = &options, .run = run_idf,
};
