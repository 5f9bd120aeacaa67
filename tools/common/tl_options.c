/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_options.h"

#include "common/tl_advice.h"
#include "common/tl_example.h"
#include "common/tl_help.h"
#include "common/tl_msg.h"
#include "common/tl_others.h"
#include "common/tl_path.h"
#include "common/tl_unknown.h"
#include "common/tl_value.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <simidx_info.h>
#include <simidx_text.h>

/* More options than any command has, those of its groups and of all commands included. */
#define MAX_OPTIONS 96

/* What getopt_long() returns for the first option if it is given by name. */
#define BY_NAME 256

/* ---- rows ---- */

const struct tl_option *tl_rows_next(struct tl_rows *rows)
{
	const struct tl_option *row;

	while (rows->depth >= 0) {
		row = rows->row[rows->depth];
		if (row->kind == TL_KIND_END) {
			rows->depth--;
			continue;
		}
		rows->row[rows->depth]++;
		if (row->kind != TL_KIND_GROUP)
			return row;
		rows->row[++rows->depth] = row->group;
	}
	return NULL;
}

/* An option that can be given, and where its values go. */
struct slot {
	const struct tl_option *row;
	char *base;
	char *given; /* where the name of the first given one is kept, or NULL */
	int is_given;
	const char *value, *earlier; /* as it was typed, and another one before it; or NULL */
};

/* All that getopt_long() and those who ask it need. */
struct slots {
	struct slot of[MAX_OPTIONS];
	int n;
	struct option longs[MAX_OPTIONS + 1];
	char shorts[2 * MAX_OPTIONS + 3];
};

static void add_slot(struct slots *slots, const struct tl_option *row, char *base, char *given)
{
	int i = slots->n;
	size_t end = strlen(slots->shorts);

	if (i == MAX_OPTIONS)
		return;
	slots->n++;
	slots->of[i] = (struct slot){ .row = row, .base = base, .given = given };
	slots->longs[i] = (struct option){ row->name, row->value != NULL, NULL, BY_NAME + i };
	if (!row->letter)
		return;
	slots->shorts[end++] = row->letter;
	if (row->value)
		slots->shorts[end] = ':';
}

static void add_table(struct slots *slots, const struct tl_option *table, char *base)
{
	char *given = NULL;

	for (const struct tl_option *row = table; row->kind != TL_KIND_END; row++) {
		if (row->kind == TL_KIND_GROUP)
			add_table(slots, row->group, base + row->at);
		else if (row->kind == TL_KIND_GIVEN)
			given = base + row->at;
		else if (row->kind >= TL_KIND_FLAG)
			add_slot(slots, row, base, given);
	}
}

/* ---- the command line ---- */

static void list_names(const struct slots *slots, const char *names[MAX_OPTIONS + 1])
{
	for (int i = 0; i < slots->n; i++)
		names[i] = slots->longs[i].name;
	names[slots->n] = NULL;
}

/* The option that getopt_long() returns so; NULL if it is unknown. */
static struct slot *find_slot(struct slots *slots, int c)
{
	for (int i = 0; i < slots->n; i++)
		if (c == BY_NAME + i || c == slots->of[i].row->letter)
			return &slots->of[i];
	return NULL;
}

/* Whether an index stands before the last word that was read. */
static int has_index_before(char **argv)
{
	int i = 1;

	while (i < optind - 1 && !tl_path_is_uri(argv[i]) && !tl_path_is_index(argv[i]))
		i++;
	return i < optind - 1;
}

/* What getopt_long() makes of an option that it does not take. */
static void refuse(const struct tl_command *command, struct slots *slots, int c, char **argv)
{
	const char *spelled = argv[optind - 1], *names[MAX_OPTIONS + 1];
	const struct tl_unknown unknown = { command, names, optopt, argv + optind };
	char right[512];

	list_names(slots, names);
	if (c == ':' && tl_means_other(spelled, names)) {
		tl_refuse_name(spelled, names);
	} else if (c == ':') {
		const struct tl_option *row = find_slot(slots, optopt)->row;

		if (tl_example_value(row)) {
			snprintf(right, sizeof(right), "%s %s", spelled, tl_example_value(row));
			tl_example_mend(spelled, strlen(spelled), right);
		}
		tl_usage_error("option '%s' needs a value: %s %s", spelled, spelled, row->value);
	} else if (optopt >= BY_NAME) {
		/* What a flag is about are operands, behind INDEX, unless it is only turned on. */
		const char *value = strchr(spelled, '=');

		if (tl_others_list("true yes on", value + 1))
			tl_example_mend(value, strlen(value), "");
		else if (strncmp(spelled, "--times=", 8) == 0)
			tl_example_mend(value, 1, " --time ");
		else if (command->program ? has_index_before(argv) : !access(value + 1, F_OK))
			tl_example_mend(value, 1, " ");
		tl_usage_error("option '%s' takes no value: --%s", spelled,
			       find_slot(slots, optopt)->row->name);
	} else {
		tl_unknown_refuse(&unknown);
	}
}

