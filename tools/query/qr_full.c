/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_full.h"

#include "input/in_full.h"
#include "query/qr_json.h"

#include <stdio.h>
#include <string.h>

int qr_full_mark(struct qr_context *ctx, struct qr_mark *mark, simidx_error *err)
{
	int rc = simidx_get_mark(ctx->index, mark->bytes, sizeof(mark->bytes), &mark->size, err);

	if (rc == SIMIDX_E_NOT_FOUND || rc == SIMIDX_E_UNSUPPORTED ||
	    (!rc && mark->size >= strlen(IN_FULL_LOAD_MARK) &&
	     !memcmp(mark->bytes, IN_FULL_LOAD_MARK, strlen(IN_FULL_LOAD_MARK)))) {
		mark->size = 0;
		return 0;
	}
	return rc;
}

static void put_check_fps(struct tl_json *json, const simidx_info *info)
{
	tl_json_open(json, "check_fps", '[');
	for (size_t i = 0; i < info->n_check_fps; i++)
		qr_json_fingerprint(json, NULL, info->check_fps[i], 64);
	tl_json_close(json, ']');
}

int qr_full_first(const simidx_info *info, const struct qr_mark *mark)
{
	struct tl_json json = tl_json_line(stdout);

	tl_json_string(&json, "format", IN_FULL_FORMAT);
	tl_json_unsigned(&json, "version", IN_FULL_VERSION);
	tl_json_unsigned(&json, "bits", info->bits);
	tl_json_bool(&json, "ids", !(info->flags & SIMIDX_CREATE_NO_IDS));
	tl_json_bool(&json, "fp2", (info->flags & SIMIDX_CREATE_FP2) != 0);
	if (info->flags & SIMIDX_CREATE_TIMES)
		tl_json_bool(&json, "times", 1);
	if (info->flags & SIMIDX_CREATE_NOTES)
		tl_json_bool(&json, "notes", 1);
	tl_json_string(&json, "plan", info->plan);
	/* An index of an engine has neither. */
	if (info->fill) {
		tl_json_string(&json, "layout",
			       info->layout == SIMIDX_LAYOUT_ROWS ? "rows" : "blocks");
		tl_json_unsigned(&json, "fill", info->fill);
	}
	tl_json_bytes(&json, "profile", info->profile, strlen(info->profile));
	put_check_fps(&json, info);
	qr_json_next_id(&json, info);
	tl_json_unsigned(&json, "documents", info->documents);
	if (!(info->flags & SIMIDX_CREATE_NO_IDS))
		tl_json_unsigned(&json, "labels", info->labels);
	if (mark->size)
		tl_json_bytes(&json, "mark", (const char *)mark->bytes, mark->size);
	return qr_json_end(&json);
}

int qr_full_last(uint64_t documents)
{
	struct tl_json json = tl_json_line(stdout);

	tl_json_unsigned(&json, "documents", documents);
	return qr_json_end(&json);
}
