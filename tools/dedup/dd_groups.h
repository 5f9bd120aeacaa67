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

/** What is counted while documents are decided, and when groups are printed. */
struct dd_counts {
	uint64_t near;    /* documents that are near to others; with --pairs the pairs */
	uint64_t known;   /* documents that the index has by their own labels; not in `near` */
	uint64_t spared;  /* near to others, and kept as --max-group says */
	uint64_t bytes;   /* of texts that are left out or could go */
	uint64_t same_bytes; /* of these, of texts that have the bytes of what stays */
	uint64_t valueless; /* documents without a value for --keep */
	uint64_t unread;  /* that stay near to the first, as they cannot be compared again */
	uint64_t unnamed; /* of `near`: to one of an earlier run, and neither has a label */
	/* documents left out of --drop-list, as fingerprints alone have decided */
	uint64_t trusted;
	uint64_t groups;
	uint64_t changed; /* files that have changed since they were read */
	uint64_t broken;  /* names left out of --drop-list, as they would be two, or another row */
};

/** What groups are made with. */
struct dd_groups_parts {
	const struct dd_options *options;
	struct dd_files *files;
	struct dd_facts *facts;
	struct dd_keepers *keepers;
	struct dd_evidence *evidence; /* NULL: none is written */
	struct dd_labels *labels;     /* of all rows, for --drop-list */
	struct dd_counts *counts;     /* of all that is decided */
};

/** None yet. NULL with a message: memory is short. */
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

/** Texts, for what is told of the largest; NULL: no group was printed. */
struct dd_texts *dd_groups_texts(const struct dd_groups *groups);

/** The largest that were printed, the largest first. Returns how many these are. */
size_t dd_groups_largest(const struct dd_groups *groups, struct dd_large out[DD_MOST_LARGE]);

#endif /* DD_GROUPS_H */
