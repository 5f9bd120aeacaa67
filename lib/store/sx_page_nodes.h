/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is in one page of LMDB's trees, as bytes.
 */

#ifndef SX_PAGE_NODES_H
#define SX_PAGE_NODES_H

#include "store/sx_dbi.h"
#include "store/sx_lmdb_pages.h"

typedef struct sx_page_node {
	sx_lmdb_node head;
	sx_slice key;
	const unsigned char *value; /* of a leaf: or the number of its first overflow page */
	uint32_t size;              /* of the value */
	uint64_t child;             /* of a branch */
} sx_page_node;

#define SX_PAGE_WRONG 80

/**
 * How many nodes a page has, if they are such as LMDB writes them: they lie side by side up to the
 * end of the page. LMDB moves them and adds up their sizes.
 *
 * @param sizes  room for half as many numbers as the page has bytes
 * @param wrong  what is wrong, to follow the number of the page; SX_PAGE_WRONG bytes
 * @return 0 if something is wrong
 */
size_t sx_page_nodes(const unsigned char *page, size_t page_size, int is_leaf, uint16_t *sizes,
		     char *wrong);

/** A node of a page that sx_page_nodes() has found good. */
sx_page_node sx_page_node_of(const unsigned char *page, size_t i);

#endif /* SX_PAGE_NODES_H */
