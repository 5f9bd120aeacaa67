/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_verify() for those who do not go on if anything is wrong.
 */

#ifndef SX_VERIFY_H
#define SX_VERIFY_H

#include "index/sx_index.h"

/**
 * Verify an index.
 *
 * @param refusal  begins the text where it is not sound: "<refusal> 2 problems: the first one is ..."
 * @param stop     asked now and then whether to stop; may be NULL
 * @param ctx      passed to it
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT; SIMIDX_E_STOPPED; what else simidx_verify() returns
 */
int sx_verify_sound(simidx *index, const char *refusal, int (*stop)(void *ctx), void *ctx,
		    simidx_error *err);

#endif /* SX_VERIFY_H */
