/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "kernel/sx_cpu.h"

int sx_cpu_has_fast_pext(void)
{
#if defined(__x86_64__)
	/* Needed by callers that run before the compiler's own constructors. */
	__builtin_cpu_init();
	return __builtin_cpu_supports("bmi2") && !__builtin_cpu_is("amdfam15h") &&
	       !__builtin_cpu_is("amdfam17h");
#else
	return 0;
#endif
}
