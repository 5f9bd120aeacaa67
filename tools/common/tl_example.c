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

/* An option that is refused: what is right is without it. */
static struct {
	const char *word; /* or NULL */
	int letter;       /* of it, or 0 */
} refused;

/* All options are right by themselves. */
static int is_read;

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

/* An option of a letter, or of a name of `n` bytes or its beginning that no other one has. */
static const struct tl_option *find_row(int letter, const char *name, size_t n)
{
	const struct tl_option *row, *begins = NULL;
	int n_begin = 0;

	for (const struct tl_command *c = typed.command; c; c = c->program)
		for (struct tl_rows rows = { .row = { c->options } };
		     (row = tl_rows_next(&rows));) {
			if (row->kind < TL_KIND_FLAG)
				continue;
			if (letter ? row->letter == letter :
				     strncmp(row->name, name, n) == 0 && !row->name[n])
				return row;
			if (!letter && n && strncmp(row->name, name, n) == 0 && ++n_begin)
				begins = row;
		}
	return n_begin == 1 ? begins : NULL;
}

/* The option of a word: of letters the last one, which may have a value; or NULL. */
static const struct tl_option *row_of(const char *word, size_t n)
{
	const struct tl_option *row = NULL;

	if (word[1] == '-')
		return find_row(0, word + 2, n - 2);
	for (size_t i = 1; i < n && !(row && row->value); i++)
		row = find_row(word[i], NULL, 0);
	return row;
}

/* Whether the word after an option, which has `n` bytes, is its value. */
static int takes_value(const char *option, size_t n)
{
	const struct tl_option *row = n > 1 ? row_of(option, n) : NULL;

	return row && row->value &&
	       (option[1] == '-' ? !memchr(option, '=', n) : row->letter == option[n - 1]);
}

static int is_option(const char *word)
{
	return *word == '-' && word[1];
}

/* The operand number `nth` of this kind that was given, or NULL. */
static const char *find_given(int (*is_it)(const char *), int nth)
{
	for (char **word = typed.argv; *word; word++) {
		if (is_option(*word))
			word += word[1] && takes_value(*word, strlen(*word));
		else if (is_it(*word) && nth-- == 0)
			return *word;
	}
	return NULL;
}

/* Whether a word is an option of this name, or has its letter. */
static int names(const char *word, const char *name)
{
	const struct tl_option *row;
	size_t n = strcspn(word, "=");

	if (word[1] == '-')
		return (row = row_of(word, n)) != NULL && strcmp(row->name, name) == 0;
	for (size_t i = 1; word[i]; i++) {
		row = find_row(word[i], NULL, 0);
		if (row && strcmp(row->name, name) == 0)
			return 1;
		if (row && row->value)
			break;
	}
	return 0;
}

const char *tl_example_find(const char *name)
{
	for (char **word = typed.argv; *word; word++)
		if (is_option(*word) && (*word != refused.word || refused.letter) &&
		    names(*word, name))
			return *word;
	return NULL;
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
		if (!tl_example_find("text") && strcasecmp(dot + 1, formats[i]) == 0)
			snprintf(option, sizeof(option), "-F %s ", formats[i]);
	put_word(out, option, word, "--text FILE");
}

static void put_inputs(FILE *out)
{
	const char *first = find_given(is_input, 0), *word = first;

	if (!first)
		fputs(tl_example_find("recursive") ? " -r DIR" : " FILE",
		      out);
	for (int n = 0; word && n < MOST_INPUTS; word = find_given(is_input, ++n))
		put_word(out, n ? "" : *word == '-' ? "-F jsonl " :
			 tl_path_is_directory(word) ? "-r " : "", word, NULL);
}

/* The word that may be the value of the option that is refused; or NULL. */
static const char *refused_value(void)
{
	size_t n = refused.word ? strlen(refused.word) : 0;
	char **word = typed.argv;

	if (!n || takes_value(refused.word, n) || strchr(refused.word, '=') ||
	    (refused.letter && refused.word[n - 1] != refused.letter))
		return NULL;
	while (*word && *word != refused.word)
		word++;
	return *word && word[1] && !is_option(word[1]) ? word[1] : NULL;
}

