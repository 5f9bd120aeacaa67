/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Text to fingerprints, or the message that this build cannot: the one place that knows
 * whether libsimidx-text is there. Codes as in simidx_text.h, or SIMIDX_E_UNSUPPORTED.
 */

#ifndef TL_TEXT_H
#define TL_TEXT_H

#include "common/tl_text_options.h"

#include <simidx_sketch.h>

struct tl_text;

/** What to say when text support is missing; NULL when it is there. */
const char *tl_text_missing(void);

/** As simidx_text_open(); options may be NULL. */
int tl_text_open(const struct tl_text_options *options, unsigned bits, struct tl_text **out,
		 simidx_error *err) SIMIDX_CHECK_RESULT;

/**
 * As simidx_text_open_for(); options may be NULL. SIMIDX_E_MISMATCH also if they have
 * `--short flag` and the index was made with `--short exact`.
 */
int tl_text_open_for(simidx *index, const struct tl_text_options *options, struct tl_text **out,
		     simidx_error *err) SIMIDX_CHECK_RESULT;

/** As simidx_text_clone(). */
int tl_text_clone(struct tl_text *text, struct tl_text **out, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/** As simidx_text_close(). */
void tl_text_close(struct tl_text *text);

/** As simidx_text_fingerprint(). */
int tl_text_fingerprint(struct tl_text *text, const void *utf8, size_t size, unsigned flags,
			simidx_sketch *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/** Gets a feature and its bytes. */
typedef int tl_text_feature(void *ctx, const simidx_feature *feature, const char *bytes,
			    size_t n_bytes);

/** As simidx_text_each_feature(). */
int tl_text_each_feature(struct tl_text *text, const void *utf8, size_t size,
			 tl_text_feature *callback, void *ctx, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/** As simidx_text_idf(). */
uint32_t tl_text_idf(uint64_t n_documents, uint64_t n_with);

/** As simidx_text_profile(). */
const char *tl_text_profile(const struct tl_text *text);

/** Set profile and check fingerprints of the options; they live as long as the extractor. */
void tl_text_describe(const struct tl_text *text, simidx_create_options *options);

/** Versions, or that there is no text support. */
const char *tl_text_build_info(void);

#endif /* TL_TEXT_H */
