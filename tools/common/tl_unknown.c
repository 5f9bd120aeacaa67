/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_unknown.h"

#include "common/tl_advice.h"
#include "common/tl_example.h"
#include "common/tl_msg.h"
#include "common/tl_others.h"

#include <string.h>
#include <sys/stat.h>

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
static void refuse_before(int letter, const char *spelled, const char *later, const char *owner)
{
	char alone[3] = { '-', (char)letter };

	if (later) {
		tl_usage_error("unknown option '%s'; the options of a command come behind it: %s "
			       "%s ...", letter ? alone : spelled, tl_program(), later);
		return;
	}
	if (!letter && strncmp(spelled + 2, owner, strlen(owner)) == 0)
		tl_example_mend(spelled, strlen(spelled), owner);
	else
		tl_example_mend(NULL, 0, owner);
	tl_usage_error("unknown option '%s'; a command comes first, such as: %s %s ...",
		       letter ? alone : spelled, tl_program(), owner);
}

static int is_file(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISREG(status.st_mode);
}

/* What a command writes has its place among the operands: the name of the second one; or NULL. */
static const char *place_of_output(const struct tl_command *command, int letter,
				   const char *spelled)
{
	const char *second = command->operands ? strchr(command->operands, ' ') : NULL;

	if (letter != 'o' && strncmp(spelled, "--out", 5) != 0)
		return NULL;
	return !second		       ? NULL :
	       strstr(second, "DEST")  ? "DEST" :
	       strstr(second, "[NEW]") ? "NEW" :
	       strcmp(second, " DIR")  ? NULL :
					 "DIR";
}

/* The word that begins with a letter which is no option; NULL if it stands behind others. */
static const char *word_of(int letter, char *const *next)
{
	const char *now = next[0], *last = next[-1];

	if (now && now[0] == '-' && now[1] == letter && now[2])
		return now;
	return last[0] == '-' && last[1] == letter && !last[2] ? last : NULL;
}

/* An option for output, with the value json. */
static int asks_for_json(const struct tl_unknown *unknown, const char *spelled)
{
	const char *value = strchr(spelled, '=') ? strchr(spelled, '=') + 1 : unknown->next[0];

	return tl_others_find("json", 4, unknown->names) && value &&
	       strncmp(value, "json", 4) == 0 &&
	       (unknown->letter == 'o' || strncmp(spelled, "--out", 5) == 0);
}

/* What its value tells: an order of files, or a directory for temporary ones. */
static const char *value_means(const struct tl_unknown *unknown, const char *spelled)
{
	static const char *const orders[] = { "time", "name", "mtime", "ctime", "size" };
	const char *value = strlen(spelled) == 2 ? unknown->next[0] : NULL;
	struct stat status;

	for (size_t i = 0; value && i < sizeof(orders) / sizeof(orders[0]); i++)
		if (unknown->letter == 'o' && strcmp(value, orders[i]) == 0)
			return tl_others_find("keep", 4, unknown->names);
	return unknown->letter == 'T' && value && !stat(value, &status) &&
			       S_ISDIR(status.st_mode) ?
		       tl_others_find("tmpdir", 6, unknown->names) : NULL;
}

void tl_unknown_refuse(const struct tl_unknown *unknown)
{
	const struct tl_command *command = unknown->command;
	const char *spelled = unknown->next[-1], *next = unknown->next[0];
	int letter = unknown->letter;
	const char *later = later_command(command, unknown->next);
	const char *owner = owner_of(command, letter, spelled);
	const char *place = place_of_output(command, letter, spelled);
	const char *meant = value_means(unknown, spelled);

	if (later || owner)
		refuse_before(letter, spelled, later, owner);
	else if (letter == '=')
		tl_usage_error("a letter has its value without '=': '%s'", next ? next : spelled);
	else if (letter && strchr("fi", letter) && next && is_file(next))
		tl_usage_error("unknown option '-%c'; files stand without an option", letter);
	else if (meant)
		tl_usage_error("unknown option '%s'; is --%s meant?", spelled, meant);
	else if (asks_for_json(unknown, spelled))
		tl_usage_error("unknown option '%s'; --json prints objects", spelled);
	else if (place)
		tl_usage_error("unknown option '%s'; %s is the operand after INDEX", spelled,
			       place);
	else if (letter)
		tl_refuse_letter(letter, word_of(letter, unknown->next), next, unknown->names,
				 unknown->letters);
	else
		tl_refuse_name(spelled, unknown->names);
}
