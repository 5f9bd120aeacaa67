/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The header record: what an index is, its counts and digests, and how far a merge has come.
 * doc/format.md, "Header". Where it is kept: sx_meta.h.
 */

#ifndef SX_HEADER_H
#define SX_HEADER_H

#include <simidx.h>

#include "fresh/sx_fresh.h"
#include "plan/sx_plan.h"
#include "store/sx_dbi.h"

#define SX_FORMAT_MAJOR 0
#define SX_FORMAT_MINOR 3

/* Feature bits. Unknown incompatible ones are refused; unknown read-only compatible ones allow
 * reading. None is defined yet. */
#define SX_KNOWN_INCOMPAT 0u
#define SX_KNOWN_RO_COMPAT 0u

/* sx_header.flags: those of sx_schema_flags(), and */
#define SX_FLAG_UNKNOWN_FP2 8u /* unknown_fp2 stands for a second fingerprint that is not known */

/** unknown_fp2 where nothing that is there says otherwise. */
#define SX_UNKNOWN_FP2 UINT64_C(0x9d5f3b2e71c8a604)

/* sx_header.state */
#define SX_STATE_SUPERSEDED 1u /* another index is being, or was, put in its place */
#define SX_STATE_MERGING 2u    /* a merge has begun; tables may be ahead of postings */
#define SX_STATE_PARTIAL 4u    /* postings hold the fresh rows up to (merged_fp, merged_id) */

/* Records after those of the permuted tables. */
#define SX_COUNT_POSTINGS 0
#define SX_COUNT_DOCS 1
#define SX_COUNT_OTHERS 2

#define SX_HEADER_COLUMNS 4 /* optional columns that it has room for */

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
	uint32_t flags;
	uint32_t state; /* SX_STATE_ */
	uint64_t documents, labels, notes, next_id;
	uint64_t first_seq, next_seq; /* of the fresh rows */
	uint64_t merged_fp, merged_id;
	uint64_t merge_end;   /* a merge that has begun takes the fresh rows below it; else 0 */
	uint64_t unknown_fp2; /* with SX_FLAG_UNKNOWN_FP2; else 0 */
	uint64_t commit;      /* raised by one whenever the header is written */
	sx_plan plan;
	sx_table_count table[SX_MAX_TABLES];
	sx_table_count other[SX_COUNT_OTHERS];
} sx_header;

/** What a snapshot with this header has of the log of fresh rows. */
static inline sx_fresh_span sx_header_fresh(const sx_header *h)
{
	return (sx_fresh_span){ h->first_seq, h->next_seq,
				h->state & SX_STATE_PARTIAL ? h->merge_end : h->first_seq,
				h->merged_fp, h->merged_id };
}

/**
 * What a header has of the table with this number (enum sx_table_number). NULL: it does not count
 * that table.
 */
sx_table_count *sx_header_count(sx_header *header, unsigned number);

/**
 * Whether documents have ids. Where they have none, a document is a fingerprint and nothing else.
 */
static inline int sx_header_has_ids(const sx_header *h)
{
	return !(h->flags & SIMIDX_CREATE_NO_IDS);
}

/** The documents that there are. */
static inline uint64_t sx_header_documents(const sx_header *h)
{
	/* Without ids, only a merge finds which fresh rows repeat a fingerprint. */
	return sx_header_has_ids(h) ? h->documents : h->table[0].rows + h->next_seq - h->first_seq;
}

/** Whether an index can have these flags of simidx_create(): columns and notes need ids. */
static inline int sx_header_can_have(uint32_t flags)
{
	return !(flags & SIMIDX_CREATE_NO_IDS &&
		 flags & (sx_columns_flags() | SIMIDX_CREATE_NOTES));
}

/**
 * Whether fresh rows may have deleted documents: between merges, the documents that are not in
 * postings are as many as the fresh rows only if all of these add one.
 */
static inline int sx_header_may_delete(const sx_header *h)
{
	uint64_t rows = h->next_seq - h->first_seq;

	if (!rows || !sx_header_has_ids(h))
		return 0;
	return h->state & SX_STATE_MERGING ||
	       rows != h->documents - h->other[SX_COUNT_POSTINGS].rows;
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

/** Whether two headers say the same of what never changes in an index. */
int sx_header_is_alike(const sx_header *a, const sx_header *b);

/** The number of the commit that wrote a header; 0 if it is damaged. Checks no more than that. */
uint64_t sx_header_commit(sx_slice bytes);

#endif /* SX_HEADER_H */
