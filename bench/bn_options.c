/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "bn_options.h"

#include <getopt.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bn_util.h"

#define MAX_OPTIONS 32
#define LONG 256 /* what getopt_long() returns for the first option, if by name */

static const struct bn_option help = { 'h', "help", NULL, BN_FLAG, NULL, "" };

/* An option as in "-n, --documents N"; returns its length. */
static int describe(const struct bn_option *option, char text[64])
{
	const char letter[] = { '-', option->letter, ',', '\0' };

	return snprintf(text, 64, "%-3s --%s%s%s", option->letter ? letter : "", option->name,
			option->value ? " " : "", option->value ? option->value : "");
}

static void print_option(const struct bn_option *option, int column)
{
	const char *line = option->help;
	char text[64];

	describe(option, text);
	for (; *line; *text = '\0') {
		int n = (int)strcspn(line, "\n");

		printf("  %-*s  %.*s\n", column, text, n, line);
		line += n + (line[n] == '\n');
	}
	if (*text)
		printf("  %s\n", text);
}

static void print_help(const struct bn_usage *usage)
{
	int column = 0;
	char text[64];

	printf("usage: %s [OPTIONS]%s%s\n%s", bn_program, usage->most ? " " : "",
	       usage->most ? usage->operands : "", usage->about);
	for (const struct bn_option *option = usage->options; option->name; option++) {
		int n = describe(option, text);

		column = n > column ? n : column;
	}
	for (const struct bn_option *option = usage->options; option->name; option++)
		print_option(option, column);
	print_option(&help, column);
	if (usage->more)
		fputs(usage->more, stdout);
}

static uint64_t number(const struct bn_option *option, const char *text)
{
	uint64_t n;

	if (option->kind == BN_SMALL_0 && !strcmp(text, "0"))
		return 0;
	n = bn_number(option->name, text);
	if (option->kind != BN_COUNT && n > UINT_MAX)
		bn_die("%s: %s is too large", option->name, text);
	return n;
}

/* As the tools write sizes. */
static uint64_t bytes(const struct bn_option *option, const char *text)
{
	static const char units[] = "KMG";
	size_t n = strlen(text);
	const char *unit = n ? strchr(units, text[n - 1]) : NULL;
	char digits[32];
	uint64_t value;
	int shift = 0;

	if (unit && n <= sizeof(digits)) {
		snprintf(digits, sizeof(digits), "%.*s", (int)n - 1, text);
		text = digits;
		shift = 10 * (int)(unit - units + 1);
	}
	value = bn_number(option->name, text);
	if (value << shift >> shift != value)
		bn_die("%s: %s is too large", option->name, text);
	return value << shift;
}

static void set(const struct bn_option *option, const char *text)
{
	switch (option->kind) {
	case BN_FLAG:
		*(int *)option->to = 1;
		break;
	case BN_TEXT:
		*(const char **)option->to = text;
		break;
	case BN_COUNT:
		*(uint64_t *)option->to = number(option, text);
		break;
	case BN_BYTES:
		*(uint64_t *)option->to = bytes(option, text);
		break;
	case BN_SMALL:
	case BN_SMALL_0:
		*(unsigned *)option->to = (unsigned)number(option, text);
		break;
	}
}

/* The tables of getopt_long(); returns how many options there are. */
static int make_tables(const struct bn_usage *usage, struct option *longs, char *shorts)
{
	int n = 0;

	for (const struct bn_option *option = usage->options;; option++, n++) {
		const struct bn_option *is = option->name ? option : &help;

		longs[n] = (struct option){ is->name, is->value != NULL, NULL, LONG + n };
		if (is->letter)
			*shorts++ = is->letter;
		if (is->letter && is->value)
			*shorts++ = ':';
		if (is == &help)
			return n;
		if (n == MAX_OPTIONS)
			bn_die("too many options");
	}
}

/* An option that is unknown or lacks its value; other programs have some for an output. */
static void refuse(const struct bn_usage *usage, const char *word)
{
	char list[512] = "";

	for (const struct bn_option *o = usage->options; o->name && strlen(list) < 400; o++)
		sprintf(list + strlen(list), " --%.30s%s%.20s", o->name, o->value ? " " : "",
			o->value ? o->value : "");
	bn_die("'%s' is no option, or its value is missing; there are%s; results go to standard "
	       "output: > FILE; see --help", word, list);
}

int bn_parse(const struct bn_usage *usage, int argc, char **argv)
{
	struct option longs[MAX_OPTIONS + 2] = { 0 };
	char shorts[2 * MAX_OPTIONS + 4] = "";
	int n = make_tables(usage, longs, shorts), c, i;

	opterr = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		for (i = 0; i < n && c != LONG + i && c != usage->options[i].letter; i++)
			;
		if (i < n) {
			set(&usage->options[i], optarg);
		} else if (c == '?') {
			refuse(usage, argv[optind - 1]);
		} else {
			print_help(usage);
			exit(0);
		}
	}
	if (argc - optind < usage->least || argc - optind > usage->most)
		bn_die("%s expected; see --help", usage->most ? usage->operands : "only options");
	return optind;
}
