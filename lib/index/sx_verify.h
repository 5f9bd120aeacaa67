/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Verifying the tables of a directory, also for those who do not go on if anything is wrong.
 */

#ifndef SX_VERIFY_H
#define SX_VERIFY_H

#include "index/sx_index.h"

/** Verify an index whose tables are here: simidx_verify(), as sx_backend.check(). */
int sx_verify(const simidx *index, void (*callback)(void *ctx, const simidx_problem *problem),
	      void *ctx, simidx_verify_report *out, simidx_error *err);

/**
 * Verify an index.
 *
 * @param refusal  begins the text where it is not sound: "<refusal> 2 problems: the first one is
 *                 ..."
 * @param stop     asked now and then whether to stop; may be NULL
 * @param ctx      passed to it
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT; SIMIDX_E_STOPPED; what else simidx_verify() returns
 */
int sx_verify_sound(const simidx *index, const char *refusal, int (*stop)(void *ctx), void *ctx,
		    simidx_error *err);

#endif /* SX_VERIFY_H */
