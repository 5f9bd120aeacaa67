/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Places in the file of LMDB, and numbers there.
 */

#ifndef SXT_LMDB_H
#define SXT_LMDB_H

#include <stdint.h>
#include <string.h>

/*
 * Where LMDB 0.9 keeps things, as its documentation of the structs says: in a meta page, in a
 * table's record, in the header of a page and in that of a node.
 */
#define META_FREE_ROOT 80
#define META_MAIN_ROOT 128
#define META_LAST_PAGE 136
#define META_TXN 144
#define TREE_FLAGS 4
#define TREE_DEPTH 6
#define TREE_ENTRIES 32
#define TREE_ROOT 40
#define PAGE_FLAGS 10
#define PAGE_LOWER 12
#define PAGE_UPPER 14
#define PAGE_NODES 16
#define NODE_FLAGS 4
#define NODE_KEY_SIZE 6
#define NODE_KEY 8

static inline uint16_t get16(const unsigned char *at)
{
	uint16_t x;

	memcpy(&x, at, sizeof(x));
	return x;
}

static inline uint64_t get64(const unsigned char *at)
{
	uint64_t x;

	memcpy(&x, at, sizeof(x));
	return x;
}

static inline void put16(unsigned char *at, unsigned x)
{
	uint16_t y = (uint16_t)x;

	memcpy(at, &y, sizeof(y));
}

static inline void put64(unsigned char *at, uint64_t x)
{
	memcpy(at, &x, sizeof(x));
}

#endif /* SXT_LMDB_H */
