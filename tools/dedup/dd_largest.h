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

/**
 * Tell of the ten largest groups of which ten or more documents were left out, each with the
 * beginning of its keeper's text; and warn if one keeper has more than 1,000 left out, and more
 * than 1 % of all. The warning is printed also where notices are not wanted.
 *
 * @param dedup      between simidx_dedup_flush() and simidx_dedup_add(), for the texts
 * @param documents  of the run
 * @param may_spare  --max-group could be given
 */
void dd_largest_tell(struct dd_keepers *keepers, simidx_dedup *dedup, uint64_t documents,
		     int may_spare);

#endif /* DD_LARGEST_H */
