/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Which documents of a group stay, and for which of them each other one goes. A group is the row
 * that was kept when it was decided, its first, and those that are near to it. The best by --keep
 * and --prefer stays, and what is near to it goes. The rest is judged in the same way among itself.
 * So each document that goes is near to the one that stays for it.
 *
 * How similar all are to the first is known. Texts are read and compared again only where that says
 * nothing: where neither of the two has the bytes of the first.
 */

#ifndef DD_JUDGE_H
#define DD_JUDGE_H

#include "dedup/dd_facts.h"
#include "dedup/dd_texts.h"

/** A document of a group. */
struct dd_member {
	uint64_t keeper;   /* the handle of the first, or the id in the other index; after judging a
			      number for all that go for one, or DD_ALONE */
	double similarity; /* to the first; after judging to the one that stays for it */
	uint64_t key;      /* dd_keep_key() */
	uint64_t fact;     /* where what is known of it was put aside; in the order of rows */
	uint32_t file;
	unsigned flags : 2;       /* as simidx_dedup_near.flags */
	unsigned is_keeper : 1;   /* it stays */
	unsigned is_as_first : 1; /* the first, or of the same bytes */
	unsigned other : 8;       /* number of the index of the first, from 1; 0: it is a row */
	unsigned rank : 8;        /* dd_keep_rank() */
};

/** For dd_member.keeper: it stays, and nothing goes for it. */
#define DD_ALONE UINT64_MAX

/** What judges. */
struct dd_judge {
	const struct dd_options *options;
	struct dd_files *files;
	struct dd_facts *facts;
	struct dd_texts *texts;
	simidx_dedup *dedup;
	uint64_t n_unread; /* documents that go for the first, as their texts are gone */
};

/** Each of a group goes for the first, which is group[0]. */
void dd_judge_none(struct dd_member *group, size_t n);

/**
 * Judge a group of texts.
 *
 * @param group  the first, then the others; in another order afterwards
 * @return 0, or TL_TROUBLE with a message
 */
int dd_judge_group(struct dd_judge *judge, struct dd_member *group, size_t n);

#endif /* DD_JUDGE_H */
