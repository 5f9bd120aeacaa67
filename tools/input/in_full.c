/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_full.h"

#include "input/in_jsonl.h"

#ifndef HAVE_JSON

const struct in_format in_format_full = { .name = "full" };

#else

#include "common/tl_number.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CHECK_FPS 64
#define MAX_PROFILE 4096
#define PLAN_SIZE 32

struct full {
	struct in_jsonl jsonl; /* first: its functions take the state for one of these */
	struct in_head head;
	uint64_t check_fps[MAX_CHECK_FPS];
	char plan[PLAN_SIZE];
	struct in_room profile, mark, note;
	uint64_t documents; /* lines of documents so far */
	int has_begun;
};

static void close_full(void *state)
{
	struct full *full = state;

	in_jsonl_close(&full->jsonl);
	free(full->profile.bytes);
	free(full->mark.bytes);
	free(full->note.bytes);
}

/* ---- the first line ---- */

/* Nothing can be made of a dump whose first line is not understood. */
static enum in_result expected(struct in_reader *reader, const char *key, const char *what)
{
	return in_fail(reader, IN_FATAL, "\"%s\": expected %s", key, what);
}

static enum in_result take_number(struct in_reader *reader, const json_t *object, const char *key,
				  uint64_t least, uint64_t most, uint64_t *out)
{
	const json_t *value = json_object_get(object, key);
	char what[80];

	*out = 0;
	if (json_is_integer(value) && json_integer_value(value) >= 0)
		*out = (uint64_t)json_integer_value(value);
	if (json_is_integer(value) && json_integer_value(value) >= 0 && *out >= least &&
	    *out <= most)
		return IN_ROW;
	snprintf(what, sizeof(what), "a number in %llu..%llu", (unsigned long long)least,
		 (unsigned long long)most);
	return expected(reader, key, what);
}

static enum in_result take_flag(struct in_reader *reader, const json_t *object, const char *key,
				int *out)
{
	const json_t *value = json_object_get(object, key);

	*out = json_is_true(value);
	return json_is_boolean(value) ? IN_ROW : expected(reader, key, "true or false");
}

/*
 * Bytes as tl_json_bytes() writes them, with a NUL byte after them. NULL where they are not there.
 */
static enum in_result take_bytes(struct in_reader *reader, const json_t *object, const char *key,
				 size_t most, struct in_room *room, size_t *size)
{
	const json_t *value = json_object_get(object, key);
	const char *text = json_string_value(value);
	char hex_key[32];
	int is_hex = !value;

	*size = 0;
	snprintf(hex_key, sizeof(hex_key), "%s_hex", key);
	if (is_hex)
		value = json_object_get(object, hex_key);
	if (!value)
		return IN_ROW;
	text = json_string_value(value);
	if (!text)
		return expected(reader, is_hex ? hex_key : key, "a string");
	*size = json_string_length(value) / (is_hex ? 2 : 1);
	if (*size > most)
		return in_fail(reader, IN_FATAL, "\"%s\": longer than %zu bytes", key, most);
	if (in_room_have(room, *size + 1))
		return in_lack_memory(reader);
	((char *)room->bytes)[*size] = '\0';
	if (!is_hex)
		memcpy(room->bytes, text, *size);
	else if (tl_parse_hex(text, json_string_length(value), room->bytes))
		return expected(reader, hex_key, "an even number of hexadecimal digits");
	return IN_ROW;
}

static enum in_result take_profile(struct in_reader *reader, const json_t *object)
{
	static const char what[] = "a list of at most 64 strings of hexadecimal digits";
	struct full *full = reader->state;
	simidx_info *info = &full->head.info;
	const json_t *list = json_object_get(object, "check_fps");
	size_t size, i, n = json_array_size(list);
	enum in_result rc = take_bytes(reader, object, "profile", MAX_PROFILE, &full->profile,
				       &size);

	if (rc != IN_ROW)
		return rc;
	if (!full->profile.bytes || memchr(full->profile.bytes, '\0', size))
		return expected(reader, "profile", "a string without NUL");
	if (!json_is_array(list) || n > MAX_CHECK_FPS)
		return expected(reader, "check_fps", what);
	for (i = 0; i < n; i++) {
		const json_t *value = json_array_get(list, i);

		if (!json_is_string(value) ||
		    tl_parse_fingerprint(json_string_value(value), json_string_length(value), 64,
					 "", &full->check_fps[i], reader->reason,
					 sizeof(reader->reason)))
			return expected(reader, "check_fps", what);
	}
	info->profile = full->profile.bytes;
	info->check_fps = full->check_fps;
	info->n_check_fps = n;
	return IN_ROW;
}

