/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_sink.h"

#include "common/tl_emit.h"
#include "common/tl_msg.h"
#include "common/tl_output.h"
#include "common/tl_path.h"
#include "common/tl_report.h"
#include "input/in_codec.h"
#include "input/in_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* With more bytes than this lines do not wait for the commit. */
#define MOST_WAITING ((size_t)1 << 20)

#define REASON_SIZE 512

struct dd_sink {
	const char *path;             /* NULL: standard output */
	const struct in_codec *codec; /* NULL: it is not compressed */
	FILE *file;
	int is_in_directory;          /* the directory that has it was synced */
	FILE *lines;                  /* in memory, of a compressed file; NULL: none wait */
	char *waiting;
	size_t n_waiting;
};

struct dd_sink *dd_sink_open(const char *path)
{
	struct dd_sink *sink = tl_alloc(sizeof(*sink));

	if (!sink)
		return NULL;
	sink->path = path;
	sink->codec = path ? in_codec_of_path(path) : NULL;
	sink->file = path ? fopen(path, "ae") : stdout;
	if (sink->file)
		return sink;
	tl_error("%s: cannot write: %s%s", path, strerror(errno), tl_report_advise(errno));
	free(sink);
	return NULL;
}

void dd_sink_close(struct dd_sink *sink)
{
	if (!sink)
		return;
	if (sink->lines)
		fclose(sink->lines);
	free(sink->waiting);
	if (sink->path)
		fclose(sink->file);
	free(sink);
}

int dd_sink_fd(const struct dd_sink *sink)
{
	return fileno(sink->file);
}

/* ---- what is there ---- */

static int cut(const struct dd_sink *sink, off_t committed)
{
	struct stat status;

	if (committed < 0 || fstat(dd_sink_fd(sink), &status) || status.st_size <= committed)
		return 0;
	return ftruncate(dd_sink_fd(sink), committed) ?
		       tl_error("%s: cannot remove what was not committed: %s", sink->path,
				strerror(errno)) :
		       0;
}

/*
 * Whether what is there can be read to its end: what is written behind it can be, too. Returns 0,
 * and that in *is_whole, with a reason if not; or TL_TROUBLE with a message.
 */
static int check_end(const struct dd_sink *sink, int *is_whole, char reason[REASON_SIZE])
{
	struct in_source source = { .fd = -1 };
	char buffer[16384];
	enum in_result result;
	size_t got;
	int fd = open(sink->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), code = 0, is_other;
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		code = tl_error("%s: cannot read: %s", sink->path, strerror(errno));
	if (!code && S_ISREG(status.st_mode) && status.st_size) {
		in_source_begin(&source, fd);
		while ((result = in_source_read(&source, buffer, sizeof(buffer), &got)) == IN_ROW)
			;
		is_other = source.codec != sink->codec;
		*is_whole = result == IN_END && !is_other;
		snprintf(reason, REASON_SIZE, "%s",
			 is_other ? "it is not compressed as its name says" : source.reason);
	}
	in_source_free(&source);
	if (fd >= 0)
		close(fd);
	return code;
}

int dd_sink_begin(struct dd_sink *sink, char end, off_t killed_from)
{
	char reason[REASON_SIZE] = "";
	int is_whole = 1, code;

	if (!sink->codec) {
		tl_emit_begin(sink->file, end, killed_from);
		return 0;
	}
	code = check_end(sink, &is_whole, reason);
	/* Behind half a member there is nothing that anybody could read. */
	if (!code && !is_whole && killed_from >= 0) {
		code = cut(sink, killed_from);
		is_whole = 1;
		if (!code)
			code = check_end(sink, &is_whole, reason);
	}
	return code || is_whole ? code :
				  tl_error("%s: is not whole (%s), so nothing can be added: remove "
					   "it, or name another file", sink->path, reason);
}

/* ---- writing ---- */

/* At once: a later write may find a little room again. Others look at standard output. */
static int check_write(const struct dd_sink *sink)
{
	return sink->path && ferror(sink->file) ?
		       tl_error("%s: cannot write: %s", sink->path, strerror(errno)) :
		       0;
}

/* Make a member or frame of the lines that wait, which may be none. */
static int pack(struct dd_sink *sink)
{
	unsigned char *packed;
	size_t n;
	int failed = sink->lines && fclose(sink->lines);

	sink->lines = NULL;
	packed = failed ? NULL : sink->codec->pack(sink->n_waiting ? sink->waiting : "",
						   sink->n_waiting, &n);
	failed = packed ? 0 : tl_error("out of memory");
	if (!failed && fwrite(packed, 1, n, sink->file) != n)
		failed = check_write(sink);
	free(packed);
	free(sink->waiting);
	sink->waiting = NULL;
	sink->n_waiting = 0;
	return failed;
}

FILE *dd_sink_out(struct dd_sink *sink)
{
	if (!sink->codec)
		return sink->file;
	if (!sink->lines)
		sink->lines = open_memstream(&sink->waiting, &sink->n_waiting);
	if (!sink->lines)
		tl_error("out of memory");
	return sink->lines;
}

int dd_sink_wrote(struct dd_sink *sink)
{
	if (!sink->lines)
		return check_write(sink);
	return ftello(sink->lines) >= (off_t)MOST_WAITING ? pack(sink) : 0;
}

int dd_sink_put(struct dd_sink *sink, const char *bytes, size_t n)
{
	int code = 0;

	for (size_t part; !code && n; n -= part, bytes += part) {
		FILE *out = dd_sink_out(sink);

		if (!out)
			return TL_TROUBLE;
		part = n < MOST_WAITING ? n : MOST_WAITING;
		fwrite(bytes, 1, part, out);
		code = dd_sink_wrote(sink);
	}
	return code;
}

int dd_sink_commit(struct dd_sink *sink, int is_synced)
{
	struct stat status;
	int code = 0;

	if (sink->codec && (sink->lines ||
			    (!fstat(dd_sink_fd(sink), &status) && !status.st_size)))
		code = pack(sink);
	if (code)
		return code;
	if (is_synced && sink->path && !sink->is_in_directory &&
	    !fstat(dd_sink_fd(sink), &status) && S_ISREG(status.st_mode)) {
		if (tl_path_sync_parent(sink->path))
			return tl_error("%s: cannot sync its directory: %s", sink->path,
					strerror(errno));
		sink->is_in_directory = 1;
	}
	if (is_synced)
		return tl_emit_flush(sink->file, sink->path ? sink->path : "standard output");
	if (!sink->path)
		return fflush(stdout) && tl_output_failed() ? TL_TROUBLE : 0;
	fflush(sink->file);
	return check_write(sink);
}
