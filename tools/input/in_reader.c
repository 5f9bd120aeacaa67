/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_reader.h"

#include "common/tl_example.h"
#include "common/tl_msg.h"
#include "common/tl_advice.h"
#include "common/tl_time.h"
#include "input/in_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a file whose rows are read one by one: room for its header, if that is not long. */
#define HEADER_SIZE ((size_t)4 << 10)

void in_reader_init(struct in_reader *reader, unsigned bits)
{
	static const struct in_columns default_columns;

	memset(reader, 0, sizeof(*reader));
	reader->bits = bits;
	reader->columns = &default_columns;
	reader->path = "";
	reader->lines.source.fd = -1;
}

void in_reader_when_idle(struct in_reader *reader, int (*idle)(void *ctx, int fd), void *ctx)
{
	reader->lines.source.idle = idle;
	reader->lines.source.idle_ctx = ctx;
}

static void close_input(struct in_reader *reader)
{
	if (reader->state && reader->format->close)
		reader->format->close(reader->state);
	free(reader->state);
	reader->state = NULL;
	if (reader->lines.source.fd > STDIN_FILENO)
		close(reader->lines.source.fd);
	reader->bytes += reader->lines.source.bytes;
	in_lines_begin(&reader->lines, -1, '\n');
	reader->line = reader->row = reader->row_begins = 0;
	reader->head_size = 0;
}

void in_reader_free(struct in_reader *reader)
{
	close_input(reader);
	free(reader->kept.bytes);
	free(reader->head.bytes);
	in_lines_free(&reader->lines);
}

static enum in_result begin_input(struct in_reader *reader, const char *path,
				  const struct in_format *format)
{
	close_input(reader);
	reader->path = path;
	reader->format = format;
	if (format->state_size && !(reader->state = calloc(1, format->state_size)))
		return in_lack_memory(reader);
	return IN_ROW;
}

static char separator(const struct in_reader *reader)
{
	return reader->format->takes & IN_TAKES_NUL && reader->columns->nul_ends ? '\0' : '\n';
}

/* Three words or more. */
static int has_words(const char *path)
{
	const char *blank = strchr(path, ' ');

	return blank && strchr(blank + 1, ' ');
}

static const char *advise_name(const char *path)
{
	static char advice[NAME_MAX + 32];
	const char *nearest = tl_nearest_file(path);

	if (!nearest)
		return strstr(path, "\u201c") || strstr(path, "\u2018") ?
			       "; a shell has other quotes, ' and \"" :
		       strstr(path, ":/") ?
			       "; files of this machine are read: ssh HOST cat FILE | ... -" :
		       has_words(path) && strcmp(tl_program(), "simidx-query") ?
			       "; of a text: printf '%s' 'TEXT' | ... -F text -" :
		       strchr(path, ',') ? "; several INPUTs stand with blanks between" :
		       *path == '.' && !strpbrk(path + 1, "./") ?
			       "; --text-field names a member or column" :
			       "; a path from here is expected, as ls shows it, in quotes if it "
			       "has blanks";
	snprintf(advice, sizeof(advice), "; is %s meant?", nearest);
	return advice;
}

static const char *advise_open(const char *path)
{
	struct stat status;

	return errno == EACCES	     ? "; ls -l shows who may read it" :
	       errno == ENOTDIR	     ? "; a file stands where its directory is to be" :
	       errno != ENOENT	     ? "" :
	       strlen(path) == 16 && tl_example_has("format") &&
			       !path[strspn(path, "0123456789abcdefABCDEF")] ?
		       "; of fingerprints: echo FP | ... -F lines -" :
	       *path == '~'	     ? "; a shell replaces ~ where it begins a word, and not in "
				       "quotes" :
	       strstr(path, "://")   ? "; nothing is fetched: curl -s URL | ... -F FORMAT -" :
	       strpbrk(path, "*?")   ? "; a shell replaces * and ? where files match, and not in "
				       "quotes" :
	       *path == '@'	     ? "; --files-from FILE reads a list of names" :
	       strchr(path, '\n')    ? "; it has several lines, as names without -0 have" :
	       *path == '{'	     ? "; that looks like a row, and here is the name of a file" :
	       strncmp(path, "\u2013", 3) == 0 || strncmp(path, "\u2014", 3) == 0 ?
		       "; an option begins with '-', and this with another dash" :
	       !lstat(path, &status) ? "; it is a link to what is not there" : advise_name(path);
}

