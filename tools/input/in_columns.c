/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_columns.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MAX_COLUMN 1000000

/* What can stand in a fingerprint or mean something else in csv separates nothing. */
static int call_delimiter(void *options, const char *value)
{
	if (strlen(value) == 1 && !isalnum((unsigned char)*value) && !strchr("\"\r\n=/", *value) &&
	    (unsigned char)*value < 0x80) {
		((struct in_columns *)options)->delimiter = *value;
		return 0;
	}
	return tl_usage_error("--delimiter: expected one character, such as ';', found '%s'; for "
			      "tabs there is -F tsv", value);
}

/* A second one would take the place of the first, and its text would be lost silently. */
static int call_text_field(void *options, const char *value)
{
	struct in_columns *columns = options;

	if (columns->text && strcmp(columns->text, value) != 0)
		return tl_usage_error("--text-field is given twice; several names go with commas: "
				      "--text-field %s,%s", columns->text, value);
	columns->text = value;
	return 0;
}

const struct tl_option in_columns_rows[] = {
	{ 0, "fp-encoding", "ENC", TL_WORD(struct in_columns, encoding, tl_encoding_names),
	  .standard = "hex", .help = "how fingerprints are written",
	  .more = "How fingerprints are written. hex: zeros in front may be missing, and "
		  "\"0x\" or \"0X\" may be there; dec: decimal; sdec: decimal, negative where the "
		  "highest bit is set; base64: of the bytes, the highest first, with padding. In "
		  "jsonl a string, dec and sdec also a number." },
	{ 0, "header", NULL, TL_FLAG(struct in_columns, header),
	  .help = "tsv, csv: the first line names the columns",
	  .more = "The first line of tsv or csv names the columns: \"fp\", or \"text\" where there "
		  "is no \"fp\", and if wanted \"id\" and \"label\". Others are ignored." },
	{ 0, "delimiter", "CHAR", TL_CALL(call_delimiter),
	  .otherwise = "a comma", .help = "csv: what separates columns",
	  .more = "What separates the columns of csv, such as ';'." },
	{ 0, "id-field", "NAME", TL_TEXT(struct in_columns, id),
	  .help = "another name for the column \"id\", or its number",
	  .more = "Another name for the column \"id\", or for this member in jsonl. Without a "
		  "header: its number, from 1; then columns that are not given are not read." },
	{ 0, "fp-field", "NAME", TL_TEXT(struct in_columns, fp),
	  .help = "the same for \"fp\"" },
	{ 0, "label-field", "NAME", TL_TEXT(struct in_columns, label),
	  .help = "the same for \"label\"",
	  .more = "The same for \"label\". In jsonl it is a string or a whole number. What \"id\" "
		  "has is no label then." },
	{ 0, "text-field", "NAME[,NAME]...", TL_CALL(call_text_field),
	  .help = "tsv, csv, jsonl: where the text is",
	  .more = "The column or member that has the text of a row, in place of \"text\": a name, "
		  "or without a header a number. Of several with commas between the texts are "
		  "joined with line ends; a member that is missing is empty then, if another one "
		  "is there. In jsonl a.b is the member b of the object a; so in the other names, "
		  "too. A name that is there with its comma or point is taken as it is. "
		  "Fingerprints and features are not read." },
	{ 0 },
};

/* A column number that was given, else 0. Returns 0 or -1. */
static int read_number(const char *text, uint64_t *out)
{
	*out = 0;
	if (!text)
		return 0;
	return tl_parse_decimal(text, strlen(text), MAX_COLUMN, out) || *out == 0 ? -1 : 0;
}

size_t in_columns_names(const char *list, struct in_name names[IN_MOST_TEXTS])
{
	for (size_t n = 0; n < IN_MOST_TEXTS; list++) {
		names[n] = (struct in_name){ list, strcspn(list, ",") };
		list += names[n++].size;
		if (!*list)
			return n;
	}
	return 0;
}

void in_columns_add_name(char *list, size_t size, const char *name, size_t n)
{
	size_t used = strlen(list), room = size - used - strlen(", ...");

	if (used && list[used - 1] != '"')
		return;
	if (snprintf(list + used, room, "%s\"%.*s\"", used ? ", " : "", (int)(n < size ? n : size),
		     name) >= (int)room)
		strcpy(list + used, ", ...");
}

const char *in_columns_check_text(const struct in_columns *columns)
{
	struct in_name names[IN_MOST_TEXTS];

	if (!columns->text)
		return NULL;
	if (columns->fp)
		return "--text-field and --fp-field exclude each other";
	return in_columns_names(columns->text, names) ?
		       NULL : "--text-field: at most 16 fields are joined";
}

/* The numbers in a list. Returns 0 or -1. */
static int read_texts(const char *list, struct in_table *table)
{
	struct in_name names[IN_MOST_TEXTS];

	table->n_texts = list ? in_columns_names(list, names) : 0;
	for (size_t i = 0; i < table->n_texts; i++)
		if (tl_parse_decimal(names[i].name, names[i].size, MAX_COLUMN, &table->text[i]) ||
		    !table->text[i])
			return -1;
	return 0;
}

const char *in_columns_check_numbers(const struct in_columns *columns)
{
	struct in_table table;
	uint64_t number;

	if (read_texts(columns->text, &table))
		return "--text-field: without --header column numbers are expected, from 1";

	if (read_number(columns->id, &number))
		return "--id-field: without --header a column number is expected, from 1";
	if (read_number(columns->fp, &number))
		return "--fp-field: without --header a column number is expected, from 1";
	if (read_number(columns->label, &number))
		return "--label-field: without --header a column number is expected, from 1";
	if (read_number(columns->time, &number))
		return "--time: without --header a column number is expected, from 1";
	if (read_number(columns->value, &number))
		return "--keep: without --header a column number is expected as FIELD, from 1";
	if (!columns->fp && !columns->text && !columns->keys_only &&
	    (columns->id || columns->label || columns->time))
		return "--fp-field or --text-field is needed too: without --header, if one column "
		       "is given, all are";
	return NULL;
}

void in_columns_number(const struct in_columns *columns, struct in_table *table)
{
	memset(table, 0, sizeof(*table));
	if (!columns->fp && !columns->text &&
	    !(columns->keys_only && (columns->id || columns->label))) {
		table->id = 1;
		table->fp = columns->keys_only ? 0 : 2;
		table->label = 3;
		table->exact = 1;
		return;
	}
	read_number(columns->id, &table->id);
	read_number(columns->fp, &table->fp);
	read_number(columns->label, &table->label);
	read_number(columns->time, &table->time);
	read_number(columns->value, &table->value);
	read_texts(columns->text, table);
}
