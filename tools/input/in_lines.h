/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Lines of a file, decompressed if need be, without a copy, at most IN_MAX_LINE bytes each, or
 * less; for other formats the bytes as they come.
 */

#ifndef IN_LINES_H
#define IN_LINES_H

#include "input/in_source.h"

/** A file being read; the buffer is kept from one file to the next. */
struct in_lines {
	struct in_source source;
	char separator;   /* '\n', or '\0' for lists of names */
	size_t most;      /* bytes of a line or text for which there is memory; 0 = any number */
	int ends_at_long; /* set it, and a line that is too long is not passed over: reading ends */
	int at_end;       /* the source has said so */
	char *buffer;
	size_t capacity;
	size_t start;     /* what is left to deliver: buffer[start..end) */
	size_t end;
	uint64_t line;    /* number of the last line delivered, from 1 */
	uint64_t filled;  /* how far in the source the bytes have come from so far */
};

/** The most bytes of a line or text, of which there are `max` in any case. */
static inline size_t in_lines_most(const struct in_lines *lines, size_t max)
{
	return lines->most && lines->most < max ? lines->most : max;
}

/** Free a buffer that is larger than most rows need. What it had is gone. */
void in_lines_trim(struct in_lines *lines);

/** Have room for so many bytes of the file. Returns IN_ROW; IN_FATAL when memory is short. */
enum in_result in_lines_expect(struct in_lines *lines, size_t size);

/** Begin with a file; `fd` stays the caller's. */
void in_lines_begin(struct in_lines *lines, int fd, char separator);

/**
 * Begin with a part of a file alone, which is read at once and delivered as it is.
 *
 * @param fd      stays the caller's, and where it is
 * @param offset  in bytes
 * @param size    in bytes
 * @return IN_ROW; IN_FATAL with a reason in `source`, also when the file ends before
 */
enum in_result in_lines_part(struct in_lines *lines, int fd, char separator, uint64_t offset,
			     size_t size);

/** Free the buffer. */
void in_lines_free(struct in_lines *lines);

/**
 * The next line without its separator and, for '\n', without one carriage return before it.
 *
 * @return IN_ROW; IN_END; IN_REJECTED for a line that is too long, which is passed over unless
 *         reading ends with it; IN_FATAL with a reason in `source`
 */
enum in_result in_lines_next(struct in_lines *lines, const char **line, size_t *size);

/**
 * Read more of the file into the buffer.
 *
 * @param max  the buffer does not grow above this
 * @return IN_ROW if something was read; IN_END; IN_REJECTED if the buffer is full at `max`;
 *         IN_FATAL with a reason in `source`
 */
enum in_result in_lines_fill(struct in_lines *lines, size_t max);

/**
 * Have at least `n` bytes in the buffer.
 *
 * @param n  1..IN_MAX_LINE
 * @return IN_ROW; IN_END if the file ends before; IN_FATAL as above
 */
enum in_result in_lines_need(struct in_lines *lines, size_t n);

/**
 * Pass over bytes, as they are.
 *
 * @param offset  where to go on, as in_lines_offset() tells it; not before that
 * @param n       set to the lines among these bytes; half a line at the end of the file is one
 * @return IN_ROW; IN_END if the file ends before; IN_FATAL with a reason in `source`
 */
enum in_result in_lines_pass(struct in_lines *lines, uint64_t offset, uint64_t *n);

/** How far the bytes in the buffer are from the beginning of the (decompressed) file. */
uint64_t in_lines_offset(const struct in_lines *lines);

#endif /* IN_LINES_H */
