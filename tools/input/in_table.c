/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_table.h"

#include "common/tl_escape.h"
#include "common/tl_fp.h"
#include "common/tl_number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS "expected the columns id, fingerprint, label, "

/* Room for the names in a header, as far as a message shows them. */
#define NAMES_SIZE 300
#define DOTS ", ..."

/* The fields of a row that are read. */
struct fields {
	struct in_field id;
	struct in_field fp;
	struct in_field label;
	struct in_field time;
};

int in_cut_field(struct in_cursor *cursor, char separator, struct in_field *field)
{
	char *found;

	if (!cursor->at)
		return 0;
	found = memchr(cursor->at, separator, (size_t)(cursor->end - cursor->at));
	field->data = cursor->at;
	field->size = (size_t)((found ? found : cursor->end) - cursor->at);
	cursor->at = found ? found + 1 : NULL;
	return 1;
}

enum in_result in_table_line(struct in_reader *reader, struct in_cursor *cursor)
{
	const char *line;
	size_t size;
	enum in_result rc = in_next_line(reader, &line, &size);

	if (rc == IN_ROW) {
		cursor->at = reader->lines.buffer + (line - reader->lines.buffer);
		cursor->end = cursor->at + size;
	}
	return rc;
}

void in_table_close(void *state)
{
	struct in_table_state *table = state;

	free(table->label.bytes);
}

/*
 * Add a name to the list that a message shows, which ends in dots when there is no room for more.
 */
static void add_name(char names[NAMES_SIZE], const struct in_field *field)
{
	size_t used = strlen(names), room = NAMES_SIZE - used - strlen(DOTS);
	int size = field->size < NAMES_SIZE ? (int)field->size : NAMES_SIZE;

	if (used && names[used - 1] != '"')
		return;
	if (snprintf(names + used, room, "%s\"%.*s\"", used ? ", " : "", size, field->data) >=
	    (int)room)
		strcpy(names + used, DOTS);
}

/* Note the number of a column if it has this name. Two of that name are one too many. */
static enum in_result match_name(struct in_reader *reader, const struct in_field *field,
				 const char *name, uint64_t number, uint64_t *column)
{
	if (field->size != strlen(name) || memcmp(field->data, name, field->size) != 0)
		return IN_ROW;
	if (*column)
		return in_fail(reader, IN_FATAL, "the header names two columns \"%s\"", name);
	*column = number;
	return IN_ROW;
}

/* Spreadsheets put it before UTF-8. */
static void skip_byte_order_mark(struct in_lines *lines)
{
	/* What goes wrong here goes wrong again with the first row, and is told there. */
	if (in_lines_need(lines, 3) == IN_ROW &&
	    memcmp(lines->buffer + lines->start, "\xef\xbb\xbf", 3) == 0)
		lines->start += 3;
}

static enum in_result read_header(struct in_reader *reader, const struct in_syntax *syntax)
{
	const struct in_columns *columns = reader->columns;
	const char *id = columns->id ? columns->id : "id";
	const char *fp = columns->fp ? columns->fp : "fp";
	const char *label = columns->label ? columns->label : "label";
	struct in_table_state *state = reader->state;
	struct in_table *table = &state->columns;
	char names[NAMES_SIZE] = "";
	struct in_cursor cursor;
	struct in_field field;
	uint64_t n = 0;
	enum in_result rc = syntax->next_row(reader, &cursor);

