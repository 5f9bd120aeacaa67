/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Checking and mending what an engine holds: the engine compares its rows and documents with each
 * other, and asks here which rows a document should have.
 */

#include <inttypes.h>

#include "index/sx_verify_engine.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"

struct checking {
	const simidx *index;
	void (*callback)(void *ctx, const simidx_problem *problem);
	void *ctx;
};

static void prefixes(void *ctx, uint64_t fp, uint32_t *prefix)
{
	const struct checking *c = ctx;

	sx_plan_prefixes(&c->index->plan, fp, prefix);
}

static void hear_problem(void *ctx, const simidx_problem *problem)
{
	const struct checking *c = ctx;

	if (c->callback)
		c->callback(c->ctx, problem);
}

static void hear_progress(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
	const struct checking *c = ctx;

	sx_index_progress(c->index, phase, done, total);
}

int sx_verify_engine(simidx *index, unsigned flags,
		     void (*callback)(void *ctx, const simidx_problem *problem), void *ctx,
		     simidx_verify_report *out, simidx_error *err)
{
	struct checking c = { index, callback, ctx };
	simidx_engine_check check = { .flags = flags,
				      .n_tables = index->plan.n_tables,
				      .prefixes = prefixes,
				      .problem = hear_problem,
				      .progress = hear_progress,
				      .ctx = &c };
	simidx_verify_report report = SIMIDX_VERIFY_REPORT_INIT;
	int rc = sx_engine_check_fork(index->engine, err);

	if (!rc)
		rc = sx_engine_lock(index->engine, 0, err);
	if (!rc) {
		rc = sx_engine_check(index->engine, &check, err);
		sx_engine_unlock(index->engine);
	}
	report.blocks = report.entries = check.rows;
	report.documents = check.documents;
	report.problems = check.problems;
	report.mended = check.mended;
	if (out)
		sx_struct_end(out, &report, sizeof(report));
	if (rc || check.problems == check.mended)
		return rc;
	return sx_fail(err, SIMIDX_E_CORRUPT, "%" PRIu64 " problem%s found", check.problems,
		       check.problems == 1 ? "" : "s");
}

int simidx_mend(simidx *index, unsigned flags,
		void (*callback)(void *ctx, const simidx_problem *problem), void *ctx,
		simidx_verify_report *out, simidx_error *err)
{
	simidx_verify_report own;

	sx_err_clear(err);
	if (!index || flags & ~SIMIDX_MEND_DRY_RUN ||
	    (out && !sx_struct_begin(out, sizeof(size_t), &own, sizeof(own))))
		return sx_fail(err, SIMIDX_E_ARG, "simidx_mend: bad index, flags or struct size");
	if (!index->engine)
		return sx_fail(err, SIMIDX_E_UNSUPPORTED,
			       "simidx_mend: for indexes that an engine holds; simidx_repair() makes a "
			       "new index of a damaged one");
	if (index->read_only && !(flags & SIMIDX_MEND_DRY_RUN))
		return sx_fail(err, SIMIDX_E_READ_ONLY, "%s: opened read-only", index->engine->uri);
	return sx_verify_engine(index, flags & SIMIDX_MEND_DRY_RUN ? 0 : SIMIDX_ENGINE_MEND, callback,
				ctx, out, err);
}
