/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A reader: a snapshot handle that is renewed for each call, and buffers that are kept.
 */

#ifndef SX_READER_H
#define SX_READER_H

#include "index/sx_index.h"

struct simidx_reader {
	simidx *index;
	sx_snapshot snapshot;
	sx_cursor *cursor[SX_MAX_TABLES]; /* of the permuted tables, opened when first probed */
	sx_cursor *postings;
	uint64_t rented;           /* sx_fresh_hits() */
	sx_found found;            /* one probe */
	sx_u64s fps;               /* matching fingerprints of the tables */
	sx_fresh_rows fresh;       /* matching fresh rows */
	sx_rows rows;              /* postings of one fingerprint */
	sx_docs docs;
	simidx_match *match;       /* what the caller sees */
	size_t match_cap;
	unsigned char *labels;     /* bytes of the labels that match[] points to */
	size_t labels_cap;
};

/** Turn reader->docs into reader->match, with labels if asked to. */
int sx_reader_deliver(simidx_reader *reader, uint64_t query, int labels, simidx_error *err);

#endif /* SX_READER_H */
