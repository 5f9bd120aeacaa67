/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_example.h"

#include "common/tl_msg.h"
#include "common/tl_others.h"
#include "common/tl_path.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Inputs that are shown: one text alone is near to nothing. */
#define MOST_INPUTS 2

/* Fewer may be the value of an option that is unknown. */
#define LEAST_DIGITS 6

static struct {
	const struct tl_command *command;
	char **argv;
} typed;

/* Where something else is right: NULL = before all words. */
static struct {
	const char *at;
	size_t n;
	const char *right; /* NULL: that is not known */
} mended;

static int is_index(const char *word)
{
	return (tl_path_is_uri(word) && strncmp(word, "http", 4) != 0) || tl_path_is_index(word);
}

/* What no codec of ours reads. */
static int is_packed_otherwise(const char *word)
{
	const char *dot = strrchr(word, '.');

	return dot && (strcmp(dot, ".xz") == 0 || strcmp(dot, ".bz2") == 0);
}

static int is_input(const char *word)
{
	if (is_packed_otherwise(word))
		return 0;
	return strcmp(word, "-") == 0 || tl_path_is_file(word) ||
	       (tl_path_is_directory(word) && !tl_path_is_index(word));
}

static int is_fingerprint(const char *word)
{
	size_t n = strspn(word, "0123456789abcdefABCDEF");

	return n >= LEAST_DIGITS && !word[n];
}

/* Whether the word after an option, which has `n` bytes, is its value. */
static int takes_value(const char *option, size_t n)
{
	const struct tl_option *row;
	int takes = 0, is_name = option[1] == '-';

	for (const struct tl_command *c = typed.command; c; c = c->program)
		for (struct tl_rows rows = { .row = { c->options } };
		     !takes && (row = tl_rows_next(&rows));)
			takes = row->kind >= TL_KIND_FLAG && row->value &&
				(is_name ? n - 2 == strlen(row->name) &&
						   !strncmp(option + 2, row->name, n - 2) :
					   row->letter == option[n - 1]);
	return takes;
}

/* The operand number `nth` of this kind that was given, or NULL. */
static const char *find_given(int (*is_it)(const char *), int nth)
{
	for (char **word = typed.argv; *word; word++) {
		if (**word == '-' && (*word)[1])
			word += word[1] && takes_value(*word, strlen(*word));
		else if (is_it(*word) && nth-- == 0)
			return *word;
	}
	return NULL;
}

static int was_given(const char *option, size_t n)
{
	for (char **word = typed.argv; *word; word++)
		if (strlen(*word) == n && strncmp(*word, option, n) == 0)
			return 1;
	return 0;
}

/* A word as a shell takes it; a password in it, whatever that has, is not shown. */
static void put_quoted(FILE *out, const char *word)
{
	char room[TL_PATH_WORD_SIZE];
	const char *user = strstr(word, "://"), *at = strrchr(word, '@');
	const char *colon = user && at > user ? memchr(user + 3, ':', (size_t)(at - user) - 3) :
						NULL;

	if (colon)
		fprintf(out, "%.*s:***%s", (int)(colon - word), word, at);
	else
		fputs(*word ? tl_path_word(word, room) : "\"\"", out);
}

static void put_word(FILE *out, const char *before, const char *word, const char *otherwise)
{
	fputc(' ', out);
	fputs(word ? before : otherwise ? otherwise : "", out);
	if (word)
		put_quoted(out, word);
}

/* A file with queries, as an option reads it. */
static void put_queries(FILE *out, const char *word)
{
	static const char *const formats[] = { "jsonl", "csv", "tsv", "npy" };
	const char *dot = word ? strrchr(word, '.') : NULL;
	char option[sizeof("-F jsonl ")] = "--text ";

	for (size_t i = 0; dot && i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!was_given("--text", 6) && strcasecmp(dot + 1, formats[i]) == 0)
			snprintf(option, sizeof(option), "-F %s ", formats[i]);
	put_word(out, option, word, "--text FILE");
}

static void put_inputs(FILE *out)
{
	const char *first = find_given(is_input, 0), *word = first;

	if (!first)
		fputs(was_given("-r", 2) || was_given("--recursive", 11) ? " -r DIR" : " FILE",
		      out);
	for (int n = 0; word && n < MOST_INPUTS; word = find_given(is_input, ++n))
		put_word(out, n ? "" : *word == '-' ? "-F jsonl " :
			 tl_path_is_directory(word) ? "-r " : "", word, NULL);
}

