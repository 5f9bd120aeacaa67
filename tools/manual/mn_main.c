/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Prints what is installed beside a tool: make_manual man PROGRAM[-COMMAND] DATE, or
 * make_manual bash|zsh|fish PROGRAM
 */

#include <string.h>

#include "common/tl_msg.h"
#include "common/tl_output.h"
#include "dedup/dd_options.h"
#include "load/ld_options.h"
#include "manual/mn_manual.h"
#include "query/qr_command.h"

/* Find a program, or with `of_command` one of its commands by the name of its page. */
static const struct tl_command *find(const struct tl_command *const *programs, const char *name,
				     int of_command)
{
	size_t length;

	for (; *programs; programs++) {
		length = strlen((*programs)->name);
		if (strcmp(name, (*programs)->name) == 0)
			return *programs;
		if (!of_command || !(*programs)->commands ||
		    strncmp(name, (*programs)->name, length) != 0 || name[length] != '-')
			continue;
		for (const struct tl_command *const *c = (*programs)->commands; *c; c++)
			if (strcmp(name + length + 1, (*c)->name) == 0)
				return *c;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct tl_command *const programs[] = { &dd_command, &ld_command, &qr_program,
							     NULL };
	const struct tl_command *command;
	int is_page = argc == 4 && strcmp(argv[1], "man") == 0;

	tl_msg_init("make_manual");
	if (argc != 3 && !is_page)
		return tl_error("expected man, a page and a date; or bash|zsh|fish and a program");
	command = find(programs, argv[2], is_page);
	if (!command)
		return tl_error("%s: no such program or command", argv[2]);
	if (is_page)
		mn_print_page(command, argv[3], programs);
	else if (strcmp(argv[1], "bash") == 0)
		mn_print_bash(command);
	else if (strcmp(argv[1], "zsh") == 0)
		mn_print_zsh(command);
	else if (strcmp(argv[1], "fish") == 0)
		mn_print_fish(command);
	else
		return tl_error("%s: no such output", argv[1]);
	return tl_finish_output(TL_OK);
}
