/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_codec.h"

#include "common/tl_others.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

/* ---- gzip ---- */

/* Two magic bytes, the only method, and flags of which three are never set. */
static enum in_magic check_gzip(const unsigned char *bytes, size_t n)
{
	if ((n > 0 && bytes[0] != 0x1f) || (n > 1 && bytes[1] != 0x8b) ||
	    (n > 2 && bytes[2] != 8) || (n > 3 && bytes[3] >= 0x20))
		return IN_MAGIC_NO;
	return n < 4 ? IN_MAGIC_MORE : IN_MAGIC_YES;
}

#ifndef HAVE_ZLIB

static const struct in_codec gzip_codec = { "gzip", ".gz", check_gzip, NULL, NULL, NULL, NULL };

#else

/* The largest window, and only the gzip format. */
#define GZIP_WINDOW (15 + 16)

struct gzip {
	z_stream stream;
	int in_member; /* between members the file may end */
	int has_ended; /* a member has */
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
	gzip->in_member = gzip->has_ended = 0;
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
	unsigned n_in, n_out = clamp(step->out_size);
	int rc;

	/* Tapes and some tools fill up a block with zeros after the last member. */
	while (!gzip->in_member && gzip->has_ended && step->in_size && !*step->in) {
		step->in++;
		step->in_size--;
	}
	n_in = clamp(step->in_size);

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
	if (rc == Z_STREAM_END) {
		gzip->in_member = 0;
		gzip->has_ended = 1;
	}
	step->at_end = !gzip->in_member;
	if (rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR)
		return 0;
	if (rc != Z_MEM_ERROR)
		step->problem = stream->msg ? stream->msg : zError(rc);
	return -1;
}

static unsigned char *pack_gzip(const void *bytes, size_t n, size_t *packed)
{
	z_stream stream = { .next_in = (unsigned char *)bytes, .avail_in = clamp(n) };
	unsigned char *out = NULL;
	size_t room;

	if (n > UINT_MAX / 2 || deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
					     GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	room = deflateBound(&stream, n);
	out = malloc(room);
	stream.next_out = out;
	stream.avail_out = clamp(room);
	/* There is room for all, so one call ends it. */
	if (out && deflate(&stream, Z_FINISH) != Z_STREAM_END) {
		free(out);
		out = NULL;
	}
	*packed = room - stream.avail_out;
	deflateEnd(&stream);
	return out;
}

static const struct in_codec gzip_codec = { "gzip",     ".gz",     check_gzip, begin_gzip,
					step_gzip,  free_gzip, pack_gzip };

#endif

/* ---- zstd ---- */

/* A frame, or one of the sixteen kinds of frames to be passed over, as pzstd begins a file. */
static enum in_magic check_zstd(const unsigned char *bytes, size_t n)
{
	static const unsigned char frame[] = { 0x28, 0xb5, 0x2f, 0xfd };
	static const unsigned char skippable[] = { 0x50, 0x2a, 0x4d, 0x18 };
	int is_frame = 1, is_skippable = 1;
	size_t i;

	for (i = 0; i < n && i < sizeof(frame); i++) {
		is_frame &= bytes[i] == frame[i];
		is_skippable &= (i == 0 ? bytes[i] & 0xf0 : bytes[i]) == skippable[i];
	}
	if (!is_frame && !is_skippable)
		return IN_MAGIC_NO;
	return n < sizeof(frame) ? IN_MAGIC_MORE : IN_MAGIC_YES;
}

#ifndef HAVE_ZSTD

static const struct in_codec zstd_codec = { "zstd", ".zst", check_zstd, NULL, NULL, NULL, NULL };

#else

static void free_zstd(void *state)
{
	ZSTD_freeDStream(state);
}

static int begin_zstd(void **state)
{
	if (!*state)
		*state = ZSTD_createDStream();
	return !*state || ZSTD_isError(ZSTD_initDStream(*state)) ? -1 : 0;
}

static int step_zstd(void *state, struct in_step *step)
{
	ZSTD_inBuffer in = { step->in, step->in_size, 0 };
	ZSTD_outBuffer out = { step->out, step->out_size, 0 };
	size_t rc = ZSTD_decompressStream(state, &out, &in);

	step->in += in.pos;
	step->in_size -= in.pos;
	step->out += out.pos;
	step->out_size -= out.pos;
	if (ZSTD_isError(rc)) {
		if (ZSTD_getErrorCode(rc) != ZSTD_error_memory_allocation)
			step->problem = ZSTD_getErrorName(rc);
		return -1;
	}
	/* A call without bytes between two frames does not end a frame again. */
	if (in.pos > 0 || out.pos > 0)
		step->at_end = rc == 0;
	return 0;
}

static unsigned char *pack_zstd(const void *bytes, size_t n, size_t *packed)
{
	size_t room = ZSTD_compressBound(n);
	unsigned char *out = malloc(room);

	*packed = out ? ZSTD_compress(out, room, bytes, n, ZSTD_CLEVEL_DEFAULT) : 0;
	if (!ZSTD_isError(*packed))
		return out;
	free(out);
	return NULL;
}

static const struct in_codec zstd_codec = { "zstd",     ".zst",    check_zstd, begin_zstd,
					step_zstd,  free_zstd, pack_zstd };

#endif

/* ---- all ---- */

const struct in_codec *const in_codecs[IN_N_CODECS + 1] = { &gzip_codec, &zstd_codec,
								   NULL };

const struct in_codec *in_codec_of_path(const char *path)
{
	size_t n = strlen(path), m, i;

	for (i = 0; in_codecs[i]; i++) {
		m = strlen(in_codecs[i]->suffix);
		if (n > m && strcmp(path + n - m, in_codecs[i]->suffix) == 0)
			return in_codecs[i];
	}
	return NULL;
}

const char *in_codec_misleads(const char *path, int may_pack)
{
	const char *dot = may_pack && in_codec_of_path(path) ? NULL : strrchr(path, '.');

	if (!dot || !tl_others_list("gz gzip zst zstd bz2 xz lzma lz4 br z zip 7z", dot))
		return NULL;
	return may_pack ? "only names that end in .gz or .zst are compressed" :
			  "this file is not compressed, so its name may not end so";
}

const char *in_codec_missing(const struct in_codec *codec)
{
	if (codec->begin)
		return NULL;
	return codec == &gzip_codec ? "compressed by gzip, and this program was built "
					 "without zlib" :
					 "compressed by zstd, and this program was built "
					 "without libzstd";
}
