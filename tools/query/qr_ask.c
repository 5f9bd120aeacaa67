/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_ask.h"

#include "common/tl_features.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_time.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Largest values that mean anything: 128 weights of 255; the probes that the library makes. */
#define MAX_WEIGHT_SUM (128u * 255)
#define MAX_PROBES ((uint64_t)1 << 20)

/* Two fingerprints without weights: bits in which both together may differ. */
#define FP2_RADIUS 16

#define SECOND_BITS 64

/* From so many on it may have been meant how many are printed. */
#define MANY_BITS 8

const struct tl_option qr_ask_rows[] = {
	{ TL_SECTION("Which documents are near") },
	{ TL_PARAGRAPH("Near to a fingerprint is what differs from it in few bits:") },
	{ 'k', "radius", "K", TL_NUMBER(struct qr_ask, radius, 0, SIMIDX_MAX_RADIUS),
	  .otherwise = TL_STRING(SIMIDX_DEFAULT_RADIUS), .help = "in at most K bits, 0..64" },
	{ 0, "ignore", "MASK", TL_TEXT(struct qr_ask, ignore_text),
	  .help = "the bits of a hexadecimal MASK may differ" },
	{ 0, "second", "FP", TL_TEXT(struct qr_ask, fp2_text),
	  .help = "the second fingerprint of the query",
	  .more = "The second fingerprint of the query (in jsonl a member fp2), where the index "
		  "has them: both together differ in at most "
		  TL_STRING(FP2_RADIUS) " bits, or as --accept says." },
	{ TL_PARAGRAPH("Near to a text is what differs in bits that hardly matter for it. Each bit "
		       "has a weight, 32 times how far the features of the text outvote each other "
		       "in it. The distance is the sum of the weights of the bits that differ, in "
		       "both fingerprints where the index has two. At most "
		       TL_STRING(SIMIDX_TEXT_BITS) " bits of the first may differ, not "
			  "counting those of weight 0:") },
	{ 0, "accept", "A", TL_NUMBER(struct qr_ask, accept, 0, MAX_WEIGHT_SUM),
	  .otherwise = TL_STRING(SIMIDX_TEXT_RADIUS), .help = "weights up to A are near",
	  .more = "Weights up to A are near, a whole number. Without this option they are "
		  TL_STRING(SIMIDX_TEXT_RADIUS_SAME) " where second fingerprints were made from "
		  "the features of the first ones and not from runs of three words, and "
		  TL_STRING(SIMIDX_TEXT_RADIUS_NO_FP2) " where there are none." },
	{ 0, "probes", "P", TL_COUNT(struct qr_ask, probes, 1, MAX_PROBES),
	  .otherwise = TL_STRING(SIMIDX_TEXT_PROBES), .help = "look up the P likeliest ranges",
	  .more = "Look up the P likeliest ranges of the tables, and compare what is in them. "
		  "Without this option they are " TL_STRING(SIMIDX_TEXT_PROBES_3X22)
		  " with plan 3x22, and an index of up to 128 "
		  "documents for each of them is searched as a whole, which takes no longer. Of an "
		  "index in HBase they are 16, whatever its size." },
	{ 0, "complete", "R", TL_NUMBER(struct qr_ask, complete, 1, MAX_WEIGHT_SUM),
	  .help = "as many ranges that nothing within R is missed",
	  .more = "Instead of --probes: as many ranges that nothing near within weight R is "
		  "missed." },
	{ 0, "bit-weights", "FILE", TL_TEXT(struct qr_ask, weights_path),
	  .help = "search fingerprints by weights, too",
	  .more = "Search fingerprints by weights, too: FILE has a weight in 0..255 for each bit, "
		  "the lowest first, and 64 more for the second fingerprint. In jsonl rows have "
		  "lists of their own, weights and weights2." },
	{ TL_PARAGRAPH("With -k texts are searched as fingerprints are.") },
	{ 0, "newer-than", "DATE", TL_TEXT(struct qr_ask, newer_text),
	  .help = "leave out what is older: 30d, or 2026-11-26",
	  .more = "Leave out documents whose time is before DATE, in an index that keeps times: "
		  TL_TIME_CUT_FORMS "; 2026-11-26 is its midnight in UTC, when the day begins. "
		  "Those whose time is not known are not left out." },
	{ TL_SECTION("How much is printed") },
	{ 0, "limit", "N", TL_COUNT(struct qr_ask, limit, 1, UINT64_MAX),
	  .help = "the N nearest of each query",
	  .more = "No more than the N nearest documents for each query." },
	{ 0, "nearest", "N", TL_COUNT(struct qr_ask, nearest, 1, UINT64_MAX),
	  .help = "the same, at any distance unless -k is given",
	  .more = "The same, at any distance unless -k says how far; for texts among those that "
		  "are near." },
	{ 0, "first", NULL, TL_FLAG(struct qr_ask, first),
	  .help = "one document, whichever is found first" },
	{ 0, "count", NULL, TL_FLAG(struct qr_ask, count), .help = "only how many there are" },
	{ 0, "exists", NULL, TL_FLAG(struct qr_ask, exists),
	  .help = "only 1 or 0: whether there is one" },
	{ 0, "max-candidates", "N", TL_COUNT(struct qr_ask, max_candidates, 1, UINT64_MAX),
	  .help = "stop after comparing N fingerprints",
	  .more = "Stop after comparing N fingerprints. Answers that are cut by this are counted "
		  "on stderr." },
	{ 0, "strict", NULL, TL_FLAG(struct qr_ask, strict),
	  .help = "exit status 2 if an answer was cut, also by --limit" },
	{ 0 },
};

