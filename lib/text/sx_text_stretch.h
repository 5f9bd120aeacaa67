/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * UTF-8 is cut into stretches that are handled one after the other.
 */

#ifndef SX_TEXT_STRETCH_H
#define SX_TEXT_STRETCH_H

#include <stddef.h>
#include <stdint.h>

/* A stretch ends at the first good place after this many bytes ... */
#define SX_STRETCH_BYTES ((size_t)64 << 10)

/*
 * ... and where there is none, after this many, between two characters. A word that is cut
 * there counts as two. NFKC and case folding make at most 6 UTF-16 units of a UTF-8 byte (18
 * of the 3 bytes of U+FDFA), so every length in a stretch stays below 2^30.
 */
#define SX_STRETCH_MAX_BYTES ((size_t)128 << 20)

/**
 * The length of the first stretch of a text: `size`, or the first length from `want` on after
 * which no step looks back and no step looks ahead, but at most `most` (4 or more).
 */
size_t sx_stretch(const uint8_t *utf8, size_t size, size_t want, size_t most);

#endif /* SX_TEXT_STRETCH_H */
