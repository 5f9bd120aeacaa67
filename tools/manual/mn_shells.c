/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "manual/mn_manual.h"

#include <stdio.h>
#include <string.h>

/* ---- what values may be ---- */

/* What is proposed for the value of an option. */
struct values {
	char words[256]; /* with blanks between */
	int files;       /* names of files */
	int folders;     /* names of directories */
};

static void add_word(struct values *values, const char *word, int length)
{
	size_t used = strlen(values->words);

	snprintf(values->words + used, sizeof(values->words) - used, "%s%.*s", used ? " " : "",
		 length, word);
}

/* What a value is called tells what it may be: "auto|all|N" has two words, "FILE" is a file. */
static void find_values(const struct tl_option *row, struct values *values)
{
	const char *part = row->value;
	int length;

	memset(values, 0, sizeof(*values));
	for (size_t i = 0; row->kind == TL_KIND_WORD && row->words[i]; i++)
		add_word(values, row->words[i], (int)strlen(row->words[i]));
	while (part && *part) {
		length = (int)strcspn(part, "|");
		if (strncmp(part, "FILE", 4) == 0)
			values->files = 1;
		else if (strncmp(part, "DIR", 3) == 0 || strncmp(part, "INDEX", 5) == 0 ||
			 strncmp(part, "OTHER", 5) == 0)
			values->folders = 1;
		else if (row->kind != TL_KIND_WORD && *part >= 'a' && *part <= 'z')
			add_word(values, part, length);
		part += length + (part[length] == '|');
	}
}

/* The next option of a table, or NULL. */
static const struct tl_option *next_option(struct tl_rows *rows)
{
	const struct tl_option *row;

	while ((row = tl_rows_next(rows)) && row->kind < TL_KIND_FLAG)
		;
	return row;
}

/* The options of a command: its own, and then those of its program. */
static struct tl_rows rows_of(const struct tl_command *command)
{
	if (!command->program)
		return (struct tl_rows){ .row = { command->options } };
	return (struct tl_rows){ { command->program->options, command->options }, 1 };
}

/* The name of a program as that of a function. */
static void put_function(const struct tl_command *program)
{
	putchar('_');
	for (const char *c = program->name; *c; c++)
		putchar(*c == '-' ? '_' : *c);
}

static void put_command_names(const struct tl_command *program, const char *between)
{
	for (const struct tl_command *const *c = program->commands; *c; c++)
		printf("%s%s", c == program->commands ? "" : between, (*c)->name);
}

static const char licence[] = "# SPDX-License-Identifier: MIT\n"
			      "# Copyright the libsimidx authors\n";

/* ---- bash ---- */

/* Where the word after an option is not just a file: a line of a case. */
static void put_bash_values(const struct tl_command *command, const struct tl_option *row)
{
	struct values values;

	find_values(row, &values);
	printf("\t'%s --%s'", command->program || command->commands ? command->name : "",
	       row->name);
	if (row->letter)
		printf(" | '%s -%c'", command->program || command->commands ? command->name : "",
		       row->letter);
	fputs(") ", stdout);
	if (*values.words)
		printf("words='%s' ", values.words);
	printf("files=%s ;;\n", values.files ? "-f" : values.folders ? "-d" : "");
}

static void put_bash_options(const struct tl_command *command)
{
	struct tl_rows rows = rows_of(command);
	const struct tl_option *row;
	const char *between = "";

	printf("\t'%s ') options='", command->program ? command->name : "");
	for (; (row = next_option(&rows)); between = " ")
		printf("%s--%s", between, row->name);
	puts("' ;;");
}

static void put_bash_command(const struct tl_command *command)
{
	struct tl_rows rows = rows_of(command);
	const struct tl_option *row;

	while ((row = next_option(&rows)))
		if (row->value)
			put_bash_values(command, row);
}

