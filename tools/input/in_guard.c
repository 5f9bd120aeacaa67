/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_guard.h"

#include "common/tl_path.h"

#include <stdio.h>
#include <string.h>

#define MAX_GUARDED 260
#define PATH_SIZE 8192

static const char *guarded[MAX_GUARDED];
static size_t n_guarded;

/* Files that the tool writes. */
static struct {
	dev_t device;
	ino_t inode;
	int had_bytes;
} outputs[8];
static size_t n_outputs;

void in_guard_add(const char *index)
{
	if (n_guarded < MAX_GUARDED && !tl_path_is_uri(index))
		guarded[n_guarded++] = index;
}

static int is_same(const char *path, const struct stat *status)
{
	struct stat other;

	return !stat(path, &other) && other.st_dev == status->st_dev &&
	       other.st_ino == status->st_ino;
}

int in_guard_is_file(const char *path)
{
	static const char *const names[] = { TL_READERS_FILE, TL_DATA_FILE, TL_LOCK_FILE };
	char file[PATH_SIZE];
	struct stat status;
	size_t i, n;

	if (!n_guarded || stat(path, &status) || !S_ISREG(status.st_mode))
		return 0;
	for (i = 0; i < n_guarded; i++)
		for (n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
			snprintf(file, sizeof(file), "%s/%s", guarded[i], names[n]);
			if (is_same(file, &status))
				return 1;
		}
	return 0;
}

void in_guard_add_output(int fd, int is_own)
{
	struct stat status;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode) ||
	    n_outputs == sizeof(outputs) / sizeof(outputs[0]))
		return;
	outputs[n_outputs].device = status.st_dev;
	outputs[n_outputs].inode = status.st_ino;
	outputs[n_outputs++].had_bytes = status.st_size > 0 && !is_own;
}

enum in_output in_guard_is_output(const char *path)
{
	struct stat status;

	if (!n_outputs || stat(path, &status))
		return IN_OUTPUT_NONE;
	for (size_t i = 0; i < n_outputs; i++)
		if (outputs[i].device == status.st_dev && outputs[i].inode == status.st_ino)
			return outputs[i].had_bytes ? IN_OUTPUT_HAD_BYTES : IN_OUTPUT_EMPTY;
	return IN_OUTPUT_NONE;
}

int in_guard_is_directory(const char *name, const struct stat *status)
{
	size_t i;

	if (!strncmp(name, TL_PRIVATE_PREFIX, strlen(TL_PRIVATE_PREFIX)))
		return 1;
	for (i = 0; i < n_guarded; i++)
		if (is_same(guarded[i], status))
			return 1;
	return 0;
}
