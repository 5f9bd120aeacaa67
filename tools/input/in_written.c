/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_written.h"

#include "common/tl_msg.h"
#include "common/tl_path.h"
#include "input/in_guard.h"
#include "input/in_source.h"

#include <string.h>
#include <unistd.h>

/* Whether a path, or if that is "-" a standard descriptor, is this file. */
static int is_same(const char *path, int fd, const struct stat *file)
{
	struct stat status;

	return !(strcmp(path, "-") == 0 ? fstat(fd, &status) : stat(path, &status)) &&
	       status.st_dev == file->st_dev && status.st_ino == file->st_ino;
}

struct in_written in_written_look(const char *option, const char *path, int may_have_lines)
{
	struct in_written written = { .option = option, .path = path,
				      .may_have_lines = may_have_lines };

	written.is_there = path && !stat(path, &written.status) &&
			   S_ISREG(written.status.st_mode);
	return written;
}

static int check_input(const char *input, const char *what, const struct in_written *written,
		       size_t n, int prints)
{
	struct stat output;

	for (size_t i = 0; i < n; i++)
		if (written[i].is_there && is_same(input, STDIN_FILENO, &written[i].status))
			return tl_error("%s: is %s, so %s cannot write to it", written[i].path,
					what, written[i].option);
	if (prints && !fstat(STDOUT_FILENO, &output) && S_ISREG(output.st_mode) &&
	    is_same(input, STDIN_FILENO, &output))
		return tl_error("%s: is %s, and standard output, too: name another file after >",
				input, what);
	return 0;
}

int in_written_check_inputs(const struct in_written *written, size_t n,
			    const struct in_files_options *inputs, int prints)
{
	int code = 0;

	for (size_t i = 0; !code && i < inputs->n_operands; i++)
		code = check_input(inputs->operands[i], "an input", written, n, prints);
	for (size_t i = 0; !code && i < inputs->lists.n; i++)
		code = check_input(inputs->lists.at[i], "a list of inputs", written, n, prints);
	return code;
}

/* Whether a file begins as the option writes it. */
static int is_own(const struct in_written *written)
{
	size_t n = written->begins ? strlen(written->begins) : 0;
	size_t n_read = 0;
	char bytes[32];

	if (n)
		in_source_head(written->path, 1, bytes, sizeof(bytes), &n_read);
	return n && n_read >= n && memcmp(bytes, written->begins, n) == 0;
}

static int check_one(const struct in_written *written, const char *index, int prints)
{
	const char *path = written->path, *option = written->option;

	if (!path || strcmp(path, "-") == 0)
		return 0;
	if (index && strcmp(path, index) == 0)
		return tl_usage_error("%s and the index have the same name", option);
	/* What is no file, such as /dev/null, may be both. */
	if (prints && !S_ISCHR(written->status.st_mode) &&
	    is_same("-", STDOUT_FILENO, &written->status))
		return tl_error("%s: is standard output, so %s cannot write to it", path, option);
	if (!written->is_there)
		return 0;
	if (in_guard_is_file(path))
		return tl_error("%s: is a file of the index, so %s cannot write to it", path,
				option);
	if (written->status.st_size && !written->may_have_lines && !is_own(written))
		return tl_error("%s: is not empty, and %s replaces nothing: name another file, or "
				"move that one away", path, option);
	return 0;
}

static int are_same(const struct in_written *a, const struct in_written *b)
{
	return a->path && b->path && strcmp(a->path, "-") && !S_ISCHR(a->status.st_mode) &&
	       (strcmp(a->path, b->path) == 0 || tl_path_is_same(a->path, b->path));
}

int in_written_check(const struct in_written *written, size_t n, const char *index, int prints)
{
	int code = 0;

	for (size_t i = 0; !code && i < n; i++)
		code = check_one(&written[i], index, prints);
	for (size_t i = 0; !code && i < n; i++)
		for (size_t j = 0; !code && j < i; j++)
			if (are_same(&written[i], &written[j]))
				code = tl_usage_error("%s and %s need a file each",
						      written[j].option, written[i].option);
	return code;
}

int in_written_is_met(const char *path)
{
	return in_guard_is_output(path) == IN_OUTPUT_HAD_BYTES &&
	       tl_error("%s: is an input, so nothing can be written to it: name another file for "
			"what is written, or after >", path);
}
