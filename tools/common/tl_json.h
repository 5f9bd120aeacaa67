/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * JSON, printed as it goes: nothing is kept, so an object may have millions of members. Commas
 * are set here; braces and brackets must be paired by the caller. Errors of the stream show
 * where it is flushed or closed.
 */

#ifndef TL_JSON_H
#define TL_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** A JSON text on its way to a stream; { .out = stream } begins one. */
struct tl_json {
	FILE *out;
	int comma; /* a value stands before the next one of the same object or array */
};

/*
 * Each prints one value. `key` is its name in an object, ASCII that needs no escapes; NULL in an
 * array and for the outermost value.
 */

/** Begin an object ('{') or an array ('['). */
void tl_json_open(struct tl_json *json, const char *key, char bracket);

/** End an object ('}') or an array (']'). */
void tl_json_close(struct tl_json *json, char bracket);

/** Begin an object that is a line of its own. */
struct tl_json tl_json_line(FILE *out);

/** End it and its line. */
void tl_json_end(struct tl_json *json);

/** A whole number. */
void tl_json_unsigned(struct tl_json *json, const char *key, uint64_t value);

/** A whole number that may be negative. */
void tl_json_signed(struct tl_json *json, const char *key, int64_t value);

/** A measured or predicted figure, with six digits or all before the point; null if not finite. */
void tl_json_real(struct tl_json *json, const char *key, double value);

/** true or false. */
void tl_json_bool(struct tl_json *json, const char *key, int value);

/** null */
void tl_json_null(struct tl_json *json, const char *key);

/** A string in UTF-8. */
void tl_json_string(struct tl_json *json, const char *key, const char *text);

/**
 * Bytes: as a string if they are UTF-8, else as hexadecimal digits under the key with "_hex"
 * appended, as strings in JSON are UTF-8. NULL: there is no such member.
 */
void tl_json_bytes(struct tl_json *json, const char *key, const char *bytes, size_t size);

#endif /* TL_JSON_H */
