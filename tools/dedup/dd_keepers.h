/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What rows are left out for: the names of the rows that are kept, and how many were left out for
 * each of them and for documents of earlier runs and other indexes.
 *
 * Memory: a struct dd_name for each kept row, which has its count in what would be padding; for all
 * others the counters of dd_counters.h.
 */

#ifndef DD_KEEPERS_H
#define DD_KEEPERS_H

#include <simidx_dedup.h>

#include <stdio.h>

#include "dedup/dd_against.h"
#include "dedup/dd_files.h"
#include "dedup/dd_index.h"

/** Where a document is. */
struct dd_name {
	uint64_t number;   /* among all documents, from 1 */
	uint64_t line;     /* 0 = it is the whole file */
	uint32_t file;     /* as dd_files_meet() numbers it */
	uint32_t left_out; /* of one that is kept: how many were left out for it */
};

/**
 * A document of this run, or of an earlier one or another index, of which only the label is known,
 * or else the id.
 */
struct dd_keeper {
	const struct dd_name *name; /* NULL: it is not of this run */
	uint64_t id;
	const char *label;       /* NULL: it has none */
	size_t label_size;
	const char *index;       /* the path of the other index; NULL: it is in none */
};

struct dd_keepers;

/** None yet. NULL when memory is short. */
struct dd_keepers *dd_keepers_new(struct dd_files *files);

/** Free. NULL is allowed. */
void dd_keepers_free(struct dd_keepers *keepers);

/** The indexes are open; `against` is NULL if there are no others. */
void dd_keepers_begin(struct dd_keepers *keepers, struct dd_index *index,
		      struct dd_against *against);

/** Note a row that is kept, in the order of handles. Returns 0, or TL_TROUBLE with a message. */
int dd_keepers_add(struct dd_keepers *keepers, const struct dd_name *name);

/** The names of the kept rows, by handle; valid until the next one is added. */
const struct dd_name *dd_keepers_names(const struct dd_keepers *keepers);

/** What another one is near to. Its label is valid until one of the indexes is used. */
struct dd_keeper dd_keepers_find(struct dd_keepers *keepers, const simidx_dedup_near *near);

/** One more was left out for it. */
void dd_keepers_count(struct dd_keepers *keepers, const simidx_dedup_near *near);

/** How many were left out for it; 0 for what is not of this run. */
uint64_t dd_keepers_left_out(const struct dd_keepers *keepers, const simidx_dedup_near *near);

/** One for which many were left out. */
struct dd_large {
	simidx_dedup_near near; /* keeper, id and against are set */
	uint64_t n;             /* how many; for one that is not of this run, at least */
};

/**
 * Those for which the most were left out, the largest first.
 *
 * @param most  room for so many in `out`
 * @return how many there are
 */
size_t dd_keepers_largest(const struct dd_keepers *keepers, struct dd_large *out, size_t most);

/** A document of this run to a stream, as a path or FILE:LINE; one of others by label or id. */
void dd_keepers_put(FILE *out, const struct dd_keepers *keepers, const struct dd_keeper *keeper);

#endif /* DD_KEEPERS_H */
