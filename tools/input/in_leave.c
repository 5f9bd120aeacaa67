/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_leave.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "input/in_reader.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The first `n` bytes of a path, and its last part; of a directory also with a slash behind. */
static int is_matched(const char *pattern, const char *path, size_t n, int is_directory)
{
	char name[PATH_MAX + 2];
	const char *last;

	if (n > PATH_MAX)
		return 0;
	memcpy(name, path, n);
	name[n] = '\0';
	last = strrchr(name, '/');
	last = last ? last + 1 : name;
	if (!fnmatch(pattern, name, 0) || !fnmatch(pattern, last, 0))
		return 1;
	if (!is_directory)
		return 0;
	strcpy(name + n, "/");
	return !fnmatch(pattern, name, 0) || !fnmatch(pattern, last, 0);
}

static int is_excluded(const struct in_leave_options *options, const char *path, size_t n,
		       int is_directory, struct in_left_out *counts)
{
	for (size_t i = 0; i < options->exclude.n; i++)
		if (is_matched(options->exclude.at[i], path, n, is_directory)) {
			counts->matched |= i < 64 ? (uint64_t)1 << i : 0;
			return 1;
		} else if (strlen(options->exclude.at[i]) < n &&
			   !memcmp(path + n - strlen(options->exclude.at[i]),
				   options->exclude.at[i], strlen(options->exclude.at[i]))) {
			counts->ends |= i < 64 ? (uint64_t)1 << i : 0;
		}
	return 0;
}

int in_leave_entry(const struct in_leave_options *options, const char *path, int is_directory,
		   struct in_left_out *counts)
{
	int is_out = is_excluded(options, path, strlen(path), is_directory, counts);

	counts->excluded += is_out;
	return is_out;
}

int in_leave_listed(const struct in_leave_options *options, const char *path,
		    struct in_left_out *counts)
{
	const char *slash;
	int is_out = 0;

	if (!options->exclude.n)
		return 0;
	/* As find(1) writes them. */
	while (path[0] == '.' && path[1] == '/')
		path += 2;
	for (slash = strchr(path, '/'); slash && !is_out; slash = strchr(slash + 1, '/'))
		is_out = slash > path &&
			 is_excluded(options, path, (size_t)(slash - path), 1, counts);
	is_out = is_out || is_excluded(options, path, strlen(path), 0, counts);
	counts->excluded += is_out;
	return is_out;
}

int in_leave_large(const struct in_leave_options *options, const char *path, uint64_t bytes,
		   struct in_left_out *counts)
{
	if (!options->max_bytes || bytes <= options->max_bytes)
		return 0;
	if (!counts->large++)
		snprintf(counts->first_large, sizeof(counts->first_large), "%s", path);
	return 1;
}

/* Why a pattern has left out nothing; NULL: names are often given in case there are such files. */
static const char *why_in_vain(const char *pattern)
{
	const char *slash = strchr(pattern, '/'), *reason;

	return slash && slash[1] ? "paths begin below the directory that is searched" :
	       !access(pattern, F_OK) && in_format_of_path(pattern, &reason) != &in_format_text ?
		       "it is a pattern for names; --against INDEX of simidx-dedup leaves out "
		       "rows" :
	       strpbrk(pattern, "{|,\\$") ?
		       "a pattern has *, ? and [...] alone; --exclude may be given again" : NULL;
}

void in_leave_tell(const struct in_leave_options *options, const struct in_left_out *counts)
{
	if (counts->excluded)
		tl_notice("%s left out by --exclude",
			  tl_counted(counts->excluded, "file or directory was",
				     "files or directories were"));
	for (size_t i = 0; i < options->exclude.n && i < 64; i++)
		if (!(counts->matched >> i & 1) && (counts->ends >> i & 1))
			tl_notice("--exclude '%s' left out nothing: is '*%s' meant?",
				  options->exclude.at[i], options->exclude.at[i]);
		else if (!(counts->matched >> i & 1) && why_in_vain(options->exclude.at[i]))
			tl_notice("--exclude '%s' left out nothing: %s", options->exclude.at[i],
				  why_in_vain(options->exclude.at[i]));
	if (counts->large)
		tl_notice("%s of more than %s bytes %s left out (first: %s)",
			  tl_counted(counts->large, "file", "files"),
			  tl_count(options->max_bytes), counts->large == 1 ? "was" : "were",
			  counts->first_large);
}
