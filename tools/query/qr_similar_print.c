/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_similar.h"

#include "common/tl_escape.h"
#include "common/tl_term.h"
#include "query/qr_json.h"

#include <stdio.h>
#include <string.h>

#define FEATURE_UNIT 65536.0

static int is_short(const simidx_sketch *sketch)
{
	return (sketch->flags & SIMIDX_SKETCH_SHORT) != 0;
}

static int differs(const struct qr_similar *s, unsigned bit)
{
	return (s->sketch[0].fp ^ s->sketch[1].fp) >> bit & 1;
}

/* ---- for a reader ---- */

static void print_fps(const struct qr_context *ctx, const char *name, const uint64_t fp[2],
		      unsigned bits)
{
	printf("%-20s  ", name);
	qr_print_fingerprint(stdout, fp[0], bits);
	printf("%*s", 22 - (int)tl_hex_width(bits), "");
	qr_print_compared(ctx, stdout, fp[1], fp[0], bits);
	putchar('\n');
}

static void print_counts(const char *name, uint64_t a, uint64_t b)
{
	printf("%-20s  %-20s  %s\n", name, tl_term_count(a), tl_term_count(b));
}

static void print_bits(const struct qr_similar *s)
{
	printf("\nBits of the fingerprint, the least certain of the first text first:\n"
	       "%4s  %8s  %8s\n",
	       "bit", "weight", "weight");
	for (unsigned i = 0; i < s->bits && i < s->show; i++)
		printf("%4u  %8u  %8u%s\n", s->bit[i], s->sketch[0].weights[s->bit[i]],
		       s->sketch[1].weights[s->bit[i]],
		       differs(s, s->bit[i]) ? "  differs" : "");
}

static void print_feature(const struct qr_feature *feature)
{
	for (int i = 0; i < 2; i++) {
		if (feature->weight[i])
			printf("%10.4f", feature->weight[i] / FEATURE_UNIT);
		else
			printf("%10s", "-");
	}
	printf("  \"");
	tl_put_escaped(stdout, feature->bytes, feature->size);
	puts("\"");
}

static void print_features(const struct qr_similar *s)
{
	uint64_t shown = 0;

	printf("\nFeatures that weigh most:\n");
	for (size_t i = 0; i < s->n_features && i < s->show; i++)
		print_feature(&s->feature[i]);
	printf("\nFeatures of one text alone that weigh most:\n");
	for (size_t i = 0; i < s->n_features && shown < s->show; i++) {
		if (s->feature[i].weight[0] && s->feature[i].weight[1])
			continue;
		print_feature(&s->feature[i]);
		shown++;
	}
}

static void print_verdict(const struct qr_similar *s)
{
	if ((s->sketch[0].flags | s->sketch[1].flags) & SIMIDX_SKETCH_EMPTY)
		printf("\nnot near: the %s text has no words or digits, so nothing is near to it\n",
		       s->sketch[0].flags & SIMIDX_SKETCH_EMPTY ? "first" : "second");
	else if (s->distance > s->limit_bits)
		printf("\nnot near: %u bits differ, limit %u (weight %u, limit %u)\n", s->distance,
		       s->limit_bits, s->weight[0], s->limit);
	else
		printf("\n%snear: weight %u, limit %u\n", s->is_near ? "" : "not ", s->weight[0],
		       s->limit);
}

void qr_similar_print(const struct qr_context *ctx, const struct qr_similar *s)
{
	const simidx_sketch *a = &s->sketch[0], *b = &s->sketch[1];

	qr_print_word("first text", s->path[0]);
	qr_print_word("second text", s->path[1]);
	qr_print_word("profile", s->profile);
	print_fps(ctx, "fingerprints", (uint64_t[]){ a->fp, b->fp }, s->bits);
	if (s->has_fp2)
		print_fps(ctx, "second fingerprints", (uint64_t[]){ a->fp2, b->fp2 }, 64);
	print_counts("tokens", a->n_tokens, b->n_tokens);
	print_counts("features", a->n_features, b->n_features);
	printf("%-20s  %-20s  %s\n", "short", is_short(a) ? "yes" : "no",
	       is_short(b) ? "yes" : "no");
	printf("\n%-20s  %u of %u bits", "distance", s->distance, s->bits);
	if (s->has_fp2)
		printf(", second fingerprints %u of 64", s->distance2);
	printf("\n%-20s  %u by the first text, %u by the second\n", "weight", s->weight[0],
	       s->weight[1]);
	printf("%-20s  %.4f\n", "cosine of features", s->cosine);
	print_bits(s);
	print_features(s);
	print_verdict(s);
}

/* ---- for programs ---- */

static void json_text(struct tl_json *json, const struct qr_similar *s, int i)
{
	const simidx_sketch *sketch = &s->sketch[i];

	tl_json_open(json, NULL, '{');
	tl_json_bytes(json, "path", s->path[i], strlen(s->path[i]));
	qr_json_fingerprint(json, "fp", sketch->fp, s->bits);
	qr_json_fingerprint(json, "fp2", sketch->fp2, 64);
	tl_json_unsigned(json, "tokens", sketch->n_tokens);
	tl_json_unsigned(json, "features", sketch->n_features);
	tl_json_bool(json, "short", is_short(sketch));
	tl_json_close(json, '}');
}

static void json_pair(struct tl_json *json, const char *key, unsigned first, unsigned second)
{
	tl_json_open(json, key, '[');
	tl_json_unsigned(json, NULL, first);
	tl_json_unsigned(json, NULL, second);
	tl_json_close(json, ']');
}

static void json_bit(struct tl_json *json, const struct qr_similar *s, unsigned bit)
{
	tl_json_open(json, NULL, '{');
	tl_json_unsigned(json, "bit", bit);
	json_pair(json, "weights", s->sketch[0].weights[bit], s->sketch[1].weights[bit]);
	tl_json_bool(json, "differs", differs(s, bit));
	tl_json_close(json, '}');
}

static void json_feature(struct tl_json *json, const struct qr_feature *feature)
{
	tl_json_open(json, NULL, '{');
	tl_json_bytes(json, "feature", feature->bytes, feature->size);
	tl_json_open(json, "weights", '[');
	tl_json_real(json, NULL, feature->weight[0] / FEATURE_UNIT);
	tl_json_real(json, NULL, feature->weight[1] / FEATURE_UNIT);
	tl_json_close(json, ']');
	tl_json_close(json, '}');
}

void qr_similar_json(const struct qr_similar *s)
{
	struct tl_json json = tl_json_line(stdout);

	tl_json_string(&json, "profile", s->profile);
	tl_json_open(&json, "texts", '[');
	json_text(&json, s, 0);
	json_text(&json, s, 1);
	tl_json_close(&json, ']');
	tl_json_unsigned(&json, "distance", s->distance);
	tl_json_unsigned(&json, "distance2", s->distance2);
	json_pair(&json, "weight", s->weight[0], s->weight[1]);
	tl_json_unsigned(&json, "limit", s->limit);
	tl_json_unsigned(&json, "limit_bits", s->limit_bits);
	tl_json_bool(&json, "near", s->is_near);
	tl_json_real(&json, "cosine", s->cosine);
	tl_json_open(&json, "bits", '[');
	for (unsigned i = 0; i < s->bits && i < s->show; i++)
		json_bit(&json, s, s->bit[i]);
	tl_json_close(&json, ']');
	tl_json_open(&json, "features", '[');
	for (size_t i = 0; i < s->n_features && i < s->show; i++)
		json_feature(&json, &s->feature[i]);
	tl_json_close(&json, ']');
	tl_json_end(&json);
}
