/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unicode/uversion.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

/* What one buffer may keep for the next text. */
#define KEEP_BYTES ((size_t)4 << 20)

/** Count the words and pairs of one stretch. */
static int count_stretch(simidx_text *text, const uint8_t *utf8, size_t size,
			 simidx_error *err)
{
	sx_words *words = &text->words;
	int rc;

	rc = sx_words_stretch(words, &utf8, &size, err);
	if (!rc)
		rc = sx_decode(&text->units, utf8, size, err);
	if (!rc)
		rc = sx_nfkc(&text->units, &text->spare, err);
	if (!rc)
		rc = sx_fold(&text->units, &text->spare, err);
	if (!rc)
		rc = sx_words_split(words, &text->units, err);
	while (!rc) {
		rc = sx_words_fill(words, err);
		if (rc || words->n == words->n_old)
			break;
		rc = sx_features_count(&text->features, words, err);
	}
	return rc;
}

int sx_text_extract(simidx_text *text, const uint8_t *utf8, size_t size, simidx_error *err)
{
	size_t n;
	int rc;

	sx_words_begin(&text->words);
	rc = sx_features_begin(&text->features, size, err);
	for (; size && !rc; utf8 += n, size -= n) {
		n = sx_stretch(utf8, size, text->stretch, text->stretch_max);
		rc = count_stretch(text, utf8, n, err);
	}
	if (!rc)
		sx_features_finish(&text->features);
	return rc;
}

/** Free what a normal document does not need. */
static void trim(simidx_text *text)
{
	size_t unit = sizeof(*text->units.at);

	/* ICU's break iterator keeps caches of its own, as large as these. */
	if (text->units.room * unit > KEEP_BYTES || text->spare.room * unit > KEEP_BYTES ||
	    text->words.room > KEEP_BYTES) {
		free(text->units.at);
		free(text->spare.at);
		memset(&text->units, 0, sizeof(text->units));
		memset(&text->spare, 0, sizeof(text->spare));
		sx_words_free(&text->words);
	}
	if (text->features.room * sizeof(*text->features.slot) > KEEP_BYTES) {
		free(text->features.slot);
		memset(&text->features, 0, sizeof(text->features));
	}
}

int simidx_text_fingerprint(simidx_text *text, const void *utf8, size_t size, unsigned flags,
			    simidx_sketch *out, simidx_error *err)
{
	uint64_t n_words;
	int rc;

	sx_err_clear(err);
	if (!out || out->size != sizeof(*out))
		return sx_fail(err, SIMIDX_E_ARG, "sketch is NULL or of another size");
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	if (!text || (!utf8 && size))
		return sx_fail(err, SIMIDX_E_ARG, "extractor or text is NULL");
	if (flags & ~(SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS))
		return sx_fail(err, SIMIDX_E_ARG, "unknown flags 0x%x", flags);
	if (size > SX_TEXT_MAX)
		return sx_fail(err, SIMIDX_E_RANGE, "text of %zu bytes is longer than %zu",
			       size, SX_TEXT_MAX);

	rc = sx_text_extract(text, utf8, size, err);
	if (!rc)
		rc = simidx_hash_features(text->features.slot, text->features.n, text->bits,
					  flags, out, err);
	n_words = text->features.n_words;
	trim(text);
	if (rc)
		return rc;
	out->n_tokens = n_words;
	if (n_words < SIMIDX_SHORT_TOKENS)
		out->flags |= SIMIDX_SKETCH_SHORT;
	return SIMIDX_OK;
}

static int open_bits(unsigned bits, simidx_text **out, simidx_error *err)
{
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;
	simidx_text *text;
	size_t i;
	int rc = SIMIDX_OK;

	text = sx_calloc(1, sizeof(*text));
	if (!text)
		return sx_fail_nomem(err);
	text->bits = bits;
	text->stretch = SX_STRETCH_BYTES;
	text->stretch_max = SX_STRETCH_MAX_BYTES;
	text->words.ascii = sx_ascii_shared();
	sx_profile_format(text->profile, bits);
	/* This also shows that ICU has all that it takes. */
	for (i = 0; i < SX_N_PROBES && !rc; i++) {
		rc = simidx_text_fingerprint(text, sx_probes[i].text,
					     strlen(sx_probes[i].text), 0, &sketch, err);
		text->probes[i] = sketch.fp;
	}
	if (rc) {
		simidx_text_close(text);
		return rc;
	}
	*out = text;
	return SIMIDX_OK;
}

int simidx_text_open(const simidx_text_options *options, simidx_text **out, simidx_error *err)
{
	simidx_text_options o = SIMIDX_TEXT_OPTIONS_INIT;

	sx_err_clear(err);
	if (!out)
		return sx_fail(err, SIMIDX_E_ARG, "out is NULL");
	*out = NULL;
	if (options) {
		if (options->size != sizeof(o))
			return sx_fail(err, SIMIDX_E_ARG, "options of another size");
		o = *options;
	}
	if (o.extractor && strcmp(o.extractor, SX_EXTRACTOR) != 0)
		return sx_fail(err, SIMIDX_E_ARG, "unknown extractor \"%.64s\"; known: %s",
			       o.extractor, SX_EXTRACTOR);
	if (!o.bits)
		o.bits = SIMIDX_DEFAULT_BITS;
	if (o.bits < SIMIDX_MIN_BITS || o.bits > SIMIDX_MAX_BITS)
		return sx_fail(err, SIMIDX_E_ARG, "%u bits are not in %d..%d", o.bits,
			       SIMIDX_MIN_BITS, SIMIDX_MAX_BITS);
	return open_bits(o.bits, out, err);
}

int simidx_text_open_for(simidx *index, simidx_text **out, simidx_error *err)
{
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_text *text = NULL;
	int rc;

	sx_err_clear(err);
	if (!out)
		return sx_fail(err, SIMIDX_E_ARG, "out is NULL");
	*out = NULL;
	rc = simidx_get_info(index, &info, err);
	if (!rc)
		rc = sx_profile_check(info.profile, info.bits, err);
	if (!rc)
		rc = open_bits(info.bits, &text, err);
	if (!rc)
		rc = sx_probes_check(info.probes, info.n_probes, text->probes, err);
	if (rc) {
		simidx_text_close(text);
		return rc;
	}
	*out = text;
	return SIMIDX_OK;
}

void simidx_text_close(simidx_text *text)
{
	if (!text)
		return;
	free(text->units.at);
	free(text->spare.at);
	sx_words_free(&text->words);
	free(text->features.slot);
	free(text);
}

const char *simidx_text_profile(const simidx_text *text)
{
	return text ? text->profile : "";
}

const uint64_t *simidx_text_probes(const simidx_text *text, size_t *n)
{
	if (n)
		*n = text ? SX_N_PROBES : 0;
	return text ? text->probes : NULL;
}

static char build_info[U_MAX_VERSION_STRING_LENGTH + 4];

static void make_build_info(void)
{
	char version[U_MAX_VERSION_STRING_LENGTH];
	UVersionInfo parts;

	u_getVersion(parts);
	u_versionToString(parts, version);
	snprintf(build_info, sizeof(build_info), "ICU %s", version);
}

const char *simidx_text_build_info(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_build_info);
	return build_info;
}
