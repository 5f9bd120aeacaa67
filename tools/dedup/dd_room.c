/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_room.h"

#include "common/tl_msg.h"
#include "common/tl_path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A private directory has a name that mkdtemp() makes of this, and in it a file that the run has
 * locked.
 */
#define PREFIX "simidx-dedup-"
#define LETTERS "XXXXXX"
#define MARKER "simidx-dedup.run"

/* The index while the library makes it; then it has its own name. */
#define UNFINISHED_PREFIX ".simidx-"

/*
 * If another run removes a directory that this one is making, another is made: at most this number
 * of times.
 */
#define TRIES 16

/* Whether a name is a prefix and as many letters and digits as mkdtemp() makes. */
static int has_form(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);

	return strlen(name) == n + strlen(LETTERS) && strncmp(name, prefix, n) == 0 &&
	       strspn(name + n, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") ==
		       strlen(LETTERS);
}

static int open_directory(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Remove an index. What else its directory has stays, and then so does the directory. */
static void remove_index(int at, const char *name)
{
	static const char *const files[] = { TL_DATA_FILE, TL_READERS_FILE, TL_READERS_FILE ".new",
					     TL_LOCK_FILE, TL_LOCK_FILE ".new" };
	int fd = open_directory(at, name);

	if (fd < 0)
		return;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlinkat(fd, files[i], 0);
	close(fd);
	unlinkat(at, name, AT_REMOVEDIR);
}

/* Remove what a run makes in its directory, and the directory if that was all. The marker goes
 * last: if this is interrupted, the next run goes on with it. */
static void remove_room(const char *path)
{
	int fd = open_directory(AT_FDCWD, path);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, DD_ROOM_INDEX) == 0 ||
		    strcmp(entry->d_name, DD_ROOM_SECOND) == 0 ||
		    has_form(entry->d_name, UNFINISHED_PREFIX))
			remove_index(fd, entry->d_name);
	unlinkat(fd, MARKER, 0);
	closedir(dir);
	rmdir(path);
}

/* Lock the marker of a directory. -1 if there is none, it is not our own, or its run lives. */
static int lock_marker(const char *path, int flags)
{
	int dir = open_directory(AT_FDCWD, path);
	int fd = dir < 0 ? -1
			 : openat(dir, MARKER,
				  flags | O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	struct stat status;

	if (dir >= 0)
		close(dir);
	if (fd >= 0 &&
	    (flock(fd, LOCK_EX | LOCK_NB) || fstat(fd, &status) || !S_ISREG(status.st_mode) ||
	     status.st_uid != geteuid() || !status.st_nlink)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/*
 * A directory whose marker nobody has locked is of a run that is gone. An empty one was left before
 * it had a marker or when that was gone; if its run lives, that makes another one.
 */
static void remove_left(const char *tmpdir)
{
	DIR *dir = opendir(tmpdir);
	struct dirent *entry;
	char path[PATH_MAX];
	int fd;

	while (dir && (entry = readdir(dir))) {
		if (!has_form(entry->d_name, PREFIX) ||
		    snprintf(path, sizeof(path), "%s/%s", tmpdir, entry->d_name) >= PATH_MAX)
			continue;
		fd = lock_marker(path, 0);
		if (fd < 0) {
			rmdir(path);
			continue;
		}
		remove_room(path);
		close(fd);
	}
	if (dir)
		closedir(dir);
}

/* Between making the marker and locking it, another run may take it for one that is left. */
int dd_room_make(struct dd_room *room, const char *tmpdir)
{
	char path[PATH_MAX];

	remove_left(tmpdir);
	for (int i = 0; i < TRIES; i++) {
		if (snprintf(path, sizeof(path), "%s/" PREFIX LETTERS, tmpdir) >= PATH_MAX)
			return tl_error("%s: the name is too long", tmpdir);
		if (!mkdtemp(path))
			return tl_error("cannot make a directory in %s: %s", tmpdir,
					strerror(errno));
		room->fd = lock_marker(path, O_CREAT | O_EXCL);
		if (room->fd >= 0) {
			strcpy(room->path, path);
			return 0;
		}
		remove_room(path);
	}
	return tl_error("cannot lock a file in a directory in %s", tmpdir);
}

void dd_room_remove(struct dd_room *room)
{
	if (!*room->path)
		return;
	remove_room(room->path);
	close(room->fd);
}
