/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_table.h"

#include "common/tl_escape.h"
#include "common/tl_fp.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_others.h"
#include "input/in_look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS "expected the columns id, fingerprint, label, "

/* Room for the names in a header, as far as a message shows them. */
#define NAMES_SIZE 300

/* The fields of a row that are read. */
struct fields {
	struct in_field id;
	struct in_field fp;
	struct in_field label;
	struct in_field time;
	struct in_field value;
	struct in_field text[IN_MOST_TEXTS];
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
	free(table->text.bytes);
}

/* Note the number of a column if it has this name. Two of that name are one too many. */
static enum in_result match(struct in_reader *reader, const struct in_field *field,
			    const char *name, size_t size, uint64_t number, uint64_t *column)
{
	if (field->size != size || memcmp(field->data, name, size) != 0)
		return IN_ROW;
	if (*column)
		return in_fail(reader, IN_FATAL, "the header names two columns \"%.*s\"",
			       (int)size, name);
	*column = number;
	return IN_ROW;
}

static enum in_result match_name(struct in_reader *reader, const struct in_field *field,
				 const char *name, uint64_t number, uint64_t *column)
{
	return match(reader, field, name, strlen(name), number, column);
}

/* Spreadsheets put it before UTF-8. */
static void skip_byte_order_mark(struct in_lines *lines)
{
	/* What goes wrong here goes wrong again with the first row, and is told there. */
	if (in_lines_offset(lines) == 0 && in_lines_need(lines, 3) == IN_ROW &&
	    memcmp(lines->buffer + lines->start, "\xef\xbb\xbf", 3) == 0)
		lines->start += 3;
}

/* What a header is looked through for. */
struct wanted {
	const char *id, *fp, *label, *time, *text; /* time: NULL = not wanted */
	struct in_name names[IN_MOST_TEXTS];       /* the parts of `text` */
	size_t n_names;
	uint64_t whole; /* the column whose name is all of `text` */
};

static struct wanted want(const struct in_columns *columns)
{
	struct wanted wanted = {
		.id = columns->id ? columns->id : "id",
		.fp = columns->fp ? columns->fp : "fp",
		.label = columns->label ? columns->label : "label",
		.time = columns->time,
		.text = columns->text ? columns->text : "text",
	};

	wanted.n_names = in_columns_names(wanted.text, wanted.names);
	return wanted;
}

static enum in_result match_all(struct in_reader *reader, const struct in_field *field,
				struct wanted *wanted, uint64_t n)
{
	struct in_table *table = &((struct in_table_state *)reader->state)->columns;
	enum in_result rc = match_name(reader, field, wanted->id, n, &table->id);

	if (rc == IN_ROW && !reader->columns->text)
		rc = match_name(reader, field, wanted->fp, n, &table->fp);
	if (rc == IN_ROW)
		rc = match_name(reader, field, wanted->label, n, &table->label);
	if (rc == IN_ROW && wanted->time)
		rc = match_name(reader, field, wanted->time, n, &table->time);
	if (rc == IN_ROW && reader->columns->value)
		rc = match_name(reader, field, reader->columns->value, n, &table->value);
	if (rc == IN_ROW)
		rc = match_name(reader, field, wanted->text, n, &wanted->whole);
	for (size_t i = 0; rc == IN_ROW && i < wanted->n_names; i++)
		rc = match(reader, field, wanted->names[i].name, wanted->names[i].size, n,
			   &table->text[i]);
	return rc;
}

/* A text is in the column of that name, else in those that it lists, else there is none. */
static void choose_texts(struct in_table *table, const struct wanted *wanted,
			 const struct in_columns *columns)
{
	size_t n = 0;

	if (wanted->whole)
		table->text[0] = wanted->whole;
	while (n < wanted->n_names && table->text[n])
		n++;
	table->n_texts = wanted->whole ? 1 : n == wanted->n_names ? n : 0;
	/* Who does not name it gets fingerprints if there are any. */
	if (columns->keys_only || columns->fp || (!columns->text && table->fp))
		table->n_texts = 0;
}

#define DELIMITER "; --delimiter tells what separates columns"

