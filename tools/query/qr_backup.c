/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_index.h"
#include "common/tl_msg.h"
#include "common/tl_path.h"

#include <string.h>

#include <simidx_check.h>

static int fail(const struct qr_context *ctx, const char *copy, const simidx_error *err)
{
	if (err->code == SIMIDX_E_EXISTS)
		return tl_error("%s: exists already; a backup needs a new name", copy);
	if (tl_begins_with_path(err, copy))
		return tl_error("%s", err->text);
	tl_error("%s: cannot be copied to %s: %s", ctx->path, copy, err->text);
	tl_advise_parent(copy, err);
	return TL_TROUBLE;
}

static int run_backup(struct qr_context *ctx)
{
	const char *copy = ctx->operands[0];
	simidx_error err;
	int rc;

	if (strcmp(copy, "-") == 0)
		return tl_usage_error("backup: '-' is standard output, and DEST is a directory");
	if (strstr(copy, ".tar"))
		return tl_usage_error("%s: a backup is a directory: tar -czf FILE.tar.gz packs it",
				      copy);
	if (!tl_path_is_uri(copy) && !tl_path_is_missing(copy, &err))
		return tl_error("%s: exists already; a backup needs a new name", copy);
	rc = qr_try_open(ctx, &err);
	if (rc)
		return qr_fail_damaged(ctx, &err);
	do
		rc = simidx_backup(ctx->index, copy, &err);
	while (qr_again(ctx, rc, &err));
	if (rc == SIMIDX_E_CORRUPT)
		return qr_fail_damaged(ctx, &err);
	return rc ? fail(ctx, copy, &err) : TL_OK;
}

static const struct tl_option rows[] = {
	{ TL_SECTION("Examples") },
	{ TL_EXAMPLE("simidx-query backup index /backup/index-monday",
		     "Copy an index, which others may write to meanwhile.") },
	{ TL_SECTION("Exit status") },
	{ TL_PARAGRAPH("0: copied, and the copy is sound. 1: damage was found, and nothing is left "
		       "at DEST. 2: not copied; or copied, as a message says then, but the disk "
		       "did not confirm that the copy stays there after a power cut.") },
	{ 0 },
};

const struct qr_command qr_backup = {
	.line = { .name = "backup", .operands = "INDEX DEST", .least = 2, .most = 2,
		  .shortest = "INDEX DEST",
		  .summary = "copy a snapshot of an index, which may be in use",
		  .about = "Copy one snapshot of the index, which may be in use, to the new "
			   "directory DEST. DEST must not exist or be an empty directory, and "
			   "appears only when the copy is complete and verified. Of a damaged "
			   "index no copy is kept, as it could be taken for a good one.",
		  .options = rows, .program = &qr_program },
	.run = run_backup,
};
