/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_join.h"

#include "common/tl_escape.h"
#include "common/tl_features.h"
#include "common/tl_msg.h"

#define LONG 60 /* seconds that somebody is told of before */

const struct tl_option qr_join_rows[] = {
	{ 'k', "radius", "K", TL_NUMBER(struct qr_join, radius, 0, SIMIDX_MAX_RADIUS),
	  .help = "near: at most K bits differ (default: 3)",
	  .more = "Documents are near if their fingerprints differ in at most K bits (default: 3; of "
		  "texts 7, or 3 where there are more than 100 million). Texts must besides differ in "
		  "at most 16 bits of both fingerprints together, where the index has second ones. "
		  "From 8 on all are compared with all." },
	{ 0, "memory", "SIZE", TL_SIZE(struct qr_join, memory, 16 << 20, UINT64_C(1) << 40),
	  .help = "work in this much memory (default: 256M)",
	  .more = "Work in about this much memory, such as 1G (default: 256M). What does not fit goes "
		  "to temporary files." },
	{ 0, "tmpdir", "DIR", TL_TEXT(struct qr_join, tmpdir),
	  .help = "directory of temporary files (default: /tmp)" },
	{ 0 },
};

static int stop(void *ctx)
{
	(void)ctx;
	return tl_stop_requested();
}

simidx_join_options qr_join_options(const struct qr_context *ctx, const struct qr_join *join)
{
	const char *profile = ctx->info.profile;
	simidx_join_options o = SIMIDX_JOIN_OPTIONS_INIT;

	o.flags = SIMIDX_JOIN_LABELS;
	if (*profile && tl_features_is_text(profile))
		o.flags |= SIMIDX_JOIN_TEXT | SIMIDX_JOIN_FP2;
	o.radius = join->radius;
	o.memory = join->memory;
	o.tmpdir = join->tmpdir;
	o.threads = ctx->threads;
	if (tl_progress_wanted() && !ctx->width)
		o.progress = tl_progress_phase;
	o.stop = stop;
	tl_stop_on_signals();
	return o;
}

void qr_join_tell(const simidx_join_info *info)
{
	if (info->seconds > LONG)
		tl_notice("radius %u: %s; this takes about %.0f minutes", info->radius,
			  info->method == SIMIDX_JOIN_SCAN
				  ? "all fingerprints are compared with all"
				  : "there are many fingerprints",
			  info->seconds / info->threads / 60 + 0.5);
}

void qr_join_put_name(const struct qr_context *ctx, int has_id, uint64_t id, uint64_t fp)
{
	if (has_id)
		qr_print_id(stdout, id);
	else
		qr_print_fingerprint(stdout, fp, ctx->info.bits);
}

void qr_join_put_label(const char *label, size_t size)
{
	if (label)
		tl_put_escaped(stdout, label, size);
}

void qr_join_json_label(struct tl_json *json, const char *key, const char *label, size_t size)
{
	if (label)
		tl_json_bytes(json, key, label, size);
}