/* The first option about weights that was given, or NULL. */
static const char *weight_option(const struct qr_ask *ask)
{
	return ask->weights_path ? "--bit-weights"
	       : ask->probes	 ? "--probes"
	       : ask->complete	 ? "--complete"
				 : NULL;
}

int qr_ask_check(struct qr_ask *ask, unsigned rows)
{
	int has_weights = ask->weights_path || rows & (QR_MAY_BE_TEXT | QR_MAY_HAVE_MORE);
	int has_fp2 = ask->fp2_text || rows & QR_MAY_HAVE_MORE;
	const char *option = weight_option(ask);
	int has_radius = ask->radius != QR_NOT_GIVEN, has_accept = ask->accept != QR_NOT_GIVEN;

	if (!!ask->limit + !!ask->nearest + ask->first + ask->count + ask->exists > 1)
		return tl_usage_error("--limit, --first, --count, --exists and --nearest exclude "
				      "each other");
	if (ask->probes && ask->complete)
		return tl_usage_error("--probes and --complete exclude each other");
	if (has_radius && option)
		return tl_usage_error("-k asks for the plain distance, which %s has no use for",
				      option);
	if (ask->weights_path && !(rows & QR_MAY_BE_FINGERPRINT))
		return tl_usage_error("--bit-weights is for fingerprints; texts have their own");
	if (option && !has_weights)
		return tl_usage_error("%s goes with texts or weights", option);
	if (ask->fp2_text && !(rows & QR_IS_ONE))
		return tl_usage_error("--second goes with one fingerprint");
	if (has_accept && !has_fp2 && (!has_weights || has_radius))
		return tl_usage_error("--accept goes with weights or second fingerprints%s",
				      has_weights ? ": leave --radius out" :
				      "; of fingerprints: --radius K");
	if (has_radius && ask->radius >= MANY_BITS && !ask->nearest &&
	    !(rows & QR_MAY_BE_FINGERPRINT))
		tl_notice("-k %u finds what differs in so many bits; --nearest %u finds the %u "
			  "nearest",
			  ask->radius, ask->radius, ask->radius);
	if (ask->newer_text && qr_read_cut("--newer-than", ask->newer_text, &ask->newer_than))
		return TL_TROUBLE;
	ask->limit += ask->nearest;
	ask->mode = ask->count ? SIMIDX_COUNT :
		    ask->nearest ? SIMIDX_NEAREST :
		    ask->first || ask->exists ? SIMIDX_FIRST : SIMIDX_ALL;
	ask->show = ask->count ? QR_SHOW_COUNT : ask->exists ? QR_SHOW_EXISTS : QR_SHOW_MATCHES;
	return 0;
}

