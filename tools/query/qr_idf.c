/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"
#include "common/tl_options.h"
#include "common/tl_text_options.h"
#include "input/in_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS ((size_t)4096)

/* Stands between the tokens of a feature; in a dictionary a blank does. */
#define JOINT 0x1f

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

struct options {
	struct tl_text_options text;
	uint64_t min_texts;
};

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
	word->bytes = malloc(n_bytes + 1);
	words->n++;
	if (!word->bytes)
		return SIMIDX_E_NOMEM;
	for (size_t i = 0; i < n_bytes; i++)
		word->bytes[i] = bytes[i] == JOINT ? ' ' : bytes[i];
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
		       const struct in_files_options *options)
{
	struct in_files *files = in_files_open(options);
	struct in_reader reader;
	struct in_file file;
	enum in_result rc;
	int code = files ? 0 : tl_error("out of memory");

	in_reader_init(&reader, SIMIDX_DEFAULT_BITS);
	reader.columns = &options->columns;
	while (!code && (rc = in_files_next(files, &file)) != IN_END) {
		if (rc == IN_ROW)
			code = count_file(words, text, &reader, &file);
		else
			code = tl_error("%s", in_files_reason(files));
	}
	in_reader_free(&reader);
	in_files_close(files);
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
	size_t i, n = 0;

	for (i = 0; i < words->n_slots; i++)
		if (word[i].n_with)
			word[n++] = word[i];
	words->n_slots = n;
	if (n)
		qsort(word, n, sizeof(*word), by_bytes);
	for (i = 0; i < n && !tl_output_failed(); i++)
		if (word[i].size && word[i].n_with >= min_texts)
			print_word(&word[i], words->n_texts);
	tl_notice("%zu words in %llu texts", n, (unsigned long long)words->n_texts);
	return tl_output_failed() ? TL_TROUBLE : words->n_texts ? TL_OK : TL_PARTLY;
}

/* ---- the command ---- */

static int make_dictionary(const struct qr_context *ctx, struct options *options)
{
	struct words words = { NULL, 0, 0, 0 };
	simidx_text *text = NULL;
	uint64_t bytes;
	simidx_error err;
	int code = 0;

	/* What is counted are words, whatever becomes of them; a text is counted as it is. */
	if (!options->text.how.extractor)
		options->text.how.extractor = "words1";
	options->text.how.top = 0;
	options->text.short_texts = TL_SHORT_NOT_GIVEN;
	if (tl_text_open(&options->text, SIMIDX_DEFAULT_BITS, &text, &err))
		return tl_error("%s", err.text);
	/* Which nothing would read. */
	if (strncmp(simidx_text_profile(text), "char-", 5) == 0)
		code = tl_error("there are no dictionaries of characters: --extractor words1, "
				"words12 or han12");
	if (!code && in_files_check(&ctx->inputs, &bytes))
		code = TL_TROUBLE;
	if (!code)
		code = count_files(&words, text, &ctx->inputs);
	if (!code)
		code = print_words(&words, options->min_texts);
	for (size_t i = 0; i < words.n_slots; i++)
		free(words.slot[i].bytes);
	free(words.slot);
	simidx_text_close(text);
	return code;
}

/* Options without a letter. */
enum long_option { OPT_HELP = TL_LONG_OPTION, OPT_MIN_TEXTS };

static int take_option(struct options *options, int c)
{
	int rc;

	/* These say what becomes of counts, and here are only counts. */
	if (c == TL_OPT_IDF || c == TL_OPT_WEIGHTS || c == TL_OPT_TOP ||
	    c == TL_OPT_MIN_TOKENS || c == TL_OPT_SHORT || c == TL_OPT_SEED)
		return tl_usage_error("idf takes of the options about texts only --extractor, "
				      "--grams, --stop, --words and --stem");
	rc = tl_text_take(&options->text, c, optarg);
	if (rc <= 0)
		return rc ? TL_TROUBLE : 0;
	if (c != OPT_MIN_TEXTS)
		return TL_TROUBLE;
	return tl_option_number("--min-texts", optarg, 1, UINT64_MAX, &options->min_texts) ?
		       TL_TROUBLE :
		       0;
}

static int run_idf(struct qr_context *ctx, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, OPT_HELP },
		{ "min-texts", required_argument, NULL, OPT_MIN_TEXTS },
		TL_TEXT_OPTIONS,
		{ NULL, 0, NULL, 0 },
	};
	struct options options = { .min_texts = 1 };
	int c, code = 0;

	while (!code && (c = tl_next_option(argc, argv, ":", longs)) != TL_OPTION_END) {
		if (c == OPT_HELP)
			return qr_print_help(&qr_idf);
		code = take_option(&options, c);
	}
	if (!code && argc > optind)
		code = tl_usage_error("idf takes no arguments, found '%s'", argv[optind]);
	if (!code && ctx->json)
		code = tl_usage_error("idf prints a dictionary, with or without --json");
	if (!code && !qr_is_no_index(ctx->path))
		code = tl_usage_error("idf counts words of texts, which no index holds: "
				      "--input FILE - idf");
	if (!code && !ctx->inputs.n_operands)
		code = tl_usage_error("idf: no --input FILE given");
	if (!code)
		code = make_dictionary(ctx, &options);
	tl_text_options_free(&options.text);
	return code;
}

static const char *const help[] = {
	"Print a dictionary for 'simidx-load --extractor tfidf --idf': a line \"word idf\"",
	"for each word in the texts of --input FILE, ordered by their bytes. The idf is",
	"ln(1 + N / n), N being the number of texts and n that of those with the word.",
	"INDEX is '-'. A row that is no text ends it: nothing is printed, exit 2.",
	"",
	"  --min-texts N        only words that are in N texts or more (default 1)",
	"  --extractor NAME     words1 (default), words12 (also pairs of words), han12",
	"  --grams, --stop, --words, --stem",
	"                       as in simidx-load --help; should be the same there",
	"  --help               print this and stop",
	NULL
};

const struct qr_command qr_idf = { "idf", "[OPTION]...", "an IDF dictionary of texts", run_idf,
				   help };
