/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_index.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_output.h"
#include "query/qr_join.h"

#include <stdio.h>

#define MANY_PAIRS 10000000 /* more are printed only if that is asked for */

static struct options {
	struct qr_join join;
	int group, all;
} options = { .join = QR_JOIN_INIT };

struct printing {
	struct qr_join_run run;
	uint64_t n;        /* pairs or groups printed */
	uint64_t too_many; /* pairs, where these are too many to print */
};

static int note_found(void *arg, const simidx_join_info *info)
{
	struct printing *p = arg;

	if (info->pairs > MANY_PAIRS)
		p->too_many = info->pairs;
	return p->too_many != 0;
}

static void print_pair(const struct printing *p, const simidx_pair *pair)
{
	const char *labels[] = { pair->label_a, pair->label_b };
	size_t sizes[] = { pair->label_size_a, pair->label_size_b };

	qr_join_put_distance(p->run.ctx, pair->distance);
	qr_join_put_document(p->run.ctx, pair->id_a != SIMIDX_NO_ID, pair->id_a, pair->fp_a);
	qr_join_put_document(p->run.ctx, pair->id_b != SIMIDX_NO_ID, pair->id_b, pair->fp_b);
	qr_join_put_labels(p->run.ctx, labels, sizes, 2);
}

static int json_pair(const struct printing *p, const simidx_pair *pair)
{
	struct tl_json json = tl_json_line(stdout);
	int has_ids = pair->id_a != SIMIDX_NO_ID;

	if (has_ids)
		tl_json_unsigned(&json, "id1", pair->id_a);
	qr_json_fingerprint(&json, "fp1", pair->fp_a, p->run.ctx->info.bits);
	if (pair->id_b != SIMIDX_NO_ID)
		tl_json_unsigned(&json, "id2", pair->id_b);
	qr_json_fingerprint(&json, "fp2", pair->fp_b, p->run.ctx->info.bits);
	tl_json_unsigned(&json, "distance", pair->distance);
	if (p->run.compares_fp2 && pair->distance2 >= 0)
		tl_json_unsigned(&json, "distance2", (uint64_t)pair->distance2);
	else if (p->run.compares_fp2)
		tl_json_null(&json, "distance2");
	tl_json_bytes(&json, "label1", pair->label_a, pair->label_size_a);
	tl_json_bytes(&json, "label2", pair->label_b, pair->label_size_b);
	return qr_json_end(&json);
}

static int print_pairs(void *arg, const simidx_pair *pairs, size_t n)
{
	struct printing *p = arg;

	if (!p->n)
		qr_join_put_titles(p->run.ctx, "distance  ", NULL,
				   p->run.ctx->info.labels ? "labels" : "");
	for (size_t i = 0; i < n; i++) {
		if (p->run.ctx->json)
			json_pair(p, &pairs[i]);
		else
			print_pair(p, &pairs[i]);
		if (qr_join_ends())
			return 1;
		p->n++;
	}
	return 0;
}

static void put_ids(const uint64_t *ids, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i)
			putchar(',');
		qr_print_id(stdout, ids[i]);
	}
}

static void print_group(const struct printing *p, const simidx_pair_group *g)
{
	printf("%u\t", g->distance);
	qr_print_fingerprint(stdout, g->fp_a, p->run.ctx->info.bits);
	putchar('\t');
	qr_print_fingerprint(stdout, g->fp_b, p->run.ctx->info.bits);
	putchar('\t');
	put_ids(g->ids_a, g->n_a);
	putchar('\t');
	if (g->ids_b)
		put_ids(g->ids_b, g->n_b);
	putchar('\n');
}

static void json_ids(struct tl_json *json, const char *key, const uint64_t *ids, size_t n)
{
	tl_json_open(json, key, '[');
	for (size_t i = 0; i < n; i++)
		if (ids[i] != SIMIDX_NO_ID)
			tl_json_unsigned(json, NULL, ids[i]);
	tl_json_close(json, ']');
}

static void json_group(const struct printing *p, const simidx_pair_group *g)
{
	struct tl_json json = tl_json_line(stdout);

	qr_json_fingerprint(&json, "fp1", g->fp_a, p->run.ctx->info.bits);
	qr_json_fingerprint(&json, "fp2", g->fp_b, p->run.ctx->info.bits);
	tl_json_unsigned(&json, "distance", g->distance);
	json_ids(&json, "ids1", g->ids_a, g->n_a);
	json_ids(&json, "ids2", g->ids_b, g->n_b);
	qr_json_end(&json);
}

