/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_text_options.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LIST ((size_t)1 << 30)
#define JOINT 0x1f /* between the tokens of a feature */
#define READ_SIZE ((size_t)64 << 10)

static const char *const short_words[] = { "flag", "reject", "exact", NULL };

/* Room for READ_SIZE bytes more, and a newline. */
static int make_room(struct tl_list *list, const char *path)
{
	char *larger = NULL;

	if (list->size < MAX_LIST)
		larger = realloc(list->data, list->size + READ_SIZE + 1);
	if (!larger)
		return tl_error("%s: %s", path,
				list->size < MAX_LIST ? "out of memory" : "too long");
	list->data = larger;
	return 0;
}

/* Append a file to a list, and a newline if it has none at its end. */
static int read_list(struct tl_list *list, const char *name, const char *path)
{
	FILE *file = fopen(path, "re");
	size_t got = 1;
	int failed = 0;

	if (!file)
		return tl_error("%s: %s: cannot open: %s; a path from here is expected", name, path,
				strerror(errno));
	while (got > 0 && !failed) {
		failed = make_room(list, path);
		got = failed ? 0 : fread(list->data + list->size, 1, READ_SIZE, file);
		list->size += got;
	}
	if (!failed && ferror(file))
		failed = tl_error("%s: %s: cannot read: %s", name, path, strerror(errno));
	fclose(file);
	if (!failed && list->size && list->data[list->size - 1] != '\n')
		list->data[list->size++] = '\n';
	return failed;
}

static int take_grams(void *to, const char *value)
{
	struct tl_text_options *options = to;
	uint64_t n;
	size_t size;

	options->how.grams = 0;
	for (;; value += size + 1) {
		size = strcspn(value, ",");
		if (tl_parse_decimal(value, size, SIMIDX_TEXT_MAX_GRAM, &n) || n < 1)
			return tl_usage_error("--grams: expected numbers in 1..%d with commas "
					      "between, found '%s'",
					      SIMIDX_TEXT_MAX_GRAM, value);
		options->how.grams |= 1u << (n - 1);
		if (!value[size])
			return 0;
	}
}

/* The names of languages have small letters. */
static int take_stem(void *to, const char *value)
{
	static char name[32];
	struct tl_text_options *options = to;
	size_t n = strlen(value);

	options->how.stem = n < sizeof(name) ? name : value;
	for (size_t i = 0; i <= n && n < sizeof(name); i++)
		name[i] = (char)tolower((unsigned char)value[i]);
	return 0;
}

static int take_top(void *to, const char *value)
{
	struct tl_text_options *options = to;
	uint64_t n;

	if (strcmp(value, "auto") == 0) {
		options->how.top = SIMIDX_TEXT_TOP_AUTO;
	} else if (strcmp(value, "all") == 0) {
		options->how.top = SIMIDX_TEXT_TOP_ALL;
	} else {
		if (tl_option_number("--top", value, 1, SIMIDX_TEXT_TOP_AUTO - 1, &n))
			return TL_TROUBLE;
		options->how.top = (uint32_t)n;
	}
	return 0;
}

static int take_stop(void *to, const char *value)
{
	struct tl_text_options *options = to;
	const char *earlier = options->how.stop;

	if (strcmp(value, "en") != 0 && strcmp(value, "zh") != 0) {
		if (!read_list(&options->stop, "--stop", value))
			return 0;
		tl_notice("--stop: 'en' and 'zh' are lists of words, or a FILE has one a line");
		return -1;
	}
	options->how.stop = !earlier || strcmp(earlier, value) == 0 ? value : "en,zh";
	return 0;
}

/* Two dictionaries would leave open which of two values of a word is meant. */
static int take_idf(void *to, const char *value)
{
	struct tl_text_options *options = to;

	options->how.idf_name = value;
	return options->idf.data ? tl_usage_error("--idf is given twice") :
				   read_list(&options->idf, "--idf", value);
}

static int take_words(void *to, const char *value)
{
	struct tl_text_options *options = to;

	return read_list(&options->words, "--words", value);
}

static int take_seed(void *to, const char *value)
{
	struct tl_text_options *options = to;

	options->how.seed_given = 1;
	return tl_option_number("--seed", value, 0, UINT64_MAX, &options->how.seed);
}

const struct tl_option tl_text_cutting_rows[] = {
	{ TL_GIVEN(struct tl_text_options, given) },
	{ 0, "extractor", "NAME", TL_TEXT(struct tl_text_options, how.extractor),
	  .otherwise = "words12", .help = "words12, words1, han12, ...",
	  .more = "What the features of a text are. words12: words and pairs of "
		  "neighbours; words1: words; han12: Han characters and words, and pairs; "
		  "unspaced12: the same, with Thai, Lao, Khmer and Burmese letters and kana, each "
		  "by itself; "
		  "char-N: N characters in a row; tfidf: the 20 words that weigh most by --idf." },
	{ 0, "grams", "N[,N]...", TL_CALL(take_grams),
	  .help = "features of N neighbouring words, N in 1..16",
	  .more = "How many neighbouring words are a feature, 1..16; several numbers make "
		  "features of each length." },
	{ 0, "stop", "en|zh|FILE", TL_CALL(take_stop), .may_repeat = 1,
	  .help = "leave out these words; may be repeated",
	  .more = "Leave out words: English or Chinese ones, or those of a file, one a line. May "
		  "be repeated." },
	{ 0, "words", "FILE", TL_CALL(take_words), .may_repeat = 1,
	  .help = "words that stay in one piece; may be repeated",
	  .more = "Words that stay in one piece, one a line. May be repeated." },
	{ 0, "stem", "LANGUAGE", TL_CALL(take_stem),
	  .help = "stem words of english, german, ...",
	  .more = "Reduce words to their stems, as libstemmer does for english, german and "
		  "other languages." },
	{ 0 },
};

