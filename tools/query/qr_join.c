/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_join.h"

#include "common/tl_escape.h"
#include "common/tl_features.h"
#include "common/tl_msg.h"
#include "common/tl_options.h"
#include "common/tl_output.h"
#include "common/tl_path.h"
#include "common/tl_term.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LONG 60        /* seconds that somebody is told of before */
#define LEAST_LABEL 16 /* columns, however narrow the terminal is */
#define BLOCK_RADIUS 7 /* above it there is only one method: the slow one */

const struct tl_option qr_join_rows[] = {
	{ 'k', "radius", "K", TL_NUMBER(struct qr_join, radius, 0, SIMIDX_MAX_RADIUS),
	  .otherwise = TL_STRING(SIMIDX_DEFAULT_RADIUS) ", of texts 7",
	  .help = "near: at most K bits differ",
	  .more = "Documents are near if their fingerprints differ in at most K bits. Of more "
		  "than 100 million texts these are 3 without this option. Texts must besides "
		  "differ in at most " TL_STRING(SIMIDX_JOIN_DEFAULT_RADIUS2) " bits of both "
		  "fingerprints together, where the index has "
		  "second ones; in " TL_STRING(SIMIDX_JOIN_TRIPLES_RADIUS2) ", where these were "
		  "made from runs of three words. "
		  "From 8 on, and where that is faster, all are compared with all." },
	{ 0, "memory", "SIZE", TL_SIZE(struct qr_join, memory, 16 << 20, UINT64_C(1) << 46),
	  .standard = "256M", .help = "work in this much memory",
	  .more = "Work in about this much memory, such as 1G. What does not fit goes to "
		  "temporary files." },
	{ 0, "tmpdir", "DIR", TL_TEXT(struct qr_join, tmpdir),
	  .otherwise = "$TMPDIR or /tmp", .help = "temporary files go there" },
	{ 0 },
};

simidx_join_options qr_join_options(const struct qr_context *ctx, const struct qr_join *join)
{
	const char *profile = ctx->info.profile;
	simidx_join_options o = SIMIDX_JOIN_OPTIONS_INIT;

	o.flags = SIMIDX_JOIN_LABELS;
	if (*profile && tl_features_is_text(profile))
		o.flags |= SIMIDX_JOIN_TEXT | SIMIDX_JOIN_FP2;
	o.radius = join->radius;
	o.memory = join->memory;
	o.tmpdir = tl_path_temporary(join->tmpdir, NULL);
	o.threads = ctx->threads;
	if (tl_progress_wanted() && !ctx->width)
		o.progress = tl_progress_phase;
	o.stop = tl_stop_wanted;
	tl_stop_on_signals();
	return o;
}

/* Texts have a radius of their own, which depends on how many there are. */
static void tell_radius(const struct qr_join *join, const simidx_join_info *info)
{
	if (join->radius != SIMIDX_JOIN_DEFAULT_RADIUS)
		return;
	if (info->radius2 != SIMIDX_JOIN_NO_RADIUS2)
		tl_notice("texts are near if at most %u bits differ, and at most %u of both "
			  "fingerprints together",
			  info->radius, info->radius2);
	else
		tl_notice("texts are near if at most %u bits differ", info->radius);
}

int qr_join_note_plan(void *arg, const simidx_join_info *info)
{
	struct qr_join_run *run = arg;
	double seconds = info->seconds / info->threads;
	int is_long = info->seconds > LONG;
	char takes[64] = "";

	run->compares_fp2 = info->radius2 != SIMIDX_JOIN_NO_RADIUS2;
	if (*run->ctx->info.profile && tl_features_is_text(run->ctx->info.profile))
		tell_radius(run->join, info);
	if (seconds >= 100)
		snprintf(takes, sizeof(takes), "; this takes about %.0f minutes", seconds / 60);
	else if (seconds >= 1)
		snprintf(takes, sizeof(takes), "; this takes about %.0f seconds", seconds);
	if (info->method == SIMIDX_JOIN_SCAN && (is_long || info->radius > BLOCK_RADIUS))
		tl_notice("radius %u: all fingerprints are compared with "
			  "all%s", info->radius, takes);
	else if (is_long)
		tl_notice("radius %u: there are many fingerprints%s", info->radius, takes);
	return 0;
}

int qr_join_ends(void)
{
	return tl_output_failed() || tl_stop_requested();
}

int qr_join_fail(const struct qr_context *ctx, const simidx_error *err)
{
	if (err->code == SIMIDX_E_STOPPED)
		return tl_error("stopped by a signal");
	return qr_fail(ctx, err);
}

void qr_join_put_name(const struct qr_context *ctx, int has_id, uint64_t id, uint64_t fp)
{
	if (has_id)
		qr_print_id(stdout, id);
	else
		qr_print_fingerprint(stdout, fp, ctx->info.bits);
}

/* Of ids, which count up from 0 unless a user gives others, or of fingerprints. */
static int name_width(const struct qr_context *ctx)
{
	char text[TL_NUMBER_SIZE];
	int width = (int)tl_hex_width(ctx->info.bits), least = (int)strlen("cluster");

	if (!(ctx->info.flags & SIMIDX_CREATE_NO_IDS))
		width = snprintf(text, sizeof(text), "%" PRIu64, ctx->info.next_id);
	return width < least ? least : width;
}

static const char *gap(const struct qr_context *ctx)
{
	return ctx->width ? "  " : "\t";
}

void qr_join_put_titles(const struct qr_context *ctx, const char *before, const char *first,
			const char *others)
{
	const char *name = ctx->info.flags & SIMIDX_CREATE_NO_IDS ? "fp" : "id";

	if (ctx->width && !ctx->json)
		printf("%s%*s  %*s  %s\n", before, name_width(ctx), first ? first : name,
		       name_width(ctx), name, others);
}

void qr_join_put_document(const struct qr_context *ctx, int has_id, uint64_t id, uint64_t fp)
{
	int width = ctx->width ? name_width(ctx) : 0;

	if (has_id)
		printf("%*" PRIu64, width, id);
	else
		qr_print_fingerprint(stdout, fp, ctx->info.bits);
	fputs(gap(ctx), stdout);
}

void qr_join_put_distance(const struct qr_context *ctx, unsigned distance)
{
	printf("%*u%s", ctx->width ? (int)strlen("distance") : 0, distance, gap(ctx));
}

void qr_join_put_labels(const struct qr_context *ctx, const char *const *labels,
			const size_t *sizes, size_t n)
{
	/* What two names, a distance and a word may take is left to them. */
	unsigned used = 2 * ((unsigned)name_width(ctx) + 2) + 16;
	unsigned left = ctx->width > used ? ctx->width - used : 0;
	size_t share = left / n < LEAST_LABEL ? LEAST_LABEL : left / n;

	for (size_t i = 0; i < n; i++) {
		if (i)
			fputs(gap(ctx), stdout);
		if (labels[i] && ctx->width)
			tl_term_put(stdout, labels[i], sizes[i], share);
		else if (labels[i])
			tl_put_escaped(stdout, labels[i], sizes[i]);
	}
	putchar('\n');
}
