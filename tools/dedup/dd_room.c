/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_room.h"

#include "common/tl_msg.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "simidx-dedup-"

/* Directories that a run may be in the middle of making are tried again so often. */
#define TRIES 16

struct dd_room {
	char path[PATH_MAX];
	int fd; /* the directory, locked */
};

/* Remove a directory with all that is in it. It is our own: nothing in it leads elsewhere. */
static void remove_tree(const char *path)
{
	char *paths[] = { (char *)path, NULL };
	FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	FTSENT *entry;

	while (walk && (entry = fts_read(walk)))
		if (entry->fts_info == FTS_DP)
			rmdir(entry->fts_accpath);
		else if (entry->fts_info != FTS_D)
			unlink(entry->fts_accpath);
	if (walk)
		fts_close(walk);
}

/* Open a directory and lock it; -1 if that cannot be or somebody else has it. */
static int lock_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* What nobody has locked is of a run that is gone. Only what is our own is removed. */
static void remove_left(const char *tmpdir)
{
	DIR *dir = opendir(tmpdir);
	struct dirent *entry;
	struct stat status;
	char path[PATH_MAX];
	int fd;

	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 ||
		    snprintf(path, sizeof(path), "%s/%s", tmpdir, entry->d_name) >= PATH_MAX)
			continue;
		fd = lock_directory(path);
		if (fd < 0)
			continue;
		if (!fstat(fd, &status) && status.st_uid == geteuid())
			remove_tree(path);
		close(fd);
	}
	if (dir)
		closedir(dir);
}

/* Between making a directory and locking it, another run may take it for one that is left. */
static int make(struct dd_room *room, const char *tmpdir)
{
	struct stat opened, there;

	for (int i = 0; i < TRIES; i++) {
		if (snprintf(room->path, sizeof(room->path), "%s/" PREFIX "XXXXXX", tmpdir) >=
		    (int)sizeof(room->path))
			return tl_error("%s: the name is too long", tmpdir);
		if (!mkdtemp(room->path))
			return tl_error("cannot make a directory in %s: %s", tmpdir, strerror(errno));
		room->fd = lock_directory(room->path);
		if (room->fd < 0)
			continue;
		if (!fstat(room->fd, &opened) && !stat(room->path, &there) &&
		    opened.st_ino == there.st_ino)
			return 0;
		close(room->fd);
	}
	return tl_error("cannot lock a directory in %s", tmpdir);
}

struct dd_room *dd_room_new(const char *tmpdir)
{
	struct dd_room *room = calloc(1, sizeof(*room));

	remove_left(tmpdir);
	if (room && !make(room, tmpdir))
		return room;
	if (!room)
		tl_error("out of memory");
	free(room);
	return NULL;
}

const char *dd_room_path(const struct dd_room *room)
{
	return room->path;
}

void dd_room_free(struct dd_room *room)
{
	if (!room)
		return;
	remove_tree(room->path);
	close(room->fd);
	free(room);
}
