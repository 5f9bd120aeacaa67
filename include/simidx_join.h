/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_join.h - all near-duplicates of a collection at once: pairs and clusters.
 *
 * The conventions of simidx.h hold here too.
 */

#ifndef SIMIDX_JOIN_H
#define SIMIDX_JOIN_H

#include <simidx.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------
 * What both have in common
 */

#define SIMIDX_JOIN_DEFAULT_RADIUS 0xffffffffu /**< see simidx_join_options */
#define SIMIDX_JOIN_DEFAULT_RADIUS2 16         /**< in bits, of both fingerprints together */
#define SIMIDX_JOIN_TRIPLES_RADIUS2 20 /**< the same in an index of texts whose second fingerprints
                                            were made from runs of three words */
#define SIMIDX_JOIN_NO_RADIUS2 0xffffffffu     /**< see simidx_join_info */

#define SIMIDX_JOIN_TEXT 1u /**< the fingerprints are those of texts: see simidx_join_options */
#define SIMIDX_JOIN_FP2 2u  /**< judge by the second fingerprints too: see simidx_join_options */
#define SIMIDX_JOIN_LABELS 4u /**< deliver the labels of documents with pairs and members */

/** How the pairs are found. */
enum simidx_join_method {
	SIMIDX_JOIN_BLOCKS = 0, /**< fingerprints that agree in some bits are compared */
	SIMIDX_JOIN_SCAN = 1    /**< all are compared with all: for large radii there is nothing
	                             better */
};

/** What a join is going to do, and what it has found. */
typedef struct simidx_join_info {
	size_t size;             /**< sizeof */
	unsigned radius;         /**< that is used */
	unsigned radius2;        /**< that is used; SIMIDX_JOIN_NO_RADIUS2 = second fingerprints are
	                              not compared */
	unsigned method;         /**< enum simidx_join_method */
	unsigned threads;        /**< that are used */
	double seconds;          /**< predicted, for comparing with one thread, by the number of
	                              documents alone: pairs take more */
	uint64_t documents;      /**< of the index, or of both */
	uint64_t fingerprint_pairs; /**< pairs of fingerprints within the radius; one that several
	                              documents have, of two indexes one that both have, makes a
	                              pair with itself. Fingerprints of deleted documents count
	                              until the next merge */
	uint64_t groups;         /**< simidx_pair_group that simidx_pairs() has found */
	uint64_t pairs;          /**< pairs of documents that are in them: products of counts;
	                              UINT64_MAX if there are that many or more */
	uint64_t clusters;       /**< that simidx_clusters() has found */
	uint64_t members;        /**< documents that are in them, keepers included */
} simidx_join_info;

/**
 * How a join works.
 *
 * A pair is near if the fingerprints differ in at most `radius` bits. With SIMIDX_JOIN_FP2, in an
 * index that holds second fingerprints (or two of them), these and the first must besides differ in
 * at most `radius2` bits together; where one of both documents has none that is known, the first
 * alone may differ in no more than `radius2` bits.
 *
 * With SIMIDX_JOIN_TEXT a text without features, which has fingerprint 0 and second fingerprint 0,
 * is near to nothing (simidx_query), and SIMIDX_JOIN_DEFAULT_RADIUS is 7, or 3 where there are more
 * than 100 million documents, as pairs of unrelated texts become too many. Otherwise it is 3.
 */
typedef struct simidx_join_options {
	size_t size;        /**< sizeof; SIMIDX_JOIN_OPTIONS_INIT sets it */
	unsigned flags;     /**< SIMIDX_JOIN_ flags */
	unsigned radius;    /**< 0..f, or SIMIDX_JOIN_DEFAULT_RADIUS */
	unsigned radius2;   /**< of both fingerprints together, with SIMIDX_JOIN_FP2; 0 = both are
	                         equal; SIMIDX_JOIN_DEFAULT_RADIUS = SIMIDX_JOIN_DEFAULT_RADIUS2, or
	                         _TRIPLES_RADIUS2 as the profile says */
	unsigned threads;   /**< 0 = one for each core; at most 256 are used */
	uint64_t memory;    /**< bytes to work in, 16 MiB to 64 TiB; 0 = 256 MiB. More than the
	                         machine has is not used */
	const char *tmpdir; /**< directory of the temporary files; NULL = /tmp */
	/** Called before the work: radius, method and seconds are known, the counts are 0. Anything
	    but 0 ends the join with SIMIDX_E_STOPPED. May be NULL. */
	int (*planned)(void *ctx, const simidx_join_info *info);
	/**
	 * Called before the first delivery, when the counts are known, the same way. May be NULL.
	 */
	int (*found)(void *ctx, const simidx_join_info *info);
	/**
	 * Called now and then, as for simidx_set_progress(), by one thread at a time. May be NULL.
	 */
	void (*progress)(void *ctx, const char *phase, uint64_t done, uint64_t total);
	/** Asked now and then, by one thread at a time: non-zero ends the join with
	    SIMIDX_E_STOPPED. May be NULL. */
	int (*stop)(void *ctx);
	void *ctx;          /**< passed to all of them, and to those of the call */
} simidx_join_options;

