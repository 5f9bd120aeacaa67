/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Text to fingerprints, or the message that this build cannot: the one place that knows
 * whether libsimidx-text is there. Codes as in simidx_text.h, or SIMIDX_E_UNSUPPORTED.
 */

#ifndef TL_TEXT_H
#define TL_TEXT_H

#include <simidx.h>

struct tl_text;

/** What to say when text support is missing; NULL when it is there. */
const char *tl_text_missing(void);

/** As simidx_text_open(). */
int tl_text_open(const char *extractor, unsigned bits, struct tl_text **out, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/** As simidx_text_open_for(). */
int tl_text_open_for(simidx *index, struct tl_text **out, simidx_error *err)
	SIMIDX_CHECK_RESULT;

/** As simidx_text_close(). */
void tl_text_close(struct tl_text *text);

/** As simidx_text_fingerprint(). */
int tl_text_fingerprint(struct tl_text *text, const void *utf8, size_t size, unsigned flags,
			simidx_sketch *out, simidx_error *err) SIMIDX_CHECK_RESULT;

/** Set profile and probes of the options; they live as long as the extractor. */
void tl_text_describe(const struct tl_text *text, simidx_create_options *options);

/** Versions, or that there is no text support. */
const char *tl_text_build_info(void);

#endif /* TL_TEXT_H */
