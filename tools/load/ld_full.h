/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Full dumps as inputs (-F full): what their first lines say is what a new index is made like, or
 * what an index that is there must be like; and in the end it gets their next id and their mark.
 */

#ifndef LD_FULL_H
#define LD_FULL_H

#include "input/in_full.h"
#include "load/ld_target.h"

/** What the first lines say together; all zero before the first one. */
struct ld_full {
	simidx_info info; /* of the first dump; what it points to is owned */
	uint64_t next_id; /* the largest; 0 = none says */
	unsigned char mark[SIMIDX_MAX_MARK]; /* the last one */
	size_t mark_size; /* 0 = there is none */
};

/**
 * A first line has come, and nothing is written yet: the target learns from it what a new index is
 * to be like. One that is there, and what earlier first lines said, must be of the same kind.
 *
 * @param place  of the line, for messages
 * @return 0, or TL_TROUBLE with a message
 */
int ld_full_begin(struct ld_full *full, struct ld_target *target, const struct in_head *head,
		  const char *place);

/**
 * Have the next commit of the writer, or the loader, keep the ids back that were once in use in
 * what was dumped. Nothing happens where no first line has told any.
 *
 * @return as simidx_writer_reserve_ids()
 */
int ld_full_reserve(const struct ld_full *full, struct ld_target *target, simidx_error *err);

/** Free what it owns. */
void ld_full_free(struct ld_full *full);

#endif /* LD_FULL_H */