#define SIMIDX_JOIN_OPTIONS_INIT                                                              \
	{ sizeof(simidx_join_options), 0, SIMIDX_JOIN_DEFAULT_RADIUS,                         \
	  SIMIDX_JOIN_DEFAULT_RADIUS, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL }

/* ------------------------------------------------------------------------------------------
 * Pairs
 */

/** Two documents that are near. Without ids these are SIMIDX_NO_ID, and the fingerprints count. */
typedef struct simidx_pair {
	uint64_t id_a, id_b; /**< of one index id_a < id_b; else id_b is of the other one */
	uint64_t fp_a, fp_b; /**< their fingerprints */
	unsigned distance;   /**< bits in which these differ */
	int distance2;       /**< bits in which the second ones differ; -1 = they were not
	                          compared */
	/**
	 * With SIMIDX_JOIN_LABELS the labels, which are not terminated; NULL = the document has
	 * none.
	 */
	const char *label_a, *label_b;
	size_t label_size_a, label_size_b; /**< in bytes */
} simidx_pair;

/**
 * Documents that are near because their fingerprints are: each of `a` makes a pair with each of
 * `b`; where `ids_b` is NULL, each of `a` with each other one of `a`. With SIMIDX_JOIN_FP2 all of
 * `a` have one second fingerprint, and all of `b`.
 */
typedef struct simidx_pair_group {
	const uint64_t *ids_a, *ids_b; /**< ascending; of two indexes, `a` of the first */
	size_t n_a, n_b;
	uint64_t fp_a, fp_b;
	unsigned distance;             /**< as in simidx_pair */
	int distance2;                 /**< the same */
} simidx_pair_group;

/** Who takes what is found: one of both. Anything but 0 ends the join with SIMIDX_E_STOPPED. */
typedef struct simidx_pairs_taker {
	size_t size; /**< sizeof; SIMIDX_PAIRS_TAKER_INIT sets it */
	/** Takes pairs, at most 65,536 at once. */
	int (*pairs)(void *ctx, const simidx_pair *pairs, size_t n);
	/** Takes groups. 100,000 equal documents are one of these, and 5 billion pairs. */
	int (*groups)(void *ctx, const simidx_pair_group *groups, size_t n);
} simidx_pairs_taker;

#define SIMIDX_PAIRS_TAKER_INIT { sizeof(simidx_pairs_taker), NULL, NULL }

/**
 * Find every pair of documents that are near, each once, those with equal fingerprints included.
 * Fresh rows and deletions count: the answer is that of one snapshot, which is pinned until the
 * end.
 *
 * Pairs come from the caller's thread, ordered by the smaller and then the larger fingerprint, the
 * same for any number of threads. What is handed over is valid during the call; labels are those of
 * the snapshot, and each is compared with its hash.
 *
 * @param other    NULL, or another index of the same bits and profile, open apart from the first:
 *                 then pairs have one document of each. Ids and labels do not matter. The text of
 *                 an error that reading one of both gave begins with its path
 * @param options  NULL for the defaults; its callbacks and those of `taker` may use other readers,
 *                 opened before
 * @return SIMIDX_OK, also if there is none; SIMIDX_E_RANGE: a radius above f; SIMIDX_E_MISMATCH:
 *         the indexes do not fit; SIMIDX_E_ARG; SIMIDX_E_STOPPED; SIMIDX_E_NOMEM;
 *         SIMIDX_E_NO_SPACE, SIMIDX_E_IO, SIMIDX_E_PERMISSION: temporary files; SIMIDX_E_NOT_FOUND:
 *         there is no `tmpdir`, and one was needed; SIMIDX_E_CORRUPT, SIMIDX_E_MOVED, SIMIDX_E_BUSY
 *         as simidx_walk_open(); with labels SIMIDX_E_CORRUPT also for one that is damaged. After
 *         an error some pairs may have been delivered
 *
 * Cost: up to radius 7, O(N) for each of radius + 1 parts of the bits, and what the pairs take;
 * parts that no table of the plan begins with are sorted before. Beyond, O(N^2): each fingerprint
 * is compared with each. Labels take two look-ups for each pair.
 *
 * Memory as in the options; besides, O(1) for each fresh row, and the documents of the fingerprints
 * of a single pair. Where more fingerprints agree in a part than there is memory for, they are read
 * again, in pieces: the less memory, the more often. Temporary space of at most 20 bytes for each
 * pair of fingerprints, and of at most 20 for each document where parts are sorted.
 */
