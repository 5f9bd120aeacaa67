/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Something that answers queries: the library with one plan, or what it is compared with. All
 * are driven through this interface, and all must give the same answers.
 */

#ifndef BN_RIVAL_H
#define BN_RIVAL_H

#include <stddef.h>
#include <stdint.h>

#include "bn_near.h"
#include "bn_sets.h"

/** The answer to a query: n ids of 8 bytes, `stride` bytes apart; until the next query. */
struct bn_hits {
	const void *ids;
	size_t stride, n;
};

/** Sum over (query, id), independent of the order: equal sums, equal answers. */
struct bn_sum {
	uint64_t n, sum;
};

/** Figures of one pass over some queries. */
struct bn_figures {
	double mean_us; /**< without clocks in between */
	double p50_us, p99_us;
	struct bn_sum sum; /**< only n where nothing is being checked */
};

/** What all rivals are made from. */
struct bn_setup {
	const struct bn_set *set;
	uint64_t seed;
	unsigned radius;
	const char *dir;  /**< where files go */
	uint64_t memory;  /**< of the loader */
	int keep;         /**< leave indexes behind, and use those that are there */
};

#define BN_REASON 160 /**< room for why a rival is not there */

#define BN_NAME 40

struct bn_rival {
	char name[BN_NAME];
	char plan[16];      /**< "" where there is none */
	enum bn_simd simd;  /**< of the comparisons, where simd_set */
	int simd_set;
	uint64_t max_queries; /**< of each class; 0 = all */
	double bytes;       /**< a document */
	double build_s;
	void *self;

	/** A session belongs to one thread. */
	void *(*open)(struct bn_rival *rival);
	void (*close)(void *session);
	struct bn_hits (*search)(void *session, uint64_t fp);

	/* What follows is NULL where it does not apply. */

	/** Answer n queries in one call. `first` is the number of the first one, for the sum. */
	void (*batch)(void *session, const uint64_t *fp, size_t n, uint64_t first,
		      struct bn_sum *sum);
	/** At most so many documents a query from now on; 0 = all. */
	void (*limit)(void *session, uint64_t n);
	/** Search by weights from now on, such as texts have, up to a distance with some probes. */
	void (*weigh)(void *session, unsigned radius, unsigned probes);
	/** Have the file leave memory. Returns the share that stayed. */
	double (*chill)(void *session);
	/** CPU seconds that other processes have spent for it so far, such as a server. */
	double (*elsewhere)(void *session);
	/** Instead of sessions: another process runs the pass over set->query[first..]. */
	void (*pass)(struct bn_rival *rival, const char *work, uint64_t first, uint64_t n,
		     struct bn_figures *out);
	void (*destroy)(struct bn_rival *rival);
};

/** Add the answer to query number `query`. */
void bn_sum_add(struct bn_sum *sum, uint64_t query, const struct bn_hits *hits);

/*
 * Each makes a rival. Returns 0, or -1 with the reason why there is none (a plan that is not
 * known here, too little memory); what must not happen ends the program.
 */

/** Sorted arrays with offset tables and ids in memory: `plan` 4x16, 3x22, 2x32 or 10x26. */
int bn_arrays_make(const struct bn_setup *setup, const char *plan, enum bn_simd simd,
		   struct bn_rival *rival, char *reason);
/** Those of a rival that bn_arrays_make() made, and that lives longer, with an instruction set. */
void bn_arrays_again(const struct bn_rival *made, enum bn_simd simd, struct bn_rival *rival);
/** Comparing with every document. */
int bn_scan_make(const struct bn_setup *setup, enum bn_simd simd, struct bn_rival *rival,
		 char *reason);
/** One hash table of the documents, probed with all neighbours of the query. */
int bn_probes_make(const struct bn_setup *setup, struct bn_rival *rival, char *reason);
/** One hash table of all neighbours of all documents, probed once. */
int bn_neighbours_make(const struct bn_setup *setup, struct bn_rival *rival, char *reason);
/** A program in a process of its own, which bn_peer.c describes. */
int bn_peer_make(const struct bn_setup *setup, const char *program, struct bn_rival *rival,
		 char *reason);
/** What such a program is called: its file name without what follows a dot. */
void bn_peer_name(const char *program, char name[BN_NAME]);
/** The library. `layout` is one of enum simidx_layout. */
int bn_own_make(const struct bn_setup *setup, const char *plan, unsigned layout,
		struct bn_rival *rival, char *reason);

/** The index of a rival that bn_own_make() made, and that lives longer, with an instruction set. */
void bn_own_again(const struct bn_setup *setup, const struct bn_rival *made, enum bn_simd simd,
		  struct bn_rival *rival);
/** The same index, pages of which are read from disk one after the other: for `cold` only. */
void bn_own_one_by_one(const struct bn_setup *setup, const struct bn_rival *made,
		       struct bn_rival *rival);

/** Free what a rival holds. */
void bn_rival_destroy(struct bn_rival *rival);

/** Growable ids, for rivals in C. */
struct bn_ids {
	uint64_t *ids;
	size_t n, room;
};
void bn_ids_reserve(struct bn_ids *ids, size_t more);

#endif /* BN_RIVAL_H */
