/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "common/tl_text.h"

#include <stdio.h>
#include <string.h>

#ifdef HAVE_TEXT

#include <simidx_text.h>

/* struct tl_text is only a name for simidx_text, so that the callers need not include it. */
static simidx_text *real(struct tl_text *text)
{
	return (simidx_text *)text;
}

const char *tl_text_missing(void)
{
	return NULL;
}

static simidx_text_options translate(const struct tl_text_options *from, unsigned bits)
{
	simidx_text_options to = SIMIDX_TEXT_OPTIONS_INIT;

	to.bits = bits;
	if (!from)
		return to;
	to.extractor = from->extractor;
	to.grams = from->grams;
	to.weights = from->weights;
	to.top = from->top;
	if (from->stop_en || from->stop_zh)
		to.stop = !from->stop_zh ? "en" : !from->stop_en ? "zh" : "en,zh";
	to.stop_words = from->stop.data;
	to.stop_words_size = from->stop.size;
	to.words = from->words.data;
	to.words_size = from->words.size;
	to.idf = from->idf.data;
	to.idf_size = from->idf.size;
	to.idf_name = from->idf_path;
	to.stem = from->stem;
	to.min_tokens = from->min_tokens;
	to.short_exact = from->short_texts == TL_SHORT_EXACT;
	to.seed = from->seed;
	to.seed_given = from->has_seed;
	return to;
}

int tl_text_open(const struct tl_text_options *options, unsigned bits, struct tl_text **out,
		 simidx_error *err)
{
	simidx_text_options how = translate(options, bits);
	simidx_text *text;
	int rc = simidx_text_open(&how, &text, err);

	*out = (struct tl_text *)text;
	return rc;
}

int tl_text_open_for(simidx *index, const struct tl_text_options *options, struct tl_text **out,
		     simidx_error *err)
{
	simidx_text_options how = translate(options, 0);
	simidx_text *text;
	int rc = simidx_text_open_for(index, &how, &text, err);

	*out = (struct tl_text *)text;
	if (!rc && options && options->short_texts == TL_SHORT_FLAG &&
	    strstr(simidx_text_profile(text), " exact=")) {
		tl_text_close(*out);
		*out = NULL;
		rc = err->code = SIMIDX_E_MISMATCH;
		err->sys_errno = 0;
		snprintf(err->text, sizeof(err->text), "the index was made with --short exact: "
			 "--short flag does not fit");
	}
	return rc;
}

int tl_text_clone(struct tl_text *text, struct tl_text **out, simidx_error *err)
{
	simidx_text *clone;
	int rc = simidx_text_clone(real(text), &clone, err);

	*out = (struct tl_text *)clone;
	return rc;
}

void tl_text_close(struct tl_text *text)
{
	simidx_text_close(real(text));
}

int tl_text_fingerprint(struct tl_text *text, const void *utf8, size_t size, unsigned flags,
			simidx_sketch *out, simidx_error *err)
{
	return simidx_text_fingerprint(real(text), utf8, size, flags, out, err);
}

int tl_text_each_feature(struct tl_text *text, const void *utf8, size_t size,
			 tl_text_feature *callback, void *ctx, simidx_error *err)
{
	return simidx_text_each_feature(real(text), utf8, size, callback, ctx, err);
}

uint32_t tl_text_idf(uint64_t n_documents, uint64_t n_with)
{
	return simidx_text_idf(n_documents, n_with);
}

const char *tl_text_profile(const struct tl_text *text)
{
	return simidx_text_profile((const simidx_text *)text);
}

void tl_text_describe(const struct tl_text *text, simidx_create_options *options)
{
	const simidx_text *extractor = (const simidx_text *)text;

	options->profile = simidx_text_profile(extractor);
	options->check_fps = simidx_text_check_fps(extractor, &options->n_check_fps);
}

const char *tl_text_build_info(void)
{
	return simidx_text_build_info();
}

#else /* !HAVE_TEXT */

#define MISSING "this program was built without text support"

const char *tl_text_missing(void)
{
	return MISSING;
}

static int fail(simidx_error *err)
{
	err->code = SIMIDX_E_UNSUPPORTED;
	err->sys_errno = 0;
	snprintf(err->text, sizeof(err->text), "%s", MISSING);
	return err->code;
}

int tl_text_open(const struct tl_text_options *options, unsigned bits, struct tl_text **out,
		 simidx_error *err)
{
	(void)options;
	(void)bits;
	*out = NULL;
	return fail(err);
}

int tl_text_open_for(simidx *index, const struct tl_text_options *options, struct tl_text **out,
		     simidx_error *err)
{
	(void)index;
	(void)options;
	*out = NULL;
	return fail(err);
}

int tl_text_clone(struct tl_text *text, struct tl_text **out, simidx_error *err)
{
	(void)text;
	*out = NULL;
	return fail(err);
}

void tl_text_close(struct tl_text *text)
{
	(void)text;
}

int tl_text_fingerprint(struct tl_text *text, const void *utf8, size_t size, unsigned flags,
			simidx_sketch *out, simidx_error *err)
{
	(void)text;
	(void)utf8;
	(void)size;
	(void)flags;
	(void)out;
	return fail(err);
}

int tl_text_each_feature(struct tl_text *text, const void *utf8, size_t size,
			 tl_text_feature *callback, void *ctx, simidx_error *err)
{
	(void)text;
	(void)utf8;
	(void)size;
	(void)callback;
	(void)ctx;
	return fail(err);
}

uint32_t tl_text_idf(uint64_t n_documents, uint64_t n_with)
{
	(void)n_documents;
	(void)n_with;
	return 0;
}

const char *tl_text_profile(const struct tl_text *text)
{
	(void)text;
	return "";
}

void tl_text_describe(const struct tl_text *text, simidx_create_options *options)
{
	(void)text;
	(void)options;
}

const char *tl_text_build_info(void)
{
	return "without text support";
}

#endif