	if (rc == IN_REJECTED)
		return IN_FATAL;
	while (rc == IN_ROW && syntax->next_field(reader, &cursor, &field)) {
		n++;
		add_name(names, &field);
		rc = match_name(reader, &field, id, n, &table->id);
		if (rc == IN_ROW)
			rc = match_name(reader, &field, fp, n, &table->fp);
		if (rc == IN_ROW)
			rc = match_name(reader, &field, label, n, &table->label);
		if (rc == IN_ROW && columns->time)
			rc = match_name(reader, &field, columns->time, n, &table->time);
	}
	if (rc != IN_ROW)
		return rc;
	if (reader->columns->keys_only && !table->id && !table->label)
		return in_fail(reader, IN_FATAL, "the header names no column \"%s\" and none "
			       "\"%s\", but %s", id, label, names);
	if (!table->fp && !reader->columns->keys_only)
		return in_fail(reader, IN_FATAL, "the header names no column \"%s\", but %s%s", fp,
			       names,
			       n == 1 && strpbrk(names, ";|") ?
				       "; --delimiter tells what separates columns" :
			       columns->fp ? "" : "; --fp-field tells which it is");
	if ((columns->id && !table->id) || (columns->label && !table->label))
		return in_fail(reader, IN_FATAL, "the header names no column \"%s\", but %s",
			       columns->id && !table->id ? id : label, names);
	if (columns->time && !table->time)
		return in_fail(reader, IN_FATAL, "the header names no column \"%s\", but %s",
			       columns->time, names);
	return IN_ROW;
}

/* Cut a row and keep the fields that matter. Columns that are not needed are not looked at. */
static enum in_result pick_fields(struct in_reader *reader, const struct in_syntax *syntax,
				  struct in_cursor *cursor, struct fields *fields)
{
	const struct in_table *table = &((struct in_table_state *)reader->state)->columns;
	uint64_t needed = table->id > table->fp ? table->id : table->fp;
	uint64_t last = table->label > needed ? table->label : needed;
	struct in_field field;
	uint64_t n = 0;

	if (table->time > last)
		last = table->time;
	memset(fields, 0, sizeof(*fields));
	while (n < last && syntax->next_field(reader, cursor, &field)) {
		n++;
		if (n == table->id)
			fields->id = field;
		if (n == table->fp)
			fields->fp = field;
		if (n == table->label)
			fields->label = field;
		if (n == table->time)
			fields->time = field;
	}
	if (n < needed && table->exact)
		return in_fail(reader, IN_REJECTED, COLUMNS "found one column");
	if (n < needed)
		return in_fail(reader, IN_REJECTED, "expected %llu columns or more, found %llu",
			       (unsigned long long)needed, (unsigned long long)n);
	if (table->exact && cursor->at)
		return in_fail(reader, IN_REJECTED, COLUMNS "%s",
			       syntax->may_have_time ? "time, found more than four columns"
						     : "found more than three columns");
	return IN_ROW;
}

static enum in_result take_label(struct in_reader *reader, struct in_row *row,
				 const struct in_field *field, int escapes)
{
	struct in_room *room = &((struct in_table_state *)reader->state)->label;

	if (field->size == 0)
		return IN_ROW;
	row->label = field->data;
	row->label_size = field->size;
	if (!escapes || !memchr(field->data, '\\', field->size))
		return IN_ROW;
	if (in_room_have(room, field->size))
		return in_lack_memory(reader);
	if (tl_unescape(field->data, field->size, room->bytes, &row->label_size))
		return in_fail(
			reader, IN_REJECTED,
			"label: a backslash that begins none of \\t \\n \\r \\\\ \\xHH");
	row->label = room->bytes;
	return IN_ROW;
}

/* The column of times is named as --time names it. */
static enum in_result take_time(struct in_reader *reader, struct in_row *row,
				const struct in_field *field)
{
	const struct in_columns *columns = reader->columns;
	char what[64] = "time";

	if (columns->time)
		snprintf(what, sizeof(what), columns->header ? "\"%s\"" : "column %s",
			 columns->time);
	return in_time(reader, field->data, field->size, what, row);
}

/* The id may be empty, the label and the time empty or left out. */
static enum in_result take_row(struct in_reader *reader, struct in_row *row,
			       const struct fields *fields, int escapes)
{
	enum in_result rc;

	row->kind = reader->columns->keys_only ? IN_KEY : IN_FINGERPRINT;
	if (fields->id.size > 0 &&
	    tl_parse_decimal(fields->id.data, fields->id.size, SIMIDX_MAX_ID, &row->id))
		return in_fail(reader, IN_REJECTED,
			       "id: expected a decimal number in 0..%llu, or nothing",
			       (unsigned long long)SIMIDX_MAX_ID);
	rc = row->kind == IN_KEY ? IN_ROW :
	     in_fingerprint(reader, fields->fp.data, fields->fp.size, "fingerprint",
			    reader->bits, &row->fp);
	if (rc == IN_ROW)
		rc = take_label(reader, row, &fields->label, escapes);
	if (rc == IN_ROW && row->kind != IN_KEY && (reader->columns->time || fields->time.data))
		rc = take_time(reader, row, &fields->time);
	return rc;
}