int simidx_pairs(simidx *index, simidx *other, const simidx_join_options *options,
		 const simidx_pairs_taker *taker, simidx_error *err) SIMIDX_CHECK_RESULT;

/* ------------------------------------------------------------------------------------------
 * Clusters
 */

/** What makes documents a cluster. */
enum simidx_link {
	SIMIDX_LINK_STAR = 0,  /**< each is near to the keeper (default) */
	SIMIDX_LINK_SINGLE = 1 /**< each is near to another one: chains of any length */
};

/** Which document of a cluster is its keeper. Of several the one with the smallest id. */
enum simidx_keep {
	SIMIDX_KEEP_SMALLEST_ID = 0,
	SIMIDX_KEEP_LARGEST_ID = 1,
	SIMIDX_KEEP_SMALLEST_LABEL = 2, /**< by bytes; documents without one come last */
	SIMIDX_KEEP_LONGEST = 3         /**< by simidx_clusters_options.length */
};

/** Which clusters are made. */
typedef struct simidx_clusters_options {
	size_t size;       /**< sizeof; SIMIDX_CLUSTERS_OPTIONS_INIT sets it */
	unsigned link;     /**< enum simidx_link */
	unsigned keep;     /**< enum simidx_keep */
	uint64_t max_size; /**< most documents of a cluster, at least 2; 0 = any number */
	/** Says how long the text of a document is, with SIMIDX_KEEP_LONGEST. Called with `ctx` of
	    the join, from the caller's thread, before the first delivery, perhaps more than once
	    for a document. With SIMIDX_JOIN_LABELS it gets the label, as simidx_pair has it.
	    Anything but 0 ends the join with SIMIDX_E_STOPPED. */
	int (*length)(void *ctx, uint64_t id, const char *label, size_t label_size,
		      uint64_t *length);
} simidx_clusters_options;

#define SIMIDX_CLUSTERS_OPTIONS_INIT { sizeof(simidx_clusters_options), 0, 0, 0, NULL }

/** A document of a cluster. */
typedef struct simidx_member {
	uint64_t cluster;    /**< smallest id in the cluster; without ids smallest fingerprint */
	uint64_t id;         /**< SIMIDX_NO_ID without ids */
	uint64_t fp;
	unsigned distance;   /**< from the keeper's fingerprint, in bits */
	unsigned is_keeper;  /**< 1: all others of the cluster are near-duplicates of it */
	const char *label;   /**< as in simidx_pair */
	size_t label_size;
} simidx_member;

/**
 * Put near documents into clusters. A document that is near to none is in no cluster, all others
 * are in one at most.
 *
 * With SIMIDX_LINK_STAR documents are asked in the order of `keep`, the best first: one that is in
 * no cluster yet becomes the keeper of a new one, and all near to it that are in none join it. So
 * no two keepers are near to each other, as long as no cluster reaches max_size. With
 * SIMIDX_LINK_SINGLE two documents are in one cluster if a chain of near ones leads from one to the
 * other; with max_size, chains grow by the nearest pairs first: by the distance of the first
 * fingerprints, and of several pairs at one distance by the smaller fingerprint, then the larger
 * one.
 *
 * With max_size documents join a star in the order of `keep`, too, until it is full.
 *
 * Documents with equal fingerprints stay together (with SIMIDX_JOIN_FP2, with both equal). Where
 * they do not all fit into a cluster none of them joins it. max_size of them or more are cut into
 * clusters of their own, by ascending ids whatever `keep` is; one that is left over is in none.
 *
 * @param options   as for simidx_pairs()
 * @param clusters  NULL for the defaults
 * @param take      takes members, cluster by cluster in ascending order, the keeper first and then
 *                  by id, at most 65,536 at once; clusters may be cut between two calls
 * @return as simidx_pairs(), SIMIDX_E_CORRUPT for a damaged label also with
 *         SIMIDX_KEEP_SMALLEST_LABEL; SIMIDX_E_STOPPED also from `length`; SIMIDX_E_UNSUPPORTED:
 *         keep by labels or lengths in an index without ids
 *
 * Cost: that of simidx_pairs(), and the documents that are near to others are read twice. Stars
 * sort the pairs once more, in 16 bytes more of temporary space for each, where documents that have
 * to stay together count as one. Memory besides that of the options: O(1) for each fingerprint that
 * is near to another one; with SIMIDX_KEEP_SMALLEST_LABEL and SIMIDX_KEEP_LONGEST also the labels.
 * doc/joins.md has the bytes.
 */
int simidx_clusters(simidx *index, const simidx_join_options *options,
		    const simidx_clusters_options *clusters,
		    int (*take)(void *ctx, const simidx_member *members, size_t n),
		    simidx_error *err) SIMIDX_CHECK_RESULT;

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* SIMIDX_JOIN_H */
