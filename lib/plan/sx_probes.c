/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "plan/sx_probes.h"

#include <stdlib.h>

#include "util/sx_alloc.h"

int sx_probes_reserve(sx_probes *probes, size_t more)
{
	if (more > SIZE_MAX - probes->n)
		return -1;
	if (probes->n + more <= probes->cap)
		return 0;
	return sx_reserve(&probes->at, &probes->cap, probes->n + more, sizeof(*probes->at));
}

void sx_probes_free(sx_probes *probes)
{
	free(probes->at);
	probes->at = NULL;
	probes->n = probes->cap = 0;
}
