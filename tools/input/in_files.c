/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_files.h"

#include "common/tl_example.h"
#include "common/tl_msg.h"
#include "common/tl_path.h"
#include "input/in_guard.h"
#include "input/in_look.h"
#include "input/in_room.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOUND_ROWS                                                                            \
	{ 'r', "recursive", NULL, TL_FLAG(struct in_files_options, recursive),                 \
	  .help = "inputs may be directories: all files in them",                              \
	  .more = "Inputs may be directories. Of these all regular files are read, also of "   \
		  "directories in them, in the order of their names. Symbolic links are not "  \
		  "followed, and names that begin with a dot, such as .git, are left out." },  \
	{ 0, "hidden", NULL, TL_FLAG(struct in_files_options, hidden),                         \
	  .help = "with -r: names that begin with a dot, too" },                               \
	{ 0, "files-from", "FILE", TL_LIST(struct in_files_options, lists),                    \
	  .help = "the files that FILE lists, one a line",                                     \
	  .more = "Read the files that FILE lists, one a line; '-' is standard input. Empty "  \
		  "lines mean nothing. May be repeated." },                                    \
	{ 0, "exclude", "PATTERN", TL_LIST(struct in_files_options, leave.exclude),            \
	  .help = "not the files and directories of such a name",                              \
	  .more = "Leave out files and directories that -r finds, and listed files, if their " \
		  "name matches PATTERN, or their path from the directory on. In PATTERN * ? " \
		  "and [...] mean what they mean to a shell, but * also stands for slashes. "  \
		  "Of a directory nothing is read then. May be repeated." },                   \
	{ 0, "max-bytes", "N",                                                                 \
	  TL_SIZE(struct in_files_options, leave.max_bytes, 1, UINT64_MAX),                    \
	  .help = "not the files that are larger",                                             \
	  .more = "Leave out files that -r finds, and listed files, of more than N bytes." }

#define NULL_ROW(text)                                                                        \
	{ '0', "null", NULL, TL_FLAG(struct in_files_options, nul_lists),                       \
	  .help = "names in such lists end with a NUL byte", .more = (text) }

#define FORMAT_ROW(names)                                                                     \
	{ 'F', "format", "FORMAT",                                                             \
	  TL_WORD_FROM(struct in_files_options, format_word, names, 1),                        \
	  .help = "of all inputs: lines, tsv, csv, jsonl, npy, ...",                           \
	  .more = "The format of all inputs. Without it an input with a name in .tsv, .csv, "  \
		  ".jsonl, .ndjson or .npy has that format, where .ndjson is jsonl. All "      \
		  "other inputs, all files in directories and all files that are listed are "  \
		  "one text each. An INPUT that begins with a line that is a JSON object is "   \
		  "refused then, as is one that is a JSON array or named .json and an object "  \
		  "of several lines; in directories and lists these are texts." }

const struct tl_option in_files_rows[] = {
	FOUND_ROWS,
	NULL_ROW("Names in lists of --files-from end with a NUL byte and not with a line, as "
		  "find -print0 writes them."),
	FORMAT_ROW(in_format_names),
	{ TL_GROUP(in_columns_rows, struct in_files_options, columns) },
	{ 0 },
};

const struct tl_option in_files_load_rows[] = {
	FOUND_ROWS,
	NULL_ROW("Names in lists of --files-from, and what -F ids and -F labels read, end with a "
		  "NUL byte and not with a line, as find -print0 writes them. Such labels have no "
		  "escapes."),
	FORMAT_ROW(in_format_load_names),
	{ TL_GROUP(in_columns_rows, struct in_files_options, columns) },
	{ 0 },
};

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
	close_list(files);
	close_walk(files);
	in_lines_free(&files->lines);
	free(files->name.bytes);
}

void in_files_tell(const struct in_files *files)
{
	in_leave_tell(&files->options->leave, &files->left_out);
}

void in_files_free_options(struct in_files_options *options)
{
	free(options->lists.at);
	free(options->leave.exclude.at);
}

static enum in_result fail(struct in_files *files, enum in_result rc, const char *path,
			   const char *what, int sys_errno)
{
	snprintf(files->reason, sizeof(files->reason), "%s: %s%s%s", path, what,
		 sys_errno ? ": " : "", sys_errno ? strerror(sys_errno) : "");
	return rc;
}

static const struct in_format *document_format(const struct in_files *files)
{
	return files->options->format ? files->options->format : &in_format_text;
}

