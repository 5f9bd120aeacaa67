/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_reader.h"

#include "common/tl_number.h"
#include "input/in_look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A file with a NUL this near to its beginning is no text. */
#define BINARY_CHECK_SIZE ((size_t)8 << 10)

/* If all of these are fingerprints, all lines are taken for some. */
#define LINES_LOOKED_AT 10

/* Read until the file ends or `max` bytes are there. */
static enum in_result fill_to(struct in_reader *reader, size_t max)
{
	enum in_result rc = IN_ROW;

	while (rc == IN_ROW && reader->lines.end < max)
		rc = in_lines_fill(&reader->lines, in_lines_most(&reader->lines, IN_MAX_TEXT) + 1);
	if (rc == IN_FATAL)
		return in_fail(reader,
			       reader->lines.source.sys_errno == EINTR ||
					       in_reader_lacks_memory(reader) ?
				       IN_FATAL : IN_REJECTED,
			       "%s", reader->lines.source.reason);
	return rc == IN_REJECTED ? IN_ROW : rc;
}

/* The size of a file is known: so the buffer need not be twice as large. */
static enum in_result expect_all(struct in_reader *reader, size_t most)
{
	struct stat status;

	if (reader->lines.source.codec || fstat(reader->lines.source.fd, &status) ||
	    !S_ISREG(status.st_mode))
		return IN_ROW;
	if ((uint64_t)status.st_size < most)
		most = (size_t)status.st_size;
	/* One more, to see that it has not grown. */
	if (in_lines_expect(&reader->lines, most + 1) == IN_ROW)
		return IN_ROW;
	return in_lack_memory(reader);
}

/* Of a file with a NUL byte. */
static const char *why_no_text(const char *path, const char *bytes, size_t n)
{
	if (n > 1 && (!memcmp(bytes, "\xff\xfe", 2) || !memcmp(bytes, "\xfe\xff", 2)))
		return "is UTF-16: 'iconv -f UTF-16 -t UTF-8' makes a text of it that can be read";
	if (n >= 16 && !memcmp(bytes, "SQLite format 3", 16))
		return "is an SQLite database: sqlite3 -csv FILE 'SELECT ...' | ... -F csv -";
	if (n > 2 && !memcmp(bytes, "\x1f\x8b", 2) && !in_codec_of_path(path))
		return "is compressed: name it .gz, or gzip -dc FILE | ... -F text -";
	if (in_path_ends_in(path, ".zip .tar"))
		return "is an archive: unpack it, and give -r its directory";
	if (in_path_ends_in(path, ".npz"))
		return "is an archive of NumPy arrays; unpack it and load its .npy files";
	if (in_path_ends_in(path, ".pdf .docx .odt .parquet"))
		return "contains a NUL byte, so it is no text; doc/use.md has programs that take "
		       "texts out of it";
	if (in_path_ends_in(path, ".doc .xls .xlsx .ods"))
		return "contains a NUL byte, so it is no text; soffice --headless --convert-to "
		       "txt FILE makes one (csv of a table)";
	return "contains a NUL byte, so it is no text; simidx-dedup --binary compares bytes";
}

/* The whole file is one row. A document that cannot be read is one row less, not the end. */
static enum in_result next_text(struct in_reader *reader, struct in_row *row)
{
	const struct in_lines *lines = &reader->lines;
	size_t checked, most;
	struct stat status;
	enum in_result rc;

