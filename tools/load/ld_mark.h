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

/** Most names of inputs that a mark keeps. */
#define LD_MARK_NAMES 64

/** A place in the inputs: what is before it is stored or was rejected. */
struct ld_mark {
	uint64_t digest; /* of what the inputs are and how they are read */
	uint64_t files;  /* inputs that are done */
	uint64_t rows;   /* rows of the next input that are done */
	uint64_t total;  /* rows of all inputs */
	size_t n_names;  /* of inputs; 0 = they are not known: too many, or standard input */
	uint64_t name[LD_MARK_NAMES]; /* hashes */
};

/**
 * The mark of a load of these inputs that has not begun. Returns 0, or TL_TROUBLE with a message.
 */
int ld_mark_begin(const struct ld_options *options, unsigned bits, struct ld_mark *mark);

/** Of an index that simidx-dedup keeps: what it is that this load does not do. */
void ld_mark_tell_dedup(struct ld_target *target);

/**
 * Have the next commit of the writer store a mark, or the index of the loader if that is not
 * NULL. Returns 0, or TL_TROUBLE with a message.
 */
int ld_mark_set(const struct ld_options *options, simidx_writer *writer, simidx_loader *loader,
		const struct ld_mark *mark);

/**
 * Read the mark of the index that is open: where a load of these inputs is to go on. It begins when
 * the index has no mark, or that of a load that came to its end and had none of these inputs: then
 * the one that was interrupted had not stored anything yet.
 *
 * @return 0, or TL_TROUBLE with a message
 */
int ld_mark_get(struct ld_target *target, struct ld_mark *mark);

/**
 * Begin the first transaction that stores something, and look whether the load still is to go on
 * where ld_mark_get() has said. Returns 0, or TL_TROUBLE with a message.
 *
 * @param failure  set to the code of beginning
 */
int ld_mark_check(struct ld_target *target, const struct ld_mark *start, int *failure);

#endif /* LD_MARK_H */
