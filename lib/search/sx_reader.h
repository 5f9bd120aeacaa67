/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A reader: a snapshot handle that is renewed for each call, and buffers that are kept.
 */

#ifndef SX_READER_H
#define SX_READER_H

#include "search/sx_query.h"
#include "plan/sx_patterns.h"
#include "plan/sx_planner.h"
#include "plan/sx_cover.h"
#include "table/sx_lookup.h"

/** So many searches look whether their pages are in memory, once one was not. */
#define SX_WATCH 32

/** A fingerprint that was found, of the tables or of fresh rows. */
typedef struct sx_hit {
	uint64_t fp;
	unsigned distance;
	int in_tables;
	uint32_t known, n_known; /* its documents in reader->known, or SX_UNKNOWN of them */
} sx_hit;

#define SX_UNKNOWN UINT32_MAX

/** Documents that were found; their labels are looked up at the end. */
typedef struct sx_matches {
	simidx_match *at;
	size_t n, cap;
} sx_matches;

typedef struct sx_hits {
	sx_hit *at;
	size_t n, cap;
} sx_hits;

/** The cheapest covers of a plan where all ranges are even, by radius. */
typedef struct sx_even {
	uint64_t rows;     /* for about so many entries */
	uint64_t known[2]; /* which of them are made */
	sx_template template[SIMIDX_MAX_RADIUS + 1];
} sx_even;

/** How a query is looked up. */
typedef struct sx_way {
	const sx_cover *cover; /* of a template of sx_even, or of `own` */
	sx_template own[2]; /* for one query alone, of the tables and of the memtable */
	uint64_t rows;        /* it was chosen for about so many entries of a table */
	int by_sizes;         /* and for how full the ranges really are, not for even ones */
	int by_patterns;      /* of the weights, and not by the cover */
	sx_patterns_end end;   /* where those ended */
	int complete_to;
	uint64_t permuted[SX_MAX_TABLES]; /* the query in the order of each table that is probed */
} sx_way;

struct simidx_reader {
	simidx *index;
	sx_snapshot snapshot;
	sx_cursor *cursor[SX_MAX_TABLES]; /* of the permuted tables, opened when first probed */
	sx_cursor *postings;
	sx_held *held[SX_SHELF_TABLES];
	const sx_block_index *blocks[SX_MAX_TABLES]; /* for the query at hand; may be NULL */
	uint32_t missing;      /* tables of which the reader has none, by number */
	uint64_t seen;         /* the snapshot that they, costs and even ways are for */
	unsigned seen_map;     /* changes of the map until then */

	sx_costs costs;        /* what searching takes, for about so many rows of a table */
	sx_even *even[2]; /* of the tables and of the memtable, made when first needed */

	sx_way way;
	sx_template *forced; /* not NULL: look up the tables alone, by this, whatever it costs */
	sx_probes probes;
	sx_probes fresh_probes;    /* of the memtable, where its plan is another one */
	sx_range *range;           /* of the probes that have a block index */
	uint32_t *range_probe;     /* number of the probe */
	size_t range_cap, probe_cap;
	sx_lookup lookup;

	sx_range *posting;         /* the ranges of postings that are read */
	size_t posting_cap;
	sx_lookup posting_lookup;

	uint64_t fresh_candidates; /* of the search at hand */
	unsigned searches, watch;  /* sx_collect.c: when to look whether pages are in memory */
	int ahead;                 /* sx_collect_ahead() has begun, and it still holds good */
	sx_found found;            /* keys of one range */
	sx_hits hits;
	const sx_doc *known;       /* documents of hits that were read beforehand; borrowed */
	sx_fresh_rows fresh;       /* matching fresh rows */
	sx_rows rows;              /* postings of one piece */
	sx_matches matches;        /* what the caller sees */
	sx_matches nearer;         /* SIMIDX_NEAREST: those within a smaller radius */
	unsigned char *labels;     /* bytes of the labels that matches point to */
	size_t labels_cap;
	struct sx_explained *explained; /* what the last explanation points to */
};

/** A document as a match at distance 0. */
static inline simidx_match sx_match_of(const simidx *index, uint64_t id, uint64_t fp, uint64_t fp2)
{
	return (simidx_match){ .id = id,
			       .fp = fp,
			       .fp2 = fp2,
			       .flags = index->flags & SIMIDX_CREATE_FP2 ? SIMIDX_MATCH_FP2 : 0 };
}

/** Look up the labels of reader->matches [from, to). They are valid until the next call. */
int sx_reader_add_labels(simidx_reader *reader, size_t from, size_t to, simidx_error *err);

/** Search in the snapshot that the reader has, without labels. */
int sx_search(simidx_reader *reader, const simidx_query *asked, simidx_results *out,
	      simidx_error *err);

