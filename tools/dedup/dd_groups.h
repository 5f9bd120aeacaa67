/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Groups of near documents: gathered while documents are decided, and printed in the end, each with
 * the one that stays first. Which that is dd_best.h says.
 */

#ifndef DD_GROUPS_H
#define DD_GROUPS_H

#include "dedup/dd_evidence.h"
#include "dedup/dd_facts.h"
#include "dedup/dd_files.h"
#include "dedup/dd_options.h"

#include <simidx_dedup.h>

#include "dedup/dd_against.h"
#include "dedup/dd_keepers.h"
#include "dedup/dd_labels.h"

struct dd_groups;

/** What groups are made with. */
struct dd_groups_parts {
	const struct dd_options *options;
	struct dd_files *files;
	struct dd_facts *facts;
	struct dd_keepers *keepers;
	struct dd_evidence *evidence; /* NULL: none is written */
	struct dd_labels *labels;     /* of all rows, for --drop-list */
};

/** None yet. NULL when memory is short. */
struct dd_groups *dd_groups_new(const struct dd_groups_parts *parts);

/** Free, after what decides is closed. NULL is allowed. */
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
 * Print all groups, once, and write evidence of them. What has changed since it was read is left
 * out, with a message.
 *
 * @param against  the other indexes; NULL if there are none
 * @param dedup    that has decided, and adds nothing any more
 * @param dir      for an index in which it is decided again
 * @param memory   bytes for the work
 * @return 0 or an exit code
 */
int dd_groups_print(struct dd_groups *groups, enum simidx_dedup_kind kind,
		    struct dd_against *against, simidx_dedup *dedup, const char *dir,
		    uint64_t memory);

/** Meanwhile `dedup` was asked about a row: as simidx_dedup_calls.decided. */
int dd_groups_hear(struct dd_groups *groups, const simidx_dedup_near *near, size_t n);

/** Whether it need not be compared with a kept row then: as simidx_dedup_calls.skips. */
int dd_groups_skip(const struct dd_groups *groups, uint64_t handle);

/** What was counted while they were printed. */
struct dd_groups_counts {
	uint64_t near;    /* documents in groups that could go */
	uint64_t bytes;   /* of their texts */
	uint64_t same_bytes; /* of those that have the bytes of what stays */
	uint64_t trusted; /* of these not printed, as fingerprints alone have decided */
	uint64_t groups;
	uint64_t unread;  /* that go for the first of a group, as they cannot be compared again */
	uint64_t spared;  /* that stay, as enough go for the one that they are near to */
	uint64_t changed; /* files that have changed since they were read */
	uint64_t broken;  /* names not printed, as they would be two, or name another row */
};

void dd_groups_count(const struct dd_groups *groups, struct dd_groups_counts *counts);

/** Texts, for what is told of the largest; NULL: no group was printed. */
struct dd_texts *dd_groups_texts(const struct dd_groups *groups);

/** The largest that were printed, the largest first. Returns how many these are. */
size_t dd_groups_largest(const struct dd_groups *groups, struct dd_large out[DD_MOST_LARGE]);

#endif /* DD_GROUPS_H */
