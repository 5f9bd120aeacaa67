/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The records of table `meta`: the header, which says what an index is, its counts and digests,
 * and how far a merge has come; the profile; the mark. doc/format.md, "Header".
 */

#ifndef SX_HEADER_H
#define SX_HEADER_H

#include <simidx_admin.h>

#include "fresh/sx_fresh.h"
#include "plan/sx_plan.h"
#include "store/sx_dbi.h"

#define SX_FORMAT_MAJOR 0
#define SX_FORMAT_MINOR 1

/* Feature bits. Unknown incompatible ones are refused; unknown read-only compatible ones allow
 * reading. None is defined yet. */
#define SX_KNOWN_INCOMPAT 0u
#define SX_KNOWN_RO_COMPAT 0u

/* sx_header.state */
#define SX_STATE_SUPERSEDED 1u /* another index is being, or was, put in its place */
#define SX_STATE_MERGING 2u    /* a merge has begun; tables may be ahead of postings */
#define SX_STATE_PARTIAL 4u    /* postings hold the fresh rows up to (merged_fp, merged_id) */

/* Records after those of the permuted tables. */
#define SX_COUNT_POSTINGS 0
#define SX_COUNT_DOCS 1
#define SX_COUNT_OTHERS 2

#define SX_MAX_COLUMNS 4 /* optional columns of postings */

/** What the header knows of a table. */
typedef struct sx_table_count {
	uint64_t rows;
	uint64_t digest;     /* sum of sx_table_row_hash() */
	uint64_t generation; /* raised by every transaction that changes it */
} sx_table_count;

typedef struct sx_header {
	unsigned major, minor;
	uint32_t incompat, ro_compat, compat; /* feature bits */
	uint32_t page_size;
	unsigned bits, layout, fill;
	uint32_t flags; /* SIMIDX_CREATE_NO_IDS, SIMIDX_CREATE_FP2 */
	uint32_t state; /* SX_STATE_ */
	uint64_t documents, labels, next_id;
	uint64_t first_seq, next_seq; /* of the fresh rows */
	uint64_t merged_fp, merged_id;
	sx_plan plan;
	sx_table_count table[SX_MAX_TABLES];
	sx_table_count other[SX_COUNT_OTHERS];
} sx_header;

/** What a snapshot with this header has of the log of fresh rows. */
static inline sx_fresh_span sx_header_fresh(const sx_header *h)
{
	return (sx_fresh_span){ h->first_seq, h->next_seq, (h->state & SX_STATE_PARTIAL) != 0,
				h->merged_fp, h->merged_id };
}

/** Largest encoded header, in bytes. */
#define SX_HEADER_MAX_SIZE 2048

/** Encode; returns the size. */
size_t sx_header_encode(const sx_header *header, unsigned char *out);

/**
 * Decode and check.
 *
 * @return SIMIDX_OK; SIMIDX_E_NOT_INDEX (no magic), SIMIDX_E_VERSION, SIMIDX_E_CORRUPT
 */
int sx_header_decode(sx_header *header, sx_slice bytes, simidx_error *err);

/** Read the header from table `meta`; SIMIDX_E_NOT_INDEX if there is none. */
int sx_header_read(sx_txn *txn, sx_dbi meta, sx_header *header, simidx_error *err);

int sx_header_write(sx_txn *txn, sx_dbi meta, const sx_header *header, simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * The profile record: how texts become fingerprints, for programs to compare
 */

#define SX_MAX_PROFILE 4096
#define SX_MAX_CHECK_FPS 64

typedef struct sx_profile {
	char *text; /* NUL-terminated, never NULL once read */
	uint64_t *check_fps; /* fingerprints of check texts */
	size_t n_check_fps;
} sx_profile;

/** Write the record to table `meta`; text and fingerprints are within the limits. */
int sx_header_write_profile(sx_txn *txn, sx_dbi meta, const char *text, const uint64_t *check_fps,
			    size_t n_check_fps, simidx_error *err);

/** Read the record; SIMIDX_E_CORRUPT if it is damaged or missing. */
int sx_header_read_profile(sx_txn *txn, sx_dbi meta, sx_profile *out, simidx_error *err);

void sx_header_free_profile(sx_profile *profile);

/* ------------------------------------------------------------------------------------------
 * The mark record: bytes of the caller's, stored with a commit
 */

typedef struct sx_mark {
	unsigned char bytes[SIMIDX_MAX_MARK];
	size_t size; /* 0 = none */
} sx_mark;

/** Set a mark to what a caller of `function` gives: SIMIDX_E_ARG, SIMIDX_E_RANGE. */
int sx_header_set_mark(sx_mark *mark, const void *data, size_t size, const char *function,
		       simidx_error *err);

/** Write the record to table `meta`, if the mark is not empty. */
int sx_header_write_mark(sx_txn *txn, sx_dbi meta, const sx_mark *mark, simidx_error *err);

/** The mark, in the map. SIMIDX_E_NOT_FOUND without setting err; SIMIDX_E_CORRUPT. */
int sx_header_read_mark(sx_txn *txn, sx_dbi meta, sx_slice *out, simidx_error *err);

#endif /* SX_HEADER_H */
