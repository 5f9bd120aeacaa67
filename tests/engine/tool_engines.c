/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The engine in memory in place of those that the tools have. SIMIDX_BREAK=n: the first write is
 * broken off after n steps. SIMIDX_CALLS=file: at the end that file has the number of scans and
 * look-ups.
 */

#include "common/tl_engines.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/memory.h"

static void write_calls(void)
{
	FILE *file = fopen(getenv("SIMIDX_CALLS"), "w");

	if (!file)
		abort();
	fprintf(file, "%u\n", memory_faults_now.calls);
	fclose(file);
}

void tl_engines_add(void)
{
	const char *steps = getenv("SIMIDX_BREAK");

	if (steps) {
		memory_faults_now.break_writes = 1;
		memory_faults_now.steps_left = (unsigned)atoi(steps);
	}
	if (getenv("SIMIDX_CALLS"))
		atexit(write_calls);
	memory_add();
}
