/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Whether bytes are UTF-8.
 */

#ifndef TL_UTF8_H
#define TL_UTF8_H

#include <stddef.h>
#include <stdint.h>

/** Length of the UTF-8 character at s, 1..4, or 0 when there is no valid one. n > 0. */
size_t tl_utf8_length(const char *s, size_t n);

/** How many bytes of s are valid UTF-8, up to the first that is not; `n` if all are. */
size_t tl_utf8_valid(const char *s, size_t n);

/**
 * Where it goes on behind some characters from s[at] on, `n` if these are all; a byte that is not
 * valid counts as one.
 */
size_t tl_utf8_forward(const char *s, size_t n, size_t at, uint64_t characters);

/** Whether all of s is. */
static inline int tl_is_utf8(const char *s, size_t n)
{
	return tl_utf8_valid(s, n) == n;
}

#endif /* TL_UTF8_H */
