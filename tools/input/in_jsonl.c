/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "input/in_reader.h"

#ifndef HAVE_JSON

const struct in_format in_format_jsonl = { "jsonl", ".jsonl", NULL, NULL };

#else

#include "common/tl_number.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_BITS 64

static void release_json(struct in_reader *reader)
{
	json_decref(reader->json);
	reader->json = NULL;
}

static enum in_result parse_line(struct in_reader *reader, const char *line, size_t size)
{
	json_error_t error;

	reader->json = json_loadb(line, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
	if (!reader->json)
		return in_fail(reader, IN_REJECTED, "malformed JSON at column %d: %s",
			       error.column, error.text);
	if (!json_is_object((json_t *)reader->json))
		return in_fail(reader, IN_REJECTED, "expected a JSON object");
	return IN_ROW;
}

static enum in_result take_label(struct in_reader *reader, struct in_row *row,
				 const json_t *value, const char *key)
{
	if (!json_is_string(value))
		return in_fail(reader, IN_REJECTED, "\"%s\": expected a string", key);
	if (row->label)
		return in_fail(reader, IN_REJECTED,
			       "more than one label: a string \"id\", "
			       "\"label\" and \"label_hex\" exclude each other");
	row->label = json_string_value(value);
	row->label_size = json_string_length(value);
	return IN_ROW;
}

/* A label that is not UTF-8 comes as the hexadecimal digits of its bytes. */
static enum in_result take_label_hex(struct in_reader *reader, struct in_row *row,
				     const json_t *value)
{
	enum in_result rc = take_label(reader, row, value, "label_hex");
	const char *digits = row->label;
	size_t i, n = row->label_size / 2;
	int high, low;

	if (rc != IN_ROW)
		return rc;
	if (in_scratch(reader, n + 1))
		return in_fail(reader, IN_REJECTED, "label: out of memory");
	for (i = 0; i < n; i++) {
		high = tl_hex_digit(digits[2 * i]);
		low = tl_hex_digit(digits[2 * i + 1]);
		if (high < 0 || low < 0)
			break;
		reader->scratch[i] = (char)(high << 4 | low);
	}
	if (i < n || row->label_size % 2 != 0)
		return in_fail(reader, IN_REJECTED,
			       "\"label_hex\": expected an even number of hexadecimal digits");
	row->label = reader->scratch;
	row->label_size = n;
	return IN_ROW;
}

static enum in_result take_id(struct in_reader *reader, struct in_row *row,
			      const json_t *value)
{
	if (json_is_string(value))
		return take_label(reader, row, value, "id");
	if (!json_is_integer(value))
		return in_fail(reader, IN_REJECTED, "\"id\": expected an integer or a string");
	if (json_integer_value(value) < 0)
		return in_fail(reader, IN_REJECTED, "\"id\": expected a number in 0..%llu",
			       (unsigned long long)SIMIDX_MAX_ID);
	row->id = (uint64_t)json_integer_value(value);
	return IN_ROW;
}

static enum in_result take_hex(struct in_reader *reader, const json_t *value, const char *key,
			       unsigned bits, uint64_t *out)
{
	char what[16];

	snprintf(what, sizeof(what), "\"%s\"", key);
	if (!json_is_string(value))
		return in_fail(reader, IN_REJECTED,
			       "%s: expected a string of %u hexadecimal digits", what,
			       tl_hex_width(bits));
	if (tl_parse_fingerprint(json_string_value(value), json_string_length(value), bits,
				 what, out, reader->reason, sizeof(reader->reason)))
		return IN_REJECTED;
	return IN_ROW;
}

/* ["word", weight], the weight as 16.16 fixed point. Returns 0, or -1 for anything else. */
static int read_feature(const json_t *pair, simidx_feature *out)
{
	const json_t *word = json_array_get(pair, 0), *weight = json_array_get(pair, 1);
	double fixed;

	memset(out, 0, sizeof(*out));
	if (json_array_size(pair) != 2 || !json_is_string(word) || !json_is_number(weight))
		return -1;
	fixed = round(json_number_value(weight) * 65536.0);
	if (!(fixed >= 1.0 && fixed <= (double)UINT32_MAX))
		return -1;
	out->hash = simidx_hash_bytes(json_string_value(word), json_string_length(word));
	out->weight = (uint32_t)fixed;
	return 0;
}

static enum in_result take_features(struct in_reader *reader, struct in_row *row,
				    const json_t *value)
{
	size_t i, n = json_array_size(value);
	simidx_feature *larger;

	if (!json_is_array(value) || n == 0)
		return in_fail(reader, IN_REJECTED,
			       "\"features\": expected a list of [\"word\", weight]");
	if (n > reader->features_size) {
		larger = realloc(reader->features, n * sizeof(*larger));
		if (!larger)
			return in_fail(reader, IN_REJECTED, "\"features\": out of memory");
		reader->features = larger;
		reader->features_size = n;
	}
	for (i = 0; i < n; i++)
		if (read_feature(json_array_get(value, i), &reader->features[i]))
			return in_fail(reader, IN_REJECTED,
				       "\"features\": number %zu: expected "
				       "[\"word\", weight] with a weight of 1/65536..65535",
				       i + 1);
	row->kind = IN_FEATURES;
	row->features = reader->features;
	row->n_features = n;
	return IN_ROW;
}

static enum in_result take_content(struct in_reader *reader, struct in_row *row,
				   const json_t *object)
{
	const json_t *text = json_object_get(object, "text");
	const json_t *fp = json_object_get(object, "fp");
	const json_t *fp2 = json_object_get(object, "fp2");
	const json_t *features = json_object_get(object, "features");
	enum in_result rc;

	if (!!text + !!fp + !!features != 1)
		return in_fail(reader, IN_REJECTED,
			       "expected one of \"text\", \"fp\" and \"features\"");
	if (fp2 && !fp)
		return in_fail(reader, IN_REJECTED, "\"fp2\" goes with \"fp\" only");
	if (features)
		return take_features(reader, row, features);
	if (text) {
		if (!json_is_string(text))
			return in_fail(reader, IN_REJECTED, "\"text\": expected a string");
		row->kind = IN_TEXT;
		row->text = json_string_value(text);
		row->text_size = json_string_length(text);
		return IN_ROW;
	}
	row->kind = IN_FINGERPRINT;
	rc = take_hex(reader, fp, "fp", reader->bits, &row->fp);
	if (rc != IN_ROW || !fp2)
		return rc;
	row->has_fp2 = 1;
	return take_hex(reader, fp2, "fp2", SECOND_BITS, &row->fp2);
}

/* One object a line; members that have no meaning here are passed over. */
static enum in_result next_json(struct in_reader *reader, struct in_row *row)
{
	const json_t *object, *value;
	const char *line;
	size_t size;
	enum in_result rc;

	release_json(reader);
	rc = in_next_line(reader, &line, &size);
	if (rc == IN_ROW)
		rc = parse_line(reader, line, size);
	if (rc != IN_ROW)
		return rc;
	object = reader->json;
	value = json_object_get(object, "id");
	if (value)
		rc = take_id(reader, row, value);
	value = json_object_get(object, "label");
	if (rc == IN_ROW && value)
		rc = take_label(reader, row, value, "label");
	value = json_object_get(object, "label_hex");
	if (rc == IN_ROW && value)
		rc = take_label_hex(reader, row, value);
	if (rc == IN_ROW)
		rc = take_content(reader, row, object);
	return rc;
}

const struct in_format in_format_jsonl = { "jsonl", ".jsonl", next_json, release_json };

#endif
