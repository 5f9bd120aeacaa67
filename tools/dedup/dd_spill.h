/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Texts that cannot be read a second time from where they came, put aside in a temporary file: each
 * compressed by itself, with zstd, else zlib, else as it is. The file has no name, so it goes away
 * with the process, however that ends.
 *
 * Thread rules: one thread puts; any number of others, each with its own dd_spill_reader, get what
 * was put before. Memory: that of one text; nothing is kept a text.
 */

#ifndef DD_SPILL_H
#define DD_SPILL_H

#include <stddef.h>
#include <stdint.h>

/** Where a text is in the file. */
struct dd_spilled {
	uint64_t offset;
	uint32_t stored; /* bytes there */
	uint32_t size;   /* bytes of the text; the same number if it is stored as it is */
};

struct dd_spill;
struct dd_spill_reader;

/**
 * Begin. The file is made with the first text.
 *
 * @param dir    where; must live as long
 * @param limit  bytes of the file at most; UINT64_MAX = a tenth of what is free there then
 * @return NULL when memory is short
 */
struct dd_spill *dd_spill_new(const char *dir, uint64_t limit);

/** End; the room of the file is free again. NULL is allowed. */
void dd_spill_free(struct dd_spill *spill);

/**
 * Put a text.
 *
 * @param size  at most 2^30
 * @return 0; -1 when it is not there afterwards: dd_spill_problem() tells why
 *
 * Cost: that of compression, and of a call of the system.
 */
int dd_spill_put(struct dd_spill *spill, const char *text, size_t size,
		 struct dd_spilled *where);

/** Why texts are missing, for the thread that puts: one line for a message; NULL = none is. */
const char *dd_spill_problem(const struct dd_spill *spill);

/** What a thread needs to get texts. NULL when memory is short. */
struct dd_spill_reader *dd_spill_reader_new(const struct dd_spill *spill);

/** Free. NULL is allowed. */
void dd_spill_reader_free(struct dd_spill_reader *reader);

/**
 * Get a text.
 *
 * @param text  set to it, `where->size` bytes; valid until the next call with this reader
 * @return 0; -1 when it cannot be read or memory is short, which errno tells (EIO for bytes that
 *         are not what was put)
 */
int dd_spill_get(struct dd_spill_reader *reader, const struct dd_spilled *where,
		 const char **text);

#endif /* DD_SPILL_H */