const char *in_advise_open(const char *path)
{
	int reason = errno;
	const char *advice = advise_open(path);

	errno = reason;
	return advice;
}

enum in_result in_reader_open(struct in_reader *reader, const char *path,
			      const struct in_format *format, int is_stdin)
{
	struct stat status;
	int fd = STDIN_FILENO;
	enum in_result rc = begin_input(reader, path, format);

	if (rc != IN_ROW)
		return rc;
	if (!is_stdin && in_guard_is_file(path))
		return in_fail(reader, IN_REJECTED, "is a file of the index itself");
	if (!is_stdin)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return in_fail(reader, IN_REJECTED, "cannot open: %s%s", strerror(errno),
			       in_advise_open(path));
	in_lines_begin(&reader->lines, fd, separator(reader));
	/* A text is what its name says; in a directory of texts something else may begin so. */
	reader->lines.source.plain = format == &in_format_text && !is_stdin &&
				     (reader->packs_stay || !in_codec_of_path(path));
	if (!fstat(fd, &status) && S_ISDIR(status.st_mode))
		return in_fail(reader, IN_SKIPPED, "is a directory");
	return IN_ROW;
}

/* Read a part into the buffer. */
static enum in_result read_part(struct in_reader *reader, int fd, uint64_t offset, size_t size)
{
	if (in_lines_part(&reader->lines, fd, separator(reader), offset, size) == IN_ROW)
		return IN_ROW;
	return in_fail(reader, in_reader_lacks_memory(reader) ? IN_FATAL : IN_REJECTED, "%s",
		       reader->lines.source.reason);
}

/* Let the format learn from the beginning of a file. */
static enum in_result read_beginning(struct in_reader *reader, int fd)
{
	const struct in_lines *lines = &reader->lines;
	size_t size = HEADER_SIZE, most;
	struct stat status;
	enum in_result rc;

	if (fstat(fd, &status))
		return in_fail(reader, IN_REJECTED, "cannot read: %s", strerror(errno));
	most = (uint64_t)status.st_size < IN_MAX_LINE ? (size_t)status.st_size : IN_MAX_LINE;
	for (;; size *= 16) {
		int is_all = size >= most;

		if (is_all)
			size = most;
		rc = read_part(reader, fd, 0, size);
		if (rc == IN_ROW)
			rc = reader->format->begin(reader);
		/* What goes up to the end of the part may go on behind it. */
		if (is_all || (rc == IN_ROW && lines->start < lines->end))
			break;
	}
	return rc == IN_ROW || in_reader_lacks_memory(reader) ? rc : IN_REJECTED;
}

enum in_result in_reader_open_part(struct in_reader *reader, const char *path,
				   const struct in_format *format, int fd, uint64_t offset,
				   size_t size)
{
	enum in_result rc = begin_input(reader, path, format);

	if (rc == IN_ROW && format->begin && reader->columns->header)
		rc = read_beginning(reader, fd);
	return rc == IN_ROW ? read_part(reader, fd, offset, size) : rc;
}

/* Seek in a regular file: IN_END if it has no row that ends there, IN_SKIPPED if it is none. */
static enum in_result seek(struct in_lines *lines, uint64_t offset)
{
	int fd = lines->source.fd;
	off_t at = lseek(fd, 0, SEEK_CUR), end;
	struct stat status;
	char last;

	if (lines->source.codec || at < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode))
		return IN_SKIPPED;
	/* Standard input may have begun anywhere. */
	at -= (off_t)lines->source.bytes;
	if (offset > INT64_MAX || (uint64_t)(status.st_size - at) < offset)
		return IN_END;
	end = at + (off_t)offset;
	if (pread(fd, &last, 1, end - 1) != 1 || lseek(fd, end, SEEK_SET) < 0)
		return IN_END;
	if (last != lines->separator && end < status.st_size)
		return IN_END;
	lines->start = lines->end = 0;
	lines->filled = lines->source.bytes = offset;
	lines->at_end = 0;
	return IN_ROW;
}