static enum in_result open_next_list(struct in_files *files)
{
	const char *path;
	int fd = STDIN_FILENO;

	if (files->next_list == files->options->lists.n)
		return IN_END;
	path = files->options->lists.at[files->next_list++];
	if (strcmp(path, "-") != 0 && in_guard_is_file(path))
		return fail(files, IN_FATAL, path, "is a file of the index itself", 0);
	if (strcmp(path, "-") != 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail(files, IN_FATAL, path, "cannot open", errno);
	in_lines_begin(&files->lines, fd, files->options->nul_lists ? '\0' : '\n');
	files->in_list = 1;
	return IN_ROW;
}

static const char *skip_slashes(const char *path)
{
	while (*path == '/' || (path[0] == '.' && path[1] == '/'))
		path++;
	return path;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Where in the paths of a directory those parts begin that are kept. */
static size_t begin_below(const char *directory)
{
	const char *name = last_part(directory);

	return !*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ?
		       strlen(directory) :
		       (size_t)(name - directory);
}

/* Keep a listed name as a string. A NUL in it would cut it short: then it is no name. */
static enum in_result keep_name(struct in_files *files, const char *name, size_t size)
{
	const char *list = files->options->lists.at[files->next_list - 1];

	if (memchr(name, '\0', size))
		return fail(files, IN_REJECTED, list,
			    "a name with a NUL byte (-0 is for lists separated by NUL)", 0);
	if (in_room_have(&files->name, size + 1))
		return fail(files, IN_FATAL, list, "out of memory", 0);
	*(char *)mempcpy(files->name.bytes, name, size) = '\0';
	if (size > 1 && memcmp(name, "{\"", 2) == 0 && access(files->name.bytes, F_OK))
		return fail(files, IN_FATAL, list,
			    "has rows and no names: name it as INPUT, without --files-from", 0);
	return IN_ROW;
}

/* Whether the name that was kept is one to be left out. */
static int is_listed_in_vain(struct in_files *files)
{
	const struct in_leave_options *leave = &files->options->leave;
	const char *name = files->name.bytes;
	struct stat status;

	if (in_leave_listed(leave, name, &files->left_out))
		return 1;
	return leave->max_bytes && !stat(name, &status) && S_ISREG(status.st_mode) &&
	       in_leave_large(leave, name, (uint64_t)status.st_size, &files->left_out);
}

/* The next name of the list that is open; IN_END closes it. */
static enum in_result next_listed(struct in_files *files, struct in_file *file)
{
	const char *list = files->options->lists.at[files->next_list - 1];
	const char *name;
	size_t size;
	enum in_result rc;

	do {
		rc = in_lines_next(&files->lines, &name, &size);
		if (rc == IN_FATAL)
			return fail(files, rc, list, files->lines.source.reason, 0);
		if (rc == IN_REJECTED)
			return fail(files, rc, list, "a name is too long", 0);
		if (rc == IN_ROW && size > 0)
			rc = keep_name(files, name, size);
	} while (rc == IN_ROW && (size == 0 || is_listed_in_vain(files)));
	if (rc == IN_END)
		close_list(files);
	file->path = files->name.bytes;
	file->format = document_format(files);
	file->below = rc == IN_ROW ? skip_slashes(file->path) : NULL;
	return rc;
}

static int compare_names(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Whether an entry of a directory, and all that is in it, is no input. */
static int is_left_out(struct in_files *files, const FTSENT *entry)
{
	const struct in_leave_options *leave = &files->options->leave;
	const char *path = entry->fts_path +
			   strlen(files->options->operands[files->next_operand - 1]);
	int is_directory = entry->fts_info == FTS_D;

	/* A directory comes again when all in it was read. */
	if (entry->fts_level == 0 || entry->fts_info == FTS_DP)
		return 0;
	if (entry->fts_name[0] == '.' && !files->options->hidden)
		return 1;
	if (is_directory && in_guard_is_directory(entry->fts_name, entry->fts_statp))
		return 1;
	while (*path == '/')
		path++;
	if ((is_directory || entry->fts_info == FTS_F) &&
	    in_leave_entry(leave, path, is_directory, &files->left_out))
		return 1;
	return entry->fts_info == FTS_F &&
	       in_leave_large(leave, entry->fts_path, (uint64_t)entry->fts_statp->st_size,
			      &files->left_out);
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
				    files->options->operands[files->next_operand - 1],
				    "cannot read", errno);
		if (!entry) {
			close_walk(files);
			return IN_END;
		}
		if (is_left_out(files, entry)) {
			fts_set(files->walk, entry, FTS_SKIP);
			continue;
		}
		if (entry->fts_info == FTS_F &&
		    in_guard_is_output(entry->fts_path) == IN_OUTPUT_EMPTY)
			continue;
		if (entry->fts_info == FTS_F)
			break;
		if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR ||
		    entry->fts_info == FTS_NS)
			return fail(files, entry->fts_errno == ENOMEM ? IN_FATAL : IN_REJECTED,
				    entry->fts_path, "cannot read", entry->fts_errno);
	}
	file->path = entry->fts_path;
	file->below = skip_slashes(entry->fts_path + files->walk_below);
	file->format = document_format(files);
	file->is_found = 1;
	return IN_ROW;
}

