/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What clusters are made of. A *node* is the documents that have one fingerprint, and one second
 * fingerprint where these count: it is as near to another node as each of its documents.
 */

#ifndef SX_JOIN_NODES_H
#define SX_JOIN_NODES_H

#include "join/sx_join_pairs.h"

#define SX_JOIN_NO_NODE UINT32_MAX

/** How well a document is suited as a keeper: the smallest key is the best, then the smallest id. */
typedef struct sx_join_score {
	uint64_t key, id;
	size_t label, label_size; /* place in labels[], with SIMIDX_KEEP_SMALLEST_LABEL */
} sx_join_score;

/* There may be many nodes: what few joins need is in arrays that are NULL for the others. */
typedef struct sx_join_nodes {
	sx_join_pairs join;
	simidx_clusters_options options;
	sx_u64s fps;     /* that are in some pair, ascending */
	size_t n_nodes, room; /* nodes; for how many there is room in: */
	uint64_t *least; /* smallest id of each */
	uint64_t *best;  /* id of its best document; NULL with SIMIDX_KEEP_SMALLEST_ID */
	uint64_t *size;  /* its documents; NULL where a cluster can have any number */
	uint64_t *fp2;   /* of it; NULL where these do not count */
	sx_join_score *score; /* of its best document; NULL where it follows from the id */
	uint32_t *first; /* node of each fingerprint, and the end; NULL while each has one node */
	sx_join_classes classes; /* of one fingerprint */
	char *labels;
	size_t labels_used, labels_cap;
	size_t at;       /* fingerprint that is visited */
	simidx_error *err;
} sx_join_nodes;

/** Make the nodes of the pairs that were found. All of `nodes` is zero but join, options and err. */
int sx_join_nodes_make(sx_join_nodes *nodes);

/** With its join. */
void sx_join_nodes_end(sx_join_nodes *nodes);

/** Takes two nodes that are near. Anything but 0 ends the visit with it. */
typedef int sx_join_visit_nodes(void *ctx, uint32_t a, uint32_t b);

/** Visit all pairs of near nodes with this distance of the first fingerprints; -1 = any. */
int sx_join_nodes_pairs(sx_join_nodes *nodes, int distance, sx_join_visit_nodes *visit, void *ctx);

/** The fingerprint of a node. */
uint64_t sx_join_nodes_fp(const sx_join_nodes *nodes, uint32_t node);

/**
 * Sort all nodes by their best documents, the best one first, and free the scores.
 *
 * @param order  room for n_nodes: the nodes in order
 * @param rank   the same: the place of each node in that order
 */
int sx_join_nodes_rank(sx_join_nodes *nodes, uint32_t *order, uint32_t *rank);

/** The best of n documents, at least one. Its label is put behind those that are there. */
int sx_join_nodes_best(sx_join_nodes *nodes, const sx_join_doc *docs, size_t n, sx_join_score *best);

/** Let fingerprints stand for ids where there are none. */
void sx_join_nodes_name(const sx_join_nodes *nodes, sx_join_doc *docs, size_t n);

#endif /* SX_JOIN_NODES_H */