enum in_result in_reader_pass(struct in_reader *reader, uint64_t offset, uint64_t line)
{
	struct in_lines *lines = &reader->lines;
	struct in_row row;
	uint64_t n;
	/* The header comes with the first row. Without one, the first bytes tell the codec. */
	enum in_result rc = reader->columns->header ? in_reader_next(reader, &row) :
						      in_lines_need(lines, 1);

	if (rc == IN_ROW || rc == IN_REJECTED)
		rc = offset < in_lines_offset(lines) ? IN_END : seek(lines, offset);
	if (rc == IN_SKIPPED) {
		rc = in_lines_pass(lines, offset, &n);
		if (rc == IN_ROW && lines->line + n != line)
			rc = IN_END;
	}
	lines->line = line;
	if (rc == IN_FATAL)
		return in_fail(reader, rc, "%s", lines->source.reason);
	return rc == IN_ROW ? rc :
			      in_fail(reader, IN_FATAL, "has other rows than were read before");
}

enum in_result in_reader_next(struct in_reader *reader, struct in_row *row)
{
	memset(row, 0, sizeof(*row));
	row->id = SIMIDX_NO_ID;
	reader->row++;
	reader->row_begins = in_lines_offset(&reader->lines);
	reader->kept_size = 0;
	return reader->format->next(reader, row);
}

uint64_t in_reader_row_size(const struct in_reader *reader)
{
	if (reader->format->is_whole)
		return reader->lines.filled;
	return in_lines_offset(&reader->lines) - reader->row_begins;
}

uint64_t in_reader_bytes(const struct in_reader *reader)
{
	return reader->bytes + reader->lines.source.bytes;
}

void in_write_place(const char *path, uint64_t line, char *out, size_t size)
{
	if (line)
		snprintf(out, size, "%s:%llu", path, (unsigned long long)line);
	else
		snprintf(out, size, "%s", path);
}

const char *in_reader_place(const struct in_reader *reader)
{
	static char place[8192];

	in_write_place(reader->path, reader->line, place, sizeof(place));
	return place;
}

enum in_result in_fail(struct in_reader *reader, enum in_result result, const char *format,
		       ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(reader->reason, sizeof(reader->reason), format, ap);
	va_end(ap);
	return result;
}

void in_advise(struct in_reader *reader, const char *advice)
{
	size_t n = strlen(reader->reason);

	snprintf(reader->reason + n, sizeof(reader->reason) - n, "%s", advice);
}

enum in_result in_fail_long(struct in_reader *reader, const char *what, size_t max)
{
	size_t most = in_lines_most(&reader->lines, max);
	unsigned shift = most >> 20 ? 20 : 10;

	return in_fail(reader, IN_REJECTED,
		       most < max ? "%s is longer than the %zu %ciB that there is memory for" :
				    "%s is longer than %zu %ciB",
		       what, most >> shift, shift == 20 ? 'M' : 'K');
}

enum in_result in_lack_memory(struct in_reader *reader)
{
	return in_fail(reader, in_source_lack_memory(&reader->lines.source), "%s",
		       reader->lines.source.reason);
}

int in_count_cause(struct in_reader *reader, enum in_cause cause)
{
	struct in_causes *causes = &reader->causes;

	if (causes->cause[cause].n++)
		return 0;
	in_write_place(reader->path, reader->line, causes->cause[cause].first,
		       sizeof(causes->cause[cause].first));
	return 1;
}

int in_reader_lacks_memory(const struct in_reader *reader)
{
	return reader->lines.source.sys_errno == ENOMEM;
}

enum in_result in_keep_line(struct in_reader *reader, const char *line)
{
	size_t size = (size_t)(reader->lines.buffer + reader->lines.start - line);

	if (!reader->keeps_lines)
		return IN_ROW;
	if (in_room_have(&reader->kept, size))
		return in_lack_memory(reader);
	memcpy(reader->kept.bytes, line, size);
	reader->kept_size = size;
	return IN_ROW;
}

void in_keep_head(struct in_reader *reader)
{
	struct in_room room = reader->head;

	reader->head = reader->kept;
	reader->head_size = reader->kept_size;
	reader->kept = room;
	reader->kept_size = 0;
}

