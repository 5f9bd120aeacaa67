/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What was seen (sd_seen.h), and to what hashes lead (sd_first.h), in a file beside an index, for
 * the next run that adds to it. The file counts only if it has all that is in the index, so each of
 * its records says in which state of the index that is so (doc/format.md). What a run adds is
 * written before each commit, behind what is there; when that has become larger than the filters,
 * all is written anew. So the file of a run that was killed counts, too.
 *
 * Where the file cannot be written, or another run has it, there is none: the next run searches
 * each text. One user at a time.
 */

#ifndef SD_SEEN_FILE_H
#define SD_SEEN_FILE_H

#include <stdint.h>

#include <simidx.h>

#include "dedup/sd_first.h"
#include "dedup/sd_seen.h"

/** By what a state of an index is known. */
struct sd_seen_state {
	uint64_t puts, next_id; /* as simidx_info has them */
	uint64_t id, fp;        /* of the document that was put last; SIMIDX_NO_ID: of none */
};

/** What a file has, and a run. */
struct sd_known {
	struct sd_seen *seen;
	struct sd_first *first; /* or NULL: then the file is read and written without */
};

struct sd_seen_file;

/**
 * Open the file of an index, or make it where the index is empty, and have what is in it.
 *
 * @param path    in the directory of the index; a file there that is another program's is left as
 *                it is, and one that does not count is removed
 * @param state   of the index; of its id counts only whether it is SIMIDX_NO_ID, for an empty
 *                index
 * @param reader  of the index
 * @param known   with nothing in it
 * @param out     NULL: there is none, and `known` lacks what is in the index
 * @return SIMIDX_OK; SIMIDX_E_NOMEM; what simidx_reader_find_id() returns
 *
 * Cost: reading the file.
 */
int sd_seen_file_open(const char *path, const struct sd_seen_state *state,
		      simidx_reader *reader, const struct sd_known *known,
		      struct sd_seen_file **out, simidx_error *err);

/** End; the file stays. NULL is allowed. */
void sd_seen_file_close(struct sd_seen_file *file);

/** End, as the file will not count any more, and remove it. NULL is allowed. */
void sd_seen_file_drop(struct sd_seen_file *file);

/**
 * Note n hashes of a document that is put.
 *
 * @return SIMIDX_OK; SIMIDX_E_NOMEM
 */
int sd_seen_file_add(struct sd_seen_file *file, const uint64_t *hash, size_t n, simidx_error *err);

/**
 * Before a commit: write what was noted and what has changed in known->first, and have it on the
 * disk.
 *
 * @param known  has all of the index, and may have more
 * @param state  of the index after the commit; where puts and next_id are as before, no document
 *               is put, and the one that was put last stays
 * @return 0; -1: the file cannot be written, or memory is short, and it is to be dropped
 *
 * Cost: a sync; now and then, all is written.
 */
int sd_seen_file_write(struct sd_seen_file *file, const struct sd_known *known,
		       const struct sd_seen_state *state);

#endif /* SD_SEEN_FILE_H */
