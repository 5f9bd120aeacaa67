/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/sx_loader_repair.h"

#include "load/sx_loader_state.h"

void sx_loader_set_unknown_fp2(simidx_loader *l, uint64_t value)
{
	l->unknown_fp2 = value;
}

uint64_t sx_loader_rows(const simidx_loader *l)
{
	return l->n_rows;
}

const char *sx_loader_temporary(const simidx_loader *l)
{
	return sx_loader_tmpdir(l);
}
