/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_jsonl.h"

#define JSONL_TAKES (IN_TAKES_FIELDS | IN_TAKES_ENCODING | IN_TAKES_TEXT_FIELD)

#ifndef HAVE_JSON

const struct in_format in_format_jsonl = { .name = "jsonl", .takes = JSONL_TAKES };

#else

#include "common/tl_number.h"
#include "common/tl_time.h"
#include "input/in_full.h"
#include "input/in_look.h"
#include "input/in_member.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_BITS IN_JSONL_SECOND_BITS

void in_jsonl_close(void *state)
{
	struct in_jsonl *held = state;

	json_decref(held->json);
	free(held->bytes.bytes);
	free(held->features.bytes);
	free(held->text.bytes);
}

/* ---- memory ---- */

/*
 * jansson's lexer leaves out the byte for which it had no memory, and goes on. So it is noted here,
 * for the line that this thread parses. Nothing more is given for that line: it would ask again for
 * every byte.
 */
static _Thread_local int is_short;

static void *allocate(size_t size)
{
	void *bytes = is_short ? NULL : malloc(size);

	is_short = !bytes;
	return bytes;
}

static void set_allocator(void)
{
	json_set_alloc_funcs(allocate, free);
}

/* ---- numbers that jansson does not take ---- */

/*
 * Whole numbers above INT64_MAX: jansson refuses them, but half of all fingerprints of 64 bits,
 * written in decimal, are such numbers. A number has 19 digits or more, so that with these around
 * it, it is not twice as long.
 */
static const char before[] = "[\"\\u0000", behind[] = "\"]";

/* Bytes of the string that begins at s[0], quotes included. */
static size_t string_length(const char *s, size_t n)
{
	size_t i = 1;

	while (i < n && s[i] != '"')
		i += s[i] == '\\' ? 2 : 1;
	return i < n ? i + 1 : n;
}

/* Bytes of what may be a number at s[0], or 0. */
static size_t number_length(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && s[i] && strchr("+-.0123456789Ee", s[i]))
		i++;
	return i;
}

static int is_long(const char *number, size_t n)
{
	uint64_t value;

	return !tl_parse_decimal(number, n, UINT64_MAX, &value) && value > INT64_MAX;
}

/* Whether a string begins as those that are put around numbers. */
static int has_wrapped(const char *json, size_t size)
{
	static const char beginning[] = "\"\\u0000";
	const char *at = json, *end = json + size;

	while ((at = memmem(at, (size_t)(end - at), beginning, sizeof(beginning) - 1)) != NULL) {
		if (at == json || at[-1] != '\\') /* an escaped quote begins no string */
			return 1;
		at++;
	}
	return 0;
}

/*
 * Copy JSON, each such number N as ["\u0000N"], which nobody else writes. Returns the bytes
 * written, `size` if there was none; room is needed for 2 * size.
 */
static size_t wrap_numbers(const char *json, size_t size, char *out)
{
	const char *at = json, *end = json + size;
	char *to = out;
	size_t n;

	while (at < end) {
		n = number_length(at, (size_t)(end - at));
		if (n > 0 && is_long(at, n)) {
			to = mempcpy(to, before, sizeof(before) - 1);
			to = mempcpy(to, at, n);
			to = mempcpy(to, behind, sizeof(behind) - 1);
		} else {
			if (n == 0)
				n = *at == '"' ? string_length(at, (size_t)(end - at)) : 1;
			to = mempcpy(to, at, n);
		}
		at += n;
	}
	return (size_t)(to - out);
}

/* ---- members ---- */

static enum in_result parse_line(struct in_reader *reader, const char *line, size_t size)
{
	const size_t flags = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL;
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct in_jsonl *held = reader->state;
	json_error_t error, again;
	const char *nul = memchr(line, '\0', size);
	size_t wrapped;

