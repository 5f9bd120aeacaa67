/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_msg.h"
#include "common/tl_options.h"

static int run_backup(struct qr_context *ctx, int argc, char **argv)
{
	simidx_error err;
	int code = qr_no_options(&qr_backup, argc, argv, 1);
	int rc;

	if (code != QR_PROCEED)
		return code;
	if (qr_open(ctx))
		return TL_TROUBLE;
	do
		rc = simidx_backup(ctx->index, argv[optind], &err);
	while (qr_again(ctx, rc, &err));
	return rc ? qr_fail(ctx, &err) : TL_OK;
}

static const char *const help[] = {
	"Copy one snapshot of the index, which may be in use, to the new directory DEST.",
	"DEST must not exist or be an empty directory, and appears only when the copy is",
	"complete. Exit status: 0 copied; 2 not copied.",
	NULL
};

const struct qr_command qr_backup = { "backup", "DEST", "copy a snapshot of an index in use",
				      run_backup, help };
