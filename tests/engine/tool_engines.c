/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The engine in memory in place of those that the tools have. SIMIDX_BREAK=n: the first write is broken
 * off after n steps.
 */

#include "common/tl_engines.h"

#include <stdlib.h>

#include "engine/memory.h"

void tl_engines_add(void)
{
	const char *steps = getenv("SIMIDX_BREAK");

	if (steps) {
		memory_faults_now.break_writes = 1;
		memory_faults_now.steps_left = (unsigned)atoi(steps);
	}
	memory_add();
}
