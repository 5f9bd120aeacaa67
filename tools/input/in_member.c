/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_member.h"

#ifdef HAVE_JSON

#include "input/in_columns.h"

#include <stdio.h>
#include <string.h>

/* Longest part of a name with points. */
#define MAX_PART 255

/* Objects in objects that are looked into for names to be told. */
#define MAX_DEPTH 3

static const json_t *get(const json_t *object, const char *name, size_t size)
{
	char key[MAX_PART + 1];

	if (!name[size])
		return json_object_get(object, name);
	if (size > MAX_PART)
		return NULL;
	memcpy(key, name, size);
	key[size] = '\0';
	return json_object_get(object, key);
}

const json_t *in_member(const json_t *object, const char *name, size_t size)
{
	const json_t *found = get(object, name, size), *inner;
	const char *end = name + size, *point = found ? NULL : memchr(name, '.', size);

	while (!found && point) {
		inner = get(object, name, (size_t)(point - name));
		if (json_is_object(inner))
			found = in_member(inner, point + 1, (size_t)(end - point - 1));
		point = memchr(point + 1, '.', (size_t)(end - point - 1));
	}
	return found;
}

/* Join strings; what is none is empty. */
static enum in_found_text join(const json_t *const *part, size_t n, struct in_room *room,
			       const char **text, size_t *size)
{
	size_t used = 0;

	*size = n - 1;
	for (size_t i = 0; i < n; i++)
		*size += json_string_length(part[i]);
	if (in_room_have(room, *size + 1))
		return IN_TEXT_NO_MEMORY;
	*text = room->bytes;
	for (size_t i = 0; i < n; i++) {
		char *to = (char *)room->bytes + used;

		if (i)
			*to++ = '\n';
		if (json_is_string(part[i]))
			to = mempcpy(to, json_string_value(part[i]), json_string_length(part[i]));
		used = (size_t)(to - (char *)room->bytes);
	}
	return IN_TEXT_FOUND;
}

enum in_found_text in_member_text(const json_t *object, const char *list, struct in_room *room,
				  const char **text, size_t *size)
{
	const json_t *value = in_member(object, list, strlen(list)), *part[IN_MOST_TEXTS];
	struct in_name names[IN_MOST_TEXTS];
	size_t n = value || !strchr(list, ',') ? 0 : in_columns_names(list, names), n_strings = 0;

	for (size_t i = 0; i < n; i++) {
		part[i] = in_member(object, names[i].name, names[i].size);
		n_strings += json_is_string(part[i]);
		if (part[i] && !json_is_string(part[i]) && !json_is_null(part[i]))
			return IN_TEXT_NO_STRING;
	}
	if (n)
		return n_strings ? join(part, n, room, text, size) : IN_TEXT_MISSING;
	if (!value)
		return IN_TEXT_MISSING;
	if (!json_is_string(value))
		return IN_TEXT_NO_STRING;
	*text = json_string_value(value);
	*size = json_string_length(value);
	return IN_TEXT_FOUND;
}

/* ---- names to be told ---- */

/* Hexadecimal digits of a fingerprint of 64 bits. */
#define FP_DIGITS 16

/* What is collected. */
struct listing {
	char *names, *longest;
	size_t names_size, longest_size;
	size_t length; /* of the longest string */
	int is_fp;     /* it looks like a fingerprint */
	int takes_all; /* members of all kinds */
};

/* Members of an object at a path, which ends in a point if there is one. */
static void list_members(const json_t *object, const char *path, int depth,
			 struct listing *listing)
{
	char inner[MAX_PART + 1];
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value) {
		if ((size_t)snprintf(inner, sizeof(inner), "%s%s", path, key) >= sizeof(inner) - 1)
			continue;
		if (json_is_object(value) && depth < MAX_DEPTH) {
			strcat(inner, ".");
			list_members(value, inner, depth + 1, listing);
		}
		if (json_is_string(value) || (listing->takes_all && !json_is_object(value)))
			in_columns_add_name(listing->names, listing->names_size, inner,
					    strlen(inner));
		if (!json_is_string(value))
			continue;
		if (json_string_length(value) <= listing->length && *listing->longest)
			continue;
		listing->length = json_string_length(value);
		listing->is_fp = listing->length == FP_DIGITS &&
				 strspn(json_string_value(value), "0123456789abcdefABCDEF") ==
					 FP_DIGITS;
		if (strlen(inner) < listing->longest_size)
			strcpy(listing->longest, inner);
	}
}

void in_member_strings(const json_t *object, struct in_causes *causes)
{
	struct listing listing = { causes->names, causes->longest, sizeof(causes->names),
				   sizeof(causes->longest), 0, 0, 0 };

	*causes->names = *causes->longest = '\0';
	list_members(object, "", 0, &listing);
	causes->longest_is_fp = listing.is_fp;
}

/* ---- members that no object has ---- */

void in_member_see(struct in_causes *causes, const struct in_columns *columns,
		   const json_t *object)
{
	struct in_name names[IN_CAUSES_TEXTS + IN_MOST_TEXTS];
	size_t n = in_causes_names(columns, names);
	char longest[MAX_PART + 1] = "";
	struct listing listing = { causes->members, longest, sizeof(causes->members),
				   sizeof(longest), 0, 0, 1 };

	if (columns->text && json_object_get(object, columns->text))
		n = IN_CAUSES_TEXTS;
	for (size_t i = 0; !causes->unseen_of && i < n; i++)
		causes->unseen |= (uint32_t)(names[i].name != NULL) << i;
	if (!causes->unseen_of && causes->unseen)
		list_members(object, "", 0, &listing);
	causes->unseen_of = columns;
	for (size_t i = 0; i < n; i++)
		if (causes->unseen >> i & 1 && in_member(object, names[i].name, names[i].size))
			causes->unseen &= ~((uint32_t)1 << i);
}

#endif