/* A long option that is cut, of which other programs have what is left as another one. */
static int is_misread(const struct slots *slots, const struct tl_option *row, char **argv)
{
	const char *spelled = optarg == argv[optind - 1] ? argv[optind - 2] : argv[optind - 1];
	const char *names[MAX_OPTIONS + 1];

	if (strcspn(spelled, "=") >= strlen(row->name) + 2)
		return 0;
	list_names(slots, names);
	if (!tl_means_other(spelled, names))
		return 0;
	tl_refuse_name(spelled, names);
	return 1;
}

/* A letter whose value makes it a long option with one dash. */
static int is_long(const struct slots *slots, char **argv)
{
	const char *names[MAX_OPTIONS + 1];

	if (!optarg || optarg == argv[optind - 1])
		return 0;
	list_names(slots, names);
	if (*optarg == '=' && optarg[1] && argv[optind - 1][2] == '=') {
		tl_example_mend(optarg, 1, " ");
		return tl_usage_error("a letter has its value without '=': '%s'", argv[optind - 1]);
	}
	return tl_refuse_long(argv[optind - 1], names);
}

/* No file and no index has an empty name; a script wrote "$name" without a value. */
static int refuse_empty(const struct tl_command *command, int n, char **operands)
{
	const char *word = command->operands;
	int length;

	for (int i = 0; i < n; i++) {
		word += *word == '[';
		length = (int)strcspn(word, " .]");
		if (!*operands[i] && strncmp(word, "QUERY", 5) != 0 && strncmp(word, "KEY", 3) != 0)
			return tl_usage_error("%s%s%.*s is empty",
					      command->program ? command->name : "",
					      command->program ? ": " : "", length, word);
		if (strchr(word, ' '))
			word = strchr(word, ' ') + 1;
	}
	return TL_PROCEED;
}

/* An option whose value is there and may be what is missing. */
static struct { const char *name, *value; } taken;

/* Whether the value of an option may be the operand that is missing: of an index also where there
   is none yet, as a command may make it; of an input only where there is one. */
static int may_be_operand(const struct tl_command *command, const char *value)
{
	return strncmp(command->operands, "INDEX", 5) == 0 ||
	       (access(value, F_OK) == 0 && !tl_path_is_index(value));
}

static int refuse_missing(const char *prefix, int length, const char *word, const char *advice)
{
	if (taken.name)
		return tl_usage_error("%s%.*s is missing: --%s has taken '%s'%s", prefix, length,
				      word, taken.name, taken.value,
				      strcmp(taken.name, "text-field") ? "" :
				      "; a file is one text without it");
	tl_example_complete();
	return tl_usage_error("%s%.*s is missing%s", prefix, length, word, advice);
}

#define DASH ": '-' is standard input"

int tl_refuse_no_input(void)
{
	if (isatty(STDIN_FILENO))
		return refuse_missing("", 5, "INPUT", "");
	if (tl_example_find("merge")) {
		tl_example_is("simidx-load --merge-only INDEX");
		return tl_usage_error("INPUT is missing; --merge-only INDEX merges what it has");
	}
	if (tl_example_find("null") && !taken.name)
		tl_example_mend(NULL, 0, "--files-from -");
	return refuse_missing("", 5, "INPUT", DASH ", and --files-from - a list of names there");
}

int tl_refuse_no_index(const char *input)
{
	if (taken.name)
		return refuse_missing("", 5, "INDEX", "");
	tl_example_mend(NULL, 0, tl_path_is_directory(input) && !tl_example_find("recursive") ?
					 "-r INDEX" : "INDEX");
	return tl_usage_error("INDEX is missing: it comes before INPUT");
}

