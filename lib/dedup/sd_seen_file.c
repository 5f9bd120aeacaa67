/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_seen_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <simidx_sketch.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_io.h"

/* "simidxS2", as a little-endian number. Another way to make hashes of texts needs another one;
   those of before had 1, and were without slots. */
#define MAGIC UINT64_C(0x32537864696d6973)
#define MAGIC_BEFORE UINT64_C(0x31537864696d6973)

/* What the file begins with; filters and slots follow. Here and below, `hash` is that of what
   stands before it in the struct, and `words` that of what follows. */
struct head {
	uint64_t magic, filters;
	struct sd_seen_state state;
	uint64_t hash;
};

/* Before the words of a filter. */
struct part {
	uint64_t lines, room, words, hash;
};

/* Behind the filters: to what hashes lead, a table of n slots (sd_first.h), or none. */
struct table {
	uint64_t n, words, hash;
};

/* Behind all that, any number of them, each before n hashes of documents that were put and the
   slots that have changed. */
struct entry {
	uint64_t n, slots;
	struct sd_seen_state state;
	uint64_t before, words, hash; /* before: the hash of the entry before it, or of the head */
};

struct sd_seen_file {
	int fd;
	char *path;
	uint64_t at;        /* where the next entry is written */
	uint64_t entries;   /* where the first one is */
	struct sd_seen_state state; /* up to there */
	uint64_t hash;      /* of the record that says so */
	uint64_t *noted;    /* hashes for the next entry, behind room for its head; then slots */
	size_t n, room;
};

#define ENTRY_WORDS (sizeof(struct entry) / sizeof(uint64_t))

/* ---- checksums and states ---- */

static uint64_t hash_of(const void *bytes, uint64_t size)
{
	return simidx_feature_hash(bytes, (size_t)size);
}

static uint64_t hash_of_head(const struct head *head)
{
	return hash_of(head, offsetof(struct head, hash));
}

static uint64_t hash_of_part(const struct part *part)
{
	return hash_of(part, offsetof(struct part, hash));
}

static uint64_t hash_of_table(const struct table *table)
{
	return hash_of(table, offsetof(struct table, hash));
}

static uint64_t hash_of_entry(const struct entry *entry)
{
	return hash_of(entry, offsetof(struct entry, hash));
}

static int is_same(const struct sd_seen_state *a, const struct sd_seen_state *b)
{
	return a->puts == b->puts && a->next_id == b->next_id;
}

/* ---- reading ---- */

/* Add the filters to `seen`. 1: they are not whole, or there is no memory for them. */
static int read_filters(struct sd_seen_file *file, uint64_t size, struct sd_seen *seen)
{
	struct head head;

	if (sx_io_read(file->fd, &head, sizeof(head), 0) || head.magic != MAGIC ||
	    head.hash != hash_of_head(&head))
		return 1;
	file->at = sizeof(head);
	file->state = head.state;
	file->hash = head.hash;
	for (uint64_t i = 0; i < head.filters; i++) {
		struct part part;
		uint64_t *word, bytes;

		if (sx_io_read(file->fd, &part, sizeof(part), file->at) ||
		    part.hash != hash_of_part(&part))
			return 1;
		file->at += sizeof(part);
		if (part.lines > (size - file->at) / SD_SEEN_LEAST)
			return 1;
		bytes = part.lines * SD_SEEN_LEAST;
		word = sd_seen_add_filter(seen, part.lines, part.room);
		if (!word || sx_io_read(file->fd, word, bytes, file->at) ||
		    part.words != hash_of(word, bytes))
			return 1;
		file->at += bytes;
	}
	return 0;
}

/* Have the table as `first`, if there is memory for it. 1: it is not whole. */
static int read_table(struct sd_seen_file *file, uint64_t size, struct sd_first *first)
{
	struct table table;
	uint64_t *slot = NULL, bytes;

	if (sx_io_read(file->fd, &table, sizeof(table), file->at) ||
	    table.hash != hash_of_table(&table))
		return 1;
	file->at += sizeof(table);
	if (table.n > (size - file->at) / sizeof(*slot))
		return 1;
	bytes = table.n * sizeof(*slot);
	if (first && table.n)
		slot = sd_first_slots(first, table.n);
	if (slot && (sx_io_read(file->fd, slot, bytes, file->at) ||
		     table.words != hash_of(slot, bytes) || sd_first_count(first)))
		return 1;
	file->at += bytes;
	return 0;
}

