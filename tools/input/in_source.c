/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_source.h"

#include "common/tl_msg.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RAW_SIZE ((size_t)128 << 10)

/* No codec needs more bytes than this to be known. */
#define MAGIC_SIZE 4

void in_source_begin(struct in_source *source, int fd)
{
	source->fd = fd;
	source->plain = 0;
	source->begun = 0;
	source->codec = NULL;
	source->may_end = 1;
	source->start = source->end = 0;
	source->bytes = 0;
	source->sys_errno = 0;
	source->reason[0] = '\0';
}

void in_source_free(struct in_source *source)
{
	size_t i;

	for (i = 0; in_codecs[i]; i++) {
		if (source->states[i])
			in_codecs[i]->free(source->states[i]);
		source->states[i] = NULL;
	}
	free(source->raw);
	source->raw = NULL;
}

__attribute__((format(printf, 2, 3)))
static enum in_result fail(struct in_source *source, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(source->reason, sizeof(source->reason), format, ap);
	va_end(ap);
	return IN_FATAL;
}

enum in_result in_source_lack_memory(struct in_source *source)
{
	source->sys_errno = ENOMEM;
	return fail(source, "out of memory");
}

/* Whether the next read would wait. A file, an end and an error are there at once. */
static int would_wait(int fd)
{
	struct pollfd wanted = { fd, POLLIN, 0 };

	return poll(&wanted, 1, 0) == 0;
}

static enum in_result read_file(struct in_source *source, void *buffer, size_t room,
				size_t *got)
{
	ssize_t n;

	if (source->idle && would_wait(source->fd) && source->idle(source->idle_ctx, source->fd))
		return IN_END;
	do {
		errno = EINTR;
		n = tl_stop_requested() ? -1 : read(source->fd, buffer, room);
	} while (n < 0 && errno == EINTR && !tl_stop_requested());
	if (n < 0) {
		source->sys_errno = errno;
		return fail(source, "cannot read: %s", strerror(errno));
	}
	*got = (size_t)n;
	source->bytes += (uint64_t)n;
	return n > 0 ? IN_ROW : IN_END;
}

/* Whether one of the codecs may begin so, as far as the bytes go. */
static enum in_magic find_codec(struct in_source *source, const char *bytes, size_t n)
{
	enum in_magic best = IN_MAGIC_NO, magic;
	size_t i;

	for (i = 0; in_codecs[i]; i++) {
		magic = in_codecs[i]->check((const unsigned char *)bytes, n);
		if (magic == IN_MAGIC_YES)
			source->codec = in_codecs[i];
		if (magic != IN_MAGIC_NO)
			best = magic;
	}
	return best;
}

/* Where the state of the file's codec is kept. */
static void **codec_state(struct in_source *source)
{
	size_t i = 0;

	while (in_codecs[i] != source->codec)
		i++;
	return &source->states[i];
}

static enum in_result begin_codec(struct in_source *source)
{
	const struct in_codec *codec = source->codec;

	if (in_codec_missing(codec))
		return fail(source, "%s", in_codec_missing(codec));
	if (!source->raw)
		source->raw = malloc(RAW_SIZE);
	if (!source->raw || codec->begin(codec_state(source)))
		return in_source_lack_memory(source);
	return IN_ROW;
}

/* The first bytes go where the caller wants them; compressed ones are taken out again. */
static enum in_result read_first(struct in_source *source, char *buffer, size_t room,
				 size_t *got)
{
	enum in_result rc = IN_ROW;
	size_t n = 0, more;

	source->begun = 1;
	if (room > RAW_SIZE)
		room = RAW_SIZE;
	/* No more than needed: at a terminal or in a pipe a short line may be all for now. */
	do {
		rc = read_file(source, buffer + n, room - n, &more);
		if (rc == IN_ROW)
			n += more;
	} while (rc == IN_ROW && n < MAGIC_SIZE && !source->plain &&
		 find_codec(source, buffer, n) == IN_MAGIC_MORE);
	if (rc == IN_FATAL)
		return rc;
	*got = n;
	if (source->plain || find_codec(source, buffer, n) != IN_MAGIC_YES)
		return n > 0 ? IN_ROW : IN_END;
	rc = begin_codec(source);
	if (rc == IN_ROW) {
		memcpy(source->raw, buffer, n);
		source->end = n;
	}
	*got = 0;
	return rc;
}

/* More compressed bytes. The end of the file is IN_END if it may end there. */
static enum in_result fill_raw(struct in_source *source)
{
	enum in_result rc;
	size_t got;

	source->start = source->end = 0;
	rc = read_file(source, source->raw, RAW_SIZE, &got);
	if (rc == IN_ROW)
		source->end = got;
	if (rc == IN_END && !source->may_end)
		return fail(source, "%s data end too early, at byte %llu of the file",
			    source->codec->name, (unsigned long long)source->bytes);
	return rc;
}

static enum in_result decompress(struct in_source *source, char *buffer, size_t room,
				 size_t *got)
{
	struct in_step step = { NULL, 0, (unsigned char *)buffer, room, 0, NULL };
	enum in_result rc = IN_ROW;
	int failed;

	while (rc == IN_ROW) {
		/* Without input as well: the codec may hold what had no room the last time. */
		step.in = source->raw + source->start;
		step.in_size = source->end - source->start;
		step.at_end = source->may_end;
		failed = source->codec->step(*codec_state(source), &step);
		source->start = source->end - step.in_size;
		source->may_end = step.at_end;
		if (failed && !step.problem)
			return in_source_lack_memory(source);
		if (failed)
			return fail(source, "damaged %s data near byte %llu of the file: %s",
				    source->codec->name,
				    (unsigned long long)(source->bytes - step.in_size),
				    step.problem);
		*got = room - step.out_size;
		if (*got > 0)
			break;
		if (step.in_size == 0)
			rc = fill_raw(source);
	}
	return rc;
}

enum in_result in_source_read(struct in_source *source, char *buffer, size_t room, size_t *got)
{
	enum in_result rc = IN_ROW;

	*got = 0;
	if (source->reason[0])
		return IN_FATAL;
	if (!source->begun) {
		rc = read_first(source, buffer, room, got);
		if (rc != IN_ROW || !source->codec)
			return rc;
	}
	if (source->codec)
		return decompress(source, buffer, room, got);
	return read_file(source, buffer, room, got);
}

enum in_result in_source_head(const char *path, int is_plain, char *bytes, size_t room, size_t *n)
{
	struct in_source source = { .fd = -1 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	enum in_result rc = fd < 0 ? IN_FATAL : IN_ROW;
	size_t got;

	*n = 0;
	in_source_begin(&source, fd);
	source.plain = is_plain;
	/* What the last read leaves of the room is less than a codec may need. */
	while (rc == IN_ROW && *n + MAGIC_SIZE <= room) {
		rc = in_source_read(&source, bytes + *n, room - *n, &got);
		*n += rc == IN_ROW ? got : 0;
	}
	in_source_free(&source);
	if (fd >= 0)
		close(fd);
	return rc;
}