/* Whether a field, if there is anything in it, begins as the name of a column does. */
static int may_be_name(const struct in_field *field)
{
	unsigned char c = field->size ? (unsigned char)*field->data : '_';

	return c == '_' || c >= 0x80 || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Whether a row has a fingerprint and nothing else. */
static int is_bare(const struct in_reader *reader, const struct fields *fields)
{
	char reason[256];
	uint64_t fp;

	return !reader->columns->keys_only && !fields->fp.data && fields->id.data &&
	       !tl_parse_encoded(reader->columns->encoding, fields->id.data, fields->id.size,
				 reader->bits, "", &fp, reason, sizeof(reason));
}

/* The first row was rejected: say what helps if it names the columns, or has one alone. */
static void suspect_header(struct in_reader *reader, const struct fields *fields)
{
	size_t n = strlen(reader->reason);

	if (is_bare(reader, fields))
		snprintf(reader->reason + n, sizeof(reader->reason) - n,
			 "; for fingerprints alone: --fp-field 1");
	else if (fields->id.size + fields->fp.size > 0 && may_be_name(&fields->id) &&
	    may_be_name(&fields->fp))
		snprintf(reader->reason + n, sizeof(reader->reason) - n,
			 "; line 1 looks like a header: --header");
}

enum in_result in_table_next(struct in_reader *reader, struct in_row *row,
			     const struct in_syntax *syntax)
{
	struct in_table_state *state = reader->state;
	struct in_cursor cursor;
	struct fields fields;
	enum in_result rc = IN_ROW;

	if (reader->row == 1) {
		skip_byte_order_mark(&reader->lines);
		if (reader->columns->header)
			rc = read_header(reader, syntax);
		if (reader->columns->header)
			in_keep_head(reader);
		else
			in_columns_number(reader->columns, &state->columns);
		if (syntax->may_have_time)
			state->columns.time = 4;
	}
	if (rc == IN_ROW)
		rc = syntax->next_row(reader, &cursor);
	if (rc != IN_ROW)
		return rc;
	rc = pick_fields(reader, syntax, &cursor, &fields);
	if (rc == IN_ROW)
		rc = take_row(reader, row, &fields, syntax->escapes);
	if (rc == IN_REJECTED && reader->row == 1 && !reader->columns->header)
		suspect_header(reader, &fields);
	return rc;
}

/* ---- tsv ---- */

static int next_field(const struct in_reader *reader, struct in_cursor *cursor,
		      struct in_field *field)
{
	(void)reader;
	return in_cut_field(cursor, '\t', field);
}

static enum in_result next_tsv(struct in_reader *reader, struct in_row *row)
{
	static const struct in_syntax syntax = { in_table_line, next_field, 1, 0 };

	return in_table_next(reader, row, &syntax);
}

/* Of an index with times, a dump has four columns. */
static enum in_result next_dump(struct in_reader *reader, struct in_row *row)
{
	static const struct in_syntax syntax = { in_table_line, next_field, 1, 1 };

	return in_table_next(reader, row, &syntax);
}

const struct in_format in_format_tsv = {
	.name = "tsv", .takes = IN_TAKES_HEADER | IN_TAKES_FIELDS | IN_TAKES_ENCODING,
	.next = next_tsv, .state_size = IN_TABLE_STATE_SIZE, .close = in_table_close
};

/* What simidx-query writes: this is tsv, and nothing about it is to be chosen. */
const struct in_format in_format_dump = { .name = "dump",
					  .next = next_dump,
					  .state_size = IN_TABLE_STATE_SIZE,
					  .close = in_table_close };