	if (reader->row > 1)
		return IN_END;
	rc = fill_to(reader, BINARY_CHECK_SIZE);
	if (rc == IN_FATAL || rc == IN_REJECTED)
		return rc;
	checked = lines->end < BINARY_CHECK_SIZE ? lines->end : BINARY_CHECK_SIZE;
	if (checked > 0 && memchr(lines->buffer, '\0', checked))
		return in_fail(reader, IN_SKIPPED, "%s",
			       why_no_text(reader->path, lines->buffer, checked));
	if (reader->names_tell && !fstat(lines->source.fd, &status) && S_ISFIFO(status.st_mode) &&
	    in_look_at(reader->path, reader->format, lines->buffer, lines->end, reader->reason))
		return IN_REJECTED;
	most = in_lines_most(lines, IN_MAX_TEXT);
	rc = expect_all(reader, most);
	if (rc == IN_ROW)
		rc = fill_to(reader, most + 1);
	if (rc == IN_FATAL || rc == IN_REJECTED)
		return rc;
	if (lines->end > most)
		return in_fail_long(reader, "text", IN_MAX_TEXT);
	row->kind = IN_TEXT;
	row->text = lines->end ? lines->buffer : "";
	row->text_size = lines->end;
	row->label = reader->path;
	row->label_size = strlen(reader->path);
	return IN_ROW;
}

const struct in_format in_format_text = { .name = "text", .is_whole = 1, .next = next_text };

/* ---- whether it is one text ---- */

/* Whether a line can be a fingerprint. Where zeros in front are left out, one in 65,536 has lost
 * more than three digits. */
static int is_fingerprint(const char *line, size_t n, unsigned bits)
{
	char reason[128];
	uint64_t fp;

	if (n > 0 && line[n - 1] == '\r')
		n--;
	return n + 3 >= tl_hex_width(bits) &&
	       !tl_parse_fingerprint(line, n, bits, "", &fp, reason, sizeof(reason));
}

enum in_doubt in_doubt_text(const char *path, const struct in_row *row, unsigned bits)
{
	const char *at = row->text, *end = row->text + row->text_size, *newline;
	const struct in_format *named = in_format_of_path(path, NULL);
	int n = 0;

	if (in_path_ends_in(path, ".json"))
		return IN_NAMED_JSON;
	if (named && named != &in_format_text)
		return IN_NAMED_ROWS;
	for (; at < end && n < LINES_LOOKED_AT; at = newline + 1, n++) {
		newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			newline = end;
		if (!is_fingerprint(at, (size_t)(newline - at), bits))
			return IN_NO_DOUBT;
	}
	return n > 0 ? IN_LISTS_FPS : IN_NO_DOUBT;
}

enum in_doubt in_doubt(const struct in_reader *reader, const struct in_row *row, int is_asked)
{
	if (row->kind != IN_TEXT)
		return IN_NO_DOUBT;
	if (!reader->format->is_whole)
		return row->text_size == tl_hex_width(reader->bits) &&
		       is_fingerprint(row->text, row->text_size, reader->bits) ? IN_IS_FP :
										  IN_NO_DOUBT;
	return is_asked || reader->format != &in_format_text ?
		       IN_NO_DOUBT : in_doubt_text(reader->path, row, reader->bits);
}

void in_doubts_tell(struct tl_remark doubts[IN_N_DOUBTS])
{
	static const struct {
		const char *one, *many, *advice;
	} texts[IN_N_DOUBTS] = {
		[IN_NAMED_JSON] = { "file with a name in .json was taken as a text",
				    "files with names in .json were taken as one text each",
				    ": -F jsonl reads an object a line" },
		[IN_NAMED_ROWS] = { "file with the name of rows was taken as a text",
				    "files with names of rows were taken as one text each",
				    ": -F jsonl, csv or tsv reads their rows" },
		[IN_LISTS_FPS] = { "text looks like a list of fingerprints",
				   "texts look like lists of fingerprints",
				   ": -F lines reads one a line" },
		[IN_IS_FP] = { "text is a fingerprint", "texts are fingerprints",
			       ": --fp-field NAME reads them as such" },
	};

	for (int i = IN_NO_DOUBT + 1; i < IN_N_DOUBTS; i++) {
		tl_remark_tell(&doubts[i], texts[i].one, texts[i].many, texts[i].advice);
		free(doubts[i].first);
		doubts[i].first = NULL;
	}
}
