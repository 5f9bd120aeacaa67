/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * All that is known of the bytes of LMDB's file: the format of LMDB 0.9 on 64-bit machines, in
 * their own byte order. The meta pages are looked at before LMDB maps a file, and sx_page_check.c
 * looks at all others; for everything else LMDB is asked.
 *
 * A file is a sequence of pages of one size, numbered from 0. Pages 0 and 1 are meta pages; the
 * others belong to trees, or are free. The tree of free pages says which are free. The tree of
 * tables has a record for each table, which is a tree too.
 */

#ifndef SX_LMDB_PAGES_H
#define SX_LMDB_PAGES_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SX_LMDB_MAGIC 0xBEEFC0DEu
#define SX_LMDB_FORMAT 1
#define SX_LMDB_IS_META 0x08         /* flag of a page */
#define SX_LMDB_BRANCH 0x01          /* flags of all other pages on disk: one of these, alone */
#define SX_LMDB_LEAF 0x02
#define SX_LMDB_OVERFLOW 0x04
#define SX_LMDB_NO_PAGE UINT64_MAX   /* the root of an empty tree */
#define SX_LMDB_MAX_PAGES ((uint64_t)1 << 47)
#define SX_LMDB_MAX_TXN ((uint64_t)1 << 62) /* no file ever gets there */
#define SX_LMDB_MAX_PAGE_SIZE 32768
#define SX_LMDB_MAX_DEPTH 32         /* pages from a root to a leaf */
#define SX_LMDB_MAX_KEY 511
#define SX_LMDB_FREE_FLAGS 0x08      /* of the tree of free pages: its keys are numbers */
#define SX_LMDB_MAX_DIRTY 131071     /* pages, or values of several pages, of a transaction */

/*
 * The tree of free pages: the key is the transaction that freed them. The value begins with their
 * count, a size_t; their numbers follow, in descending order, and then perhaps unused room.
 */
#define SX_LMDB_FREE_TABLE 0

/**
 * Every page begins with it. In pages of trees, offsets of the nodes follow up to `lower`, sorted
 * by key, and the nodes themselves fill the page from `upper` to its end. A value that is too long
 * for a node has consecutive overflow pages, of which only the first has a header: there `lower`
 * and `upper` together are the 32-bit number of these pages.
 */
typedef struct sx_lmdb_header {
	uint64_t number;
	uint16_t unused;
	uint16_t flags;
	uint16_t lower, upper;
} sx_lmdb_header;

/**
 * A node begins with it and the key follows, without a terminator. In a branch, low, high and
 * flags are 16 bits each of the number of a page, whose keys are not below this one; the key of a
 * branch's first node means nothing. In a leaf the value follows, of high and low bytes together,
 * or the number of its first overflow page. Nodes begin at even offsets.
 */
typedef struct sx_lmdb_node {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint16_t low, high;
#else
	uint16_t high, low;
#endif
	uint16_t flags;
	uint16_t key_size;
} sx_lmdb_node;

#define SX_LMDB_NODE_OVERFLOW 0x01 /* flags in leaves: the value has pages of its own */
#define SX_LMDB_NODE_TABLE 0x02    /* the value is the record of a table */

/** The record of a table. */
typedef struct sx_lmdb_tree {
	uint32_t page_size; /* of the file, in the record of the free pages alone */
	uint16_t flags;
	uint16_t depth;
	uint64_t branch_pages, leaf_pages, overflow_pages, entries;
	uint64_t root;
} sx_lmdb_tree;

/** Pages 0 and 1. The one with the higher transaction number is valid. */
typedef struct sx_lmdb_meta {
	sx_lmdb_header header;
	uint32_t magic;
	uint32_t format;
	uint64_t address, map_size;
	sx_lmdb_tree free_pages, tables;
	uint64_t last_page;
	uint64_t txn;
} sx_lmdb_meta;

/** A 64-bit number at any address. */
static inline uint64_t sx_lmdb_number(const void *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	return x;
}

/** The offset of node `i` of a page. */
static inline size_t sx_lmdb_node_at(const unsigned char *page, size_t i)
{
	uint16_t at;

	memcpy(&at, page + sizeof(sx_lmdb_header) + i * sizeof(at), sizeof(at));
	return at;
}

/** The longest node that LMDB puts into a page. */
static inline size_t sx_lmdb_largest_node(size_t page_size)
{
	return ((page_size - sizeof(sx_lmdb_header)) / 2 & ~(size_t)1) - sizeof(uint16_t);
}

static_assert(sizeof(size_t) == 8, "the format is that of 64-bit machines");
static_assert(sizeof(sx_lmdb_header) == 16, "a page header has 16 bytes");
static_assert(sizeof(sx_lmdb_node) == 8, "a node's header has 8 bytes");
static_assert(sizeof(sx_lmdb_tree) == 48, "a table's record has 48 bytes");
static_assert(offsetof(sx_lmdb_meta, magic) == 16, "the magic number follows the page header");
static_assert(offsetof(sx_lmdb_meta, last_page) == 136, "the last page follows two records");
static_assert(sizeof(sx_lmdb_meta) == 152, "a meta record ends with its transaction");

#endif /* SX_LMDB_PAGES_H */