	json_decref(held->json);
	held->json = NULL;
	held->is_wrapped = 0;
	/* After a number jansson takes it for the end. */
	if (nul)
		return in_fail(reader, IN_REJECTED, "malformed JSON at column %zu: a NUL byte",
			       (size_t)(nul - line) + 1);
	pthread_once(&once, set_allocator);
	is_short = 0;
	held->json = json_loadb(line, size, flags, &error);
	if (!held->json && !is_short && !has_wrapped(line, size)) {
		if (in_room_have(&held->bytes, 2 * size))
			return in_lack_memory(reader);
		wrapped = wrap_numbers(line, size, held->bytes.bytes);
		if (wrapped > size)
			held->json = json_loadb(held->bytes.bytes, wrapped, flags, &again);
		held->is_wrapped = held->json != NULL;
	}
	if (is_short)
		return in_lack_memory(reader);
	/* jansson would take an array, too. */
	if (!held->json && strncmp(error.text, "'[' or ", 7) == 0)
		memmove(error.text, error.text + 7, strlen(error.text + 7) + 1);
	if (!held->json)
		return in_fail(reader, IN_REJECTED, "malformed JSON at column %d: %s",
			       error.column, error.text);
	if (!json_is_object(held->json))
		return in_fail(reader, IN_REJECTED, "expected a JSON object");
	return IN_ROW;
}

/* As a name of an option leads to it. */
static const json_t *member(const json_t *object, const char *name)
{
	return in_member(object, name, strlen(name));
}

static const char *id_key(const struct in_reader *reader)
{
	return reader->columns->id ? reader->columns->id : "id";
}

static const char *label_key(const struct in_reader *reader)
{
	return reader->columns->label ? reader->columns->label : "label";
}

static enum in_result take_label(struct in_reader *reader, struct in_row *row,
				 const json_t *value, const char *key)
{
	struct in_jsonl *held = reader->state;

	if (json_is_null(value))
		return IN_ROW;
	if (!json_is_string(value) && !json_is_integer(value))
		return in_fail(reader, IN_REJECTED, "\"%s\": expected a string or a whole number",
			       key);
	if (row->label)
		return in_fail(reader, IN_REJECTED,
			       "more than one label: a string \"%s\", "
			       "\"%s\" and \"label_hex\" exclude each other",
			       id_key(reader), label_key(reader));
	row->label = json_string_value(value);
	row->label_size = json_string_length(value);
	if (row->label)
		return IN_ROW;
	row->label = held->label;
	row->label_size = (size_t)snprintf(held->label, sizeof(held->label), "%lld",
					   (long long)json_integer_value(value));
	return IN_ROW;
}

/* A label that is not UTF-8 comes as the hexadecimal digits of its bytes. */
static enum in_result take_label_hex(struct in_reader *reader, struct in_row *row,
				     const json_t *value)
{
	struct in_room *room = &((struct in_jsonl *)reader->state)->bytes;
	enum in_result rc;
	size_t n;

	if (!json_is_string(value))
		return in_fail(reader, IN_REJECTED, "\"label_hex\": expected a string");
	rc = take_label(reader, row, value, "label_hex");
	if (rc != IN_ROW)
		return rc;
	n = row->label_size / 2;
	if (in_room_have(room, n + 1))
		return in_lack_memory(reader);
	if (tl_parse_hex(row->label, row->label_size, room->bytes))
		return in_fail(reader, IN_REJECTED,
			       "\"label_hex\": expected an even number of hexadecimal digits");
	row->label = room->bytes;
	row->label_size = n;
	return IN_ROW;
}

static enum in_result take_id(struct in_reader *reader, struct in_row *row,
			      const json_t *value)
{
	const char *key = id_key(reader);

	/* Where the caller names another member for the label, "id" need not be one of ours. */
	if (json_is_null(value) || (reader->columns->label && !reader->columns->id &&
				    !(json_is_integer(value) && json_integer_value(value) >= 0)))
		return IN_ROW;
	if (json_is_string(value))
		return take_label(reader, row, value, key);
	if (!json_is_integer(value))
		return in_fail(reader, IN_REJECTED, "\"%s\": expected an integer or a string",
			       key);
	if (json_integer_value(value) < 0)
		return in_fail(reader, IN_REJECTED, "\"%s\": expected a number in 0..%llu", key,
			       (unsigned long long)SIMIDX_MAX_ID);
	row->id = (uint64_t)json_integer_value(value);
	return IN_ROW;
}