/* What an operand that is one too many may be meant to be. */
static const char *advise_more(const struct tl_command *command, const char *word)
{
	if (strcmp(command->name, "review") == 0) {
		int is_page = strstr(word, ".htm") != NULL;

		tl_example_mend(word, 0, is_page ? "--html " : "--row ");
		return is_page ? "; --html PAGE writes a page" :
				 "; --row NAME shows the pairs of a row";
	}
	return strcmp(command->operands, "INDEX") || !access(word, F_OK) ? "" :
	       word[strspn(word, "0123456789")] ? "; results go to standard output: > FILE" :
		       "; 'simidx-query get --id INDEX N' looks a document up";
}

/* The number of operands fits, or say what is missing. */
static int check_operands(const struct tl_command *command, int n, char **operands)
{
	const char *word = command->operands;
	char prefix[32] = "";
	int length, i;

	if (command->program)
		snprintf(prefix, sizeof(prefix), "%s: ", command->name);
	if (n > command->most && strcmp(word, "INDEX") == 0 && tl_path_is_file(operands[0]) &&
	    tl_path_is_file(operands[1]))
		return tl_usage_error("%s'%s' is a file and no index; simidx-dedup compares files",
				      prefix, operands[0]);
	if (n > command->most && command->most)
		return tl_usage_error("%sone argument too many: '%s'%s", prefix,
				      operands[command->most],
				      advise_more(command, operands[command->most]));
	if (n > command->most)
		return tl_usage_error("%stakes no arguments, found '%s'", prefix, operands[0]);
	if (n == 1 && command->program && command->least && strcmp(operands[0], "help") == 0 &&
	    access("help", F_OK)) {
		tl_example_mend(operands[0], 0, "--");
		return tl_usage_error("%sthere is no '%s'; --help explains the command", prefix,
				      operands[0]);
	}
	if (n >= command->least)
		return refuse_empty(command, n, operands);
	if (n == 1 && strncmp(word, "INDEX QUERY", 11) == 0 && strlen(operands[0]) >= 8 &&
	    !operands[0][strspn(operands[0], "0123456789abcdefABCDEF")] &&
	    access(operands[0], F_OK)) {
		tl_example_mend(operands[0], 0, "INDEX ");
		return tl_usage_error("%sINDEX is missing: it comes before QUERY", prefix);
	}
	for (i = 0; i < n && strchr(word, ' '); i++)
		word = strchr(word, ' ') + 1;
	length = (int)strcspn(word, " .");
	return refuse_missing(prefix, length, word,
			      isatty(STDIN_FILENO) ||
				      (strncmp(word, "INPUT", 5) && strncmp(word, "QUERY", 5)) ?
				      "" : DASH);
}

static int print_version(void)
{
	printf("%s %s\n", tl_program(), simidx_version());
	printf("%s\n", simidx_build_info());
	printf("%s\n", simidx_text_build_info());
	return TL_OK;
}

/* A second value, other than the first: of two files one would be forgotten. */
static int refuse_second(struct slot *slot, const char *value)
{
	const struct tl_option *row = slot->row;
	const char *first = slot->value;

	slot->value = value;
	if (!first || !value || strcmp(first, value) == 0 || row->may_repeat ||
	    row->kind == TL_KIND_LIST || row->kind == TL_KIND_NUMBER ||
	    row->kind == TL_KIND_COUNT || row->kind == TL_KIND_SIZE)
		return 0;
	slot->earlier = first;
	if (!row->otherwise && (strcmp(row->value, "FILE") == 0 ||
				strcmp(row->value, "DIR") == 0 || strcmp(row->value, "INDEX") == 0))
		return tl_usage_error("--%s is given twice: leave out '%s' or '%s'", row->name,
				      first, value);
	return 0;
}

static void tell_earlier(const struct slots *slots)
{
	for (int i = 0; i < slots->n; i++)
		if (slots->of[i].row->letter == 'q' && slots->of[i].is_given)
			return;
	for (int i = 0; i < slots->n; i++)
		if (slots->of[i].earlier)
			tl_notice("--%s %s does not count, as --%s %s comes after it",
				  slots->of[i].row->name, slots->of[i].earlier,
				  slots->of[i].row->name, slots->of[i].value);
}

/* A number as it is spoken, such as 50 million. */
static int refuse_spoken(const struct tl_option *row, const char *next)
{
	if (next && strcmp(row->value, "DATE") == 0 &&
	    tl_others_list("day days week weeks hour hours month months year years", next))
		return tl_usage_error("--%s %s %s: times are such as 30d, 4w or 12h", row->name,
				      optarg, next);
	if (!next || row->kind != TL_KIND_COUNT ||
	    !tl_others_list("thousand million billion", next))
		return 0;
	return tl_usage_error("--%s %s %s: numbers are such as 5000, 50M or 1e9", row->name,
			      optarg, next);
}

