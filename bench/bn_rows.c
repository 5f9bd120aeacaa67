/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * JSON lines of generated texts, some of which are edited copies of earlier ones: what a crawl
 * looks like to simidx-dedup. --help says how they are made.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bn_options.h"
#include "bn_util.h"

#define MAX_WORDS 2048
#define N_VOCABULARY 50000

struct bench {
	uint64_t rows, seed;
	unsigned copies, least, most;
};

/* A text is made from its seed, so nothing of it needs to be kept to copy it. */
struct text {
	uint32_t word[MAX_WORDS];
	unsigned n;
};

static double unit(uint64_t *state)
{
	return (double)(bn_random(state) >> 11) * 0x1p-53;
}

/* The frequency of word number r is about 1 / r, as in languages. */
static uint32_t any_word(uint64_t *state)
{
	return (uint32_t)pow(N_VOCABULARY, unit(state)) - 1;
}

static void make_text(const struct bench *b, uint64_t seed, struct text *text)
{
	uint64_t state = seed;
	double spread = (double)b->most / b->least;

	text->n = (unsigned)(b->least * pow(spread, unit(&state)));
	for (unsigned i = 0; i < text->n; i++)
		text->word[i] = any_word(&state);
}

/* Words replaced, some added at a place, or some cut off the end: each a share of up to a fifth. */
static void edit(uint64_t *state, struct text *text)
{
	unsigned kind = bn_random(state) % 3;
	unsigned n = (unsigned)(text->n * 0.2 * unit(state) * unit(state));
	unsigned at = (unsigned)(bn_random(state) % (text->n + 1));

	if (kind == 0)
		for (unsigned i = 0; i < n; i++)
			text->word[bn_random(state) % text->n] = any_word(state);
	if (kind == 1 && text->n + n <= MAX_WORDS) {
		memmove(text->word + at + n, text->word + at,
			(text->n - at) * sizeof(text->word[0]));
		for (unsigned i = 0; i < n; i++)
			text->word[at + i] = any_word(state);
		text->n += n;
	}
	if (kind == 2)
		text->n -= n;
}

/* Letters for a number: syllables, so that words have lengths as words have. */
static void print_word(uint32_t number)
{
	static const char consonants[] = "bdfghklmnprstvwz", vowels[] = "aeiou";

	do {
		putchar(consonants[number % 16]);
		number /= 16;
		putchar(vowels[number % 5]);
		number /= 5;
	} while (number);
}

static void print_row(uint64_t id, const struct text *text)
{
	printf("{\"id\":%llu,\"text\":\"", (unsigned long long)id);
	for (unsigned i = 0; i < text->n; i++) {
		print_word(text->word[i]);
		fputs(i % 12 == 11 ? ". " : i + 1 < text->n ? " " : ".", stdout);
	}
	puts("\"}");
}

static int parse(struct bench *b, int argc, char **argv)
{
	const struct bn_option options[] = {
		{ 'n', "rows", "N", BN_COUNT, &b->rows, "(20000)" },
		{ 'c', "copies", "PERCENT", BN_SMALL_0, &b->copies, "rows that are copies (30)" },
		{ 0, "least", "N", BN_SMALL, &b->least, "words of a text (50)" },
		{ 0, "most", "N", BN_SMALL, &b->most, "(600)" },
		{ 's', "seed", "N", BN_COUNT, &b->seed, "(1)" },
		{ 0 },
	};
	const struct bn_usage usage = {
		.about =
			"Print JSON lines of generated texts. The word of rank r has a frequency "
			"of about 1 / r,\n"
			"and lengths are spread evenly by their logarithm. A copy is that of any "
			"earlier row with\n"
			"up to a fifth of its words replaced, added at one place, or cut off the "
			"end, mostly\n"
			"fewer. The same options give the same rows anywhere.\n",
		.options = options,
	};

	return bn_parse(&usage, argc, argv);
}

int main(int argc, char **argv)
{
	struct bench b = { .rows = 20000, .seed = 1, .copies = 30, .least = 50, .most = 600 };
	uint64_t *source, state;
	struct text text;

	bn_program = "bn_rows";
	parse(&b, argc, argv);
	if (b.copies > 100 || b.least > b.most || b.most > MAX_WORDS)
		bn_die("expected --copies up to 100, and --least up to --most up to %d", MAX_WORDS);
	/* By row, the seed of the text that it is or is a copy of. */
	source = bn_alloc(b.rows, sizeof(*source));
	state = bn_mix(b.seed);
	for (uint64_t i = 0; i < b.rows; i++) {
		int is_copy = i > 0 && bn_random(&state) % 100 < b.copies;

		source[i] = is_copy ? source[bn_random(&state) % i] : bn_random(&state);
		make_text(&b, source[i], &text);
		if (is_copy)
			edit(&state, &text);
		print_row(i + 1, &text);
	}
	free(source);
	return fflush(stdout) ? 2 : 0;
}
