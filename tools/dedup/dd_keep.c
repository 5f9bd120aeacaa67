/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_keep.h"

#include "common/tl_advice.h"
#include "common/tl_example.h"
#include "common/tl_msg.h"
#include "common/tl_path.h"
#include "common/tl_time.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- options ---- */

static const char *const words[] = { "longest", "shortest", "newest", "oldest", "first", "max",
				     "min", NULL };

/* A word, and with the last two a field. */
static int call_keep(void *options, const char *value)
{
	struct dd_keep *keep = options;
	const char *colon = strchr(value, ':'), *meant;
	size_t n = colon ? (size_t)(colon - value) : strlen(value);

	for (int i = 0; words[i]; i++) {
		int has_field = i >= DD_KEEP_MAX;

		if (strlen(words[i]) != n || strncmp(value, words[i], n) != 0)
			continue;
		if (has_field != (colon != NULL) || (colon && !colon[1]))
			break;
		keep->is_given = 1;
		keep->rule = (enum dd_keep_rule)i;
		keep->field = colon ? colon + 1 : NULL;
		return 0;
	}
	meant = tl_nearest_value(value, words);
	if (meant && strncmp(meant, "m", 1) == 0)
		meant = NULL; /* with a field it is told above */
	if (meant && tl_example_find("stream"))
		return tl_usage_error("--keep: found '%s'; --stream keeps the first, as what is "
				      "written cannot be taken back", value);
	if (!meant && tl_path_is_directory(value)) {
		tl_example_mend_option("keep", "--prefer");
		return tl_usage_error("--keep: '%s' is a directory; is --prefer meant?", value);
	}
	if (!meant && access(value, F_OK) == 0) {
		tl_example_mend(value, 0, "newest ");
		return tl_usage_error("--keep: '%s' is a file: the value is missing", value);
	}
	if (meant)
		tl_example_mend(value, strlen(value), meant);
	return tl_usage_error("--keep: expected longest, shortest, newest, oldest, first, "
			      "max:FIELD or min:FIELD, found '%s'%s%s%s", value,
			      meant ? "; is " : "", meant ? meant : "", meant ? " meant?" :
			      "; max:date keeps the row whose \"date\" is the last");
}

const struct tl_option dd_keep_rows[] = {
	{ 0, "keep", "RULE", TL_CALL(call_keep),
	  .otherwise = "longest", .help = "which document of a group stays",
	  .more = "Which document stays of those that are near to each other: "
		  "longest, shortest (bytes of text), newest, oldest (modification of its file), "
		  "first (in the order of the inputs), max:FIELD or min:FIELD. The values of "
		  "FIELD, a member in jsonl or a column of tsv and csv, are numbers of up to 15 "
		  "digits, or dates as RFC 3339 writes them, to the microsecond; a document that "
		  "has no such value comes last, and a notice counts them. Of equal ones the "
		  "first stays. Groups are decided again for that, the best document first, so "
		  "that no two that stay are near to each other, as far as searches find; where a "
		  "text of a group cannot be read again, its first stays. --stream keeps the "
		  "first, and so do --no-verify, features and fingerprints, as nothing is compared "
		  "again there." },
	{ 0, "prefer", "DIR", TL_LIST(struct dd_keep, prefer),
	  .help = "files below DIR stay before others",
	  .more = "Files below the directory DIR, or the file DIR itself, stay before others, "
		  "whatever --keep says. May be given several times: the first one counts most." },
	{ 0 },
};

const char *dd_keep_option(const struct dd_keep *keep)
{
	return keep->is_given && keep->rule != DD_KEEP_FIRST ? "--keep" :
	       keep->prefer.n				     ? "--prefer" :
							       NULL;
}

int dd_keep_check(struct dd_keep *keep, enum dd_keep_rule rule)
{
	if (!keep->is_given)
		keep->rule = rule;
	if (keep->prefer.n > DD_KEEP_MAX_PREFER)
		return tl_usage_error("--prefer can be given %d times at most",
				      DD_KEEP_MAX_PREFER);
	if (!keep->prefer.n)
		return TL_PROCEED;
	keep->directory = calloc(keep->prefer.n, sizeof(*keep->directory));
	for (size_t i = 0; keep->directory && i < keep->prefer.n; i++) {
		keep->directory[i] = realpath(keep->prefer.at[i], NULL);
		if (!keep->directory[i])
			return tl_error("--prefer: %s: %s; a path from here is expected, and "
					"--prefer again for another",
					keep->prefer.at[i], strerror(errno));
	}
	return keep->directory ? TL_PROCEED : tl_error("out of memory");
}

