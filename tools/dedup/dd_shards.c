/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_shards.h"

#include "common/tl_msg.h"
#include "common/tl_path.h"
#include "dedup/dd_labels.h"
#include "dedup/dd_resume.h"
#include "input/in_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What is moved aside has this behind its name, and a number: a run may be killed again. */
#define ASIDE ".uncommitted."

enum { MOST_ASIDE = 9999, ASIDE_SIZE = sizeof(ASIDE) + 4 };

/* The first line of a file whose shard is not made yet. */
struct dd_head {
	struct dd_head *next;
	uint32_t file;
	size_t size;
	char line[];
};

/* Forget the first lines of the files before this one. */
static void drop_heads(struct dd_shards *shards, uint32_t file)
{
	struct dd_head *head;

	while (shards->head && shards->head->file < file) {
		head = shards->head;
		shards->head = head->next;
		free(head);
	}
}

void dd_shards_free(struct dd_shards *shards)
{
	dd_sink_close(shards->sink);
	drop_heads(shards, UINT32_MAX);
}

int dd_shards_head(struct dd_shards *shards, uint32_t file, const char *line, size_t size)
{
	struct dd_head *head = malloc(sizeof(*head) + size);

	if (!head)
		return tl_error("out of memory");
	*head = (struct dd_head){ .file = file, .size = size };
	memcpy(head->line, line, size);
	if (!shards->head)
		shards->last = &shards->head;
	*shards->last = head;
	shards->last = &head->next;
	return 0;
}

/* ---- making one ---- */

static int write_path(char path[PATH_MAX], const char *dir, const char *below)
{
	return snprintf(path, PATH_MAX, "%s/%s", dir, below) < PATH_MAX ?
		       0 :
		       tl_error("%s/%s: the name is too long", dir, below);
}

/* The directories in which a file is to be. */
static int make_directories(char *path, int is_synced)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int failed;

		*slash = '\0';
		failed = mkdir(path, 0777) ? errno != EEXIST :
					     is_synced && tl_path_sync_parent(path);
		if (failed)
			tl_error("%s: cannot make the directory: %s", path, strerror(errno));
		*slash = '/';
		if (failed)
			return TL_TROUBLE;
	}
	return 0;
}

static int refuse_contents(const char *path)
{
	return tl_error("%s: is not empty, and --output-dir replaces nothing: --resume goes on "
			"with a run that was killed; otherwise name another directory", path);
}

static int put_head(struct dd_shards *shards, uint32_t file)
{
	const struct dd_head *head;

	drop_heads(shards, file);
	head = shards->head;
	return head && head->file == file ? dd_sink_put(shards->sink, head->line, head->size) : 0;
}

static int open_shard(struct dd_shards *shards, uint32_t file)
{
	if (write_path(shards->path, shards->work->options->output_dir,
		       dd_files_below(shards->work->files, file)) ||
	    make_directories(shards->path, shards->work->options->index != NULL))
		return TL_TROUBLE;
	shards->sink = dd_sink_open(shards->path);
	return shards->sink ? 0 : TL_TROUBLE;
}

/*
 * A shard behind the place where a run goes on has contents. They were not committed, or somebody
 * else has put them there: they are moved aside, and nothing is replaced by that.
 */
static int move_aside(struct dd_shards *shards, uint32_t file)
{
	char aside[PATH_MAX + ASIDE_SIZE];
	int failed, n = 0;

	do {
		n++;
		snprintf(aside, sizeof(aside), "%s" ASIDE "%d", shards->path, n);
		failed = renameat2(AT_FDCWD, shards->path, AT_FDCWD, aside, RENAME_NOREPLACE);
	} while (failed && errno == EEXIST && n < MOST_ASIDE);
	if (failed)
		return tl_error("%s: has what was not committed, and cannot be moved to %s: %s",
				shards->path, aside, strerror(errno));
	tl_notice("%s: had what was not committed, which is in %s now", shards->path, aside);
	dd_sink_close(shards->sink);
	return open_shard(shards, file);
}

static int begin_shard(struct dd_shards *shards, uint32_t file)
{
	int code = open_shard(shards, file);
	struct stat status;

	if (!code && !fstat(dd_sink_fd(shards->sink), &status) && status.st_size)
		code = shards->resumes ? move_aside(shards, file) : refuse_contents(shards->path);
	return code ? code : put_head(shards, file);
}

struct dd_sink *dd_shards_go_on(struct dd_shards *shards, uint32_t file,
				const struct dd_place *place)
{
	if (open_shard(shards, file) || dd_resume_cut(shards->sink, shards->path, place))
		return NULL;
	shards->next = file + 1;
	return shards->sink;
}

struct dd_sink *dd_shards_select(struct dd_shards *shards, uint32_t file)
{
	for (; shards->next <= file; shards->next++) {
		if (shards->sink &&
		    dd_sink_commit(shards->sink, shards->work->options->index != NULL))
			return NULL;
		dd_sink_close(shards->sink);
		shards->sink = NULL;
		if (begin_shard(shards, shards->next))
			return NULL;
	}
	return shards->sink;
}

