/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Texts that cannot be read a second time from where they came, put aside in a temporary file: each
 * compressed by itself, with zstd, else zlib, else as it is. The file has no name, so it goes away
 * with the process, however that ends.
 *
 * Thread rules: one thread puts; any number of others, each with its own sd_spill_reader, get what
 * was put before. Memory: that of one text; nothing is kept a text.
 */

#ifndef SD_SPILL_H
#define SD_SPILL_H

#include <stddef.h>
#include <stdint.h>

/** Where a text is in the file. */
struct sd_spilled {
	uint64_t offset;
	uint32_t stored; /* bytes there */
	uint32_t size;   /* bytes of the text; the same number if it is stored as it is */
};

struct sd_spill;
struct sd_spill_reader;

/**
 * Begin. The file is made with the first text.
 *
 * @param dir    where; must live as long
 * @param limit  bytes of the file at most; UINT64_MAX = a tenth of what is free there then
 * @return NULL when memory is short
 */
struct sd_spill *sd_spill_new(const char *dir, uint64_t limit);

/** End; the room of the file is free again. NULL is allowed. */
void sd_spill_free(struct sd_spill *spill);

/**
 * Put a text.
 *
 * @param size  at most 2^30
 * @return 0; -1 when it is not there afterwards: sd_spill_problem() tells why
 *
 * Cost: that of compression, and of a call of the system.
 */
int sd_spill_put(struct sd_spill *spill, const char *text, size_t size,
		 struct sd_spilled *where);

/** Why texts are missing, for the thread that puts: one line for a message; NULL = none is. */
const char *sd_spill_problem(const struct sd_spill *spill);

/** What a thread needs to get texts. NULL when memory is short. */
struct sd_spill_reader *sd_spill_reader_new(const struct sd_spill *spill);

/** Free. NULL is allowed. */
void sd_spill_reader_free(struct sd_spill_reader *reader);

/**
 * Get a text.
 *
 * @param text  set to it, `where->size` bytes; valid until the next call with this reader
 * @return 0; -1 when it cannot be read or memory is short, which errno tells (EIO for bytes that
 *         are not what was put)
 */
int sd_spill_get(struct sd_spill_reader *reader, const struct sd_spilled *where,
		 const char **text);

#endif /* SD_SPILL_H */
