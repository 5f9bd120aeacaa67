/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_reader.h"

#include <string.h>

static const struct in_format *const formats[] = {
	&in_format_text,
	&in_format_lines,
	&in_format_tsv,
	&in_format_jsonl,
};

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

const char *const in_format_names[] = { "text", "lines", "tsv", "jsonl", NULL };

/* Names that promise a format which would be nonsense as text and cannot be read yet. */
static const char *const unsupported[] = { ".csv", ".npy", ".gz", ".zst", ".bz2", ".xz" };

#define N_UNSUPPORTED (sizeof(unsupported) / sizeof(unsupported[0]))

const struct in_format *in_format_named(const char *name)
{
	size_t i;

	for (i = 0; i < N_FORMATS; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

static int ends_in(const char *path, const char *suffix)
{
	size_t n = strlen(path), m = strlen(suffix);

	return n > m && strcmp(path + n - m, suffix) == 0;
}

const struct in_format *in_format_of_path(const char *path, const char **reason)
{
	size_t i;

	*reason = NULL;
	for (i = 0; i < N_FORMATS; i++)
		if (formats[i]->suffix && ends_in(path, formats[i]->suffix))
			return formats[i];
	for (i = 0; i < N_UNSUPPORTED; i++) {
		if (!ends_in(path, unsupported[i]))
			continue;
		*reason = "files of this name are not supported by this build; "
			  "--format says what it is if the name misleads";
		return NULL;
	}
	return &in_format_text;
}

const char *in_format_missing(const struct in_format *format)
{
	if (!format->next)
		return "this program was built without JSON support";
	if (format == &in_format_text)
		return tl_text_missing();
	return NULL;
}