void dd_keep_free(struct dd_keep *keep)
{
	for (size_t i = 0; keep->directory && i < keep->prefer.n; i++)
		free(keep->directory[i]);
	free(keep->directory);
	free(keep->prefer.at);
}

/* ---- what comes first ---- */

/* A whole field that is a number. */
static int parse_real(const char *s, size_t n, double *out)
{
	char text[64], *end;

	if (!n || n >= sizeof(text))
		return -1;
	memcpy(text, s, n);
	text[n] = '\0';
	if (strspn(text, "0123456789+-.eE") != n)
		return -1;
	*out = strtod(text, &end);
	return *end || !isfinite(*out) ? -1 : 0;
}

/* Keys of numbers have the order of these, and are above 0. */
static uint64_t key_of(double value, int is_max)
{
	uint64_t bits;

	value += 0.0; /* no zero has a sign */
	memcpy(&bits, &value, sizeof(bits));
	bits = bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
	return is_max ? bits : ~bits;
}

uint64_t dd_keep_key(const struct dd_keep *keep, const struct in_row *row,
		     struct dd_files *files, uint32_t file)
{
	int64_t modified;
	uint64_t time;
	double value;

	switch (keep->rule) {
	case DD_KEEP_LONGEST:
		return row->text_size + 1;
	case DD_KEEP_SHORTEST:
		return UINT64_MAX - row->text_size;
	case DD_KEEP_NEWEST:
	case DD_KEEP_OLDEST:
		if (dd_files_modified(files, file, &modified))
			return 0;
		time = (uint64_t)modified ^ (uint64_t)1 << 63;
		return keep->rule == DD_KEEP_NEWEST ? time : ~time;
	case DD_KEEP_MAX:
	case DD_KEEP_MIN:
		if (!row->value || (parse_real(row->value, row->value_size, &value) &&
				    tl_time_parse_any(row->value, row->value_size, &value)))
			return 0;
		return key_of(value, keep->rule == DD_KEEP_MAX);
	default:
		return 1;
	}
}

const char *dd_keep_lacks(const struct dd_keep *keep)
{
	return keep->rule == DD_KEEP_MAX || keep->rule == DD_KEEP_MIN ?
		       "number or date such as 2026-05-03T10:20:30Z for --keep" :
		       "time of modification";
}

/* Whether a path, from the root, is another one or below it. */
static int is_below(const char *path, const char *directory)
{
	size_t n = strlen(directory);

	if (strncmp(path, directory, n) != 0)
		return 0;
	return !path[n] || path[n] == '/' || (n && directory[n - 1] == '/');
}

/* The number of the first directory that a path is below. A symbolic link counts where it is,
   unless DIR leads to what it leads to. */
static unsigned rank_of(const struct dd_keep *keep, const char *path)
{
	char parent[PATH_MAX], whole[PATH_MAX + NAME_MAX + 2] = "", *real, *target;
	const char *slash = strrchr(path, '/');
	unsigned rank = 0;

	tl_path_parent(path, parent, sizeof(parent));
	real = realpath(parent, NULL);
	target = realpath(path, NULL);
	if (real)
		snprintf(whole, sizeof(whole), "%s/%s", strcmp(real, "/") == 0 ? "" : real,
			 slash ? slash + 1 : path);
	for (; rank < keep->prefer.n; rank++) {
		const char *directory = keep->directory[rank];

		if (is_below(whole, directory) || (target && strcmp(target, directory) == 0))
			break;
	}
	free(real);
	free(target);
	return rank;
}

unsigned dd_keep_rank(const struct dd_keep *keep, struct dd_files *files, uint32_t file)
{
	const char *path = dd_files_path(files, file);
	unsigned best = (unsigned)keep->prefer.n;

	for (size_t i = 0; best && path; i++) {
		unsigned rank = rank_of(keep, path);

		best = rank < best ? rank : best;
		path = dd_files_other_path(files, file, i);
	}
	return best;
}

void dd_keep_look(const struct dd_keep *keep, char **operands, size_t n)
{
	for (size_t i = 0; i < keep->prefer.n; i++) {
		int is_met = 0;

		for (size_t k = 0; k < n && !is_met; k++) {
			char *real = realpath(operands[k], NULL);

			is_met = !real || is_below(real, keep->directory[i]) ||
				 is_below(keep->directory[i], real);
			free(real);
		}
		if (!is_met)
			tl_notice("--prefer %s: no INPUT is below it", keep->prefer.at[i]);
	}
}