/*
 * An option that has been taken for the value of the one before it. A file, directory or index of
 * such a name is written behind '='.
 */
static int refuse_option(const struct tl_option *row, char **argv)
{
	int is_path = row->value && tl_others_list("file dir index other", row->value);
	char right[64];

	if (!optarg || optarg != argv[optind - 1] || *optarg != '-' || !optarg[1] ||
	    !(is_path || (optarg[1] == '-' && tl_example_has(optarg + 2))))
		return 0;
	if (tl_example_value(row)) {
		snprintf(right, sizeof(right), "%s ", tl_example_value(row));
		tl_example_mend(optarg, 0, right);
	}
	return tl_usage_error("option '--%s' needs a value: --%s %s%s%s%s", row->name, row->name,
			      row->value, is_path ? ", found '" : "", is_path ? optarg : "",
			      is_path ? "'" : "");
}

static int take_all(const struct tl_command *command, struct slots *slots, int argc,
		    char **argv)
{
	const struct tl_command *named;
	struct slot *slot;
	int c;

	while ((c = getopt_long(argc, argv, slots->shorts, slots->longs, NULL)) != -1) {
		slot = c == '?' || c == ':' ? NULL : find_slot(slots, c);
		if (!slot) {
			refuse(command, slots, c, argv);
			return TL_TROUBLE;
		}
		if (c >= BY_NAME ? is_misread(slots, slot->row, argv) : is_long(slots, argv))
			return TL_TROUBLE;
		/* Of the program, or of the command that is named behind it. */
		named = command->commands && argv[optind] ? tl_find_command(command, argv[optind]) :
							    NULL;
		if (slot->row->kind == TL_KIND_HELP)
			return tl_help_print(named ? named : command, c >= BY_NAME);
		if (slot->row->kind == TL_KIND_VERSION)
			return print_version();
		if (slot->given && !*(const char **)(void *)slot->given)
			*(const char **)(void *)slot->given = slot->row->name;
		slot->is_given = 1;
		if (strcmp(slot->row->name, "header") == 0 && argv[optind] &&
		    access(argv[optind], F_OK) && tl_others_list("true yes on", argv[optind])) {
			tl_example_mend(argv[optind], strlen(argv[optind]), "");
			return tl_usage_error("--header takes no value, found '%s'",
					      argv[optind]);
		}
		if (refuse_option(slot->row, argv) ||
		    refuse_second(slot, optarg) || tl_value_set(slot->row, slot->base, optarg) ||
		    (optarg && refuse_spoken(slot->row, argv[optind])))
			return TL_TROUBLE;
		if (optarg &&
		    (slot->row->kind == TL_KIND_TEXT || slot->row->kind >= TL_KIND_LIST) &&
		    may_be_operand(command, optarg)) {
			taken.name = slot->row->name;
			taken.value = optarg;
		}
	}
	tell_earlier(slots);
	if (command->commands)
		return TL_PROCEED;
	return check_operands(command, argc - optind, argv + optind);
}

int tl_parse(const struct tl_command *command, void *options, void *shared, int argc,
	     char **argv)
{
	struct slots slots = { .n = 0 };

	/* "+": what comes after the name of a command belongs to the command. */
	strcpy(slots.shorts, command->commands ? "+:" : ":");
	add_table(&slots, command->options, options);
	for (int i = 0; i < slots.n; i++)
		if (slots.of[i].row->standard &&
		    tl_value_set(slots.of[i].row, slots.of[i].base,
				 (char *)slots.of[i].row->standard))
			return TL_TROUBLE; /* the table is wrong */
	if (command->program)
		add_table(&slots, command->program->options, shared);
	tl_set_command(command->program ? command->name : NULL);
	tl_example_set(command, argv + 1);
	opterr = 0;
	optind = 0; /* not 1: getopt_long() then forgets where it was */
	return take_all(command, &slots, argc, argv);
}

unsigned tl_threads(unsigned given)
{
	long n = given ? (long)given : sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > TL_MAX_THREADS ? TL_MAX_THREADS : (unsigned)n;
}

const struct tl_command *tl_find_command(const struct tl_command *program, const char *name)
{
	for (const struct tl_command *const *c = program->commands; *c; c++)
		if (strcmp((*c)->name, name) == 0)
			return *c;
	return NULL;
}
