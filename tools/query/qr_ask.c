/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_ask.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>


/* Largest values that mean anything: 128 weights of 255; the probes that the library makes. */
#define MAX_WEIGHT_SUM (128u * 255)
#define MAX_PROBES ((uint64_t)1 << 20)

/* Two fingerprints without weights: bits in which both together may differ. */
#define FP2_RADIUS 16

#define SECOND_BITS 64

static int take_number(const char *name, const char *value, uint64_t min, uint64_t max,
		       unsigned *out)
{
	uint64_t number;

	if (tl_option_number(name, value, min, max, &number))
		return -1;
	*out = (unsigned)number;
	return 0;
}

/* One of the ways to want less than everything. */
static int take_way(struct qr_ask *ask, unsigned mode, enum qr_show show)
{
	ask->ways++;
	ask->mode = mode;
	ask->show = show;
	return 0;
}

static int take_limit(struct qr_ask *ask, const char *name, const char *value, unsigned mode)
{
	take_way(ask, mode, QR_SHOW_MATCHES);
	return tl_option_number(name, value, 1, UINT64_MAX, &ask->limit);
}

/* The options about how much is wanted. Returns as qr_ask_take(). */
static int take_extent(struct qr_ask *ask, int c, const char *value)
{
	switch (c) {
	case QR_OPT_COUNT:
		return take_way(ask, SIMIDX_COUNT, QR_SHOW_COUNT);
	case QR_OPT_EXISTS:
		return take_way(ask, SIMIDX_FIRST, QR_SHOW_EXISTS);
	case QR_OPT_FIRST:
		return take_way(ask, SIMIDX_FIRST, QR_SHOW_MATCHES);
	case QR_OPT_LIMIT:
		return take_limit(ask, "--limit", value, SIMIDX_ALL);
	case QR_OPT_NEAREST:
		return take_limit(ask, "--nearest", value, SIMIDX_NEAREST);
	case QR_OPT_MAX_CANDIDATES:
		return tl_option_number("--max-candidates", value, 1, UINT64_MAX,
					&ask->max_candidates);
	case QR_OPT_STRICT:
		ask->strict = 1;
		return 0;
	default:
		return 1;
	}
}

int qr_ask_take(struct qr_ask *ask, int c, const char *value)
{
	switch (c) {
	case 'k':
		ask->has_radius = 1;
		return take_number("--radius", value, 0, SIMIDX_MAX_RADIUS, &ask->radius);
	case QR_OPT_ACCEPT:
		ask->has_accept = 1;
		return take_number("--accept", value, 0, MAX_WEIGHT_SUM, &ask->accept);
	case QR_OPT_COMPLETE:
		return take_number("--complete", value, 1, MAX_WEIGHT_SUM, &ask->complete);
	case QR_OPT_PROBES:
		return take_number("--probes", value, 1, MAX_PROBES, &ask->probes);
	case QR_OPT_FP2:
		ask->fp2_text = value;
		return 0;
	case QR_OPT_IGNORE:
		ask->ignore_text = value;
		return 0;
	case QR_OPT_WEIGHTS:
		ask->weights_path = value;
		return 0;
	default:
		return take_extent(ask, c, value);
	}
}

/* The first option about weights that was given, or NULL. */
static const char *weight_option(const struct qr_ask *ask)
{
	return ask->weights_path ? "--bit-weights"
	       : ask->probes	 ? "--probes"
	       : ask->complete	 ? "--complete"
				 : NULL;
}

int qr_ask_check(const struct qr_ask *ask, unsigned rows)
{
	int has_weights = ask->weights_path || rows & (QR_MAY_BE_TEXT | QR_MAY_HAVE_MORE);
	int has_fp2 = ask->fp2_text || rows & QR_MAY_HAVE_MORE;
	const char *option = weight_option(ask);

	if (ask->ways > 1)
		return tl_usage_error("--limit, --first, --count, --exists and --nearest exclude "
				      "each other");
	if (ask->probes && ask->complete)
		return tl_usage_error("--probes and --complete exclude each other");
	if (ask->has_radius && option)
		return tl_usage_error("-k asks for the plain distance, which %s has no use for",
				      option);
	if (ask->weights_path && !(rows & QR_MAY_BE_FINGERPRINT))
		return tl_usage_error("--bit-weights is for fingerprints; texts have their own");
	if (option && !has_weights)
		return tl_usage_error("%s goes with texts or weights", option);
	if (ask->fp2_text && !(rows & QR_IS_ONE))
		return tl_usage_error("--fp2 goes with one fingerprint");
	if (ask->has_accept && !has_fp2 && (!has_weights || ask->has_radius))
		return tl_usage_error("--accept goes with weights or second fingerprints");
	return 0;
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
	return tl_error("%s", reason);
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
		rc = read_mask("--fp2", ask->fp2_text, encoding, SECOND_BITS, &ask->fp2);
	if (!rc && ask->weights_path)
		rc = read_weights(ask, ctx->info.bits);
	if (rc)
		return rc;
	if (ask->fp2_text && !(ctx->info.flags & SIMIDX_CREATE_FP2))
		return tl_error("%s: has no second fingerprints, so --fp2 does not fit", ctx->path);
	if (ask->fp2_text && ask->weights_path && !ask->has_weights2)
		return tl_error("%s: has no weights for --fp2", ask->weights_path);
	return 0;
}

unsigned qr_ask_sketch_flags(const struct qr_ask *ask, const simidx_info *info)
{
	return (ask->has_radius ? 0 : SIMIDX_SKETCH_WEIGHTS) |
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
	if (ask->has_radius)
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
	if (ask->has_accept)
		query->radius = query->radius2 = ask->accept;
	query->complete = ask->complete;
	if (ask->probes || ask->complete)
		query->probes = ask->probes;
}

static void ask_by_bits(const struct qr_ask *ask, const simidx_info *info, int has_fp2,
			simidx_query *query)
{
	unsigned usual = ask->mode == SIMIDX_NEAREST ? info->bits : SIMIDX_DEFAULT_RADIUS;

	query->radius = ask->has_radius ? ask->radius : usual;
	if (!has_fp2)
		return;
	query->flags |= SIMIDX_QUERY_FP2;
	query->radius2 = ask->has_accept ? ask->accept : FP2_RADIUS;
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
	out->max_candidates = ask->max_candidates;
	return 0;
}
