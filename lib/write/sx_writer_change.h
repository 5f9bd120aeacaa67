/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The changes of a writer: documents that are added, replaced and deleted, as rows that wait for
 * the commit.
 */

#ifndef SX_WRITER_CHANGE_H
#define SX_WRITER_CHANGE_H

#include "index/sx_doc.h"
#include "write/sx_writer.h"

/**
 * Decide a call in the transaction that has begun, and do it if it is to be done: call->now is what
 * comes of it, and what that rests on.
 *
 * @param blocker  may be NULL
 * @return call->now.code: SIMIDX_OK, _EXISTS, _DUPLICATE, _NOT_FOUND, or it could not be decided
 */
int sx_writer_judge(simidx_writer *writer, sx_call *call, simidx_match *blocker,
		    simidx_error *err);

/** What the query of simidx_writer_put_if_new() asks for: the nearest document. */
simidx_query sx_writer_asks(const simidx_query *query);

/** Delete a document that is there, in the transaction that has begun. */
int sx_writer_delete(simidx_writer *writer, const sx_doc *doc, simidx_error *err);

#endif /* SX_WRITER_CHANGE_H */
