/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The extractors in steps, each in a module of its own:
 *
 *   sx_text_settings     options -> what is to be done
 *   sx_text_profile      what an index remembers about that
 *   sx_text_lists        stop words and other lists; read by sx_text_lists_load
 *   sx_text_stretch      UTF-8 is cut into stretches that are handled one after the other
 *   sx_text_normalise    stretch -> UTF-16, invalid sequences -> U+FFFD; NFKC, then case fold
 *   sx_text_words        word boundaries -> words, as UTF-8
 *   sx_text_ascii        UTF-8 of ASCII -> words, past the two steps before
 *   sx_text_tokens       other tokens than words
 *   sx_text_filter       user's words, stop words, stems (sx_text_stem)
 *   sx_text_grams        tokens -> n-grams
 *   sx_text_features     n-grams -> counts; words and pairs of words at once
 *   sx_text_triples      runs of three tokens, for the second fingerprint
 *   sx_text_least        the least of runs of five
 *   sx_text_weight       counts -> weighted features
 *   sx_text_check        texts that show whether two installations agree
 *   sx_text              the handle, which runs the steps; sx_text_open makes it
 *
 * A text is not segmented as a whole but in stretches of about 64 KiB, which is faster, takes
 * little memory whatever the length of the text, and keeps ICU's 32-bit lengths far from their
 * limits. Stretches end only where neither normalisation nor word boundaries look across, so
 * the words are those of the whole text.
 */

#ifndef SX_TEXT_H
#define SX_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <simidx_text.h>

#include "text/sx_text_check.h"
#include "text/sx_text_features.h"
#include "text/sx_text_filter.h"
#include "text/sx_text_grams.h"
#include "text/sx_text_least.h"
#include "text/sx_text_lists.h"
#include "text/sx_text_normalise.h"
#include "text/sx_text_profile.h"
#include "text/sx_text_settings.h"
#include "text/sx_text_tokens.h"
#include "text/sx_text_triples.h"
#include "text/sx_text_words.h"

struct simidx_text {
	sx_settings settings; /* lists in it are not valid any more */
	sx_lists *lists;
	int plain;          /* words12 in its simplest form: no token is looked at */
	size_t stretch;     /* SX_STRETCH_BYTES, less in tests */
	size_t stretch_max; /* SX_STRETCH_MAX_BYTES, less in tests */
	size_t most_slots;  /* of either table of features: simidx_text_limit(); 0 = any number */
	sx_units units, spare;
	sx_words words;
	sx_bytes token;
	sx_chars chars;
	sx_filter filter;
	sx_grams grams;
	sx_features features;
	sx_hashes hashes;
	sx_triples triples; /* what the second fingerprint is made from, with settings.triples */
	int has_least;      /* of the text at hand the least hashes are asked for: */
	sx_least least;
	char profile[SX_PROFILE_SIZE];
	uint64_t check_fps[SX_N_CHECK_TEXTS];
};

/** Cut a text into tokens; nothing is done to them. */
int sx_text_tokens(simidx_text *text, const uint8_t *utf8, size_t size, sx_take_token *take,
		   void *ctx, simidx_error *err);

/**
 * Count the features of a text: on success text->features is finished.
 *
 * @param part     NULL = all; or a part of them, changed to the one that was counted: a smaller
 *                 one, if there was no memory for all of it. The rest is for further calls
 * @param triples  NULL, or text->triples, which is finished then too
 * @param names    NULL, or where the bytes of all features are noted
 */
int sx_text_extract(simidx_text *text, const uint8_t *utf8, size_t size, sx_part *part,
		    sx_triples *triples, sx_gram_names *names, simidx_error *err);

#endif /* SX_TEXT_H */
