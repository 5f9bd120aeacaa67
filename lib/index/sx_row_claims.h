/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the fresh rows say of documents, their labels and notes: a part of verifying.
 */

#ifndef SX_ROW_CLAIMS_H
#define SX_ROW_CLAIMS_H

#include "fresh/sx_fresh_log.h"

/** What one row says. */
typedef struct sx_row_claim {
	uint64_t hash, id, seq;
	unsigned char is_delete, has_label, has_note;
	unsigned char is_last; /* of all rows about the document */
} sx_row_claim;

/** All zero: none so far; the owner frees `at`. */
typedef struct sx_row_claims {
	sx_row_claim *at;
	size_t n, cap;
} sx_row_claims;

/** Returns 0, or -1 when memory is short. */
int sx_row_claims_push(sx_row_claims *claims, const sx_fresh_row *row, uint64_t seq);

/** Sort them by id, and keep the last one about each document and about each of its labels. */
void sx_row_claims_keep_last(sx_row_claims *claims);

/** Whether a row is about a label of a document. Then by_label does not know of it yet. */
int sx_row_claims_have_label(const sx_row_claims *claims, uint64_t hash, uint64_t id);

/**
 * The row that has deleted a document, by which what it has left of a label or a note until the
 * merge is told; NULL: it is there, or no row is about it.
 *
 * @param at  where the last search has ended: 0 at first, and ids ascend
 */
const sx_row_claim *sx_row_claims_deleted(const sx_row_claims *claims, uint64_t id, size_t *at);

#endif /* SX_ROW_CLAIMS_H */
