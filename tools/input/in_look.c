/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_look.h"

#include "common/tl_msg.h"
#include "common/tl_path.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of a file that are looked at. */
#define LOOKED_AT ((size_t)64 << 10)

/* Decimal digits of a number that is hardly a hexadecimal one. */
#define LONG_DIGITS 8

/* Digits of the widest fingerprint. */
#define MOST_HEX 16

/* What bytes look like. */
enum shape {
	OTHER,
	ARRAY,            /* an array begins there */
	ARRAY_OF_OBJECTS, /* its first element begins as an object that has a member */
	OBJECT_LINE,      /* the first line is an object */
	OBJECT,           /* an object begins in the first line and goes on in the next one */
	BRACE             /* of such an object the first line has nothing but the brace */
};

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && is_blank(*at))
		at++;
	return at;
}

/* Whether an object begins here and has a member, as far as the bytes go. */
static int has_member(const char *at, const char *end)
{
	if (at == end || *at != '{')
		return 0;
	at = skip_blanks(at + 1, end);
	if (at == end || *at != '"')
		return 0;
	for (at++; at < end && *at != '"'; at++)
		if (*at == '\\')
			at++;
	at = at < end ? skip_blanks(at + 1, end) : end;
	return at >= end || *at == ':';
}

int in_look_is_blank(const char *line, size_t n)
{
	return skip_blanks(line, line + n) == line + n;
}

static enum shape shape_of(const char *bytes, size_t n)
{
	const char *end = bytes + n, *at, *newline;