/* The digits of a number that wrap_numbers() kept from jansson, or NULL. */
static const char *wrapped_number(const json_t *value)
{
	const json_t *string = json_array_get(value, 0);

	if (json_array_size(value) != 1 || !json_is_string(string) ||
	    json_string_length(string) < 2 || json_string_value(string)[0] != '\0')
		return NULL;
	return json_string_value(string) + 1;
}

static enum in_result take_fingerprint(struct in_reader *reader, const json_t *value,
				       const char *key, unsigned bits, uint64_t *out)
{
	const struct in_jsonl *held = reader->state;
	enum tl_encoding encoding = reader->columns->encoding;
	int is_decimal = encoding == TL_DEC || encoding == TL_SDEC;
	const char *text = json_string_value(value);
	size_t n = json_string_length(value);
	char what[64], digits[24];

	snprintf(what, sizeof(what), "\"%s\"", key);
	if (is_decimal && json_is_integer(value)) {
		n = (size_t)snprintf(digits, sizeof(digits), "%lld",
				     (long long)json_integer_value(value));
		text = digits;
	} else if (is_decimal && held->is_wrapped && wrapped_number(value)) {
		text = wrapped_number(value);
		n = strlen(text);
	}
	if (text)
		return in_fingerprint(reader, text, n, what, bits, out);
	if (encoding == TL_HEX)
		return in_fail(reader, IN_REJECTED,
			       "%s: expected a string of 1 to %u hexadecimal digits%s", what,
			       tl_hex_width(bits), json_is_integer(value) || held->is_wrapped ?
			       "; of whole numbers: --fp-encoding dec" : "");
	return in_fail(reader, IN_REJECTED, "%s: expected a string%s", what,
		       is_decimal ? " or a whole number" : " of base64");
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
	out->hash = simidx_feature_hash(json_string_value(word), json_string_length(word));
	out->weight = (uint32_t)fixed;
	return 0;
}

static enum in_result take_features(struct in_reader *reader, struct in_row *row,
				    const json_t *value)
{
	struct in_room *room = &((struct in_jsonl *)reader->state)->features;
	size_t i, n = json_array_size(value);
	simidx_feature *features;

	if (!json_is_array(value) || n == 0)
		return in_fail(reader, IN_REJECTED,
			       "\"features\": expected a list of [\"word\", weight]");
	if (in_room_have(room, n * sizeof(*features)))
		return in_lack_memory(reader);
	features = room->bytes;
	for (i = 0; i < n; i++)
		if (read_feature(json_array_get(value, i), &features[i]))
			return in_fail(reader, IN_REJECTED,
				       "\"features\": number %zu: expected "
				       "[\"word\", weight] with a weight of 1/65536 and more and "
				       "below 65536",
				       i + 1);
	row->kind = IN_FEATURES;
	row->features = features;
	row->n_features = n;
	return IN_ROW;
}

/* A list of `n` integers in 0..255. */
static enum in_result read_weights(struct in_reader *reader, const json_t *value,
				   const char *key, unsigned n, uint8_t *out)
{
	json_int_t weight = 0;
	unsigned i;

	for (i = 0; i < n && json_array_size(value) == n; i++) {
		const json_t *element = json_array_get(value, i);

		weight = json_is_integer(element) ? json_integer_value(element) : -1;
		if (weight < 0 || weight > UINT8_MAX)
			break;
		out[i] = (uint8_t)weight;
	}
	if (i < n)
		return in_fail(reader, IN_REJECTED, "\"%s\": expected a list of %u integers "
			       "in 0..255, the first for the lowest bit", key, n);
	return IN_ROW;
}

/* What mismatches cost. With a second fingerprint they are added up, so both have weights. */
static enum in_result take_weights(struct in_reader *reader, struct in_row *row,
				   const json_t *object)
{
	struct in_jsonl *held = reader->state;
	const json_t *first = json_object_get(object, "weights");
	const json_t *second = json_object_get(object, "weights2");
	enum in_result rc;

	if (!reader->takes_weights || (!first && !second))
		return IN_ROW;
	if (row->kind != IN_FINGERPRINT || !first)
		return in_fail(reader, IN_REJECTED, "%s", first ?
			       "\"weights\" goes with \"fp\" only" :
			       "\"weights2\" goes with \"weights\" only");
	if (row->has_fp2 != !!second)
		return in_fail(reader, IN_REJECTED, "\"weights\": \"fp2\" and \"weights2\" go "
			       "together");
	rc = read_weights(reader, first, "weights", reader->bits, held->weights[0]);
	row->weights = held->weights[0];
	if (rc != IN_ROW || !second)
		return rc;
	row->weights2 = held->weights[1];
	return read_weights(reader, second, "weights2", SECOND_BITS, held->weights[1]);
}