/* Have room for n hashes more. */
static int make_room(struct sd_seen_file *file, size_t n, simidx_error *err)
{
	return sx_reserve(&file->noted, &file->room, ENTRY_WORDS + file->n + n,
			  sizeof(*file->noted)) ?
		       sx_fail_nomem(err) :
		       SIMIDX_OK;
}

/* Add the next entry to what is known, if it is of this state of the index or of an earlier one.
   *is_read: 0: it is of a later one, there is none, it is cut off or damaged, or it takes more
   memory than `seen` may. */
static int read_entry(struct sd_seen_file *file, uint64_t size, const struct sd_seen_state *state,
		      const struct sd_known *known, int *is_read, simidx_error *err)
{
	const uint64_t most = sd_seen_most_bytes(known->seen) / sizeof(uint64_t);
	struct entry entry;
	uint64_t *word, n;
	int rc;

	*is_read = 0;
	if (sx_io_read(file->fd, &entry, sizeof(entry), file->at) ||
	    entry.hash != hash_of_entry(&entry) || entry.before != file->hash ||
	    (is_same(&file->state, state) && !is_same(&entry.state, state)) ||
	    entry.n > most || entry.slots > most - entry.n)
		return SIMIDX_OK;
	n = entry.n + entry.slots;
	if (n > (size - file->at - sizeof(entry)) / sizeof(*word))
		return SIMIDX_OK;
	rc = make_room(file, n, err);
	if (rc)
		return rc;
	word = file->noted + ENTRY_WORDS;
	if (sx_io_read(file->fd, word, n * sizeof(*word), file->at + sizeof(entry)) ||
	    entry.words != hash_of(word, n * sizeof(*word)))
		return SIMIDX_OK;
	rc = sd_seen_add_hashes(known->seen, word, entry.n, err);
	for (uint64_t i = entry.n; !rc && known->first && i < n; i++)
		rc = sd_first_set(known->first, word[i], err);
	file->at += sizeof(entry) + n * sizeof(*word);
	file->state = entry.state;
	file->hash = entry.hash;
	*is_read = 1;
	return rc;
}

/* Whether the last document of the file is in the index: another index may have as many. A file
   of an index that was empty has none. */
static int has_last(const struct sd_seen_file *file, simidx_reader *reader, int *has,
		    simidx_error *err)
{
	simidx_match match;
	int rc;

	*has = 0;
	if (file->state.id == SIMIDX_NO_ID)
		return SIMIDX_OK;
	rc = simidx_reader_find_id(reader, file->state.id, &match, err);
	if (rc == SIMIDX_E_NOT_FOUND)
		return SIMIDX_OK;
	*has = !rc && match.fp == file->state.fp;
	return rc;
}

/* Read the file up to the state of the index. What stands behind that was never committed. */
static int read_up_to(struct sd_seen_file *file, uint64_t size, const struct sd_seen_state *state,
		      simidx_reader *reader, const struct sd_known *known, int *counts,
		      simidx_error *err)
{
	int is_whole = !read_filters(file, size, known->seen) &&
		       !read_table(file, size, known->first);
	int rc = SIMIDX_OK, is_read = is_whole;

	*counts = 0;
	file->entries = file->at;
	while (!rc && is_read)
		rc = read_entry(file, size, state, known, &is_read, err);
	if (!rc && is_whole && is_same(&file->state, state))
		rc = has_last(file, reader, counts, err);
	if (!rc && *counts && ftruncate(file->fd, (off_t)file->at))
		*counts = 0;
	return rc;
}

/* ---- opening ---- */

