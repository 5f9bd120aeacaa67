/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_similar.h"

#include "common/tl_index.h"
#include "common/tl_msg.h"
#include "common/tl_path.h"
#include "common/tl_text_options.h"
#include "input/in_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


static struct options {
	struct tl_text_options text;
	const char *index; /* NULL = the options say all */
	unsigned bits;     /* 0 = not given */
	uint64_t show;
} options;

/* ---- features ---- */

/* Collects the features of one text. */
struct collector {
	struct qr_similar *similar;
	int which;
};

static int collect(void *ctx, const simidx_feature *feature, const char *bytes, size_t n_bytes)
{
	struct collector *c = ctx;
	struct qr_similar *s = c->similar;
	struct qr_feature *own;

	if (in_room_have(&s->room, (s->n_features + 1) * sizeof(*own)))
		return SIMIDX_E_NOMEM;
	s->feature = s->room.bytes;
	own = &s->feature[s->n_features];
	*own = (struct qr_feature){ .hash = feature->hash, .size = n_bytes };
	own->weight[c->which] = feature->weight;
	own->bytes = tl_text_words(bytes, n_bytes);
	if (!own->bytes)
		return SIMIDX_E_NOMEM;
	s->n_features++;
	return 0;
}

static int by_hash(const void *a, const void *b)
{
	const struct qr_feature *x = a, *y = b;

	return (x->hash > y->hash) - (x->hash < y->hash);
}

static uint32_t heavier(const struct qr_feature *feature)
{
	return feature->weight[0] > feature->weight[1] ? feature->weight[0] : feature->weight[1];
}

static int by_weight(const void *a, const void *b)
{
	uint32_t x = heavier(a), y = heavier(b);

	return x != y ? (x < y ? 1 : -1) : by_hash(a, b);
}

/* What both texts have becomes one feature with two weights. */
static void join_features(struct qr_similar *s)
{
	double both = 0, square[2] = { 0, 0 };
	struct qr_feature *f = s->feature;
	size_t i, n = 0;

	if (s->n_features)
		qsort(f, s->n_features, sizeof(*f), by_hash);
	for (i = 0; i < s->n_features; i++) {
		if (n && f[n - 1].hash == f[i].hash) {
			f[n - 1].weight[0] += f[i].weight[0];
			f[n - 1].weight[1] += f[i].weight[1];
			free(f[i].bytes);
		} else {
			f[n++] = f[i];
		}
	}
	s->n_features = n;
	for (i = 0; i < n; i++) {
		both += (double)f[i].weight[0] * f[i].weight[1];
		square[0] += (double)f[i].weight[0] * f[i].weight[0];
		square[1] += (double)f[i].weight[1] * f[i].weight[1];
	}
	s->cosine = both > 0 ? both / sqrt(square[0]) / sqrt(square[1]) : 0;
	if (n)
		qsort(f, n, sizeof(*f), by_weight);
}

/* ---- comparing ---- */

static unsigned weigh(const struct qr_similar *s, int by)
{
	const uint8_t *weights = s->sketch[by].weights, *weights2 = s->sketch[by].weights2;
	uint64_t differ = s->sketch[0].fp ^ s->sketch[1].fp;
	uint64_t differ2 = s->has_fp2 ? s->sketch[0].fp2 ^ s->sketch[1].fp2 : 0;
	unsigned sum = 0;

	for (unsigned b = 0; b < 64; b++) {
		sum += differ >> b & 1 ? weights[b] : 0;
		sum += differ2 >> b & 1 ? weights2[b] : 0;
	}
	return sum;
}

/* The bits in the order of the weights of the first text, equal ones the lower first. */
static void order_bits(struct qr_similar *s)
{
	const uint8_t *weight = s->sketch[0].weights;
	unsigned i, k;

	for (i = 0; i < s->bits; i++) {
		for (k = i; k > 0 && weight[s->bit[k - 1]] > weight[i]; k--)
			s->bit[k] = s->bit[k - 1];
		s->bit[k] = (uint8_t)i;
	}
}

