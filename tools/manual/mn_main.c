/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Prints what is installed beside a tool: make_manual man|bash|zsh|fish simidx-load|simidx-query
 */

#include <string.h>

#include "common/tl_msg.h"
#include "load/ld_options.h"
#include "manual/mn_manual.h"
#include "query/qr_command.h"

int main(int argc, char **argv)
{
	const struct tl_command *program, *other;

	tl_msg_init("make_manual");
	if (argc != 3)
		return tl_error("expected man|bash|zsh|fish simidx-load|simidx-query");
	program = strcmp(argv[2], ld_command.name) == 0 ? &ld_command : &qr_program;
	other = program == &ld_command ? &qr_program : &ld_command;
	if (strcmp(argv[1], "man") == 0)
		mn_print_page(program, other);
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
