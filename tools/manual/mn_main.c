/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Prints what is installed beside a tool: make_manual man|bash|zsh|fish PROGRAM
 */

#include <string.h>

#include "common/tl_msg.h"
#include "dedup/dd_options.h"
#include "load/ld_options.h"
#include "manual/mn_manual.h"
#include "query/qr_command.h"

int main(int argc, char **argv)
{
	static const struct tl_command *const programs[] = { &dd_command, &ld_command, &qr_program,
							     NULL };
	const struct tl_command *const *at = programs, *program;

	tl_msg_init("make_manual");
	if (argc != 3)
		return tl_error("expected man|bash|zsh|fish and the name of a program");
	while (*at && strcmp(argv[2], (*at)->name) != 0)
		at++;
	program = *at;
	if (!program)
		return tl_error("%s: no such program", argv[2]);
	if (strcmp(argv[1], "man") == 0)
		mn_print_page(program, programs);
	else if (strcmp(argv[1], "bash") == 0)
		mn_print_bash(program);
	else if (strcmp(argv[1], "zsh") == 0)
		mn_print_zsh(program);
	else if (strcmp(argv[1], "fish") == 0)
		mn_print_fish(program);
	else
		return tl_error("%s: no such output", argv[1]);
	return tl_finish_output(TL_OK);
}
