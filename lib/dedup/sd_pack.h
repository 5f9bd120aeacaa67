/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Texts compressed, each by itself: with zstd, else zlib, else as they are. What a pair of these
 * structs has belongs to one thread.
 */

#ifndef SD_PACK_H
#define SD_PACK_H

#include <stddef.h>

/** What this build compresses with; the numbers stand in notes (doc/format.md). */
enum sd_method { SD_AS_IT_IS = 0, SD_ZSTD = 1, SD_ZLIB = 2 };

/** Begin with zeros. */
struct sd_packer {
	void *codec;
	char *bytes;
	size_t room;
};

struct sd_unpacker {
	void *codec;
	char *text;
	size_t room;
};

/** Of this build. */
enum sd_method sd_pack_method(void);

/**
 * Compress.
 *
 * @param packed  set to what `size` bytes of text became, valid until the next call; the text
 *                itself where that is not longer
 * @param n       set to their number, at most `size`; less than that if they are compressed
 * @return 0; -1 when memory is short
 */
int sd_pack(struct sd_packer *packer, const char *text, size_t size, const char **packed,
	    size_t *n);

/**
 * Have the text again.
 *
 * @param packed  any bytes, compressed by the method of this build
 * @param size    of the text
 * @return the text, valid until the next call; NULL with errno: ENOMEM, or EIO for bytes that are
 *         no such text
 */
const char *sd_unpack(struct sd_unpacker *unpacker, const char *packed, size_t n, size_t size);

/** Free what they hold. */
void sd_packer_free(struct sd_packer *packer);
void sd_unpacker_free(struct sd_unpacker *unpacker);

#endif /* SD_PACK_H */
