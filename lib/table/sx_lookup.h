/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Ranges of keys, looked up through directories in stages, so that the waits for memory of all
 * of them overlap: offsets, last keys, block headers, bitmaps, low bytes. What comes out are
 * pieces: entries [from, to) of one block, on their way into the cache.
 */

#ifndef SX_LOOKUP_H
#define SX_LOOKUP_H

#include "kernel/sx_kernel.h"
#include "table/sx_directory.h"

/** Pieces that are under way at once. */
#define SX_LOOKUP_PIECES 64

typedef struct sx_range {
	const sx_directory *directory;
	uint64_t low, high;
} sx_range;

typedef struct sx_piece {
	const unsigned char *value; /* the block */
	uint32_t range;             /* number of the range it belongs to */
	uint32_t number;            /* of the block in the directory */
	uint16_t from, to;          /* entries */
	sx_coded keys;              /* of the block, once it is located */
} sx_piece;

typedef struct sx_lookup {
	const sx_range *range;
	size_t n_ranges;
	size_t next;   /* the first range that is not looked up to its end */
	size_t ahead;  /* ranges whose offsets are on their way */
	size_t block;  /* of range `next`: the block to go on with, or SIZE_MAX */
	uint64_t blocks; /* pieces so far */
	size_t n;      /* pieces at hand */
	sx_piece piece[SX_LOOKUP_PIECES];
} sx_lookup;

/** Begin. The ranges and their directories stay until the end; low <= high. */
void sx_lookup_begin(sx_lookup *lookup, const sx_range *ranges, size_t n);

/**
 * Find the next pieces, up to SX_LOOKUP_PIECES, in the order of the ranges, and have their
 * headers and bitmaps fetched. lookup->n = 0: there are no more.
 */
void sx_lookup_find(sx_lookup *lookup);

/**
 * Set from, to and keys of the pieces at hand and have the entries fetched. Blocks that are not in
 * memory should have been asked for before.
 *
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT
 */
int sx_lookup_locate(sx_lookup *lookup, const sx_kernel *kernel, simidx_error *err);

/** SIMIDX_E_CORRUPT for a block that lies in a directory. */
int sx_directory_damaged(const sx_directory *directory, size_t block, const char *what,
			 simidx_error *err);

#endif /* SX_LOOKUP_H */
