/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Where the rows that were handed to a loader came from: it tells of duplicates at the end, by
 * the number of the row, in an order of its own. Rows of neighbouring lines share a record, and the
 * records are kept in temporary files, so a load of a million text files does not keep their names
 * in memory.
 */

#ifndef LD_PLACES_H
#define LD_PLACES_H

#include "load/ld_report.h"

/** The first of rows that come from one line after another. */
struct ld_piece {
	uint64_t row;
	uint64_t line;
	uint64_t path; /* where it is in the file of names */
};

/** Zero but for the first: nothing yet. */
struct ld_places {
	struct ld_report *report;
	FILE *pieces, *paths; /* temporary files */
	uint64_t n_pieces, n_rows, paths_size;
	uint64_t file; /* of the last row */
	struct ld_piece last;
	struct ld_late *late; /* rows that are rejected */
	size_t n_late;        /* that are kept so */
};

/** Free what it holds. */
void ld_places_free(struct ld_places *places);

/**
 * Note the place of the next row; rows are counted from 0.
 *
 * @param file  number of the input, never less than the one before
 * @param line  0: the row is the whole file
 * @return 0, or TL_TROUBLE with a message
 */
int ld_places_add(struct ld_places *places, uint64_t file, const char *path, uint64_t line);

/**
 * The loader has rejected a row as a duplicate: it is kept until rows can be told in the order of
 * the input, and of very many that many at a time.
 */
void ld_places_reject(struct ld_places *places, uint64_t row, const char *reason);

/** Report the rows that are kept, in the order of the input. */
void ld_places_tell(struct ld_places *places);

#endif /* LD_PLACES_H */