/* The text of a row, as --text-field says. What many rows lack is a matter of that option. */
#define JOIN_LIST "; jq can join a list: jq -c '.text |= join(\" \")'"

static enum in_result take_text(struct in_reader *reader, struct in_row *row,
				const json_t *object)
{
	const char *key = reader->columns->text ? reader->columns->text : "text";
	struct in_causes *causes = &reader->causes;

	snprintf(causes->field, sizeof(causes->field), "\"%s\"", key);
	switch (in_member_text(object, key, &((struct in_jsonl *)reader->state)->text, &row->text,
			       &row->text_size)) {
	case IN_TEXT_FOUND:
		row->kind = IN_TEXT;
		return IN_ROW;
	case IN_TEXT_NO_STRING:
		if (in_count_cause(reader, IN_NO_STRING))
			in_member_strings(object, causes);
		return in_fail(reader, IN_REJECTED, "\"%s\": expected a string%s", key,
			       json_is_array(member(object, key)) ? JOIN_LIST : "");
	case IN_TEXT_NO_MEMORY:
		return in_lack_memory(reader);
	default:
		if (in_count_cause(reader, IN_NO_FIELD))
			in_member_strings(object, causes);
		if (reader->columns->text)
			return in_fail(reader, IN_REJECTED, "expected a member \"%s\"", key);
		return in_fail(reader, IN_REJECTED,
			       "expected one of \"text\", \"fp\" and \"features\"; --text-field "
			       "and --fp-field name others");
	}
}

static enum in_result take_content(struct in_reader *reader, struct in_row *row,
				   const json_t *object)
{
	const char *fp_key = reader->columns->fp;
	const json_t *fp, *fp2, *features = NULL;
	int has_text = 0;
	enum in_result rc;

	/*
	 * With an option that names the member of fingerprints, or of texts, nothing else is read.
	 */
	if (reader->columns->text)
		return take_text(reader, row, object);
	fp = member(object, fp_key ? fp_key : "fp");
	fp2 = json_object_get(object, "fp2");
	if (fp_key && !fp)
		return in_fail(reader, IN_REJECTED, "expected a member \"%s\"", fp_key);
	if (!fp_key) {
		features = json_object_get(object, "features");
		has_text = json_object_get(object, "text") != NULL;
	}
	if (has_text + !!fp + !!features > 1)
		return in_fail(reader, IN_REJECTED,
			       "expected only one of \"text\", \"fp\" and \"features\"");
	if (fp2 && !fp && (has_text || features))
		return in_fail(reader, IN_REJECTED, "\"fp2\" goes with \"fp\" only");
	if (features)
		return take_features(reader, row, features);
	if (!fp)
		return take_text(reader, row, object);
	row->kind = IN_FINGERPRINT;
	rc = take_fingerprint(reader, fp, fp_key ? fp_key : "fp", reader->bits, &row->fp);
	row->lacks_fp2 = json_is_null(fp2);
	if (rc != IN_ROW || !fp2 || row->lacks_fp2)
		return rc;
	row->has_fp2 = 1;
	return take_fingerprint(reader, fp2, "fp2", SECOND_BITS, &row->fp2);
}

enum in_result in_jsonl_time(struct in_reader *reader, const json_t *object, const char *key,
			     struct in_row *row)
{
	const json_t *value = member(object, key);
	const char *text = json_string_value(value);
	size_t n = json_string_length(value);
	char what[64], digits[24];

	snprintf(what, sizeof(what), "\"%s\"", key);
	if (json_is_integer(value)) {
		n = (size_t)snprintf(digits, sizeof(digits), "%lld",
				     (long long)json_integer_value(value));
		text = digits;
	} else if (value && !json_is_null(value) && !text) {
		return in_fail(reader, IN_REJECTED, "%s: expected " TL_TIME_FORMS, what);
	}
	return in_time(reader, text, n, what, row);
}