int qr_ask_has_weight(const struct qr_ask *ask, unsigned rows)
{
	if (ask->fp2_text || ask->ignore_text || rows & QR_MAY_HAVE_MORE)
		return 1;
	return ask->radius == QR_NOT_GIVEN && (ask->weights_path || rows & QR_MAY_BE_TEXT);
}

/* ---- what depends on the index ---- */

static int read_mask(const char *name, const char *text, enum tl_encoding encoding,
		     unsigned bits, uint64_t *out)
{
	char reason[256];

	*out = 0;
	if (!text || !tl_parse_encoded(encoding, text, strlen(text), bits, name, out, reason,
				       sizeof(reason)))
		return 0;
	return tl_usage_error("%s", reason);
}

/* Numbers between white space and commas. Returns how many, or -1 for anything else. */
static int read_numbers(const char *s, uint8_t *out, int max)
{
	static const char between[] = " \t\r\n,";
	uint64_t number;
	size_t length;
	int n = 0;

	for (s += strspn(s, between); *s; s += strspn(s, between)) {
		length = strcspn(s, between);
		if (n == max || tl_parse_decimal(s, length, UINT8_MAX, &number))
			return -1;
		out[n++] = (uint8_t)number;
		s += length;
	}
	return n;
}

/* Up to room - 1 bytes, as a string; NUL bytes would hide what comes after them. */
static int read_file(const char *path, char *out, size_t room)
{
	FILE *file = fopen(path, "re");
	size_t n;
	int failed;

	if (!file)
		return tl_error("%s: cannot open: %s", path, strerror(errno));
	errno = 0;
	n = fread(out, 1, room, file);
	failed = ferror(file) ? errno : 0;
	fclose(file);
	if (failed)
		return tl_error("%s: cannot read: %s", path, strerror(failed));
	if (n == room || memchr(out, '\0', n))
		return tl_error("%s: no list of weights", path);
	out[n] = '\0';
	return 0;
}

static int read_weights(struct qr_ask *ask, unsigned bits)
{
	uint8_t numbers[64 + SECOND_BITS];
	char text[4096];
	int n;

	if (read_file(ask->weights_path, text, sizeof(text)))
		return TL_TROUBLE;
	n = read_numbers(text, numbers, (int)sizeof(numbers));
	if (n != (int)bits && n != (int)(bits + SECOND_BITS))
		return tl_error("%s: expected %u weights in 0..255, the first for the lowest bit, "
				"or %u with those of a second fingerprint",
				ask->weights_path, bits, bits + SECOND_BITS);
	memcpy(ask->weights[0], numbers, bits);
	ask->has_weights2 = n != (int)bits;
	if (ask->has_weights2)
		memcpy(ask->weights[1], numbers + bits, SECOND_BITS);
	return 0;
}

int qr_ask_prepare(struct qr_ask *ask, const struct qr_context *ctx, enum tl_encoding encoding)
{
	int rc = read_mask("--ignore", ask->ignore_text, TL_HEX, ctx->info.bits, &ask->ignore);

	if (!rc)
		rc = read_mask("--second", ask->fp2_text, encoding, SECOND_BITS, &ask->fp2);
	if (!rc && ask->weights_path)
		rc = read_weights(ask, ctx->info.bits);
	if (!rc && ask->newer_text)
		rc = qr_need_times(ctx, "--newer-than");
	if (rc)
		return rc;
	if (ask->fp2_text && !(ctx->info.flags & SIMIDX_CREATE_FP2))
		return tl_error("%s: has no second fingerprints, so --second does not "
				"fit", ctx->path);
	if (ask->fp2_text && ask->weights_path && !ask->has_weights2)
		return tl_error("%s: has no weights for --second", ask->weights_path);
	return 0;
}

unsigned qr_ask_sketch_flags(const struct qr_ask *ask, const simidx_info *info)
{
	return (ask->radius != QR_NOT_GIVEN ? 0 : SIMIDX_SKETCH_WEIGHTS) |
	       (info->flags & SIMIDX_CREATE_FP2 ? SIMIDX_SKETCH_FP2 : 0);
}

/* ---- queries ---- */

