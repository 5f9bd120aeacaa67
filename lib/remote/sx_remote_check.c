/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "remote/sx_remote_check.h"

#include <inttypes.h>

#include "util/sx_err.h"

struct checking {
	const simidx *index;
	void (*callback)(void *ctx, const simidx_problem *problem);
	void *ctx;
};

static void prefixes(void *ctx, uint64_t fp, uint32_t *prefix)
{
	const struct checking *c = ctx;

	sx_plan_prefixes(&c->index->schema->plan, fp, prefix);
}

static void on_problem(void *ctx, const simidx_problem *problem)
{
	const struct checking *c = ctx;

	if (c->callback)
		c->callback(c->ctx, problem);
}

static void on_progress(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
	const struct checking *c = ctx;

	sx_index_progress(c->index, phase, done, total);
}

int sx_remote_check(const simidx *index, unsigned flags,
		    void (*callback)(void *ctx, const simidx_problem *problem), void *ctx,
		    simidx_verify_report *out, simidx_error *err)
{
	struct checking c = { index, callback, ctx };
	simidx_engine_check check = { .flags = flags & SX_CHECK_MEND ? SIMIDX_ENGINE_MEND : 0,
				      .n_tables = index->schema->plan.n_tables,
				      .prefixes = prefixes,
				      .problem = on_problem,
				      .progress = on_progress,
				      .ctx = &c };
	int rc = sx_engine_check_fork(index->engine, err);

	if (!rc)
		rc = sx_engine_lock(index->engine, 0, err);
	if (!rc) {
		rc = sx_engine_check(index->engine, &check, err);
		sx_engine_unlock(index->engine);
	}
	out->blocks = out->entries = check.rows;
	out->documents = check.documents;
	out->problems = check.problems;
	out->mended = check.mended;
	if (rc || check.problems == check.mended)
		return rc;
	return sx_fail(err, SIMIDX_E_CORRUPT, "%" PRIu64 " problem%s found", check.problems,
		       check.problems == 1 ? "" : "s");
}
