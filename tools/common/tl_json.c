/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_json.h"

#include "common/tl_escape.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The comma before a value, and its name with a suffix. */
static void begin(struct tl_json *json, const char *key, const char *suffix)
{
	if (json->comma)
		putc(',', json->out);
	if (key)
		fprintf(json->out, "\"%s%s\":", key, suffix);
	json->comma = 1;
}

void tl_json_open(struct tl_json *json, const char *key, char bracket)
{
	begin(json, key, "");
	putc(bracket, json->out);
	json->comma = 0;
}

void tl_json_close(struct tl_json *json, char bracket)
{
	putc(bracket, json->out);
	json->comma = 1;
}

struct tl_json tl_json_line(FILE *out)
{
	struct tl_json json = { .out = out };

	tl_json_open(&json, NULL, '{');
	return json;
}

void tl_json_end(struct tl_json *json)
{
	fputs("}\n", json->out);
}

void tl_json_unsigned(struct tl_json *json, const char *key, uint64_t value)
{
	begin(json, key, "");
	fprintf(json->out, "%" PRIu64, value);
}

void tl_json_signed(struct tl_json *json, const char *key, int64_t value)
{
	begin(json, key, "");
	fprintf(json->out, "%" PRId64, value);
}

void tl_json_real(struct tl_json *json, const char *key, double value)
{
	if (!isfinite(value)) {
		tl_json_null(json, key);
		return;
	}
	begin(json, key, "");
	fprintf(json->out, fabs(value) < 1e6 ? "%.6g" : "%.0f", value);
}

void tl_json_null(struct tl_json *json, const char *key)
{
	begin(json, key, "");
	fputs("null", json->out);
}

void tl_json_bool(struct tl_json *json, const char *key, int value)
{
	begin(json, key, "");
	fputs(value ? "true" : "false", json->out);
}

/* The letter of a short escape, or 0. */
static char escape_letter(char c)
{
	static const char from[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	const char *found = c ? strchr(from, c) : NULL;

	return found ? letters[found - from] : 0;
}

/* A string; what cannot stand in one is escaped. */
static void put_string(FILE *out, const char *text, size_t size)
{
	size_t done = 0;

	putc('"', out);
	for (size_t i = 0; i < size; i++) {
		if ((unsigned char)text[i] >= 0x20 && text[i] != '"' && text[i] != '\\')
			continue;
		fwrite(text + done, 1, i - done, out);
		done = i + 1;
		if (escape_letter(text[i]))
			fprintf(out, "\\%c", escape_letter(text[i]));
		else
			fprintf(out, "\\u%04x", (unsigned char)text[i]);
	}
	fwrite(text + done, 1, size - done, out);
	putc('"', out);
}

void tl_json_string(struct tl_json *json, const char *key, const char *text)
{
	begin(json, key, "");
	put_string(json->out, text, strlen(text));
}

void tl_json_bytes(struct tl_json *json, const char *key, const char *bytes, size_t size)
{
	if (!bytes)
		return;
	if (tl_is_utf8(bytes, size)) {
		begin(json, key, "");
		put_string(json->out, bytes, size);
		return;
	}
	begin(json, key, "_hex");
	putc('"', json->out);
	for (size_t i = 0; i < size; i++)
		fprintf(json->out, "%02x", (unsigned char)bytes[i]);
	putc('"', json->out);
}
