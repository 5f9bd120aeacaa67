/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_codec.h"

/* Two magic bytes, the only method, and flags of which three are never set. */
static enum in_magic check_gzip(const unsigned char *bytes, size_t n)
{
	if ((n > 0 && bytes[0] != 0x1f) || (n > 1 && bytes[1] != 0x8b) ||
	    (n > 2 && bytes[2] != 8) || (n > 3 && bytes[3] >= 0x20))
		return IN_MAGIC_NO;
	return n < 4 ? IN_MAGIC_MORE : IN_MAGIC_YES;
}

#ifndef HAVE_ZLIB

const struct in_codec in_codec_gzip = { "gzip", ".gz", check_gzip, NULL, NULL, NULL };

#else

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

/* The largest window, and only the gzip format. */
#define GZIP_WINDOW (15 + 16)

struct gzip {
	z_stream stream;
	int in_member; /* between members the file may end */
};

static void free_gzip(void *state)
{
	struct gzip *gzip = state;

	if (gzip)
		inflateEnd(&gzip->stream);
	free(gzip);
}

static int begin_gzip(void **state)
{
	struct gzip *gzip = *state;

	if (!gzip) {
		gzip = calloc(1, sizeof(*gzip));
		if (!gzip)
			return -1;
		if (inflateInit2(&gzip->stream, GZIP_WINDOW) != Z_OK) {
			free(gzip);
			return -1;
		}
		*state = gzip;
	}
	gzip->in_member = 0;
	return 0;
}

static unsigned clamp(size_t size)
{
	return size < UINT_MAX ? (unsigned)size : UINT_MAX;
}

static int step_gzip(void *state, struct in_step *step)
{
	struct gzip *gzip = state;
	z_stream *stream = &gzip->stream;
	unsigned n_in = clamp(step->in_size), n_out = clamp(step->out_size);
	int rc;

	step->at_end = !gzip->in_member && n_in == 0;
	if (step->at_end)
		return 0;
	if (!gzip->in_member)
		inflateReset(stream);
	gzip->in_member = 1;
	stream->next_in = (unsigned char *)step->in;
	stream->avail_in = n_in;
	stream->next_out = step->out;
	stream->avail_out = n_out;
	rc = inflate(stream, Z_NO_FLUSH);
	step->in += n_in - stream->avail_in;
	step->in_size -= n_in - stream->avail_in;
	step->out += n_out - stream->avail_out;
	step->out_size -= n_out - stream->avail_out;
	if (rc == Z_STREAM_END)
		gzip->in_member = 0;
	step->at_end = !gzip->in_member;
	if (rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR)
		return 0;
	step->problem = stream->msg ? stream->msg : zError(rc);
	return -1;
}

const struct in_codec in_codec_gzip = { "gzip",     ".gz",     check_gzip,
					begin_gzip, step_gzip, free_gzip };

#endif