/* The next operand; IN_END if it is a directory, which is opened. */
static enum in_result next_operand(struct in_files *files, struct in_file *file)
{
	char *path = files->options->operands[files->next_operand++], *roots[2] = { path, NULL };

	file->is_stdin = strcmp(path, "-") == 0;
	if (!file->is_stdin && files->options->recursive && tl_path_is_directory(path)) {
		files->walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR,
				       compare_names);
		files->walk_below = begin_below(path);
		return files->walk ? IN_END : fail(files, IN_FATAL, path, "cannot read", errno);
	}
	file->path = path;
	file->below = last_part(path);
	file->format = files->options->format;
	if (!file->format)
		file->format = in_format_of_path(path, NULL);
	return IN_ROW;
}

enum in_result in_files_next(struct in_files *files, struct in_file *file)
{
	enum in_result rc = IN_END;

	memset(file, 0, sizeof(*file));
	while (rc == IN_END) {
		if (files->walk) {
			rc = next_walked(files, file);
		} else if (files->next_operand < files->options->n_operands) {
			rc = next_operand(files, file);
		} else if (files->in_list) {
			rc = next_listed(files, file);
		} else {
			rc = open_next_list(files);
			if (rc == IN_END)
				return rc;
			if (rc == IN_ROW)
				rc = IN_END; /* go round: take its first name */
		}
	}
	return rc;
}

int in_files_each(const struct in_files_options *options,
		  int (*visit)(void *ctx, const struct in_file *file), void *ctx)
{
	struct in_files files = { .options = options };
	struct in_file file;
	enum in_result rc;
	int code = 0;

	while (!code && !tl_stop_requested() &&
	       ((rc = in_files_next(&files, &file)) == IN_ROW || rc == IN_REJECTED))
		if (rc == IN_ROW)
			code = visit(ctx, &file);
	in_files_close(&files);
	return code;
}

static int refuse_index(const char *path)
{
	tl_example_is("simidx-load --from INDEX NEW");
	return tl_usage_error("%s: is an index, and INPUTs are files; simidx-load --from takes its "
			      "documents", path);
}

/* Only stat() and access(): to open a pipe twice would lose what is in it. */
static int check_path(const char *path, int is_list, int may_be_directory, int may_recurse,
		      struct stat *status)
{
	if (stat(path, status))
		return tl_usage_error("%s: cannot open: %s%s", path, strerror(errno),
				      in_advise_open(path));
	if (!may_be_directory && S_ISDIR(status->st_mode) && tl_path_is_index(path))
		return refuse_index(path);
	if (!may_be_directory && S_ISDIR(status->st_mode) && is_list)
		tl_example_mend_option("files-from", "-r");
	else if (!may_be_directory && S_ISDIR(status->st_mode) && may_recurse)
		tl_example_mend(NULL, 0, "-r");
	if (!may_be_directory && S_ISDIR(status->st_mode))
		return tl_usage_error("%s: is %s", path,
				      may_recurse ? "a directory (-r reads the files in it)" :
						    "a directory: name the files in it");
	return faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) ?
		       tl_usage_error("%s: cannot open: %s%s", path, strerror(errno),
				      in_advise_open(path)) : 0;
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
	if (reason && strstr(reason, "without --header") &&
	    !(columns->text && isdigit((unsigned char)*columns->text)))
		tl_example_mend(NULL, 0, "--header");
	return reason ? tl_usage_error("%s: %s", path, reason) : 0;
}

/* Rows of JSON that are not one a line, or would be taken for one text. */
static int check_contents(const char *path, const struct in_files_options *options)
{
	const struct in_format *asked = options->format;
	const struct in_format *format = asked ? asked : in_format_of_path(path, NULL);
	char odd[IN_LOOK_SIZE];

	if (asked == &in_format_text ||
	    !in_look_into(path, format, options->columns.encoding == TL_HEX, odd))
		return 0;
	return tl_error("%s: %s", path, odd);
}

