/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_spill.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#elif defined HAVE_ZLIB
#include <zlib.h>
#endif

#include "util/sx_alloc.h"
#include "util/sx_spill.h"

/* Of the free space, where no limit is given. */
#define FREE_SHARE 10

#define ZSTD_LEVEL 1
#define ZLIB_LEVEL 1

struct sd_room {
	char *bytes;
	size_t size;
};

struct sd_spill {
	const char *dir;
	int fd; /* -1 before the first text */
	uint64_t limit, size;
	struct sd_room packed;
	void *codec;
	char problem[512];
};

struct sd_spill_reader {
	const struct sd_spill *spill;
	struct sd_room packed, text;
	void *codec;
};

static int have(struct sd_room *room, size_t size)
{
	return sx_reserve(&room->bytes, &room->size, size, 1);
}

/* ---- compression ---- */

#ifdef HAVE_ZSTD

static size_t bound(size_t size)
{
	return ZSTD_compressBound(size);
}

/* Returns bytes; 0 = it cannot be compressed. */
static size_t pack(struct sd_spill *spill, const char *text, size_t size)
{
	size_t n;

	if (!spill->codec && !(spill->codec = ZSTD_createCCtx()))
		return 0;
	n = ZSTD_compressCCtx(spill->codec, spill->packed.bytes, spill->packed.size, text, size,
			      ZSTD_LEVEL);
	return ZSTD_isError(n) ? 0 : n;
}

static int unpack(struct sd_spill_reader *reader, const struct sd_spilled *where)
{
	size_t n;

	if (!reader->codec && !(reader->codec = ZSTD_createDCtx())) {
		errno = ENOMEM;
		return -1;
	}
	n = ZSTD_decompressDCtx(reader->codec, reader->text.bytes, where->size,
				reader->packed.bytes, where->stored);
	errno = EIO;
	return n == where->size ? 0 : -1;
}

static void free_packer(struct sd_spill *spill)
{
	ZSTD_freeCCtx(spill->codec);
}

static void free_unpacker(struct sd_spill_reader *reader)
{
	ZSTD_freeDCtx(reader->codec);
}

#elif defined HAVE_ZLIB

static size_t bound(size_t size)
{
	return compressBound(size);
}

static size_t pack(struct sd_spill *spill, const char *text, size_t size)
{
	uLongf n = spill->packed.size;
	int rc = compress2((Bytef *)spill->packed.bytes, &n, (const Bytef *)text, size,
			   ZLIB_LEVEL);

	return rc == Z_OK ? n : 0;
}

static int unpack(struct sd_spill_reader *reader, const struct sd_spilled *where)
{
	uLongf n = where->size;
	int rc = uncompress((Bytef *)reader->text.bytes, &n, (const Bytef *)reader->packed.bytes,
			    where->stored);

	errno = rc == Z_MEM_ERROR ? ENOMEM : EIO;
	return rc == Z_OK && n == where->size ? 0 : -1;
}

static void free_packer(struct sd_spill *spill)
{
	(void)spill;
}

static void free_unpacker(struct sd_spill_reader *reader)
{
	(void)reader;
}

#else

static size_t bound(size_t size)
{
	(void)size;
	return 1;
}

static size_t pack(struct sd_spill *spill, const char *text, size_t size)
{
	(void)spill, (void)text, (void)size;
	return 0;
}

static int unpack(struct sd_spill_reader *reader, const struct sd_spilled *where)
{
	(void)reader, (void)where;
	errno = EIO;
	return -1;
}

static void free_packer(struct sd_spill *spill)
{
	(void)spill;
}

static void free_unpacker(struct sd_spill_reader *reader)
{
	(void)reader;
}

#endif

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
	if (spill->codec)
		free_packer(spill);
	free(spill->packed.bytes);
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

/* Where a write fails half done, the next one begins at the same byte. */
static int write_all(const struct sd_spill *spill, const char *bytes, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = pwrite(spill->fd, bytes + done, size - done, (off_t)(spill->size + done));
		if (n < 0 && errno != EINTR)
			return -1;
		done += n < 0 ? 0 : (size_t)n;
	}
	return 0;
}

int sd_spill_put(struct sd_spill *spill, const char *text, size_t size, struct sd_spilled *where)
{
	const char *bytes;
	size_t stored;

	if (spill->fd < 0 && (spill->problem[0] || begin(spill)))
		return -1;
	if (have(&spill->packed, bound(size)))
		return missing(spill, "cannot put a text aside", ENOMEM);
	stored = pack(spill, text, size);
	bytes = spill->packed.bytes;
	if (!stored || stored >= size) {
		stored = size;
		bytes = text;
	}
	if (stored > spill->limit || spill->size > spill->limit - stored) {
		if (!spill->problem[0])
			snprintf(spill->problem, sizeof(spill->problem),
				 "no more than %llu bytes may be put aside in %s",
				 (unsigned long long)spill->limit, spill->dir);
		return -1;
	}
	if (write_all(spill, bytes, stored))
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
	if (reader->codec)
		free_unpacker(reader);
	free(reader->packed.bytes);
	free(reader->text.bytes);
	free(reader);
}

static int read_all(int fd, char *bytes, size_t size, uint64_t offset)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = pread(fd, bytes + done, size - done, (off_t)(offset + done));
		if (n == 0)
			errno = EIO;
		if (n == 0 || (n < 0 && errno != EINTR))
			return -1;
		done += n < 0 ? 0 : (size_t)n;
	}
	return 0;
}

int sd_spill_get(struct sd_spill_reader *reader, const struct sd_spilled *where,
		 const char **text)
{
	struct sd_room *room = where->stored == where->size ? &reader->text : &reader->packed;

	*text = "";
	if (have(&reader->text, (size_t)where->size + 1) ||
	    have(room, (size_t)where->stored + 1)) {
		errno = ENOMEM;
		return -1;
	}
	if (read_all(reader->spill->fd, room->bytes, where->stored, where->offset))
		return -1;
	if (room == &reader->packed && unpack(reader, where))
		return -1;
	*text = reader->text.bytes;
	return 0;
}
