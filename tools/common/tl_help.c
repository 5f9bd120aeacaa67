/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_help.h"

#include "common/tl_msg.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 80  /* of a terminal; the last column stays free */
#define COLUMN 26 /* where explanations begin */

/* Print words in lines that begin at `indent`; the first one begins where the cursor is. */
static void put_wrapped(FILE *out, const char *text, int indent)
{
	int at = indent, length;

	while (*text) {
		if (*text == '\n') {
			fprintf(out, "\n\n%*s", indent, "");
			at = indent;
			text++;
			continue;
		}
		length = (int)strcspn(text, " \n");
		if (at > indent && at + 1 + length >= WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		}
		if (at > indent) {
			fputc(' ', out);
			at++;
		}
		fwrite(text, 1, (size_t)length, out);
		at += length;
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

/* An option as in "  -k, --radius K"; returns its length. */
static int describe(const struct tl_option *row, char *out, size_t size)
{
	const char letter[] = { '-', row->letter, ',', '\0' };

	if (row->kind == TL_KIND_TERM)
		return snprintf(out, size, "  %s", row->name);
	return snprintf(out, size, "  %-3s --%s%s%s", row->letter ? letter : "", row->name,
			row->value ? " " : "", row->value ? row->value : "");
}

/* Whether the words of an option are to be named because its value does not do so. */
static int hides_words(const struct tl_option *row)
{
	return row->kind == TL_KIND_WORD && !strchr(row->value, '|');
}

static const char *default_of(const struct tl_option *row)
{
	return row->standard ? row->standard : row->otherwise;
}

char *tl_help_text(const struct tl_option *row)
{
	const char *text = row->more ? row->more : row->help, *between = " One of: ";
	char *out = NULL;
	size_t size;
	FILE *to = open_memstream(&out, &size);

	if (!to)
		return NULL;
	fprintf(to, "%c%s%s", toupper(*text), text + 1, row->more ? "" : ".");
	for (size_t i = 0; hides_words(row) && row->words[i]; i++, between = ", ")
		fprintf(to, "%s%s", between, row->words[i]);
	if (hides_words(row))
		fputc('.', to);
	if (default_of(row))
		fprintf(to, " (default: %s)", default_of(row));
	if (fclose(to)) {
		free(out);
		return NULL;
	}
	return out;
}

static void print_option(FILE *out, const struct tl_option *row)
{
	char name[160];
	int length = describe(row, name, sizeof(name));
	char *text = row->kind == TL_KIND_TERM ? NULL : tl_help_text(row);

	if (length > COLUMN - 2)
		fprintf(out, "%s\n%*s", name, COLUMN, "");
	else
		fprintf(out, "%-*s", COLUMN, name);
	put_wrapped(out, text ? text : row->more ? row->more : "", COLUMN);
	free(text);
}

/* A line; headings only where an option follows. */
static void print_briefly(FILE *out, const struct tl_option *row, const char **heading)
{
	char name[160];
	int written;

	if (row->kind == TL_KIND_SECTION)
		*heading = row->name;
	if (row->kind < TL_KIND_FLAG)
		return;
	if (*heading)
		fprintf(out, "%s:\n", *heading);
	*heading = NULL;
	describe(row, name, sizeof(name));
	written = fprintf(out, "%-*s %s", COLUMN - 1, name, row->help);
	/* One that makes the line too long is for --help. */
	if (default_of(row) &&
	    written + (int)strlen(" (default: )") + (int)strlen(default_of(row)) <= WIDTH)
		fprintf(out, " (default: %s)", default_of(row));
	fputc('\n', out);
}

static void print_fully(FILE *out, const struct tl_option *row, int after_heading)
{
	if (row->kind >= TL_KIND_FLAG || row->kind == TL_KIND_TERM) {
		print_option(out, row);
	} else if (row->kind == TL_KIND_SECTION) {
		fprintf(out, "\n%s:\n", row->name);
	} else if (row->kind == TL_KIND_PARAGRAPH) {
		if (!after_heading)
			fputc('\n', out);
		put_wrapped(out, row->more, 0);
	} else if (row->kind == TL_KIND_EXAMPLE) {
		fprintf(out, "  %s\n      ", row->name);
		put_wrapped(out, row->more, 6);
	}
}

static void print_table(FILE *out, const struct tl_option *table, const char *heading, int full)
{
	struct tl_rows rows = { .row = { table } };
	const struct tl_option *row;
	int after_heading = 0;

	if (heading && full)
		fprintf(out, "\n%s:\n", heading);
	while ((row = tl_rows_next(&rows))) {
		if (full)
			print_fully(out, row, after_heading);
		else
			print_briefly(out, row, &heading);
		after_heading = row->kind == TL_KIND_SECTION;
	}
}

void tl_help_usage(FILE *out, const struct tl_command *command)
{
	fprintf(out, "Usage: %s%s%s%s [OPTIONS]%s%s\n",
		command->program ? command->program->name : command->name,
		command->program ? " " : "", command->program ? command->name : "",
		command->commands ? " COMMAND" : "", command->operands ? " " : "",
		command->operands ? command->operands : "");
}

void tl_help_commands(FILE *out, const struct tl_command *program)
{
	for (const struct tl_command *const *c = program->commands; *c; c++)
		fprintf(out, "  %-8s  %s\n", (*c)->name, (*c)->summary);
}

const char *tl_help_tasks(const struct tl_command *command)
{
	static char list[512];
	struct tl_rows rows = { .row = { command->options } };
	const struct tl_option *row;
	size_t used = 0;

	if (command->tasks)
		return command->tasks;
	while ((row = tl_rows_next(&rows)))
		if (row->kind >= TL_KIND_FLAG && used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s--%s%s%s",
						 used ? ", " : "", row->name, row->value ? " " : "",
						 row->value ? row->value : "");
	return used || !command->program ? list : tl_help_tasks(command->program);
}

/* What may be asked of every command is told in full with the program alone. */
static void print_shared(FILE *out, const struct tl_command *command, int full)
{
	char text[1024];

	if (full) {
		print_table(out, command->program->options, "Options of every command", 1);
		return;
	}
	snprintf(text, sizeof(text), "Options of every command: %s",
		 tl_help_tasks(command->program));
	put_wrapped(out, text, 0);
}

int tl_help_print(const struct tl_command *command, int full)
{
	FILE *out = stdout;

	tl_help_usage(out, command);
	if (full && command->about) {
		fputc('\n', out);
		put_wrapped(out, command->about, 0);
	} else {
		fprintf(out, "%c%s.\n", toupper(command->summary[0]), command->summary + 1);
	}
	if (command->commands) {
		fputs(full ? "\nCommands:\n" : "Commands:\n", out);
		tl_help_commands(out, command);
	}
	print_table(out, command->options, command->commands ? "Options of every command" : NULL,
		    full);
	if (command->program)
		print_shared(out, command, full);
	if (!full && command->program)
		fprintf(out, "In full: %s help %s\n", command->program->name, command->name);
	else if (!full)
		fprintf(out, "In full: %s --help\n", command->name);
	return TL_OK;
}
