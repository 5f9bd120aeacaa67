/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_engines.h"
#include "common/tl_help.h"
#include "common/tl_msg.h"
#include "common/tl_output.h"

#include <locale.h>
#include <stdio.h>

static int run(struct qr_context *ctx, int argc, char **argv)
{
	const struct qr_command *command;
	int code = tl_parse(&qr_program, ctx, NULL, argc, argv), first = optind;

	if (code != TL_PROCEED)
		return code;
	if (first == argc) {
		tl_help_usage(stderr, &qr_program);
		tl_help_commands(stderr, &qr_program);
		return tl_usage_error("no command given");
	}
	command = (const struct qr_command *)(const void *)tl_find_command(&qr_program,
									    argv[first]);
	if (!command)
		return qr_refuse_command(argv + first);
	return qr_run(command, ctx, argc - first, argv + first);
}

int main(int argc, char **argv)
{
	struct qr_context ctx = { 0 };
	int code;

	tl_msg_init("simidx-query");
	tl_ignore_signals();
	tl_engines_add();
	/*
	 * So that wcwidth() knows how wide characters of UTF-8 are, whatever the user's locale is.
	 */
	setlocale(LC_CTYPE, "C.UTF-8");
	code = run(&ctx, argc, argv);
	simidx_close(ctx.index);
	tl_progress_clear();
	return tl_finish_output(code);
}
