/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "query/qr_similar.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"
#include "common/tl_options.h"
#include "query/qr_json.h"

#ifdef HAVE_JSON

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *text_object(const struct qr_similar *s, int i)
{
	const simidx_sketch *sketch = &s->sketch[i];
	const char *path = s->path[i];
	char fp[QR_FP_SIZE], fp2[QR_FP_SIZE];

	qr_format_fingerprint(fp, sketch->fp, s->bits);
	qr_format_fingerprint(fp2, sketch->fp2, 64);
	return json_pack("{s:s*, s:s, s:s, s:I, s:I, s:b}", "path",
			 tl_is_utf8(path, strlen(path)) ? path : NULL, "fp", fp, "fp2", fp2,
			 "tokens", (json_int_t)sketch->n_tokens, "features",
			 (json_int_t)sketch->n_features, "short",
			 (sketch->flags & SIMIDX_SKETCH_SHORT) != 0);
}

static json_t *bit_object(const struct qr_similar *s, unsigned bit)
{
	return json_pack("{s:i, s:[f, f], s:b}", "bit", (int)bit, "weights",
			 s->sketch[0].weights[bit] / 32.0, s->sketch[1].weights[bit] / 32.0,
			 "differs", (int)((s->sketch[0].fp ^ s->sketch[1].fp) >> bit & 1));
}

static json_t *feature_object(const struct qr_feature *feature)
{
	char *name = malloc(feature->size + 1);
	json_t *object;

	if (!name)
		return NULL;
	qr_similar_name(feature, name);
	object = json_pack("{s:s%, s:[f, f]}", "feature", name, feature->size, "weights",
			   feature->weight[0] / 65536.0, feature->weight[1] / 65536.0);
	free(name);
	return object;
}

int qr_similar_json(const struct qr_similar *s)
{
	json_t *bits = json_array(), *features = json_array(), *object;
	int failed = 0;

	for (unsigned i = 0; i < s->bits && i < s->show; i++)
		failed |= json_array_append_new(bits, bit_object(s, s->bit[i]));
	for (size_t i = 0; i < s->n_features && i < s->show; i++)
		failed |= json_array_append_new(features, feature_object(&s->feature[i]));
	object = json_pack("{s:s, s:[o, o], s:i, s:i, s:[f, f], s:f, s:o, s:o}", "profile",
			   s->profile, "texts", text_object(s, 0), text_object(s, 1), "distance",
			   (int)s->distance, "distance2", (int)s->distance2, "weighted",
			   s->weighted[0] / 32.0, s->weighted[1] / 32.0, "cosine", s->cosine,
			   "bits", bits, "features", features);
	failed |= !object;
	if (failed)
		tl_error("out of memory");
	else
		failed = json_dumpf(object, stdout, JSON_COMPACT) || putchar('\n') == EOF;
	json_decref(object);
	return failed || tl_output_failed() ? TL_TROUBLE : 0;
}

#else

int qr_similar_json(const struct qr_similar *s)
{
	(void)s;
	return tl_error("%s", qr_json_missing());
}

#endif