/* The header has one column alone, with what separates columns. */
static const char *advise_delimiter(const struct in_reader *reader, uint64_t n, const char *what)
{
	if (n != 1 || !strpbrk(what, ";|,\t"))
		return "";
	return reader->format != &in_format_tsv ? DELIMITER :
	       strchr(what, ',')		? "; of columns between commas: -F csv" :
						  "; -F csv reads other columns";
}

/* The header lacks what is needed: `what` is all that it names. Returns IN_ROW if it does not. */
static enum in_result check_header(struct in_reader *reader, const struct wanted *wanted,
				   uint64_t n, const char *what)
{
	const struct in_table *table = &((struct in_table_state *)reader->state)->columns;
	const struct in_columns *columns = reader->columns;
	const char *missing = columns->id && !table->id	      ? columns->id
			      : columns->label && !table->label ? columns->label
			      : columns->time && !table->time	? columns->time
			      : columns->value && !table->value ? columns->value
								: NULL;
	size_t i = 0;

	if (columns->keys_only && !table->id && !table->label)
		return in_fail(reader, IN_FATAL, "the header names no column \"%s\" and none "
			       "\"%s\", but %s", wanted->id, wanted->label, what);
	while (columns->text && !table->n_texts && i < wanted->n_names && table->text[i])
		i++;
	if (columns->text && !table->n_texts && i < wanted->n_names)
		return in_fail(reader, IN_FATAL, "the header names no column \"%.*s\", but %s%s",
			       (int)wanted->names[i].size, wanted->names[i].name, what,
			       advise_delimiter(reader, n, what));
	if (!table->fp && !table->n_texts && !columns->keys_only)
		return in_fail(reader, IN_FATAL, "the header names no column \"%s\", but %s%s",
			       wanted->fp, what,
			       *advise_delimiter(reader, n, what) ?
				       advise_delimiter(reader, n, what) :
			       columns->fp ? "" :
				       "; --fp-field or --text-field tells which it is");
	if (missing)
		return in_fail(reader, IN_FATAL, "the header names no column \"%s\", but %s%s",
			       missing, what, advise_delimiter(reader, n, what));
	return IN_ROW;
}

/* Whose rows have neither label, id nor time, though there are columns that could be a label. */
static void tell_unread(const struct in_reader *reader, uint64_t n, const char *names)
{
	const struct in_table *table = &((struct in_table_state *)reader->state)->columns;

	if (reader->columns->tells_unread && !table->label && !table->id && !table->time &&
	    n > (table->fp != 0) + table->n_texts)
		tl_notice("%s: of the columns %s none is label, id or time: --label-field NAME "
			  "makes one the label",
			  reader->path, names);
}

static enum in_result read_header(struct in_reader *reader, const struct in_syntax *syntax)
{
	struct in_table_state *state = reader->state;
	struct wanted wanted = want(reader->columns);
	char names[NAMES_SIZE] = "";
	struct in_cursor cursor;
	struct in_field field;
	uint64_t n = 0;
	enum in_result rc = syntax->next_row(reader, &cursor);

	if (rc == IN_REJECTED)
		return IN_FATAL;
	memset(&state->columns, 0, sizeof(state->columns));
	while (rc == IN_ROW && syntax->next_field(reader, &cursor, &field)) {
		n++;
		in_columns_add_name(names, sizeof(names), field.data, field.size);
		rc = match_all(reader, &field, &wanted, n);
	}
	if (rc != IN_ROW)
		return rc;
	choose_texts(&state->columns, &wanted, reader->columns);
	rc = check_header(reader, &wanted, n, names);
	if (rc != IN_ROW)
		return rc;
	tell_unread(reader, n, names);
	in_keep_head(reader);
	return rc;
}

enum in_result in_table_begin(struct in_reader *reader)
{
	const struct in_syntax *syntax = reader->format->syntax;
	struct in_table_state *state = reader->state;
	enum in_result rc = IN_ROW;

	skip_byte_order_mark(&reader->lines);
	if (reader->columns->header)
		rc = read_header(reader, syntax);
	else
		in_columns_number(reader->columns, &state->columns);
	if (syntax->may_have_time)
		state->columns.time = 4;
	state->has_begun = rc == IN_ROW;
	return rc;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Cut a row and keep the fields that matter. Columns that are not needed are not looked at. */
static enum in_result pick_fields(struct in_reader *reader, const struct in_syntax *syntax,
				  struct in_cursor *cursor, struct fields *fields)
{
	const struct in_table *table = &((struct in_table_state *)reader->state)->columns;
	uint64_t needed = larger(table->id, table->fp), last, n = 0;
	struct in_field field;