void mn_print_bash(const struct tl_command *program)
{
	const struct tl_command *const *c;

	printf("# Completion of %s for bash.\n%s\n", program->name, licence);
	put_function(program);
	puts("()\n{\n"
	     "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
	     "\tlocal command= words= files=-f options= i\n\n"
	     "\t# \"--name=value\" comes as three words.\n"
	     "\t[ \"$word\" = = ] && word=\n"
	     "\t[ \"$before\" = = ] && before=${COMP_WORDS[COMP_CWORD - 2]}");
	if (program->commands) {
		puts("\tfor ((i = 1; i < COMP_CWORD; i++)); do\n\t\tcase ${COMP_WORDS[i]} in");
		fputs("\t\t", stdout);
		put_command_names(program, " | ");
		puts(") command=${COMP_WORDS[i]}; break ;;\n\t\tesac\n\tdone");
	}
	puts("\tcase \"$command $before\" in");
	for (c = program->commands; c && *c; c++)
		put_bash_command(*c);
	if (!program->commands)
		put_bash_command(program);
	if (program->commands) {
		fputs("\t' '* | 'help '*) files= words='", stdout);
		put_command_names(program, " ");
		puts("' ;;");
	}
	puts("\tesac\n\tcase \"$command \" in");
	for (c = program->commands; c && *c; c++)
		put_bash_options(*c);
	put_bash_options(program);
	puts("\tesac\n"
	     "\tcase $word in\n"
	     "\t-*) mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\") ;;\n"
	     "\t*)\n"
	     "\t\t[ -z \"$files\" ] || compopt -o filenames 2>/dev/null\n"
	     "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" ${files:+\"$files\"} -- "
	     "\"$word\")\n"
	     "\t\t;;\n"
	     "\tesac\n}");
	fputs("complete -F ", stdout);
	put_function(program);
	printf(" %s\n", program->name);
}

/* ---- zsh ---- */

/* A text within single quotes and a description of _arguments. */
static void put_zsh_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (strchr("[]:\\", *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void put_zsh_option(const struct tl_option *row)
{
	struct values values;

	find_values(row, &values);
	/* More than once is allowed to each: some may be repeated. */
	for (int letter = row->letter != 0; letter >= 0; letter--) {
		if (letter)
			printf("\t\t'*-%c%s[", row->letter, row->value ? "+" : "");
		else
			printf("\t\t'*--%s%s[", row->name, row->value ? "=" : "");
		put_zsh_text(row->help);
		putchar(']');
		if (row->value) {
			putchar(':');
			put_zsh_text(row->value);
			putchar(':');
			if (*values.words && values.files)
				printf("{compadd %s; _files}", values.words);
			else if (*values.words)
				printf("(%s)", values.words);
			else if (values.files)
				fputs("_files", stdout);
			else if (values.folders)
				fputs("_files -/", stdout);
		}
		puts("' \\");
	}
}

static void put_zsh_options(const struct tl_command *command)
{
	struct tl_rows rows = rows_of(command);
	const struct tl_option *row;

	while ((row = next_option(&rows)))
		put_zsh_option(row);
}

void mn_print_zsh(const struct tl_command *program)
{
	printf("#compdef %s\n%s\n", program->name, licence);
	if (!program->commands) {
		puts("_arguments -s -S \\");
		put_zsh_options(program);
		puts("\t\t'*:file:_files'");
		return;
	}
	puts("local -a commands\nlocal context state state_descr line\ntypeset -A opt_args\n"
	     "commands=(");
	for (const struct tl_command *const *c = program->commands; *c; c++) {
		printf("\t'%s:", (*c)->name);
		put_zsh_text((*c)->summary);
		puts("'");
	}
	puts(")\n_arguments -s -S -C \\");
	put_zsh_options(program);
	puts("\t\t'1:command:->command' '*::argument:->argument'\n\n"
	     "case $state in\ncommand) _describe command commands ;;\nargument)\n"
	     "\tcase $words[1] in");
	for (const struct tl_command *const *c = program->commands; *c; c++) {
		printf("\t%s)\n\t\t_arguments -s -S \\\n", (*c)->name);
		put_zsh_options(*c);
		if (strcmp((*c)->name, "help") == 0)
			puts("\t\t'1:command:{_describe command commands}' ;;");
		else
			puts("\t\t'*:file:_files' ;;");
	}
	puts("\tesac\n\t;;\nesac");
}

/* ---- fish ---- */

static void put_fish_text(const char *text)
{
	putchar('\'');
	for (; *text; text++)
		printf(*text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
	putchar('\'');
}

static void put_fish_table(const char *program, const struct tl_option *table,
			   const char *condition)
{
	struct tl_rows rows = { .row = { table } };
	const struct tl_option *row;
	struct values values;

	while ((row = next_option(&rows))) {
		find_values(row, &values);
		printf("complete -c %s%s -l %s", program, condition, row->name);
		if (row->letter)
			printf(" -s %c", row->letter);
		if (row->value)
			fputs(values.files || values.folders ? " -r -F" : " -x", stdout);
		if (*values.words)
			printf(" -a '%s'", values.words);
		fputs(" -d ", stdout);
		put_fish_text(row->help);
		putchar('\n');
	}
}

/* Whether a command is being typed, or none of them yet: its name is the first of such words. */
static void put_fish_condition(const struct tl_command *program)
{
	fputs("function _", stdout);
	put_function(program);
	fputs("\n\tfor word in (commandline -opc)[2..-1]\n\t\tif contains -- $word ", stdout);
	put_command_names(program, " ");
	puts("\n\t\t\ttest \"$word\" = \"$argv\"\n\t\t\treturn\n\t\tend\n\tend\n"
	     "\ttest -z \"$argv\"\nend\n");
}

void mn_print_fish(const struct tl_command *program)
{
	char name[64], condition[128];

	snprintf(name, sizeof(name), "__%s", program->name);
	for (char *c = name; *c; c++)
		*c = *c == '-' ? '_' : *c;
	printf("# Completion of %s for fish.\n%s\n", program->name, licence);
	if (program->commands)
		put_fish_condition(program);
	put_fish_table(program->name, program->options, "");
	for (const struct tl_command *const *c = program->commands; c && *c; c++) {
		printf("complete -c %s -n %s -f -a %s -d ", program->name, name, (*c)->name);
		put_fish_text((*c)->summary);
		putchar('\n');
		snprintf(condition, sizeof(condition), " -n '%s %s'", name, (*c)->name);
		put_fish_table(program->name, (*c)->options, condition);
	}
	if (program->commands) {
		printf("complete -c %s -n '%s help' -f -a '", program->name, name);
		put_command_names(program, " ");
		puts("'");
	}
}
