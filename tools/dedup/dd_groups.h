/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Groups of near documents: gathered while documents are decided, and printed in the end, each with
 * the one that is kept first.
 */

#ifndef DD_GROUPS_H
#define DD_GROUPS_H

#include "dedup/dd_files.h"
#include "dedup/dd_options.h"

#include <simidx_dedup.h>

#include "dedup/dd_against.h"
#include "dedup/dd_keepers.h"

struct dd_groups;

/** None yet. NULL when memory is short. */
struct dd_groups *dd_groups_new(const struct dd_options *options, struct dd_files *files);

/** Free. NULL is allowed. */
void dd_groups_free(struct dd_groups *groups);

/**
 * A document is near to one that is kept, or to one of another index.
 *
 * @return 0, or TL_TROUBLE with a message
 */
int dd_groups_add(struct dd_groups *groups, const simidx_dedup_near *near,
		  const struct dd_name *name);

/** Bytes that one such document needs, printing included. */
size_t dd_groups_bytes(void);

/**
 * Print all groups, once. What has changed since it was read is left out, with a message.
 *
 * @param kept     names of the kept documents, by handle
 * @param against  the other indexes; NULL if there are none
 * @return 0 or an exit code
 */
int dd_groups_print(struct dd_groups *groups, enum simidx_dedup_kind kind,
		    const struct dd_name *kept, struct dd_against *against);

/** What was counted while they were printed. */
struct dd_groups_counts {
	uint64_t near;    /* documents in groups that could go */
	uint64_t trusted; /* of these not printed, as fingerprints alone have decided */
	uint64_t groups;
	uint64_t changed; /* files that have changed since they were read */
	uint64_t broken;  /* names not printed, as they have line ends */
};

void dd_groups_count(const struct dd_groups *groups, struct dd_groups_counts *counts);

#endif /* DD_GROUPS_H */