/* How the index stores its documents, which another one may do in another way. */
static enum in_result take_form(struct in_reader *reader, const json_t *object)
{
	struct full *full = reader->state;
	simidx_info *info = &full->head.info;
	const json_t *plan = json_object_get(object, "plan");
	const json_t *layout = json_object_get(object, "layout");
	const char *name = json_string_value(layout);
	uint64_t fill = 0;

	if (plan && (!json_is_string(plan) || json_string_length(plan) >= PLAN_SIZE ||
		     strlen(json_string_value(plan)) != json_string_length(plan)))
		return expected(reader, "plan", "a short string such as \"4x16\"");
	if (plan)
		info->plan = strcpy(full->plan, json_string_value(plan));
	if (layout && (!name || (strcmp(name, "rows") && strcmp(name, "blocks"))))
		return expected(reader, "layout", "\"blocks\" or \"rows\"");
	if (layout)
		info->layout = strcmp(name, "rows") ? SIMIDX_LAYOUT_BLOCKS : SIMIDX_LAYOUT_ROWS;
	if (json_object_get(object, "fill") &&
	    take_number(reader, object, "fill", 50, 100, &fill) != IN_ROW)
		return IN_FATAL;
	info->fill = (unsigned)fill;
	return IN_ROW;
}

static enum in_result take_next_id(struct in_reader *reader, const json_t *object, int has_ids)
{
	simidx_info *info = &((struct full *)reader->state)->head.info;
	const json_t *value = json_object_get(object, "next_id");

	info->next_id = SIMIDX_NO_ID;
	if (!has_ids)
		return value ? in_fail(reader, IN_FATAL, "\"next_id\" does not go with "
							 "\"ids\":false")
			     : IN_ROW;
	info->next_id = SIMIDX_MAX_ID + 1;
	if (json_is_null(value))
		return IN_ROW;
	return take_number(reader, object, "next_id", 0, SIMIDX_MAX_ID, &info->next_id);
}

static enum in_result take_head(struct in_reader *reader, const json_t *object)
{
	struct full *full = reader->state;
	struct in_head *head = &full->head;
	const char *format = json_string_value(json_object_get(object, "format"));
	uint64_t version, bits;
	int has_ids, has_fp2, has_times = 0, has_notes = 0;

	if (!format || strcmp(format, IN_FULL_FORMAT))
		return in_fail(
			reader, IN_FATAL,
			"no full dump: expected a first line with \"format\":\"" IN_FULL_FORMAT
			"\", as 'simidx-query dump --format full' writes it");
	head->info = (simidx_info)SIMIDX_INFO_INIT;
	if (take_number(reader, object, "version", 0, INT_MAX, &version) != IN_ROW)
		return IN_FATAL;
	if (version != IN_FULL_VERSION)
		return in_fail(reader, IN_FATAL, "a full dump of version %llu, and this program "
			       "reads version %d", (unsigned long long)version, IN_FULL_VERSION);
	if (take_number(reader, object, "bits", SIMIDX_MIN_BITS, SIMIDX_MAX_BITS, &bits) !=
		    IN_ROW ||
	    take_flag(reader, object, "ids", &has_ids) != IN_ROW ||
	    take_flag(reader, object, "fp2", &has_fp2) != IN_ROW ||
	    (json_object_get(object, "times") &&
	     take_flag(reader, object, "times", &has_times) != IN_ROW) ||
	    (json_object_get(object, "notes") &&
	     take_flag(reader, object, "notes", &has_notes) != IN_ROW) ||
	    take_profile(reader, object) != IN_ROW || take_form(reader, object) != IN_ROW ||
	    take_next_id(reader, object, has_ids) != IN_ROW ||
	    take_number(reader, object, "documents", 0, SIMIDX_MAX_ID, &head->info.documents) !=
		    IN_ROW ||
	    take_bytes(reader, object, "mark", SIMIDX_MAX_MARK, &full->mark, &head->mark_size) !=
		    IN_ROW)
		return IN_FATAL;
	head->info.bits = (unsigned)bits;
	head->info.flags = (has_ids ? 0 : SIMIDX_CREATE_NO_IDS) |
			   (has_fp2 ? SIMIDX_CREATE_FP2 : 0) |
			   (has_times ? SIMIDX_CREATE_TIMES : 0) |
			   (has_notes ? SIMIDX_CREATE_NOTES : 0);
	head->mark = full->mark.bytes;
	return IN_ROW;
}

