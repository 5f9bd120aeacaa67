/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What --mode does with a row: add, add if it is new, replace or delete.
 */

#ifndef LD_CHANGE_H
#define LD_CHANGE_H

#include "load/ld_queue.h"
#include "load/ld_target.h"

/** What became of a row. */
struct ld_change {
	uint64_t id;          /* of the document that was stored; SIMIDX_NO_ID: not known */
	simidx_match blocker; /* after SIMIDX_E_EXISTS: what is near; its label if lines are emitted
			       * that need it, valid until the next change */
	int is_late;          /* a commit has found what is near: of it only the id is known */
};

/** Flags of simidx_sketch_make() for the texts and features of a load. */
unsigned ld_change_sketch_flags(const struct ld_target *target);

/**
 * Change the index that is open for a writer, or give the document to the loader.
 *
 * @param item     the row, with its fingerprints
 * @param doc      the document; in mode delete only its id or label is looked at
 * @param is_first of its transaction: it is tried again as ld_target_again() says. With others
 *                 before it SIMIDX_E_BUSY is returned at once, as another writer may be waiting for
 *                 this one, and SIMIDX_E_MOVED, as the others are lost
 * @return 0; with --mode if-new SIMIDX_E_EXISTS: something is near; with --mode delete
 *         SIMIDX_E_NOT_FOUND: it is not there; as simidx_writer_put() and simidx_loader_put()
 */
int ld_change_make(struct ld_target *target, const struct ld_item *item, const simidx_doc *doc,
		   int is_first, struct ld_change *out, simidx_error *err);

/**
 * Have the writer look up what ld_change_make() is going to ask for, all of it together.
 *
 * @param items  n rows, at most LD_MOST_AHEAD; docs: of each
 * @return 0; as simidx_writer_prefetch_if_new()
 */
int ld_change_look_ahead(struct ld_target *target, const struct ld_item *const *items,
			 const simidx_doc *docs, size_t n, simidx_error *err);

/**
 * With --mode if-new, after SIMIDX_E_DUPLICATE: find the document that has the id of a row, or
 * where none is given its label. Where a row has both, both must be those of the document.
 *
 * @param out  its label is valid until the next change
 * @return 0; SIMIDX_E_NOT_FOUND: there is no such document; as simidx_reader_find_id()
 */
int ld_change_find_own(struct ld_target *target, const simidx_doc *doc, simidx_match *out,
		       simidx_error *err);

/**
 * With --touch: a document that was seen again gets the time of the row, if that is known and
 * later than its own. Its label is not valid any more.
 *
 * @param touched  whether it has got it
 * @return as simidx_writer_touch()
 */
int ld_change_touch(struct ld_target *target, const struct ld_item *item, const simidx_match *seen,
		    int *touched, simidx_error *err);

#endif /* LD_CHANGE_H */
