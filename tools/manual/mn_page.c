/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "manual/mn_manual.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/tl_help.h"

#define WIDTH 74 /* of lines in the source of a page, without escapes: 80 with them */

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

/* What of a table is printed: the sections with a place of their own, or the rest. */
enum part { MAIN, EXIT, EXAMPLES };

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
	} else if (row->kind == TL_KIND_SECTION && part == MAIN) {
		printf(".Ss %s\n", row->name);
	} else if (row->kind == TL_KIND_PARAGRAPH) {
		if (part == MAIN && !is_after_title)
			puts(".Pp");
		put_text(row->more);
	} else if (row->kind == TL_KIND_EXAMPLE) {
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
		if (part == now)
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

/* The name of the page of a program or command: "simidx-query-search". */
static void put_page(const struct tl_command *command)
{
	printf("%s%s%s", command->program ? command->program->name : "",
	       command->program ? "-" : "", command->name);
}

/* Each command in a line, with its page. */
static void put_commands(const struct tl_command *program)
{
	puts(".Ss Commands\n.Bl -tag -width Ds");
	for (const struct tl_command *const *c = program->commands; *c; c++) {
		fputs(".It Xr ", stdout);
		put_page(*c);
		printf(" 1\n%c%s.\n", toupper((*c)->summary[0]), (*c)->summary + 1);
	}
	puts(".El");
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

/* A date of the changelog, "2026-11-27", as mdoc wants it. */
static void put_date(const char *date)
{
	static const char *const months[] = { "January", "February", "March", "April", "May",
					      "June", "July", "August", "September", "October",
					      "November", "December" };
	unsigned year, month, day;

	if (sscanf(date, "%4u-%2u-%2u", &year, &month, &day) == 3 && month >= 1 && month <= 12)
		printf(".Dd %s %u, %u\n", months[month - 1], day, year);
	else
		printf(".Dd %s\n", date);
}

static void put_head(const struct tl_command *command, const char *date)
{
	puts(".\\\" SPDX-License-Identifier: MIT\n.\\\" Copyright the libsimidx authors");
	put_date(date);
	fputs(".Dt ", stdout);
	for (const char *c = command->program ? command->program->name : ""; *c; c++)
		putchar(toupper(*c));
	fputs(command->program ? "-" : "", stdout);
	for (const char *c = command->name; *c; c++)
		putchar(toupper(*c));
	puts(" 1\n.Os\n.Sh NAME");
	fputs(".Nm ", stdout);
	put_page(command);
	printf("\n.Nd %s\n.Sh SYNOPSIS\n", command->summary);
}

/* The usage of a command begins with the name of its program, which is not that of the page. */
static void put_synopsis(const struct tl_command *command)
{
	if (command->program)
		printf(".Nm %s\n.Cm %s\n.Op Ar OPTIONS\n", command->program->name, command->name);
	else
		puts(".Nm\n.Op Ar OPTIONS");
	put_operands(command->operands);
}

static void put_part(const struct tl_command *command, enum part part, const char *title)
{
	if (!has_part(command->options, part))
		return;
	printf(".Sh %s\n", title);
	put_table(command->options, part);
}

static void put_surroundings(void)
{
	puts(".Sh ENVIRONMENT\n.Bl -tag -width Ds\n.It Ev TMPDIR\n"
	     "The directory of temporary files, unless\n.Fl Fl tmpdir\nnames another one.\n"
	     ".It Ev NO_COLOR\nIf it is set, output on a terminal has no colours.\n.El\n"
	     ".Sh FILES\nAn index is a directory:\n.Bl -tag -width Ds\n"
	     ".It Pa data.mdb\nAll that the index holds.\n"
	     ".It Pa lock.mdb\nWho reads it.\n"
	     ".It Pa write.lock\nWho writes it.\n"
	     ".It Pa dedup.seen\nWhich texts need no search by simidx-dedup, and what finds most\n"
	     "copies.\n"
	     ".It Pa .simidx-*\nBeside the index: a new one that is being built.\n"
	     "What a killed run has left there is removed by the next one.\n.El");
}

/* The pages of the other programs. */
static void put_see_also(const struct tl_command *command, const struct tl_command *const *programs)
{
	const char *before = ".Sh SEE ALSO\n.Xr ";

	for (; *programs; programs++)
		if (*programs != command) {
			printf("%s%s 1", before, (*programs)->name);
			before = " ,\n.Xr ";
		}
	putchar('\n');
}

void mn_print_page(const struct tl_command *command, const char *date,
		   const struct tl_command *const *programs)
{
	put_head(command, date);
	put_synopsis(command);
	puts(".Sh DESCRIPTION");
	if (command->about)
		put_text(command->about);
	else
		printf("%c%s.\n", toupper(command->summary[0]), command->summary + 1);
	if (command->commands) {
		put_commands(command);
		puts(".Ss Options of every command\nThey may stand anywhere.");
	}
	put_table(command->options, MAIN);
	if (command->program)
		printf(".Ss Options of every command\n.Xr %s 1\nlists them.\n",
		       command->program->name);
	put_surroundings();
	put_part(command, EXIT, "EXIT STATUS");
	if (command->commands)
		puts(".Sh EXIT STATUS\n0: done, and what was asked for was found.\n"
		     "1: nothing was found, or something is damaged.\n"
		     "2: it could not be done.\nThe page of each command says more.");
	put_part(command, EXAMPLES, "EXAMPLES");
	put_see_also(command, programs);
}
