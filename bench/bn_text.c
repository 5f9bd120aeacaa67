/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Fingerprint texts, beside ICU's word segmentation alone of the same texts. One JSON object on
 * stdout; --help says how to read it.
 */

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <unicode/ubrk.h>
#include <unicode/ustring.h>

#include <simidx.h>
#include <simidx_text.h>

#include "bn_options.h"
#include "bn_util.h"

#define SKETCH_FLAGS (SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS)
#define MAX_BYTES (1L << 30)

struct text {
	char *utf8;
	size_t size;
	UChar *units;
	int32_t n_units;
};

struct bench {
	size_t n_texts;
	unsigned rounds;
	struct text *texts;
	simidx_text *extractor;
	UBreakIterator *breaks;
	uint64_t words, features, icu_words;
	double *ours, *icu, *ratio; /* by round: seconds, seconds, quotient */
};

static void read_text(struct text *text, const char *path)
{
	FILE *file = fopen(path, "rb");
	long size = -1;

	if (file && !fseek(file, 0, SEEK_END))
		size = ftell(file);
	if (size < 0 || size > MAX_BYTES)
		bn_die("%s: cannot be read, or is too large", path);
	rewind(file);
	text->size = (size_t)size;
	text->utf8 = bn_alloc(text->size, 1);
	if (fread(text->utf8, 1, text->size, file) != text->size)
		bn_die("%s: cannot be read", path);
	fclose(file);
}

static void decode(struct text *text)
{
	UErrorCode status = U_ZERO_ERROR;

	text->units = bn_alloc(text->size, sizeof(*text->units));
	u_strFromUTF8WithSub(text->units, (int32_t)text->size, &text->n_units, text->utf8,
			     (int32_t)text->size, 0xfffd, NULL, &status);
	if (U_FAILURE(status))
		bn_die("decode: %s", u_errorName(status));
}

static void open_all(struct bench *b, char **paths)
{
	UErrorCode status = U_ZERO_ERROR;
	simidx_error err;
	size_t i;

	b->texts = bn_alloc(b->n_texts, sizeof(*b->texts));
	b->ours = bn_alloc(b->rounds, sizeof(*b->ours));
	b->icu = bn_alloc(b->rounds, sizeof(*b->icu));
	b->ratio = bn_alloc(b->rounds, sizeof(*b->ratio));
	for (i = 0; i < b->n_texts; i++) {
		read_text(&b->texts[i], paths[i]);
		decode(&b->texts[i]);
	}
	if (simidx_text_open(NULL, &b->extractor, &err))
		bn_die("open: %s", err.text);
	b->breaks = ubrk_open(UBRK_WORD, "", NULL, 0, &status);
	if (U_FAILURE(status))
		bn_die("ICU: %s", u_errorName(status));
}

static void fingerprint(struct bench *b)
{
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;
	simidx_error err;
	size_t i;

	b->words = b->features = 0;
	for (i = 0; i < b->n_texts; i++) {
		if (simidx_text_fingerprint(b->extractor, b->texts[i].utf8, b->texts[i].size,
					    SKETCH_FLAGS, &sketch, &err))
			bn_die("fingerprint: %s", err.text);
		b->words += sketch.n_tokens;
		b->features += sketch.n_features;
	}
}

/* As little as can be done with ICU: boundaries of text that is in UTF-16 already. */
static void segment(struct bench *b)
{
	UErrorCode status = U_ZERO_ERROR;
	size_t i;

	b->icu_words = 0;
	for (i = 0; i < b->n_texts; i++) {
		ubrk_setText(b->breaks, b->texts[i].units, b->texts[i].n_units, &status);
		if (U_FAILURE(status))
			bn_die("ICU: %s", u_errorName(status));
		while (ubrk_next(b->breaks) != UBRK_DONE)
			b->icu_words += ubrk_getRuleStatus(b->breaks) >= UBRK_WORD_NONE_LIMIT;
	}
}

static double timed(void (*run)(struct bench *b), struct bench *b)
{
	double start = bn_cpu_seconds();

	run(b);
	return bn_cpu_seconds() - start;
}

static void measure(struct bench *b)
{
	size_t i;

	/* The first round warms the caches up. */
	fingerprint(b);
	segment(b);
	for (i = 0; i < b->rounds; i++) {
		b->ours[i] = timed(fingerprint, b);
		b->icu[i] = timed(segment, b);
		b->ratio[i] = b->ours[i] / b->icu[i];
	}
}

static void report(struct bench *b)
{
	double bytes = 0, ours, icu, ratio;
	size_t i;

	for (i = 0; i < b->n_texts; i++)
		bytes += (double)b->texts[i].size;
	ours = bn_quantile(b->ours, b->rounds, 0.5);
	icu = bn_quantile(b->icu, b->rounds, 0.5);
	ratio = bn_quantile(b->ratio, b->rounds, 0.5);
	printf("{\"bench\":\"text\",\"profile\":\"%s\",\"icu\":\"%s\",\"texts\":%zu"
	       ",\"bytes\":%.0f,\"rounds\":%u,\"words\":%llu,\"features\":%llu"
	       ",\"icu_words\":%llu",
	       simidx_text_profile(b->extractor), simidx_text_build_info(), b->n_texts, bytes,
	       b->rounds, (unsigned long long)b->words, (unsigned long long)b->features,
	       (unsigned long long)b->icu_words);
	printf(",\"mb_per_s\":%.1f,\"icu_mb_per_s\":%.1f,\"ratio\":%.3f,\"ratio_min\":%.3f"
	       ",\"ratio_max\":%.3f}\n",
	       bytes / ours / 1e6, bytes / icu / 1e6, ratio, b->ratio[0],
	       b->ratio[b->rounds - 1]);
}

/* What is printed, for --help. */
static const char figures[] =
	"\n"
	"Members of the object:\n"
	"  mb_per_s       10^6 bytes of UTF-8 a second, from text to both fingerprints and "
	"weights\n"
	"                 as the tools do; one thread, CPU time, median of the rounds\n"
	"  icu_mb_per_s   the same for ICU's word boundaries of text that is in UTF-16 already\n"
	"  ratio, ratio_min, ratio_max   our time over ICU's: median and spread of the rounds.\n"
	"                 English may take less than ICU alone: its words are found without it\n"
	"  words, features, icu_words   of all texts; ICU counts differently where NFKC changes\n"
	"                 words\n";

int main(int argc, char **argv)
{
	struct bench b = { .rounds = 9 };
	const struct bn_option options[] = {
		{ 'r', "rounds", "N", BN_SMALL, &b.rounds, "of both, in turns (9)" },
		{ 0 },
	};
	const struct bn_usage usage = {
		.operands = "FILE...",
		.least = 1,
		.most = INT_MAX,
		.about =
			"Fingerprint texts, one a file, in turns with ICU's word segmentation of "
			"the same texts:\n"
			"the least that has to be done where words need ICU. Prints one JSON "
			"object.\n",
		.options = options,
		.more = figures,
	};
	size_t i;
	int first;

	bn_program = "bn_text";
	first = bn_parse(&usage, argc, argv);
	b.n_texts = (size_t)(argc - first);
	open_all(&b, argv + first);
	measure(&b);
	report(&b);
	for (i = 0; i < b.n_texts; i++) {
		free(b.texts[i].utf8);
		free(b.texts[i].units);
	}
	free(b.texts);
	free(b.ours);
	free(b.icu);
	free(b.ratio);
	ubrk_close(b.breaks);
	simidx_text_close(b.extractor);
	return 0;
}
