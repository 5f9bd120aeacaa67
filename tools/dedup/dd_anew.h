/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Rows are decided a second time, in another order: by the library, with an index of their own.
 */

#ifndef DD_ANEW_H
#define DD_ANEW_H

#include "dedup/dd_member.h"
#include "dedup/dd_texts.h"

/** What it is done with. */
struct dd_anew {
	const struct dd_work *work;
	struct dd_texts *texts;
	uint64_t memory;        /* bytes, for this alone */
	struct dd_member *table; /* of all members */
	uint64_t n_unread;      /* set to how many rows could not be compared again */
};

/**
 * Decide about members, the first of which comes first. One that stays gets is_keeper and its own
 * number in the table as keeper, another one the number of that for which it goes, with similarity
 * and flags. One that cannot be compared gets is_told and no keeper.
 *
 * @param order  `n` of them; used up
 * @return 0 or an exit code, with a message
 */
int dd_anew_decide(struct dd_anew *anew, struct dd_member **order, size_t n);

/** If it is time for it, show that so many documents of groups were ... `what`. */
void dd_anew_progress(double *shown, uint64_t n, const char *what);

/** Bytes of memory that one that stays needs. */
#define DD_ANEW_BYTES SIMIDX_DEDUP_BYTES

#endif /* DD_ANEW_H */
