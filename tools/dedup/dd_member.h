/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A document of a group. A group is the row that was kept when it was decided, its first, and those
 * that were left out for it. It is a stretch of a table: its head, the best of those that have the
 * bytes of the first, stands before the others, and decides for all of these.
 */

#ifndef DD_MEMBER_H
#define DD_MEMBER_H

#include <simidx_dedup.h>

struct dd_member {
	uint64_t keeper;   /* the handle of the first, or the id in the other index; in the end the
			      same number for one that stays and all that go for it */
	union {
		double similarity; /* to the first; then to the one that stays for it */
		uint64_t hash; /* while equal ones are looked for */
	};
	uint64_t key;      /* dd_keep_key(); once all are in order the handle of the first */
	uint64_t fact;     /* where what is known of it was put aside; in the order of rows */
	uint32_t file;
	unsigned flags : 2;       /* as simidx_dedup_near.flags */
	unsigned is_keeper : 1;   /* it stays */
	unsigned is_first : 1;    /* of its group */
	unsigned is_as_first : 1; /* the same, or it has its bytes */
	unsigned is_told : 1;     /* it goes for the head, as was decided first, if that stays */
	unsigned is_head : 1;     /* of its group, about which the next four say more */
	unsigned is_wanted : 1;   /* it is decided again */
	unsigned is_asked : 1;    /* what else its members are near to was asked */
	unsigned is_fixed : 1;    /* the head stays, whatever --keep says */
	unsigned is_lost : 1;     /* its text is not there any more */
	unsigned rank : 8;        /* dd_keep_rank() */
	unsigned other : 8;       /* number of the index of the first, from 1; 0: it is a row */
};

/** It stays, and is called so by those that go for it. */
static inline void dd_member_stay(struct dd_member *member, uint64_t number)
{
	member->is_keeper = 1;
	member->keeper = number;
	member->similarity = 1;
	member->flags = SIMIDX_DEDUP_EQUAL;
}

/** For dd_texts_get(): what has the text of a member, once all are in order. */
static inline simidx_dedup_near dd_member_first(const struct dd_member *member)
{
	return (simidx_dedup_near){ .keeper = member->key };
}

#endif /* DD_MEMBER_H */
