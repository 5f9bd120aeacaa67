/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is done to tokens before n-grams are made of them: user's words, stop words, stems.
 */

#ifndef SX_TEXT_FILTER_H
#define SX_TEXT_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "text/sx_text_lists.h"
#include "text/sx_text_stem.h"
#include "text/sx_text_tokens.h"

/** So many tokens may spell one word of the user's. */
#define SX_MAX_JOINED 16

/** What stands between tokens and n-grams. */
typedef struct sx_filter {
	const sx_lists *lists;
	sx_stem *stem;
	sx_take_token *take; /* gets what remains */
	void *ctx;
	sx_bytes waiting;    /* tokens that may begin one of the user's words */
	size_t end[SX_MAX_JOINED];
	size_t n_waiting;
	int whole_wanted;    /* keep the whole text, too */
	sx_bytes whole;      /* all tokens before any is left out, with joints */
	int joint;           /* between them; -1 = none */
	uint64_t n_whole;
} sx_filter;

/** Begin a text. */
void sx_filter_begin(sx_filter *filter, const sx_lists *lists, int whole_wanted, int joint);

/** Take a token; an sx_take_token. */
int sx_filter_take(void *filter, const char *bytes, size_t size, simidx_error *err);

/** Hand on what waits. */
int sx_filter_end(sx_filter *filter, simidx_error *err);

#endif /* SX_TEXT_FILTER_H */
