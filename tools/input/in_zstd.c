/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_codec.h"

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

const struct in_codec in_codec_zstd = { "zstd", ".zst", check_zstd, NULL, NULL, NULL };

#else

#include <zstd.h>

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
		step->problem = ZSTD_getErrorName(rc);
		return -1;
	}
	/* A call without bytes between two frames does not end a frame again. */
	if (in.pos > 0 || out.pos > 0)
		step->at_end = rc == 0;
	return 0;
}

const struct in_codec in_codec_zstd = { "zstd",     ".zst",    check_zstd,
					begin_zstd, step_zstd, free_zstd };

#endif