/* The file, with its lock: -1: there is none, or another run has it, or has just replaced it. */
static int open_locked(const char *path, int flags, struct stat *status)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0600);
	struct stat there;

	if (fd < 0)
		return -1;
	if (!flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, status) && S_ISREG(status->st_mode) &&
	    !lstat(path, &there) && there.st_dev == status->st_dev &&
	    there.st_ino == status->st_ino)
		return fd;
	close(fd);
	return -1;
}

/* It has the mode of the data, so that who may add to the index may add to it. */
static int copy_mode(const struct sd_seen_file *file, int fd)
{
	char data[PATH_MAX];
	const char *slash = strrchr(file->path, '/');
	struct stat status;

	if (snprintf(data, sizeof(data), "%.*s/data.mdb", slash ? (int)(slash - file->path) : 1,
		     slash ? file->path : ".") >= (int)sizeof(data) ||
	    stat(data, &status))
		return -1;
	return fchmod(fd, status.st_mode & 0777);
}

/* Write to what hashes lead. Returns 0 or -1. */
static int write_table(int fd, const struct sd_first *first, uint64_t *at)
{
	struct table table = { 0 };
	const uint64_t *slot = first ? sd_first_table(first, &table.n) : NULL;
	const uint64_t bytes = table.n * sizeof(*slot);

	table.words = hash_of(slot, bytes);
	table.hash = hash_of_table(&table);
	if (sx_io_write(fd, &table, sizeof(table), *at) ||
	    sx_io_write(fd, slot, bytes, *at + sizeof(table)))
		return -1;
	*at += sizeof(table) + bytes;
	return 0;
}

/* Write filters and table to a file that is `fd`. */
static int write_known(struct sd_seen_file *file, int fd, const struct sd_known *known)
{
	struct head head = { .magic = MAGIC, .state = file->state };
	const struct sd_seen_filter *filter;
	uint64_t at = sizeof(head);

	for (; (filter = sd_seen_filter(known->seen, (unsigned)head.filters)) != NULL;
	     head.filters++) {
		const uint64_t bytes = filter->lines * SD_SEEN_LEAST;
		struct part part = { filter->lines, filter->room, hash_of(filter->word, bytes), 0 };

		part.hash = hash_of_part(&part);
		if (sx_io_write(fd, &part, sizeof(part), at) ||
		    sx_io_write(fd, filter->word, bytes, at + sizeof(part)))
			return -1;
		at += sizeof(part) + bytes;
	}
	head.hash = hash_of_head(&head);
	if (write_table(fd, known->first, &at) || sx_io_write(fd, &head, sizeof(head), 0) ||
	    copy_mode(file, fd))
		return -1;
	file->at = file->entries = at;
	file->hash = head.hash;
	return 0;
}

static struct sd_seen_file *make(const char *path)
{
	struct sd_seen_file *file = sx_calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->fd = -1;
	file->path = strdup(path);
	if (file->path)
		return file;
	free(file);
	return NULL;
}

/* Whether it was this library that has made the file. */
static int is_own(int fd, const struct stat *status)
{
	uint64_t magic;

	return !status->st_size || (!sx_io_read(fd, &magic, sizeof(magic), 0) &&
				    (magic == MAGIC || magic == MAGIC_BEFORE));
}

/* What is there. *counts: 0: it is no file for this state, and is removed if it was ours. None is
   for an index that is empty, so that nothing is known then, too. */
static int open_there(struct sd_seen_file *file, const struct sd_seen_state *state,
		      simidx_reader *reader, const struct sd_known *known, int *counts,
		      simidx_error *err)
{
	struct stat status;
	int rc = SIMIDX_OK;

	*counts = 0;
	file->fd = open_locked(file->path, 0, &status);
	if (file->fd < 0 || !is_own(file->fd, &status))
		return SIMIDX_OK;
	if (state->id != SIMIDX_NO_ID)
		rc = read_up_to(file, (uint64_t)status.st_size, state, reader, known, counts, err);
	if (!rc && !*counts)
		unlink(file->path);
	return rc;
}

/* A new one, for an index that is empty. */
static int open_new(struct sd_seen_file *file, const struct sd_seen_state *state,
		    const struct sd_known *known)
{
	struct stat status;

	if (file->fd >= 0)
		close(file->fd);
	file->fd = open_locked(file->path, O_CREAT | O_EXCL, &status);
	file->state = *state;
	if (file->fd < 0)
		return -1;
	if (!write_known(file, file->fd, known))
		return 0;
	unlink(file->path);
	return -1;
}

