/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * All that is known here of the bytes of LMDB's file: the format of LMDB 0.9 on 64-bit machines,
 * in their own byte order. The meta pages are looked at before LMDB maps a file; for everything
 * else LMDB is asked.
 */

#ifndef SX_LMDB_PAGES_H
#define SX_LMDB_PAGES_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define SX_LMDB_MAGIC 0xBEEFC0DEu
#define SX_LMDB_FORMAT 1
#define SX_LMDB_IS_META 0x08         /* flag of a page */
#define SX_LMDB_NO_PAGE UINT64_MAX   /* the root of an empty tree */
#define SX_LMDB_MAX_PAGES ((uint64_t)1 << 47)
#define SX_LMDB_MAX_TXN ((uint64_t)1 << 62) /* no file ever gets there */
#define SX_LMDB_MAX_PAGE_SIZE 32768

/*
 * The table of free pages: each value begins with the number of pages in it, a size_t, and the
 * numbers of these pages follow.
 */
#define SX_LMDB_FREE_TABLE 0

/** Every page begins with it. The value that has pages of its own follows it immediately. */
typedef struct sx_lmdb_header {
	uint64_t number;
	uint16_t unused;
	uint16_t flags;
	uint32_t bounds;
} sx_lmdb_header;

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

static_assert(sizeof(size_t) == 8, "the format is that of 64-bit machines");
static_assert(sizeof(sx_lmdb_header) == 16, "a page header has 16 bytes");
static_assert(sizeof(sx_lmdb_tree) == 48, "a table's record has 48 bytes");
static_assert(offsetof(sx_lmdb_meta, magic) == 16, "the magic number follows the page header");
static_assert(offsetof(sx_lmdb_meta, last_page) == 136, "the last page follows two records");
static_assert(sizeof(sx_lmdb_meta) == 152, "a meta record ends with its transaction");

#endif /* SX_LMDB_PAGES_H */