/* ---- checks ---- */

/* A file by what it is: hashes of them are compared. */
static int add_file(struct dd_labels *files, const struct stat *status)
{
	const uint64_t key[2] = { status->st_dev, status->st_ino };

	return dd_labels_add(files, (const char *)key, sizeof(key));
}

struct check {
	const struct dd_options *options;
	int resumes;
	struct dd_labels names, inputs, outputs; /* outputs: those that are there */
};

/* Whether a path leads out of the directory that it is below. */
static int leads_out(const char *below)
{
	while (below) {
		if (strncmp(below, "..", 2) == 0 && (!below[2] || below[2] == '/'))
			return 1;
		below = strchr(below, '/');
		if (below)
			below++;
	}
	return 0;
}

static int is_link(const char *path)
{
	struct stat status;

	return !lstat(path, &status) && S_ISLNK(status.st_mode);
}

/* What is at the place of a shard. */
static int check_place(struct check *check, const char *path, const struct in_file *input)
{
	struct stat status;

	if (in_guard_is_output(path) != IN_OUTPUT_NONE)
		return tl_error("%s: would have the rows of %s, and another option writes to it, "
				"too", path, input->path);
	if (stat(path, &status))
		return 0;
	if (!S_ISREG(status.st_mode))
		return tl_error("%s: is no file, so the rows of %s cannot be written to it", path,
				input->path);
	/* It could be another shard. */
	if (status.st_nlink > 1 || is_link(path))
		return tl_error("%s: is a link, and each file of --output-dir must be one by "
				"itself", path);
	if (tl_path_is_same(path, input->path))
		return tl_error("%s: is an input, so --output-dir cannot write to it", path);
	return status.st_size && !check->resumes ? refuse_contents(path) :
						   add_file(&check->outputs, &status);
}

static int check_input(void *ctx, const struct in_file *input)
{
	struct check *check = ctx;
	const char *dir = check->options->output_dir;
	char path[PATH_MAX];
	struct stat status;

	if (input->is_stdin)
		return tl_usage_error("--output-dir has a file for each input, so standard input "
				      "does not go with it");
	if (input->format->is_whole)
		return tl_error("%s: would be one text, and --output-dir is for files of rows: -F "
				"tells their format", input->path);
	if (leads_out(input->below))
		return tl_error("%s: leads out of the directory of --output-dir", input->path);
	if (write_path(path, dir, input->below) || check_place(check, path, input) ||
	    dd_labels_add(&check->names, input->below, strlen(input->below)))
		return TL_TROUBLE;
	return stat(input->path, &status) ? 0 : add_file(&check->inputs, &status);
}

/* Two inputs whose names have this hash: they are the same file, or are refused. */
struct twins {
	const struct dd_options *options;
	uint64_t hash;
	char *first;
};

static int compare_twin(void *ctx, const struct in_file *input)
{
	struct twins *twins = ctx;

	if (simidx_feature_hash(input->below, strlen(input->below)) != twins->hash)
		return 0;
	if (!twins->first) {
		twins->first = strdup(input->path);
		return twins->first ? 0 : tl_error("out of memory");
	}
	if (tl_path_is_same(twins->first, input->path))
		return 0;
	return tl_error("%s and %s would both be %s/%s: name a directory above them with -r, or "
			"list them by --files-from, and their paths are kept",
			twins->first, input->path, twins->options->output_dir, input->below);
}

static int check_names(const struct dd_options *options, struct dd_labels *names)
{
	const uint64_t *name = names->hashes.bytes;
	int code = 0;

	dd_labels_sort(names);
	for (size_t i = 1; !code && i < names->n; i++) {
		struct twins twins = { options, name[i], NULL };

		if (name[i] != name[i - 1] || (i > 1 && name[i] == name[i - 2]))
			continue;
		code = in_files_each(&options->inputs, compare_twin, &twins);
		free(twins.first);
	}
	return code;
}

/* Shards that are there and empty may be inputs, by another name. */
static int check_outputs(struct check *check)
{
	const uint64_t *output = check->outputs.hashes.bytes;

	dd_labels_sort(&check->inputs);
	for (size_t i = 0; i < check->outputs.n; i++)
		if (dd_labels_count_hash(&check->inputs, output[i]))
			return tl_error("%s: has a file that would be written to and is an input",
					check->options->output_dir);
	return 0;
}

int dd_shards_check(const struct dd_options *options, int resumes)
{
	const struct in_files_options *inputs = &options->inputs;
	struct check check = { .options = options, .resumes = resumes };
	int code = 0;

	for (size_t i = 0; !code && i < inputs->n_operands; i++)
		if (tl_path_is_same(options->output_dir, inputs->operands[i]))
			code = tl_error("%s: is an input, so --output-dir cannot write to it",
					options->output_dir);
	if (!code)
		code = in_files_each(inputs, check_input, &check);
	if (!code)
		code = check_names(options, &check.names);
	if (!code)
		code = check_outputs(&check);
	free(check.names.hashes.bytes);
	free(check.inputs.hashes.bytes);
	free(check.outputs.hashes.bytes);
	return code;
}