static int print_groups(void *arg, const simidx_pair_group *groups, size_t n)
{
	struct printing *p = arg;

	for (size_t i = 0; i < n; i++) {
		if (p->run.ctx->json)
			json_group(p, &groups[i]);
		else
			print_group(p, &groups[i]);
		if (qr_join_ends())
			return 1;
		p->n++;
	}
	return 0;
}

static int join(struct printing *p, struct qr_context *ctx, struct qr_context *other)
{
	simidx_join_options o = qr_join_options(ctx, &options.join);
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT;
	simidx_error err;
	int rc;

	o.planned = qr_join_note_plan;
	/* To count takes as long as to deliver. */
	if (!options.all && !options.group)
		o.found = note_found;
	o.ctx = p;
	if (options.group)
		taker.groups = print_groups;
	else
		taker.pairs = print_pairs;
	rc = simidx_pairs(ctx->index, other->index, &o, &taker, &err);
	tl_progress_clear();
	if (p->too_many)
		return tl_error("there are %s pairs: --group prints pairs of fingerprints with "
				"their documents, --all prints all pairs", tl_count(p->too_many));
	/* The text of an error that is about one index begins with its path. */
	if (rc && other->index && tl_begins_with_path(&err, other->path))
		ctx = other;
	if (rc && !tl_output_failed())
		return qr_join_fail(ctx, &err);
	return p->n ? TL_OK : TL_PARTLY;
}

static int run_pairs(struct qr_context *ctx)
{
	struct printing printing = { .run = { .ctx = ctx, .join = &options.join } };
	struct qr_context other;
	int code;

	if (qr_open(ctx))
		return TL_TROUBLE;
	other = *ctx;
	other.index = NULL;
	other.path = ctx->operands[0]; /* NULL: there is no other one */
	if (other.path && qr_open(&other))
		return TL_TROUBLE;
	code = join(&printing, ctx, &other);
	simidx_close(other.index);
	return code;
}

static const struct tl_option rows[] = {
	{ TL_GROUP(qr_join_rows, struct options, join) },
	{ 0, "group", NULL, TL_FLAG(struct options, group),
	  .help = "pairs of fingerprints with their documents",
	  .more = "Print pairs of fingerprints with their documents: the distance, both "
		  "fingerprints, the ids of the first, separated by commas, and those of the "
		  "second. A line without the latter has documents that are near to each other "
		  "because they have one fingerprint. In an index without ids both lists are "
		  "empty in each line." },
	{ 0, "all", NULL, TL_FLAG(struct options, all),
	  .help = "print all pairs, even more than 10 million" },
	{ TL_SECTION("Output") },
	{ TL_PARAGRAPH("A line for each pair: the distance in bits, both ids, and both labels, "
		       "separated by tabs, or on a terminal in a table. The first id is the "
		       "smaller one, or that of INDEX where there is an OTHER. An index without "
		       "ids has fingerprints in their place. Before the first line it is known "
		       "how many there are: above 10 million the command ends, unless --group or "
		       "--all is given.") },
	{ TL_PARAGRAPH("With --json an object for each: id1, fp1, id2, fp2, distance, distance2 "
		       "where second fingerprints are compared (null where one of both is not "
		       "known), label1, label2; with --group fp1, fp2, distance, ids1 and ids2.") },
	{ TL_SECTION("Examples") },
	{ TL_EXAMPLE("simidx-query pairs index", "All near-duplicates of a collection.") },
	{ TL_EXAMPLE("simidx-query pairs new old", "What of new is near to something of old.") },
	{ TL_SECTION("Exit status") },
	{ TL_PARAGRAPH("0: there are pairs. 1: there are none. 2: anything else.") },
	{ 0 },
};

const struct qr_command qr_pairs = {
	.line = { .name = "pairs", .operands = "INDEX [OTHER]", .least = 1, .most = 2,
		  .shortest = "INDEX",
		  .summary = "print all pairs of near documents",
		  .about = "Print every pair of documents of one snapshot whose fingerprints are "
			   "near, each once, equal ones included; with OTHER the pairs that have "
			   "one document of each index. If that is INDEX under another name, each "
			   "document is near to itself, and other pairs come both ways round.",
		  .options = rows, .program = &qr_program },
	.options = &options, .run = run_pairs,
};
