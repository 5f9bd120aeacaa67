/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Which documents of all groups stay, and for which of them each other one goes. Rows were decided
 * in the order of the inputs; now they are decided again, the best by --prefer and --keep first. So
 * each document that goes is near to the one that stays for it, and what stays is not near.
 *
 * Only groups that can come out otherwise are decided again: those with a member that is better
 * than the head, and those whose head is near to a member of such a group, as the library tells.
 * The head of any other group is near to nothing of these, so it stays without being asked.
 *
 * With --identical equal bytes are looked for among all members.
 */

#ifndef DD_BEST_H
#define DD_BEST_H

#include "dedup/dd_keepers.h"
#include "dedup/dd_texts.h"

struct dd_best {
	const struct dd_work *work; /* all is decided */
	struct dd_texts *texts;
	uint64_t memory;        /* bytes for the work */
	struct in_room *table;  /* struct dd_member; number 0 is unused */
	size_t n;               /* numbers below are used */
	uint64_t n_unread;      /* set to how many could not be compared again */
	/* The rest is for dd_best_decide() alone. */
	uint8_t *known;         /* a bit for each kept row: whether it is decided again */
	struct in_room joined;  /* struct dd_member: kept rows that were in no group */
	size_t n_joined, most_joined;
	struct in_room label;   /* of a fact; nobody looks at it */
	size_t n_asked;
	double shown;
};

/**
 * Whether there is memory to decide again about so many members of groups.
 *
 * @param memory  bytes that there are for all
 */
int dd_best_fits(uint64_t memory, size_t n_members, size_t n_groups);

/**
 * Decide. The table has all that was left out for rows, those of a group together. What is put in
 * besides are the firsts of groups and other kept rows. Afterwards those of a number as keeper
 * belong together: it is the place of the fact of the first of them.
 *
 * @return 0 or an exit code, with a message
 */
int dd_best_decide(struct dd_best *best);

/** Of a row that was asked about: what it is near to. As simidx_dedup_calls.decided. */
int dd_best_hear(struct dd_best *best, const simidx_dedup_near *near, size_t n);

/** As simidx_dedup_calls.skips. */
int dd_best_knows(const struct dd_best *best, uint64_t handle);

/** When `dedup` is closed: after an error its threads may still ask. All zero is allowed. */
void dd_best_free(struct dd_best *best);

#endif /* DD_BEST_H */
