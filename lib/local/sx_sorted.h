/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Look-ups of many queries in the order of what is looked up: their probes in that of the tables,
 * then the documents of their hits in that of postings, so that neighbours read blocks that are
 * in the CPU's caches (a sort-merge join).
 *
 * probes of each query -> sorted, each range once -> slices of blocks -> hits -> by query ->
 * their documents
 */

#ifndef SX_SORTED_H
#define SX_SORTED_H

#include "local/sx_local_reader.h"
#include "search/sx_reader.h"

/** A query: what is compared with its slices, and what they took. */
typedef struct sx_sorted_query {
	uint64_t fp;
	const uint8_t *weights; /* where it has its own probes: a hit is within `radius` by these */
	unsigned radius;
	uint32_t first, n;   /* its probes; 0 = it is not looked up here */
	uint32_t blocks, candidates;
	uint32_t hits;       /* the first one's number, once they are by query */
	unsigned max_bits;   /* in which a hit differs at most */
} sx_sorted_query;

/** A probe, and whose it is. */
typedef struct sx_sorted_probe {
	sx_probe probe;
	uint32_t query;
} sx_sorted_probe;

/** A query, one of those that have the same range probed. */
typedef struct sx_sorted_member {
	uint32_t query;
	int rest; /* sx_probe.rest */
} sx_sorted_member;

/** All zero is an empty one. */
typedef struct sx_sorted {
	const sx_cover *cover; /* of all queries; NULL: each has its own probes */
	sx_sorted_query *query;
	size_t n, query_cap;
	sx_sorted_probe *probe; /* of all queries, one after the other */
	size_t n_probes, probe_cap;
	sx_probes of_0;         /* or: those of the cover for fingerprint 0 in the table at hand */
	uint64_t *item, *spare; /* 32 leading bits of what is sorted by, and a number */
	size_t n_items, item_cap, spare_cap;
	/* What is looked up together: different ranges, and who probes each. */
	sx_probes probes;
	struct sx_sorted_range {
		uint32_t from, to; /* members; of postings: the hit's number */
	} *range;
	size_t range_cap;
	sx_sorted_member *member;
	size_t n_members, member_cap;
	sx_local_found *hit, *grouped; /* as found, and by query */
	size_t n_hits, hit_cap, grouped_cap;
	sx_doc *doc; /* of the hits */
	size_t n_docs, doc_cap;
} sx_sorted;

void sx_sorted_free(sx_sorted *sorted);

/** Begin anew. Memory is kept. */
void sx_sorted_clear(sx_sorted *sorted);

/** Add a query, with its probes unless there is a cover. 0, or -1 when memory is short. */
int sx_sorted_add(sx_sorted *sorted, const sx_sorted_query *query, const sx_probes *probes);

/**
 * Look all probes up: the hits are then in `grouped`, by query and then by fingerprint; query i
 * has those from query[i].hits up to query[i + 1].hits, without a cover perhaps several times
 * (sx_search_found() drops copies). With one, a query whose ranges are so full that another cover
 * might be better is not looked up: its `n` becomes 0.
 *
 * @return 0; -1 when memory is short, or there are too many hits, or a block is damaged
 */
int sx_sorted_near(sx_sorted *sorted, simidx_reader *reader);

/** Read the documents of the hits, as far as they are few. As sx_sorted_near(). */
int sx_sorted_documents(sx_sorted *sorted, simidx_reader *reader);

#endif /* SX_SORTED_H */
