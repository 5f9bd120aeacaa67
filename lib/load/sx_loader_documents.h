/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * All documents in the order of their ids: those of the indexes that are taken over and what was
 * put. Of several with one id, one stays.
 */

#ifndef SX_LOADER_DOCUMENTS_H
#define SX_LOADER_DOCUMENTS_H

#include "load/sx_loader_state.h"

/** Bytes of a label or a note, copied. */
typedef struct sx_loader_bytes {
	unsigned char *at; /* the owner frees it */
	size_t size, cap;
} sx_loader_bytes;

/** Keep the label of what is put until its document's turn comes. */
int sx_loader_put_label(simidx_loader *loader, const simidx_doc *doc, uint64_t id,
			simidx_error *err);

/** The same for its note. */
int sx_loader_put_note(simidx_loader *loader, const simidx_doc *doc, uint64_t id,
		       simidx_error *err);

/** Read a label that was put; `where` is that of input.label_rows. */
int sx_loader_read_label(simidx_loader *loader, uint64_t where, sx_loader_bytes *label,
			 simidx_error *err);

/** Copy a label or a note. SIMIDX_E_NOMEM. */
int sx_loader_copy_bytes(sx_loader_bytes *to, sx_slice label, simidx_error *err);

/**
 * The order of the documents that have one id: those of the sources, of which each has one at
 * most, and then what was put. `key` is the row of what was put.
 */
uint64_t sx_loader_order(const simidx_loader *loader, uint64_t source, uint64_t key);

/**
 * Call visit() for all documents in the order of (id, source, row). `key` is the id of a document
 * of a source, and the row of what was put.
 */
int sx_loader_visit_documents(simidx_loader *loader,
			      int (*visit)(void *ctx, uint64_t id, uint64_t source, uint64_t key),
			      void *ctx, simidx_error *err);

/** Write docs, labels and notes, but of input.rejected; fill output.by_fp and output.by_label. */
int sx_loader_write_documents(simidx_loader *loader, simidx_error *err);

#endif /* SX_LOADER_DOCUMENTS_H */
