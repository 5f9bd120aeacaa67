/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_example.h"

#include "common/tl_msg.h"
#include "common/tl_path.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Inputs that are shown: one text alone is near to nothing. */
#define MOST_INPUTS 2

/* Fewer may be the value of an option that is unknown. */
#define LEAST_DIGITS 6

static struct {
	const struct tl_command *command;
	char **argv;
} typed;

static mode_t kind_of(const char *word)
{
	struct stat status;

	return stat(word, &status) ? 0 : status.st_mode & S_IFMT;
}

static int is_index(const char *word)
{
	return tl_path_is_uri(word) || tl_path_is_index(word);
}

static int is_file(const char *word)
{
	return kind_of(word) == S_IFREG;
}

static int is_input(const char *word)
{
	return strcmp(word, "-") == 0 || is_file(word) ||
	       (kind_of(word) == S_IFDIR && !tl_path_is_index(word));
}

static int is_fingerprint(const char *word)
{
	size_t n = strspn(word, "0123456789abcdefABCDEF");

	return n >= LEAST_DIGITS && !word[n];
}

/* Whether the word after an option is its value. */
static int takes_value(const char *option)
{
	struct tl_rows rows = { .row = { typed.command->options } };
	const struct tl_option *row;
	char last = option[strlen(option) - 1];

	while ((row = tl_rows_next(&rows)))
		if (row->kind >= TL_KIND_FLAG && row->value &&
		    (option[1] == '-' ? !strcmp(option + 2, row->name) : row->letter == last))
			return 1;
	return 0;
}

/* The operand number `nth` of this kind that was given, or NULL. */
static const char *find_given(int (*is_it)(const char *), int nth)
{
	for (char **word = typed.argv; *word; word++) {
		if (**word == '-' && (*word)[1])
			word += word[1] && takes_value(*word);
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

static void put_word(FILE *out, const char *before, const char *word, const char *otherwise)
{
	char room[TL_PATH_WORD_SIZE];

	fprintf(out, " %s%s", word ? before : "", word ? tl_path_word(word, room) : otherwise);
}

static void put_inputs(FILE *out)
{
	const char *first = find_given(is_input, 0), *word = first;

	if (!first)
		fputs(" FILE", out);
	for (int n = 0; word && n < MOST_INPUTS; word = find_given(is_input, ++n))
		put_word(out, n ? "" : *word == '-' ? "-F jsonl " :
			 kind_of(word) == S_IFDIR ? "-r " : "", word, NULL);
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
		put_word(out, "", find_given(is_file, (*n_files)++), "FILE");
	} else if (strncmp(word, "QUERY", n) == 0) {
		if (find_given(is_fingerprint, 0) && !was_given("--text", 6))
			put_word(out, "", find_given(is_fingerprint, 0), NULL);
		else
			put_word(out, "--text ", find_given(is_file, 0), "--text FILE");
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

static void write_example(char *out, size_t size)
{
	const struct tl_command *command = find_command(typed.command);
	FILE *to = fmemopen(out, size, "w");
	int n_files = 0;
	size_t n;

	*out = '\0';
	if (!to)
		return;
	typed.command = command;
	fprintf(to, "%s", tl_program());
	if (command->program)
		fprintf(to, " %s", command->name);
	for (const char *word = command->shortest; *word; word += n + (word[n] == ' ')) {
		n = strcspn(word, " ");
		put_operand(to, word, n, &n_files);
	}
	fclose(to);
	out[size - 1] = '\0';
}

void tl_example_set(const struct tl_command *command, char **argv)
{
	typed.command = command;
	typed.argv = argv;
	tl_set_example(write_example);
}
