/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The records about an index as a whole: its header, profile and mark. They are kept twice, in the
 * sub-databases `meta` and `meta2`, so that one damaged page does not take them all. A reader takes
 * a copy that is sound, if both are the one whose header is of the later commit; each commit writes
 * the header twice and mends the other records. doc/format.md, "Header", "Profile" and "Mark".
 *
 * What never changes stands a third time in the sub-database `basis`, for a repair of a file that
 * was cut.
 */

#ifndef SX_META_H
#define SX_META_H

#include <simidx.h>

#include "index/sx_header.h"
#include "store/sx_page_check.h"

#define SX_META_COPIES 2

/** Their names. */
extern const char *const sx_meta_names[SX_META_COPIES];

/**
 * The name of the sub-database that says what an index is as its header and profile did when it was
 * made. It is written first and never again, so it stays at the front of the file.
 */
extern const char *const sx_meta_basis;

/** The sub-databases. Each has pages of its own. */
typedef struct sx_meta {
	sx_dbi basis;
	sx_dbi copy[SX_META_COPIES];
	int only; /* the copy to read where pages of the other one cannot be; SX_META_BOTH */
} sx_meta;

#define SX_META_BOTH (-1)

/** The record `profile`: how texts become fingerprints, for programs to compare. */
#define SX_MAX_PROFILE 4096
#define SX_MAX_CHECK_FPS 64

typedef struct sx_profile {
	char *text; /* NUL-terminated, never NULL once read */
	uint64_t *check_fps; /* fingerprints of check texts */
	size_t n_check_fps;
} sx_profile;

/**
 * Make them in the first write transaction of a store, before anything else. The header is written
 * to `basis` alone, and says what the index is: all that changes is zero in it, its commit number
 * too. The profile, which is within the limits, is written to all.
 */
int sx_meta_create(sx_txn *txn, sx_meta *meta, const sx_header *header, const sx_profile *profile,
		   simidx_error *err);

/**
 * Find them, and read the header. meta->only is set before.
 *
 * @return SIMIDX_OK; SIMIDX_E_NOT_INDEX if there are neither, or no header; SIMIDX_E_CORRUPT if one
 *         of them or `basis` is missing; the codes of sx_meta_read_header(). LMDB allows no further
 *         reading in a transaction in which it met a page that it cannot read: begin another one
 *         and read one copy alone
 */
int sx_meta_open(sx_txn *txn, sx_meta *meta, sx_header *header, simidx_error *err);

/** Read the header. SIMIDX_E_NOT_INDEX, SIMIDX_E_VERSION, SIMIDX_E_CORRUPT if no copy is sound. */
int sx_meta_read_header(sx_txn *txn, const sx_meta *meta, sx_header *header, simidx_error *err);

/**
 * Raise the header's commit number and write both copies of it. A copy of another record that is
 * damaged is mended.
 */
int sx_meta_write_header(sx_txn *txn, const sx_meta *meta, sx_header *header, simidx_error *err);

/**
 * The highest commit number of a header that is sound, of the commit with these roots, read without
 * LMDB; 0 if there is none. The codes are those of sx_page_read().
 */
int sx_meta_find_commit(sx_txn *txn, sx_page_roots *roots, uint64_t *commit, simidx_error *err);

/**
 * Call report() for each copy of a record that is damaged, missing, or another one than its twin,
 * with the name of the sub-database that it is in. Where one cannot be read at all, the transaction
 * cannot be used after it.
 *
 * @param n_mended  raised by the number of those that the next commit mends
 * @return SIMIDX_OK, whatever was reported, or SIMIDX_E_NOMEM
 */
int sx_meta_check(sx_txn *txn, const sx_meta *meta,
		  void (*report)(void *ctx, const char *name, const char *what), void *ctx,
		  uint64_t *n_mended, simidx_error *err);

/**
 * Call report() for each record of `basis` that is damaged, missing, or that of another index. No
 * commit mends it.
 *
 * @param header  the index's, which is sound
 * @return SIMIDX_OK, whatever was reported, or SIMIDX_E_NOMEM
 */
int sx_meta_check_basis(sx_txn *txn, const sx_meta *meta, const sx_header *header,
			void (*report)(void *ctx, const char *name, const char *what), void *ctx,
			simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * The profile record
 */

/** Read the record; SIMIDX_E_CORRUPT if no copy is sound. */
int sx_meta_read_profile(sx_txn *txn, const sx_meta *meta, sx_profile *out, simidx_error *err);

/** The same from a value that was read in another way. */
int sx_meta_decode_profile(sx_slice value, sx_profile *out, simidx_error *err);

void sx_meta_free_profile(sx_profile *profile);

/* ------------------------------------------------------------------------------------------
 * The mark record: bytes of the caller's, stored with a commit
 */

typedef struct sx_mark {
	unsigned char bytes[SIMIDX_MAX_MARK];
	size_t size; /* 0 = none */
} sx_mark;

/** Set a mark to what a caller of `function` gives: SIMIDX_E_ARG, SIMIDX_E_RANGE. */
int sx_meta_set_mark(sx_mark *mark, const void *data, size_t size, const char *function,
		     simidx_error *err);

/** Write both copies, if the mark is not empty. */
int sx_meta_write_mark(sx_txn *txn, const sx_meta *meta, const sx_mark *mark, simidx_error *err);

/** The mark, in the map. SIMIDX_E_NOT_FOUND without setting err; SIMIDX_E_CORRUPT. */
int sx_meta_read_mark(sx_txn *txn, const sx_meta *meta, sx_slice *out, simidx_error *err);

/** The same, copied, from a value that was read in another way. */
int sx_meta_decode_mark(sx_slice value, sx_mark *out, simidx_error *err);

#endif /* SX_META_H */
