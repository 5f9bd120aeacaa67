/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Texts that show whether two installations agree.
 */

#ifndef SX_TEXT_CHECK_H
#define SX_TEXT_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include <simidx.h>

#define SX_N_CHECK_TEXTS 16

/** A check text: what it is called in messages, and the text, NUL-terminated UTF-8. */
typedef struct sx_check_text {
	const char *name;
	const char *text;
} sx_check_text;

/*
 * Changing a check text, or the order of them, makes every older index unusable for new texts: a
 * change needs a new version of the extractor.
 */
extern const sx_check_text sx_check_texts[SX_N_CHECK_TEXTS];

/**
 * Compare the check fingerprints of an index with this installation's: SIMIDX_E_MISMATCH names
 * one.
 */
int sx_check_fps_compare(const uint64_t *stored, size_t n_stored, const uint64_t *own,
		    simidx_error *err);

#endif /* SX_TEXT_CHECK_H */
