/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * All pairs of distinct fingerprints within k bits, of one index or of two, by several threads. They
 * are gathered in a sorter, so that the work of the threads leaves no trace in their order.
 */

#ifndef SX_JOIN_FIND_H
#define SX_JOIN_FIND_H

#include "join/sx_join_method.h"

/**
 * Add each pair once to a sorter of two words, the smaller one first.
 *
 * @return SIMIDX_OK; SIMIDX_E_STOPPED; SIMIDX_E_NOMEM; the codes of a walk and of a sorter
 */
int sx_join_find(sx_join_task *task, const sx_join_method *method, sx_sorter *pairs,
		 simidx_error *err);

#endif /* SX_JOIN_FIND_H */