	if (n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
		bytes += 3;
	at = skip_blanks(bytes, end);
	if (at == end)
		return OTHER;
	if (*at == '[')
		return has_member(skip_blanks(at + 1, end), end) ? ARRAY_OF_OBJECTS : ARRAY;
	if (*at != '{')
		return OTHER;
	newline = memchr(at, '\n', (size_t)(end - at));
	if (!newline && n + 4 > LOOKED_AT)
		return has_member(at, end) ? OBJECT_LINE : OBJECT;
	if (newline)
		end = newline;
	while (is_blank(end[-1]))
		end--;
	if (end == at + 1)
		return BRACE;
	return has_member(at, end) && end[-1] == '}' ? OBJECT_LINE : OBJECT;
}

/* What is wrong, and what to do: `filter` is for jq. */
static int refuse(const char *path, const char *what, const char *filter, int is_text,
		  char reason[IN_LOOK_SIZE])
{
	char word[TL_PATH_WORD_SIZE], advice[IN_LOOK_SIZE / 2];

	/* A pipe of a shell cannot be read again. */
	if (strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0 || in_codec_of_path(path))
		snprintf(advice, sizeof(advice), "jq -c '%s' makes such lines", filter);
	else
		snprintf(advice, sizeof(advice), "jq -c '%s' %s | %s ... -F jsonl - reads them",
			 filter, tl_path_word(path, word), tl_program());
	snprintf(reason, IN_LOOK_SIZE, "is %s, and rows are objects, one a line: %s%s", what,
		 advice, is_text ? "; -F text takes the file as one text" : "");
	return 1;
}

static int is_full_dump(const char *bytes, size_t n)
{
	return memmem(bytes, n, "\"simidx-dump\"", strlen("\"simidx-dump\"")) != NULL;
}

/* Of bytes whose first line is an object. */
static const char *object_advice(const char *bytes, size_t n)
{
	return is_full_dump(bytes, n) ?
		       "is a full dump: simidx-load -F full reads it" :
		       "has a JSON object in its first line: -F jsonl reads a row a line";
}

/* Whether rows are to be read that have columns or a fingerprint. */
static int is_table(const struct in_format *format)
{
	return format == &in_format_csv || format == &in_format_tsv || format == &in_format_lines;
}

/* What no row can begin with. */
static int look_at_rows(const struct in_format *format, const char *bytes, size_t n,
			char reason[IN_LOOK_SIZE])
{
	*reason = '\0';
	if (n > 1 && (!memcmp(bytes, "\xff\xfe", 2) || !memcmp(bytes, "\xfe\xff", 2)))
		snprintf(reason, IN_LOOK_SIZE, "is UTF-16: iconv -f UTF-16 -t UTF-8 FILE | ... "
			 "-F %s - reads it", format->name);
	return *reason != '\0';
}

int in_look_is_decimal(const char *line, size_t n)
{
	size_t i = n && *line == '-';

	while (i < n && line[i] >= '0' && line[i] <= '9')
		i++;
	return n && i == n;
}

/* What is wrong with all rows if it is with the first one. */
static const char *advise_reason(const char *reason)
{
	static const struct {
		const char *reason, *advice;
	} known[] = {
		{ "end of file expected near '{'",
		  "; jq -c . FILE | ... -F jsonl - reads several objects a line" },
		{ "end of file expected near ','",
		  "; sed 's/,$//' FILE | ... -F jsonl - reads lines with commas between" },
		{ "unable to decode byte", "; rows are UTF-8: iconv -f FROM -t UTF-8 makes it" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strstr(reason, known[i].reason))
			return known[i].advice;
	return "";
}

const char *in_look_advise(const struct in_format *format, const char *reason, const char *line,
			   size_t n)
{
	const char *at = skip_blanks(line, line + n);
	int is_lines = format == &in_format_lines, is_jsonl = format == &in_format_jsonl;
	size_t left = (size_t)(line + n - at), commas = 0, blanks = 0, binary = 0, hex = 0,
	       between = 0;

	if (*advise_reason(reason))
		return advise_reason(reason);
	if (has_member(at, at + left))
		return is_full_dump(at, left) ? "; a full dump is read by -F full" :
		       is_jsonl || format == &in_format_full ? "" : "; of JSON objects: -F jsonl";
	if (left > 1 && *at == '{' && *skip_blanks(at + 1, line + n) == '\'')
		return "; JSON has double quotes: json.dumps() of Python writes them";
	if (!left || *at == '{' || *at == '[')
		return "";
	if (*at == '#' && is_jsonl)
		return "; JSON has no comments: grep -v '^#' FILE | ... -F jsonl - leaves them out";
	for (size_t i = 0; i < left; i++) {
		if ((unsigned char)at[i] < ' ' && at[i] != '\t')
			return "";
		commas += at[i] == ',';
		blanks += at[i] == ' ';
		binary += at[i] == '0' || at[i] == '1';
		hex += isxdigit((unsigned char)at[i]) != 0;
		between += memchr(" :-", at[i], 3) != NULL;
	}
	if (is_lines && left > MOST_HEX && binary == left)
		return "; of binary digits: printf '%x\\n' $((2#DIGITS)) makes hexadecimal ones";
	if (is_lines && left > MOST_HEX && between && hex + between == left && *at != '-')
		return "; tr -d ' :-' takes away what stands between digits";
	return is_lines && in_look_is_decimal(line, n) ?
		       "; of decimal numbers: --fp-encoding dec or sdec" :
	       memchr(at, '\t', left) ? "; of columns between tabs: -F tsv" :
	       memchr(at, ';', left) && format == &in_format_csv ?
		       "; --delimiter tells what separates columns" :
	       memchr(at, ';', left) && !is_lines && !is_jsonl ?
		       "; of columns with ';' between: -F csv --delimiter ';'" :
	       blanks && blanks >= 2 * commas && (is_lines || is_jsonl) ?
		       "; of a text in each line: -F tsv --text-field 1" :
	       commas && format != &in_format_csv ? "; of columns between commas: -F csv" :
	       is_jsonl ? "; of a fingerprint in each line: -F lines" : "";
}

int in_look_at(const char *path, const struct in_format *format, const char *bytes, size_t n,
	       char reason[IN_LOOK_SIZE])
{
	enum shape shape = shape_of(bytes, n);
	int is_text = format == &in_format_text;
	/* By other names only what can hardly be anything else. */
	int is_json = !is_text || in_path_ends_in(path, ".json");

	if (!is_text && look_at_rows(format, bytes, n, reason))
		return 1;
	if (!is_text && format != &in_format_jsonl)
		return 0;
	if (shape == ARRAY_OF_OBJECTS || (shape == ARRAY && is_json))
		return refuse(path, "a JSON array", ".[]", is_text, reason);
	if (shape == OBJECT_LINE && is_text) {
		snprintf(reason, IN_LOOK_SIZE, "%s; -F text takes the file as one text",
			 object_advice(bytes, n));
		return 1;
	}
	/* In rows it may be one that is broken. */
	if (is_json && (shape == BRACE || (shape == OBJECT && is_text)))
		return refuse(path, "a JSON object of several lines", ".", is_text, reason);
	return 0;
}

/*
 * Whether the first lines are long decimal numbers: of hexadecimal ones hardly any two have no
 * letter.
 */
static int looks_decimal(const char *at, const char *end)
{
	const char *newline;
	size_t lines = 0, digits = 0;

	for (; (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1) {
		if (*at == '0' || !in_look_is_decimal(at, (size_t)(newline - at)))
			return 0;
		digits += (size_t)(newline - at);
		lines++;
	}
	return lines > 1 && digits > LONG_DIGITS * lines;
}

int in_look_into(const char *path, const struct in_format *format, int is_hex,
		 char reason[IN_LOOK_SIZE])
{
	int is_text = format == &in_format_text, is_odd;
	size_t n = 0;
	char *bytes;

	if (!is_text && format != &in_format_jsonl && !is_table(format) &&
	    format != &in_format_bin && format != &in_format_features)
		return 0;
	bytes = malloc(LOOKED_AT);
	if (bytes)
		in_source_head(path, is_text && !in_codec_of_path(path), bytes, LOOKED_AT, &n);
	is_odd = n && format != &in_format_bin && in_look_at(path, format, bytes, n, reason);
	/* Columns may have objects, and bytes may be anything: but hardly so. */
	if (n && !is_odd && !is_text && format != &in_format_jsonl &&
	    shape_of(bytes, n) == OBJECT_LINE) {
		is_odd = format == &in_format_bin;
		snprintf(reason, IN_LOOK_SIZE, "%s", object_advice(bytes, n));
		if (!is_odd)
			tl_notice("%s: %s", path, reason);
	}
	if (n && is_hex && format == &in_format_lines && looks_decimal(bytes, bytes + n))
		tl_notice("%s: has decimal numbers, read as hexadecimal ones without --fp-encoding "
			  "dec", path);
	free(bytes);
	return is_odd;
}

void in_look_tell_whole(const char *path)
{
	FILE *file = tl_path_is_file(path) ? fopen(path, "re") : NULL;
	char name[PATH_MAX] = "", word[TL_PATH_WORD_SIZE];
	size_t n = 0;

	if (file && fgets(name, sizeof(name), file))
		name[n = strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
	if (*name && access(name, F_OK) == 0)
		tl_notice("%s: has names of files: --files-from %s reads these", path,
			  tl_path_word(path, word));
	else if (shape_of(name, n) == OBJECT_LINE)
		tl_notice("%s: %s", path, object_advice(name, n));
	else
		tl_notice("each file is one text; a text in each line is read by -F tsv "
			  "--text-field 1, columns between commas by -F csv --text-field NAME");
}