/* As search does when nothing else is asked for. */
static void judge(struct qr_similar *s)
{
	s->limit = !s->has_fp2					     ? SIMIDX_TEXT_RADIUS_NO_FP2 :
		   s->sketch[0].flags & SIMIDX_SKETCH_TRIPLES ? SIMIDX_TEXT_RADIUS :
							     SIMIDX_TEXT_RADIUS_SAME;
	s->limit_bits = SIMIDX_TEXT_BITS;
	for (unsigned b = 0; b < s->bits; b++)
		s->limit_bits += s->sketch[0].weights[b] == 0;
	s->is_near = s->weight[0] <= s->limit && s->distance <= s->limit_bits &&
		     !((s->sketch[0].flags | s->sketch[1].flags) & SIMIDX_SKETCH_EMPTY);
}

static void compare(struct qr_similar *s)
{
	s->distance = simidx_distance(s->sketch[0].fp, s->sketch[1].fp);
	s->distance2 = simidx_distance(s->sketch[0].fp2, s->sketch[1].fp2);
	s->weight[0] = weigh(s, 0);
	s->weight[1] = weigh(s, 1);
	judge(s);
	order_bits(s);
	join_features(s);
}

/* ---- reading ---- */

static int take_text(struct qr_similar *s, int which, simidx_text *text,
		     const struct in_row *row)
{
	const unsigned flags = SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS;
	struct collector collector = { s, which };
	simidx_error err;
	int rc;

	s->sketch[which] = (simidx_sketch)SIMIDX_SKETCH_INIT;
	rc = simidx_text_fingerprint(text, row->text, row->text_size, flags, &s->sketch[which],
				 &err);
	if (!rc)
		rc = simidx_text_each_feature(text, row->text, row->text_size, collect, &collector,
					  &err);
	if (rc)
		return tl_error("%s: %s", s->path[which],
				*err.text ? err.text : simidx_strerror(rc));
	return 0;
}

static int read_text(struct qr_similar *s, int which, simidx_text *text)
{
	const char *path = s->path[which];
	struct in_reader reader;
	struct in_row row;
	enum in_result rc;
	int code;

	in_reader_init(&reader, s->bits);
	rc = in_reader_open(&reader, path, &in_format_text, strcmp(path, "-") == 0);
	if (rc == IN_ROW)
		rc = in_reader_next(&reader, &row);
	if (rc == IN_ROW)
		code = take_text(s, which, text, &row);
	else
		code = tl_error("%s: %s%s", path, reader.reason,
				!access(path, F_OK) ? "" :
				"; A and B are files: <(echo 'some words') is one");
	if (tl_path_is_index(path))
		tl_notice("'simidx-query pairs INDEX OTHER' compares indexes, 'simidx-query search "
			  "--text INDEX FILE' searches one");
	else if (rc == IN_SKIPPED)
		tl_notice("'simidx-dedup -r --binary' compares all files of directories, and by "
			  "bytes those that are no texts");
	else if (in_format_of_path(path, NULL) != &in_format_text)
		tl_notice("%s has rows, and is compared as one text; 'simidx-dedup --pairs' "
			  "compares rows", path);
	in_reader_free(&reader);
	return code;
}

static int open_text(struct qr_context *ctx, struct qr_similar *s, simidx_text **text)
{
	simidx_error err;
	int rc;

	s->bits = options.bits ? options.bits : SIMIDX_DEFAULT_BITS;
	s->has_fp2 = 1;
	if (!options.index)
		return tl_text_open(&options.text, s->bits, text, &err) ?
			       tl_index_error(NULL, &err) :
			       0;
	if (options.bits)
		return tl_usage_error("--bits: how many %s has cannot be chosen", options.index);
	if (qr_set_index(ctx, options.index) || qr_open(ctx))
		return TL_TROUBLE;
	do
		rc = tl_text_open_for(ctx->index, &options.text, text, &err);
	while (qr_again(ctx, rc, &err));
	s->bits = ctx->info.bits;
	s->has_fp2 = (ctx->info.flags & SIMIDX_CREATE_FP2) != 0;
	return rc ? qr_fail(ctx, &err) : 0;
}

