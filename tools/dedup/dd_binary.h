/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Files that are no texts, for --binary: which of them have the same bytes. They are noted while
 * inputs are read. When all is decided, those of one size are hashed, and those of one hash are
 * compared byte by byte. So a file whose size no other has is not read again.
 *
 * Memory: dd_binary_bytes() a file.
 */

#ifndef DD_BINARY_H
#define DD_BINARY_H

#include "dedup/dd_output.h"
#include "dedup/dd_report.h"

/** Zero but for the first two: none yet. */
struct dd_binary {
	const struct dd_work *work;
	struct dd_report *report; /* of what cannot be read again, and what is counted */
	struct in_room ones;      /* they */
	size_t n, n_read;         /* files, and those that were read again */
	unsigned char *block[2];
	double shown;             /* when progress was */
};

/** Free what it holds. */
void dd_binary_free(struct dd_binary *binary);

/** The most that is needed for a file until the end, besides what dd_output_bytes() says. */
size_t dd_binary_bytes(void);

/**
 * Note a file. Its format is none that anybody can read from now on.
 *
 * @param file    a regular file, as it was met
 * @param number  among all documents
 * @return 0, or TL_TROUBLE with a message
 */
int dd_binary_add(struct dd_binary *binary, uint32_t file, uint64_t number);

/**
 * Find those of the same bytes, and hand each set of them to the output as a group: to be called
 * once, when all other documents are decided. What cannot be read again or has changed is rejected,
 * and is in no group.
 *
 * @return 0, or an exit code with a message
 */
int dd_binary_find(struct dd_binary *binary, struct dd_output *output);

#endif /* DD_BINARY_H */
