/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The engine in memory in place of those that the tools have. SIMIDX_BREAK=n: the first write is
 * broken off after n steps. SIMIDX_FAIL=n:code: the nth call of the engine returns this code; where
 * that has not come, it is told at the end. SIMIDX_CALLS=file: at the end that file has the number
 * of scans and look-ups.
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

static void tell_left(void)
{
	if (memory_faults_now.fail_in)
		fputs("memory: the call has not come\n", stderr);
}

void tl_engines_add(void)
{
	const char *steps = getenv("SIMIDX_BREAK"), *fail = getenv("SIMIDX_FAIL");

	if (steps) {
		memory_faults_now.break_writes = 1;
		memory_faults_now.steps_left = (unsigned)atoi(steps);
	}
	if (fail) {
		if (sscanf(fail, "%u:%d", &memory_faults_now.fail_in,
			   &memory_faults_now.fail_code) != 2)
			abort();
		atexit(tell_left);
	}
	if (getenv("SIMIDX_CALLS"))
		atexit(write_calls);
	memory_add();
}