int sd_seen_file_open(const char *path, const struct sd_seen_state *state,
		      simidx_reader *reader, const struct sd_known *known,
		      struct sd_seen_file **out, simidx_error *err)
{
	struct sd_seen_file *file = make(path);
	int is_empty = state->id == SIMIDX_NO_ID, counts, rc;

	*out = NULL;
	if (!file)
		return sx_fail_nomem(err);
	rc = open_there(file, state, reader, known, &counts, err);
	if (!rc && !counts && is_empty)
		counts = !open_new(file, state, known);
	if (rc || !counts) {
		sd_seen_file_close(file);
		return rc;
	}
	*out = file;
	return SIMIDX_OK;
}

void sd_seen_file_close(struct sd_seen_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	free(file->noted);
	free(file->path);
	free(file);
}

void sd_seen_file_drop(struct sd_seen_file *file)
{
	if (file)
		unlink(file->path);
	sd_seen_file_close(file);
}

/* ---- writing ---- */

int sd_seen_file_add(struct sd_seen_file *file, const uint64_t *hash, size_t n, simidx_error *err)
{
	int rc = make_room(file, n, err);

	if (rc)
		return rc;
	memcpy(file->noted + ENTRY_WORDS + file->n, hash, n * sizeof(*hash));
	file->n += n;
	return SIMIDX_OK;
}

/* Put all that is known in place of what is in the file. That may be more than the index has. */
static int write_anew(struct sd_seen_file *file, const struct sd_known *known)
{
	char path[PATH_MAX];
	struct stat status;
	int fd;

	if (snprintf(path, sizeof(path), "%s.new", file->path) >= (int)sizeof(path))
		return -1;
	unlink(path); /* of a run that was killed */
	fd = open_locked(path, O_CREAT | O_EXCL, &status);
	if (fd < 0)
		return -1;
	if (write_known(file, fd, known) || fdatasync(fd) || rename(path, file->path)) {
		unlink(path);
		close(fd);
		return -1;
	}
	close(file->fd);
	file->fd = fd;
	return 0;
}

static uint64_t bytes_of_filters(const struct sd_seen *seen)
{
	const struct sd_seen_filter *filter;
	uint64_t lines = 0;

	for (unsigned i = 0; (filter = sd_seen_filter(seen, i)) != NULL; i++)
		lines += filter->lines;
	return lines * SD_SEEN_LEAST;
}

/* Put the slots that have changed behind the hashes that were noted. Returns 0 or -1. */
static int note_slots(struct sd_seen_file *file, struct sd_first *first, uint64_t n)
{
	if (make_room(file, n, NULL))
		return -1;
	if (n)
		sd_first_take_changed(first, file->noted + ENTRY_WORDS + file->n);
	return 0;
}

int sd_seen_file_write(struct sd_seen_file *file, const struct sd_known *known,
		       const struct sd_seen_state *state)
{
	int is_new = !is_same(state, &file->state);
	struct entry entry = { .n = file->n, .state = is_new ? *state : file->state };
	uint64_t words;

	entry.slots = known->first ? sd_first_changed(known->first) : 0;
	if (!is_new && !entry.slots)
		return 0;
	if (note_slots(file, known->first, entry.slots) ||
	    (file->at - file->entries > bytes_of_filters(known->seen) && write_anew(file, known)))
		return -1;
	words = (entry.n + entry.slots) * sizeof(*file->noted);
	entry.before = file->hash;
	entry.words = hash_of(file->noted + ENTRY_WORDS, words);
	entry.hash = hash_of_entry(&entry);
	memcpy(file->noted, &entry, sizeof(entry));
	if (sx_io_write(file->fd, file->noted, sizeof(entry) + words, file->at) ||
	    fdatasync(file->fd))
		return -1;
	file->at += sizeof(entry) + words;
	file->state = entry.state;
	file->hash = entry.hash;
	file->n = 0;
	return 0;
}