	for (size_t i = 0; i < table->n_texts; i++)
		needed = larger(needed, table->text[i]);
	last = larger(larger(needed, table->value), larger(table->label, table->time));
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
		if (n == table->value)
			fields->value = field;
		for (size_t i = 0; i < table->n_texts; i++)
			if (n == table->text[i])
				fields->text[i] = field;
	}
	if (n < needed)
		in_count_cause(reader, IN_FEW_COLUMNS);
	if (n < needed && table->exact)
		return in_fail(reader, IN_REJECTED, COLUMNS "found one column%s",
			       !fields->id.data || reader->row > 1 ? "" :
			       in_look_advise(reader->format, "", fields->id.data,
					      fields->id.size));
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

/*
 * The text of a row: one field, or several joined. Where a backslash begins no escape, the field
 * has none: other programs write them as they are.
 */
static enum in_result take_text(struct in_reader *reader, struct in_row *row,
				const struct in_field *field, size_t n, int escapes)
{
	struct in_room *room = &((struct in_table_state *)reader->state)->text;
	size_t size = n - 1, used = 0, more;
	char *text;

	row->kind = IN_TEXT;
	row->text = field->data;
	row->text_size = field->size;
	if (n == 1 && (!escapes || !memchr(field->data, '\\', field->size)))
		return IN_ROW;
	for (size_t i = 0; i < n; i++)
		size += field[i].size;
	if (in_room_have(room, size + 1))
		return in_lack_memory(reader);
	text = room->bytes;
	for (size_t i = 0; i < n; i++) {
		if (i)
			text[used++] = '\n';
		more = field[i].size;
		if (!escapes || tl_unescape(field[i].data, field[i].size, text + used, &more))
			memcpy(text + used, field[i].data, more = field[i].size);
		used += more;
	}
	row->text = text;
	row->text_size = used;
	return IN_ROW;
}

/*
 * The id may be empty. In a row with a text it may be a word: then it is a label, as in jsonl.
 * `label` is set to where that is.
 */
static enum in_result take_id(struct in_reader *reader, struct in_row *row,
			      const struct fields *fields, const struct in_field **label)
{
	int is_named = reader->columns->id || reader->columns->header;

	*label = &fields->label;
	if (!fields->id.size ||
	    !tl_parse_decimal(fields->id.data, fields->id.size, SIMIDX_MAX_ID, &row->id))
		return IN_ROW;
	if (row->kind != IN_TEXT)
		return in_fail(reader, IN_REJECTED,
			       "id: expected a decimal number in 0..%llu, or nothing%s",
			       (unsigned long long)SIMIDX_MAX_ID,
			       is_named && reader->row == 1 ?
				       "; --label-field takes any text as the key" : "");
	row->id = SIMIDX_NO_ID;
	if (!fields->label.size && !reader->columns->label)
		*label = &fields->id;
	return IN_ROW;
}

/* The label and the time may be empty or left out. */
static enum in_result take_row(struct in_reader *reader, struct in_row *row,
			       const struct fields *fields, int escapes)
{
	const struct in_table *table = &((struct in_table_state *)reader->state)->columns;
	const struct in_field *label;
	enum in_result rc = IN_ROW;

	row->kind = reader->columns->keys_only ? IN_KEY : IN_FINGERPRINT;
	row->value = fields->value.data;
	row->value_size = fields->value.size;
	if (table->n_texts)
		rc = take_text(reader, row, fields->text, table->n_texts, escapes);
	if (rc != IN_ROW || reader->columns->texts_only)
		return rc;
	rc = take_id(reader, row, fields, &label);
	if (rc == IN_ROW && row->kind == IN_FINGERPRINT)
		rc = in_fingerprint(reader, fields->fp.data, fields->fp.size, "fingerprint",
				    reader->bits, &row->fp);
	if (rc == IN_ROW)
		rc = take_label(reader, row, label, escapes);
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

/* Whether a row has a word where the id should be, and then a fingerprint, of which a name has
 * neither the digits nor the length. */
static int has_word_as_id(const struct in_reader *reader, const struct fields *fields)
{
	char reason[256];
	uint64_t fp;

	return ((struct in_table_state *)reader->state)->columns.exact &&
	       !reader->columns->keys_only && fields->id.size && may_be_name(&fields->id) &&
	       !tl_parse_encoded(reader->columns->encoding, fields->fp.data, fields->fp.size,
				 reader->bits, "", &fp, reason, sizeof(reason));
}

/* Whether a text is what columns of texts are called. */
static int is_name_of_texts(const struct in_field *field)
{
	char name[16];

	snprintf(name, sizeof(name), "%.*s", (int)field->size, field->data);
	return field->size < sizeof(name) &&
	       tl_others_list("text body content message description comment review document "
			      "title", name);
}

/* The first row was rejected: say what helps if it names the columns, or has one alone. */
static void suspect_header(struct in_reader *reader, const struct fields *fields)
{
	if (strstr(reader->reason, "; "))
		return;
	in_advise(reader,
		  is_bare(reader, fields)	 ? "; for fingerprints alone: --fp-field 1" :
		  has_word_as_id(reader, fields) ? "; if it is a label: --label-field 1 "
						   "--fp-field 2" :
		  fields->fp.size && memchr(fields->fp.data, ' ', fields->fp.size) ?
			  "; if column 2 has texts: --text-field 2" :
		  fields->id.size + fields->fp.size > 0 && may_be_name(&fields->id) &&
				  may_be_name(&fields->fp) ?
			  "; line 1 looks like a header: --header" : "");
}

/* The next row; in a table of texts, empty lines are none. */
static enum in_result cut_row(struct in_reader *reader, const struct in_syntax *syntax,
			      struct in_cursor *cursor)
{
	const struct in_table_state *state = reader->state;
	enum in_result rc;

	do {
		reader->row_begins = in_lines_offset(&reader->lines);
		rc = syntax->next_row(reader, cursor);
	} while (rc == IN_ROW && cursor->at == cursor->end && state->columns.n_texts);
	return rc;
}

enum in_result in_table_next(struct in_reader *reader, struct in_row *row)
{
	const struct in_syntax *syntax = reader->format->syntax;
	struct in_table_state *state = reader->state;
	struct in_cursor cursor;
	struct fields fields;
	enum in_result rc = state->has_begun ? IN_ROW : in_table_begin(reader);

	if (rc == IN_ROW)
		rc = cut_row(reader, syntax, &cursor);
	if (rc != IN_ROW)
		return rc;
	rc = pick_fields(reader, syntax, &cursor, &fields);
	if (rc == IN_ROW)
		rc = take_row(reader, row, &fields, syntax->escapes);
	if (rc == IN_REJECTED && reader->row == 1 && !reader->columns->header &&
	    !state->columns.n_texts)
		suspect_header(reader, &fields);
	if (rc == IN_ROW && reader->row == 1 && !reader->columns->header &&
	    state->columns.n_texts && is_name_of_texts(&fields.text[0]))
		in_count_cause(reader, IN_NAMES);
	return rc;
}

/* ---- tsv ---- */

static int next_field(const struct in_reader *reader, struct in_cursor *cursor,
		      struct in_field *field)
{
	(void)reader;
	return in_cut_field(cursor, '\t', field);
}

static const struct in_syntax tsv = { in_table_line, next_field, 1, 0 };

/* Of an index with times, a dump has four columns. */
static const struct in_syntax dump = { in_table_line, next_field, 1, 1 };

const struct in_format in_format_tsv = {
	.name = "tsv",
	.takes = IN_TAKES_HEADER | IN_TAKES_FIELDS | IN_TAKES_ENCODING | IN_TAKES_TEXT_FIELD,
	.begin = in_table_begin, .next = in_table_next, .syntax = &tsv,
	.state_size = IN_TABLE_STATE_SIZE, .close = in_table_close
};

/* What simidx-query writes: this is tsv, and nothing about it is to be chosen. */
const struct in_format in_format_dump = {
	.name = "dump", .next = in_table_next, .syntax = &dump,
	.state_size = IN_TABLE_STATE_SIZE, .close = in_table_close
};
