/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A reader: a view that is renewed for each call, and scratch memory that is kept between calls.
 */

#ifndef SX_READER_H
#define SX_READER_H

#include "search/sx_matches.h"

struct simidx_reader {
	sx_view view;
	sx_access access;
	sx_hits hits;
	sx_matches matches; /* what the caller sees */
	sx_matches nearer;  /* SIMIDX_NEAREST: those within a smaller radius */
	struct sx_explained *explained; /* what the last explanation points to; NULL before */
};

static inline simidx *sx_reader_index(const simidx_reader *reader)
{
	return reader->view.snapshot.index;
}

#endif /* SX_READER_H */
