/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How often each of many keys was met, in bounded memory: the counters of Misra and Gries
 * ("Finding repeated elements", 1982). While there are no more than DD_COUNTERS keys the counts are
 * exact. When one more comes, all counters lose one, and those that are zero go. So a count is
 * never too large, and it is too small by at most the number of all that was met, divided by
 * DD_COUNTERS + 1.
 */

#ifndef DD_COUNTERS_H
#define DD_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "dedup/dd_name.h"

/** Most keys that are counted at a time. */
#define DD_COUNTERS 4096

/** For dd_counted.other: one of this run. */
#define DD_OF_THIS_RUN UINT32_MAX

/** A document that others were left out for. */
struct dd_counted {
	uint64_t id;
	uint32_t other; /* number of the other index, from 1; 0: of an earlier run */
	uint32_t n;     /* how often; 0 = a free slot */
	struct dd_name first; /* the first that was left out for it, since it is counted */
};

/** All zero when it begins; about 330 KB. */
struct dd_counters {
	struct dd_counted slot[2 * DD_COUNTERS]; /* by the hash of the key, or the next free one */
	size_t n;
	int is_lessened;                         /* counts may be too small */
};

/**
 * Count a document, for which `first` was left out. Cost: a few slots on average, as each that is
 * freed was filled before.
 */
void dd_counters_add(struct dd_counters *counters, uint64_t id, uint32_t other,
		     const struct dd_name *first);

#endif /* DD_COUNTERS_H */
