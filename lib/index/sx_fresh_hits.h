/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The fresh rows of a snapshot that answer a question: by the memtable, or by reading the log
 * where building that would cost more than it saves.
 */

#ifndef SX_FRESH_HITS_H
#define SX_FRESH_HITS_H

#include "index/sx_index.h"
#include "plan/sx_probes.h"

enum sx_fresh_ask { SX_ASK_NEAR, SX_ASK_ID, SX_ASK_LABEL };

typedef struct sx_fresh_question {
	enum sx_fresh_ask ask;
	uint64_t value; /* fingerprint, id, or hash of a label */
	unsigned k;     /* SX_ASK_NEAR: bits that may differ */
	const sx_probes *probes; /* SX_ASK_NEAR: what the memtable looks up */
} sx_fresh_question;

/**
 * Append the rows that match to `rows`, but those that postings already answer.
 *
 * @param rented      rows of the log read so far instead of building the memtable; kept by
 *                    the caller between calls. Once that is enough each call adds some rows to it
 * @param candidates  raised by the rows or fingerprints compared
 */
int sx_fresh_hits(simidx *index, const sx_snapshot *snapshot, const sx_fresh_question *question,
		  uint64_t *rented, sx_fresh_rows *rows, uint64_t *candidates, simidx_error *err);

/** Have the CPU fetch what the memtable is going to be asked, if there is one. */
void sx_fresh_hint(simidx *index, const sx_snapshot *snapshot, const sx_probes *probes);

#endif /* SX_FRESH_HITS_H */
