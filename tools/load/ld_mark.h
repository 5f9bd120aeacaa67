/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How far an input has been stored: kept in the index with each commit, for --resume.
 */

#ifndef LD_MARK_H
#define LD_MARK_H

#include <simidx_load.h>

#include "load/ld_target.h"

/** Number of inputs that are done when all are. */
#define LD_MARK_COMPLETE UINT64_MAX

/** A place in the inputs: what is before it is stored or was rejected. */
struct ld_mark {
	uint64_t digest; /* of what the inputs are and how they are read */
	uint64_t files;  /* inputs that are done */
	uint64_t rows;   /* and rows of the next one */
	uint64_t total;  /* rows of all inputs */
};

/** What the inputs are and how they are read, in one number. */
int ld_mark_digest(const struct ld_options *options, unsigned bits, uint64_t *digest);

/**
 * Have the next commit of the writer store a mark, or the index of the loader if that is not
 * NULL. Returns 0, or TL_TROUBLE with a message.
 */
int ld_mark_set(const struct ld_options *options, simidx_writer *writer, simidx_loader *loader,
		const struct ld_mark *mark);

/**
 * Read the mark of the index that is open, which must be one of these inputs.
 *
 * @return 0, or TL_TROUBLE with a message
 */
int ld_mark_get(struct ld_target *target, struct ld_mark *mark);

#endif /* LD_MARK_H */
