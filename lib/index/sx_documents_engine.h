/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Single documents of an index that an engine holds, and those that a writer's transaction has
 * changed: what sx_documents.h has for a directory.
 */

#ifndef SX_DOCUMENTS_ENGINE_H
#define SX_DOCUMENTS_ENGINE_H

#include "index/sx_doc.h"
#include "index/sx_snapshot.h"

/**
 * Find a document by id.
 *
 * @param known  where it is kept: snapshot->known, or one that is empty and lives as long as the label
 * @return SIMIDX_OK; SIMIDX_E_NOT_FOUND without setting err; the codes of the engine
 */
int sx_documents_engine_by_id(const sx_snapshot *snapshot, sx_known *known, uint64_t id,
			      sx_labelled_doc *out, simidx_error *err);

/** Find the document with a label. */
int sx_documents_engine_by_label(const sx_snapshot *snapshot, sx_known *known, const void *label,
				 size_t size, sx_labelled_doc *out, simidx_error *err);

#endif /* SX_DOCUMENTS_ENGINE_H */
