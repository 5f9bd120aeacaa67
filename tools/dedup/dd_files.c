/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_files.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_ALIAS UINT32_MAX

struct file {
	char *path;
	const struct in_format *format;
	int is_regular, is_stdin;
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified;
	/* anything of it: also that time, which can be put back, and links */
	struct timespec changed;
	uint32_t aliases; /* the first of its other paths, or NO_ALIAS */
	uint32_t below;   /* bytes of the path before what dd_files_below() tells */
};

struct alias {
	char *path;
	uint32_t next; /* of the same file, or NO_ALIAS */
};

struct dd_files {
	pthread_mutex_t mutex; /* of all that follows but `slots` */
	struct file *file;
	size_t n;
	struct alias *alias;
	size_t n_aliases;
	struct in_room file_room, alias_room; /* of both */
	/*
	 * Regular files by device and inode: 1 + number, 0 = free. A power of two, at most half
	 * full.
	 */
	uint32_t *slots;
	size_t n_slots;
};

/* What malloc() needs beside what it gives. */
#define OF_MALLOC 32

/* Its name in a drop list: DD_LABELS_BYTES. */
#define OF_DROP_LIST 16

/*
 * The state of a file is looked up at the end: one byte. Slots are at least a quarter full, and
 * while they become more, a half besides.
 */
size_t dd_files_bytes(const char *path)
{
	return sizeof(struct file) + 6 * sizeof(uint32_t) + strlen(path) + OF_MALLOC + OF_DROP_LIST;
}

struct dd_files *dd_files_new(void)
{
	struct dd_files *files = calloc(1, sizeof(*files));

	if (files)
		pthread_mutex_init(&files->mutex, NULL);
	return files;
}

void dd_files_free(struct dd_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->n; i++)
		free(files->file[i].path);
	for (size_t i = 0; i < files->n_aliases; i++)
		free(files->alias[i].path);
	free(files->file);
	free(files->alias);
	free(files->slots);
	pthread_mutex_destroy(&files->mutex);
	free(files);
}

/* The slot of a file, or the free one where it belongs. */
static uint32_t *find_slot(struct dd_files *files, dev_t device, ino_t inode)
{
	const uint64_t key[2] = { device, inode };
	size_t i = simidx_feature_hash(key, sizeof(key)) & (files->n_slots - 1);
	const struct file *file;

	for (; files->slots[i]; i = (i + 1) & (files->n_slots - 1)) {
		file = &files->file[files->slots[i] - 1];
		if (file->device == device && file->inode == inode)
			break;
	}
	return &files->slots[i];
}

static int have_slots(struct dd_files *files)
{
	size_t n = files->n_slots ? 2 * files->n_slots : 1024;
	uint32_t *slots;

	if (2 * (files->n + 1) <= files->n_slots)
		return 0;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return -1;
	free(files->slots);
	files->slots = slots;
	files->n_slots = n;
	for (size_t i = 0; i < files->n; i++) {
		const struct file *file = &files->file[i];

		if (file->is_regular)
			*find_slot(files, file->device, file->inode) = (uint32_t)i + 1;
	}
	return 0;
}

static int is_known_path(const struct dd_files *files, const struct file *file, const char *path)
{
	uint32_t i = file->aliases;

	if (strcmp(file->path, path) == 0)
		return 1;
	while (i != NO_ALIAS && strcmp(files->alias[i].path, path) != 0)
		i = files->alias[i].next;
	return i != NO_ALIAS;
}

static enum dd_met add_alias(struct dd_files *files, struct file *file, const char *path)
{
	uint32_t *last = &file->aliases;
	char *copy;

	if (is_known_path(files, file, path))
		return DD_MET_KNOWN;
	copy = strdup(path);
	if (!copy || in_room_have(&files->alias_room,
				  (files->n_aliases + 1) * sizeof(*files->alias))) {
		free(copy);
		return DD_MET_NO_MEMORY;
	}
	files->alias = files->alias_room.bytes;
	while (*last != NO_ALIAS)
		last = &files->alias[*last].next;
	*last = (uint32_t)files->n_aliases;
	files->alias[files->n_aliases++] = (struct alias){ copy, NO_ALIAS };
	return DD_MET_AGAIN;
}

static enum dd_met add_file(struct dd_files *files, const struct file *file, uint32_t *slot)
{
	char *copy = strdup(file->path);

	if (!copy || in_room_have(&files->file_room, (files->n + 1) * sizeof(*files->file))) {
		free(copy);
		return DD_MET_NO_MEMORY;
	}
	files->file = files->file_room.bytes;
	files->file[files->n] = *file;
	files->file[files->n++].path = copy;
	if (slot)
		*slot = (uint32_t)files->n;
	return DD_MET_NEW;
}

