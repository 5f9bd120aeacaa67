/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is told of the largest groups at the end of a run: a template is found by it, for which
 * texts are left out that are no copies.
 */

#ifndef DD_LARGEST_H
#define DD_LARGEST_H

#include "dedup/dd_keepers.h"
#include "dedup/dd_texts.h"

/**
 * Tell of the largest groups of which ten or more documents were left out, each with the beginning
 * of the text that stays; and warn if for one more than 1,000 were left out, and more than 1 % of
 * all. The warning is printed also where notices are not wanted.
 *
 * @param work       between simidx_dedup_flush() and simidx_dedup_add()
 * @param texts      of rows of groups, where there are groups
 * @param group      the largest first, `n` of them
 * @param documents  of the run
 */
void dd_largest_tell(const struct dd_work *work, struct dd_texts *texts,
		     const struct dd_large *group, size_t n, uint64_t documents);

#endif /* DD_LARGEST_H */