static int check_operand(const char *path, const struct in_files_options *options,
			 uint64_t *bytes, int *unknown)
{
	const struct in_format *format = options->format;
	struct stat status;

	if (strcmp(path, "-") == 0) {
		*unknown = 1;
		return check_format(path, format, &options->columns);
	}
	if (options->may_be_missing && stat(path, &status))
		return check_format(path, format, &options->columns);
	if (!options->may_be_missing &&
	    check_path(path, 0, options->recursive, options->may_recurse, &status))
		return TL_TROUBLE;
	if (S_ISDIR(status.st_mode) && tl_path_is_index(path) && tl_path_has_locks(path))
		return refuse_index(path);
	if (S_ISDIR(status.st_mode) && !format)
		format = &in_format_text;
	if (check_format(path, format, &options->columns))
		return TL_TROUBLE;
	if (!S_ISREG(status.st_mode)) {
		*unknown = 1;
		return 0;
	}
	*bytes += (uint64_t)status.st_size;
	return check_contents(path, options);
}

int in_files_check_dash(const struct in_files_options *options)
{
	if (!options->format && in_files_n_stdin(options->operands, options->n_operands))
		return tl_usage_error("standard input needs its format, %s",
				      options->columns.keys_only ?
					      "such as -F ids or -F labels" :
					      "such as -F jsonl; of a list of names: "
					      "--files-from -");
	return TL_PROCEED;
}

int in_files_check_found(const struct in_files_options *options)
{
	int has_leave = options->leave.exclude.n || options->leave.max_bytes;

	if (options->hidden && !options->recursive)
		return tl_usage_error("--hidden is about the directories of -r");
	if (has_leave && !options->recursive && !options->lists.n)
		return tl_usage_error("%s is about what -r and --files-from find%s",
				      options->leave.max_bytes ? "--max-bytes" : "--exclude",
				      options->leave.max_bytes ? "" :
				      "; --against INDEX of simidx-dedup leaves out rows");
	return TL_PROCEED;
}

size_t in_files_n_stdin(char **names, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += strcmp(names[i], "-") == 0;
	return found;
}

int in_files_check(const struct in_files_options *options, uint64_t *total_bytes)
{
	int unknown = options->lists.n > 0;
	const struct in_format *format = options->format;
	uint64_t bytes = 0;
	struct stat status;
	size_t i;

	*total_bytes = 0;
	if (in_files_n_stdin(options->operands, options->n_operands) +
		    in_files_n_stdin(options->lists.at, options->lists.n) > 1)
		return tl_usage_error("standard input cannot be read twice");
	for (i = 0; i < options->n_operands; i++)
		if (check_operand(options->operands[i], options, &bytes, &unknown))
			return TL_TROUBLE;
	if (!format)
		format = &in_format_text;
	for (i = 0; i < options->lists.n; i++)
		if (check_format(options->lists.at[i], format, &options->columns) ||
		    (strcmp(options->lists.at[i], "-") != 0 &&
		     check_path(options->lists.at[i], 1, 0, options->may_recurse, &status)))
			return TL_TROUBLE;
	if (!unknown)
		*total_bytes = bytes;
	return 0;
}

int in_files_check_lines(const struct in_files_options *options, const char *option)
{
	for (size_t i = 0; i < options->n_operands + (options->lists.n > 0); i++) {
		const struct in_format *format = options->format;

		if (!format && i < options->n_operands)
			format = in_format_of_path(options->operands[i], NULL);
		if (format && format->is_binary)
			return tl_usage_error("%s writes lines, and the rows of %s are none",
					      option, format->name);
	}
	return TL_PROCEED;
}

void in_files_tell_whole(const struct in_files_options *options, uint64_t texts, uint64_t most)
{
	const struct in_format *format = options->format;

	if (texts != options->n_operands || !texts || texts > most || options->recursive ||
	    options->lists.n)
		return;
	if (!format)
		format = in_format_of_path(options->operands[0], NULL);
	if (format == &in_format_text)
		in_look_tell_whole(options->operands[0]);
}

int in_files_refuse_none(const struct in_files_options *options)
{
	return tl_error("%s: no files were found%s", options->operands[0], options->hidden ? "" :
			" (--hidden reads those whose names begin with a dot, too)");
}
