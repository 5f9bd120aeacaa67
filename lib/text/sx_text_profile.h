/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What an index remembers about how its texts were made into fingerprints.
 */

#ifndef SX_TEXT_PROFILE_H
#define SX_TEXT_PROFILE_H

#include <stdint.h>

#include <simidx_text.h>

#include "text/sx_text_settings.h"

#define SX_PROFILE_SIZE 320

/** Write the profile. */
void sx_text_profile_format(char profile[SX_PROFILE_SIZE], const sx_settings *settings);

/** Where sx_text_profile_read() keeps what the options point to. */
typedef struct sx_profile_strings {
	char name[SX_NAME_SIZE], weights[8], stop[8], stem[SX_STEM_SIZE];
} sx_profile_strings;

/**
 * Set those options that are at their defaults to what the profile of an index says, "" or
 * NULL if it has none. SIMIDX_E_MISMATCH for bare fingerprints, SIMIDX_E_UNSUPPORTED for a
 * profile that does not begin as this version's do.
 */
int sx_text_profile_read(const char *profile, unsigned bits, simidx_text_options *options,
		    sx_profile_strings *strings, simidx_error *err);

/** Whether second fingerprints are made from runs of three tokens. */
int sx_text_profile_has_triples(const char *profile);

/** Compare the profile of an index with an extractor's: SIMIDX_E_MISMATCH names a difference. */
int sx_text_profile_check(const char *stored, const char *own, simidx_error *err);

#endif /* SX_TEXT_PROFILE_H */
