/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_files.h"

#include "common/tl_msg.h"
#include "input/in_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct in_files {
	const struct in_files_options *options;
	size_t next_operand;
	size_t next_list;
	size_t next_directory;
	int in_list; /* `lines` reads list number next_list - 1 */
	struct in_lines lines;
	char *name; /* a name from a list, NUL-terminated */
	size_t name_size;
	FTS *walk; /* of directory number next_directory - 1 */
	char reason[8192];
};

struct in_files *in_files_open(const struct in_files_options *options)
{
	struct in_files *files = calloc(1, sizeof(*files));

	if (files) {
		files->options = options;
		files->lines.source.fd = -1;
	}
	return files;
}

static void close_list(struct in_files *files)
{
	if (files->in_list && files->lines.source.fd > STDIN_FILENO)
		close(files->lines.source.fd);
	files->in_list = 0;
}

static void close_walk(struct in_files *files)
{
	if (files->walk)
		fts_close(files->walk);
	files->walk = NULL;
}

void in_files_close(struct in_files *files)
{
	if (!files)
		return;
	close_list(files);
	close_walk(files);
	in_lines_free(&files->lines);
	free(files->name);
	free(files);
}

const char *in_files_reason(const struct in_files *files)
{
	return files->reason;
}

static enum in_result fail(struct in_files *files, enum in_result rc, const char *path,
			   const char *what, int sys_errno)
{
	snprintf(files->reason, sizeof(files->reason), "%s: %s%s%s", path, what,
		 sys_errno ? ": " : "", sys_errno ? strerror(sys_errno) : "");
	return rc;
}

static enum in_result next_operand(struct in_files *files, struct in_file *file)
{
	const char *reason;

	if (files->next_operand == files->options->n_operands)
		return IN_END;
	file->path = files->options->operands[files->next_operand++];
	file->is_stdin = strcmp(file->path, "-") == 0;
	file->format = files->options->format;
	if (!file->format)
		file->format = in_format_of_path(file->path, &reason);
	return IN_ROW;
}

static const struct in_format *document_format(const struct in_files *files)
{
	return files->options->format ? files->options->format : &in_format_text;
}

static enum in_result open_next_list(struct in_files *files)
{
	const char *path;
	int fd = STDIN_FILENO;

	if (files->next_list == files->options->n_lists)
		return IN_END;
	path = files->options->lists[files->next_list++];
	if (strcmp(path, "-") != 0 && in_guard_is_file(path))
		return fail(files, IN_FATAL, path, "is a file of the index itself", 0);
	if (strcmp(path, "-") != 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail(files, IN_FATAL, path, "cannot open", errno);
	in_lines_begin(&files->lines, fd, files->options->separator);
	files->in_list = 1;
	return IN_ROW;
}

/* Keep a listed name as a string. A NUL in it would cut it short: then it is no name. */
static enum in_result keep_name(struct in_files *files, const char *name, size_t size)
{
	const char *list = files->options->lists[files->next_list - 1];
	char *larger;

	if (memchr(name, '\0', size))
		return fail(files, IN_REJECTED, list,
			    "a name with a NUL byte (-0 is for lists separated by NUL)", 0);
	if (size + 1 > files->name_size) {
		larger = realloc(files->name, size + 1);
		if (!larger)
			return fail(files, IN_FATAL, list, "cannot read", ENOMEM);
		files->name = larger;
		files->name_size = size + 1;
	}
	memcpy(files->name, name, size);
	files->name[size] = '\0';
	return IN_ROW;
}

/* The next name of the list that is open; IN_END closes it. */
static enum in_result next_listed(struct in_files *files, struct in_file *file)
{
	const char *list = files->options->lists[files->next_list - 1];
	const char *name;
	size_t size;
	enum in_result rc;

	do {
		rc = in_lines_next(&files->lines, &name, &size);
	} while (rc == IN_ROW && size == 0);
	if (rc == IN_END)
		close_list(files);
	if (rc == IN_FATAL)
		return fail(files, rc, list, files->lines.source.reason, 0);
	if (rc == IN_REJECTED)
		return fail(files, rc, list, "a name is too long", 0);
	if (rc == IN_ROW)
		rc = keep_name(files, name, size);
	file->path = files->name;
	file->format = document_format(files);
	file->is_stdin = 0;
	return rc;
}

static int compare_names(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static enum in_result open_next_walk(struct in_files *files)
{
	char *roots[2] = { NULL, NULL };

	if (files->next_directory == files->options->n_directories)
		return IN_END;
	roots[0] = files->options->directories[files->next_directory++];
	files->walk =
		fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, compare_names);
	if (!files->walk)
		return fail(files, IN_FATAL, roots[0], "cannot read", errno);
	return IN_ROW;
}

/* The next regular file of the directory that is open; IN_END closes it. */
static enum in_result next_walked(struct in_files *files, struct in_file *file)
{
	FTSENT *entry;