enum in_result in_next_line(struct in_reader *reader, const char **line, size_t *size)
{
	enum in_result rc = in_lines_next(&reader->lines, line, size);

	if (rc != IN_END)
		reader->line = reader->lines.line;
	/* The byte order mark that some editors put before UTF-8. */
	if (rc == IN_ROW && reader->line == 1 && !reader->row_begins && *size >= 3 &&
	    memcmp(*line, "\xef\xbb\xbf", 3) == 0) {
		*line += 3;
		*size -= 3;
	}
	if (rc == IN_REJECTED)
		in_fail_long(reader, "line", IN_MAX_LINE);
	else if (rc == IN_FATAL)
		in_fail(reader, rc, "%s", reader->lines.source.reason);
	return rc == IN_ROW ? in_keep_line(reader, *line) : rc;
}

enum in_result in_next_bytes(struct in_reader *reader, size_t n, const unsigned char **bytes)
{
	struct in_lines *lines = &reader->lines;
	enum in_result rc = IN_ROW;

	if (lines->end - lines->start < n)
		rc = in_lines_need(lines, n);
	if (rc == IN_FATAL)
		return in_fail(reader, rc, "%s", lines->source.reason);
	if (rc == IN_END && lines->end == lines->start)
		return rc;
	reader->line++;
	if (rc == IN_END)
		return in_fail(reader, IN_FATAL, "ends at byte %llu, inside record %llu",
			       (unsigned long long)lines->filled,
			       (unsigned long long)reader->line);
	*bytes = (const unsigned char *)lines->buffer + lines->start;
	lines->start += n;
	return rc;
}

uint64_t in_little_endian(const void *bytes, size_t n)
{
	const unsigned char *byte = bytes;
	uint64_t value = 0;

	while (n-- > 0)
		value = value << 8 | byte[n];
	return value;
}

enum in_result in_fingerprint(struct in_reader *reader, const char *s, size_t n,
			      const char *what, unsigned bits, uint64_t *out)
{
	return tl_parse_encoded(reader->columns->encoding, s, n, bits, what, out, reader->reason,
				sizeof(reader->reason)) ? IN_REJECTED : IN_ROW;
}

enum in_result in_time(struct in_reader *reader, const char *s, size_t n, const char *what,
		       struct in_row *row)
{
	int rc;

	row->has_time = 1;
	row->time = 0;
	rc = n ? tl_time_parse(s, n, &row->time) : 0;
	if (rc == TL_TIME_OUT)
		return in_fail(reader, IN_REJECTED, "%s: " TL_TIME_RANGE, what);
	return rc ? in_fail(reader, IN_REJECTED, "%s: expected " TL_TIME_FORMS, what) : IN_ROW;
}

enum in_result in_number(struct in_reader *reader, uint64_t fp, struct in_row *row)
{
	row->kind = IN_FINGERPRINT;
	row->fp = fp;
	if (reader->bits < 64 && fp >> reader->bits != 0)
		return in_fail(reader, IN_REJECTED, "fingerprint: wider than %u bits",
			       reader->bits);
	return IN_ROW;
}

enum in_result in_signed_number(struct in_reader *reader, uint64_t number, struct in_row *row)
{
	const uint64_t half = (uint64_t)1 << (reader->bits - 1);

	row->kind = IN_FINGERPRINT;
	row->fp = number & (half - 1 + half);
	/* In -half..half-1, moved to begin at 0; in 64 bits every number is. */
	if (reader->bits < 64 && number + half >= 2 * half)
		return in_fail(reader, IN_REJECTED,
			       "fingerprint: expected a number in -%llu..%llu, found %lld",
			       (unsigned long long)half, (unsigned long long)(half - 1),
			       (long long)number);
	return IN_ROW;
}

int in_sketch_row(const struct in_row *row, unsigned bits, simidx_text *text,
		  unsigned flags, simidx_sketch *out, simidx_error *err)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	switch (row->kind) {
	case IN_TEXT:
		return simidx_text_fingerprint(text, row->text, row->text_size, flags, out, err);
	case IN_FEATURES:
		return simidx_sketch_make(row->features, row->n_features, bits, flags, out,
					    err);
	default:
		out->fp = row->fp;
		out->fp2 = row->fp2;
		return SIMIDX_OK;
	}
}