/* Give the sketch of a fingerprint what the row knows, or the options. */
static void complete_sketch(const struct qr_ask *ask, const struct in_row *row, unsigned bits,
			    simidx_sketch *sketch)
{
	const uint8_t *first = row->weights, *second = row->weights2;

	if (!first && ask->weights_path) {
		first = ask->weights[0];
		second = row->has_fp2 && ask->has_weights2 ? ask->weights[1] : NULL;
	}
	sketch->bits = bits;
	if (ask->radius != QR_NOT_GIVEN)
		first = NULL;
	if (first) {
		sketch->flags |= SIMIDX_SKETCH_WEIGHTS;
		memcpy(sketch->weights, first, bits);
	}
	if (first && second)
		memcpy(sketch->weights2, second, SECOND_BITS);
	if (first ? second != NULL : row->has_fp2)
		sketch->flags |= SIMIDX_SKETCH_FP2;
}

/* The weights are those of the sketch: what is asked for in place of the defaults. */
static void ask_by_weights(const struct qr_ask *ask, simidx_query *query)
{
	if (ask->accept != QR_NOT_GIVEN)
		query->radius = query->radius2 = ask->accept;
	query->complete = ask->complete;
	if (!ask->probes && !ask->complete)
		return;
	query->probes = ask->probes;
	query->flags &= ~SIMIDX_QUERY_SCAN_SMALL;
}

static void ask_by_bits(const struct qr_ask *ask, const simidx_info *info, int has_fp2,
			simidx_query *query)
{
	unsigned usual = ask->mode == SIMIDX_NEAREST ? info->bits : SIMIDX_DEFAULT_RADIUS;

	query->radius = ask->radius != QR_NOT_GIVEN ? ask->radius : usual;
	if (!has_fp2)
		return;
	query->flags |= SIMIDX_QUERY_FP2;
	query->radius2 = ask->accept != QR_NOT_GIVEN ? ask->accept : FP2_RADIUS;
	/* The second distance adds to the first, which therefore need not be looked for above. */
	if (query->radius > query->radius2)
		query->radius = query->radius2;
}

/* Bits that are ignored weigh nothing, and may differ besides those that may differ anyway. */
static void ignore_bits(const struct qr_ask *ask, unsigned bits, simidx_sketch *sketch,
			simidx_query *query)
{
	if (!ask->ignore)
		return;
	if (!query->weights)
		memset(sketch->weights, 1, bits);
	for (unsigned b = 0; b < bits; b++) {
		if (!(ask->ignore >> b & 1))
			continue;
		query->max_bits += query->weights && sketch->weights[b];
		sketch->weights[b] = 0;
	}
	query->weights = sketch->weights;
}

int qr_ask_query(const struct qr_ask *ask, const struct qr_context *ctx,
		 const struct in_row *row, simidx_sketch *sketch, simidx_query *out,
		 simidx_error *err)
{
	static const simidx_query empty = SIMIDX_QUERY_INIT;
	int is_fingerprint = row->kind == IN_FINGERPRINT, rc;
	unsigned bits = ctx->info.bits;

	*out = empty;
	if (is_fingerprint)
		complete_sketch(ask, row, bits, sketch);
	if (is_fingerprint && tl_features_has_triples(ctx->info.profile))
		sketch->flags |= SIMIDX_SKETCH_TRIPLES;
	rc = simidx_sketch_query(ctx->index, sketch, out, err);
	if (rc)
		return rc;
	/* A fingerprint is what it is, also that of a text without features. */
	if (is_fingerprint)
		out->flags &= ~SIMIDX_QUERY_TEXT;
	if (out->weights)
		ask_by_weights(ask, out);
	else
		ask_by_bits(ask, &ctx->info,
			    is_fingerprint && row->has_fp2 && ctx->info.flags & SIMIDX_CREATE_FP2,
			    out);
	ignore_bits(ask, bits, sketch, out);
	out->flags |= ask->show == QR_SHOW_MATCHES ? SIMIDX_QUERY_LABELS : 0;
	out->mode = ask->mode;
	out->limit = ask->limit;
	out->newer_than = ask->newer_than;
	out->max_candidates = ask->max_candidates;
	return 0;
}
