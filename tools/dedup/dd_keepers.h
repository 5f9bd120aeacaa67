/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What rows are left out for: the names of the rows that are kept, and how many were left out for
 * each of them and for documents of earlier runs and other indexes.
 *
 * Memory: where facts are put aside, 12 bytes for each row that is kept. Otherwise, and for all
 * others, the counters of dd_counters.h.
 */

#ifndef DD_KEEPERS_H
#define DD_KEEPERS_H

#include <simidx_dedup.h>

#include <stdio.h>

#include "dedup/dd_counters.h"
#include "dedup/dd_work.h"

/**
 * A document of this run, or of an earlier one or another index, of which only the label is known,
 * or else the id.
 */
struct dd_keeper {
	int has_fact;        /* it is of this run, and facts are put aside: */
	struct dd_fact fact;
	uint64_t id;
	const char *label;   /* of another one; NULL: it has none */
	size_t label_size;
	const char *index;   /* the path of the other index; NULL: it is in none */
};

/** Zero but for `work`: none yet. Others look at `n` only. Without work->facts none are noted. */
struct dd_keepers {
	const struct dd_work *work;
	struct in_room at;       /* uint64_t: where the facts of each are */
	struct in_room left_out; /* uint32_t: how many were left out for each, or that it
	                            is left out itself */
	struct in_room label;    /* of the one that was found */
	size_t n;                /* how many were noted */
	struct dd_counters counters;
};

/** Free what it holds. */
void dd_keepers_free(struct dd_keepers *keepers);

/** Note a row that is kept, in the order of handles. Returns 0, or TL_TROUBLE with a message. */
int dd_keepers_add(struct dd_keepers *keepers, const struct dd_fact *fact);

/**
 * What was put aside of a kept row.
 *
 * @param at     set to where; NULL is allowed
 * @param label  room for its label
 * @return 0, or TL_TROUBLE with a message
 */
int dd_keepers_fact(const struct dd_keepers *keepers, uint64_t handle, uint64_t *at,
		    struct in_room *label, struct dd_fact *fact);

/** A row that was kept is left out in the end, for another one of its group. */
void dd_keepers_drop(struct dd_keepers *keepers, uint64_t handle);

/** Whether it was. */
int dd_keepers_is_dropped(const struct dd_keepers *keepers, uint64_t handle);

/** Bytes for each. */
size_t dd_keepers_bytes(const struct dd_keepers *keepers);

/**
 * What another one is near to. Its label is valid until one of the indexes is used, or the next one
 * is found. Returns 0, or TL_TROUBLE with a message.
 */
int dd_keepers_find(struct dd_keepers *keepers, const simidx_dedup_near *near,
		    struct dd_keeper *keeper);

/** One more was left out for it, `name`. */
void dd_keepers_count(struct dd_keepers *keepers, const simidx_dedup_near *near,
		      const struct dd_name *name);

/** How many were left out for it; 0 for what is not of this run. There are facts. */
uint64_t dd_keepers_left_out(const struct dd_keepers *keepers, const simidx_dedup_near *near);

/** One for which many were left out. */
struct dd_large {
	simidx_dedup_near near; /* keeper, id and against are set */
	uint64_t n;             /* how many */
	int is_least;           /* there may be more */
	const struct dd_name *first; /* the first of these, if it has no name; or NULL */
	int has_fact;
	struct dd_fact fact;    /* if so, of the row itself, and near.keeper has an equal text or is
				   the first of its group; the label is NULL */
};

/** Most groups that are told. */
#define DD_MOST_LARGE 10

/** Put one in its place among the `n` largest so far. Returns how many these are now. */
size_t dd_keepers_rank(struct dd_large out[DD_MOST_LARGE], size_t n, const struct dd_large *one);

/** Those for which the most were left out, the largest first. Returns how many there are. */
size_t dd_keepers_largest(const struct dd_keepers *keepers, struct dd_large out[DD_MOST_LARGE]);

/** A document of this run to a stream, as a path or FILE:LINE; one of others by label or id. */
void dd_keepers_put(FILE *out, const struct dd_keepers *keepers, const struct dd_keeper *keeper);

/** One of the largest for people: what has no name by one that was left out for it. */
void dd_keepers_put_large(FILE *out, struct dd_keepers *keepers, const struct dd_large *large);

/** Whether it is a row of this run. */
int dd_keepers_is_own(const struct dd_large *large);

#endif /* DD_KEEPERS_H */
