/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Where what stands in the pages of LMDB 0.9 on a 64-bit machine. Written anew and not taken from
 * lib/store, so that the library and its test are not wrong in the same way.
 */

#ifndef DAMAGE_PAGES_H
#define DAMAGE_PAGES_H

#include <stddef.h>

#include "util/sx_bytes.h"

/* A page begins with its number, flags, and the bounds of its free room or its length in pages. */
#define PAGE_FLAGS 10
#define PAGE_LOWER 12
#define PAGE_UPPER 14
#define PAGE_COUNT 12
#define PAGE_HEAD 16
#define IS_LEAF 0x02

/* An entry of a page: its size or child in the first 4 bytes, flags, size of its key, its key. */
#define NODE_FLAGS 4
#define NODE_KEY_SIZE 6
#define NODE_HEAD 8
#define HAS_PAGES 0x01
#define HAS_TREE 0x02

/* The record of a tree has 48 bytes and ends with its root. */
#define TREE_SIZE 48
#define TREE_ROOT 40
#define NO_PAGE UINT64_MAX

/* A meta page, after its head. */
#define META_PAGE_SIZE 40
#define META_FREE 40
#define META_MAIN 88
#define META_LAST_PAGE 136
#define META_TXN 144
#define META_SIZE 152

static inline size_t n_nodes(const unsigned char *page)
{
	return (size_t)(sx_load_le16(page + PAGE_LOWER) - PAGE_HEAD) / 2;
}

static inline unsigned char *node_at(unsigned char *page, size_t i)
{
	return page + sx_load_le16(page + PAGE_HEAD + 2 * i);
}

static inline unsigned char *node_data(unsigned char *node)
{
	return node + NODE_HEAD + sx_load_le16(node + NODE_KEY_SIZE);
}

#endif /* DAMAGE_PAGES_H */
