/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Documents and labels, one at a time.
 */

#ifndef SX_DOCUMENTS_H
#define SX_DOCUMENTS_H

#include "index/sx_doc.h"
#include "index/sx_snapshot.h"

/**
 * Find a document by id. Its label may come with it (sx_backend_documents.by_id()).
 * SIMIDX_E_NOT_FOUND without setting err.
 */
int sx_documents_by_id(void *search, const sx_snapshot *snapshot, uint64_t id, sx_labelled_doc *out,
		       simidx_error *err);

/** SIMIDX_E_CORRUPT: a document that is in docs is neither in postings nor among the fresh rows. */
int sx_documents_missing(uint64_t id, simidx_error *err);

/** Find the document whose label is exactly this. SIMIDX_E_NOT_FOUND without setting err. */
int sx_documents_by_label(void *search, const sx_snapshot *snapshot, const void *label, size_t size,
			  sx_labelled_doc *out, simidx_error *err);

/**
 * SIMIDX_OK if the label of an id, whose hash is kept as that of `label`, is exactly this one;
 * SIMIDX_E_NOT_FOUND without setting err if it is another one with the same hash; SIMIDX_E_CORRUPT
 * if the id has none, or one with another hash.
 */
int sx_documents_has_label(const sx_snapshot *snapshot, uint64_t id, const void *label, size_t size,
			   simidx_error *err);

/** The time of a document; 0: it is not known, nor is one that needs more than 4 bytes. */
static inline uint32_t sx_documents_time(const sx_values *values)
{
	uint64_t time = values->of[SX_TIME];

	return time <= UINT32_MAX ? (uint32_t)time : 0;
}

/** The label of an id, in the map. SIMIDX_E_NOT_FOUND without setting err. */
int sx_documents_label(sx_txn *txn, const sx_tables *tables, uint64_t id, sx_slice *label,
		       simidx_error *err);

/**
 * Whether the label of a document is what was stored. The bytes of labels have no checksum,
 * but a hash: in by_label or, until that is merged, in the fresh row of the document.
 *
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT
 *
 * Cost: a look-up, or two.
 */
int sx_documents_label_check(const sx_snapshot *snapshot, uint64_t id, sx_slice label,
			     simidx_error *err);

/** SIMIDX_E_CORRUPT for the label of an id. */
int sx_documents_label_damaged(uint64_t id, simidx_error *err);

/**
 * Check a document to store, as far as nothing has to be looked up. It is of our size, or NULL if
 * that of the caller's was bad. SIMIDX_E_ARG, SIMIDX_E_RANGE or SIMIDX_E_MISMATCH.
 */
int sx_documents_check(const simidx *index, const simidx_doc *doc, simidx_error *err);

/**
 * What a document that was checked has in the optional columns.
 *
 * @param now  its time, if it has none of its own
 */
sx_values sx_documents_values(const simidx *index, const simidx_doc *doc, uint64_t unknown_fp2,
			      uint32_t now);

/** The clock, as a time of documents. */
uint32_t sx_documents_now(void);

/**
 * Tell those of the optional columns in a match, but not what stands for an unknown second
 * fingerprint.
 */
void sx_match_set_values(const simidx *index, simidx_match *match, sx_values values);

/** What a match tells of them. */
sx_values sx_match_values(const simidx_match *match, uint64_t unknown_fp2);

/** Check what is to become the next id. SIMIDX_E_UNSUPPORTED without ids, SIMIDX_E_RANGE. */
int sx_documents_check_next_id(const simidx *index, uint64_t next_id, simidx_error *err);

#endif /* SX_DOCUMENTS_H */
