/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Stems of words: libstemmer, or that there is none.
 */

#ifndef SX_TEXT_STEM_H
#define SX_TEXT_STEM_H

#include <stddef.h>

#include <simidx.h>

/** A stemmer, or NULL for none. */
typedef struct sx_stem sx_stem;

/** Open one: SIMIDX_E_ARG for an unknown language, SIMIDX_E_UNSUPPORTED without libstemmer. */
int sx_stem_open(const char *language, sx_stem **out, simidx_error *err);

/** The stem of a word, valid until the next one is asked for; may be of length 0. */
int sx_stem_word(sx_stem *stem, const char *word, size_t size, const char **out,
		 size_t *out_size, simidx_error *err);

/** Free one. NULL is allowed. */
void sx_stem_close(sx_stem *stem);

/** What to add to the build info: "" or ", libstemmer". */
const char *sx_stem_build_info(void);

#endif /* SX_TEXT_STEM_H */
