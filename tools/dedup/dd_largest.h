/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is told of the largest groups at the end of a run: a template is found by it, for which
 * texts are left out that are no copies.
 */

#ifndef DD_LARGEST_H
#define DD_LARGEST_H

#include <simidx_dedup.h>

#include "dedup/dd_keepers.h"
#include "dedup/dd_texts.h"

/**
 * Tell of the largest groups of which ten or more documents were left out, each with the beginning
 * of the text that stays; and warn if for one more than 1,000 were left out, and more than 1 % of
 * all. The warning is printed also where notices are not wanted.
 *
 * @param texts      of rows of groups; NULL: there are no groups
 * @param dedup      between simidx_dedup_flush() and simidx_dedup_add(), for other texts
 * @param group      the largest first, `n` of them
 * @param documents  of the run
 * @param may_spare  --max-group could be given
 */
void dd_largest_tell(struct dd_keepers *keepers, struct dd_texts *texts, simidx_dedup *dedup,
		     const struct dd_large *group, size_t n, uint64_t documents, int may_spare);

#endif /* DD_LARGEST_H */
