/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_unknown.h"

#include "common/tl_advice.h"
#include "common/tl_example.h"
#include "common/tl_msg.h"
#include "common/tl_others.h"
#include "common/tl_path.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The command that an option stands before, which would be one of its own. */
static const char *later_command(const struct tl_command *command, char *const *next)
{
	for (; command->commands && *next; next++)
		if (tl_find_command(command, *next))
			return *next;
	return NULL;
}

/* The first command that has an option, or is called so. */
static const char *owner_of(const struct tl_command *program, int letter, const char *spelled)
{
	const char *name = spelled + (strncmp(spelled, "--", 2) == 0 ? 2 : 0);
	size_t n = strcspn(name, "=");
	const struct tl_option *row;

	for (const struct tl_command *const *c = program->commands; c && *c; c++) {
		struct tl_rows rows = { .row = { (*c)->options } };

		if (!letter && strlen((*c)->name) == n && strncmp(name, (*c)->name, n) == 0)
			return (*c)->name;
		while ((row = tl_rows_next(&rows)))
			if (row->kind >= TL_KIND_FLAG &&
			    (letter ? row->letter == letter :
				      strlen(row->name) == n && !strncmp(name, row->name, n)))
				return (*c)->name;
	}
	return NULL;
}

/* The command stands first, and its options behind it. */
static void refuse_before(const char *spelled, const char *later, const char *owner)
{
	if (!later && spelled[1] == '-' && strncmp(spelled + 2, owner, strlen(owner)) == 0)
		tl_example_mend(spelled, strlen(spelled), owner);
	else if (!later)
		tl_example_mend(NULL, 0, owner);
	tl_usage_error("unknown option '%s'; %s: %s %s ...", spelled,
		       later ? "the options of a command come behind it" :
			       "a command comes first, such as",
		       tl_program(), later ? later : owner);
}

/*
 * The word that begins with a letter which is no option, or where it is the last letter of one;
 * NULL if it stands between others.
 */
static const char *word_of(int letter, char *const *next)
{
	const char *now = next[0], *last = next[-1];

	if (now && now[0] == '-' && now[1] == letter && now[2])
		return now;
	if (last[0] != '-' || last[strlen(last) - 1] != letter)
		return NULL;
	return last[2] ? last + strlen(last) - 1 : last;
}

/* A smaller number is hardly a limit in percent. */
#define LEAST_PERCENT 40

/* What its value tells: objects, a field, a size of memory, or a directory for temporary files. */
static const char *value_means(const struct tl_unknown *unknown, const char *spelled)
{
	const char *equals = strchr(spelled, '='), *value = equals ? equals + 1 : unknown->next[0];
	int letter = unknown->letter;

	if (!value || !*value)
		return NULL;
	if (((letter && strchr("oOf", letter)) || strncmp(spelled, "--out", 5) == 0) &&
	    (strcmp(value, "json") == 0 || (letter != 'f' && strncmp(value, "json", 4) == 0)))
		return tl_others_find("json", 4, unknown->names);
	if ((letter == 'f' || strncmp(spelled, "--type", 6) == 0) &&
	    tl_others_list("jsonl ndjson csv tsv", value))
		return tl_others_find("format", 6, unknown->names);
	if (strlen(spelled) != 2)
		return NULL;
	if (tl_path_is_directory(value) && !tl_path_is_index(value) && strchr("dfD", letter) &&
	    !tl_example_find("recursive"))
		return tl_others_find("recursive", 9, unknown->names);
	if (strchr("st", letter) && (*value == '.' || strncmp(value, "0.", 2) == 0))
		return tl_others_find("similarity", 10, unknown->names);
	if (strchr("tT", letter) && !value[strspn(value, "0123456789")] &&
	    (letter == 'T' || (atoi(value) > 1 && atoi(value) < LEAST_PERCENT)))
		return tl_others_find("threads", 7, unknown->names);
	if (letter == 'p' && !isdigit((unsigned char)*value))
		return tl_others_find("pairs", 5, unknown->names);
	if (letter == 't' && tl_path_is_index(value))
		return tl_others_find("text", 4, unknown->names);
	if (strchr("ct", letter) && isalpha((unsigned char)*value) && access(value, F_OK) &&
	    (letter == 't' || (unknown->next[0] && unknown->next[1])))
		return tl_others_find("text-field", 10, unknown->names);
	if (letter == 'f' && *value != '-' && strstr(unknown->command->shortest, "INPUT") &&
	    access(value, F_OK))
		return tl_others_find("text-field", 10, unknown->names);
	if (strchr("mS", letter) && isdigit((unsigned char)*value) &&
	    (letter == 'S' || !isdigit((unsigned char)value[strlen(value) - 1])))
		return tl_others_find("memory", 6, unknown->names);
	return letter == 'T' && tl_path_is_directory(value) ?
		       tl_others_find("tmpdir", 6, unknown->names) : NULL;
}

/* What to do instead of a letter alone, as the word behind it tells: an input, or an order. */
static const char *value_instead(const struct tl_unknown *unknown, const char *spelled)
{
	const char *next = unknown->next[0];

	if (tl_others_list("name iname", spelled) && next && strpbrk(next, "*?"))
		return tl_others_instead("glob", unknown->names);
	if (next && strstr(next, ".htm"))
		return tl_others_instead("html", unknown->names);
	if (unknown->letter == 't' && next && isalnum((unsigned char)*next) && unknown->next[1] &&
	    !unknown->next[2])
		return tl_others_instead("text-of-file", unknown->names);
	if (!unknown->letter || !next || strlen(spelled) != 2)
		return NULL;
	if (tl_path_is_index(next) && strchr("idI", unknown->letter))
		return tl_others_instead("index", unknown->names);
	if (strchr("fi", unknown->letter) && !access(next, F_OK) && !tl_path_is_index(next))
		return tl_others_instead("file", unknown->names);
	return unknown->letter == 'o' && tl_others_list("time name mtime ctime size", next) ?
		       tl_others_instead("order", unknown->names) : NULL;
}

void tl_unknown_refuse(const struct tl_unknown *unknown)
{
	const struct tl_command *command = unknown->command;
	const char *spelled = unknown->next[-1], *next = unknown->next[0];
	int letter = unknown->letter, has_more = letter && next && *next == '-' &&
						 next[1] == letter && strlen(next) > 3;
	const char alone[3] = { '-', (char)letter };
	const char *later = later_command(command, unknown->next);
	/* A long option with one dash, such as -limit. */
	const char *owner = has_more ? owner_of(command, 0, next + 1) : NULL;
	const char *shown = owner ? next : letter ? alone : spelled;
	const char *meant = value_means(unknown, spelled);
	const char *instead = value_instead(unknown, spelled);

	if (has_more && !owner && tl_refuse_long(next, unknown->names))
		return;
	owner = owner ? owner : owner_of(command, letter, spelled);
	if (later || owner)
		refuse_before(shown, later, owner);
	else if (letter == '=')
		tl_usage_error("a letter has its value without '=': '%s'", next ? next : spelled);
	else if (instead)
		tl_usage_error("unknown option '%s'; %s", spelled, instead);
	else if (meant)
		tl_refuse_meant(spelled, meant);
	else if (letter)
		tl_refuse_letter(letter, word_of(letter, unknown->next), next, unknown->names);
	else
		tl_refuse_name(spelled, unknown->names);
}