	for (;;) {
		errno = 0;
		entry = fts_read(files->walk);
		if (!entry && errno)
			return fail(files, IN_FATAL,
				    files->options->directories[files->next_directory - 1],
				    "cannot read", errno);
		if (!entry) {
			close_walk(files);
			return IN_END;
		}
		if (entry->fts_info == FTS_F)
			break;
		if (entry->fts_info == FTS_D && entry->fts_level > 0 &&
		    in_guard_is_directory(entry->fts_name, entry->fts_statp))
			fts_set(files->walk, entry, FTS_SKIP);
		if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR ||
		    entry->fts_info == FTS_NS)
			return fail(files, IN_REJECTED, entry->fts_path, "cannot read",
				    entry->fts_errno);
	}
	file->path = entry->fts_path;
	file->format = document_format(files);
	file->is_stdin = 0;
	return IN_ROW;
}

enum in_result in_files_next(struct in_files *files, struct in_file *file)
{
	enum in_result rc = next_operand(files, file);

	while (rc == IN_END) {
		if (files->in_list) {
			rc = next_listed(files, file);
		} else if (files->walk) {
			rc = next_walked(files, file);
		} else {
			rc = open_next_list(files);
			if (rc == IN_END)
				rc = open_next_walk(files);
			if (rc == IN_END)
				return rc;
			if (rc == IN_ROW)
				rc = IN_END; /* go round: take the first name of it */
		}
	}
	return rc;
}

/* Only stat() and access(): to open a pipe twice would lose what is in it. */
static int check_path(const char *path, int want_directory, struct stat *status)
{
	if (stat(path, status)) {
		tl_error("%s: cannot open: %s", path, strerror(errno));
		return -1;
	}
	if (want_directory && !S_ISDIR(status->st_mode)) {
		tl_error("%s: not a directory", path);
		return -1;
	}
	if (!want_directory && S_ISDIR(status->st_mode)) {
		tl_error("%s: is a directory (-r loads the files in it)", path);
		return -1;
	}
	if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS)) {
		tl_error("%s: cannot open: %s", path, strerror(errno));
		return -1;
	}
	return 0;
}

static int check_format(const char *path, const struct in_format *format,
			const struct in_columns *columns)
{
	const char *reason = NULL;

	if (!format)
		format = in_format_of_path(path, &reason);
	if (!reason)
		reason = in_format_missing(format);
	if (!reason)
		reason = in_format_misfit(format, columns);
	if (!reason)
		return 0;
	tl_error("%s: %s", path, reason);
	return -1;
}

static int check_operand(const char *path, const struct in_files_options *options,
			 uint64_t *bytes, int *unknown)
{
	struct stat status;

	if (check_format(path, options->format, &options->columns))
		return -1;
	if (strcmp(path, "-") == 0) {
		*unknown = 1;
		return 0;
	}
	if (check_path(path, 0, &status))
		return -1;
	if (S_ISREG(status.st_mode))
		*bytes += (uint64_t)status.st_size;
	else
		*unknown = 1;
	return 0;
}

int in_files_check(const struct in_files_options *options, uint64_t *total_bytes)
{
	int unknown = options->n_lists > 0 || options->n_directories > 0;
	const struct in_format *format = options->format;
	uint64_t bytes = 0;
	struct stat status;
	size_t i;

	*total_bytes = 0;
	for (i = 0; i < options->n_operands; i++)
		if (check_operand(options->operands[i], options, &bytes, &unknown))
			return -1;
	if (!format)
		format = &in_format_text;
	for (i = 0; i < options->n_lists; i++)
		if (check_format(options->lists[i], format, &options->columns) ||
		    (strcmp(options->lists[i], "-") != 0 &&
		     check_path(options->lists[i], 0, &status)))
			return -1;
	for (i = 0; i < options->n_directories; i++)
		if (check_format(options->directories[i], format, &options->columns) ||
		    check_path(options->directories[i], 1, &status))
			return -1;
	if (!unknown)
		*total_bytes = bytes;
	return 0;
}
