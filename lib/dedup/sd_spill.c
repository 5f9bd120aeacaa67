/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_spill.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "dedup/sd_pack.h"
#include "util/sx_alloc.h"
#include "util/sx_io.h"
#include "util/sx_spill.h"

/* Of the free space, where no limit is given. */
#define FREE_SHARE 10

struct sd_spill {
	const char *dir;
	int fd; /* -1 before the first text */
	uint64_t limit, size;
	struct sd_packer packer;
	char problem[512];
};

struct sd_spill_reader {
	const struct sd_spill *spill;
	char *bytes; /* as they are in the file */
	size_t room;
	struct sd_unpacker unpacker;
};

/* ---- writing ---- */

struct sd_spill *sd_spill_new(const char *dir, uint64_t limit)
{
	struct sd_spill *spill = calloc(1, sizeof(*spill));

	if (!spill)
		return NULL;
	spill->dir = dir;
	spill->limit = limit;
	spill->fd = -1;
	return spill;
}

void sd_spill_free(struct sd_spill *spill)
{
	if (!spill)
		return;
	if (spill->fd >= 0)
		close(spill->fd);
	sd_packer_free(&spill->packer);
	free(spill);
}

/* A text is missing: remember why the first one is. Returns -1. */
static int missing(struct sd_spill *spill, const char *what, int code)
{
	if (!spill->problem[0])
		snprintf(spill->problem, sizeof(spill->problem), "%s in %s: %s", what, spill->dir,
			 strerror(code));
	return -1;
}

static int begin(struct sd_spill *spill)
{
	struct statvfs status;

	if (spill->limit == UINT64_MAX) {
		if (statvfs(spill->dir, &status))
			return missing(spill, "cannot tell the free space", errno);
		spill->limit = (uint64_t)status.f_bavail * status.f_frsize / FREE_SHARE;
	}
	spill->fd = sx_spill_file(spill->dir);
	return spill->fd < 0 ? missing(spill, "cannot make a temporary file", errno) : 0;
}

int sd_spill_put(struct sd_spill *spill, const char *text, size_t size, struct sd_spilled *where)
{
	const char *bytes;
	size_t stored;

	if (spill->fd < 0 && (spill->problem[0] || begin(spill)))
		return -1;
	if (sd_pack(&spill->packer, text, size, &bytes, &stored))
		return missing(spill, "cannot put a text aside", ENOMEM);
	if (stored > spill->limit || spill->size > spill->limit - stored) {
		if (!spill->problem[0])
			snprintf(spill->problem, sizeof(spill->problem),
				 "no more than %llu bytes may be put aside in %s",
				 (unsigned long long)spill->limit, spill->dir);
		return -1;
	}
	/* Where a write fails half done, the next one begins at the same byte. */
	if (sx_io_write(spill->fd, bytes, stored, spill->size))
		return missing(spill, "cannot put a text aside", errno);
	*where = (struct sd_spilled){ spill->size, (uint32_t)stored, (uint32_t)size };
	spill->size += stored;
	return 0;
}

const char *sd_spill_problem(const struct sd_spill *spill)
{
	return spill->problem[0] ? spill->problem : NULL;
}

/* ---- reading ---- */

struct sd_spill_reader *sd_spill_reader_new(const struct sd_spill *spill)
{
	struct sd_spill_reader *reader = calloc(1, sizeof(*reader));

	if (reader)
		reader->spill = spill;
	return reader;
}

void sd_spill_reader_free(struct sd_spill_reader *reader)
{
	if (!reader)
		return;
	sd_unpacker_free(&reader->unpacker);
	free(reader->bytes);
	free(reader);
}

int sd_spill_get(struct sd_spill_reader *reader, const struct sd_spilled *where,
		 const char **text)
{
	*text = "";
	if (sx_reserve(&reader->bytes, &reader->room, (size_t)where->stored + 1, 1)) {
		errno = ENOMEM;
		return -1;
	}
	if (sx_io_read(reader->spill->fd, reader->bytes, where->stored, where->offset))
		return -1;
	*text = where->stored == where->size ? reader->bytes :
					       sd_unpack(&reader->unpacker, reader->bytes,
							 where->stored, where->size);
	return *text ? 0 : -1;
}
