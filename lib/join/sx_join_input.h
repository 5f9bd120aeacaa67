/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * One index of a join, as one snapshot has it: its documents, in the tables and among the fresh
 * rows. Of an index without ids every fingerprint is one document, with the id SIMIDX_NO_ID.
 */

#ifndef SX_JOIN_INPUT_H
#define SX_JOIN_INPUT_H

#include "index/sx_snapshot.h"

typedef struct sx_join_doc {
	uint64_t fp, id, fp2;
} sx_join_doc;

typedef struct sx_join_input {
	const simidx *index;
	sx_snapshot snapshot;
	sx_join_doc *fresh; /* documents that fresh rows have added, by fingerprint and id */
	size_t n_fresh;
	uint64_t *touched;  /* ids of fresh rows, ascending: the tables say nothing of them */
	size_t n_touched;
	sx_join_doc *doc;      /* those of the fingerprint that is visited */
	size_t docs_cap;
	int is_of_two;         /* there is another one: errors name the path of their index */
} sx_join_input;

static inline const sx_snapshot *sx_join_input_snapshot(const sx_join_input *input)
{
	return &input->snapshot;
}

/**
 * Take a snapshot. All zero before but is_of_two; sx_join_input_end() is called in any case.
 *
 * Cost: reads the fresh rows; memory of 64 bytes for each.
 */
int sx_join_input_begin(sx_join_input *input, const simidx *index, simidx_error *err);

/** One that is all zero is allowed. */
void sx_join_input_end(sx_join_input *input);

/** Documents with fp2 that is not known have this: whether it is so. */
static inline int sx_join_lacks_fp2(const sx_join_input *input, const sx_join_doc *doc)
{
	return !input->index->schema->has_fp2 ||
	       sx_is_unknown_fp2(input->index, doc->fp2);
}

/**
 * Takes the documents of a fingerprint, by id: none of one that has none any more. They are valid
 * during the call, which may change them. Anything but 0 ends the reading with it.
 */
typedef int sx_join_visit(void *ctx, uint64_t fp, sx_join_doc *docs, size_t n);

/**
 * The label of a document, in the map, compared with its hash. A document without one, and one
 * without an id, has a label of size 0.
 *
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT: the label is damaged; the codes of the store
 */
int sx_join_input_label(const sx_join_input *input, uint64_t id, sx_slice *label,
			simidx_error *err);

/**
 * Returns rc. An error that reading this index gave is given its path, where there are two indexes.
 */
int sx_join_input_failed(const sx_join_input *input, int rc, simidx_error *err);

/** Visit each of n ascending fingerprints. The codes of a walk, SIMIDX_E_NOMEM, those of visit. */
int sx_join_input_documents(sx_join_input *input, const uint64_t *fps, size_t n,
			    sx_join_visit *visit, void *ctx, simidx_error *err);

/** Visit all fingerprints that have several documents, and perhaps others. */
int sx_join_input_repeated(sx_join_input *input, sx_join_visit *visit, void *ctx,
			   simidx_error *err);

#endif /* SX_JOIN_INPUT_H */
