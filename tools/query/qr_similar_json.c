/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_similar.h"

#include "common/tl_json.h"
#include "common/tl_msg.h"
#include "common/tl_options.h"
#include "query/qr_print.h"

#include <string.h>

static void put_text(struct tl_json *json, const struct qr_similar *s, int i)
{
	const simidx_sketch *sketch = &s->sketch[i];
	char fp[QR_FP_SIZE], fp2[QR_FP_SIZE];

	qr_format_fingerprint(fp, sketch->fp, s->bits);
	qr_format_fingerprint(fp2, sketch->fp2, 64);
	tl_json_open(json, NULL, '{');
	tl_json_bytes(json, "path", s->path[i], strlen(s->path[i]));
	tl_json_string(json, "fp", fp);
	tl_json_string(json, "fp2", fp2);
	tl_json_unsigned(json, "tokens", sketch->n_tokens);
	tl_json_unsigned(json, "features", sketch->n_features);
	tl_json_bool(json, "short", (sketch->flags & SIMIDX_SKETCH_SHORT) != 0);
	tl_json_close(json, '}');
}

/* One figure of each text. */
static void put_pair(struct tl_json *json, const char *key, double first, double second)
{
	tl_json_open(json, key, '[');
	tl_json_real(json, NULL, first);
	tl_json_real(json, NULL, second);
	tl_json_close(json, ']');
}

static void put_bits(struct tl_json *json, const struct qr_similar *s)
{
	uint64_t differ = s->sketch[0].fp ^ s->sketch[1].fp;

	tl_json_open(json, "bits", '[');
	for (unsigned i = 0; i < s->bits && i < s->show; i++) {
		unsigned bit = s->bit[i];

		tl_json_open(json, NULL, '{');
		tl_json_unsigned(json, "bit", bit);
		put_pair(json, "weights", s->sketch[0].weights[bit] / 32.0,
			 s->sketch[1].weights[bit] / 32.0);
		tl_json_bool(json, "differs", (int)(differ >> bit & 1));
		tl_json_close(json, '}');
	}
	tl_json_close(json, ']');
}

static void put_features(struct tl_json *json, const struct qr_similar *s)
{
	tl_json_open(json, "features", '[');
	for (size_t i = 0; i < s->n_features && i < s->show; i++) {
		const struct qr_feature *feature = &s->feature[i];

		tl_json_open(json, NULL, '{');
		tl_json_bytes(json, "feature", feature->bytes, feature->size);
		put_pair(json, "weights", feature->weight[0] / 65536.0,
			 feature->weight[1] / 65536.0);
		tl_json_close(json, '}');
	}
	tl_json_close(json, ']');
}

int qr_similar_json(const struct qr_similar *s)
{
	struct tl_json json = { .out = stdout };

	tl_json_open(&json, NULL, '{');
	tl_json_string(&json, "profile", s->profile);
	tl_json_open(&json, "texts", '[');
	put_text(&json, s, 0);
	put_text(&json, s, 1);
	tl_json_close(&json, ']');
	tl_json_unsigned(&json, "distance", s->distance);
	tl_json_unsigned(&json, "distance2", s->distance2);
	put_pair(&json, "weighted", s->weighted[0] / 32.0, s->weighted[1] / 32.0);
	tl_json_real(&json, "cosine", s->cosine);
	put_bits(&json, s);
	put_features(&json, s);
	tl_json_close(&json, '}');
	putchar('\n');
	return tl_output_failed() ? TL_TROUBLE : 0;
}
