/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Checking an index, and mending it: what holds the tables does it.
 */

#include <simidx_check.h>

#include "index/sx_index.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"

static int check(const simidx *index, unsigned flags,
		 void (*callback)(void *ctx, const simidx_problem *problem), void *ctx,
		 simidx_verify_report *out, simidx_error *err)
{
	simidx_verify_report report = SIMIDX_VERIFY_REPORT_INIT;
	int rc = index->backend->check(index, flags, callback, ctx, &report, err);

	if (out)
		sx_struct_end(out, &report, sizeof(report));
	return rc;
}

int simidx_verify(simidx *index, void (*callback)(void *ctx, const simidx_problem *problem),
		  void *ctx, simidx_verify_report *out, simidx_error *err)
{
	simidx_verify_report own;

	sx_err_clear(err);
	if (!index || (out && !sx_struct_begin(out, sizeof(size_t), &own, sizeof(own))))
		return sx_fail(err, SIMIDX_E_ARG, "simidx_verify: bad index or struct size");
	return check(index, 0, callback, ctx, out, err);
}

int simidx_mend(simidx *index, unsigned flags,
		void (*callback)(void *ctx, const simidx_problem *problem), void *ctx,
		simidx_verify_report *out, simidx_error *err)
{
	simidx_verify_report own;
	int rc;

	sx_err_clear(err);
	if (!index || flags & ~SIMIDX_MEND_DRY_RUN ||
	    (out && !sx_struct_begin(out, sizeof(size_t), &own, sizeof(own))))
		return sx_fail(err, SIMIDX_E_ARG, "simidx_mend: bad index, flags or struct size");
	rc = sx_index_need(index, SX_CAN_MEND, err);
	if (rc)
		return rc;
	if (index->read_only && !(flags & SIMIDX_MEND_DRY_RUN))
		return sx_fail(err, SIMIDX_E_READ_ONLY, "%s: opened read-only",
			       index->backend->place->path(index));
	return check(index, flags & SIMIDX_MEND_DRY_RUN ? 0 : SX_CHECK_MEND, callback, ctx,
		     out, err);
}