/* One word of what stands behind the name of a command. */
static void put_operand(FILE *out, const char *word, size_t n, int *n_files)
{
	if (*word == '[') {
		if (was_given(word + 1, n - 2))
			fprintf(out, " %.*s", (int)n - 2, word + 1);
	} else if (strncmp(word, "INDEX", n) == 0) {
		put_word(out, "", find_given(is_index, 0), "INDEX");
	} else if (strncmp(word, "INPUT", n) == 0) {
		put_inputs(out);
	} else if (strncmp(word, "FILE", n) == 0) {
		put_word(out, "", find_given(tl_path_is_file, (*n_files)++), "FILE");
	} else if (strncmp(word, "QUERY", n) == 0) {
		if (find_given(is_fingerprint, 0) && !was_given("--text", 6))
			put_word(out, "", find_given(is_fingerprint, 0), NULL);
		else
			put_queries(out, find_given(tl_path_is_file, 0));
	} else {
		fprintf(out, " %.*s", (int)n, word);
	}
}

static const struct tl_command *find_command(const struct tl_command *program)
{
	for (char **word = typed.argv; program->commands && *word; word++)
		if (tl_find_command(program, *word))
			return tl_find_command(program, *word);
	return program;
}

/* A line of another command, up to a quote; or NULL. */
static const char *other_line;

static int has_mistake(const char *word)
{
	return mended.at >= word && mended.at < word + strlen(word);
}

/* Whether what is to be typed is known, and where. */
static int is_mended(void)
{
	char **word = typed.argv;

	while (mended.right && mended.at && *word && !has_mistake(*word))
		word++;
	return mended.right && (!mended.at || *word);
}

/* Whether what is right takes no value, or has one. */
static int is_complete(void)
{
	size_t n = strcspn(mended.right, " ");

	return *mended.right == '-' &&
	       ((mended.right[n] && mended.right[n + 1]) || !takes_value(mended.right, n));
}

/* Whether a word was the value of what is complete without it, and can be no operand. */
static int is_left_over(const char *word)
{
	const char *operands = typed.command->operands;

	return is_complete() && access(word, F_OK) &&
	       !(operands && (strstr(operands, "QUERY") || strstr(operands, "KEY"))) &&
	       (!word[strspn(word, "0123456789.%KMG")] ||
		tl_others_list("yes no true false on off json csv tsv", word));
}

static void put_mended(FILE *out, const char *word)
{
	const char *rest = mended.at + mended.n;
	size_t n = strlen(mended.right);

	if (*rest == '=' && is_complete())
		rest += strlen(rest);
	n -= n && mended.right[n - 1] == ' ' && !*rest;
	fprintf(out, " %.*s%.*s", (int)(mended.at - word), word, (int)n, mended.right);
	if (*rest)
		put_quoted(out, rest);
}

/* What was typed, mended. */
static void write_mended(FILE *out)
{
	fprintf(out, "%s", tl_program());
	if (typed.command->program)
		fprintf(out, " %s", typed.command->name);
	if (!mended.at)
		fprintf(out, " %s", mended.right);
	for (char **word = typed.argv; *word; word++) {
		if (has_mistake(*word))
			put_mended(out, *word);
		else if (word == typed.argv || !has_mistake(word[-1]) || !is_left_over(*word))
			put_word(out, "", *word, NULL);
	}
}

static void write_shortest(FILE *to)
{
	int n_files = 0;
	size_t n;

	typed.command = find_command(typed.command);
	fprintf(to, "%s", tl_program());
	if (typed.command->program)
		fprintf(to, " %s", typed.command->name);
	for (const char *word = typed.command->shortest; *word; word += n + (word[n] == ' ')) {
		n = strcspn(word, " ");
		put_operand(to, word, n, &n_files);
	}
}

static void write_example(char *out, size_t size)
{
	FILE *to = fmemopen(out, size, "w");

	*out = '\0';
	if (!to)
		return;
	if (other_line)
		fprintf(to, "%.*s", (int)strcspn(other_line, "'"), other_line);
	else if (is_mended())
		write_mended(to);
	else
		write_shortest(to);
	fclose(to);
	out[size - 1] = '\0';
}

void tl_example_set(const struct tl_command *command, char **argv)
{
	typed.command = command;
	typed.argv = argv;
	tl_set_example(write_example);
}

void tl_example_mend(const char *at, size_t n, const char *right)
{
	mended.at = at;
	mended.n = n;
	mended.right = right;
}

void tl_example_is(const char *line)
{
	other_line = line;
}
