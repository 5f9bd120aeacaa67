/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Ways to compress a file. What is read is known by its first bytes; what is written by the name of
 * the file.
 */

#ifndef IN_CODEC_H
#define IN_CODEC_H

#include <stddef.h>

/** One step of decompression: the codec moves all four on. */
struct in_step {
	const unsigned char *in;
	size_t in_size;
	unsigned char *out;
	size_t out_size;
	int at_end;           /* set: the file may end here */
	const char *problem;  /* set when the step fails, but NULL where memory is short */
};

/** What the first bytes of a file say. */
enum in_magic { IN_MAGIC_NO, IN_MAGIC_YES, IN_MAGIC_MORE /* too few to tell */ };

/** A codec. */
struct in_codec {
	const char *name;
	const char *suffix;
	enum in_magic (*check)(const unsigned char *bytes, size_t n);
	/** Get ready for a new file; *state is NULL the first time. NULL = not in this build. */
	int (*begin)(void **state);
	/** Decompress what is there or what there is room for. Returns 0 or -1. */
	int (*step)(void *state, struct in_step *step);
	void (*free)(void *state);
	/**
	 * Compress `n` bytes, at most 2^30, as a member or frame of its own: one after the other
	 * they are a file. NULL = not in this build.
	 *
	 * @param packed  set to the bytes of it
	 * @return it, for free(); NULL: memory is short
	 */
	unsigned char *(*pack)(const void *bytes, size_t n, size_t *packed);
};

/** All of them, ending with NULL. */
#define IN_N_CODECS 2
extern const struct in_codec *const in_codecs[IN_N_CODECS + 1];

/** The codec that a file name stands for, or NULL. */
const struct in_codec *in_codec_of_path(const char *path);

/** What to say when this build lacks a codec, or NULL. */
const char *in_codec_missing(const struct in_codec *codec);

/**
 * What is wrong with the name of a file that is to be written, or NULL: a way to compress that its
 * name says and that will not be used.
 *
 * @param may_pack  whether it is compressed as in_codec_of_path() says
 */
const char *in_codec_misleads(const char *path, int may_pack);

#endif /* IN_CODEC_H */
