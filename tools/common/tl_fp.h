/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Fingerprints as other programs write them. Which way is always said by the user: the same
 * digits mean one number in hexadecimal and another in decimal.
 */

#ifndef TL_FP_H
#define TL_FP_H

#include <stddef.h>
#include <stdint.h>

/** How a fingerprint is written. */
enum tl_encoding {
	TL_HEX,    /* as tl_parse_fingerprint() */
	TL_DEC,    /* decimal, without a sign */
	TL_SDEC,   /* decimal, negative if the highest bit is set: two's complement */
	TL_BASE64  /* standard base64 with padding, of the bytes from the highest on */
};

/** Their names, ending with NULL. */
extern const char *const tl_encoding_names[];

/** As tl_parse_fingerprint(), for any encoding. */
int tl_parse_encoded(enum tl_encoding encoding, const char *s, size_t n, unsigned bits,
		     const char *what, uint64_t *out, char *reason, size_t size);

#endif /* TL_FP_H */