enum dd_met dd_files_meet(struct dd_files *files, const struct in_reader *reader,
			  const char *below, uint32_t *number)
{
	int fd = reader->lines.source.fd;
	struct file file = { .path = (char *)reader->path, .format = reader->format,
			     .is_stdin = fd == STDIN_FILENO, .aliases = NO_ALIAS,
			     .below = below ? (uint32_t)(below - reader->path) : 0 };
	struct stat status;
	uint32_t *slot = NULL;
	enum dd_met met;

	if (!fstat(fd, &status) && S_ISREG(status.st_mode)) {
		file.is_regular = 1;
		file.device = status.st_dev;
		file.inode = status.st_ino;
		file.size = status.st_size;
		file.modified = status.st_mtim;
		file.changed = status.st_ctim;
	}
	pthread_mutex_lock(&files->mutex);
	if (files->n >= UINT32_MAX - 1 || have_slots(files)) {
		pthread_mutex_unlock(&files->mutex);
		return DD_MET_NO_MEMORY;
	}
	if (file.is_regular)
		slot = find_slot(files, file.device, file.inode);
	if (slot && *slot) {
		*number = *slot - 1;
		met = add_alias(files, &files->file[*number], file.path);
	} else {
		*number = (uint32_t)files->n;
		met = add_file(files, &file, slot);
	}
	pthread_mutex_unlock(&files->mutex);
	return met;
}

uint32_t dd_files_count(struct dd_files *files)
{
	size_t n;

	pthread_mutex_lock(&files->mutex);
	n = files->n;
	pthread_mutex_unlock(&files->mutex);
	return (uint32_t)n;
}

/* As it is now: the array may move meanwhile, what it points to does not. */
static struct file get(struct dd_files *files, uint32_t number)
{
	struct file file;

	pthread_mutex_lock(&files->mutex);
	file = files->file[number];
	pthread_mutex_unlock(&files->mutex);
	return file;
}

static int is_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* `rc`: of the call that has given the status. */
static enum dd_state compare(const struct file *file, int rc, const struct stat *status)
{
	if (rc)
		return DD_REMOVED;
	if (status->st_dev != file->device || status->st_ino != file->inode ||
	    status->st_size != file->size || !is_same_time(&status->st_mtim, &file->modified) ||
	    !is_same_time(&status->st_ctim, &file->changed))
		return DD_CHANGED;
	return DD_AS_READ;
}

const char *dd_files_path(struct dd_files *files, uint32_t number)
{
	return get(files, number).path;
}

const char *dd_files_below(struct dd_files *files, uint32_t number)
{
	struct file file = get(files, number);

	return file.path + file.below;
}

const char *dd_files_other_path(struct dd_files *files, uint32_t number, size_t i)
{
	const char *path = NULL;
	uint32_t at;

	pthread_mutex_lock(&files->mutex);
	at = files->file[number].aliases;
	for (; at != NO_ALIAS && i > 0; i--)
		at = files->alias[at].next;
	if (at != NO_ALIAS)
		path = files->alias[at].path;
	pthread_mutex_unlock(&files->mutex);
	return path;
}

enum dd_state dd_files_state_by(struct dd_files *files, uint32_t number, const char *path)
{
	struct file file = get(files, number);
	struct stat status;

	return compare(&file, stat(path, &status), &status);
}

int dd_files_modified(struct dd_files *files, uint32_t number, int64_t *out)
{
	struct file file = get(files, number);

	*out = (int64_t)file.modified.tv_sec * 1000000000 + file.modified.tv_nsec;
	return file.is_regular ? 0 : -1;
}

uint64_t dd_files_size(struct dd_files *files, uint32_t number)
{
	return (uint64_t)get(files, number).size;
}

const struct in_format *dd_files_format(struct dd_files *files, uint32_t number)
{
	return get(files, number).format;
}

void dd_files_set_format(struct dd_files *files, uint32_t number, const struct in_format *format)
{
	pthread_mutex_lock(&files->mutex);
	files->file[number].format = format;
	pthread_mutex_unlock(&files->mutex);
}

int dd_files_can_seek(struct dd_files *files, uint32_t number)
{
	struct file file = get(files, number);

	return file.is_regular && !file.is_stdin;
}

int dd_files_has_grown(struct dd_files *files, uint32_t number, int fd)
{
	struct file file = get(files, number);
	struct stat status;

	return !fstat(fd, &status) && status.st_dev == file.device &&
	       status.st_ino == file.inode && status.st_size >= file.size;
}

enum dd_state dd_files_state(struct dd_files *files, uint32_t number, int fd)
{
	struct file file = get(files, number);
	struct stat status;

	if (!file.is_regular || (file.is_stdin && fd < 0))
		return DD_AS_READ;
	return compare(&file, fd < 0 ? stat(file.path, &status) : fstat(fd, &status), &status);
}