/* The value of the member that is asked for, if it is a string or a number. */
static void take_value(struct in_reader *reader, struct in_row *row, const json_t *object)
{
	struct in_jsonl *held = reader->state;
	const char *name = reader->columns->value;
	const json_t *value = in_member(object, name, strlen(name));

	if (json_is_string(value)) {
		row->value = json_string_value(value);
		row->value_size = json_string_length(value);
	} else if (json_is_number(value)) {
		row->value = held->value;
		row->value_size = (size_t)snprintf(held->value, sizeof(held->value), "%.17g",
						   json_number_value(value));
	}
}

/* The next line that is not empty. */
static enum in_result next_full_line(struct in_reader *reader, const char **line, size_t *size)
{
	enum in_result rc;

	do {
		reader->row_begins = in_lines_offset(&reader->lines);
		rc = in_next_line(reader, line, size);
	} while (rc == IN_ROW && in_look_is_blank(*line, *size));
	return rc;
}

enum in_result in_jsonl_line(struct in_reader *reader, const json_t **object)
{
	const char *line = "";
	size_t size = 0;
	enum in_result rc = next_full_line(reader, &line, &size);
	char odd[IN_LOOK_SIZE];

	if (rc == IN_ROW)
		rc = parse_line(reader, line, size);
	if (rc == IN_REJECTED && reader->row == 1 &&
	    in_look_at(reader->path, reader->format, line, size, odd))
		rc = in_fail(reader, IN_FATAL, "%s", odd);
	if (rc == IN_REJECTED && reader->row == 1)
		in_advise(reader,
			  in_look_advise(reader->format, reader->reason, line, size));
	if (rc == IN_REJECTED)
		in_count_cause(reader, IN_NO_OBJECT);
	*object = rc == IN_ROW ? ((struct in_jsonl *)reader->state)->json : NULL;
	return rc;
}

/* The id and the label. */
static enum in_result take_key(struct in_reader *reader, struct in_row *row, const json_t *object)
{
	const json_t *value = member(object, id_key(reader));
	enum in_result rc = IN_ROW;

	if (value)
		rc = take_id(reader, row, value);
	value = member(object, label_key(reader));
	if (rc == IN_ROW && value)
		rc = take_label(reader, row, value, label_key(reader));
	value = reader->columns->label ? NULL : json_object_get(object, "label_hex");
	if (rc == IN_ROW && value)
		rc = take_label_hex(reader, row, value);
	return rc;
}

static int is_full_dump(const json_t *object)
{
	const json_t *format = json_object_get(object, "format");

	return json_is_string(format) && strcmp(json_string_value(format), IN_FULL_FORMAT) == 0;
}

enum in_result in_jsonl_row(struct in_reader *reader, const json_t *object, struct in_row *row)
{
	enum in_result rc = IN_ROW;

	if (!reader->causes.unseen_of || reader->causes.unseen)
		in_member_see(&reader->causes, reader->columns, object);
	if (!reader->columns->texts_only)
		rc = take_key(reader, row, object);
	if (rc == IN_ROW && reader->columns->keys_only) {
		row->kind = IN_KEY;
		return rc;
	}
	if (rc == IN_ROW)
		rc = take_content(reader, row, object);
	if (rc == IN_REJECTED && reader->row == 1 && is_full_dump(object))
		in_advise(reader, "; a full dump is read by -F full");
	if (rc == IN_ROW)
		rc = take_weights(reader, row, object);
	if (rc == IN_ROW && reader->columns->value)
		take_value(reader, row, object);
	if (rc == IN_ROW && reader->columns->time)
		rc = in_jsonl_time(reader, object, reader->columns->time, row);
	return rc;
}

/* One object a line; members that have no meaning here are passed over. */
static enum in_result next_json(struct in_reader *reader, struct in_row *row)
{
	const json_t *object;
	enum in_result rc = in_jsonl_line(reader, &object);

	return rc == IN_ROW ? in_jsonl_row(reader, object, row) : rc;
}

const struct in_format in_format_jsonl = {
	.name = "jsonl", .takes = JSONL_TAKES, .next = next_json,
	.state_size = sizeof(struct in_jsonl), .close = in_jsonl_close
};

#endif
