/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Documents and labels in the tables, one at a time; not those that are fresh.
 */

#ifndef SX_DOCUMENTS_H
#define SX_DOCUMENTS_H

#include "index/sx_snapshot.h"

/** A document as it is stored, without its label. */
typedef struct sx_doc {
	uint64_t id, fp, fp2;
} sx_doc;

/** Find a document by id in docs (not among the fresh rows). SIMIDX_E_NOT_FOUND, err unset. */
int sx_documents_by_id(const sx_snapshot *snapshot, uint64_t id, sx_doc *doc, simidx_error *err);

/** The label of an id, in the map. SIMIDX_E_NOT_FOUND without setting err. */
int sx_documents_label(sx_txn *txn, const sx_tables *tables, uint64_t id, sx_slice *label,
		       simidx_error *err);

/**
 * SIMIDX_OK if the label of an id is exactly this; SIMIDX_E_NOT_FOUND without setting err if it is
 * another one; SIMIDX_E_CORRUPT if the id has none.
 */
int sx_documents_has_label(sx_txn *txn, const sx_tables *tables, uint64_t id, const void *label,
			   size_t size, simidx_error *err);

/** The id in by_label whose label is exactly this. SIMIDX_E_NOT_FOUND without setting err. */
int sx_documents_by_label(sx_txn *txn, const sx_tables *tables, const void *label, size_t size,
			  uint64_t *id, simidx_error *err);

/**
 * Check a document to store, as far as nothing has to be looked up. It is of our size, or NULL if
 * that of the caller's was bad. SIMIDX_E_ARG, SIMIDX_E_RANGE or SIMIDX_E_MISMATCH.
 */
int sx_documents_check(const simidx *index, const simidx_doc *doc, simidx_error *err);

#endif /* SX_DOCUMENTS_H */
