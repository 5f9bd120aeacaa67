/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_mark.h"

#include "input/in_full.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Then numbers, hexadecimal, and what is remembered, a word. Numbers of a mark that is open:
 * device, inode, birth and length of each file, and then the rest. Of earlier versions only that
 * word is read.
 */
#define DONE IN_FULL_DEDUP_MARK "3 done"
#define OPEN IN_FULL_DEDUP_MARK "3 open"
#define EARLIER IN_FULL_DEDUP_MARK "2 "

enum { N_OPEN = 4 * DD_N_WRITTEN + 8 };

static uint64_t born(int fd)
{
	struct statx status;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &status) || !(status.stx_mask & STATX_BTIME))
		return 0;
	return (uint64_t)status.stx_btime.tv_sec * 1000000000 + status.stx_btime.tv_nsec;
}

struct dd_place dd_mark_place(int fd)
{
	struct dd_place place = { 0, 0, 0, 0 };
	struct stat status;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode))
		return place;
	return (struct dd_place){ status.st_dev, status.st_ino, born(fd),
				  (uint64_t)status.st_size };
}

/* Whether a file is the one of a place, on the same file system. */
static int is_file(const struct dd_place *here, const struct dd_place *place)
{
	return here->inode && here->device == place->device && here->inode == place->inode &&
	       here->born == place->born;
}

/* The numbers of a mark, in their order. Returns how many there are. */
static int list_numbers(struct dd_mark *mark, uint64_t *number[N_OPEN])
{
	int n = 0;

	for (int i = 0; mark->is_open && i < DD_N_WRITTEN; i++) {
		number[n++] = &mark->place[i].device;
		number[n++] = &mark->place[i].inode;
		number[n++] = &mark->place[i].born;
		number[n++] = &mark->place[i].length;
	}
	number[n++] = &mark->at.inputs;
	number[n++] = &mark->at.digest;
	number[n++] = &mark->names;
	if (mark->is_open) {
		number[n++] = &mark->at.offset;
		number[n++] = &mark->at.line;
		number[n++] = &mark->at.rows;
		number[n++] = &mark->kind;
		number[n++] = &mark->first_id;
	}
	return n;
}

void dd_mark_write(char text[DD_MARK_SIZE], const struct dd_mark *mark)
{
	char *to = text + sprintf(text, "%s", mark->is_open ? OPEN : DONE);
	struct dd_mark copy = *mark;
	uint64_t *number[N_OPEN];
	int n = list_numbers(&copy, number);

	for (int i = 0; i < n; i++)
		to += sprintf(to, " %" PRIx64, *number[i]);
	sprintf(to, " %s", dd_remember_word(mark->remember));
}

/* It is the last word. */
static int read_remember(const char *text)
{
	const char *word = strrchr(text, ' ');

	for (int i = SIMIDX_DEDUP_FINGERPRINT; i <= SIMIDX_DEDUP_TEXT; i++)
		if (word && strcmp(word + 1, dd_remember_word(i)) == 0)
			return i;
	return -1;
}

/* The numbers before it. Returns how many there are. */
static int read_numbers(const char *text, uint64_t *number, int most)
{
	char *end;
	int n = 0;

	while (n < most && *text == ' ') {
		number[n] = strtoull(text + 1, &end, 16);
		if (end == text + 1 || *end != ' ')
			break;
		text = end;
		n++;
	}
	return n;
}

void dd_mark_read(const char *text, struct dd_mark *mark)
{
	uint64_t value[N_OPEN], *number[N_OPEN];
	int n;

	*mark = (struct dd_mark){ .remember = -1 };
	mark->is_open = strncmp(text, OPEN, strlen(OPEN)) == 0;
	if (strncmp(text, EARLIER, strlen(EARLIER)) == 0)
		mark->remember = read_remember(text);
	if (!mark->is_open && strncmp(text, DONE, strlen(DONE)) != 0)
		return;
	mark->remember = read_remember(text);
	n = list_numbers(mark, number);
	mark->has_position = read_numbers(text + strlen(OPEN), value, N_OPEN) == n;
	for (int i = 0; mark->has_position && i < n; i++)
		*number[i] = value[i];
}

off_t dd_mark_committed(const struct dd_mark *mark, int fd)
{
	struct dd_place here = dd_mark_place(fd);

	for (int i = 0; mark->is_open && here.inode && i < DD_N_WRITTEN; i++)
		if (is_file(&here, &mark->place[i]))
			return (off_t)mark->place[i].length;
	return -1;
}

int dd_mark_is_same(const struct dd_mark *a, const struct dd_mark *b)
{
	return a->is_open == b->is_open && a->at.inputs == b->at.inputs &&
	       a->at.digest == b->at.digest && a->at.offset == b->at.offset &&
	       a->at.rows == b->at.rows && a->first_id == b->first_id &&
	       memcmp(a->place, b->place, sizeof(a->place)) == 0;
}
