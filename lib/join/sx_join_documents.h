/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Stage 5: the documents of fingerprints, of one input. They are read from the table of postings.
 * Fresh rows are put between them, and what these have replaced is left out. In an index without
 * ids every fingerprint is one document, with the id SIMIDX_NO_ID.
 *
 * The documents of one fingerprint are a *node*. Where second fingerprints count, those that have
 * the same one are a node. So all documents of a node are near to the same others, and pairs and
 * clusters are made of nodes.
 */

#ifndef SX_JOIN_DOCUMENTS_H
#define SX_JOIN_DOCUMENTS_H

#include "join/sx_join.h"
#include "table/sx_table_walk.h"
#include "util/sx_u64s.h"

/* ------------------------------------------------------------------------------------------
 * The documents of a fingerprint
 */

typedef struct sx_join_node {
	uint64_t fp2;
	int lacks_fp2;  /* it is not known */
	size_t from, n; /* its documents, by id */
} sx_join_node;

/** Reads documents. The first three are those of the fingerprint that was read last. */
typedef struct sx_join_documents {
	uint64_t fp;
	sx_join_doc *doc;
	size_t n;
	sx_join_node *node;
	size_t n_nodes;
	size_t docs_cap, nodes_cap;
	const sx_join *join;
	const sx_join_input *input;
	sx_table_walk walk;
	size_t at;      /* next row of the piece at hand */
	int has_ended;
	size_t fresh;   /* next of the fresh ones */
} sx_join_documents;

/**
 * Begin to read those of input[number]. All zero before. Nothing fails, and nothing is read yet.
 */
void sx_join_documents_begin(sx_join_documents *d, const sx_join *join, unsigned number);

/** All zero is allowed. */
void sx_join_documents_end(sx_join_documents *d);

/**
 * Read the documents of a fingerprint that is greater than the one before, and make nodes of them:
 * of a fingerprint that no document has any more, none. Texts without features are left out.
 *
 * @return SIMIDX_OK; SIMIDX_E_NOMEM; the codes of a walk
 */
int sx_join_documents_of(sx_join_documents *d, uint64_t fp, simidx_error *err);

/**
 * Read the documents of the next fingerprint that has several of them, or perhaps one or none;
 * there are no nodes. SIMIDX_E_END after the last one, without setting err; else as
 * sx_join_documents_of().
 */
int sx_join_documents_repeated(sx_join_documents *d, simidx_error *err);

/**
 * Whether two nodes are near whose fingerprints are within the radius.
 *
 * @param distance   bits in which the fingerprints differ
 * @param distance2  bits in which second fingerprints differ; -1 where they are not compared
 */
int sx_join_are_near(const sx_join *join, unsigned distance, const sx_join_node *a,
		     const sx_join_node *b, int *distance2);

/* ------------------------------------------------------------------------------------------
 * The nodes of all pairs, for clusters
 */

/**
 * How well a document is suited as a keeper: the smallest key is the best, then the smallest id.
 */
typedef struct sx_join_score {
	uint64_t key, id;
	size_t label, label_size; /* place in labels[], with SIMIDX_KEEP_SMALLEST_LABEL */
} sx_join_score;

/* There may be many nodes: what few joins need is in arrays that are NULL for the others. */
typedef struct sx_join_nodes {
	const sx_join *join;
	simidx_clusters_options options;
	sx_u64s fps;     /* that are in some pair, ascending */
	size_t n, room;  /* nodes, and for how many there is room in the arrays below */
	uint64_t *least; /* smallest id of each node */
	uint64_t *best;  /* id of its best document; NULL with SIMIDX_KEEP_SMALLEST_ID */
	uint64_t *size;  /* its documents; NULL where a cluster can have any number */
	uint64_t *fp2;   /* of it; NULL where these do not count */
	sx_join_score *score; /* of its best document; NULL where it follows from the id */
	uint32_t *first; /* node of each fingerprint, and the end; NULL while each has one node */
	char *labels;
	size_t labels_used, labels_cap;
	simidx_error *err;
} sx_join_nodes;

/** Make the nodes of the pairs that were found. All is zero before but join, options and err. */
int sx_join_nodes_make(sx_join_nodes *nodes, sx_sorter *pairs);

void sx_join_nodes_end(sx_join_nodes *nodes);

/** Read the documents of fingerprint number `at`, with ids, and tell progress. */
int sx_join_nodes_read(const sx_join_nodes *nodes, sx_join_documents *documents, size_t at);

/** The fingerprint of a node. */
uint64_t sx_join_nodes_fp(const sx_join_nodes *nodes, uint32_t node);

/** The best of n documents, at least one. Its label is put behind those that are there. */
int sx_join_nodes_best(sx_join_nodes *nodes, const sx_join_doc *docs, size_t n,
		       sx_join_score *best);

/** Below 0 if a is better. */
int sx_join_compare_scores(const sx_join_nodes *nodes, const sx_join_score *a,
			   const sx_join_score *b);

/** They are not needed any more. */
void sx_join_nodes_free_scores(sx_join_nodes *nodes);

#endif /* SX_JOIN_DOCUMENTS_H */
