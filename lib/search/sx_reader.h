/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A reader: a view that is renewed for each call, and scratch memory that is kept between calls.
 */

#ifndef SX_READER_H
#define SX_READER_H

#include "search/sx_finding.h"

struct simidx_reader {
	sx_view view;
	sx_access access;
	sx_cover_cache covers;
	void *search;  /* scratch memory of what holds the tables */
	sx_hits hits;
	sx_matches matches; /* what the caller sees */
	uint32_t *beside;   /* what simidx_reader_search_beside() tells */
	size_t beside_room;
	sx_arena labels;    /* of documents that come with their labels; or a note */
	struct sx_explained *explained; /* what the last explanation points to; NULL before */
	/*
	 * Of a writer's reader: the snapshot of its transaction, whose changes are found too. Then
	 * one view serves the whole transaction: no other writer can commit meanwhile.
	 */
	const sx_snapshot *writing;
	int is_begun; /* the view has its snapshot */
	sx_conditions *conditions; /* what its searches rest on goes there; NULL: not wanted */
};

static inline const simidx *sx_reader_index(const simidx_reader *reader)
{
	return reader->view.snapshot.index;
}

/** simidx_reader_open() */
int sx_reader_open(const simidx *index, simidx_reader **out, simidx_error *err);

/** The snapshot in which labels and single documents are looked up. */
static inline const sx_snapshot *sx_reader_snapshot(const simidx_reader *reader)
{
	return reader->writing ? reader->writing : &reader->view.snapshot;
}

/** Begin a call: take a new snapshot. SIMIDX_E_STATE if the writer has begun no transaction. */
int sx_reader_begin(simidx_reader *reader, simidx_error *err);

/** End a call: give the snapshot back, unless it is of a writer's transaction. */
void sx_reader_end(simidx_reader *reader);

/** Give the snapshot of a writer's transaction back, which ends. */
void sx_reader_release(simidx_reader *reader);

#endif /* SX_READER_H */
