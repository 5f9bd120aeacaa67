/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * In place of libsimidx-text in a build without ICU: no extractor can be made, and every call
 * that needs one fails with SIMIDX_E_UNSUPPORTED.
 */

#include <simidx_text.h>

#include <stdio.h>

static int fail(simidx_error *err)
{
	err->code = SIMIDX_E_UNSUPPORTED;
	err->sys_errno = 0;
	snprintf(err->text, sizeof(err->text), "this program was built without text support");
	return err->code;
}

int simidx_text_open(const simidx_text_options *options, simidx_text **out, simidx_error *err)
{
	(void)options;
	*out = NULL;
	return fail(err);
}

int simidx_text_open_for(simidx *index, const simidx_text_options *options, simidx_text **out,
			 simidx_error *err)
{
	(void)index;
	return simidx_text_open(options, out, err);
}

int simidx_text_clone(const simidx_text *text, simidx_text **out, simidx_error *err)
{
	(void)text;
	return simidx_text_open(NULL, out, err);
}

void simidx_text_close(simidx_text *text)
{
	(void)text;
}

int simidx_text_fingerprint(simidx_text *text, const void *utf8, size_t size, unsigned flags,
			    simidx_sketch *out, simidx_error *err)
{
	(void)text, (void)utf8, (void)size, (void)flags, (void)out;
	return fail(err);
}

int simidx_text_each_feature(simidx_text *text, const void *utf8, size_t size,
			     int (*callback)(void *ctx, const simidx_feature *feature,
					     const char *bytes, size_t n_bytes),
			     void *ctx, simidx_error *err)
{
	(void)text, (void)utf8, (void)size, (void)callback, (void)ctx;
	return fail(err);
}

int simidx_text_features(simidx_text *text, const void *utf8, size_t size,
			 const simidx_feature **features, size_t *n, simidx_error *err)
{
	(void)text, (void)utf8, (void)size, (void)features, (void)n;
	return fail(err);
}

int simidx_text_each_hash(simidx_text *text, const void *utf8, size_t size,
			  int (*callback)(void *ctx, const uint64_t *hashes, size_t n), void *ctx,
			  simidx_error *err)
{
	(void)text, (void)utf8, (void)size, (void)callback, (void)ctx;
	return fail(err);
}

void simidx_text_limit(simidx_text *text, size_t bytes)
{
	(void)text, (void)bytes;
}

uint32_t simidx_text_idf(uint64_t n_documents, uint64_t n_with)
{
	(void)n_documents, (void)n_with;
	return 0;
}

const char *simidx_text_profile(const simidx_text *text)
{
	(void)text;
	return "";
}

const uint64_t *simidx_text_check_fps(const simidx_text *text, size_t *n)
{
	(void)text;
	*n = 0;
	return NULL;
}

const char *simidx_text_build_info(void)
{
	return "without text support";
}