const struct tl_option tl_text_rows[] = {
	{ TL_GIVEN(struct tl_text_options, given) },
	{ TL_ROWS(tl_text_cutting_rows) },
	{ 0, "weights", "HOW", TL_TEXT(struct tl_text_options, how.weights),
	  .otherwise = "sqrt", .help = "sqrt, log, raw, binary or tfidf",
	  .more = "What a feature weighs that occurs c times. sqrt: the square "
		  "root of c; log: 1 + ln c; raw: c; binary: 1; tfidf: c times its value in "
		  "--idf." },
	{ 0, "top", "N|auto|all", TL_CALL(take_top), .help = "only the N features that weigh most",
	  .more = "Only the N features that weigh most. auto: 4 times the square root of the "
		  "number of tokens, at least 16." },
	{ 0, "idf", "FILE", TL_CALL(take_idf), .help = "values of words, for --weights tfidf",
	  .more = "Values of words for --weights tfidf: lines \"word idf\", as jieba has them or "
		  "'simidx-query idf' writes them." },
	{ 0, "seed", "N", TL_CALL(take_seed), .otherwise = "0",
	  .help = "another hash: other fingerprints, as good",
	  .more = "Use another hash. Its fingerprints are others and as good." },
	{ 0, "min-tokens", "N",
	  TL_NUMBER(struct tl_text_options, how.min_tokens, 1, UINT32_MAX / 2),
	  .otherwise = TL_STRING(SIMIDX_SHORT_TOKENS),
	  .help = "a text of fewer tokens is short" },
	{ 0, "short", "WHAT",
	  TL_WORD_FROM(struct tl_text_options, short_texts, short_words, TL_SHORT_FLAG),
	  .otherwise = "flag", .help = "short texts: flag, reject, exact",
	  .more = "What becomes of short texts. flag: they are counted; reject: "
		  "they are left out; exact: they match only texts with the same words in the "
		  "same order." },
	{ 0 },
};

int tl_text_is_given(const struct tl_text_options *o)
{
	const simidx_text_options *how = &o->how;

	return how->extractor || how->grams || how->weights || how->top || how->stop ||
	       o->stop.data || o->words.data || o->idf.data || how->stem || how->seed_given ||
	       o->short_texts == TL_SHORT_EXACT;
}

uint32_t tl_text_min_tokens(const struct tl_text_options *options)
{
	return options->how.min_tokens ? options->how.min_tokens : SIMIDX_SHORT_TOKENS;
}

/* What the library is to be asked. */
static simidx_text_options complete(const struct tl_text_options *options, unsigned bits)
{
	simidx_text_options how = options->how;

	how.size = sizeof(how);
	how.bits = bits;
	how.stop_words = options->stop.data;
	how.stop_words_size = options->stop.size;
	how.words = options->words.data;
	how.words_size = options->words.size;
	how.idf = options->idf.data;
	how.idf_size = options->idf.size;
	how.short_exact = options->short_texts == TL_SHORT_EXACT;
	return how;
}

int tl_text_open(const struct tl_text_options *options, unsigned bits, simidx_text **out,
		 simidx_error *err)
{
	simidx_text_options how = complete(options, bits);

	return simidx_text_open(&how, out, err);
}

int tl_text_open_for(simidx *index, const struct tl_text_options *options, simidx_text **out,
		     simidx_error *err)
{
	simidx_text_options how = complete(options, 0);
	int rc = simidx_text_open_for(index, &how, out, err);

	if (rc || options->short_texts != TL_SHORT_FLAG ||
	    !strstr(simidx_text_profile(*out), " exact="))
		return rc;
	simidx_text_close(*out);
	*out = NULL;
	err->code = SIMIDX_E_MISMATCH;
	err->sys_errno = 0;
	snprintf(err->text, sizeof(err->text),
		 "the index was made with --short exact: --short flag does not fit");
	return err->code;
}

void tl_text_tell_lengths(uint64_t empty, uint64_t few, unsigned min_tokens)
{
	if (empty)
		tl_notice("%s no words: nothing is near to %s",
			  tl_counted(empty, "text has", "texts have"), empty == 1 ? "it" : "them");
	if (few)
		tl_notice("%s shorter than %u tokens: one edit moves %s far",
			  tl_counted(few, "text is", "texts are"), min_tokens,
			  few == 1 ? "its fingerprint" : "their fingerprints");
}

char *tl_text_words(const char *bytes, size_t n)
{
	char *words = malloc(n + 1);

	for (size_t i = 0; words && i < n; i++)
		words[i] = bytes[i] == JOINT ? ' ' : bytes[i];
	return words;
}

void tl_text_options_free(struct tl_text_options *options)
{
	free(options->stop.data);
	free(options->words.data);
	free(options->idf.data);
}
