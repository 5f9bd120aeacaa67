/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_example.h"

#include "common/tl_msg.h"
#include "common/tl_others.h"
#include "common/tl_path.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	const struct tl_command *command;
	char **argv;
} typed;

/* Where something else is right: NULL = before all words. */
static struct {
	const char *at;
	size_t n;
	char right[512];
	int is_set;
} mended;

/* Another line, up to a quote, or another program; or NULL. */
static const char *other_line, *other_program;

/* The last operands are missing. */
static int is_cut;

/* ---- what was typed ---- */

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
	return word && *word == '-' && word[1];
}

int tl_example_has(const char *name)
{
	return find_row(0, name, strlen(name)) != NULL;
}

int tl_example_needs_value(const char *name)
{
	const struct tl_option *row = find_row(0, name, strlen(name));

	return row && row->value;
}

const char *tl_example_value(const struct tl_option *row)
{
	/* By the name of the option, or by what its value is called. */
	static const struct {
		const char *of, *value;
	} examples[] = {
		{ "similarity", "0.8" }, { "keep", "newest" }, { "mode", "if-new" },
		{ "emit", "new" }, { "durability", "normal" }, { "FORMAT", "jsonl" },
		{ "text-field", "text" }, { "id-field", "id" }, { "fp-field", "fp" },
		{ "label-field", "url" }, { "time", "date" }, { "extractor", "words1" },
		{ "permissions", "640" }, { "stem", "english" },
		{ "CHAR", "\";\"" }, { "PATTERN", "\"*.tmp\"" }, { "PERCENT", "90" },
		{ "MS", "1000" }, { "SIZE", "1G" }, { "BYTES", "1G" }, { "K", "3" },
		{ "A", "100" }, { "F", "64" }, { "N", "10" }, { "N[,N]...", "2" },
		{ "seed", "1" }, { "plan", "auto" }, { "stop", "en" }, { "top", "20" },
	};

	if (strcmp(row->value, "DATE") == 0)
		return NULL;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		if (!strcmp(examples[i].of, row->name) || !strcmp(examples[i].of, row->value))
			return examples[i].value;
	return row->kind == TL_KIND_WORD ? row->words[0] : row->value;
}

const char *tl_example_find(const char *name)
{
	const struct tl_option *row;

	for (char **word = typed.argv; *word; word++) {
		row = is_option(*word) ? row_of(*word, strcspn(*word, "=")) : NULL;
		if (row && strcmp(row->name, name) == 0)
			return *word;
	}
	return NULL;
}

/* ---- what is right ---- */

static int has_mistake(const char *word)
{
	return mended.is_set && mended.at >= word && mended.at < word + strlen(word);
}

/* What is wrong has no value, though it may begin as one of ours; and an option may stand in the
   place of a word. */
static int count_operands(void)
{
	int n = 0;

	for (char **word = typed.argv; *word; word++) {
		n += !is_option(*word) &&
		     !(has_mistake(*word) && mended.n && is_option(mended.right));
		if (is_option(*word) && word[1] && !has_mistake(*word))
			word += takes_value(*word, strlen(*word));
	}
	return n;
}

/* Words of the shortest line that stand for operands: with fewer it is not done. */
static int count_needed(void)
{
	const char *list = tl_example_find("files-from");
	int n = 0;

	if ((list && !has_mistake(list)) || tl_example_find("from") ||
	    tl_example_find("merge-only"))
		return 0;
	for (const char *word = typed.command->shortest; *word; word += strcspn(word, " ")) {
		word += *word == ' ';
		n += isupper((unsigned char)*word) != 0;
	}
	return n;
}

/* Whether an option may take a value, as far as it can be told. */
static int may_take(const struct tl_option *row, const char *value)
{
	int is_number = row->kind == TL_KIND_NUMBER || row->kind == TL_KIND_COUNT ||
			row->kind == TL_KIND_SIZE || !row->value[1]; /* S of --similarity */

	if (strcmp(row->value, "INDEX") == 0)
		return !tl_path_is_file(value) && !strchr(value, '.');
	if (strcmp(row->name, "similarity") == 0)
		return strspn(value, ".0123456789") == strlen(value) && atof(value) <= 1;
	return row->kind == TL_KIND_WORD ?
		       tl_others_find(value, strlen(value), row->words) != NULL :
		       !is_number || (strspn(value, ".0123456789") && !strchr(value, '%'));
}

/* Whether a word is a number, perhaps with a unit, and no file is so called. */
static int is_amount(const char *word)
{
	size_t n = strspn(word, "0123456789.-");

	return isdigit((unsigned char)*word) && (!word[n] || !word[n + 1]) && access(word, F_OK);
}

/* Whether a file that an option writes is one that is there: rather an input. */
static int is_input(const struct tl_option *row, const char *value)
{
	return strcmp(row->value, "FILE") == 0 && access(value, F_OK) == 0 &&
	       tl_others_list("evidence summary dups output rejects list-binary", row->name);
}

/* What stands behind an option that was mended. */
enum behind {
	IS_RIGHT,   /* what belongs there */
	IS_MISSING, /* something else than the value that it needs */
	IS_DOUBTFUL /* what may be a value and may be an operand, or a value of another kind */
};

