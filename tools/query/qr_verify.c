/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_index.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_path.h"
#include "query/qr_print.h"

#include <simidx_check.h>

/* `mended`: of the problems, those that the next commit mends. */
static int tell_damage(const struct qr_context *ctx, uint64_t problems, uint64_t mended)
{
	tl_error("%s: damaged: %s", ctx->path, tl_counted(problems, "problem", "problems"));
	if (mended < problems)
		tl_advise_damage(ctx->path, 1);
	else
		tl_notice("%s: nothing is lost, as another copy of it is sound; the next commit of "
			  "simidx-load to the index mends it",
			  ctx->path);
	return TL_PARTLY;
}

/* LMDB may not survive pages that are damaged, so what they hold was not looked at. */
static void tell_unread(const struct qr_context *ctx)
{
	tl_notice("%s: what is in the pages was not checked, as some are damaged: more may be",
		  ctx->path);
}

static int verify(struct qr_context *ctx)
{
	simidx_verify_report report = SIMIDX_VERIFY_REPORT_INIT;
	simidx_error err;
	int rc;

	do
		rc = simidx_verify(ctx->index, qr_print_problem, ctx, &report, &err);
	while (qr_again(ctx, rc, &err));
	if (rc && rc != SIMIDX_E_CORRUPT)
		return qr_fail(ctx, &err);
	if (rc && !report.blocks && !report.mended && !tl_path_is_uri(ctx->path))
		tell_unread(ctx);
	if (rc)
		return tell_damage(ctx, report.problems, report.mended);
	tl_notice("%s: sound: %s blocks or rows with %s entries, %s", ctx->path,
		  tl_count(report.blocks), tl_count(report.entries),
		  tl_counted(report.documents, "document", "documents"));
	return TL_OK;
}

struct page_list {
	struct qr_context *ctx;
	uint64_t n;
};

static void note_page(void *arg, const simidx_problem *problem)
{
	struct page_list *list = arg;

	list->n++;
	qr_print_problem(list->ctx, problem);
}

/* What was not opened, because of its pages or because of what is in them: `err` has the first. */
static int tell_unopened(struct qr_context *ctx, const simidx_error *err)
{
	struct page_list list = { ctx, 0 };

	/* Its code says no more than the list. */
	if (simidx_check_pages(ctx->path, qr_open_flags(ctx), note_page, &list, NULL) && list.n) {
		tell_unread(ctx);
		return tell_damage(ctx, list.n, 0);
	}
	qr_print_problem(ctx, &(simidx_problem){ "-", err->text });
	tl_error("%s: damaged: cannot be opened", ctx->path);
	tl_advise_damage(ctx->path, 1);
	return TL_PARTLY;
}

static int run_verify(struct qr_context *ctx)
{
	simidx_error err;
	int rc;

	ctx->is_untrusted = 1;
	rc = qr_try_open(ctx, &err);
	if (rc == SIMIDX_E_CORRUPT)
		return tell_unopened(ctx, &err);
	return rc ? qr_fail(ctx, &err) : verify(ctx);
}

static const struct tl_option rows[] = {
	{ TL_SECTION("Output") },
	{ TL_PARAGRAPH("A line for each problem: the table ('-' if the index cannot even be "
		       "opened), a tab, and what is wrong. With --json an object with the members "
		       "table and text. On stderr: what can be done about it.") },
	{ TL_SECTION("Exit status") },
	{ TL_PARAGRAPH("0: sound. 1: damaged. 2: could not be checked.") },
	{ 0 },
};

const struct qr_command qr_verify = {
	.line = { .name = "verify", .operands = "INDEX", .least = 1, .most = 1,
		  .shortest = "INDEX",
		  .summary = "read everything in an index and check it",
		  .about = "Read everything in one snapshot and check it: the pages of the file, "
			   "before anything relies on them; then, if all are sound, checksum, "
			   "order and key of every block; counts and digests of all tables "
			   "against the header and each other.",
		  .options = rows, .program = &qr_program },
	.run = run_verify,
};
