/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "manual/mn_manual.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/tl_help.h"

#define WIDTH 74 /* of lines in the source of a page, without escapes: 80 with them */

/* Day of the last change that a reader should know of. */
#define DATE "November 22, 2026"

/* ---- text ---- */

/* A character of text; a hyphen that begins an option is no hyphen. */
static void put_char(char c, int begins)
{
	if (c == '\\')
		fputs("\\e", stdout);
	else if (c == '-' && begins)
		fputs("\\-", stdout);
	else
		putchar(c);
}

static void put_word(const char *word, size_t length, int begins_line)
{
	int begins = 1;

	if (begins_line && (*word == '.' || *word == '\''))
		fputs("\\&", stdout);
	for (size_t i = 0; i < length; i++) {
		put_char(word[i], begins);
		begins = begins && !isalnum((unsigned char)word[i]);
	}
}

/* Whether a word ends a sentence, after which mdoc wants a new line. */
static int ends_sentence(const char *word, size_t length)
{
	while (length && strchr(")\"'", word[length - 1]))
		length--;
	return length && strchr(".!?", word[length - 1]);
}

static void put_text(const char *text)
{
	size_t at = 0, length;
	int ended = 0;

	while (*text) {
		if (*text == '\n') {
			fputs("\n.Pp\n", stdout);
			at = 0;
			text++;
			continue;
		}
		length = strcspn(text, " \n");
		if (at && (ended || at + 1 + length > WIDTH)) {
			putchar('\n');
			at = 0;
		}
		if (at)
			putchar(' ');
		put_word(text, length, at == 0);
		at += length + (at != 0);
		ended = ends_sentence(text, length);
		text += length;
		text += strspn(text, " ");
	}
	putchar('\n');
}

/* A line that is printed as it is. */
static void put_command(const char *line)
{
	puts(".Bd -literal -offset indent");
	for (; *line; line++)
		put_char(*line, *line == '-');
	puts("\n.Ed");
}

/* ---- rows ---- */

static void put_item(const struct tl_option *row)
{
	char *text;

	if (row->kind == TL_KIND_TERM) {
		printf(".It Sy %s%s\n", *row->name == '.' ? "\\&" : "", row->name);
		put_text(row->more);
		return;
	}
	fputs(".It ", stdout);
	if (row->letter)
		printf("Fl %c , ", row->letter);
	printf("Fl Fl %s%s%s\n", row->name, row->value ? " Ar " : "",
	       row->value ? row->value : "");
	text = tl_help_text(row);
	if (text)
		put_text(text);
	free(text);
}

/* What of a table is printed: everything, the sections with a place of their own, or the rest. */
enum part { ALL, MAIN, EXIT, EXAMPLES };

static enum part part_of(const char *section)
{
	if (strcmp(section, "Exit status") == 0)
		return EXIT;
	return strcmp(section, "Examples") == 0 ? EXAMPLES : MAIN;
}

static void set_list(int *open, int wanted)
{
	if (wanted && !*open)
		puts(".Bl -tag -width Ds");
	else if (!wanted && *open)
		puts(".El");
	*open = wanted;
}

static void put_row(const struct tl_option *row, enum part part, int is_after_title, int *open)
{
	int is_item = row->kind >= TL_KIND_FLAG || row->kind == TL_KIND_TERM;

	if (row->kind == TL_KIND_GIVEN)
		return;
	set_list(open, is_item);
	if (is_item) {
		put_item(row);
	} else if (row->kind == TL_KIND_SECTION && part == ALL) {
		printf(".Pp\n.Sy %s :\n", row->name);
	} else if (row->kind == TL_KIND_SECTION && part == MAIN) {
		printf(".Ss %s\n", row->name);
	} else if (row->kind == TL_KIND_PARAGRAPH) {
		if (part == ALL || (part == MAIN && !is_after_title))
			puts(".Pp");
		put_text(row->more);
	} else if (row->kind == TL_KIND_EXAMPLE) {
		if (part == ALL)
			puts(".Pp");
		put_text(row->more);
		put_command(row->name);
	}
}

static void put_table(const struct tl_option *table, enum part part)
{
	struct tl_rows rows = { .row = { table } };
	const struct tl_option *row, *before = NULL;
	enum part now = MAIN;
	int open = 0;

	while ((row = tl_rows_next(&rows))) {
		if (row->kind == TL_KIND_SECTION)
			now = part_of(row->name);
		if (part == ALL || part == now)
			put_row(row, part, before && before->kind == TL_KIND_SECTION, &open);
		before = row;
	}
	set_list(&open, 0);
}

/* ---- pages ---- */

/* Operands as arguments: "INDEX [QUERY]...". */
static void put_operands(const char *operands)
{
	for (; operands && *operands; operands += strspn(operands, " ")) {
		size_t length = strcspn(operands, " ");

		printf(".Ar %.*s\n", (int)length, operands);
		operands += length;
	}
}

static void put_usage(const struct tl_command *command)
{
	puts(".Nm");
	if (command->program)
		printf(".Cm %s\n", command->name);
	puts(".Op Ar OPTIONS");
	put_operands(command->operands);
}

static void put_commands(const struct tl_command *program)
{
	for (const struct tl_command *const *c = program->commands; *c; c++) {
		printf(".Ss %s %s\n", program->name, (*c)->name);
		put_usage(*c);
		puts(".Pp");
		if ((*c)->about)
			put_text((*c)->about);
		else
			printf("%c%s.\n", toupper((*c)->summary[0]), (*c)->summary + 1);
		put_table((*c)->options, ALL);
	}
}

static int has_part(const struct tl_option *table, enum part part)
{
	struct tl_rows rows = { .row = { table } };
	const struct tl_option *row;

	while ((row = tl_rows_next(&rows)))
		if (row->kind == TL_KIND_SECTION && part_of(row->name) == part)
			return 1;
	return 0;
}

static void put_head(const struct tl_command *program)
{
	puts(".\\\" SPDX-License-Identifier: MIT\n.\\\" Copyright the libsimidx authors");
	printf(".Dd %s\n.Dt ", DATE);
	for (const char *c = program->name; *c; c++)
		putchar(toupper(*c));
	puts(" 1\n.Os");
	printf(".Sh NAME\n.Nm %s\n.Nd %s\n.Sh SYNOPSIS\n", program->name, program->summary);
}

void mn_print_page(const struct tl_command *program, const struct tl_command *const *programs)
{
	const char *before = "";

	put_head(program);
	for (const struct tl_command *const *c = program->commands; c && *c; c++)
		put_usage(*c);
	if (!program->commands)
		put_usage(program);
	puts(".Sh DESCRIPTION");
	put_text(program->about);
	if (program->commands)
		puts(".Ss Options of every command\nThey may stand anywhere.");
	put_table(program->options, MAIN);
	if (program->commands)
		put_commands(program);
	if (has_part(program->options, EXIT)) {
		puts(".Sh EXIT STATUS");
		put_table(program->options, EXIT);
	}
	if (has_part(program->options, EXAMPLES)) {
		puts(".Sh EXAMPLES");
		put_table(program->options, EXAMPLES);
	}
	printf(".Sh SEE ALSO");
	for (; *programs; programs++)
		if (*programs != program) {
			printf("%s\n.Xr %s 1", before, (*programs)->name);
			before = " ,";
		}
	putchar('\n');
}