/* The option in the words that are right, of several the last one. */
static const char *mended_option(void)
{
	const char *option = mended.right + (*mended.right == ' '), *next;

	while ((next = strstr(option, " --")))
		option = next + 1;
	return option;
}

static const struct tl_option *mended_row(void)
{
	const char *option = mended_option();

	return is_option(option) ? row_of(option, strcspn(option, " ")) : NULL;
}

static enum behind judge_behind(const char *next)
{
	const char *rest = mended.at + mended.n, *option = mended_option();
	const struct tl_option *row = mended_row();
	int has_value = row && row->value, has_own = strcspn(option, " ") + 1 < strlen(option);
	int n_more;

	if (!row)
		return IS_RIGHT;
	n_more = count_operands() - (strcmp(row->name, "files-from") ? count_needed() : 0);
	if (!has_value || has_own)
		return *rest || (next && !is_option(next) && n_more > 0 &&
					!typed.command->commands) ? IS_DOUBTFUL : IS_RIGHT;
	if (!*rest && (!next || is_option(next) || (n_more <= 0 && !is_amount(next)) ||
		      is_input(row, next)))
		return tl_example_value(row) ? IS_MISSING : IS_DOUBTFUL;
	return may_take(row, *rest ? rest + (*rest == '=') : next) ? IS_RIGHT : IS_DOUBTFUL;
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

static void put_mended(FILE *out, const char *word, const char *next)
{
	const char *rest = mended.at + mended.n, *right = mended.right;
	size_t n = strlen(right);

	n -= n && right[n - 1] == ' ' && !*rest;
	if (n || *rest || mended.at > word)
		fprintf(out, " %.*s%.*s", (int)(mended.at - word), word, (int)n, right);
	if (*rest)
		put_quoted(out, rest);
	if (judge_behind(next) == IS_MISSING)
		fprintf(out, " %s", tl_example_value(mended_row()));
}

/*
 * What the shortest line has behind the operands that were given. Where options were given, which
 * may not go with those of that line: what the operands are called.
 */
static void put_missing(FILE *out)
{
	const char *word = typed.command->shortest;

	for (char **given = typed.argv; *given; given++)
		if (is_option(*given) || strstr(typed.command->operands, "QUERY"))
			word = typed.command->operands;
	for (int i = count_operands(); *word && i > 0; i--)
		word += strcspn(word, " ") + (strchr(word, ' ') != NULL);
	word += *word == '[';
	/* Where the format is told, rows of a pipe are meant. */
	if (strncmp(word, "INPUT", 5) == 0 && tl_example_find("format") && !isatty(STDIN_FILENO))
		word = "-";
	fprintf(out, " %.*s", (int)strcspn(word, ".]"), word);
}

/* Whether an option with a value was mended, and operands are missing. */
static int lacks_operands(void)
{
	const struct tl_option *row = mended.at ? mended_row() : NULL;

	return row && row->value && !typed.command->commands && count_operands() < count_needed();
}

/* Returns whether the line is whole, and does what was meant. */
static int write_typed(FILE *out)
{
	int is_found = !mended.at;

	fprintf(out, "%s", other_program ? other_program : tl_program());
	if (typed.command->program)
		fprintf(out, " %s", typed.command->name);
	if (mended.is_set && !mended.at)
		fprintf(out, " %s", mended.right);
	for (char **word = typed.argv; *word; word++) {
		if (!has_mistake(*word)) {
			fputc(' ', out);
			put_quoted(out, *word);
			continue;
		}
		if (judge_behind(word[1]) == IS_DOUBTFUL)
			return 0;
		is_found = 1;
		put_mended(out, *word, word[1]);
	}
	if (is_cut ? !mended.is_set || mended.at : lacks_operands())
		put_missing(out);
	return is_found;
}

static void write_example(char *out, size_t size)
{
	FILE *to = fmemopen(out, size, "w");
	int is_whole = 0;

	if (!to)
		return;
	if (other_line)
		is_whole = fprintf(to, "%.*s", (int)strcspn(other_line, "'"), other_line) > 0;
	else if (mended.is_set || other_program || is_cut)
		is_whole = write_typed(to);
	fclose(to);
	out[is_whole ? size - 1 : 0] = '\0';
}

/* ---- what may be shown ---- */

void tl_example_set(const struct tl_command *command, char **argv)
{
	typed.command = command;
	typed.argv = argv;
	tl_set_example(write_example);
}

const struct tl_command *tl_example_command(void)
{
	return typed.command;
}

void tl_example_mend(const char *at, size_t n, const char *right)
{
	mended.at = at;
	mended.n = n;
	mended.is_set = 1;
	snprintf(mended.right, sizeof(mended.right), "%s", right);
}

void tl_example_mend_option(const char *name, const char *right)
{
	const char *word = tl_example_find(name);

	if (word && (word[1] == '-' || !word[2]))
		tl_example_mend(word, strcspn(word, "="), right);
}

void tl_example_complete(void)
{
	is_cut = 1;
}

void tl_example_is_of(const char *program)
{
	other_program = program;
}

void tl_example_is(const char *line)
{
	other_line = line;
}
