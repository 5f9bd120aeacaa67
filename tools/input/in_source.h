/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The bytes of a file descriptor, decompressed on the way if they begin as a compressed file
 * does. Nothing is held but one buffer of compressed bytes.
 */

#ifndef IN_SOURCE_H
#define IN_SOURCE_H

#include "input/in_codec.h"
#include "input/in_row.h"

/** A file being read; buffer and codecs are kept from one file to the next. */
struct in_source {
	int fd;
	int plain;                      /* deliver the bytes as they are */
	int begun;                      /* the first bytes were looked at */
	const struct in_codec *codec;   /* NULL: not compressed */
	void *states[IN_N_CODECS];      /* of in_codecs, or NULL */
	int may_end;                    /* the codec has nothing half done */
	unsigned char *raw;             /* compressed bytes, left: raw[start..end) */
	size_t start;
	size_t end;
	uint64_t bytes;                 /* read from the file */
	int sys_errno;                  /* EINTR when a signal asked to stop, ENOMEM
					 * when memory is short */
	int (*idle)(void *ctx, int fd); /* see in_reader_when_idle(); may be NULL */
	void *idle_ctx;
	char reason[256];               /* behind IN_FATAL */
};

/** Begin with a file; `fd` stays the caller's. */
void in_source_begin(struct in_source *source, int fd);

/** Free what is kept. */
void in_source_free(struct in_source *source);

/**
 * Read on.
 *
 * @param room  bytes that fit into `buffer`, at least 4
 * @param got   set to the bytes that were read, at least 1 with IN_ROW
 * @return IN_ROW; IN_END; IN_FATAL with a reason, from then on always
 */
enum in_result in_source_read(struct in_source *source, char *buffer, size_t room,
			      size_t *got);

/**
 * Memory is short, for this or for what is done with the bytes. Sets the reason and returns
 * IN_FATAL.
 */
enum in_result in_source_lack_memory(struct in_source *source);

/**
 * The beginning of a file, decompressed.
 *
 * @param is_plain  it is not
 * @param room      of `bytes`; a few bytes may stay unused
 * @param n         set to how many there are
 * @return IN_ROW or IN_END, or IN_FATAL if it cannot be read so far
 */
enum in_result in_source_head(const char *path, int is_plain, char *bytes, size_t room, size_t *n);

#endif /* IN_SOURCE_H */
