/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Groups of near documents: gathered while documents are decided, and printed in the end, each with
 * the one that stays first. Which that is dd_best.h says.
 */

#ifndef DD_GROUPS_H
#define DD_GROUPS_H

#include "dedup/dd_best.h"
#include "dedup/dd_evidence.h"
#include "dedup/dd_lines.h"

/** What is counted while documents are decided, and when groups are printed. */
struct dd_counts {
	uint64_t near;    /* documents that are near to others; with --pairs the pairs */
	uint64_t known;   /* documents that the index has by their own labels; not in `near` */
	uint64_t spared;  /* near to others, and kept as --max-group says */
	uint64_t bytes;   /* of texts that are left out or could go */
	uint64_t same_bytes; /* of these, of texts that have the bytes of what stays */
	int is_least;     /* others may have them, too: a sketch or fingerprints decided */
	uint64_t valueless; /* documents without a value for --keep */
	uint64_t unread;  /* that stay near to the first, as they cannot be compared again */
	uint64_t unnamed; /* of `near`: to one of an earlier run, and neither has a label */
	/* documents left out of --drop-list, as fingerprints alone have decided */
	uint64_t trusted;
	uint64_t groups;
	uint64_t changed; /* files that have changed since they were read */
	uint64_t broken;  /* names left out of --drop-list, as they would be two, or another row */
};

/** Zero but for the first four: none yet. Others look at these, and after printing at the last. */
struct dd_groups {
	const struct dd_work *work;
	struct dd_evidence *evidence; /* NULL: none is written */
	struct dd_labels *labels;     /* of all rows, for --drop-list */
	struct dd_counts *counts;     /* of all that is decided */
	struct in_room members;     /* struct dd_member: near to rows; number 0 is unused */
	struct in_room others;      /* the same, near to documents of other indexes */
	size_t n_members, n_others;
	uint8_t *state;             /* of each file: 1 + enum dd_state; 0 = not yet looked at */
	struct in_room label[2];    /* of what stays and of what goes */
	struct dd_best best;        /* while it is decided again */
	struct dd_lines lines;
	struct dd_texts texts;      /* for what is told of the largest */
	struct dd_large large[DD_MOST_LARGE]; /* the largest that were printed, the largest first */
	size_t n_large;
};

/** Count a text that is left out or can go. */
void dd_groups_count(struct dd_counts *counts, double similarity, unsigned flags, uint64_t size);

/** Free what they hold, after what decides is closed. */
void dd_groups_free(struct dd_groups *groups);

/**
 * A document is near to one that is kept, or to one of another index.
 *
 * @param may_read_text  it may be looked at again, if --keep, --identical or --evidence-texts asks
 *                       for it
 * @return 0, or TL_TROUBLE with a message
 */
int dd_groups_add(struct dd_groups *groups, const simidx_dedup_near *near,
		  const simidx_dedup_row *row, int may_read_text);

/** Bytes that one such document needs, printing included. */
size_t dd_groups_bytes(void);

/**
 * Print all groups, once, when all is decided, and write evidence of them. What has changed since
 * it was read is left out, with a message.
 *
 * @param memory  bytes for the work
 * @return 0 or an exit code
 */
int dd_groups_print(struct dd_groups *groups, uint64_t memory);

#endif /* DD_GROUPS_H */
