/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Whether the caller wants long work to end: what simidx_set_stop() has set for the thread.
 */

#ifndef SX_STOP_H
#define SX_STOP_H

#include <simidx.h>

/** Whether this thread has somebody who may be asked. */
int sx_stop_is_set(void);

/** Ask. 0 where nobody is set. */
int sx_stop_asked(void);

/** The same as a code: SIMIDX_OK or SIMIDX_E_STOPPED. */
int sx_stop_check(simidx_error *err);

#endif /* SX_STOP_H */
