/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The texts of rows that are kept, to be had again when a later row looks like one of them. Nothing
 * of a text stays in memory: the caller reads it again from its place, or, where it has none, it
 * comes from a temporary file (sd_spill.h).
 *
 * Thread rules: while a text is kept, nobody gets one; otherwise any number of threads, each with
 * its own sd_texts_reader, may. Memory: SIMIDX_DEDUP_BYTES a text, and the sketches of long ones.
 */

#ifndef SD_TEXTS_H
#define SD_TEXTS_H

#include <simidx_dedup.h>

struct sd_texts;
struct sd_texts_reader;

/**
 * Begin.
 *
 * @param options  of them, tmpdir, spill_bytes and calls are used; borrowed
 * @return NULL when memory is short
 */
struct sd_texts *sd_texts_open(const simidx_dedup_options *options);

/** End; readers are closed before. NULL is allowed. */
void sd_texts_close(struct sd_texts *texts);

/**
 * Keep a text. Where it cannot be put aside that is no failure: sd_texts_problem() tells.
 *
 * @param row     of it, text and place are used
 * @param handle  set to the number of texts kept before
 * @return SIMIDX_OK; SIMIDX_E_NOMEM
 */
int sd_texts_keep(struct sd_texts *texts, const simidx_dedup_row *row, uint64_t *handle,
		  simidx_error *err);

/**
 * Remember the sketch of the text that was kept last, for when there is no memory for the text
 * itself.
 *
 * @param note  `size` bytes, a note (sd_note.h)
 * @return SIMIDX_OK; SIMIDX_E_NOMEM
 */
int sd_texts_keep_sketch(struct sd_texts *texts, const void *note, size_t size,
			 simidx_error *err);

/** Such a note, or NULL: there is none. Valid until a text is kept. */
const void *sd_texts_sketch(const struct sd_texts_reader *reader, uint64_t handle, size_t *size);

/** Bytes of memory that a text takes while it is there. */
uint64_t sd_texts_bytes(const struct sd_texts_reader *reader, uint64_t handle);

/** About how long a text is: the bytes of its place or, put aside, its own. */
uint64_t sd_texts_size(const struct sd_texts_reader *reader, uint64_t handle);

/** Why texts were not put aside; NULL = all were. */
const char *sd_texts_problem(const struct sd_texts *texts);

/** What a thread needs to get texts; `number` is its number for the caller. NULL when memory is
 * short. */
struct sd_texts_reader *sd_texts_reader_open(struct sd_texts *texts, unsigned number);

/** NULL is allowed. */
void sd_texts_reader_close(struct sd_texts_reader *reader);

/**
 * A text again.
 *
 * @param handle  of sd_texts_keep()
 * @param utf8    set to it; valid until the next call with this reader
 * @param size    set to its size in bytes
 * @return SIMIDX_OK; SIMIDX_E_NOT_FOUND: it is not there any more, or was not put aside, and then
 *         *size is 0; SIMIDX_E_NOMEM; what calls.read_text() returns
 *
 * Cost: that of calls.read_text(); of the temporary file, a read and decompression.
 */
int sd_texts_get(struct sd_texts_reader *reader, uint64_t handle, const char **utf8, size_t *size,
		 simidx_error *err);

/** How often another text was in its place, and how often the temporary file could not be read. */
void sd_texts_count(const struct sd_texts_reader *reader, uint64_t *changed, uint64_t *unread);

#endif /* SD_TEXTS_H */
