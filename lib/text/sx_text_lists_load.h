/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * From lists as users write them to dictionaries of an extractor.
 */

#ifndef SX_TEXT_LISTS_LOAD_H
#define SX_TEXT_LISTS_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include <simidx_text.h>

#include "text/sx_text_lists.h"

/** Load what the settings name; the extractor cuts and normalises it as it does texts. */
int sx_lists_load(simidx_text *text, sx_lists **out, simidx_error *err);

/**
 * Read digits with or without a fraction, as 16.16 fixed point, rounded to the nearest, a half
 * up. Digits beyond the twelfth after the point are passed over. Returns 0, or -1 for anything
 * else or what is 65536 and more.
 */
int sx_fixed_read(const char *digits, size_t size, uint32_t *out);

#endif /* SX_TEXT_LISTS_LOAD_H */
