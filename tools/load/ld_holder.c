/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_holder.h"

#include "common/tl_path.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* The process that holds a flock() on a file; 0 = none, or nobody says. */
static int process_of(const char *lock_file)
{
	unsigned major_id, minor_id;
	struct stat status;
	char line[256];
	int pid = 0, found = 0;
	unsigned long inode;
	FILE *locks;

	if (stat(lock_file, &status) || !(locks = fopen("/proc/locks", "re")))
		return 0;
	/* "1: FLOCK  ADVISORY  WRITE 27592 fe:00:10019030 0 EOF"; a "->" before FLOCK waits. */
	while (!found && fgets(line, sizeof(line), locks))
		found = sscanf(line, "%*d: FLOCK %*s WRITE %d %x:%x:%lu", &pid, &major_id,
			       &minor_id, &inode) == 4 &&
			inode == status.st_ino && major_id == major(status.st_dev) &&
			minor_id == minor(status.st_dev);
	fclose(locks);
	return found ? pid : 0;
}

/* Whether a directory in which an index is built is for the one with this name. */
static int is_for(const char *lock_file, const char *name)
{
	char text[NAME_MAX + 2] = "";
	FILE *file = fopen(lock_file, "re");
	size_t n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	if (file)
		fclose(file);
	return n == strlen(name) && memcmp(text, name, n) == 0;
}

/* The process that builds an index beside the path, to put it there. */
static int builder_of(const char *path)
{
	char parent[PATH_MAX], name[NAME_MAX + 1], lock_file[PATH_MAX + NAME_MAX + 32];
	const struct dirent *entry;
	const char *end = path + strlen(path), *begin;
	DIR *directory;
	int pid = 0;

	while (end > path + 1 && end[-1] == '/')
		end--;
	for (begin = end; begin > path && begin[-1] != '/'; begin--)
		;
	snprintf(name, sizeof(name), "%.*s", (int)(end - begin), begin);
	tl_path_parent(path, parent, sizeof(parent));
	directory = opendir(parent);
	while (directory && !pid && (entry = readdir(directory)) != NULL) {
		if (strncmp(entry->d_name, TL_PRIVATE_PREFIX, strlen(TL_PRIVATE_PREFIX)) != 0)
			continue;
		snprintf(lock_file, sizeof(lock_file), "%s/%s/" TL_LOCK_FILE, parent, entry->d_name);
		if (is_for(lock_file, name))
			pid = process_of(lock_file);
	}
	if (directory)
		closedir(directory);
	return pid;
}

/* What a process is called, without the newline; "" = nobody says. */
static void read_name(int pid, char *out, int size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	out[0] = '\0';
	file = fopen(path, "re");
	if (file && fgets(out, size, file))
		out[strcspn(out, "\n")] = '\0';
	if (file)
		fclose(file);
}

int ld_holder_name(const char *path, char *out, size_t size)
{
	char lock_file[PATH_MAX + 32], name[64];
	int pid;

	snprintf(lock_file, sizeof(lock_file), "%s/" TL_LOCK_FILE, path);
	pid = process_of(lock_file);
	if (!pid)
		pid = builder_of(path);
	if (!pid) {
		snprintf(out, size, "another process");
		return 0;
	}
	read_name(pid, name, sizeof(name));
	snprintf(out, size, "%s (process %d)", *name ? name : "another program", pid);
	return 1;
}