/* ---- the command ---- */

static int compare_files(struct qr_context *ctx, char **path)
{
	struct qr_similar s = { .path = { path[0], path[1] }, .show = options.show };
	simidx_text *text = NULL;
	int code = open_text(ctx, &s, &text);

	for (int i = 0; i < 2 && !code; i++)
		code = read_text(&s, i, text);
	if (!code) {
		s.profile = simidx_text_profile(text);
		compare(&s);
		if (ctx->json)
			qr_similar_json(&s);
		else
			qr_similar_print(ctx, &s);
		code = s.is_near ? TL_OK : TL_PARTLY;
	}
	for (size_t i = 0; i < s.n_features; i++)
		free(s.feature[i].bytes);
	free(s.feature);
	simidx_text_close(text);
	return code;
}

static const struct tl_option rows[] = {
	{ 0, "index", "INDEX", TL_TEXT(struct options, index),
	  .help = "handle the texts as this index does",
	  .more = "Handle the texts as this index does. It does not hold the files of --stop, "
		  "--words and --idf, so these must be given again." },
	{ 0, "bits", "F", TL_NUMBER(struct options, bits, SIMIDX_MIN_BITS, SIMIDX_MAX_BITS),
	  .otherwise = TL_STRING(SIMIDX_DEFAULT_BITS), .help = "bits of a fingerprint, 16..64",
	  .more = "Bits of a fingerprint, 16..64. Those of INDEX cannot be chosen." },
	{ 0, "show", "N", TL_COUNT(struct options, show, 0, UINT64_MAX), .standard = "10",
	  .help = "how many bits and features are shown" },
	{ TL_SECTION("How texts become fingerprints") },
	{ TL_PARAGRAPH("As --index says, else as these options say.") },
	{ TL_GROUP(tl_text_rows, struct options, text) },
	{ TL_SECTION("Output") },
	{ TL_PARAGRAPH("For a reader, ending in \"near\" or \"not near\": whether a search for the "
		       "first FILE finds the second. Weights of bits are in the units of 'search "
		       "--accept', and the limits are its defaults.\n"
		       "With --json: an object with profile, texts (two objects with path, fp, "
		       "fp2, tokens, features and short), distance, distance2, weight (by the "
		       "first text and by the second), limit, limit_bits, near, cosine, bits "
		       "(objects with bit, weights and differs) and features (objects with feature "
		       "and weights).") },
	{ TL_SECTION("Examples") },
	{ TL_EXAMPLE("simidx-query similar a.txt b.txt", "Compare two texts.") },
	{ TL_EXAMPLE("simidx-query similar --index articles.simidx a.txt b.txt",
		     "Compare them as a search in an index does.") },
	{ TL_SECTION("Exit status") },
	{ TL_PARAGRAPH("0: near. 1: not near. 2: error.") },
	{ 0 },
};

static int run_similar(struct qr_context *ctx)
{
	if (options.text.short_texts == TL_SHORT_REJECT)
		return tl_usage_error("similar compares short texts, too: --short reject does not "
				      "fit");
	if (in_files_n_stdin(ctx->operands, 2) > 1)
		return tl_usage_error("standard input cannot be read twice");
	return compare_files(ctx, ctx->operands);
}

const struct qr_command qr_similar = {
	.line = { .name = "similar", .operands = "FILE FILE", .least = 2, .most = 2,
		  .shortest = "FILE FILE",
		  .summary = "tell why two texts are near to each other or not",
		  .about = "Tell why two texts are, or are not, near to each other: their "
			   "fingerprints, how far these are apart, how certain their bits are, and "
			   "what the texts consist of. A FILE is a UTF-8 text, '-' standard "
			   "input.\n"
			   "The weight of a bit tells how much it takes to change it. What counts "
			   "is the sum of the weights of the bits that differ, in both "
			   "fingerprints: bits that were nearly even add little.",
		  .options = rows, .program = &qr_program },
	.options = &options, .run = run_similar,
};