/* Whether the option that is refused has a file or directory by its name, as --move-to has. */
static int has_place(void)
{
	const char *dash = refused.word && !refused.letter ? strrchr(refused.word, '-') : NULL;

	return dash && tl_others_list(dash > refused.word + 1 ? "to in dir file path log dest" :
								 "log dest", dash + 1);
}

/* The operand number `nth`, with what may be the value of the refused option or without it. */
static const char *find_operand(int nth, int without)
{
	const char *value = without ? refused_value() : NULL;

	for (char **word = typed.argv; *word; word++) {
		if (is_option(*word))
			word += word[1] && takes_value(*word, strlen(*word));
		else if (*word != value && nth-- == 0)
			return *word;
	}
	return NULL;
}

/* Whether a word may be what the shortest command line has so called. */
static int stands_for(const char *name, const char *word)
{
	if (strncmp(name, "INDEX", 5) == 0)
		return is_index(word) || (strcmp(name, "INDEX INPUT") == 0 && access(word, F_OK));
	if (strncmp(name, "INPUT", 5) == 0)
		return is_input(word) &&
		       (!tl_path_is_directory(word) || tl_example_find("recursive")) &&
		       (strcmp(word, "-") != 0 || tl_example_find("format"));
	if (strncmp(name, "QUERY", 5) == 0 && !tl_example_find("text"))
		return is_fingerprint(word) || tl_example_find("format");
	return (strncmp(name, "QUERY", 5) && strncmp(name, "FILE", 4)) || tl_path_is_file(word);
}

