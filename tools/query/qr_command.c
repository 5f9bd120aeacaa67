/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_example.h"
#include "common/tl_index.h"
#include "common/tl_msg.h"
#include "common/tl_path.h"
#include "common/tl_time.h"
#include "input/in_guard.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <simidx_check.h>

int qr_set_index(struct qr_context *ctx, const char *path)
{
	if (strcmp(path, "-") == 0)
		return tl_usage_error("'-' is standard input, and INDEX is a directory");
	if (tl_path_refuse_scheme(path))
		return TL_TROUBLE;
	ctx->path = path;
	in_guard_add(path);
	return 0;
}

/* What is no index, before one that is. */
static int refuse_turned(const struct qr_command *command, int n, char **operands)
{
	if (tl_path_is_uri(operands[0]) || tl_path_is_index(operands[0]))
		return 0;
	if (strstr(command->line.operands, "OTHER"))
		return n > 1 && tl_path_is_file(operands[0]) ?
			       tl_usage_error("%s: '%s' is a file and no index; 'simidx-query "
					      "similar A B' compares two texts",
					      command->line.name, operands[0]) : 0;
	for (int i = 1; i < n; i++)
		if (tl_path_is_index(operands[i]))
			return tl_usage_error("%s: '%s' is no index, and '%s' is one: INDEX comes "
					      "first", command->line.name, operands[0],
					      operands[i]);
	return 0;
}

int qr_run(const struct qr_command *command, struct qr_context *ctx, int argc, char **argv)
{
	int code = tl_parse(&command->line, command->options, ctx, argc, argv);

	if (code != TL_PROCEED)
		return code;
	tl_set_quiet(ctx->quiet);
	ctx->width = tl_term_is() ? tl_term_width(STDOUT_FILENO) : 0;
	ctx->colors = tl_term_colors(ctx->color);
	if (strncmp(command->line.operands, "INDEX", 5) == 0 &&
	    (refuse_turned(command, argc - optind, argv + optind) ||
	     qr_set_index(ctx, argv[optind++])))
		return TL_TROUBLE;
	ctx->operands = argv + optind;
	ctx->n_operands = argc - optind;
	return command->run(ctx);
}

unsigned qr_open_flags(const struct qr_context *ctx)
{
	return (ctx->is_static ? SIMIDX_OPEN_STATIC : 0) | (ctx->force ? SIMIDX_OPEN_FORCE : 0);
}

int qr_try_open(struct qr_context *ctx, simidx_error *err)
{
	simidx_open_options options = SIMIDX_OPEN_OPTIONS_INIT;
	int rc;

	options.flags = qr_open_flags(ctx) | (ctx->writes ? 0 : SIMIDX_OPEN_READ_ONLY) |
			(ctx->is_untrusted ? SIMIDX_OPEN_UNTRUSTED : 0) |
			(ctx->check ? SIMIDX_OPEN_CHECK : 0);
	options.block_index_bytes = ctx->block_index;
	options.kernel = ctx->kernel ? qr_kernels[ctx->kernel] : NULL;
	rc = tl_path_open(ctx->path, &options, &ctx->index, &ctx->info, err);
	if (!rc && tl_progress_wanted())
		simidx_set_progress(ctx->index, tl_progress_phase, NULL);
	return rc;
}

/* Whether queries that were made for the one can be asked of the other. */
static int is_alike(const simidx_info *a, const simidx_info *b)
{
	return a->bits == b->bits && a->flags == b->flags && !strcmp(a->profile, b->profile) &&
	       a->n_check_fps == b->n_check_fps &&
	       !memcmp(a->check_fps, b->check_fps, a->n_check_fps * sizeof(*a->check_fps));
}

static int open_again(struct qr_context *ctx, simidx_error *err)
{
	struct qr_context old = *ctx;
	int rc;

	ctx->index = NULL;
	rc = qr_try_open(ctx, err);
	if (!rc && !is_alike(&old.info, &ctx->info)) {
		rc = err->code = SIMIDX_E_MISMATCH;
		snprintf(err->text, sizeof(err->text),
			 "another index has taken its place, of other fingerprints");
	}
	if (rc) {
		simidx_close(ctx->index);
		*ctx = old;
		return rc;
	}
	simidx_close(old.index);
	return 0;
}

int qr_again(struct qr_context *ctx, int rc, simidx_error *err)
{
	return rc == SIMIDX_E_MOVED && !open_again(ctx, err);
}

int qr_open(struct qr_context *ctx)
{
	simidx_error err;

	return qr_try_open(ctx, &err) ? qr_fail(ctx, &err) : 0;
}

void qr_show_documents(const struct qr_context *ctx, const char *what, uint64_t done)
{
	static double shown;

	if (tl_progress_due(&shown))
		tl_progress_show("%s: %s of %s documents", what, tl_count(done),
				 tl_count(ctx->info.documents));
}

int qr_read_cut(const char *option, const char *text, uint32_t *out)
{
	int rc = tl_time_parse_cut(text, (uint32_t)time(NULL), out);
	char right[TL_TIME_SIZE];
	const char *meant = tl_time_nearest(text, right);
	int is_number = !text[strspn(text, "0123456789")];

	if (meant && (rc || is_number))
		tl_example_mend(text, strlen(text), meant);
	if (!rc && meant && is_number)
		return tl_usage_error("%s: %s may be seconds since 1970 or a date: is %s meant?",
				      option, text, meant);
	/* Some year after 1970 was hardly meant. */
	if (!rc && is_number && strlen(text) < 9)
		tl_notice("%s: %s is taken as seconds since 1970; %sd are as many days before now",
			  option, text, text);
	if (!rc)
		return 0;
	if (rc == TL_TIME_OUT)
		return tl_usage_error("%s: '%s' is " TL_TIME_RANGE, option, text);
	return tl_usage_error("%s: expected " TL_TIME_CUT_FORMS ", found '%s'", option, text);
}

int qr_need_times(const struct qr_context *ctx, const char *option)
{
	if (ctx->info.flags & SIMIDX_CREATE_TIMES)
		return 0;
	return tl_error("%s: keeps no times, so %s does not fit; an index that simidx-load --times "
			"makes keeps them", ctx->path, option);
}

int qr_fail(const struct qr_context *ctx, const simidx_error *err)
{
	return tl_index_error(ctx->path, err);
}

int qr_fail_damaged(const struct qr_context *ctx, const simidx_error *err)
{
	int code = qr_fail(ctx, err);

	return err->code == SIMIDX_E_CORRUPT ? TL_PARTLY : code;
}
