/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Texts that evidence tells of, read again at their places.
 */

#ifndef QR_TEXTS_H
#define QR_TEXTS_H

#include "input/in_evidence.h"

/** Of a longer text no more than so many bytes are shown. */
#define QR_MOST_TEXT ((size_t)1 << 20)

/**
 * Read the texts of pairs: at their byte where one is known, else by reading their files, each
 * once, up to their lines. A text is what it was if it has the same hash.
 *
 * @return 0, or TL_TROUBLE with a message: memory is short
 */
int qr_texts_read(struct in_pair *pair, size_t n);

#endif /* QR_TEXTS_H */
