/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_reader.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* In the order of their names. */
static const struct in_format *const formats[] = {
	&in_format_text, &in_format_lines, &in_format_tsv, &in_format_csv,
	&in_format_jsonl, &in_format_bin, &in_format_npy, &in_format_dump,
	&in_format_features, &in_format_ids, &in_format_labels, &in_format_full,
};

const char *const in_format_names[] = { "text",  "lines", "tsv", "csv",  "jsonl",
					"bin",   "npy",   "dump", "features", NULL };

const char *const in_format_load_names[] = { "text",   "lines", "tsv",  "csv",      "jsonl",
					     "bin",    "npy",   "dump", "features", "ids",
					     "labels", "full",  NULL };

const struct in_format *in_format_at(int word)
{
	return word ? formats[word - 1] : NULL;
}

/* Names that say the format; NULL: one that would be nonsense as text and cannot be read. */
static const struct {
	const char *suffix;
	const struct in_format *format;
} suffixes[] = {
	{ ".tsv", &in_format_tsv },	{ ".csv", &in_format_csv },
	{ ".jsonl", &in_format_jsonl }, { ".ndjson", &in_format_jsonl },
	{ ".npy", &in_format_npy },	{ ".bz2", NULL },
	{ ".xz", NULL },
};

/* Whether the first `n` bytes of a path end in a suffix, after something; as R.CSV in .csv, too. */
static int ends_in(const char *path, size_t n, const char *suffix)
{
	size_t m = strlen(suffix);

	return n > m && strncasecmp(path + n - m, suffix, m) == 0;
}

/* Bytes of a path without an ending of compression. */
static size_t stem_length(const char *path)
{
	const struct in_codec *codec = in_codec_of_path(path);

	return strlen(path) - (codec ? strlen(codec->suffix) : 0);
}

int in_path_ends_in(const char *path, const char *list)
{
	char suffix[16];
	int is_one = 0;

	for (; *list && !is_one; list += strspn(list, " ")) {
		snprintf(suffix, sizeof(suffix), "%.*s", (int)strcspn(list, " "), list);
		is_one = ends_in(path, stem_length(path), suffix);
		list += strcspn(list, " ");
	}
	return is_one;
}

const struct in_format *in_format_of_path(const char *path, const char **reason)
{
	const struct in_codec *codec = in_codec_of_path(path);
	size_t n = stem_length(path);
	const char *unwanted;

	if (!reason)
		reason = &unwanted;
	*reason = codec ? in_codec_missing(codec) : NULL;
	if (*reason)
		return NULL;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (!ends_in(path, n, suffixes[i].suffix))
			continue;
		if (!suffixes[i].format)
			*reason = ".xz and .bz2 are not read: xz -dc or bzip2 -dc FILE | ... -F "
				  "FORMAT - unpacks it; -F FORMAT also says what it is if the "
				  "name misleads";
		return suffixes[i].format;
	}
	return &in_format_text;
}

const char *in_format_misfit(const struct in_format *format, const struct in_columns *columns)
{
	if (columns->header && !(format->takes & IN_TAKES_HEADER))
		return "--header is for the formats tsv and csv: -F tells which it is";
	if (columns->encoding != TL_HEX && !(format->takes & IN_TAKES_ENCODING))
		return "--fp-encoding is for the formats lines, tsv, csv and jsonl";
	if (columns->delimiter && !(format->takes & IN_TAKES_DELIMITER))
		return "--delimiter is for the format csv";
	if (columns->text && !(format->takes & IN_TAKES_TEXT_FIELD))
		return "--text-field is for the formats tsv, csv and jsonl: -F tells which it is";
	if (in_columns_check_text(columns))
		return in_columns_check_text(columns);
	if (columns->time && !(format->takes & IN_TAKES_FIELDS))
		return "--time is for the formats tsv, csv and jsonl";
	if (!columns->id && !columns->fp && !columns->label && !columns->time && !columns->text)
		return NULL;
	if (!(format->takes & IN_TAKES_FIELDS))
		return "--id-field, --fp-field and --label-field are for the formats tsv, csv "
		       "and jsonl; a file that is one text has its path as its label";
	if (!(format->takes & IN_TAKES_HEADER) || columns->header)
		return NULL;
	return in_columns_check_numbers(columns);
}

int in_format_may_have_texts(const struct in_format *format, const struct in_columns *columns)
{
	if (format == &in_format_text || columns->text)
		return 1;
	if (format->takes & IN_TAKES_TEXT_FIELD && !columns->fp)
		return format == &in_format_jsonl || columns->header;
	return 0;
}

const char *in_format_missing(const struct in_format *format)
{
	if (!format->next)
		return "this program was built without JSON support";
#ifndef HAVE_TEXT
	if (format == &in_format_text)
		return "this program was built without text support";
#endif
	return NULL;
}
