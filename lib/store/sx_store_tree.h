/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The trees of a snapshot as they lie in the map, in the format of LMDB 0.9 for this machine: read
 * here so that descents in several of them can be under way at once, each waiting for memory no
 * more than it must. Nothing is trusted: what is not understood is left to LMDB, which says what
 * is wrong with it. Read transactions alone, whose pages do not change.
 */

#ifndef SX_STORE_TREE_H
#define SX_STORE_TREE_H

#include "store/sx_store.h"

#define SX_TREE_LEVELS 8

/** A table's tree in one snapshot. */
typedef struct sx_tree {
	const unsigned char *map;
	size_t page_size;
	uint64_t pages; /* of the file, or more */
	uint64_t root;  /* SX_TREE_EMPTY */
} sx_tree;

#define SX_TREE_EMPTY UINT64_MAX

/** The way from the root to an entry of a leaf. */
typedef struct sx_tree_path {
	unsigned levels;
	struct {
		const unsigned char *page;
		unsigned i, n; /* entry, of so many */
	} level[SX_TREE_LEVELS];
} sx_tree_path;

/** How a move ended. */
enum sx_tree_end {
	SX_TREE_FOUND,
	SX_TREE_END,      /* there is no further entry */
	SX_TREE_STRANGE,  /* it is not understood */
	SX_TREE_UNDER_WAY /* among several descents */
};

/** One of several descents. */
typedef struct sx_tree_descent {
	const sx_tree *tree;
	sx_tree_path *path;
	sx_slice key;
	enum sx_tree_end end;
	uint64_t head;      /* first 8 bytes of the key */
	uint64_t low, high; /* the same of keys that the page at hand lies between */
	unsigned kind;      /* of that page */
} sx_tree_descent;

/**
 * Take a table's root from its record.
 *
 * @param record     its value in the main tree
 * @param map        where the file begins in memory
 * @param page_size  of the store
 * @param pages      of the file, or more
 * @return 0, or -1 if it is not understood
 */
int sx_tree_init(sx_tree *tree, sx_slice record, const unsigned char *map, size_t page_size,
		 uint64_t pages);

/** Go to the first entry with a key >= `key` in each of n trees. */
void sx_tree_descend(sx_tree_descent *descents, size_t n);

/** Go to the next entry. After SX_TREE_FOUND alone. */
enum sx_tree_end sx_tree_next(const sx_tree *tree, sx_tree_path *path);

/** The entry that a path leads to: 0, or -1 if it is not understood. */
int sx_tree_entry(const sx_tree *tree, const sx_tree_path *path, sx_slice *key, sx_slice *value);

#endif /* SX_STORE_TREE_H */
