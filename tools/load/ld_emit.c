/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_emit.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"
#include "common/tl_options.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_regular_file(struct stat *status)
{
	return !fstat(STDOUT_FILENO, status) && S_ISREG(status->st_mode);
}

/* Where the last whole line of a file ends; -1 if it cannot be read. */
static off_t end_of_lines(int fd, off_t size)
{
	char bytes[4096];

	while (size > 0) {
		size_t n = size < (off_t)sizeof(bytes) ? (size_t)size : sizeof(bytes);

		if (pread(fd, bytes, n, size - (off_t)n) != (ssize_t)n)
			return -1;
		while (n > 0 && bytes[n - 1] != '\n') {
			n--;
			size--;
		}
		if (n > 0)
			return size;
	}
	return 0;
}

void ld_emit_begin(const struct ld_options *options)
{
	struct stat status;
	off_t end = -1;
	int fd;

	if (options->emit == LD_EMIT_NONE || !is_regular_file(&status) || !status.st_size)
		return;
	/* It may be open for writing only; the same file once more is open for reading. */
	fd = open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		end = end_of_lines(fd, status.st_size);
		close(fd);
	}
	if (end < 0 || end == status.st_size)
		return;
	if (!options->resume || ftruncate(STDOUT_FILENO, end) ||
	    lseek(STDOUT_FILENO, 0, SEEK_END) < 0)
		putchar('\n');
}

/* The row as it came: its line; of a whole file the path. */
static void put_input(const struct ld_item *item)
{
	if (!item->kept_size) {
		tl_put_escaped(stdout, item->path, strlen(item->path));
		putchar('\n');
		return;
	}
	fwrite(item->kept, 1, item->kept_size, stdout);
	if (item->kept[item->kept_size - 1] != '\n')
		putchar('\n');
}

static void put_id(uint64_t id)
{
	if (id != SIMIDX_NO_ID)
		printf("%" PRIu64, id);
	putchar('\t');
}

/* Where the row is, its label, what it is near to and how far that is. */
static void put_line(const struct ld_item *item, int is_new, const struct ld_change *change)
{
	const simidx_match *blocker = &change->blocker;
	char line[32] = "";

	if (item->line)
		snprintf(line, sizeof(line), ":%" PRIu64, item->line);
	tl_put_escaped(stdout, item->path, strlen(item->path));
	printf("%s\t", line);
	if (item->row.label)
		tl_put_escaped(stdout, item->row.label, item->row.label_size);
	putchar('\t');
	put_id(is_new ? change->id : blocker->id);
	if (is_new) {
		fputs("\t\t\n", stdout);
		return;
	}
	printf("%u\t%u\t", blocker->distance, blocker->weighted_distance);
	if (blocker->label)
		tl_put_escaped(stdout, blocker->label, blocker->label_size);
	putchar('\n');
}

void ld_emit_row(const struct ld_options *options, const struct ld_item *item, int is_new,
		 const struct ld_change *change)
{
	switch (options->emit) {
	case LD_EMIT_NEW:
		if (is_new)
			put_input(item);
		break;
	case LD_EMIT_DUP:
		if (!is_new)
			put_line(item, is_new, change);
		break;
	case LD_EMIT_ALL:
		fputs(is_new ? "new\t" : "dup\t", stdout);
		put_line(item, is_new, change);
		break;
	default:
		break;
	}
}

int ld_emit_flush(const struct ld_options *options)
{
	struct stat status;

	if (options->emit == LD_EMIT_NONE)
		return 0;
	fflush(stdout);
	if (tl_output_closed())
		return tl_error("standard output was closed");
	if (tl_output_failed())
		return TL_TROUBLE;
	if (is_regular_file(&status) && fdatasync(STDOUT_FILENO))
		return tl_error("cannot sync standard output: %s", strerror(errno));
	return 0;
}
