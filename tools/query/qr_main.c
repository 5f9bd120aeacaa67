/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_options.h"
#include "input/in_guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct qr_command *const commands[] = {
	&qr_search, &qr_get,    &qr_similar, &qr_stats, &qr_dump,
	&qr_verify, &qr_backup, &qr_idf,     &qr_plan,
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const char *const global_help[] = {
	"Global options, before INDEX:",
	"  --static     nobody writes to the index meanwhile: take no locks. For an index",
	"               on a read-only file system or one that belongs to somebody else",
	"  --json       print JSON, one object a line",
	"  --input FILE, -F, --format FORMAT",
	"               for INDEX '-', which is no stored index: what there is instead.",
	"               Files and formats as in simidx-load; --input may be repeated",
	"  --threads N  that search (default one a core)",
	"  --directory auto|never|MAX",
	"               memory for block indexes, which make many searches faster: as it",
	"               pays (default), none, or at most MAX bytes; K, M or G may follow",
	"  --force      accept a network file system, at your own risk",
	"  -q, --quiet  no progress, notices and summaries",
	"  --help, --version   print this or the version, and stop",
	"",
	"'simidx-query INDEX COMMAND --help' describes a command.",
	"",
	"Exit status: 0 something matched, all done; 1 nothing matched, something was not",
	"found, damage was found; 2 it could not be done.",
	NULL
};

static int print_help(void)
{
	size_t i;

	puts("Usage: simidx-query [GLOBAL]... INDEX COMMAND [OPTION]... [ARGUMENT]...\n\n"
	     "Search and inspect the near-duplicate index INDEX (a directory).\n\n"
	     "Commands:");
	for (i = 0; i < N_COMMANDS; i++)
		printf("  %-8s %s\n", commands[i]->name, commands[i]->summary);
	return tl_print_help(global_help);
}

static const struct qr_command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

/* Options without a letter. */
enum long_option {
	OPT_DIRECTORY = TL_LONG_OPTION,
	OPT_FORCE,
	OPT_HELP,
	OPT_INPUT,
	OPT_JSON,
	OPT_KERNEL,
	OPT_STATIC,
	OPT_THREADS,
	OPT_VERSION
};

static int add_input(struct in_files_options *inputs, char *path)
{
	char **larger = realloc(inputs->operands, (inputs->n_operands + 1) * sizeof(*larger));

	if (!larger)
		return tl_error("out of memory");
	inputs->operands = larger;
	larger[inputs->n_operands++] = path;
	return 0;
}

/* Standard input has no name that tells its format. */
static int check_inputs(const struct in_files_options *inputs, int has_index)
{
	if (has_index && (inputs->n_operands || inputs->format))
		return tl_usage_error("--input and -F go with the INDEX '-'");
	for (size_t i = 0; i < inputs->n_operands; i++)
		if (strcmp(inputs->operands[i], "-") == 0 && !inputs->format)
			return tl_usage_error("standard input needs its format: -F FORMAT");
	return 0;
}

#define MAX_THREADS 256 /* the library has no use for more */

static int set_directory(struct qr_context *ctx, const char *text)
{
	if (strcmp(text, "auto") == 0) {
		ctx->directory = 0;
	} else if (strcmp(text, "never") == 0) {
		ctx->directory = SIMIDX_BLOCK_INDEX_NEVER;
	} else if (tl_parse_bytes(text, strlen(text), UINT64_MAX / 2, &ctx->directory) ||
		   !ctx->directory) {
		return tl_usage_error("--directory: expected auto, never or a size such as 400M, "
				      "found '%s'",
				      text);
	}
	return 0;
}

/* How searches work, not what they find. Returns 0 or TL_TROUBLE. */
static int take_search_global(struct qr_context *ctx, int c)
{
	uint64_t number;

	switch (c) {
	case OPT_DIRECTORY:
		return set_directory(ctx, optarg);
	case OPT_KERNEL:
		ctx->kernel = optarg;
		return 0;
	case OPT_THREADS:
		if (tl_option_number("--threads", optarg, 1, MAX_THREADS, &number))
			return TL_TROUBLE;
		ctx->threads = (unsigned)number;
		return 0;
	default:
		return TL_TROUBLE;
	}
}

/* The options before INDEX. Returns QR_PROCEED or the exit code. */
static int take_globals(struct qr_context *ctx, int argc, char **argv)
{
	static const struct option options[] = {
		{ "directory", required_argument, NULL, OPT_DIRECTORY },
		{ "force", no_argument, NULL, OPT_FORCE },
		{ "format", required_argument, NULL, 'F' },
		{ "help", no_argument, NULL, OPT_HELP },
		{ "input", required_argument, NULL, OPT_INPUT },
		{ "json", no_argument, NULL, OPT_JSON },
		{ "kernel", required_argument, NULL, OPT_KERNEL },
		{ "quiet", no_argument, NULL, 'q' },
		{ "static", no_argument, NULL, OPT_STATIC },
		{ "threads", required_argument, NULL, OPT_THREADS },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = tl_next_option(argc, argv, "+:F:q", options)) != TL_OPTION_END) {
		switch (c) {
		case OPT_FORCE:
			ctx->open_flags |= SIMIDX_OPEN_FORCE;
			break;
		case OPT_HELP:
			return print_help();
		case 'F':
			if (tl_option_word("--format", optarg, in_format_names) < 0)
				return TL_TROUBLE;
			ctx->inputs.format = in_format_named(optarg);
			break;
		case OPT_INPUT:
			if (add_input(&ctx->inputs, optarg))
				return TL_TROUBLE;
			break;
		case OPT_JSON:
			ctx->json = 1;
			break;
		case 'q':
			tl_set_quiet(1);
			break;
		case OPT_STATIC:
			ctx->open_flags |= SIMIDX_OPEN_STATIC;
			break;
		case OPT_VERSION:
			return tl_print_version();
		default:
			if (take_search_global(ctx, c))
				return TL_TROUBLE;
		}
	}
	return QR_PROCEED;
}

static int run(struct qr_context *ctx, int argc, char **argv)
{
	const struct qr_command *command;
	int code = take_globals(ctx, argc, argv), first;

	if (code != QR_PROCEED)
		return code;
	if (argc - optind < 2)
		return tl_usage_error("expected INDEX COMMAND");
	ctx->path = argv[optind];
	first = optind + 1;
	if (check_inputs(&ctx->inputs, !qr_is_no_index(ctx->path)))
		return TL_TROUBLE;
	command = find_command(argv[first]);
	if (!command)
		return tl_usage_error("unknown command '%s'", argv[first]);
	if (!qr_is_no_index(ctx->path))
		in_guard_add(ctx->path);
	else if (command != &qr_similar && command != &qr_idf && command != &qr_plan)
		return tl_usage_error("'-' stands for no stored index, and %s needs one",
				      command->name);
	else if (command != &qr_idf && (ctx->inputs.n_operands || ctx->inputs.format))
		return tl_usage_error("%s has no use for --input and -F", command->name);
	tl_restart_options();
	return command->run(ctx, argc - first, argv + first);
}

int main(int argc, char **argv)
{
	struct qr_context ctx = { 0 };
	int code;

	tl_msg_init("simidx-query");
	tl_ignore_sigpipe();
	code = run(&ctx, argc, argv);
	simidx_close(ctx.index);
	free(ctx.inputs.operands);
	tl_progress_clear();
	return tl_finish_output(code);
}
