/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "common/tl_text.h"

#include <stdio.h>

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

int tl_text_open(const char *extractor, unsigned bits, struct tl_text **out, simidx_error *err)
{
	simidx_text_options options = SIMIDX_TEXT_OPTIONS_INIT;
	simidx_text *text;
	int rc;

	options.extractor = extractor;
	options.bits = bits;
	rc = simidx_text_open(&options, &text, err);
	*out = (struct tl_text *)text;
	return rc;
}

int tl_text_open_for(simidx *index, struct tl_text **out, simidx_error *err)
{
	simidx_text *text;
	int rc = simidx_text_open_for(index, NULL, &text, err);

	*out = (struct tl_text *)text;
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

void tl_text_describe(const struct tl_text *text, simidx_create_options *options)
{
	const simidx_text *extractor = (const simidx_text *)text;

	options->profile = simidx_text_profile(extractor);
	options->probes = simidx_text_probes(extractor, &options->n_probes);
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

int tl_text_open(const char *extractor, unsigned bits, struct tl_text **out, simidx_error *err)
{
	(void)extractor;
	(void)bits;
	*out = NULL;
	return fail(err);
}

int tl_text_open_for(simidx *index, struct tl_text **out, simidx_error *err)
{
	(void)index;
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
