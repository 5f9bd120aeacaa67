/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_evidence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/tl_number.h"

void in_pair_free(struct in_pair *pair)
{
	for (int i = 0; i < 2; i++) {
		struct in_side *side = &pair->side[i];

		free(side->path);
		free(side->label);
		free(side->index);
		free(side->text_field);
		free(side->excerpt);
		free(side->text);
	}
	memset(pair, 0, sizeof(*pair));
}

#ifndef HAVE_JSON

const char *in_evidence_missing(void)
{
	return "this program was built without jansson, so it reads no JSON";
}

int in_evidence_parse(const char *line, size_t size, struct in_pair *pair, const char **reason)
{
	(void)line;
	(void)size;
	memset(pair, 0, sizeof(*pair));
	*reason = in_evidence_missing();
	return -1;
}

#else

#include <jansson.h>

const char *in_evidence_missing(void)
{
	return NULL;
}

/* The value of a member whose name may have a 2 at its end. */
static const json_t *get(const json_t *object, const char *key, int side, const char *ending)
{
	char name[32];

	snprintf(name, sizeof(name), "%s%s%s", key, side ? "2" : "", ending);
	return json_object_get(object, name);
}

/* A string, or bytes in hexadecimal digits, copied. Returns -1 when memory is short. */
static int get_bytes(const json_t *object, const char *key, int side, char **out, size_t *size)
{
	const json_t *plain = get(object, key, side, ""), *hex = get(object, key, side, "_hex");
	const json_t *value = json_is_string(plain) ? plain : hex;
	const char *bytes = json_string_value(value);
	size_t n = json_string_length(value);

	if (!bytes)
		return 0;
	*out = malloc(n + 1);
	if (!*out)
		return -1;
	if (value == plain) {
		memcpy(*out, bytes, n);
	} else if (tl_parse_hex(bytes, n, *out)) {
		free(*out);
		*out = NULL;
		return 0;
	} else {
		n /= 2;
	}
	(*out)[n] = '\0';
	*size = n;
	return 0;
}

static int get_number(const json_t *object, const char *key, int side, uint64_t *out)
{
	const json_t *value = get(object, key, side, "");

	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return 0;
	*out = (uint64_t)json_integer_value(value);
	return 1;
}

static const struct in_format *format_of(const char *name)
{
	for (int i = 0; name && in_format_names[i]; i++)
		if (strcmp(name, in_format_names[i]) == 0)
			return in_format_at(i + 1);
	return NULL;
}

static int read_side(const json_t *object, int i, struct in_side *side)
{
	const char *hash = json_string_value(get(object, "hash", i, ""));
	struct in_name names[IN_MOST_TEXTS];
	unsigned char bytes[8];

	side->id = SIMIDX_NO_ID;
	get_number(object, "line", i, &side->line);
	get_number(object, "id", i, &side->id);
	if (get_number(object, "offset", i, &side->offset))
		get_number(object, "length", i, &side->length);
	side->format = format_of(json_string_value(get(object, "format", i, "")));
	side->has_header = json_is_true(get(object, "header", i, ""));
	if (json_string_length(get(object, "delimiter", i, "")) == 1)
		side->delimiter = *json_string_value(get(object, "delimiter", i, ""));
	side->has_hash = hash && strlen(hash) == 16 && !tl_parse_hex(hash, 16, bytes);
	for (int k = 0; side->has_hash && k < 8; k++)
		side->hash = side->hash << 8 | bytes[k];
	if (get_bytes(object, "path", i, &side->path, &side->path_size) ||
	    get_bytes(object, "label", i, &side->label, &side->label_size) ||
	    get_bytes(object, "index", i, &side->index, &side->index_size) ||
	    get_bytes(object, "text_field", i, &side->text_field, &side->text_field_size) ||
	    get_bytes(object, "excerpt", i, &side->excerpt, &side->excerpt_size))
		return -1;
	/* Names that no reader of columns has taken, and a name that no file has. */
	if (side->text_field && (memchr(side->text_field, '\0', side->text_field_size) ||
				 !in_columns_names(side->text_field, names)))
		side->format = NULL;
	if (side->path && memchr(side->path, '\0', side->path_size))
		side->path[0] = '\0';
	return 0;
}

/* A number in 0..100. Returns -1 for another one and for what is none. */
static int get_percent(const json_t *value, double *out)
{
	*out = json_number_value(value);
	return json_is_number(value) && *out >= 0 && *out <= 100 ? 0 : -1;
}

/* How similar the rows are. Without "similarity", or where it is null, fingerprints decided. */
static const char *read_similarity(const json_t *object, struct in_pair *pair)
{
	const json_t *similarity = json_object_get(object, "similarity");
	const json_t *limit = json_object_get(object, "limit");
	const json_t *distance = json_object_get(object, "distance");

	if (!similarity && !distance)
		return "it has no rule or no similarity";
	pair->similarity = -1;
	if (similarity && !json_is_null(similarity) && get_percent(similarity, &pair->similarity))
		return "its similarity is no number in 0..100";
	if (limit && get_percent(limit, &pair->limit))
		return "its limit is no number in 0..100";
	pair->has_distance = get_number(object, "distance", 0, &pair->distance);
	if (distance && !pair->has_distance)
		return "its distance is no number from 0";
	return NULL;
}

static const char *read_pair(const json_t *object, struct in_pair *pair)
{
	const char *rule = json_string_value(json_object_get(object, "rule"));
	const char *reason = read_similarity(object, pair);

	if (!rule)
		return "it has no rule or no similarity";
	if (reason)
		return reason;
	snprintf(pair->rule, sizeof(pair->rule), "%s", rule);
	pair->is_estimate = json_is_true(json_object_get(object, "estimate"));
	pair->is_kept = json_is_true(json_object_get(object, "keep"));
	if (read_side(object, 0, &pair->side[0]) || read_side(object, 1, &pair->side[1]))
		return "out of memory";
	if (!pair->side[0].path || (!pair->side[1].path && pair->side[1].id == SIMIDX_NO_ID))
		return "it names no two rows";
	return NULL;
}

int in_evidence_parse(const char *line, size_t size, struct in_pair *pair, const char **reason)
{
	json_t *object = json_loadb(line, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);

	memset(pair, 0, sizeof(*pair));
	*reason = json_is_object(object) ? read_pair(object, pair) : "it is no JSON object";
	json_decref(object);
	return *reason ? -1 : 0;
}

#endif
