/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Whole numbers above INT64_MAX in JSON. jansson refuses them, but half of all fingerprints of
 * 64 bits, written in decimal, are such numbers.
 */

#ifndef IN_WRAP_H
#define IN_WRAP_H

#include <stddef.h>

/** Most bytes that in_wrap_numbers() makes of `size`. */
#define IN_WRAPPED_SIZE(size) ((size) * 2)

/**
 * Copy JSON, each such number N as ["\u0000N"], which nobody else writes.
 *
 * @param out  room for IN_WRAPPED_SIZE(size) bytes
 * @return bytes written; `size` if there was no such number
 */
size_t in_wrap_numbers(const char *json, size_t size, char *out);

#endif /* IN_WRAP_H */
