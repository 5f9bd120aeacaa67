/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What all tables say of one id, and what of it to believe.
 */

#ifndef SX_REPAIR_CLAIMS_H
#define SX_REPAIR_CLAIMS_H

#include "repair/sx_repair_notes.h"
#include "util/sx_u64s.h"

/* Of what is said of one id beyond that the last counts: three tables can name it once each. */
#define SX_REPAIR_MAX_CLAIMS 16

/** What a table says of an id. */
typedef struct sx_repair_claim {
	uint64_t source, fp;
	sx_values values;
} sx_repair_claim;

/** All that is said of one id. */
typedef struct sx_repair_claims {
	uint64_t id;
	sx_repair_claim claim[SX_REPAIR_MAX_CLAIMS];
	size_t n_claims;
	uint64_t hash[SX_REPAIR_MAX_CLAIMS]; /* of its label: each one may be right */
	size_t n_hashes;
	int is_fresh;               /* fresh rows say what has become of it */
	enum sx_repair_note_claim note;
	int is_gone;                /* docs, which is whole, has it not */
	int has_found_label;        /* one that counts only with the right hash */
	sx_u64s former;             /* fingerprints that it had before, as often as it changed */
	sx_slice label; /* size 0: none */
} sx_repair_claims;

/** Forget all, and begin with another id. */
void sx_repair_claims_begin(sx_repair_claims *claims, uint64_t id);

/**
 * Take what a table says of a document, a record of the sorter. The last fresh row about it comes
 * first, and says all: that it is gone, or what it is like. What others say then is how it was
 * before. SIMIDX_E_NOMEM.
 */
int sx_repair_claims_add(sx_repair_claims *claims, sx_repair *repair, const uint64_t *record);

/** A hash that its label may have. */
void sx_repair_claims_add_hash(sx_repair_claims *claims, uint64_t hash);

/** Whether a label has one of the hashes. */
int sx_repair_claims_has_hash(const sx_repair_claims *claims, sx_slice label);

/** After all claims: whether the document is gone. */
void sx_repair_claims_judge(sx_repair_claims *claims, const sx_repair *repair);

/** What to believe; NULL without a claim. */
const sx_repair_claim *sx_repair_claims_choose(const sx_repair_claims *claims,
					       const sx_repair *repair);

/** The claim that has the optional columns of the document with this fingerprint, or NULL. */
const sx_repair_claim *sx_repair_claims_values(const sx_repair_claims *claims, uint64_t fp);

#endif /* SX_REPAIR_CLAIMS_H */