/* ---- the others ---- */

/* Of what is not UTF-8 the digits are given. */
static enum in_result take_note(struct in_reader *reader, const json_t *object, struct in_row *row)
{
	struct full *full = reader->state;
	const json_t *text = json_object_get(object, "note");
	const json_t *hex = json_object_get(object, "note_hex");
	const json_t *value = text ? text : hex;

	if (!value)
		return IN_ROW;
	if (!json_is_string(value) || (text && hex))
		return in_fail(reader, IN_REJECTED, "expected one string, \"note\" or "
						    "\"note_hex\"");
	row->note = json_string_value(value);
	row->note_size = json_string_length(value);
	if (text)
		return IN_ROW;
	if (in_room_have(&full->note, row->note_size / 2 + 1))
		return in_lack_memory(reader);
	if (tl_parse_hex(row->note, row->note_size, full->note.bytes))
		return in_fail(reader, IN_REJECTED,
			       "\"note_hex\": expected an even number of hexadecimal digits");
	row->note = full->note.bytes;
	row->note_size /= 2;
	return IN_ROW;
}


static enum in_result next_first(struct in_reader *reader, struct in_row *row)
{
	struct full *full = reader->state;
	const json_t *object;
	enum in_result rc = in_jsonl_line(reader, &object);

	full->has_begun = 1;
	if (rc == IN_END)
		return in_fail(reader, IN_FATAL,
			       "is empty: expected the first line of a full dump");
	if (rc == IN_ROW)
		rc = take_head(reader, object);
	if (rc != IN_ROW)
		return IN_FATAL;
	row->kind = IN_HEAD;
	row->head = &full->head;
	return IN_ROW;
}

/* The last line, and that nothing comes after it. */
static enum in_result take_last(struct in_reader *reader, const json_t *object)
{
	struct full *full = reader->state;
	uint64_t documents;
	enum in_result rc = take_number(reader, object, "documents", 0, SIMIDX_MAX_ID, &documents);
	const char *line;
	size_t size;

	if (rc != IN_ROW)
		return rc;
	if (documents != full->documents)
		return in_fail(reader, IN_FATAL, "\"documents\" is %llu, but %llu came before: the "
			       "dump is not whole",
			       (unsigned long long)documents, (unsigned long long)full->documents);
	rc = in_next_line(reader, &line, &size);
	if (rc == IN_END || rc == IN_FATAL)
		return rc;
	return in_fail(reader, IN_FATAL, "comes after the last line of the dump; other dumps are "
		       "inputs of their own");
}

static enum in_result next_full(struct in_reader *reader, struct in_row *row)
{
	struct full *full = reader->state;
	const json_t *object;
	enum in_result rc;

	if (!full->has_begun)
		return next_first(reader, row);
	rc = in_jsonl_line(reader, &object);
	if (rc == IN_END)
		return in_fail(reader, IN_FATAL, "ends after this without its last line, "
			       "{\"documents\":N}: the dump is not whole");
	if (rc == IN_ROW && json_object_get(object, "format"))
		return in_fail(reader, IN_FATAL, "a second first line, inside the dump");
	if (rc == IN_ROW && !json_object_get(object, "fp") && json_object_get(object, "documents"))
		return take_last(reader, object);
	full->documents += rc == IN_ROW || rc == IN_REJECTED;
	if (rc != IN_ROW)
		return rc;
	if (!json_object_get(object, "fp"))
		return in_fail(reader, IN_REJECTED, "expected a member \"fp\"");
	rc = in_jsonl_row(reader, object, row);
	if (rc == IN_ROW && full->head.info.flags & SIMIDX_CREATE_TIMES)
		rc = in_jsonl_time(reader, object, "time", row);
	if (rc == IN_ROW)
		rc = take_note(reader, object, row);
	if (rc == IN_ROW && row->note && !(full->head.info.flags & SIMIDX_CREATE_NOTES))
		return in_fail(reader, IN_REJECTED,
			       "has a note, against what the first line of the dump says");
	return rc;
}

const struct in_format in_format_full = {
	.name = "full", .next = next_full, .state_size = sizeof(struct full), .close = close_full
};

#endif
