/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A stretch of UTF-8 -> UTF-16, invalid sequences -> U+FFFD; without what is never seen; NFKC, then
 * case fold, once each.
 */

#ifndef SX_TEXT_NORMALISE_H
#define SX_TEXT_NORMALISE_H

#include <stddef.h>
#include <stdint.h>

#include <unicode/utypes.h>

#include <simidx.h>

/** A growing string of UTF-16 units. All zero is the empty one. */
typedef struct sx_units {
	UChar *at;
	size_t n, room;
} sx_units;

/** Make room for n units in all. */
int sx_units_reserve(sx_units *units, size_t n, simidx_error *err);

/** Turn a failed ICU call into an error; `what` names the step. Returns the code. */
int sx_fail_icu(simidx_error *err, UErrorCode status, const char *what);

/**
 * Decode a stretch into `out`. Each maximal subpart of an invalid sequence (Unicode, section
 * 3.9, "U+FFFD Substitution of Maximal Subparts") becomes one U+FFFD.
 */
int sx_decode(sx_units *out, const uint8_t *utf8, size_t size, simidx_error *err);

/** Remove the default-ignorable characters but U+200B. Returns how many units are left. */
size_t sx_drop_ignorable(UChar *units, size_t n);

/**
 * Put `text` into NFKC. `spare` is working space; the two may change places.
 *
 * A run of more than 1,024 units without a place where normalisation can start anew, such as
 * a thousand combining marks on one letter, is normalised in pieces of that length: putting
 * marks in order takes quadratic time.
 */
int sx_nfkc(sx_units *text, sx_units *spare, simidx_error *err);

/**
 * Apply Unicode's full default case folding, the same in every locale. NFKC is not applied
 * again: the few characters whose folding is not in NFKC come out alike in all texts, because
 * all texts were in NFKC before.
 */
int sx_fold(sx_units *text, sx_units *spare, simidx_error *err);

#endif /* SX_TEXT_NORMALISE_H */