/**
 * The same where the tables need not be searched any more, in mode SIMIDX_ALL or _COUNT without
 * max_candidates: reader->hits are what they have for this query, and `out` says what that took.
 */
int sx_search_found(simidx_reader *reader, const simidx_query *asked, simidx_results *out,
		    simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * sx_way.c: how to look a query up
 */

/**
 * Choose reader->way and make reader->probes and, for the memtable, reader->fresh_probes;
 * block indexes are taken where there are such. What was chosen ahead is kept if it is right for
 * the snapshot; if not, reader->ahead becomes 0.
 */
int sx_way_choose(simidx_reader *reader, const sx_query *query, simidx_error *err);

/**
 * Choose before there is a snapshot, by the one that the last search had and the block indexes of
 * that. Reads nothing of the file.
 *
 * @return 0, or -1: there was none, or a table has no block index, or memory is short
 */
int sx_way_ahead(simidx_reader *reader, const sx_query *query);

/**
 * When the ranges turn out to be large: choose again for how full they really are.
 *
 * @return 1 if there is a better way now, 0 if not, < 0 for an error
 */
int sx_way_reconsider(simidx_reader *reader, const sx_query *query, simidx_error *err);

/** Whether what is right for so many rows is for so many others. */
static inline int sx_way_is_about(uint64_t rows, uint64_t known)
{
	return rows <= known + known / 2 && known <= rows + rows / 2;
}

/** What the reader has for choosing. */
void sx_way_free(simidx_reader *reader);

/** Whether a fingerprint found by a probe is to be reported from that. */
int sx_way_is_first(const simidx_reader *reader, const sx_query *query, const sx_probe *probe,
		    uint64_t fp);

/**
 * In how many bits the low bytes of a match that a probe finds can differ from the query's. -1:
 * there are no such matches.
 *
 * @param width  low bytes of a key
 */
int sx_way_left(const simidx_reader *reader, const sx_probe *probe, unsigned width);

/** Entries in the ranges of reader->probes, about. */
uint64_t sx_way_candidates(simidx_reader *reader);

/** What other covers there were for a query that goes by one; returns how many. */
unsigned sx_way_others(simidx_reader *reader, const sx_query *query, sx_cover out[SX_MAX_OTHERS]);

/* ------------------------------------------------------------------------------------------
 * sx_collect.c: candidates and what they come to
 */

/** Asked when hits from number `from` on have been added: 1 ends the search, < 0 is an error. */
typedef int (*sx_enough)(simidx_reader *reader, const sx_query *query, size_t from,
			 simidx_error *err);

/**
 * Begin with a query before the snapshot for it is taken: most often nothing has changed since the
 * last search, and then sx_collect() goes on from here. Nothing of the file is read; but what is
 * going to be is on its way into the cache while the snapshot is taken. If that fails,
 * reader->ahead is to be cleared.
 */
void sx_collect_ahead(simidx_reader *reader, const sx_query *query);

/**
 * Fill reader->hits with the distinct fingerprints that the query accepts, nearest first, and
 * reader->fresh with the fresh rows that have one. Counts go to `out`.
 *
 * @param enough  may be NULL
 */
int sx_collect(simidx_reader *reader, const sx_query *query, sx_enough enough,
	       simidx_results *out, simidx_error *err);

/** The same where reader->hits has those of the tables already, for a query without weights. */
int sx_collect_found(simidx_reader *reader, const sx_query *query, simidx_results *out,
		     simidx_error *err);

/**
 * Have the pages of the pieces at hand read in parallel if they are not in memory, where that
 * seems likely: looking costs a system call a page, so it is done for a sample of the searches
 * and, as soon as a page is missing, for all of them.
 */
void sx_collect_pages(simidx_reader *reader, const sx_lookup *lookup);

/* ------------------------------------------------------------------------------------------
 * sx_matches.c
 */

/** Append one. */
int sx_matches_push(sx_matches *matches, const simidx_match *match, simidx_error *err);

/** Append n that are like one, but for their ids and, unless NULL, second fingerprints. */
int sx_matches_append(sx_matches *matches, const simidx_match *like, const uint64_t *id,
		      const uint64_t *fp2, size_t n, simidx_error *err);

/** Sort matches [from, n) by (weighted_distance, id, fp). */
void sx_matches_sort(sx_matches *matches, size_t from);

/* ------------------------------------------------------------------------------------------
 * sx_postings.c: documents of hits
 */

/**
 * Append the matching documents of hits [from, to) to reader->matches, or only count them.
 *
 * @param most   documents of each fingerprint are enough (0 = all)
 * @param count  not NULL: add their number to it and append none
 */
int sx_postings_read(simidx_reader *reader, const sx_query *query, size_t from, size_t to,
		     uint64_t most, uint64_t *count, simidx_error *err);

#endif /* SX_READER_H */
