/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "util/sx_stop.h"

#include <stddef.h>

#include <simidx_check.h>

#include "util/sx_err.h"

static _Thread_local struct {
	int (*ask)(void *ctx);
	void *ctx;
} caller;

void simidx_set_stop(int (*stop)(void *ctx), void *ctx)
{
	caller.ask = stop;
	caller.ctx = ctx;
}

int sx_stop_is_set(void)
{
	return caller.ask != NULL;
}

int sx_stop_asked(void)
{
	return caller.ask && caller.ask(caller.ctx);
}

int sx_stop_check(simidx_error *err)
{
	return sx_stop_asked() ? sx_fail(err, SIMIDX_E_STOPPED, "stopped") : SIMIDX_OK;
}