/* One word of what stands behind the name of a command. */
static void put_operand(FILE *out, const char *word, size_t n, int *n_files)
{
	const char *given;

	if (*word == '[') {
		if (tl_example_find("stream"))
			fprintf(out, " %.*s", (int)n - 2, word + 1);
	} else if (strncmp(word, "INDEX", n) == 0) {
		given = find_given(is_index, 0);
		/* One that is not there yet. */
		if (!given && find_operand(1, 0) &&
		    stands_for(typed.command->shortest, find_operand(0, 0)))
			given = find_operand(0, 0);
		put_word(out, "", given, "INDEX");
	} else if (strncmp(word, "INPUT", n) == 0) {
		put_inputs(out);
	} else if (strncmp(word, "FILE", n) == 0) {
		put_word(out, "", find_given(tl_path_is_file, (*n_files)++), "FILE");
	} else if (strncmp(word, "QUERY", n) == 0) {
		if (find_given(is_fingerprint, 0) && !tl_example_find("text"))
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

/* Whether the operands are right, with what may be a value or without it. */
static int fits(int without)
{
	const char *name = typed.command->shortest, *word;
	int n = 0, is_listed = tl_example_find("files-from") || tl_example_find("from") ||
			       tl_example_find("merge-only");

	name += *name == '[' ? strcspn(name, " ") + 1 : 0;
	for (; (word = find_operand(n, without)); n++) {
		if (!stands_for(name, word))
			return 0;
		if (strchr(name, ' '))
			name = strchr(name, ' ') + 1;
		else if (strncmp(name, "INPUT", 5) == 0 || strncmp(name, "QUERY", 5) == 0)
			is_listed = 1;
		else if (strcmp(name, "INDEX") == 0)
			name = "";
	}
	/* What the shortest line has as options. */
	if ((*typed.command->shortest == '-' && !tl_example_find("documents")) ||
	    (strstr(typed.command->shortest, " --label") && n < 2 &&
	     !tl_example_find("older-than")))
		return 0;
	return n >= typed.command->least && n <= typed.command->most &&
	       (is_listed || (strncmp(name, "INPUT", 5) && strncmp(name, "QUERY", 5)));
}

/* Whether a word was the value of what is complete without it, and can be no operand. */
static int is_left_over(const char *word)
{
	const char *operands = typed.command->operands;

	if (!is_complete())
		return 0;
	if (has_place())
		return fits(1);
	return access(word, F_OK) &&
	       !(operands && (strstr(operands, "QUERY") || strstr(operands, "KEY"))) &&
	       (!word[strspn(word, "0123456789.%KMG")] ||
		tl_others_list("yes no true false on off json csv tsv", word));
}

/* What an option has for a value, where the next word is none: the only input, or an option. */
static const char *missing_value(void)
{
	const char *value = refused_value();
	size_t n = strlen(mended.right);

	if (is_complete() || n < 3 || *mended.right != '-' || mended.at[mended.n] ||
	    !takes_value(mended.right, n) || strcmp(mended.right, "--files-from") == 0 ||
	    (value && (!is_input(value) || fits(1))))
		return NULL;
	return row_of(mended.right, n)->value;
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

/* What is left of the word with the option that is refused. */
static void put_rest(FILE *out)
{
	int n = 0;

	for (const char *at = refused.word; refused.letter && *++at;)
		if (*at != refused.letter && find_row(*at, NULL, 0))
			fprintf(out, n++ ? "%c" : " -%c", *at);
}

/* What was typed, mended, or without the option that is refused and its value if it has one. */
static void write_mended(FILE *out, int without)
{
	const char *missing, *value = without ? refused_value() : NULL;

	fprintf(out, "%s", tl_program());
	if (typed.command->program)
		fprintf(out, " %s", typed.command->name);
	if (mended.right && !mended.at)
		fprintf(out, " %s", mended.right);
	for (char **word = typed.argv; *word; word++) {
		if (has_mistake(*word)) {
			put_mended(out, *word);
			missing = *word == refused.word ? missing_value() : NULL;
			if (missing)
				fprintf(out, " %s", missing);
		} else if (*word == refused.word && (mended.at || !mended.right) &&
			   !(word[1] && has_mistake(word[1]))) {
			put_rest(out);
			word += word[1] && takes_value(*word, strlen(*word));
		} else if (*word != value &&
			   (word == typed.argv || !has_mistake(word[-1]) || !is_left_over(*word)))
			put_word(out, "", *word, NULL);
	}
}

/*
 * Whether the word behind the option that is refused was its value: then 1, if it is an operand 0;
 * -1 if what is left is not right in either case.
 */
static int judge_value(void)
{
	const char *value = refused_value(), *operands = typed.command->operands;
	/* What is not there may be a new name, too. */
	int is_value = value && (is_input(value) || is_index(value) ?
					 has_place() : !strstr(typed.command->shortest, " --") &&
						       !(operands && strstr(operands, "NEW")));

	if (typed.command->commands)
		return -1;
	return fits(is_value) ? is_value : value && fits(!is_value) ? !is_value : -1;
}

/* The options that were given and that the shortest line has not; returns their number. */
static int put_options(FILE *out)
{
	int n = 0;

	for (char **word = typed.argv; *word; word++) {
		int has_value = is_option(*word) && word[1] && takes_value(*word, strlen(*word));

		if (is_option(*word) && *word != refused.word && !names(*word, "recursive") &&
		    !names(*word, "text") && !names(*word, "stream") && !names(*word, "id") &&
		    strcmp(*word, "--") != 0 && row_of(*word, strcspn(*word, "="))) {
			n++;
			put_word(out, "", *word, NULL);
			if (has_value)
				put_word(out, "", word[1], NULL);
		}
		word += has_value;
	}
	return n;
}

/* Nothing, if options are given of which some may not be right together. */
static void write_shortest(FILE *to)
{
	int n_files = 0;
	size_t n;

	typed.command = find_command(typed.command);
	fprintf(to, "%s", tl_program());
	if (typed.command->program)
		fprintf(to, " %s", typed.command->name);
	if (put_options(to) && is_read) {
		rewind(to);
		fputc('\0', to);
		return;
	}
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
		write_mended(to, mended.at && refused.word && !has_mistake(refused.word) &&
					 judge_value() == 1);
	else if (refused.word && judge_value() >= 0)
		write_mended(to, judge_value());
	else
		write_shortest(to);
	fclose(to);
	out[size - 1] = '\0';
}

void tl_example_set(const struct tl_command *command, char **argv)
{
	typed.command = command;
	typed.argv = argv;
	is_read = 0;
	tl_set_example(write_example);
}

int tl_example_has_input(void)
{
	return find_given(is_input, 0) != NULL;
}

void tl_example_refuse(const char *word, int letter)
{
	refused.word = word;
	refused.letter = letter;
}

void tl_example_options_read(void)
{
	is_read = 1;
	refused.word = NULL;
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
